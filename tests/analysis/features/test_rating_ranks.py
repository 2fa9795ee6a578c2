"""Ordered logits of answers to rating scales, on the features of their wordings."""

from __future__ import annotations

import numpy as np
import pytest

import waver as notebook
from analysis.features.score_frames import join_ratings_with_features
from analysis.runs import open_runs
from ground.errors import InputError
from helpers.scale_runs import Respondent, draw_answers, write_scale


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    rows = draw_answers([Respondent("m", wording_sd=0.1), "n"], items=6, wordings=5, orders=("up",))
    return write_scale(tmp_path_factory.mktemp("ranks") / "run", rows)


@pytest.mark.slow
def test_a_row_per_option_has_the_features_of_its_wording(run):
    runs = open_runs(run)
    ranks = join_ratings_with_features(runs, as_ranks=True)
    scores = join_ratings_with_features(runs)
    keys = ["model", "condition", "item", "variant"]
    mean = (ranks["weight"] * (ranks["rank"] - 1) / 4).groupby([ranks[key].astype(str) for key in keys]).sum()
    expected = scores.astype(dict.fromkeys(keys, str)).set_index(keys)["score"]
    np.testing.assert_allclose(mean.loc[expected.index], expected, atol=1e-12)
    assert ranks["edit_similarity"].notna().all()


@pytest.mark.slow
def test_a_formula_of_ranks_is_an_ordered_logit(run):
    table = notebook.open(run).mixed("rank ~ edit_similarity + (1 | item)", by=["model"], engine="ordered_model")
    assert list(table["model"]) == ["m", "n"] and set(table["engine"]) == {"ordered_model"}
    assert table["estimate"].notna().all() and (table["se"] > 0).all()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("formula", "engine", "words"),
    [
        ("rank ~ edit_similarity + (1 | item)", "auto", "give engine ordinal or ordered_model"),
        ("score ~ edit_similarity + (1 | item)", "ordered_model", "'score' .* is no rank"),
    ],
)
def test_scores_and_ranks_have_engines_of_their_own(run, formula, engine, words):
    with pytest.raises(InputError, match=words):
        notebook.open(run).mixed(formula, by=["model"], engine=engine)
