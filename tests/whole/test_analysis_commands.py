"""`python -m analysis` as a user calls it: exit statuses, one line per mistake, pipes."""

from __future__ import annotations

import csv
import io
import subprocess
import sys

import pytest

from analysis.reporting import catalogue
from helpers.commands import ROOT, waver
from helpers.synthetic import random_frame, write_run

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    return write_run(tmp_path_factory.mktemp("cli") / "run", random_frame(["one", "two"], items=40, paraphrases=5))


def refused(*arguments, status=2):
    """The one line on standard error of a call that must fail."""
    done = waver("analysis", *arguments, check=False)
    assert done.returncode == status, done.stderr
    assert done.stdout == ""
    assert done.stderr.count("\n") == 1, done.stderr
    return done.stderr


def test_table_prints_csv_with_the_promised_columns(run):
    rows = list(csv.DictReader(io.StringIO(waver("analysis", "table", run, "stability", "-p", "resamples=20").stdout)))
    assert [row["model"] for row in rows] == ["one", "two"]
    promised = ["model", "validity", "validity_se", "range_mean", "range_sd", "sd_mean", "sd_sd", "flip_05", "flip_10",
                "flip_25", "n_items", "n_variants"]  # fmt: skip
    assert set(promised) <= rows[0].keys()
    assert rows[0]["n_items"] == "40"
    items = list(csv.DictReader(io.StringIO(waver("analysis", "table", run, "items").stdout)))
    assert len(items) == 80


@pytest.mark.parametrize(("form", "sign"), [("latex", r"\begin{tabular}"), ("markdown", "| Model |")])
def test_table_prints_other_formats(run, form, sign):
    assert sign in waver("analysis", "table", run, "stability", "--format", form, "-p", "resamples=20").stdout


def test_a_table_without_rows_says_so(run):
    done = waver("analysis", "table", run, "meaning_flips")
    assert "meaning_flips: these runs have no rows for it" in done.stderr and done.stdout.count("\n") == 1


def test_list_names_every_table_and_explains_columns():
    assert [line.split()[0] for line in waver("analysis", "table", "--list").stdout.splitlines()] == list(
        catalogue.list_tables()
    )
    assert "square root of their number" in waver("analysis", "table", "--list", "stability").stdout


def test_wrong_calls_say_what_is_known(run, tmp_path):
    assert "unknown table 'stabilty' (the nearest is 'stability')" in refused("table", run, "stabilty")
    assert "give run folders and then the name of a table" in refused("table", "stability")
    assert refused("table", "stability", "runs/first").endswith(
        "the name of a table: waver table runs/first stability\n"
    )
    assert "nowhere" in refused("table", tmp_path / "nowhere", "stability")
    assert "no option 'x'" in refused("table", run, "stability", "-p", "x=1")
    assert "name=value" in refused("table", run, "stability", "-p", "resamples")
    assert "invalid choice: 'xml'" in refused("table", run, "stability", "--format", "xml")
    assert "--out" in refused("report", run)
    assert "nowhere" in refused("report", tmp_path / "nowhere", "--out", tmp_path / "report")


def test_a_pipe_that_closes_early_is_no_error(run):
    command = f"{sys.executable} -m analysis table {run} items | head -n 1"
    done = subprocess.run(command, shell=True, cwd=ROOT, capture_output=True, text=True, executable="/bin/bash")
    assert done.stderr == ""
    assert done.stdout.startswith("study,model")


@pytest.mark.parametrize("arguments", [["--help"], ["report", "--help"], ["table", "--help"]])
def test_help_imports_nothing_heavy(arguments):
    code = (
        "import sys; from analysis.__main__ import main\n"
        "try: main(sys.argv[1:])\nexcept SystemExit: pass\n"
        "heavy = {'pandas', 'duckdb', 'numpy', 'matplotlib', 'papermill', 'nbconvert', 'jinja2', 'scipy', 'pyarrow'}\n"
        "assert not heavy & set(sys.modules), heavy & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code, *arguments], cwd=ROOT, check=True, capture_output=True)
