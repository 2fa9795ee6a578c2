"""Invalid answers in flips: dropped, or counted as not with the majority."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from analysis import runs
from analysis.pages.stability import narrative
from analysis.reporting.catalogue import tables
from analysis.reporting.catalogue.selection import AnswerPair
from analysis.reporting.words.doubts import LEFT_OUT, WRONG
from ground.errors import InputError
from helpers.synthetic import random_frame, write_run


def answers(*items: list[float]) -> pd.DataFrame:
    """One model's agreement with the paraphrases of every item; NaN is an invalid answer."""
    rows = [
        {"item": f"i{item}", "variant": f"p{place}", "agreement": agreement}
        for item, given in enumerate(items)
        for place, agreement in enumerate(given)
    ]
    return pd.DataFrame(rows).assign(model="m", mass=1.0)


@pytest.fixture
def example(tmp_path):
    nan = np.nan
    items = [0.9, 0.9, 0.9, 0.9], [0.9, 0.9, nan, nan], [0.9, 0.1, 0.1, nan], [0.9, nan, nan, nan], [nan] * 4
    return runs.open_runs(write_run(tmp_path / "run", answers(*items)))


@pytest.mark.slow
def test_by_hand(example):
    dropped = tables.build_table("items", example)["minority_share"]
    counted = tables.build_table("items", example, invalid="inconsistent")["minority_share"]
    assert dropped.tolist() == pytest.approx([0, 0, 1 / 3, np.nan, np.nan], nan_ok=True)
    assert counted.tolist() == [0, 0.5, 0.5, 0.75, 1]
    (one,) = tables.build_table("stability", example, resamples=20).to_dict("records")
    (other,) = tables.build_table("stability", example, resamples=20, invalid="inconsistent").to_dict("records")
    assert (one["flip_25"], other["flip_25"]) == (pytest.approx(1 / 3), 0.8)
    same = ["validity", "agreement_mean", "range_mean", "sd_mean", "n_items"]
    assert [one[name] for name in same] == [other[name] for name in same]
    assert other["flip_25_lower"] < 0.8 < other["flip_25_upper"]


@pytest.mark.slow
def test_the_other_convention_is_told_where_it_differs(example, tmp_path):
    both = tables.build_table("flip_conventions", example).set_index("measure")
    assert both.loc["flip_25", ["n_invalid", "flips_inconsistent"]].tolist() == [10, 0.8]
    frames = {name: tables.build_table(name, example, resamples=20) for name in narrative.TABLES}
    cautions = narrative.answer_page_question(**frames, choice=AnswerPair()).cautions
    said = "For m, 33 % of the items flip where they are dropped, 80 % where they count as not with the majority."
    assert said in " ".join(cautions)
    counted_frames = {
        name: tables.build_table(name, example, resamples=20, invalid="inconsistent") for name in narrative.TABLES
    }
    counted = narrative.answer_page_question(**counted_frames, choice=AnswerPair(), convention="inconsistent").cautions
    doubt_by_text = {text: text.doubt for text in (*cautions, *counted)}
    n_invalid = "10 of 20 responses (50 %) hold no valid answer."
    n_counted = f"{n_invalid} In flips, those to paraphrases count as not with the majority."
    assert (doubt_by_text[n_invalid], doubt_by_text[n_counted]) == (LEFT_OUT, WRONG) and n_invalid not in counted
    assert any(" are left out of range and SD" in text for text in counted)
    describe = narrative.describe_counts_of_excluded_items_and_answers
    exclusions = [
        describe(frames["excluded"], frames["invalid"], AnswerPair(), name) for name in ("dropped", "inconsistent")
    ]
    assert [text.partition(" of the models")[0] for text in exclusions] == [
        "From range, SD and flips",
        "From range and SD",
    ]
    whole = runs.open_runs(write_run(tmp_path / "whole", answers([0.9, 0.1, 0.2], [0.4, 0.8, 0.9])))
    assert tables.build_table("flip_conventions", whole).empty


@pytest.mark.slow
def test_plain_loops_give_the_same(tmp_path):
    frame = random_frame(["a", "b"], items=20, paraphrases=9, seed=3).assign(mass=1.0)
    lost = np.random.default_rng(0).random(len(frame)) < 0.4
    frame["agreement"] = frame["agreement"].mask(lost)
    run = runs.open_runs(write_run(tmp_path / "run", frame))
    reworded = frame[frame["variant"] != "original"]
    for convention in ("dropped", "inconsistent"):
        found = tables.build_table("items", run, invalid=convention).set_index(["model", "item"])["minority_share"]
        for key, part in reworded.groupby(["model", "item"]):
            valid = part["agreement"].dropna()
            total = len(valid) if convention == "dropped" else len(part)
            agree = int((valid >= 0.5).sum())
            expected = np.nan if total < 2 else 1 - max(agree, len(valid) - agree) / total
            assert found[key] == pytest.approx(expected, abs=1e-12, nan_ok=True)


def test_an_unknown_convention_is_refused(example):
    with pytest.raises(InputError, match="invalid = 'counted' is not known; invalid answers are dropped or incon"):
        tables.build_table("stability", example, invalid="counted")


def sampled(*votes: tuple[int, int, int]) -> pd.DataFrame:
    """One item's wordings, of each so many samples that agree, that disagree, and that hold no answer."""
    rows = [
        {"item": "i", "variant": f"p{place}", "count": [agree, disagree], "invalid": invalid}
        for place, (agree, disagree, invalid) in enumerate(votes)
    ]
    return pd.DataFrame(rows)


@pytest.mark.slow
def test_invalid_samples_beside_valid_ones_count(tmp_path):
    """Of five samples, one disagrees and four hold no answer: its answer is one sample's, or none."""
    run = runs.open_runs(write_run(tmp_path / "run", sampled((5, 0, 0), (3, 0, 2), (1, 2, 2), (0, 1, 4), (0, 0, 5))))
    (dropped,) = tables.build_table("items", run).to_dict("records")
    (counted,) = tables.build_table("items", run, invalid="inconsistent").to_dict("records")
    assert (dropped["minority_share"], dropped["n_invalid"]) == (0.5, 1)
    assert (counted["minority_share"], counted["n_invalid"]) == (0.6, 3)
    assert counted["agreement_mean"] == dropped["agreement_mean"]
    both = tables.build_table("flip_conventions", run)
    assert both.empty  # both are above every threshold of one item
    half = runs.open_runs(write_run(tmp_path / "half", sampled((5, 0, 0), (3, 0, 2), (2, 0, 3))))
    (told,) = tables.build_table("flip_conventions", half)[
        ["measure", "n_invalid", "flips_dropped", "flips_inconsistent"]
    ][-1:].to_dict("records")
    assert told == {"measure": "flip_25", "n_invalid": 1, "flips_dropped": 0, "flips_inconsistent": 1}


@pytest.mark.slow
def test_probabilities_are_no_samples(tmp_path):
    low = answers([0.9, 0.8, 0.2]).assign(mass=0.1)
    run = runs.open_runs(write_run(tmp_path / "run", low))
    assert tables.build_table("items", run)["minority_share"].equals(
        tables.build_table("items", run, invalid="inconsistent")["minority_share"]
    )
