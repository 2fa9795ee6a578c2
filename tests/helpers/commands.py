"""Calls the commands as a user does."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def waver(*arguments: str | Path, cwd: Path = ROOT, check: bool = True) -> subprocess.CompletedProcess[str]:
    """`python -m ...` as a user calls it."""
    done = subprocess.run(
        [sys.executable, "-m", *map(str, arguments)], cwd=cwd, capture_output=True, text=True, timeout=600,
        env={**os.environ, "PYTHONPATH": str(ROOT), "TOKENIZERS_PARALLELISM": "false"},
    )  # fmt: skip
    if check:
        assert done.returncode == 0, done.stderr[-3000:]
    return done
