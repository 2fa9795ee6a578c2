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
FIGURES = ("item", "wording", "interaction", "widening", "consistency")


def ranges(panel: Panel, seed: int = 0, level: float = LEVEL) -> dict[str, tuple[float, float]]:
    """Compute the intervals of a panel's components, of its `widening`, and of the consistency of an item's mean.

    Returns
    -------
    dict
        Each of `FIGURES` -> lower and upper end. NaN where a component is unknown or all answers are alike. An upper
        end of the widening may be infinite.
    """
    nothing = dict.fromkeys(FIGURES, (np.nan, np.nan))
    inner = panel.interaction if panel.crossed else panel.wording
    of_items, of_inner = panel.freedom
    if not (panel.spread > 0 or inner > 0) or not of_items > 0 or not of_inner > 0:
        return nothing
    rng = np.random.default_rng(seed)
    width, n_items = panel.n_wordings, panel.n_items
    residual = inner * of_inner / rng.chisquare(of_inner, DRAWS)
    spread = panel.spread * of_items / rng.chisquare(of_items, DRAWS)
    item = spread - residual / width
    found = {"item": item, "consistency": item / spread}
    added: Array = np.zeros(DRAWS)
    if panel.crossed:
        if not width > 1:
            return nothing
        per_wording = panel.n / width
        shared = (panel.wording + inner / per_wording) * (width - 1) / rng.chisquare(width - 1, DRAWS)
        wording = shared - residual / per_wording
        added = np.maximum(wording, 0) / width
        found |= {"wording": wording, "interaction": residual}
    else:
        found["wording"] = residual
    with np.errstate(divide="ignore", invalid="ignore"):
        least = np.maximum(item, 0) / n_items
        found["widening"] = np.where(least > 0, np.sqrt((spread / n_items + added) / least), np.inf)
    ends = {}
    for name, drawn in found.items():
        # Infinite draws have no place between two others: an order statistic instead of an interpolation.
        low, high = np.quantile(drawn, [(1 - level) / 2, (1 + level) / 2], method="nearest")
        ends[name] = float(low), float(high)
    return nothing | ends
