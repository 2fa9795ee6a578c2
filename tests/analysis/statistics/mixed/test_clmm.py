"""The engine "ordinal", live: against R's own values, and a slow likelihood by Gauss-Hermite quadrature."""

from __future__ import annotations

import shutil
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from numpy.polynomial.hermite import hermgauss

from analysis.statistics import mixed
from reference.ordered_data import FORMULA, datasets

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(shutil.which("R") is None, reason="R is not installed (make test installs it)"),
    pytest.mark.skipif(find_spec("pymer4") is None, reason="the Python package pymer4 is not installed"),
]
DATA = datasets()
REFERENCE = pd.read_csv(Path(__file__).parents[3] / "reference" / "ordered.csv").set_index("model").loc["clmm"]


def read_thresholds(result: mixed.Result) -> dict[str, float]:
    parts = (part.split(": ") for part in result.diagnostics["thresholds"].iloc[0].split("; "))
    return {name: float(value) for name, value in parts}


@pytest.mark.parametrize("name", DATA)
def test_estimates_are_those_of_r(name):
    """R by itself, with 20 nodes instead of 10: all to 1e-4."""
    result = mixed.fit_mixed_models(DATA[name], FORMULA, engine="ordinal", weights="weight")
    expected = REFERENCE[REFERENCE["dataset"] == name].set_index("term")
    table = result.table.set_index("term")
    assert list(table.index) == ["x1", "kindshort"]
    for column in ("estimate", "se"):
        np.testing.assert_allclose(table[column], expected[column][table.index], atol=1e-4)
    for term, value in read_thresholds(result).items():
        assert value == pytest.approx(expected["estimate"][term], abs=1.5e-4)  # shown to four digits
    diagnosis = result.diagnostics.iloc[0]
    assert diagnosis["reml"] == pytest.approx(-2 * expected["log_likelihood"].iloc[0], abs=1e-3)
    assert diagnosis["sd_item"] == pytest.approx(expected["sd_item"].iloc[0], abs=1e-4)
    assert diagnosis["converged"] and table["p_robust"].isna().all() and np.isinf(table["df"]).all()
    assert list(table["confirmed"]) == list(table["p_bonferroni"] < 0.05)
    assert diagnosis["icc"] == pytest.approx(diagnosis["sd_item"] ** 2 / (diagnosis["sd_item"] ** 2 + np.pi**2 / 3))


@pytest.mark.parametrize("name", ["five", "weighted", "two"])
def test_the_likelihood_the_slow_way(name):
    """60 nodes, not adaptive, item by item: the same value to 1e-3, and lower wherever an estimate is moved."""
    frame = DATA[name]
    result = mixed.fit_mixed_models(frame, FORMULA, engine="ordinal", weights="weight")
    nodes, node_weights = hermgauss(60)

    def loglike(slopes, thresholds, sd):
        total, bounds = 0.0, np.r_[-np.inf, thresholds, np.inf]
        for _, rows in frame.groupby("item"):
            h = slopes[0] * rows["x1"].to_numpy() + slopes[1] * (rows["kind"] == "short").to_numpy(float)
            latent = h[:, None] + np.sqrt(2) * sd * nodes
            high, low = (bounds[rows["rank"].to_numpy() - cut][:, None] for cut in (0, 1))
            p = 1 / (1 + np.exp(latent - high)) - 1 / (1 + np.exp(latent - low))
            of_nodes = (rows["weight"].to_numpy()[:, None] * np.log(p)).sum(axis=0)
            total += np.log((node_weights * np.exp(of_nodes)).sum() / np.sqrt(np.pi))
        return total

    best = [
        result.table["estimate"].to_numpy(), np.array(list(read_thresholds(result).values())),
        result.diagnostics["sd_item"].iloc[0],
    ]  # fmt: skip
    top = loglike(*best)
    assert -2 * top == pytest.approx(result.diagnostics["reml"].iloc[0], abs=1e-3)
    for step in (-0.02, 0.02):
        assert loglike(best[0] + [step, 0], *best[1:]) < top > loglike(best[0] + [0, step], *best[1:])
        assert loglike(*best[:2], best[2] + step) < top > loglike(best[0], best[1] + step, best[2])


def test_random_effects_and_fitted_ranks():
    result = mixed.fit_mixed_models(DATA["eleven"], FORMULA, engine="ordinal")
    effects = result.random_effects
    assert list(effects["level"]) == sorted(DATA["eleven"]["item"].unique()) and (effects["se"] > 0).all()
    means = DATA["eleven"].groupby("item")["rank"].mean()
    assert np.corrcoef(effects.set_index("level")["estimate"][means.index], means)[0, 1] > 0.9
    assert result.residuals["residual"].abs().mean() < DATA["eleven"]["rank"].std()
