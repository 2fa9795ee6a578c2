"""Cautions about the wordings of the items: twins in blanks, and paraphrases that do not mean the same."""

from __future__ import annotations

import pandas as pd
import pytest

from analysis.pages.stability import cases, tables, wordings
from helpers.synthetic import paraphrases


def test_wordings_that_differ_in_blanks_only_are_told(opened):
    rows = paraphrases({"x": [0.2, 0.9, 0.4], "y": [0.1, 0.3, 0.5], "z": [0.1, 0.3, 0.2]})
    rows["text"] = ["A.\nB.", "A.\r\nB.", " A.\rB.\t", "one", "two", "One", "same", "same", "other"]
    found = cases.tabulate_variants_equal_up_to_whitespace(opened(rows))
    assert found[["item", "text", "n_variants"]].values.tolist() == [["x", "A.\nB.", 3]]
    assert wordings.describe_variants_equal_up_to_whitespace(found) == [
        "3 wordings of 1 item differ from another one in line ends or surrounding blanks only. They count as different "
        "wordings."
    ]
    assert wordings.describe_variants_equal_up_to_whitespace(found.head(0)) == []


def test_an_item_without_an_original_has_one_wording_less():
    items = pd.DataFrame({"study": "s", "item": ["x", "x", "y"], "n_variants": [3, 3, 3],
                          "original_agreement": float("nan"),
                          "original_validity": [float("nan"), 0.0, float("nan")]})  # fmt: skip
    assert wordings.count_wordings_by_item(items).to_dict() == {("s", "x"): 4, ("s", "y"): 3}


def test_paraphrases_that_do_not_mean_the_same_are_told(opened):
    rows = paraphrases({"x": [0.2, 0.9], "y": [0.1, 0.3], "z": [0.1, 0.3]})
    checked = {"x": "1.00", "y": "0.53"}
    rows["attributes"] = [[("match_proportion", checked[item])] if item in checked else [] for item in rows["item"]]
    items = tables.tabulate_item_answers_over_paraphrases(opened(rows))
    assert items["match_proportion"].tolist()[:2] == [1.0, 0.53]
    assert pd.isna(items["match_proportion"][2])
    assert wordings.describe_paraphrases_of_changed_meaning(items) == [
        "Checked by hand, the paraphrases of 1 of 2 items do not all mean the same. The lowest share that does is 53 % "
        "(item y). A flip there may be a change of meaning."
    ]
    assert wordings.describe_paraphrases_of_changed_meaning(items[items["item"] != "y"]) == []


def test_a_source_of_changed_meaning_is_not_hidden_by_another(opened):
    """The original has the share of all sources; without it, every paraphrase counts with the share of its source."""
    rows = paraphrases({"x": [0.2, 0.9, 0.4], "y": [0.1, 0.3, 0.5]}, original=0.5)
    shares = ["1.00", "1.00", "0.40"] * 2 + ["0.70", ""]  # the originals stand last
    rows["attributes"] = [[("match_proportion", share)] for share in shares]
    items = tables.tabulate_item_answers_over_paraphrases(opened(rows))
    assert items["match_proportion"].tolist() == pytest.approx([0.7, 0.8])
