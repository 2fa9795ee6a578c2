"""`waver import eee`: several records of one model, and what they say of it."""

from __future__ import annotations

import json

import pytest

from analysis import runs
from analysis.export import eee
from helpers.synthetic import paraphrases, write_run
from inference.__main__ import main

AGREEMENTS = {"a": [0.9, 0.8], "b": [0.1, 0.2]}


def records(folder, condition, agreements=AGREEMENTS, **model):
    """Write the records of a run of model `m` under a condition; return their folder."""
    run = write_run(folder / "asked", paraphrases(agreements, condition=condition), models={"m": model})
    eee.write_eee_records_of_models(runs.open_runs(run), folder / "records")
    return folder / "records"


def import_records(out, *folders):
    return main(["import", "eee", *map(str, folders), "--out", str(out)])


@pytest.mark.slow
def test_a_condition_of_one_record_is_here_already_when_another_is_added(tmp_path, capsys):
    first, second = records(tmp_path / "1", "c1"), records(tmp_path / "2", "c2")
    assert import_records(tmp_path / "run", first) == 0
    assert import_records(tmp_path / "run", first, second) == 0
    said = capsys.readouterr().out
    assert "m c1: is here already" in said and "m c2: 4 of 4 variants" in said


@pytest.mark.slow
def test_changed_answers_beside_a_known_record_are_refused(tmp_path, capsys):
    first, second = records(tmp_path / "1", "c1"), records(tmp_path / "2", "c2")
    changed = records(tmp_path / "3", "c1", {**AGREEMENTS, "b": [0.1, 0.3]})
    assert import_records(tmp_path / "run", first, second) == 0
    assert import_records(tmp_path / "run", changed, second) == 2
    assert "already has responses under condition 'c1' from elsewhere" in capsys.readouterr().err


@pytest.mark.slow
def test_facts_of_a_model_are_those_of_all_records(tmp_path, capsys):
    first = records(tmp_path / "1", "c1", revision="r1", series="tea")
    second = records(tmp_path / "2", "c2", revision="r1")
    assert import_records(tmp_path / "run", first, second) == 0
    model = json.loads((tmp_path / "run" / "run.json").read_text(encoding="utf-8"))["models"]["m"]
    assert (model["revision"], model["series"]) == ("r1", "tea")
    other = records(tmp_path / "3", "c3", revision="r2")
    assert import_records(tmp_path / "other", first, other) == 2
    assert "revision of model 'm' is 'r2', in another record 'r1'" in capsys.readouterr().err


@pytest.mark.slow
@pytest.mark.parametrize("column", ["n", "read_otherwise"])
def test_counts_come_back(column, tmp_path):
    frame = paraphrases(AGREEMENTS).assign(**{column: 10})
    run = write_run(tmp_path / "asked", frame)
    eee.write_eee_records_of_models(runs.open_runs(run), tmp_path / "records")
    assert import_records(tmp_path / "run", tmp_path / "records") == 0
    rows = runs.open_runs(tmp_path / "run").execute(f"SELECT DISTINCT {column} FROM responses").fetchall()
    assert rows == [(10,)]
