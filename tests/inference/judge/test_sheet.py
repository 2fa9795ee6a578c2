"""Texts of a run drawn into a sheet for people: each kind equally often, each text once, the same for the same seed."""

from __future__ import annotations

import csv
from collections import Counter

import pytest

from ground.errors import InputError
from helpers.replies import statement_study, write_texts
from inference.__main__ import main
from inference.judge.sheet import COLUMNS, draw_texts_and_write_annotation_sheet
from inference.judge.texts import RunTexts
from inference.runfolder.store import Run


@pytest.fixture
def run(tmp_path):
    """Two models whose texts are mostly read as agree, seldom as disagree or as nothing."""
    items = [f"i{n:02d}" for n in range(20)]
    with Run.create_or_open(tmp_path / "run", statement_study(items)) as run:
        run.add_condition("plain/text", {"form": "plain", "answer": "text"})
        rows = []
        for model in ("m1", "m2"):
            run.add_model(model, {"engine": "import", "revision": None})
            for n, item in enumerate(items):
                reading = "disagree" if n == 3 else None if n in (5, 6) else "agree"
                texts = [f"=Well, {model} {n}.", ""]
                rows.append({"model": model, "condition": "plain/text", "item": item, "variant": "original",
                             "output": texts, "sample_answer": [reading, None]})  # fmt: skip
        run.responses.append_rows_as_part(rows)
        run.finish()
    return tmp_path / "run"


def read(path):
    with path.open(encoding="utf-8-sig", newline="") as file:
        return list(csv.DictReader(file))


def test_every_model_and_reading_has_its_turn_and_no_judgement_is_shown(run, tmp_path):
    assert draw_texts_and_write_annotation_sheet(tmp_path / "s.csv", RunTexts(run), 10, seed=1) == 10
    rows = read(tmp_path / "s.csv")
    assert tuple(rows[0]) == COLUMNS and {row["option"] for row in rows} == {""}
    kinds = Counter(
        (row["model"], {"i03": "disagree", "i05": None, "i06": None}.get(row["item"], "agree")) for row in rows
    )
    # Six kinds in turn: one disagree, two without a reading, and agree for the rest, of each model.
    assert kinds == {
        (model, kind): n for model in ("m1", "m2") for kind, n in (("disagree", 1), (None, 2), ("agree", 2))
    }
    first = rows[0]
    number = int(first["item"][1:])
    assert first["text"] == f"'=Well, {first['model']} {number}." and first["sample"] == "1"  # no formula
    assert first["asked"] == f"About {first['item']}." and first["options"] == "agree\ndisagree"
    assert (first["study"], first["variant"], first["condition"]) == ("replies", "original", "plain/text")


def test_the_draw_depends_on_the_seed_only_and_ends_with_the_texts(run, tmp_path):
    drawn = {}
    for name, seed, number in (("a", 1, 12), ("b", 1, 12), ("c", 2, 12), ("all", 1, 999)):
        draw_texts_and_write_annotation_sheet(tmp_path / f"{name}.csv", RunTexts(run), number, seed)
        drawn[name] = [(row["model"], row["item"]) for row in read(tmp_path / f"{name}.csv")]
    assert drawn["a"] == drawn["b"] and sorted(drawn["a"]) != sorted(drawn["c"])
    assert len(drawn["all"]) == 40  # texts that show nothing are not shown
    assert set(drawn["a"]) <= set(drawn["all"])


def test_equal_texts_are_there_once(tmp_path):
    texts = {(model, "c", item): ["\n\nYes.", "\n\nYes."] for model in ("m1", "m2") for item in ("tea", "rain")}
    folder = write_texts(tmp_path / "run", texts)
    assert draw_texts_and_write_annotation_sheet(tmp_path / "s.csv", RunTexts(folder), 10, seed=0) == 2
    assert {(row["item"], row["text"]) for row in read(tmp_path / "s.csv")} == {("tea", "Yes."), ("rain", "Yes.")}


def test_a_filled_sheet_is_never_overwritten(run, tmp_path, capsys):
    assert main(["judge", str(run), "--sheet", "5", str(tmp_path / "s.csv")]) == 0
    assert "5 texts; write the option of each" in capsys.readouterr().out
    with pytest.raises(InputError, match="may be filled in"):
        draw_texts_and_write_annotation_sheet(tmp_path / "s.csv", RunTexts(run), 5, seed=0)
