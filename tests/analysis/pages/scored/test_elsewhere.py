"""What other commands make of runs of scores: plans, exports and what comes back from them."""

from __future__ import annotations

import json

import pyarrow.parquet as pq
import pytest

import waver as notebook
from helpers.commands import waver
from helpers.scored_runs import draw_scores, write_scored

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    rows = draw_scores(["org/a", "org/b"], 20, 4, measures=["F1", "ms"])
    return write_scored(tmp_path_factory.mktemp("scored") / "run", rows)


def test_a_pilot_of_scores_plans_a_study(run):
    planned = waver("analysis", "plan", run, "--se", "0.05")
    assert "a standard error of 0.05 in F1; pilot: 20 items, 4 wordings" in planned.stderr
    planned = waver("analysis", "plan", run, "--se", "40", "--measure", "ms")  # no range, so that 40 may be little
    assert "a standard error of 40 in ms" in planned.stderr


def test_records_of_every_eval_ever_hold_the_measure_and_come_back(run, tmp_path):
    waver("analysis", "export", run, "--as", "eee", "--out", tmp_path / "eee")
    (record,) = (tmp_path / "eee" / "data").glob("*/org/a/*.json")
    results = json.loads(record.read_text(encoding="utf-8"))["evaluation_results"]
    configs = [entry["metric_config"] for entry in results]
    assert [(config["metric_name"], config["lower_is_better"]) for config in configs] == [("F1", False), ("ms", True)]
    waver("inference", "import", "eee", tmp_path / "eee", "--out", tmp_path / "back")
    before, after = (json.loads((path / "run.json").read_text("utf-8")) for path in (run, tmp_path / "back"))
    assert after["study"]["protocol"] == "scored"
    for name, fields in after["conditions"].items():
        assert {key: fields[key] for key in ("measure", "range", "direction")} == {
            key: before["conditions"][name][key] for key in ("measure", "range", "direction")
        }


def test_samples_are_in_the_exports_and_in_the_tidy_rows_and_come_back(tmp_path):
    rows = draw_scores(["m"], 2, 1, measures=["likert"])
    rows = rows.assign(sample_score=[[1.0, 4.0], [5.0]], score=[2.5, 5.0])
    folder = write_scored(tmp_path / "run", rows)
    assert [list(samples) for samples in notebook.open(folder).responses()["sample_score"]] == [[1.0, 4.0], [5.0]]
    waver("analysis", "export", folder, "--as", "parquet", "--out", tmp_path / "tables")
    samples = pq.read_table(tmp_path / "tables" / "response_samples.parquet").to_pylist()
    assert [(row["item"], row["place"], row["score"]) for row in samples] == [
        ("item-0000", 1, 1.0), ("item-0000", 2, 4.0), ("item-0001", 1, 5.0)
    ]  # fmt: skip
    assert {row["answer"] for row in samples} == {None}
    waver("analysis", "export", folder, "--as", "eee", "--out", tmp_path / "eee")
    waver("inference", "import", "eee", tmp_path / "eee", "--out", tmp_path / "back")
    back = notebook.open(tmp_path / "back").responses()
    assert [list(samples) for samples in back["sample_score"]] == [[1.0, 4.0], [5.0]]


def test_a_part_of_a_run_has_its_own_means(run):
    printed = waver("analysis", "table", run, "scored_means", "--where", "item < 'item-0010'").stdout
    assert printed.count(",10,4.0,40,") == 4
