"""Variance components beside R's lme4: REML of balanced designs in which no component is estimated to be negative."""

from __future__ import annotations

import shutil
from importlib.util import find_spec

import numpy as np
import pandas as pd
import pytest

from analysis.statistics import mixed
from analysis.statistics.reliability.components import estimate_model_variance_components, estimate_variance_components

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(shutil.which("R") is None, reason="R is not installed (make test installs it)"),
    pytest.mark.skipif(find_spec("pymer4") is None, reason="the Python package pymer4 is not installed"),
]
TOLERANCE = 1e-4


def reml(values: np.ndarray, names: tuple[str, ...], groups: tuple[str, ...]) -> dict[str, float]:
    """Fit random intercepts with lme4; group -> variance, with that of the residual.

    Parameters
    ----------
    values
        An axis per name.
    groups
        Names, or several joined by "_": a level for each of their combinations.
    """
    codes = dict(zip(names, (axis.ravel() for axis in np.indices(values.shape)), strict=True))
    frame = pd.DataFrame({"y": values.ravel()})
    for group in groups:
        frame[group] = [
            "l" + "_".join(map(str, level)) for level in zip(*(codes[n] for n in group.split("_")), strict=True)
        ]
    formula = "y ~ 1 + " + " + ".join(f"(1 | {group})" for group in groups)
    found = mixed.fit_mixed_models(frame, formula, engine="pymer4").diagnostics.iloc[0]
    assert found["converged"] and not found["singular"]
    return {**{group: found[f"sd_{group}"] ** 2 for group in groups}, "residual": found["sigma"] ** 2}


def test_shared_wordings():
    rng = np.random.default_rng(0)
    values = rng.normal(size=(20, 1)) + rng.normal(0, 0.6, (1, 8)) + rng.normal(0, 0.7, (20, 8))
    expected, found = reml(values, ("item", "wording"), ("item", "wording")), estimate_variance_components(values, True)
    assert {name: getattr(found, name) for name in expected} == pytest.approx(expected, abs=TOLERANCE)


def test_wordings_of_their_own():
    rng = np.random.default_rng(1)
    values = rng.normal(size=(25, 1)) + rng.normal(0, 0.8, (25, 6))
    expected, found = reml(values, ("item", "wording"), ("item",)), estimate_variance_components(values, False)
    assert {name: getattr(found, name) for name in expected} == pytest.approx(expected, abs=TOLERANCE)


def test_models_items_and_shared_wordings():
    rng = np.random.default_rng(2)
    m, i, w = 8, 12, 7
    shapes = [(m, 1, 1), (1, i, 1), (1, 1, w), (m, i, 1), (m, 1, w), (1, i, w)]
    values = sum(rng.normal(0, 0.8, shape) for shape in shapes) + rng.normal(0, 0.5, (m, i, w))
    groups = ("model", "item", "wording", "model_item", "model_wording", "item_wording")
    expected, found = (
        reml(values, ("model", "item", "wording"), groups),
        estimate_model_variance_components(values, True),
    )
    assert {name: getattr(found, name) for name in expected} == pytest.approx(expected, abs=TOLERANCE)


def test_models_items_and_wordings_of_their_own():
    """Wordings within items: a level of `item_wording` is one wording."""
    rng = np.random.default_rng(3)
    m, i, w = 7, 15, 5
    shapes = [(m, 1, 1), (1, i, 1), (m, i, 1), (1, i, w)]
    values = sum(rng.normal(0, 0.8, shape) for shape in shapes) + rng.normal(0, 0.5, (m, i, w))
    expected = reml(values, ("model", "item", "wording"), ("model", "item", "model_item", "item_wording"))
    found = estimate_model_variance_components(values, False)
    ours = {"model": found.model, "item": found.item, "model_item": found.model_item, "item_wording": found.wording,
            "residual": found.residual}  # fmt: skip
    assert ours == pytest.approx(expected, abs=TOLERANCE)
