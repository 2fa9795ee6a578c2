"""Consistency, Diff-Yes and Overall from pairs, on numbers worked out by hand."""

from __future__ import annotations

import pandas as pd
import pytest

from analysis.steps.wording import (
    average_answer_pairs_by_pattern,
    derive_answers_to_original_questions,
    pair_answers_with_originals,
)

YES_NO, NO_YES = ["yes", "no"], ["no", "yes"]


def build_run(*answers: tuple[str | None, str | None, str | None], gold: str | None = "yes"):
    """Responses to items of an original, a synonym and an antonym, and these wordings."""
    responses, wordings = [], []
    for number, item in enumerate(answers):
        patterns = {"original": YES_NO, "synonym": YES_NO, "antonym": NO_YES}
        for (pattern, canonical), answer in zip(patterns.items(), item, strict=True):
            key = {"study": "facts", "item": str(number), "variant": pattern}
            responses.append({**key, "model": "m", "condition": "c", "answer": answer, "count": None, "invalid": None,
                              "probability": None})  # fmt: skip
            wordings.append({**key, "pattern": pattern, "language": "en", "gold": gold, "options": YES_NO,
                             "canonical": canonical})  # fmt: skip
    return pd.DataFrame(responses), pd.DataFrame(wordings)


def measure(*answers, invalid: str = "dropped", **about) -> dict[str, dict]:
    """The measures by pattern."""
    read = derive_answers_to_original_questions(*build_run(*answers, **about), {"facts": "yes"})
    return (
        average_answer_pairs_by_pattern(pair_answers_with_originals(read, invalid))
        .set_index("pattern")
        .to_dict("index")
    )


def test_no_to_an_antonym_means_yes_to_the_question():
    read = derive_answers_to_original_questions(*build_run(("yes", "yes", "no"), (None, "no", "no")), {"facts": "yes"})
    assert read["meant"].tolist() == ["yes", "yes", "yes", None, "no", "yes"]
    assert read["inverted"].tolist() == [False, False, True] * 2
    assert read["task"].unique().tolist() == ["facts"]


def test_the_measures_are_means_over_pairs():
    measures = measure(("yes", "yes", "no"), ("yes", "no", "yes"), ("no", "no", "yes"), ("no", "no", "no"))
    synonym, antonym = measures["synonym"], measures["antonym"]
    assert synonym["consistency"] == 0.75
    assert synonym["diff_yes"] == synonym["excess_yes"] == -0.25
    assert (synonym["accuracy_original"], synonym["accuracy"], synonym["diff_acc"]) == (0.5, 0.25, -0.25)
    assert synonym["overall"] == pytest.approx(3 / (1 / 0.5 + 1 / 0.25 + 1 / 0.75))
    # Said: no, yes, yes, no, which means yes, no, no, yes; consistent would be no, no, yes, yes.
    assert (antonym["consistency"], antonym["diff_yes"], antonym["excess_yes"]) == (0.5, 0, 0)
    assert pd.isna(measures["original"]["consistency"]) and measures["original"]["yes"] == 0.5


def test_a_pair_with_an_invalid_answer_is_dropped_or_inconsistent():
    answers = (("yes", "yes", "no"), ("yes", None, None))
    dropped, counted = measure(*answers), measure(*answers, invalid="inconsistent")
    assert (dropped["synonym"]["consistency"], counted["synonym"]["consistency"]) == (1, 0.5)
    assert dropped["synonym"]["valid"] == counted["synonym"]["valid"] == 0.5
    assert (dropped["synonym"]["accuracy"], counted["synonym"]["accuracy"]) == (1, 0.5)


def test_overall_is_0_where_a_part_is_and_undefined_without_right_answers():
    assert measure(("yes", "no", "yes"))["synonym"]["overall"] == 0
    assert pd.isna(measure(("yes", "yes", "no"), gold=None)["synonym"]["overall"])
