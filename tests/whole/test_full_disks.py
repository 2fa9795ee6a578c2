"""Where the operating system refuses to write, every command ends in one line, damages nothing, and goes on later."""

from __future__ import annotations

import resource
import shutil
from pathlib import Path

import pytest

from analysis import features, runs
from helpers import text_features
from helpers.commands import ROOT
from helpers.page_runs import FULL
from helpers.synthetic import paraphrases, write_run
from helpers.trivial_engine import TrivialEngine

pytestmark = pytest.mark.slow

BEFORE = ROOT / "tests" / "fixtures" / "run-of-f7ec5ae"
ITEMS = "item,text\n" + "".join(f"i{n},Thing {n} is good.\n" for n in range(200))
TABLE = "item,text,answer\n" + "".join(f"i{n},Thing {n} is good.,yes\n" for n in range(200))


@pytest.fixture
def room():
    """Sets the largest size of a file, in bytes, until the test ends; None: no limit."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)

    def limit(size: int | None) -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (before[1] if size is None else size, before[1]))

    yield limit
    limit(None)


@pytest.fixture
def trivial(monkeypatch):
    from inference.asking.one_model import Settings

    monkeypatch.setattr(Settings, "load_model_engine", lambda self, model, seed: TrivialEngine())
    monkeypatch.setattr(Settings, "refuse_missing_model", lambda self, model: None)


def call(wing: str, *arguments: str | Path) -> int:
    if wing == "inference":
        from inference.__main__ import main
    else:
        from analysis.__main__ import main
    return main([str(argument) for argument in arguments])


def files(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def commands(folder: Path) -> dict[str, list]:
    (folder / "items.csv").write_text(ITEMS, encoding="utf-8")
    (folder / "table.csv").write_text(TABLE, encoding="utf-8")
    asked = ["--items", folder / "items.csv", "--model", "gpt2", "--name", "s"]
    columns = [
        "--item-column",
        "item",
        "--text-column",
        "text",
        "--answer-column",
        "answer",
        "--options",
        "yes=yes;no=no",
    ]
    return {
        "run": ["inference", "run", "agreement", *asked, "--out", folder / "new" / "run"],
        "import": ["inference", "import", "table", folder / "table.csv", *columns, "--out", folder / "new" / "run"],
        "combine": ["inference", "paraphrase", "combine", f"a={folder}/items.csv", "--out", folder / "new" / "i.jsonl"],
    }  # fmt: skip


@pytest.mark.parametrize("command", ["run", "import", "combine"])
def test_a_file_that_is_too_large_is_one_line_and_leaves_nothing(command, tmp_path, trivial, room, capsys):
    given = commands(tmp_path)[command]
    room(1_000)
    status = call(*given)
    room(None)
    assert status == 1
    line = capsys.readouterr().err.splitlines()[-1]
    assert line.startswith(f"python -m inference: {tmp_path / 'new'}")
    assert "File too large; make room, then give the same command again" in line
    assert not (tmp_path / "new").exists()
    assert call(*given) == 0


def test_a_run_that_fails_later_keeps_its_rows_and_goes_on(tmp_path, trivial, room, capsys, monkeypatch):
    given = commands(tmp_path)["run"]
    assert call(*given) == 0
    whole = tmp_path / "new" / "run"
    run, rows = tmp_path / "again" / "run", 200
    given[-1] = run
    from inference.runfolder.responses import Responses

    append = Responses.append_rows_as_part

    def full(self, *given):
        room(100)
        return append(self, *given)

    monkeypatch.setattr(Responses, "append_rows_as_part", full)
    status = call(*given)
    room(None)
    assert status == 1
    line = capsys.readouterr().err.splitlines()[-1]
    assert f"{rows} rows could not be written" in line
    assert "File too large" in line
    assert not [name for name in files(run) if name.endswith(".tmp") or (name.startswith(".") and name != ".lock")]
    monkeypatch.setattr(Responses, "append_rows_as_part", append)
    assert call(*given) == 0
    assert list(runs.open_runs(run).info["models"]) == list(runs.open_runs(whole).info["models"])
    count = "SELECT count(*) AS n FROM responses"
    assert runs.open_runs(run).sql(count).equals(runs.open_runs(whole).sql(count))


def test_features_end_in_one_line_and_go_on(tmp_path, room, capsys):
    run = text_features.write(tmp_path / "run")
    before = files(run)
    room(100)
    status = call("analysis", "features", run)
    room(None)
    assert status == 1
    assert "File too large; make room" in capsys.readouterr().err.splitlines()[-1]
    assert files(run) == before
    assert call("analysis", "features", run) == 0


def test_features_that_cannot_be_kept_are_computed_all_the_same_and_told(tmp_path, room, capsys):
    run, other = text_features.write(tmp_path / "run"), text_features.write(tmp_path / "other")
    before = files(run)
    room(100)
    found = features.read_or_compute_features(runs.open_runs(run))
    components = features.tabulate_components_of_study_features(runs.open_runs(run))
    room(None)
    assert files(run) == before
    said = capsys.readouterr().err.splitlines()[0]
    assert said.startswith(f"{run}: text features were computed, but cannot be kept there: {run}/")
    assert "File too large" in said
    opened = runs.open_runs(other)
    assert found.equals(features.read_or_compute_features(opened))
    assert components.equals(features.tabulate_components_of_study_features(opened))


@pytest.mark.parametrize("wing", ["inference", "analysis"])
def test_a_full_standard_output_is_one_line(wing, tmp_path):
    import subprocess
    import sys

    run = tmp_path / "run"
    shutil.copytree(BEFORE / "agreement", run)
    given = {"inference": ["status", run], "analysis": ["table", run, "items"]}[wing]
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [sys.executable, "-m", wing, *map(str, given)], cwd=ROOT, stdout=full, stderr=subprocess.PIPE, text=True
        )
    assert done.returncode == 1
    assert done.stderr == (
        f"python -m {wing}: standard output: No space left on device; make room, then give the same command again\n"
    )


def test_a_report_names_the_page_that_could_not_be_written(tmp_path, capsys):
    """A file stands where the folder of the executed notebooks is to be."""
    run = write_run(tmp_path / "run", paraphrases({"x": [0.4, 0.6], "y": [0.3, 0.9]}, original=0.4))
    out = tmp_path / "report"
    out.mkdir()
    (out / "notebooks").write_text("mine")
    assert call("analysis", "report", run, "--out", out, "-p", "resamples=0") == 1
    said = capsys.readouterr()
    assert "failed: stability" in said.err.splitlines()[-1]
    assert "notebooks: File exists" in (out / "index.html").read_text(encoding="utf-8")


def test_a_report_into_a_folder_that_takes_nothing_is_one_line(tmp_path, capsys):
    run, _ = FULL["stability"](tmp_path / "run")
    (tmp_path / "file").write_text("x")
    assert call("analysis", "report", run, "--out", tmp_path / "file" / "report") == 2
    (line,) = [line for line in capsys.readouterr().err.splitlines() if line.startswith("python -m")]
    assert "file is a file; --out needs a folder" in line
