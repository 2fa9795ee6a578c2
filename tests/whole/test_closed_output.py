"""A caller may close standard output (`waver table ... >&-`): what only prints is refused, all else works as ever."""

from __future__ import annotations

import subprocess
import sys

import pytest

from helpers.commands import ROOT

RUN = str(ROOT / "tests" / "fixtures" / "run-of-f7ec5ae" / "agreement")
CHILD = (
    "import subprocess, sys; from ground.command import open_null_device_for_closed_streams; "
    "open_null_device_for_closed_streams(); "
    "sys.exit(subprocess.call([sys.executable, '-c', 'import os; os.fstat(1); print(1)']))"
)

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="closes a stream by the shell")


def call_closed(*words: str) -> subprocess.CompletedProcess[str]:
    call = ["sh", "-c", 'exec "$0" "$@" >&-', sys.executable, *words]
    return subprocess.run(call, cwd=ROOT, stderr=subprocess.PIPE, text=True, check=False)


@pytest.mark.slow
@pytest.mark.parametrize(
    "call",
    [
        ("analysis", "table", RUN, "stability"),
        ("analysis", "show", RUN),
        ("analysis", "compare", RUN, RUN),
        ("waver", "compare", RUN, RUN),
        ("analysis", "plan", RUN, "--se", "0.01"),
        ("analysis", "negation", "pairs.jsonl"),
        ("inference", "status", RUN),
        ("inference", "preview", "agreement", "--items", "demo", "--model", "demo"),
    ],
)
def test_what_only_prints_is_refused(call):
    done = call_closed("-m", *call)
    assert done.returncode == 2
    assert "standard output is closed" in done.stderr and done.stderr.count("\n") == 1


def test_child_processes_get_an_output():
    done = call_closed("-c", CHILD)  # else a kernel of the report dies as it starts
    assert done.returncode == 0, done.stderr
