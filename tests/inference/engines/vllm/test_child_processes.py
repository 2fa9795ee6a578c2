"""Companion processes end with the one that needs them, even if that is killed, and others are left alone."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator

import pytest

from inference.engines.vllm.child_processes import PAUSE, Companions

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform != "linux", reason="process file descriptors are Linux's"),
]
SLEEPER = [sys.executable, "-I", "-S", "-c", "import time; time.sleep(300)"]
# Starts a sleeper, tells its id, and sleeps or ends.
BETWEEN = "import subprocess, time; print(subprocess.Popen({sleeper}).pid, flush=True); time.sleep({seconds})"
# A child with a child; one that was forked, with all that is open here, and then exits between; an earlier one.
PARENT = f"""
import os, subprocess, sys, time
from inference.engines.vllm.child_processes import Companions
earlier = subprocess.Popen({SLEEPER!r})
block = Companions()
block.__enter__()
child = subprocess.Popen({[sys.executable, "-I", "-S", "-c", BETWEEN.format(sleeper=SLEEPER, seconds=300)]!r},
                         stdout=subprocess.PIPE, text=True, start_new_session=True)
grandchild = int(child.stdout.readline())
if not (forked := os.fork()):
    time.sleep(300)
later = earlier
if sys.argv[1] != "starting":
    block.__exit__(None)
    later = subprocess.Popen({SLEEPER!r})
print(child.pid, grandchild, forked, earlier.pid, later.pid, flush=True)
sys.stdin.read()
block.kill_running_child_processes()
time.sleep(300)
"""


@pytest.fixture
def held() -> Iterator[list[int]]:
    """Descriptors of processes; those that are still there in the end are killed."""
    processes: list[int] = []
    yield processes
    for process in processes:
        if not ended(process, 0):
            signal.pidfd_send_signal(process, signal.SIGKILL)
        os.close(process)


def ended(process: int, seconds: float = 10) -> bool:
    """Whether a process, given by its descriptor, ends within some seconds."""
    return bool(select.select([process], [], [], seconds)[0])


def looked() -> None:
    """Give the watcher the time of many looks."""
    time.sleep(8 * PAUSE)


@pytest.mark.parametrize(("when", "how"), [("starting", "killed"), ("settled", "killed"), ("settled", "closed")])
def test_what_was_started_ends_with_a_process_that_is_killed_or_closes_it(when: str, how: str, held: list[int]) -> None:
    """Descendants too, and those that hold the watcher's input open; not what was there before or came later."""
    parent = subprocess.Popen(
        [sys.executable, "-c", PARENT, when], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert parent.stdin is not None and parent.stdout is not None
    held += [os.pidfd_open(int(pid)) for pid in parent.stdout.readline().split()]
    held.append(os.pidfd_open(parent.pid))
    looked()
    assert not any(ended(process, 0) for process in held)
    if how == "killed":
        parent.kill()
        parent.wait()
    parent.stdin.close()
    child, grandchild, forked, *others, _ = held
    assert ended(child) and ended(grandchild) and ended(forked)
    assert not any(ended(process, 0) for process in others)


def test_one_whose_parent_has_ended_is_followed_on(held: list[int]) -> None:
    with Companions() as companions:
        between = [sys.executable, "-I", "-S", "-c", BETWEEN.format(sleeper=SLEEPER, seconds=8 * PAUSE)]
        child = subprocess.Popen(between, stdout=subprocess.PIPE, text=True)
        assert child.stdout is not None
        held.append(os.pidfd_open(int(child.stdout.readline())))
        child.wait()
        child.stdout.close()
    assert not ended(held[0], 0)
    companions.kill_running_child_processes()
    assert ended(held[0])


def test_closing_kills_what_was_started_in_the_block_and_nothing_else(held: list[int]) -> None:
    earlier = subprocess.Popen(SLEEPER)
    with Companions() as companions:
        companion, gone = subprocess.Popen(SLEEPER), subprocess.Popen(SLEEPER)
        looked()
        # However late the watcher has its last look, the block does not end before.
        assert companions.watcher is not None
        companions.watcher.send_signal(signal.SIGSTOP)
        threading.Timer(0.5, companions.watcher.send_signal, [signal.SIGCONT]).start()
    later = subprocess.Popen(SLEEPER)
    gone.kill()
    gone.wait()
    held += [os.pidfd_open(process.pid) for process in (earlier, later)]
    looked()
    assert companion.poll() is None
    companions.kill_running_child_processes()
    assert companion.wait(10) == -9
    assert earlier.poll() is None and later.poll() is None
    companions.kill_running_child_processes()  # again: nothing


def test_a_start_that_fails_leaves_nothing_behind() -> None:
    started: list[subprocess.Popen[bytes]] = []

    def start() -> None:
        with Companions():
            started.append(subprocess.Popen(SLEEPER))
            raise ValueError("no such model")

    with pytest.raises(ValueError, match="no such model"):
        start()
    assert started[0].wait(10) == -9
