"""What a change of one thing moves is held against models on the same answers."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from scipy.stats import t

from analysis.measures.ratings import read_ratings
from analysis.measures.ratings_wordings import (
    compute_wording_margins_of_excess_over_models,
    measure_answer_distances_by_cause,
)
from analysis.pages.scales.styles import (
    _tabulate_answer_distances_by_cause,
    tabulate_answer_distances_by_differing_factor,
)
from analysis.runs import open_runs
from analysis.statistics.spread import compute_mean_distances_to_others, compute_mean_pair_distances
from helpers.scale_runs import Respondent, draw_answers, draw_ratings, spread_over_options, write_scale

CHAT = {"plain/numbers-up": "chat/numbers-up", "plain/numbers-down": "chat/numbers-down"}


def test_distances_to_others_are_means_over_the_others():
    draw = np.random.default_rng(1)
    scores = draw.random((7, 6))
    scores[draw.random((7, 6)) < 0.3] = np.nan
    slow = np.full_like(scores, np.nan)
    for row, values in enumerate(scores):
        for place, value in enumerate(values):
            others = np.delete(values, place)
            others = others[~np.isnan(others)]
            if not np.isnan(value) and len(others):
                slow[row, place] = np.abs(others - value).mean()
    means = compute_mean_distances_to_others(scores)
    np.testing.assert_allclose(means, slow, atol=1e-14)
    np.testing.assert_allclose(np.nanmean(means, axis=1), compute_mean_pair_distances(scores), atol=1e-14)


def measure_slowly(rows: pd.DataFrame, column: str) -> tuple[float, float]:
    """Mean distance of two answers that differ in a column, and of the same answers from those of other models."""
    names = ["form", "model", "order", "item", "variant"]
    rows = rows[[*names, "s"]].reset_index(drop=True)
    distances = {}
    for _, part in rows.groupby([name for name in names if name != "model"]):
        for place, row in part.iterrows():
            others = part.loc[part["model"] != row["model"], "s"]
            distances[place] = (others - row["s"]).abs().mean() if len(others) else np.nan
    rows["others"] = pd.Series(distances)
    rows = rows[rows["others"].notna()]
    pairs = [
        (part["item"].iloc[0], np.mean([abs(a - b) for a, b in combinations(part["s"], 2)]), part["others"].mean())
        for _, part in rows.groupby([name for name in names if name != column])
        if len(part) > 1
    ]
    means = pd.DataFrame(pairs).groupby(0).mean().mean()
    return float(means[1]), float(means[2])


@pytest.mark.slow
def test_only_answers_with_another_model_beside_them_are_compared(tmp_path):
    """Model c, whose wordings are far apart, was asked in a way of its own."""
    rows = draw_answers(
        [Respondent("a", wording_sd=0.03, order=0.05), Respondent("b"), Respondent("d", item_sd=0.1),
         Respondent("c", wording_sd=0.2)],
        items=5, wordings=4, without_original=True, item_sd=0.05,
    )  # fmt: skip
    is_chat = rows["model"].isin(["c"])
    rows["condition"] = rows["condition"].where(~is_chat, rows["condition"].map(CHAT))
    rows = rows[(rows["model"] != "b") | ~rows["condition"].str.contains("down")]
    table = tabulate_answer_distances_by_differing_factor(
        open_runs(write_scale(tmp_path / "run", rows)), resamples=0
    ).set_index("change")
    parts = rows["condition"].str.split("/", expand=True)
    rows = rows.assign(form=parts[0], order=parts[1])
    for change, column in (("wording", "variant"), ("order", "order")):
        apart, models = measure_slowly(rows, column)
        assert table.loc[change, "apart"] == pytest.approx(apart, abs=1e-12)
        assert table.loc[change, "models"] == pytest.approx(models, abs=1e-12)
        assert table.loc[change, "difference"] == pytest.approx(apart - models, abs=1e-12)
    assert table.loc["wording", "n_pairs"] == 5 and table.loc["order", "n_pairs"] == 2


@pytest.mark.slow
def test_chance_in_the_answers_of_some_models_is_no_finding():
    """Four models with exact answers, two with the mean of ten draws in a setting of their own: wordings and models
    differ alike in each, so that on average neither moves an answer more."""
    draw = np.random.default_rng(3)
    differences = []
    for _ in range(40):
        models = [Respondent(name) for name in "abcdef"]
        ratings = draw_ratings(models, draw, items=12, wordings=5, noise_sd=0.04)
        is_drawn = np.isin(ratings.units["model"], ["e", "f"])
        ratings.units["setting"] = np.where(is_drawn, "plain/text", "plain")
        noisy = np.clip(ratings.scores + is_drawn[:, None, None] * draw.normal(0, 0.1, ratings.scores.shape), 0, 1)
        ratings.shares[:] = spread_over_options(noisy, 5)
        ratings.__post_init__()
        wording = measure_answer_distances_by_cause(ratings)["wording"]
        differences.append(np.mean(wording.apart - wording.models))
    assert np.mean(differences) == pytest.approx(0, abs=3 * np.std(differences) / np.sqrt(len(differences)))
    assert abs(np.mean(differences)) < 0.002


def test_a_change_that_only_single_models_tell_of_is_told_alone(tmp_path):
    rows = draw_answers(["a", "b"], items=4, wordings=3)
    rows = rows[(rows["model"] == "a") | rows["condition"].str.contains("up")]
    table = tabulate_answer_distances_by_differing_factor(
        open_runs(write_scale(tmp_path / "run", rows)), resamples=0
    ).set_index("change")
    assert table.loc["order", "n_pairs"] == 1 and np.isnan(table.loc["order", "models"])
    assert table.loc["wording", "models"] == pytest.approx(table.loc["model", "apart"], abs=1e-12)


@pytest.mark.slow
def test_shared_wordings_are_left_out_in_turn(tmp_path):
    models = [Respondent("a", wording_sd=0.1), Respondent("b", wording_sd=0.05), Respondent("c", item_sd=0.1)]
    rows = draw_answers(models, items=4, wordings=5, crossed=True, without_original=True)
    folder = write_scale(tmp_path / "run", rows)
    (ratings,) = read_ratings(open_runs(folder))
    assert ratings.crossed
    limits = compute_wording_margins_of_excess_over_models(ratings, ["wording", "order"])
    parts = rows["condition"].str.split("/", expand=True)
    rows = rows.assign(form=parts[0], order=parts[1])
    for change, column in (("wording", "variant"), ("order", "order")):
        pairs = [measure_slowly(rows[rows["variant"] != name], column) for name in rows["variant"].unique()]
        means = np.subtract(*np.transpose(pairs))
        half = t.ppf(0.975, 4) * np.sqrt(4 / 5 * ((means - means.mean()) ** 2).sum())
        assert limits[change] == pytest.approx(half, abs=1e-12)
    alone = tabulate_answer_distances_by_differing_factor(open_runs(folder)).set_index("change").loc["wording"]
    assert alone["upper"] - alone["difference"] > limits["wording"]


def test_own_wordings_are_drawn_with_their_items():
    ratings = draw_ratings([Respondent("a", wording_sd=0.1), Respondent("b")], np.random.default_rng(1))
    assert compute_wording_margins_of_excess_over_models(ratings, ["wording", "model"]) == {
        "wording": 0.0,
        "model": 0.0,
    }


def test_two_shared_wordings_tell_nothing_of_others():
    draw = np.random.default_rng(1)
    ratings = draw_ratings([Respondent("a", wording_sd=0.1), Respondent("b")], draw, wordings=2, crossed=True)
    table = _tabulate_answer_distances_by_cause(ratings, 100, 0).set_index("change")
    assert np.isnan(table.loc["wording", ["lower", "upper"]].astype(float)).all()
    assert not np.isnan(table.loc["order", ["lower", "upper"]].astype(float)).any()


@pytest.mark.slow
def test_shared_wordings_seldom_seem_to_move_an_answer_more_or_less_than_models_do():
    """Wordings move each model as far as models are apart: without the wordings drawn anew, .90 of studies say else."""
    draw = np.random.default_rng(2)
    said = []
    for _ in range(60):
        models = [Respondent(name, wording_sd=0.06) for name in "abc"]
        ratings = draw_ratings(models, draw, items=20, wordings=5, crossed=True, noise_sd=0.01)
        row = _tabulate_answer_distances_by_cause(ratings, 200, 0).set_index("change").loc["wording"]
        said.append(row["lower"] > 0 or row["upper"] < 0)
    assert np.mean(said) <= 0.05 + 2 * np.sqrt(0.05 * 0.95 / 60)
