"""Calls the commands as a user does, but in this process: Python and the libraries have started once."""

from __future__ import annotations

import contextlib
import importlib
import io
import subprocess
from pathlib import Path

ROOT = Path(__file__).parents[2]


def waver(*arguments: str | Path, cwd: Path = ROOT, check: bool = True) -> subprocess.CompletedProcess[str]:
    """`python -m WING COMMAND ...` in a working directory: its exit status and what it wrote."""
    wing, *words = map(str, arguments)
    command = importlib.import_module(f"{wing}.__main__").main
    out, err = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True) for _ in range(2))
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err), contextlib.chdir(cwd):
        try:
            status = command(words)
        except SystemExit as left:  # of argparse
            status = left.code
    said, complained = (stream.buffer.getvalue().decode().replace("\r\n", "\n") for stream in (out, err))
    if check:
        assert status == 0, complained[-3000:]
    return subprocess.CompletedProcess([wing, *words], status, said, complained)
