"""Items are as far apart as the answers to their wordings, or stand by their mean score."""

from __future__ import annotations

import pandas as pd

from analysis.steps.transcripts import average_spread_or_score_by_item, convert_responses_to_numbers

ITEMS = pd.DataFrame({
    "study": ["opinions", "opinions", "scores", "facts"], "item": ["a", "b", "x", "q"],
    "measure": ["spread", "spread", "score", ""],
})  # fmt: skip
CONDITIONS = pd.DataFrame({"study": ["scores"], "condition": "c", "range": "[1, 5]", "method": "exact"})
NUMBERS = {"probability": None, "mass": None, "count": None, "invalid": None, "answer": None, "score": None}


def build_run() -> tuple[pd.DataFrame, pd.DataFrame]:
    """Responses of two models to two wordings of an item and one of another, and to an item with a score."""
    asked = [
        ("opinions", "m", "a", "1", {"probability": [0.75, 0.25]}),
        ("opinions", "m", "a", "2", {"probability": [0.125, 0.375]}),
        ("opinions", "n", "a", "1", {"answer": "disagree"}), ("opinions", "n", "a", "2", {}),
        ("opinions", "m", "b", "1", {"probability": [0.5, 0.5]}),
        ("scores", "m", "x", "1", {"score": 2.0}), ("scores", "n", "x", "1", {"score": 5.0}),
        ("facts", "m", "q", "1", {"answer": "A"}),
    ]  # fmt: skip
    responses = pd.DataFrame([
        {"study": study, "model": model, "condition": "c", "item": item, "variant": variant, **NUMBERS, **fields}
        for study, model, item, variant, fields in asked
    ])  # fmt: skip
    wordings = responses[["study", "item", "variant"]].drop_duplicates().assign(pattern="paraphrase", gold_score=None)
    labels = [["agree", "disagree"]] * len(wordings)
    return responses, wordings.assign(options=labels, canonical=labels)


def test_the_spread_of_an_item_and_its_mean_score():
    numbers = convert_responses_to_numbers(
        *build_run(), CONDITIONS, ITEMS, {"opinions": "agree", "scores": "", "facts": "A"}
    )
    assert numbers["study"].unique().tolist() == ["opinions", "scores"]
    assert numbers.loc[numbers["study"] == "opinions", "number"].tolist()[:3] == [0.75, 0.25, 0.0]
    values = average_spread_or_score_by_item(numbers, ITEMS).set_index("item")
    assert values["transcript_value"].dropna().to_dict() == {"a": 0.5, "x": 0.625}  # (1/4 + 1) / 2
    assert values["n_units"].to_dict() == {"a": 1, "b": 0, "x": 2, "q": 0}


def test_items_without_numbers_have_no_value():
    responses, wordings = build_run()
    numbers = convert_responses_to_numbers(responses, wordings, CONDITIONS, ITEMS[3:], {})
    assert numbers.empty
    values = average_spread_or_score_by_item(numbers, ITEMS[3:])
    assert values["transcript_value"].isna().all()
    assert values["n_units"].tolist() == [0]
