"""`waver import table --score-column`: numbers of every shape come out as they went in."""

from __future__ import annotations

import json
import math

import pyarrow.parquet as pq
import pytest

from ground.errors import InputError
from helpers.answer_tables import IDS, write
from inference.__main__ import main
from inference.importers.shared.scored import parse_score_measures_of_call

pytestmark = pytest.mark.slow

SHAPES = {
    "judged": ("0-1", ["0", "0.5", "1", "0.5", "1", "0"]),
    "likert": ("1-5", ["1", "5", "3", "3.5", "2", "4"]),
    "F1": ("0-1", ["0", "0.3333333333333333", "0", "0", ".75", "1e-3"]),
    "tests": ("0-10", ["0", "10", "7", "7", "3", "1"]),
    "ms": (None, ["120.5", "1e4", "3", "99999.25", "-1", "0"]),
}


def rows_of(cells):
    """A row per cell: two models, three wordings of one item."""
    places = [(model, variant) for model in ("m1", "m2") for variant in ("original", "a", "b")]
    return [
        {"model": model, "item": "1", "variant": variant, "text": f"Tea, {variant}.",
         **{name: values[n] for name, values in cells.items()}}
        for n, (model, variant) in enumerate(places)
    ]  # fmt: skip


def run(out, table, *words):
    assert main(["import", "table", str(table), *IDS, *words, "--out", str(out)]) == 0
    parts = sorted((out / "responses").glob("*.parquet"))
    rows = [row for part in parts for row in pq.read_table(part).to_pylist()]
    return json.loads((out / "run.json").read_text(encoding="utf-8")), rows


@pytest.mark.parametrize("ending", ["csv", "jsonl", "parquet"])
def test_every_measure_is_a_condition_and_no_score_is_lost(tmp_path, ending, capsys):
    cells = {name: values for name, (_, values) in SHAPES.items()}
    words = [word for name in SHAPES for word in ("--score-column", name)]
    words += [word for name, (ends, _) in SHAPES.items() if ends for word in ("--score-range", f"{name}={ends}")]
    info, rows = run(
        tmp_path / "run", write(tmp_path / f"t.{ending}", rows_of(cells)), *words, "--lower-is-better", "ms"
    )
    assert info["study"]["protocol"] == "scored" and info["study"]["canonical"] == ["lowest", "highest"]
    assert list(info["conditions"]) == list(SHAPES)
    assert info["conditions"]["likert"] == {
        "form": "import", "measure": "likert", "range": [1, 5], "direction": "higher"
    }  # fmt: skip
    assert info["conditions"]["ms"]["range"] is None and info["conditions"]["ms"]["direction"] == "lower"
    for name, (_, values) in SHAPES.items():
        scores = [row["score"] for row in rows if row["condition"] == name]
        assert scores == [float(value) for value in values]  # the very numbers, in their order
    assert all(row["sample_score"] is row["probability"] is row["answer"] is row["error"] is None for row in rows)
    assert "m2 likert: 3 of 3 variants, 3 scores, mean 3.167" in capsys.readouterr().out


def test_settings_and_measures_name_the_condition(tmp_path):
    rows = [{**row, "shots": shots} for row in rows_of({"F1": SHAPES["F1"][1]}) for shots in ("none", "five")]
    info, _ = run(
        tmp_path / "run", write(tmp_path / "t.csv", rows), "--score-column", "F1", "--condition-column", "shots"
    )
    assert info["conditions"] == {
        f"{shots}/F1": {"form": "import", "shots": shots, "measure": "F1", "range": None, "direction": "higher"}
        for shots in ("none", "five")
    }


def test_missing_cells_are_counted_and_said(tmp_path, capsys):
    cells = {"F1": ["0.5", "", "NA", "1", "nan", "0"], "EM": ["1", "0", "1", "1", "", "0"]}
    _, rows = run(
        tmp_path / "run", write(tmp_path / "t.csv", rows_of(cells)), "--score-column", "F1", "--score-column", "EM"
    )
    assert len(rows) == 12
    assert [row["score"] for row in rows if row["condition"] == "F1"] == [0.5, None, None, 1, None, 0]
    assert [row["error"] for row in rows if row["condition"] == "EM"][4] == "no score in column EM"
    out = capsys.readouterr().out
    assert "F1: 3 of 6 cells without a score" in out and "EM: 1 of 6 cells without a score" in out
    assert "m1 F1: 3 of 3 variants, 2 without a response, 1 score, mean 0.500" in out


def test_samples_are_kept_and_the_score_is_their_mean(tmp_path):
    rows = rows_of({"F1": ["0.1", "0.2", "0.3", "0.4", "0.5", "0.6"], "reply": list("uvwxyz")})
    rows += [{**rows[0], "F1": "", "reply": "no score"}, {**rows[0], "F1": "0.4", "reply": ""}]
    _, found = run(
        tmp_path / "run", write(tmp_path / "t.csv", rows), "--score-column", "F1", "--score-range", "0-1",
        "--repeated", "samples", "--output-column", "reply",
    )  # fmt: skip
    first = next(row for row in found if row["model"] == "m1" and row["variant"] == "original")
    assert first["sample_score"] == [0.1, 0.4] and math.isclose(first["score"], 0.25)
    assert first["output"] == ["u", ""]  # the texts that were scored, in the order of their scores
    assert [row["sample_score"] for row in found if row is not first] == [None] * 5


def test_the_same_import_again_changes_nothing(tmp_path, capsys):
    table = write(tmp_path / "t.csv", rows_of({"F1": SHAPES["F1"][1]}))
    run(tmp_path / "run", table, "--score-column", "F1")
    capsys.readouterr()
    _, rows = run(tmp_path / "run", table, "--score-column", "F1")
    assert len(rows) == 6 and "m1 F1: is here already, nothing to do" in capsys.readouterr().out


def test_a_range_holds_for_all_measures_but_those_that_have_their_own():
    first, second = parse_score_measures_of_call(["F1", "likert"], ["0-1", "likert=1-5"], ["F1"], "here")
    assert (first.range, first.direction) == ((0, 1), "lower")
    assert (second.range, second.direction) == ((1, 5), "higher")
    with pytest.raises(InputError, match="two scores are called 'F1'"):
        parse_score_measures_of_call(["F1", "F1"], [], [], "here")
