"""Start a watcher process that kills vLLM's child processes when this process is gone, even by SIGKILL (Linux)."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
from collections.abc import Collection
from contextlib import suppress
from multiprocessing import resource_tracker

SETTLE, END, LOOKED = b"s", b"e", b"l"  # the first two are sent to the watcher, the last one by it
UNWATCHED = "this kernel does not list child processes (Linux 5.3 does): if this process is killed, its children go on"
PAUSE, LONG_PAUSE = 0.1, 2.0  # seconds between two looks: while children are being started, and afterwards


class Companions:
    """The processes that start within a `with` block, and all that those start; a watcher ends them with this process.

    The watcher is a process of its own. It kills them when this process is gone or calls
    `kill_running_child_processes`, or when the block ends with an error. It leaves alone the children that were there
    before the block or start after it. It looks every `PAUSE` or `LONG_PAUSE` seconds, and misses a process that starts
    after the last look before this one is killed.

    On Linux only: elsewhere nothing is watched.

    Attributes
    ----------
    watcher
        The watcher process; None where nothing is watched or `kill_running_child_processes` was called.
    """

    def __init__(self) -> None:
        self.watcher: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Companions:
        if sys.platform != "linux":
            return self
        try:
            this = os.pidfd_open(os.getpid())
        except OSError:
            print(UNWATCHED, file=sys.stderr)
            return self
        # Started before the watcher looks, so that it counts as an earlier child and is not killed: the tracker ends by
        # itself, after it has removed the shared memory that a killed process leaves.
        resource_tracker.ensure_running()
        command = [sys.executable, "-I", "-S", __file__, str(os.getpid()), str(this)]
        # A session of its own: Ctrl-C or a closed terminal must not end the watcher before the processes it watches.
        self.watcher = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True, pass_fds=[this]
        )
        os.close(this)
        self._wait_for_watcher()
        return self

    def __exit__(self, kind: type[BaseException] | None, *error: object) -> None:
        if kind is not None:
            self.kill_running_child_processes()
        elif self.watcher is not None:
            assert self.watcher.stdin is not None
            with suppress(BrokenPipeError):
                self.watcher.stdin.write(SETTLE)
                self.watcher.stdin.flush()
            self._wait_for_watcher()

    def kill_running_child_processes(self) -> None:
        """Kill the processes that still run."""
        if self.watcher is not None:
            # Sent, not only closed: a forked process holds the watcher's input open, too.
            self.watcher.communicate(END)
            self.watcher = None

    def _wait_for_watcher(self) -> None:
        """Wait until the watcher has looked: at the earlier children, or at the last ones that it must follow."""
        assert self.watcher is not None and self.watcher.stdout is not None
        self.watcher.stdout.read(1)


def watch_process_and_kill_its_children(parent_id: int, parent_descriptor: int) -> None:
    """Follow the children of a process and kill them when it ends; this is all that the watcher process does.

    Parameters
    ----------
    parent_id
        Id of the process.
    parent_descriptor
        Its file descriptor, which becomes readable when it is gone.
    """
    earlier: dict[int, int] = {}  # id -> descriptor, because the system gives a free id to another process
    _add_descriptors_and_list_new_child_ids(parent_id, earlier)
    if os.getpid() not in earlier:
        print(UNWATCHED, file=sys.stderr)
    os.write(1, LOOKED)
    followed: dict[int, int] = {}
    starting = True
    while True:
        ready, _, _ = select.select([0, parent_descriptor], [], [], PAUSE if starting else LONG_PAUSE)
        _close_descriptors_of_ended_processes(earlier)
        _close_descriptors_of_ended_processes(followed)
        waiting = [parent_id, *followed] if starting else list(followed)
        for pid in waiting:
            waiting += _add_descriptors_and_list_new_child_ids(pid, followed, earlier)
        if parent_descriptor in ready:
            break
        if ready:
            if os.read(0, 1) != SETTLE:
                break
            starting = False
            os.write(1, LOOKED)
    for process in followed.values():
        _send_signal_and_check_process(process, signal.SIGKILL)


def _add_descriptors_and_list_new_child_ids(
    parent_id: int, descriptor_by_id: dict[int, int], excluded_ids: Collection[int] = ()
) -> list[int]:
    """Open the children of a process not in `excluded_ids` into `descriptor_by_id`, and return the new ids."""
    added = []
    for child in _list_direct_child_process_ids(parent_id) - set(descriptor_by_id) - set(excluded_ids):
        try:
            process = os.pidfd_open(child)
        except ProcessLookupError:
            continue
        if child in _list_direct_child_process_ids(parent_id):  # still there, so the descriptor belongs to that child
            descriptor_by_id[child] = process
            added.append(child)
        else:
            os.close(process)
    return added


def _list_direct_child_process_ids(pid: int) -> set[int]:
    """List the ids of a process's children, started by any of its threads; none if the process is gone."""
    child_ids: set[int] = set()
    with suppress(FileNotFoundError, ProcessLookupError):
        for thread in os.listdir(f"/proc/{pid}/task"):
            with suppress(FileNotFoundError, ProcessLookupError), open(f"/proc/{pid}/task/{thread}/children") as listed:
                child_ids |= set(map(int, listed.read().split()))
    return child_ids


def _close_descriptors_of_ended_processes(descriptor_by_id: dict[int, int]) -> None:
    """Close the descriptors of processes that have ended, and remove them."""
    for pid, process in list(descriptor_by_id.items()):
        if not _send_signal_and_check_process(process, 0):
            os.close(descriptor_by_id.pop(pid))


def _send_signal_and_check_process(descriptor: int, signal_number: int) -> bool:
    """Send a signal and tell whether the process is still there."""
    try:
        signal.pidfd_send_signal(descriptor, signal_number)
    except ProcessLookupError:
        return False
    except PermissionError:  # it runs as another user
        return True
    return True


if __name__ == "__main__":
    watch_process_and_kill_its_children(*map(int, sys.argv[1:]))
