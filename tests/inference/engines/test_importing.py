"""What importing transformers leaves of the process: a search for garbage that works, and modules that are freed."""

from __future__ import annotations

import subprocess
import sys

import pytest

from helpers.commands import ROOT


def test_garbage_is_looked_for_again_and_modules_are_freed_at_the_end() -> None:
    """Modules made by nanobind, such as DuckDB's, complain on standard error where their objects outlive the process.

    Frozen objects do (`gc.freeze`), which CUDA builds of torch showed at the end of `preview`.
    """
    pytest.importorskip("duckdb")
    code = (
        "import duckdb, gc\nfrom inference.engines import import_transformers\nimport_transformers()\n"
        "assert gc.isenabled() and gc.get_freeze_count() == 0"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
