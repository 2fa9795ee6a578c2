"""Wordings that are templates shared by all items are found, and not fitted."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from analysis import runs
from analysis.measures.templates import count_templates_and_items_by_study
from analysis.pages.text_features.family import explain_unfittable_runs
from analysis.pages.text_features.templates import map_template_study_to_reason_not_fitted
from analysis.reporting.catalogue import tables
from ground.errors import InputError
from helpers.synthetic import write_run
from helpers.text_feature_runs import answers, make_run

TEMPLATES = ("{}", "Do you think that {lower}?", "{} Is this right?", "Some people say: {}", "Yes or no: {}")
STATEMENTS = (
    "The state should help the poor.", "Every town pays for art.", "A good school must never forget.",
    "Our oldest company relies upon trade.", "The free press does not need work.", "The law protects people.",
)  # fmt: skip


def templated() -> pd.DataFrame:
    """item, variant, text: every statement in every template."""
    return pd.DataFrame(
        [
            (f"item-{i}", f"template-{j}", template.format(text, lower=text[0].lower() + text[1:-1]))
            for i, text in enumerate(STATEMENTS)
            for j, template in enumerate(TEMPLATES)
        ],
        columns=["item", "variant", "text"],
    )


@pytest.mark.slow
def test_templates_are_found_and_their_runs_left_out_with_the_reason(tmp_path):
    opened = runs.open_runs(write_run(tmp_path / "run", answers(templated())))
    reason = "the 5 wordings of an item are templates that all 6 items share"
    assert reason in map_template_study_to_reason_not_fitted(opened)["synthetic"]
    assert reason in explain_unfittable_runs(opened)
    with pytest.raises(InputError, match=reason):
        tables.build_table("mixed", opened)


def test_a_template_that_misses_an_item_is_still_one(tmp_path):
    texts = pd.concat([templated(), templated().assign(item=lambda rows: rows["item"] + "-b")])
    opened = runs.open_runs(write_run(tmp_path / "run", answers(texts.iloc[:-1])))
    assert count_templates_and_items_by_study(opened)


@pytest.mark.slow
@pytest.mark.parametrize(("n_others", "sizes"), [(3, (5, 6)), (4, None)])
def test_wordings_are_templates_where_nine_in_ten_hold_the_statement(tmp_path, n_others, sizes):
    """Of 30 wordings, 27 that hold their item's statement are enough, in whatever order they come."""
    texts = templated()
    is_question = texts["variant"] == "template-1"  # "Do you think that ...?": its first and last letters stay
    places = texts.index[is_question][:n_others]
    texts.loc[places, "text"] = [f"Do you think that {number} cats purr?" for number in range(n_others)]
    for rows in (texts, texts[::-1]):
        opened = runs.open_runs(write_run(tmp_path / f"run-{rows.index[0]}", answers(rows)))
        assert count_templates_and_items_by_study(opened).get("synthetic") == sizes


def test_paraphrases_of_their_own_are_none(tmp_path):
    assert not count_templates_and_items_by_study(runs.open_runs(make_run(tmp_path / "run")))


def test_one_text_asked_again_is_no_template(tmp_path):
    same = templated().assign(text=np.repeat(STATEMENTS, len(TEMPLATES)))
    assert not count_templates_and_items_by_study(runs.open_runs(write_run(tmp_path / "run", answers(same))))
