"""The answer to every wording beside that to its original, against loops over the rows, for every kind of study."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest

from analysis import runs
from analysis.measures.beside_original import tabulate_answers_beside_original
from helpers import choice_runs, scale_runs, wording_runs
from helpers.meaning_runs import draw_flips
from helpers.synthetic import CONDITION, paraphrases, random_frame, write_run

TOLERANCE = 1e-12


def read_rows(folder: Path) -> pd.DataFrame:
    """Responses with their stimuli, straight from the files."""
    responses = pd.concat(
        [pq.read_table(part).to_pandas() for part in sorted((folder / "responses").glob("*.parquet"))]
    )
    return responses.merge(pq.read_table(folder / "stimuli.parquet").to_pandas(), on=["study", "item", "variant"])


def read_beside(folder: Path) -> dict[tuple[str, str, str, str], tuple[float, float, float]]:
    """What is tested: (model, condition, item, variant) -> flip, distance, value."""
    frame = tabulate_answers_beside_original(runs.open_runs(folder))
    keys = zip(*(frame[name] for name in ("model", "condition", "item", "variant")), strict=True)
    return dict(zip(keys, frame[["flip", "distance", "value"]].itertuples(index=False, name=None), strict=True))


def compare(folder: Path, slow: dict[tuple[str, str, str, str], tuple[float, float, float]]) -> None:
    fast = read_beside(folder)
    assert fast.keys() == slow.keys()
    for key, values in slow.items():
        assert fast[key] == pytest.approx(values, abs=TOLERANCE, nan_ok=True), key


def test_a_hand_made_example(tmp_path):
    rows = paraphrases({"a": [0.4, 0.9, math.nan], "b": [0.5, 0.2, 0.6]}, original=0.7)
    rows.loc[(rows["item"] == "b") & (rows["variant"] == "original"), "agreement"] = 0.3
    folder = write_run(tmp_path / "run", rows)
    nan = math.nan
    compare(folder, {
        ("m", CONDITION, "a", "p1"): (1, 0.3, 0.4), ("m", CONDITION, "a", "p2"): (0, 0.2, 0.9),
        ("m", CONDITION, "a", "p3"): (nan, nan, nan), ("m", CONDITION, "b", "p1"): (1, 0.2, 0.5),
        ("m", CONDITION, "b", "p2"): (0, 0.1, 0.2), ("m", CONDITION, "b", "p3"): (1, 0.3, 0.6),
    })  # fmt: skip


def test_agreement(tmp_path):
    frame = draw_flips(["a", "b"], items=4, paraphrases=5, conditions=[CONDITION, "chat/yes-no"])
    compare(write_run(tmp_path / "run", frame.drop(columns="same")), slow_agreement(tmp_path / "run"))


def slow_agreement(folder: Path) -> dict[tuple[str, str, str, str], tuple[float, float, float]]:
    rows = read_rows(folder)

    def share(row) -> float:
        place = list(row.canonical).index("agree")
        return row.probability[place] / sum(row.probability)

    originals = {(r.model, r.condition, r.item): share(r) for r in rows.itertuples() if r.pattern == "original"}
    slow = {}
    for row in rows.itertuples():
        if row.pattern != "original":
            value, first = share(row), originals[row.model, row.condition, row.item]
            flip = float((value >= 0.5) != (first >= 0.5))
            slow[row.model, row.condition, row.item, row.variant] = flip, abs(value - first), value
    return slow


def test_an_original_without_an_answer_leaves_values_but_no_flips(tmp_path):
    rows = paraphrases({"a": [0.4, 0.9]}, original=math.nan)
    fast = read_beside(write_run(tmp_path / "run", rows))
    assert np.isnan([values[:2] for values in fast.values()]).all() and [v[2] for v in fast.values()] == [0.4, 0.9]


@pytest.mark.slow
def test_a_study_of_three_labels_hides_none_of_two(tmp_path):
    rows = paraphrases({"a": [0.4, 0.9]}, original=0.6)
    pair = write_run(tmp_path / "pair", rows, study="pair")
    rows = rows.drop(columns="agreement").assign(answer="agree")
    triple = write_run(tmp_path / "triple", rows, study="triple", canonical=["agree", "neither", "disagree"])
    assert set(tabulate_answers_beside_original(runs.open_runs(pair, triple))["study"]) == {"pair"}


@pytest.mark.slow
def test_items_without_an_original_have_no_rows(tmp_path):
    rows = pd.concat([paraphrases({"a": [0.4, 0.9]}), paraphrases({"b": [0.2]}, original=0.6)])
    assert {key[2] for key in read_beside(write_run(tmp_path / "run", rows))} == {"b"}
    write_run(tmp_path / "none", paraphrases({"a": [0.4, 0.9]}))
    frame = tabulate_answers_beside_original(runs.open_runs(tmp_path / "none"))
    assert frame.empty and list(frame)[-3:] == ["flip", "distance", "value"]


def test_a_wording_that_is_the_original_but_for_blanks_is_left_out(tmp_path):
    rows = paraphrases({"a": [0.4, 0.9]}, original=0.6)
    rows["text"] = ["Cats purr.\n", "Purring is what cats do.", "Cats purr."]
    assert {key[3] for key in read_beside(write_run(tmp_path / "run", rows))} == {"p2"}


def test_yes_no_questions_leave_out_what_turns_the_answers_round(tmp_path):
    rows = wording_runs.random_rows(["m", "n"], items=12, seed=3)
    folder = wording_runs.write_wording(tmp_path / "run", rows)
    table = read_rows(folder)
    originals = {(r.model, r.condition, r.item): r for r in table.itertuples() if r.pattern == "original"}
    slow = {}
    for row in table.itertuples():
        if row.pattern in ("original", "antonym"):
            continue
        first = originals[row.model, row.condition, row.item]
        value, before = (slow_yes(r) for r in (row, first))
        flip = math.nan if math.isnan(value + before) else float((value >= 0.5) != (before >= 0.5))
        slow[row.model, row.condition, row.item, row.variant] = flip, abs(value - before), value
    compare(folder, slow)


def slow_yes(row) -> float:
    """Share of the answer that means yes to the original question."""
    place = list(row.canonical).index("yes")
    if row.probability is not None:
        return row.probability[place] / sum(row.probability) if sum(row.probability) else math.nan
    if row.answer is None:
        return math.nan
    return float(row.canonical[list(row.options).index(row.answer)] == "yes")


@pytest.mark.parametrize("condition", [choice_runs.LETTER, choice_runs.TEXT])
def test_choices_are_compared_in_the_same_order(tmp_path, condition):
    asked = choice_runs.questions(8, 3)
    rows = choice_runs.answers(asked, ["m", "n"], conditions=[condition], unparsed=0.2)
    folder = choice_runs.write_choice(tmp_path / "run", rows)
    table = read_rows(folder)
    originals = {(r.model, r.item, r.variant.split("/")[1]): r for r in table.itertuples() if r.pattern == "original"}
    slow = {}
    for row in table.itertuples():
        if row.pattern == "original":
            continue
        first = originals[row.model, row.item, row.variant.split("/")[1]]
        chosen, before = slow_choice(row), slow_choice(first)
        value, value_before = slow_right(row, chosen), slow_right(first, before)
        flip = math.nan if chosen is None or before is None else float(chosen != before)
        slow[row.model, row.condition, row.item, row.variant] = flip, abs(value - value_before), value
    compare(folder, slow)


def slow_choice(row) -> str | None:
    """Letter, in the question's own order, of the likeliest choice, or of the one that was given."""
    if row.probability is not None:
        return row.canonical[int(np.argmax(row.probability))]
    if row.answer is not None:
        return row.canonical[list(row.options).index(row.answer)]
    counts = sorted(row.count) if isinstance(row.count, np.ndarray) else []
    if counts and counts[-1] > counts[-2]:
        return row.canonical[int(np.argmax(row.count))]
    return None


def slow_right(row, chosen: str | None) -> float:
    if row.probability is not None:
        return row.probability[list(row.canonical).index(row.gold)] / sum(row.probability)
    return math.nan if chosen is None else float(chosen == row.gold)


def test_orders_of_the_options_are_one_wording(tmp_path):
    rows = choice_runs.answers(choice_runs.questions(2, 3))
    frame = tabulate_answers_beside_original(runs.open_runs(choice_runs.write_choice(tmp_path / "run", rows)))
    assert set(frame["wording"]) == {"paraphrase-1", "paraphrase-2"} and frame["variant"].nunique() == 6


@pytest.mark.slow
def test_rating_scales(tmp_path):
    folder = scale_runs.write_full(tmp_path / "run")
    table = read_rows(folder)

    def mean(row) -> float:
        p = np.asarray(row.probability) / sum(row.probability)
        score = float(p @ np.arange(len(p)) / (len(p) - 1))
        return 1 - score if dict(row.attributes or []).get("key") == "-1" else score

    originals = {(r.model, r.condition, r.item): mean(r) for r in table.itertuples() if r.pattern == "original"}
    slow = {}
    for row in table.itertuples():
        if row.pattern != "original":
            value, first = mean(row), originals[row.model, row.condition, row.item]
            flip = float((value - 0.5) * (first - 0.5) < 0)
            slow[row.model, row.condition, row.item, row.variant] = flip, abs(value - first), value
    compare(folder, slow)


def test_a_rating_in_the_middle_is_on_no_side(tmp_path):
    """Beside an original on a side, it is not on the other one; beside an original in the middle, nothing is said."""
    chosen = {"a": {"original": 0, "p1": 1, "p2": 2}, "b": {"original": 1, "p1": 0, "p2": 1}}
    rows = pd.DataFrame([
        {"item": item, "variant": variant, "probability": [float(rank == k) for k in range(3)], "mass": 1.0,
         "options": ["no", "maybe", "yes"], "canonical": ["1", "2", "3"]}
        for item, of_item in chosen.items() for variant, rank in of_item.items()
    ])  # fmt: skip
    folder = write_run(tmp_path / "run", rows, protocol="scale", canonical=["1", "2", "3"])
    flips = {key[2:]: values[0] for key, values in read_beside(folder).items()}
    assert flips["a", "p1"] == 0 and flips["a", "p2"] == 1
    assert math.isnan(flips["b", "p1"]) and math.isnan(flips["b", "p2"])


@pytest.mark.slow
def test_studies_of_several_protocols_at_once(tmp_path):
    write_run(tmp_path / "runs" / "a", random_frame(["m"]), study="a")
    scale_runs.write_full(tmp_path / "runs" / "s")
    together = tabulate_answers_beside_original(runs.open_runs(tmp_path / "runs"))
    for name in "as":
        alone = tabulate_answers_beside_original(runs.open_runs(tmp_path / "runs" / name))
        part = together[together["study"] == alone["study"].iloc[0]]
        assert part["value"].tolist() == alone["value"].tolist() and part["flip"].tolist() == alone["flip"].tolist()
