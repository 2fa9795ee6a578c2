"""Compute intervals of variance components and of what is made of them, from mean squares drawn anew.

A component is a difference of mean squares, so that it has no interval in closed form. A *generalized* interval draws
each mean square as what it would be: S f / X, with X from the chi-square distribution of its f degrees of freedom, and
takes percentiles of the difference. It needs no percentile bootstrap, whose intervals of variances are too narrow for
few items, and covers 2 templates, too. Heavy tails lower the degrees of freedom (`panel.Panel.freedom`).

Reference
---------
Weerahandi, S. (1993). Generalized confidence intervals. JASA 88, 899-905.
"""

from __future__ import annotations

import numpy as np

from analysis.statistics.reliability.components import Array
from analysis.statistics.reliability.panel import Panel
from analysis.statistics.resampling import LEVEL

DRAWS = 2_000
FIGURES = ("item", "wording", "interaction", "sample", "widening", "consistency")


def ranges(panel: Panel, seed: int = 0, level: float = LEVEL) -> dict[str, tuple[float, float]]:
    """Compute the intervals of a panel's components, of its `widening`, and of the consistency of an item's mean.

    With one wording of each item, of items, samples and consistency only.

    Returns
    -------
    dict
        Each of `FIGURES` -> lower and upper end. NaN where a component is unknown or all answers are alike. An upper
        end of the widening may be infinite.
    """
    nothing = dict.fromkeys(FIGURES, (np.nan, np.nan))
    inner, sampled, one = panel.inner, panel.sampled, np.isnan(panel.wording)
    of_items, of_inner = panel.freedom
    if not (panel.spread > 0 or inner > 0) or not of_items > 0 or not of_inner > 0:
        return nothing
    rng = np.random.default_rng(seed)
    width, n_items = panel.n_wordings, panel.n_items
    residual = inner * of_inner / rng.chisquare(of_inner, DRAWS)
    spread = panel.spread * of_items / rng.chisquare(of_items, DRAWS)
    item = spread - residual / width
    found = {"item": item, "consistency": item / spread}
    noise: Array | float = 0.0
    if sampled and sampled.sample > 0:
        # With one wording, the residual is the noise.
        found["sample"] = residual * sampled.number if one else _drawn(sampled.sample, sampled.freedom, rng)
        noise = found["sample"] / sampled.number
    if one:
        return nothing | _ends(found, level)
    added: Array = np.zeros(DRAWS)
    if panel.crossed:
        per_wording = panel.n / width
        shared = (panel.wording + inner / per_wording) * (width - 1) / rng.chisquare(width - 1, DRAWS)
        wording = shared - residual / per_wording
        added = np.maximum(wording, 0) / width
        found |= {"wording": wording, "interaction": residual - noise}
    else:
        found["wording"] = residual - noise
    with np.errstate(divide="ignore", invalid="ignore"):
        least = np.maximum(item, 0) / n_items
        found["widening"] = np.where(least > 0, np.sqrt((spread / n_items + added) / least), np.inf)
    return nothing | _ends(found, level)


def _drawn(variance: float, freedom: float, rng: np.random.Generator) -> Array:
    """Draw a variance anew; NaN where its degrees of freedom are not known."""
    return variance * freedom / rng.chisquare(freedom, DRAWS) if freedom > 0 else np.full(DRAWS, np.nan)


def _ends(found: dict[str, Array], level: float) -> dict[str, tuple[float, float]]:
    ends = {}
    for name, drawn in found.items():
        # Infinite draws have no place between two others: an order statistic instead of an interpolation.
        low, high = np.quantile(drawn, [(1 - level) / 2, (1 + level) / 2], method="nearest")
        ends[name] = float(low), float(high)
    return ends
