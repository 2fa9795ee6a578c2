"""Means of all pairs of models at once: each as `estimate_panel_mean` computes it alone."""

from __future__ import annotations

from itertools import combinations
from typing import get_args

import numpy as np
import pytest

from analysis.statistics.reliability.pair_means import estimate_mean_differences_of_model_pairs
from analysis.statistics.reliability.panel import Anew, estimate_panel_mean


def answers(kind: str, holes: str) -> np.ndarray:
    """Answers (4 models, 6 items, 5 wordings) without holes, with some, or with an item and a wording of holes."""
    rng = np.random.default_rng(1)
    values = rng.normal(0.5, 0.1, (4, 6, 5)) + rng.normal(0, 0.2, (4, 6, 1)) + rng.normal(0, 0.1, (4, 1, 5))
    if kind == "yes or no":
        values = (values > 0.5).astype(float)
    if holes == "some":
        values[:, [0, 0, 2, 4], [1, 2, 0, 3]] = np.nan
    if holes == "lines":
        values[:, 1], values[:, :, 2] = np.nan, np.nan
    return values


def check(values: np.ndarray, crossed: bool, anew: Anew) -> None:
    """Compare all pairs with the panels of their differences, one by one."""
    many = estimate_mean_differences_of_model_pairs(values, crossed, anew)
    for place, (first, second) in enumerate(combinations(values, 2)):
        panel = estimate_panel_mean(first - second, crossed)
        variances, freedoms = np.array(panel.parts[anew]).T
        assert many.means[place] == pytest.approx(panel.mean, abs=1e-13)
        np.testing.assert_allclose(many.variances[place], variances, rtol=1e-10, atol=1e-15)
        np.testing.assert_allclose(many.freedoms[place], freedoms, rtol=1e-10)


@pytest.mark.parametrize("anew", get_args(Anew))
@pytest.mark.parametrize("holes", ["none", "some", "lines"])
@pytest.mark.parametrize("kind", ["numbers", "yes or no"])
@pytest.mark.parametrize("crossed", [True, False])
def test_each_is_as_computed_alone(crossed: bool, kind: str, holes: str, anew: Anew) -> None:
    check(answers(kind, holes), crossed, anew)


@pytest.mark.parametrize("anew", get_args(Anew))
@pytest.mark.parametrize("crossed", [True, False])
@pytest.mark.parametrize("shape", [(3, 1, 5), (3, 4, 1), (3, 1, 1)])
def test_one_item_or_one_wording_tells_as_little(shape: tuple[int, ...], crossed: bool, anew: Anew) -> None:
    check(np.random.default_rng(0).random(shape), crossed, anew)


def test_models_that_answer_alike_do_not_differ() -> None:
    values = np.tile(np.random.default_rng(0).random((1, 6, 5)), (2, 1, 1)) * 1e6
    for crossed in (True, False):
        found = estimate_mean_differences_of_model_pairs(values, crossed, "wordings")
        assert (found.means == 0).all() and found.variances == pytest.approx(0, abs=1e-12)
