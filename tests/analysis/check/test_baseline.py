"""Baselines are small, hold no text, and tell of damage. That they differ in no number from a run: test_pages.py."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import duckdb
import numpy as np
import pytest

from analysis import runs
from analysis.__main__ import main
from analysis.check import slim
from analysis.check.baseline import open_baseline, save_baseline
from analysis.compare.pairing import pair_studies_of_two_run_sets
from ground.errors import InputError
from helpers.synthetic import random_frame, write_run


@pytest.fixture
def saved(tmp_path, monkeypatch) -> Path:
    """A run of two models, and its baseline, in the working directory."""
    monkeypatch.chdir(tmp_path)
    write_run(tmp_path / "run", random_frame(["m", "n"], items=8, paraphrases=5))
    return save_baseline(runs.open_runs("run"), "first")


@pytest.mark.slow
def test_62_statements_in_100_wordings_are_below_1_mb(tmp_path):
    frame = random_frame(["m"], items=62, paraphrases=100)
    rows = frame.assign(mass=0.5 + 0.4 * np.random.default_rng(1).random(len(frame)))
    path = save_baseline(runs.open_runs(write_run(tmp_path / "run", rows)), "small", tmp_path / "small")
    assert sum(file.stat().st_size for file in path.rglob("*") if file.is_file()) < 400_000


def test_no_text_is_left_in_any_file(tmp_path):
    frame = random_frame(["m"], items=4, paraphrases=2)
    rows = frame.assign(text=[f"SECRET {n}" for n in range(len(frame))], output=[["SECRET"]] * len(frame))
    opened = runs.open_runs(write_run(tmp_path / "run", rows))
    path = save_baseline(opened, "b", tmp_path / "b")
    for table in ("stimuli.parquet", "responses/*.parquet"):
        cells = duckdb.sql(f"SELECT * FROM '{path / table}'").df().astype(str)
        assert not cells.map(lambda cell: "SECRET" in cell).any(axis=None)
    assert "SECRET" not in (path / "run.json").read_text("utf-8")
    assert "command" not in json.loads((path / "run.json").read_text("utf-8"))["sessions"][0]


@pytest.mark.slow
def test_a_name_finds_it_and_show_tells_what_it_holds(saved, capsys):
    assert saved == Path("baselines/first")
    assert main(["baseline", "show", "first"]) == 0
    text = capsys.readouterr().out
    assert "first: saved" in text and "8 items" in text and "  m (plain/yes-no): 48 answers" in text


@pytest.mark.slow
def test_another_baseline_takes_its_place_only_where_asked(saved, capsys):
    assert main(["baseline", "save", "run", "--as", "first"]) == 2
    assert "--replace" in capsys.readouterr().err
    assert main(["baseline", "save", "run", "--as", "first", "--replace"]) == 0
    assert open_baseline("first").info["models"].keys() == {"m", "n"}


@pytest.mark.slow
def test_one_whose_replacement_was_killed_half_way_is_found(saved):
    whole = shutil.copytree(saved, saved.with_name(".first.1234567"))
    saved.rename(saved.with_name(".first.old.1234567"))
    assert open_baseline("first").info["models"].keys() == {"m", "n"}
    assert saved.is_dir() and not whole.exists()


@pytest.mark.parametrize("file", ["stimuli.parquet", "responses/part-baseline.parquet", "run.json"])
def test_any_change_of_a_file_is_told(saved, file):
    path = saved / file
    path.write_bytes(path.read_bytes().replace(b'"seed": ', b'"seed": 1') + b" ")
    with pytest.raises(InputError, match="was changed after it was saved"):
        open_baseline("first")


@pytest.mark.slow
def test_one_of_a_newer_version_and_one_without_a_folder_are_refused(saved, tmp_path):
    write_run(tmp_path / "other", random_frame(["o"], items=3), study="other")
    both = save_baseline(runs.open_runs("run", "other"), "both")
    assert open_baseline("both").info["studies"].keys() == {"synthetic", "other"}
    shutil.rmtree(both / "other")
    with pytest.raises(InputError, match="lacks the folder other"):
        open_baseline("both")
    info = json.loads((saved / "run.json").read_text("utf-8"))
    info["baseline"]["format"] = 2
    (saved / "run.json").write_text(json.dumps(info), "utf-8")
    with pytest.raises(InputError, match=r"format 2.*update Waver"):
        open_baseline("first")


@pytest.mark.slow
def test_folders_of_one_name_are_numbered_until_the_name_is_free(tmp_path):
    """The second a was written into a-3: "File exists", for every output folder."""
    paths = [tmp_path / place for place in ("x/a", "x/a-3", "y/a", "z/a")]
    for path in paths:
        write_run(path, random_frame(["m"], items=2), study="-".join(path.parts[-2:]))
    saved = save_baseline(runs.open_runs(*paths), "b", tmp_path / "saved")
    assert sorted(folder.name for folder in saved.iterdir()) == ["a", "a-2", "a-3", "a-4"]


@pytest.mark.slow
def test_a_changed_text_is_left_out_and_counted(tmp_path):
    frame = random_frame(["m"], items=6, paraphrases=3)
    frame["text"] = frame["item"] + " " + frame["variant"]
    baseline = save_baseline(runs.open_runs(write_run(tmp_path / "a", frame)), "b", tmp_path / "b")
    changed = frame.assign(text=frame["text"].where(frame["item"] != frame["item"].iloc[0], "Other words."))
    opened = runs.open_runs(write_run(tmp_path / "c", changed))
    paired = pair_studies_of_two_run_sets(opened, open_baseline(baseline), side_names=("now", "before"))
    assert any("1 item left out" in note and "now and before" in note for note in paired.notes)


@pytest.mark.slow
def test_one_that_is_replaced_while_it_is_read_is_told(saved, capsys, monkeypatch):
    Path("rules.toml").write_text("[[rule]]\nrequire = 'not worse in agreement'\n", "utf-8")

    def open_and_replace(*paths: Path) -> runs.Runs:
        opened = open_runs(*paths)
        if paths == (saved,):
            other = write_run(Path("other"), random_frame(["m", "n"], items=8, paraphrases=5).assign(agreement=0.5))
            save_baseline(open_runs(other), "first", replaces=True)
        return opened

    open_runs = runs.open_runs
    monkeypatch.setattr(runs, "open_runs", open_and_replace)
    assert main(["check", "run", "--rules", "rules.toml", "--against", "first", "--junit", "j.xml"]) == 2
    assert "was changed while it was read" in capsys.readouterr().err and not Path("j.xml").exists()


def test_one_that_another_process_saved_meanwhile_is_not_replaced(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    opened = runs.open_runs(write_run(tmp_path / "run", random_frame(["m"], items=4)))
    real = slim.write_slim_tables

    def write_slowly(*arguments: object) -> None:
        real(*arguments)
        monkeypatch.setattr(slim, "write_slim_tables", real)
        save_baseline(opened, "first", tmp_path / "other")
        shutil.copytree("other", "baselines/first")

    monkeypatch.setattr(slim, "write_slim_tables", write_slowly)
    with pytest.raises(InputError, match="there is a baseline already"):
        save_baseline(opened, "first")
    assert [path.name for path in Path("baselines").iterdir()] == ["first"]
