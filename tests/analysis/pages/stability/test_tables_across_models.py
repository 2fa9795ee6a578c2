"""Across models and conditions: `item_stability` and `differences`, by hand."""

from __future__ import annotations

import math

import pandas as pd
import pytest
from statsmodels.stats.contingency_tables import mcnemar
from statsmodels.stats.multitest import multipletests

from analysis.pages.stability import tables
from analysis.reporting import catalogue
from analysis.statistics.significance import compute_smallest_bootstrap_p
from helpers.synthetic import paraphrases, random_frame

pytestmark = pytest.mark.slow

NAN = pytest.approx(math.nan, nan_ok=True)


def test_item_stability_by_hand(opened):
    # SDs of two paraphrases are their distance / sqrt(2). Model a: 0.4 and 0.2 -> 1 and 0.5; b: 0.1 and 0.2 -> 0.5 and
    # 1; c (masked): 0.3 and 0 -> 1 and 0. Item x, causal: mean 0.75, SD 0.353553, SE 0.25.
    spread = {"a": (0.4, 0.2), "b": (0.1, 0.2), "c": (0.3, 0.0)}
    rows = pd.concat(paraphrases({"x": [0.3, 0.3 + x], "y": [0.6, 0.6 + y]}, model=m) for m, (x, y) in spread.items())
    table = tables.tabulate_item_sds_averaged_over_models(opened(rows, models={"c": {"engine": "masked"}}))
    assert table[["item", "family", "n_models"]].values.tolist() == [
        ["x", "causal", 2], ["x", "masked", 1], ["y", "causal", 2], ["y", "masked", 1]
    ]  # fmt: skip
    assert table["normalised_sd_mean"].tolist() == pytest.approx([0.75, 1.0, 0.75, 0.0])
    assert table["normalised_sd_se"].tolist() == [pytest.approx(0.25), NAN, pytest.approx(0.25), NAN]


def test_a_model_enters_item_stability_once_however_many_conditions(opened):
    # Under two conditions x has 1 and 0.5 of the largest SD: the model counts with 0.75, and one model has no SE.
    rows = [
        paraphrases({"x": [0.3, 0.3 + x], "y": [0.6, 0.6 + y]}, condition=condition)
        for condition, x, y in (("plain/yes-no", 0.4, 0.1), ("plain/no-yes", 0.1, 0.2))
    ]
    table = tables.tabulate_item_sds_averaged_over_models(opened(pd.concat(rows)))
    assert table["normalised_sd_mean"].tolist() == pytest.approx([0.75, 0.625])
    assert table["n_models"].tolist() == [1, 1]
    assert table["normalised_sd_se"].isna().all()


def test_a_model_that_never_moves_is_no_part_of_item_stability(opened):
    rows = pd.concat([paraphrases({"x": [0.3, 0.6]}, model="a"), paraphrases({"x": [0.3, 0.3]}, model="b")])
    assert tables.tabulate_item_sds_averaged_over_models(opened(rows))["n_models"].tolist() == [1]


def test_family_may_be_named_in_run_json(opened):
    rows = pd.concat([paraphrases({"x": [0.3, 0.6]}, model=name) for name in "abc"])
    models = {"a": {"engine": "import"}, "b": {"engine": "import", "family": "masked"}, "c": {"engine": "vllm"}}
    table = tables.tabulate_item_sds_averaged_over_models(opened(rows, models=models))
    assert table[["family", "n_models"]].values.tolist() == [["causal", 2], ["masked", 1]]


def pairs(table: pd.DataFrame) -> list[tuple[str, ...]]:
    one = table[table["measure"] == "validity"]
    return list(one[["a_model", "a_condition", "b_model", "b_condition"]].itertuples(index=False, name=None))


def test_pairs_under_the_same_condition_and_within_a_model(opened):
    rows = random_frame(["a", "b"], conditions=("plain/yes-no", "plain/no-yes"))
    assert pairs(tables.tabulate_stability_differences(opened(rows), resamples=0)) == [
        ("a", "plain/yes-no", "a", "plain/no-yes"),
        ("a", "plain/yes-no", "b", "plain/yes-no"),
        ("a", "plain/no-yes", "b", "plain/no-yes"),
        ("b", "plain/yes-no", "b", "plain/no-yes"),
    ]


def test_base_and_tuned_models_are_paired_across_forms(opened):
    rows = random_frame(["base", "tuned"], conditions=("plain/yes-no", "plain/no-yes", "chat/yes-no", "chat/no-yes"))
    rows = rows[rows["condition"].str.startswith("plain") == (rows["model"] == "base")]
    assert pairs(tables.tabulate_stability_differences(opened(rows), resamples=0)) == [
        ("base", "plain/yes-no", "base", "plain/no-yes"),
        ("base", "plain/yes-no", "tuned", "chat/yes-no"),
        ("base", "plain/no-yes", "tuned", "chat/no-yes"),
        ("tuned", "chat/yes-no", "tuned", "chat/no-yes"),
    ]


def test_models_that_share_a_condition_are_not_paired_across_forms(opened):
    rows = random_frame(["a", "b"], conditions=("plain/yes-no", "chat/yes-no"))
    rows = rows[(rows["condition"] == "plain/yes-no") | (rows["model"] == "b")]
    assert pairs(tables.tabulate_stability_differences(opened(rows), resamples=0)) == [
        ("a", "plain/yes-no", "b", "plain/yes-no"),
        ("b", "plain/yes-no", "b", "chat/yes-no"),
    ]


@pytest.mark.parametrize(("seed_of_b", "n_pairs"), [(3, 2), (2, 1)])
def test_models_of_other_seeds_are_paired_where_they_share_none(opened, seed_of_b, n_pairs):
    """Logs of models a and b with other seeds were not compared, as if a seed were a way of asking."""
    rows = random_frame(["a", "b"], conditions=("seed=1", "seed=2", "seed=3"))
    rows = rows[(rows["model"] == "a") == (rows["condition"] < "seed=3")]
    rows.loc[rows["model"] == "b", "condition"] = f"seed={seed_of_b}"
    run = opened(rows)
    run.info["conditions"]["s"] = {f"seed={seed}": {"form": "import", "seed": seed} for seed in (1, 2, 3)}
    table = tables.tabulate_stability_differences(run, resamples=0)
    assert len([pair for pair in pairs(table) if pair[0] != pair[2]]) == n_pairs


def test_other_prompts_are_not_paired(opened):
    rows = random_frame(["a", "b"], conditions=("plain/yes-no", "haller/plain/yes-no"))
    rows = rows[(rows["condition"] == "plain/yes-no") == (rows["model"] == "a")]
    table = tables.tabulate_stability_differences(opened(rows))
    assert table.empty
    assert list(table.columns) == [
        "study", "measure", "a_model", "a_condition", "b_model", "b_condition",
        "difference", "lower", "upper", "n_items", "no_interval", "p", "p_least", "p_holm",
    ]  # fmt: skip


def test_differences_by_hand(opened):
    # Ranges a: 0.4 0.2 0.6, b: 0.1 0.1 and z missing. On x and y: a minus b is 0.3 and 0.1, mean 0.2.
    a = paraphrases({"x": [0.1, 0.5], "y": [0.1, 0.3], "z": [0.1, 0.7]}, model="a")
    b = paraphrases({"x": [0.1, 0.2], "y": [0.1, 0.2]}, model="b")
    table = tables.tabulate_stability_differences(opened(pd.concat([a, b]))).set_index("measure")
    assert table.loc["range_mean", ["difference", "no_interval"]].tolist() == [pytest.approx(0.2), "too few items"]
    assert table.loc["range_mean", "n_items"] == 2
    assert table.index.tolist() == [
        "validity", "agreement_mean", "range_mean", "range_sd", "sd_mean", "sd_sd", "flip_05", "flip_10", "flip_25"
    ]  # fmt: skip
    # Mean agreement, on all three items of a and two of b, so on x and y: 0.3 and 0.2 against 0.15 and 0.15.
    assert table.loc["agreement_mean", "difference"] == pytest.approx(0.1)
    assert table.loc["agreement_mean", "n_items"] == 2
    # No draw is at or below 0, but two items that agree have probability 2 / 2^2; no item flips with either model, so
    # these p values are 1.
    assert table.loc["range_mean", "p"] == table.loc["range_mean", "p_least"] == 0.5
    assert table.loc["flip_10", ["p", "p_least", "p_holm"]].tolist() == [1.0, 0.5, 1.0]


def test_pairs_are_corrected_after_holm(opened):
    """Reference: statsmodels' mcnemar (exact) on the flips of table `items`, and its multipletests (holm)."""
    run = opened(random_frame(["a", "b", "c", "d"], items=30, paraphrases=8, seed=3))
    found = tables.tabulate_stability_differences(run, resamples=500)
    flips = tables.tabulate_item_answers_over_paraphrases(run).assign(flipped=lambda f: f["minority_share"] > 0.25)
    flips = flips.pivot(index="item", columns="model", values="flipped")
    pairs = found[found["measure"] == "flip_25"]
    expected = [
        mcnemar([[0, (flips[a] & ~flips[b]).sum()], [(~flips[a] & flips[b]).sum(), 0]], exact=True).pvalue
        for a, b in zip(pairs["a_model"], pairs["b_model"], strict=True)
    ]
    assert len(expected) == 6
    assert pairs["p"].tolist() == pytest.approx(expected, abs=1e-12)
    assert (pairs["p_least"] == 2.0**-29).all()
    for measure, family in found.groupby("measure"):
        if measure in ("range_sd", "sd_sd"):  # without a test
            assert family[["p", "p_holm"]].isna().all(axis=None)
            continue
        assert family["p_holm"].tolist() == pytest.approx(multipletests(family["p"], method="holm")[1], abs=1e-15)
    assert found[found["measure"] == "range_mean"]["p_least"].tolist() == [compute_smallest_bootstrap_p(500, 30)] * 6


def test_differences_agree_with_the_figures_they_are_differences_of(opened):
    run = opened(random_frame(["a", "b"], items=6, paraphrases=9))
    figures = tables.tabulate_stability(run, resamples=0).set_index("model")
    for row in tables.tabulate_stability_differences(run, resamples=0).to_dict("records"):
        assert row["difference"] == pytest.approx(figures.loc["a", row["measure"]] - figures.loc["b", row["measure"]])


def test_a_paired_interval_is_narrower_than_two_apart(opened):
    # Both models share what the items do: the difference is far surer than either figure.
    one = random_frame(["a"], items=20, paraphrases=10)
    rows = pd.concat([one, one.assign(model="b", agreement=one["agreement"] * 0.95 + 0.02)])
    run = opened(rows)
    alone = tables.tabulate_stability(run).iloc[0]
    pair = tables.tabulate_stability_differences(run).set_index("measure").loc["range_mean"]
    assert pair["upper"] - pair["lower"] < 0.2 * (alone["range_mean_upper"] - alone["range_mean_lower"])


def test_of_too_many_pairs_each_unit_meets_the_first_that_it_can_be_compared_with(opened, monkeypatch):
    """Numbers of the pairs that stay do not change; only Holm's correction is over fewer of them."""
    conditions = ["plain/yes-no", "plain/no-yes"]
    run = opened(random_frame(["a", "b", "c"], items=3, paraphrases=3, conditions=conditions))
    names = ["a_model", "a_condition", "b_model", "b_condition"]
    whole = tables.tabulate_stability_differences(run, resamples=50)
    monkeypatch.setattr(tables, "MOST_PAIRS", 8)  # of 9
    few = tables.tabulate_stability_differences(run, resamples=50)
    pairs = few[names].drop_duplicates().to_numpy().tolist()
    first, second = conditions
    assert pairs == [
        ["a", first, "a", second], ["a", first, "b", first], ["a", first, "c", first], ["a", second, "b", second],
        ["a", second, "c", second],
    ]  # fmt: skip
    same = whole.merge(few[["measure", *names]], on=["measure", *names])
    pd.testing.assert_frame_equal(same.drop(columns="p_holm"), few.drop(columns="p_holm"))
    assert (few["p_holm"].dropna() <= same.loc[few["p_holm"].notna(), "p_holm"]).all()


def test_the_caption_tells_how_many_pairs_are_compared():
    assert f"more than {tables.MOST_PAIRS:,} pairs" in catalogue.look_up_table("differences").caption
