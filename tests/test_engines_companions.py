"""Companion processes end with the one that needs them, even if that is killed."""

from __future__ import annotations

import os
import select
import subprocess
import sys

import pytest

from inference.engines.companions import end_with_this_process

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="process file descriptors are Linux's")
SLEEPER = [sys.executable, "-I", "-S", "-c", "import time; time.sleep(300)"]
PARENT = f"""
import subprocess, time
from inference.engines.companions import end_with_this_process
companion = subprocess.Popen({SLEEPER!r}, start_new_session=True)
watcher = end_with_this_process([companion.pid])
print(companion.pid, flush=True)
time.sleep(300)
"""


def ended(process: int) -> bool:
    """Whether a process, given by its descriptor, ends within ten seconds."""
    return bool(select.select([process], [], [], 10)[0])


def test_killed_with_the_process_that_was_killed() -> None:
    parent = subprocess.Popen([sys.executable, "-c", PARENT], stdout=subprocess.PIPE, text=True)
    assert parent.stdout is not None
    companion = os.pidfd_open(int(parent.stdout.readline()))
    parent.kill()
    parent.communicate()
    assert ended(companion)
    os.close(companion)


def test_killed_when_the_input_of_the_watcher_is_closed() -> None:
    companion = subprocess.Popen(SLEEPER)
    watcher = end_with_this_process([companion.pid])
    assert companion.poll() is None
    watcher.communicate()
    assert companion.wait(10) == -9


def test_a_companion_that_has_ended_is_nothing_to_the_watcher() -> None:
    companion = subprocess.Popen(SLEEPER)
    watcher = end_with_this_process([companion.pid])
    companion.kill()
    companion.wait()
    watcher.communicate()
    assert watcher.returncode == 0
