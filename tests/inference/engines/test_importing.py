"""What importing transformers leaves of the process: the search for garbage as it was, and modules that are freed."""

from __future__ import annotations

import subprocess
import sys

import pytest

from helpers.commands import ROOT

pytestmark = pytest.mark.slow


def test_garbage_is_looked_for_and_modules_are_freed_at_the_end() -> None:
    """Modules made by nanobind, such as DuckDB's, complain on standard error where their objects outlive the process.

    Frozen objects do (`gc.freeze`), which CUDA builds of torch showed at the end of `preview`.
    """
    pytest.importorskip("duckdb")
    code = "import duckdb, gc\nimport inference.engines.loading\nassert gc.isenabled() and gc.get_freeze_count() == 0"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
