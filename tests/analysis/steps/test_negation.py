"""Acc, Acc' and AccChg from minimal pairs, on numbers worked out by hand."""

from __future__ import annotations

import pandas as pd
import pytest

from analysis.steps.negation import (
    average_minimal_pairs_by_model,
    count_right_labels,
    derive_labels_of_responses,
    pair_judgements_with_parents,
)

LABELS = ["entailment", "contradiction", "neutral"]
# variant: pattern, right label, parents; the last two negations change nothing, or change it back.
VARIANTS = {
    "original": ("original", "entailment", None),
    "p": ("p_neg", "contradiction", ["original"]),
    "h": ("h_neg", "contradiction", ["original"]),
    "both": ("p_neg_h_neg", "contradiction", ["p", "h"]),
}


def build_run(**said: str | None) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Responses to the variants that are named, and all wordings of an item."""
    key = {"study": "s", "item": "chair"}
    responses = [
        {**key, "model": "m", "condition": "c", "variant": name, "answer": label, "count": None}
        for name, label in said.items()
    ]
    wordings = [
        {**key, "variant": name, "pattern": pattern, "gold": gold, "parents": parents, "options": LABELS}
        for name, (pattern, gold, parents) in VARIANTS.items()
    ]
    return pd.DataFrame(responses), pd.DataFrame(wordings)


def test_pairs_have_one_negation_less_and_are_important_where_the_right_label_changes():
    responses, wordings = build_run(original="entailment", p="contradiction", h="neutral", both=None)
    pairs = pair_judgements_with_parents(derive_labels_of_responses(responses, wordings), wordings)
    assert pairs[["variant_before", "variant", "pairs", "right_before", "right"]].to_numpy().tolist() == [
        ["original", "p", "important", 1, 1], ["original", "h", "important", 1, 0],
        ["p", "both", "unimportant", 1, 0], ["h", "both", "unimportant", 0, 0],
    ]  # fmt: skip
    table = average_minimal_pairs_by_model(pairs).set_index("pairs")
    measures = ["n", "acc", "acc_negated", "acc_change", "validity"]
    assert table.loc["important", measures].tolist() == [2, 1, 0.5, -0.5, 1]
    assert table.loc["unimportant", ["acc", "acc_negated", "validity"]].tolist() == pytest.approx([0.5, 0, 0.5])


def test_a_pair_counts_where_both_sides_have_a_response():
    responses, wordings = build_run(p="contradiction", both="contradiction")
    pairs = pair_judgements_with_parents(derive_labels_of_responses(responses, wordings), wordings)
    assert pairs[["variant_before", "variant"]].to_numpy().tolist() == [["p", "both"]]


def test_right_labels_with_and_without_a_negation():
    responses, wordings = build_run(original="neutral", p="contradiction", h=None, both="contradiction")
    table = count_right_labels(derive_labels_of_responses(responses, wordings)).set_index("sentences")
    assert table.loc["original", ["n", "n_right", "valid", "accuracy"]].tolist() == [1, 0, 1, 0]
    assert table.loc["negated", ["n", "n_right", "valid", "accuracy"]].tolist() == pytest.approx([3, 2, 2 / 3, 2 / 3])
