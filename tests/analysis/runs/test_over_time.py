"""Folders of several times: the last one counts, the others are earlier."""

from __future__ import annotations

import pytest

import waver
from analysis import runs
from ground.errors import InputError
from helpers.drift_runs import draw_look, write_looks
from helpers.synthetic import edit_run_json, write_run

pytestmark = pytest.mark.slow


def names(folders):
    return [folder.path.name for folder in folders]


def test_the_last_time_of_a_model_counts(tmp_path):
    """Model b was not asked in the second week: its first one is its last."""
    path = write_looks(tmp_path, [draw_look({"a": 0.0}, items=3, wordings=2, seed=n) for n in range(2)])
    other = draw_look({"b": 0.0}, items=3, wordings=2, seed=1)
    write_run(path / "other", other)
    opened = runs.open_runs(path, over_time=True)
    assert names(opened.folders) == ["other", "week-02"]
    assert names(opened.earlier) == ["week-01"]
    assert set(opened.models) == {"a", "b"}
    assert opened.select_studies({"synthetic"}) is opened
    with pytest.raises(InputError, match="--over-time"):
        runs.open_runs(path)


def test_times_decide_and_not_names_and_folders_of_one_time_stay_in_order(tmp_path):
    path = write_looks(tmp_path, [draw_look({"a": 0.0}, items=3, wordings=2, seed=n) for n in range(3)])
    session = {"command": ["x"], "started": "2025-12-31T23:30:00-01:00", "finished": "", "versions": {}}
    edit_run_json(path / "week-03", sessions=[session])  # half past midnight of 1 January in UTC: before week 1
    opened = runs.open_runs(path, over_time=True)
    assert (names(opened.earlier), names(opened.folders)) == (["week-03", "week-01"], ["week-02"])
    for week in (1, 2, 3):
        edit_run_json(path / f"week-0{week}", sessions=[session | {"command": [str(week)]}])
    opened = runs.open_runs(path, over_time=True)
    assert (names(opened.earlier), names(opened.folders)) == (["week-01", "week-02"], ["week-03"])


def test_a_part_keeps_the_earlier_times(tmp_path):
    looks = [draw_look({"a": 0.0, "b": 0.5}, items=4, wordings=2, seed=n) for n in range(2)]
    run = waver.open(write_looks(tmp_path, looks), over_time=True)
    part = run.where("model = 'a' AND item <> 'i00'")
    changes = part.table("drift_changes")
    assert set(changes["model"]) == {"a"}
    assert set(changes["n_items"]) == {3}
    assert set(run.table("drift_changes")["n_items"]) == {4}
    with pytest.raises(InputError, match="single wordings"):
        run.where("variant <> 'p1-0'").table("drift_changes")


def test_a_table_about_times_needs_no_option_and_the_others_do(tmp_path):
    path = write_looks(tmp_path, [draw_look({"a": 0.0}, items=3, wordings=2, seed=n) for n in range(2)])
    run = waver.open(path)
    assert run.table("drift_looks")["look"].tolist() == [1, 2]
    with pytest.raises(InputError, match="--over-time"):
        run.responses()
    assert set(waver.open(path, over_time=True).responses()["variant"]) == {"original", "p1-0", "p1-1"}
