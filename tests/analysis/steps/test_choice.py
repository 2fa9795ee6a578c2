"""Accuracy, XParaCon and kept choices, on numbers worked out by hand."""

from __future__ import annotations

import math

import pandas as pd
import pytest

from analysis.steps.choice import (
    average_over_option_orders,
    compute_shares_of_unchanged_choices,
    derive_choices_of_responses,
    summarize_accuracies_over_questions,
)

ORDERS = {1: ["A", "B"], 2: ["B", "A"]}  # which choice stands first


def build_run(**questions: dict[str, tuple[str | None, str | None]]) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Responses by question and wording: the choice taken in the first and in the second order; A is right."""
    responses, wordings = [], []
    for item, answers in questions.items():
        for pattern, chosen in answers.items():
            for (order, canonical), letter in zip(ORDERS.items(), chosen, strict=True):
                key = {"study": "s", "item": item, "variant": f"{pattern}/{order}"}
                scores = [0.5, 0.5] if letter is None else [0.9 if name == letter else 0.1 for name in canonical]
                responses.append({**key, "model": "m", "condition": "c", "probability": scores, "logprob": None,
                                  "answer": None, "count": None})  # fmt: skip
                wordings.append({**key, "pattern": pattern, "gold": "A", "options": ["1", "2"],
                                 "canonical": canonical})  # fmt: skip
    return pd.DataFrame(responses), pd.DataFrame(wordings)


def test_the_choice_is_the_likeliest_option_in_the_questions_own_order():
    choices = derive_choices_of_responses(*build_run(q={"original": ("A", "B"), "paraphrase_1": (None, "A")}))
    assert choices["chosen"].tolist() == ["A", "B", None, "A"]
    assert choices["right"].tolist() == [1, 0, 0, 1]
    assert choices["order"].tolist() == [1, 2, 1, 2]
    assert choices["subset"].unique().tolist() == ["all"]


def test_an_answer_and_samples_are_choices_too():
    responses, wordings = build_run(q={"original": ("A", "A"), "paraphrase_1": ("A", "A")})
    responses = responses.assign(probability=None, answer=["2", None, None, None], count=[None, [3, 1], [1, 1], None])
    assert derive_choices_of_responses(responses, wordings)["chosen"].tolist() == ["B", "B", None, None]


def test_accuracy_perfect_wordings_and_xparacon():
    run = build_run(
        steady={"original": ("A", "A"), "paraphrase_1": ("A", "A")},
        varying={"original": ("A", "A"), "paraphrase_1": ("A", "B")},
    )
    (row,) = summarize_accuracies_over_questions(average_over_option_orders(derive_choices_of_responses(*run))).to_dict(
        "records"
    )
    assert row["accuracy"] == 7 / 8
    assert row["perfectly_correct"] == 3 / 4
    assert row["mean_sd"] == pytest.approx(0.125)  # of 0 and, of accuracies 1 and 0.5, 0.25
    assert row["xparacon"] == pytest.approx(3)


def test_xparacon_is_infinite_where_nothing_varies_and_undefined_with_one_wording():
    steady = summarize_accuracies_over_questions(
        average_over_option_orders(
            derive_choices_of_responses(*build_run(q={"original": ("A", "B"), "paraphrase_1": ("A", "B")}))
        )
    )
    single = summarize_accuracies_over_questions(
        average_over_option_orders(derive_choices_of_responses(*build_run(q={"original": ("A", "B")})))
    )
    assert steady["xparacon"].tolist() == [math.inf]
    assert single["xparacon"].isna().all()


def test_kept_choices():
    run = build_run(
        kept={"original": ("A", "A"), "paraphrase_1": ("A", "A")},
        turned={"original": ("A", "B"), "paraphrase_1": ("A", "B")},
        none={"original": (None, None), "paraphrase_1": (None, None)},
    )
    (row,) = compute_shares_of_unchanged_choices(derive_choices_of_responses(*run)).to_dict("records")
    assert row["same_in_orders"] == pytest.approx(1 / 3)
    assert row["same_in_wordings"] == pytest.approx(2 / 3)
    assert row["same_throughout"] == pytest.approx(1 / 3)
    assert row["changed"] == pytest.approx(2 / 3)


def test_one_answer_to_every_question_is_neither_kept_nor_changed():
    responses, wordings = build_run(q={"original": ("A", "A")}, r={"original": ("A", "B")})
    choices = derive_choices_of_responses(responses, wordings)
    in_first_order = choices[choices["order"] == 1]
    assert compute_shares_of_unchanged_choices(in_first_order).empty
    both = pd.concat([choices, in_first_order.assign(model="other")])
    assert compute_shares_of_unchanged_choices(both)["model"].tolist() == ["m"]


def test_texts_are_read_once_more_per_byte():
    responses, wordings = build_run(q={"original": ("A", "A")})
    wordings["attributes.choice_A"], wordings["attributes.choice_B"] = "é", "longer text"
    responses["logprob"] = [[-4.0, -5.0], [-5.0, -4.0]]  # per byte -2 and -5 / 11
    choices = derive_choices_of_responses(responses, wordings, ["c"])
    assert choices.groupby("condition")["chosen"].agg(list).to_dict() == {"c": ["A", "A"], "c per byte": ["B", "B"]}


def test_questions_of_several_subsets_are_all_together_too():
    responses, wordings = build_run(q={"original": ("A", "A")}, r={"original": ("B", "B")})
    choices = derive_choices_of_responses(responses, wordings.assign(**{"attributes.subset": wordings["item"]}))
    table = summarize_accuracies_over_questions(average_over_option_orders(choices)).set_index("subset")["accuracy"]
    assert table.to_dict() == {"all": 0.5, "q": 1, "r": 0}
    called_all = wordings.assign(**{"attributes.subset": wordings["item"].replace("q", "all")})
    choices = derive_choices_of_responses(responses, called_all)
    table = summarize_accuracies_over_questions(average_over_option_orders(choices)).set_index("subset")["accuracy"]
    assert table.to_dict() == {"all": 0.5, "subset all": 1, "r": 0}
