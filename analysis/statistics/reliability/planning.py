"""Plan a study: how many items and wordings reach a standard error, from the variance components of a pilot.

With components s_i, s_w, s_e, the variance of a mean over I items and K wordings is s_i / I + s_w / (I K) where each
item has its own wordings, and s_i / I + s_w / K + s_e / (I K) where items share them. For every K that gives the
smallest I; shared wordings allow none where s_w / K alone is too much.

References
----------
Brennan, R. L. (2001). Generalizability Theory, section 1.1.2 (decision studies).
Cohen, J. (1988). Statistical Power Analysis, section 2.5 (the standard error that a difference needs).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

from analysis.statistics.reliability.panel import Panel
from analysis.statistics.resampling import LEVEL

WORDINGS = (1, 2, 3, 4, 5, 6, 8, 10, 12, 15, 20, 25, 30, 40, 50, 75, 100, 200, 500)
LEAST_ITEMS = 2  # fewer have no interval


@dataclass(frozen=True, slots=True)
class Design:
    """One design that reaches what was asked for, in the unit that needs most."""

    items: int
    wordings: int
    prompts: int
    cost: float
    error: float


def needed_error(difference: float, power: float, level: float = LEVEL) -> float:
    """Return the standard error with which a difference is found with this power by a two-sided test.

    >>> round(needed_error(0.1, 0.8), 4)
    0.0357
    """
    normal = NormalDist()
    return difference / (normal.inv_cdf((1 + level) / 2) + normal.inv_cdf(power))


def designs(panels: Sequence[Panel], error: float, cost_item: float = 0.0, cost_wording: float = 0.0) -> list[Design]:
    """List the designs whose standard error is at most this in every panel, the cheapest first, then the smallest.

    Parameters
    ----------
    panels
        Of a pilot; their components are known.
    error
        Standard error to reach, with other items and other wordings.
    cost_item, cost_wording
        Of making an item, and a wording: shared wordings are made once, own ones for every item. Without costs, the
        number of prompts is the cost.
    """
    found = []
    for wordings in WORDINGS:
        sizes = [_items(panel, error, wordings) for panel in panels]
        if not np.isfinite(sizes).all():
            continue
        items = max(LEAST_ITEMS, *(int(np.ceil(size - 1e-9)) for size in sizes))
        prompts = items * wordings
        made = wordings if panels[0].crossed else prompts
        cost = items * cost_item + made * cost_wording if cost_item or cost_wording else float(prompts)
        reached = max(panel.error_at(items, wordings) for panel in panels)
        found.append(Design(items, wordings, prompts, cost, reached))
    return sorted(found, key=lambda design: (design.cost, design.prompts))


def _items(panel: Panel, error: float, wordings: int) -> float:
    """Return the number of items that a panel needs with so many wordings; infinite where none is enough."""
    item, wording = max(panel.item, 0.0), max(panel.wording, 0.0)
    if not panel.crossed:
        return (item + wording / wordings) / error**2
    left = error**2 - wording / wordings
    return (item + panel.interaction / wordings) / left if left > 0 else np.inf
