"""Tables on stability where there is little: no valid answer, one item, one paraphrase, nothing asked yet."""

from __future__ import annotations

import pandas as pd
import pytest

from analysis.pages.stability import cases, tables
from ground.errors import InputError
from helpers.synthetic import paraphrases


@pytest.mark.slow
def test_a_model_without_any_valid_answer(opened):
    rows = pd.DataFrame({"item": ["x", "x", "y"], "variant": ["p1", "p2", "p1"]})
    rows["output"] = [["Hm."], ["Hm."], ["No idea."]]
    run = opened(rows)
    row = tables.tabulate_stability(run).iloc[0]
    assert row["validity"] == 0
    assert row["n_items"] == 0
    assert row[["range_mean", "range_sd", "sd_mean", "sd_sd", "flip_05", "range_mean_lower"]].isna().all()
    assert row["mark"] == ""
    assert row["low_mass"]
    assert tables.tabulate_item_answers_over_paraphrases(run)["agreement_mean"].isna().all()
    assert tables.tabulate_item_sds_averaged_over_models(run).empty
    assert cases.tabulate_two_most_different_wordings(run).empty
    assert cases.tabulate_agreement_quartiles_of_items(run).empty
    assert cases.tabulate_excluded_items(run)["reason"].tolist() == [
        "no valid answer",
        "only one paraphrase in the study",
    ]
    invalid = cases.tabulate_counts_of_invalid_answers(run).iloc[0]
    assert invalid[["n_rows", "n_invalid", "share"]].tolist() == [3, 3, 1.0]
    assert invalid["examples"] == ["Hm.", "No idea."]
    assert cases.tabulate_counts_of_invalid_answers(run, examples=0).iloc[0]["examples"] == []
    with pytest.raises(InputError, match="examples = -1: give a number of texts from 0 on"):
        cases.tabulate_counts_of_invalid_answers(run, examples=-1)


def test_one_item(opened):
    row = tables.tabulate_stability(opened(paraphrases({"x": [0.2, 0.4, 0.9]}))).iloc[0]
    assert row["range_mean"] == pytest.approx(0.7)
    assert row[["range_sd", "sd_sd", "range_mean_lower", "range_mean_upper", "validity_lower"]].isna().all()
    assert row["n_items"] == 1


def test_one_paraphrase(opened):
    row = tables.tabulate_stability(opened(paraphrases({"x": [0.2]}))).iloc[0]
    assert row[["range_mean", "sd_mean", "flip_05", "validity_se"]].isna().all()
    assert row["validity"] == 1.0
    assert row[["n_items", "n_variants", "n_excluded_items"]].tolist() == [0, 1, 1]


def test_items_with_one_valid_paraphrase_are_left_out_and_counted(opened):
    rows = paraphrases({"x": [0.2, 0.4], "y": [0.9], "z": [0.9, 0.8]}, mass=[1, 1, 1, 1, 0])
    run = opened(rows)
    row = tables.tabulate_stability(run).iloc[0]
    assert row[["n_items", "n_excluded_items", "n_variants"]].tolist() == [1, 2, 5]
    assert row["range_mean"] == pytest.approx(0.2)
    excluded = cases.tabulate_excluded_items(run)
    assert excluded["item"].tolist() == ["y", "z"]
    assert excluded["reason"].tolist() == ["only one paraphrase in the study", "only one valid answer"]
    assert excluded[["n_variants", "n_valid"]].values.tolist() == [[1, 1], [2, 1]]


def test_items_without_paraphrases_are_listed(opened):
    only_original = pd.DataFrame({"item": ["z"], "variant": ["original"], "agreement": [0.7]})
    run = opened(pd.concat([paraphrases({"x": [0.2, 0.4]}, original=0.3), only_original]))
    items = tables.tabulate_item_answers_over_paraphrases(run).set_index("item")
    assert items.loc["z", ["n_variants", "n_valid", "n_ties"]].tolist() == [0, 0, 0]
    assert items.loc["z", ["validity_mean", "agreement_mean", "agreement_range", "minority_share"]].isna().all()
    assert items.loc["z", "original_agreement"] == pytest.approx(0.7)
    assert cases.tabulate_excluded_items(run)[["item", "reason"]].values.tolist() == [
        ["z", "no paraphrases in the study"]
    ]
    assert tables.tabulate_stability(run)["n_excluded_items"].tolist() == [1]
    assert cases.tabulate_counts_of_invalid_answers(run)["n_rows"].tolist() == [4]


def test_items_not_asked_yet_are_listed(opened):
    rows = paraphrases({"x": [0.2, 0.4], "y": [0.3, 0.6], "z": [0.3, 0.6]})
    rows["model"] = ["m", "m", None, None, "m", None]
    run = opened(rows)
    assert cases.tabulate_excluded_items(run)[["item", "reason"]].values.tolist() == [
        ["y", "no paraphrase answered yet"],
        ["z", "only one paraphrase answered yet"],
    ]
