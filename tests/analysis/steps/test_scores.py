"""Scores and human scores on one range, and their kurtosis and tau, on numbers worked out by hand."""

from __future__ import annotations

import pandas as pd
import pytest
from scipy import stats

from analysis.steps.rows import compute_by_group
from analysis.steps.scores import GROUP, list_groups_large_enough_for_kurtosis, read_item_and_human_scores
from ground.errors import InputError

CONDITIONS = pd.DataFrame({
    "study": "s", "condition": ["sampled", "exact"], "range": ["[1, 5]", "[0, 9]"], "method": ["sampled", "exact"],
})  # fmt: skip


def build_run(scores, golds=None, condition: str = "sampled", gold_range: str | None = "0-100", **more):
    """Responses of a model with these scores, and their wordings."""
    key = {"study": "s", "item": [str(number) for number in range(len(scores))], "variant": "1"}
    responses = {"model": "m", "condition": condition, "score": scores, "invalid": None, "output": None} | more
    golds = [None] * len(scores) if golds is None else golds
    return pd.DataFrame(key | responses), pd.DataFrame(key | {"gold_score": golds, "attributes.gold_range": gold_range})


def read(*about, convention: str = "dropped", **more) -> pd.DataFrame:
    """Read the scores of such a run."""
    return read_item_and_human_scores(*build_run(*about, **more), CONDITIONS, convention)


def test_human_scores_are_converted_to_the_range_that_was_asked_for():
    scores = read([2.0, 4.0], [0.0, 75.0])
    assert scores["gold"].tolist() == [1.0, 4.0]
    assert scores[["group", "low", "high"]].drop_duplicates().to_numpy().tolist() == [["all", 1.0, 5.0]]
    assert read([3.0], [75.0], "exact")["gold"].tolist() == [6.75]
    assert read([3.0], [-2.0], gold_range="-5-5")["gold"].tolist() == [2.2]
    assert read([3.0], [None], gold_range=None)["gold"].isna().all()


def test_an_item_half_of_whose_samples_hold_no_number_has_no_score_where_that_counts():
    samples = {"output": [["1", "", "", "5"], ["1", "2", "", "3"]], "invalid": [2, 1]}
    assert read([3.0, 2.0], **samples)["score"].tolist() == [3.0, 2.0]
    counted = read([3.0, 2.0], convention="inconsistent", **samples)["score"]
    assert counted.isna().tolist() == [True, False]
    exact = read([3.0, 2.0], condition="exact", convention="inconsistent")["score"]
    assert exact.tolist() == [3.0, 2.0]
    with pytest.raises(InputError, match="invalid"):
        read([3.0], convention="kept")


def test_scores_that_differ_by_rounding_only_are_equal():
    assert read([3.0, 3.0 + 4e-15, None, 2.0])["score"].nunique() == 2


def test_kurtosis_and_tau_are_computed_for_every_group():
    scores = pd.concat(
        [read([1.0, 2.0, 3.0, 4.0, 5.0], [10.0, 20.0, 40.0, 30.0, 50.0]), read([2.0, 2.0]).assign(group="b")]
    )
    (normal, constant) = compute_by_group(scores, GROUP, "kurtosis", stats.kurtosis, ["score"])["kurtosis"]
    assert normal == pytest.approx(6.8 / 4 - 3)  # m4 = (16 + 1 + 0 + 1 + 16) / 5, m2 = 2
    assert pd.isna(constant)
    corrected = compute_by_group(scores, GROUP, "kurtosis", stats.kurtosis, ["score"], bias=False)["kurtosis"]
    assert corrected[0] == pytest.approx(4 / 6 * (6 * -1.3 + 6))
    tau = compute_by_group(scores, GROUP, "tau", stats.kendalltau, ["score", "gold"])["tau"]
    assert tau[0] == pytest.approx(0.8)  # of ten pairs, one is in the other order
    assert pd.isna(tau[1])
    assert list_groups_large_enough_for_kurtosis(scores)["group"].tolist() == ["all"]


def test_nothing_to_read_gives_empty_frames_with_the_same_columns():
    scores = read([2.0, 3.0], [1.0, 2.0])[:0]
    assert list_groups_large_enough_for_kurtosis(scores).columns.tolist() == GROUP
    kurtosis = compute_by_group(scores, GROUP, "kurtosis", stats.kurtosis, ["score"])
    assert kurtosis.merge(list_groups_large_enough_for_kurtosis(scores)).columns.tolist() == [*GROUP, "kurtosis"]
