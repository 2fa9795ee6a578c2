"""Processes that a library starts beside this one, made to end with it, however it ends."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
from collections.abc import Collection
from contextlib import suppress
from multiprocessing import resource_tracker

SETTLE, END, LOOKED = b"s", b"e", b"l"  # what the watcher is told, and what it says
UNWATCHED = "this kernel does not tell of child processes (Linux 5.3 does): if this one is killed, its own go on"
PAUSE, LONG_PAUSE = 0.1, 2.0  # seconds between two looks, until it is told to settle and from then on


class Companions:
    """The processes that are started within a `with` block, and all that they start in turn.

    A watcher, a process of its own, follows them and kills them when this process is gone or calls `end`, or when the
    block ends with an error. Children that were there before, or come later, are left alone. A process is lost that
    came within the last look's pause before this one was killed.

    On Linux only: elsewhere nothing is watched.
    """

    def __init__(self) -> None:
        self._watcher: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Companions:
        if sys.platform != "linux":
            return self
        try:
            this = os.pidfd_open(os.getpid())
        except OSError:
            print(UNWATCHED, file=sys.stderr)
            return self
        # The tracker ends by itself, having removed the shared memory that a killed process left: an earlier child.
        resource_tracker.ensure_running()
        command = [sys.executable, "-I", "-S", __file__, str(os.getpid()), str(this)]
        # A session of its own: Ctrl-C and a killed terminal must not take the watcher before those it watches.
        self._watcher = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True, pass_fds=[this]
        )
        os.close(this)
        self._await_look()
        return self

    def __exit__(self, kind: type[BaseException] | None, *error: object) -> None:
        if kind is not None:
            self.end()
        elif self._watcher is not None:
            assert self._watcher.stdin is not None
            with suppress(BrokenPipeError):
                self._watcher.stdin.write(SETTLE)
                self._watcher.stdin.flush()
            self._await_look()

    def end(self) -> None:
        """Kill those that are still there."""
        if self._watcher is not None:
            # Said, not only closed: a forked companion has the other side of the watcher's input open, too.
            self._watcher.communicate(END)
            self._watcher = None

    def _await_look(self) -> None:
        """Wait until the watcher knows who was there before, or has seen the last of those that it has to follow."""
        assert self._watcher is not None and self._watcher.stdout is not None
        self._watcher.stdout.read(1)


def watch(parent: int, parent_process: int) -> None:
    """Follow what a process starts and kill it in the end: the watcher's whole life.

    Parameters
    ----------
    parent
        Id of the process.
    parent_process
        Its file descriptor, which tells when it is gone.
    """
    earlier: dict[int, int] = {}  # descriptor by id: an id may by then belong to somebody else
    _add_children(parent, earlier)
    if os.getpid() not in earlier:
        print(UNWATCHED, file=sys.stderr)
    os.write(1, LOOKED)
    followed: dict[int, int] = {}
    starting = True
    while True:
        told, _, _ = select.select([0, parent_process], [], [], PAUSE if starting else LONG_PAUSE)
        _forget_ended(earlier)
        _forget_ended(followed)
        waiting = [parent, *followed] if starting else list(followed)
        for pid in waiting:
            waiting += _add_children(pid, followed, earlier)
        if parent_process in told:
            break
        if told:
            if os.read(0, 1) != SETTLE:
                break
            starting = False
            os.write(1, LOOKED)
    for process in followed.values():
        _signal(process, signal.SIGKILL)


def _add_children(parent: int, held: dict[int, int], others: Collection[int] = ()) -> list[int]:
    """Open those children of a process that are neither held nor others, and return them."""
    added = []
    for child in _children(parent) - set(held) - set(others):
        try:
            process = os.pidfd_open(child)
        except ProcessLookupError:
            continue
        if child in _children(parent):  # still, so the descriptor is that child's
            held[child] = process
            added.append(child)
        else:
            os.close(process)
    return added


def _children(pid: int) -> set[int]:
    """Ids of a process's children, whichever of its threads started them; none if it is gone."""
    found: set[int] = set()
    with suppress(FileNotFoundError, ProcessLookupError):
        for thread in os.listdir(f"/proc/{pid}/task"):
            with suppress(FileNotFoundError, ProcessLookupError), open(f"/proc/{pid}/task/{thread}/children") as listed:
                found |= set(map(int, listed.read().split()))
    return found


def _forget_ended(held: dict[int, int]) -> None:
    for pid, process in list(held.items()):
        if not _signal(process, 0):
            os.close(held.pop(pid))


def _signal(process: int, number: int) -> bool:
    """Send a signal; whether the process is still there."""
    try:
        signal.pidfd_send_signal(process, number)
    except ProcessLookupError:
        return False
    except PermissionError:  # it runs as somebody else
        return True
    return True


if __name__ == "__main__":
    watch(*map(int, sys.argv[1:]))
