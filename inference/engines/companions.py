"""Processes that a library starts beside this one, made to end with it, however it ends."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterable
from typing import Any

# Waits until its standard input ends, which is when the process that holds the other side is gone, then kills.
WATCH = """
import signal, sys
sys.stdin.buffer.read()
for process in map(int, sys.argv[1:]):
    try:
        signal.pidfd_send_signal(process, signal.SIGKILL)
    except ProcessLookupError:
        pass
"""


def end_with_this_process(pids: Iterable[int]) -> subprocess.Popen[Any]:
    """Start a watcher that kills these processes as soon as this one is gone, or closes the watcher's input.

    Linux only.
    """
    # File descriptors of processes, not ids: an id may by then belong to somebody else.
    watched = [os.pidfd_open(pid) for pid in pids]
    command = [sys.executable, "-I", "-S", "-c", WATCH, *map(str, watched)]
    # A session of its own: Ctrl-C and a killed terminal must not take the watcher before those it watches.
    watcher = subprocess.Popen(command, stdin=subprocess.PIPE, start_new_session=True, pass_fds=watched)
    for process in watched:
        os.close(process)
    return watcher
