"""Run a command as long as the process that called this one lives: `python keeper.py COMMAND...`.

A report that is killed by SIGKILL cannot end its kernel. ipykernel looks once a second whether its parent is there, but
not while a computation holds Python's lock, and not where it starts as an orphan. The keeper waits for the end of its
standard input, a pipe of which only the report holds the other end, and then kills the command at once.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading


def keep(command: list[str]) -> int:
    """Run a command until it ends or standard input does; return its exit status."""
    # An interrupt goes to the whole process group and is for the command; a handler, because it would inherit SIG_IGN.
    signal.signal(signal.SIGINT, lambda number, frame: None)
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL)

    def follow() -> None:
        while os.read(0, 1):
            pass
        process.kill()

    threading.Thread(target=follow, daemon=True).start()
    return process.wait()


if __name__ == "__main__":
    sys.exit(keep(sys.argv[1:]) != 0)
