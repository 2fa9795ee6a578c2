"""Answers to rating scales as ranks with weights, and what ordered logits make of planted effects."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from analysis.measures.ratings_ranks import tabulate_weighted_answer_ranks
from analysis.runs import open_runs
from analysis.statistics import mixed
from helpers.scale_runs import Respondent, draw_answers, write_scale


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    rows = draw_answers([Respondent("a", order=0.15), "b"], items=6, wordings=4, seed=3)
    return write_scale(tmp_path_factory.mktemp("ranks") / "run", rows)


@pytest.mark.slow
def test_weights_are_the_shares_of_the_options(run):
    rows = tabulate_weighted_answer_ranks(open_runs(run))
    responses = pd.read_parquet(run / "responses").set_index(["model", "condition", "item", "variant"])["probability"]
    keys = ["model", "condition", "item", "variant"]
    for key, part in list(rows.groupby(keys))[::7]:
        p = np.divide(responses[key], sum(responses[key]))
        np.testing.assert_allclose(part.sort_values("rank")["weight"], p, atol=1e-12)
    assert rows.groupby(keys)["weight"].sum().to_numpy() == pytest.approx(1)
    assert "original" not in set(rows["variant"])
    reversed_rows = rows[rows["key"] == -1]
    assert (reversed_rows["keyed_rank"] == 6 - reversed_rows["rank"]).all() and len(reversed_rows)
    kept = rows[rows["key"] == 1]
    assert (kept["keyed_rank"] == kept["rank"]).all()


@pytest.mark.slow
def test_an_order_effect_is_estimated(run):
    """Planted: s is 0.15 higher shown rising. Of a cumulative logit that is about 0.15 * 4 ranks, not exactly."""
    rows = tabulate_weighted_answer_ranks(open_runs(run)).assign(
        rising=lambda frame: (frame["option_order"] == "up").astype(float)
    )
    result = mixed.fit_mixed_models(
        rows, "rank ~ rising + (1 | item)", engine="ordered_model", weights="weight", by=["model"]
    )
    table = result.table.set_index("model")
    assert table.loc["a", "confirmed"] and table.loc["a", "estimate"] > 0.8
    assert abs(table.loc["b", "estimate"]) < 0.1 and not table.loc["b", "confirmed"]


def test_the_likeliest_option_is_one_row(run):
    rows = tabulate_weighted_answer_ranks(open_runs(run), "likeliest")
    assert set(rows["weight"]) == {1.0} and not rows.duplicated(["model", "condition", "item", "variant"]).any()
