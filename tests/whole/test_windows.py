"""The commands where there are no POSIX modules and Windows refuses what it does (`helpers.windows`)."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from helpers.refusals import missing

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
SCRIPT = """
import subprocess, duckdb, pandas, pyarrow.parquet, scipy.stats  # these know Windows themselves
from helpers import windows
windows.imitate()
import sys, waver
from pathlib import Path

TABLE = "--item-column item --text-column text --answer-column answer --options yes=yes;no=no --language en".split()
for call in (
    ["import", "table", "answers.csv", "--out", "run", *TABLE, "--model-column", "model"],
    ["status", "run"],
    ["features", "asked"],
    ["table", "asked", "stability", "-p", "resamples=20"],
):
    assert waver.main(call) == 0, call

import os
from inference.runfolder import locking
held = locking.make_and_lock_run_folder(Path("run"))
assert waver.main(["import", "table", "answers.csv", "--out", "run", *TABLE, "--model-column", "model"]) == 2
os.close(held)
# A refused call removes what it made, but for the lock, which is open.
held = locking.make_and_lock_run_folder(Path("new"))
locking.remove_run_of_refused_call(Path("new"), [Path("new")])
assert [path.name for path in Path("new").rglob("*")] == [".lock"]

import analysis.reporting.output.notebooks
from analysis.reporting.output import execution, files
for text in ("old", "new"):
    files.write_text_file(Path("page") / "index.html", text)
assert Path("page", "index.html").read_text() == "new"
"""


def test_runs_and_tables_are_made_without_posix(tmp_path):
    missing.files(tmp_path)
    (tmp_path / "answers.csv").write_text("item,text,answer,model\na,Tea.,yes,m\na,Tea!,no,m\n", encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT], cwd=tmp_path, capture_output=True, text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join((str(ROOT), str(ROOT / "tests")))},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-3000:]
    assert "another process is writing to this run" in done.stderr
    assert (tmp_path / "asked" / "features.parquet").is_file()
