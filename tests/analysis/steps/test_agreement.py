"""Flips, range and SD from rows, on numbers worked out by hand."""

from __future__ import annotations

import math

import pandas as pd
import pytest

from analysis.steps.agreement import (
    average_range_and_sd,
    average_validity_over_paraphrases,
    compute_agreement,
    compute_share_of_flipping_items_per_threshold,
    summarize_agreement_of_each_item,
)
from ground.errors import InputError

LABELS = {"s": "agree"}
EMPTY = {"probability": None, "mass": None, "count": None, "invalid": None, "answer": None}


def build_run(*answers: dict, item: str = "tea", **wording) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Responses of one model to the original and paraphrases of an item, and these wordings."""
    key = {"study": "s", "item": item}
    about = {"options": ["agree", "disagree"], "canonical": ["agree", "disagree"]} | wording
    patterns = ["original"] + ["paraphrase"] * (len(answers) - 1)
    responses = [
        {**key, "model": "m", "condition": "c", "variant": str(number), **EMPTY, **answer}
        for number, answer in enumerate(answers)
    ]
    wordings = [{**key, "variant": str(number), "pattern": pattern, **about} for number, pattern in enumerate(patterns)]
    return pd.DataFrame(responses), pd.DataFrame(wordings)


def probability(agree: float, disagree: float) -> dict:
    return {"probability": [agree, disagree]}


def test_agreement_is_the_share_of_the_probability_of_both_answers_and_validity_their_sum():
    answers = compute_agreement(*build_run(probability(0.6, 0.2), probability(0.1, 0.3), probability(0, 0)), LABELS)
    assert answers["agreement"].tolist()[:2] == pytest.approx([0.75, 0.25])
    assert math.isnan(answers["agreement"][2])
    assert answers["validity"].tolist() == pytest.approx([0.8, 0.4, 0])
    assert answers["original"].tolist() == [True, False, False]


def test_samples_count_as_shares_and_an_answer_is_0_or_1():
    given = ({"count": [3, 1], "invalid": 4}, {"count": [0, 0], "invalid": 2}, {"answer": "disagree"}, {"answer": None})
    answers = compute_agreement(*build_run(*given), LABELS)
    assert answers["agreement"].fillna(-1).tolist() == [0.75, -1, 0, -1]
    assert answers["validity"].tolist() == [0.5, 0, 1, 0]
    assert answers["outvoted"].tolist() == [True, False, False, False]


def test_the_option_that_means_agreement_may_be_the_second_one():
    answers = compute_agreement(
        *build_run(probability(0.9, 0.1), {"answer": "wrong"}, options=["right", "wrong"],
                   canonical=["disagree", "agree"]), LABELS
    )  # fmt: skip
    assert answers["agreement"].tolist() == pytest.approx([0.1, 1])


def test_an_item_is_summarised_over_its_paraphrases_only():
    answers = compute_agreement(
        *build_run(probability(0.5, 0.5), probability(0.9, 0.1), probability(0.5, 0.5), probability(0.1, 0.9)), LABELS
    )
    (item,) = summarize_agreement_of_each_item(answers).to_dict("records")
    assert (item["n_variants"], item["n_valid"]) == (3, 3)
    assert item["agreement_mean"] == pytest.approx(0.5)
    assert item["agreement_range"] == pytest.approx(0.8)
    assert item["agreement_sd"] == pytest.approx(0.4)
    assert item["minority_share"] == pytest.approx(1 / 3)  # 0.5 agrees


def test_invalid_answers_are_dropped_or_with_no_majority():
    sampled = {"count": [1, 0], "invalid": 1}
    answers = compute_agreement(
        *build_run({"answer": "agree"}, {"answer": "agree"}, {"answer": "agree"}, sampled, {"answer": None}), LABELS
    )
    assert summarize_agreement_of_each_item(answers)["minority_share"].tolist() == [0]
    assert summarize_agreement_of_each_item(answers, "inconsistent")["minority_share"].tolist() == [0.5]
    with pytest.raises(InputError, match="invalid = 'ignored' is not known"):
        summarize_agreement_of_each_item(answers, "ignored")


def test_one_paraphrase_has_no_range_no_sd_and_no_minority():
    items = summarize_agreement_of_each_item(
        compute_agreement(*build_run({"answer": "agree"}, {"answer": "agree"}), LABELS)
    )
    assert items[["agreement_range", "agreement_sd", "minority_share"]].isna().all(axis=None)
    assert compute_share_of_flipping_items_per_threshold(items, [0.1])["flip_10"].isna().all()


def test_an_item_of_which_only_the_original_has_an_answer_has_a_row_without_numbers():
    answers = compute_agreement(*build_run({"answer": "agree"}), LABELS)
    items = summarize_agreement_of_each_item(answers)
    assert items[["n_variants", "n_valid"]].to_numpy().tolist() == [[0, 0]]
    assert items[["agreement_mean", "agreement_range", "minority_share"]].isna().all(axis=None)
    (unit,) = average_range_and_sd(items).merge(average_validity_over_paraphrases(answers)).to_dict("records")
    assert math.isnan(unit["range_mean"])
    assert math.isnan(unit["validity"])


def test_flips_are_the_share_of_items_above_the_threshold_and_spreads_are_means_over_items():
    changing, steady = (
        build_run({"answer": "agree"}, *({"answer": answer} for answer in given), item=item)
        for item, given in (("tea", ["agree", "agree", "agree", "disagree"]), ("cats", ["agree"] * 4))
    )
    responses, wordings = (pd.concat(frames) for frames in zip(changing, steady, strict=True))
    answers = compute_agreement(responses, wordings, LABELS)
    items = summarize_agreement_of_each_item(answers)
    assert compute_share_of_flipping_items_per_threshold(items, [0.1, 0.25]).to_dict("records") == [
        {"study": "s", "model": "m", "condition": "c", "flip_10": 0.5, "flip_25": 0.0}  # 0.25 is not above 0.25
    ]
    (spread,) = average_range_and_sd(items).to_dict("records")
    assert spread["range_mean"] == 0.5
    assert spread["range_sd"] == pytest.approx(math.sqrt(0.5))
    assert spread["sd_mean"] == pytest.approx(0.25)
    assert average_validity_over_paraphrases(answers)["validity"].tolist() == [1]
