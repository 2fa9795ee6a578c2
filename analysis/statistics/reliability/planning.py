"""Plan a study: how many items, wordings and sampled texts reach a standard error, as a pilot foresees it.

With the parts of `forecast` the variance of a figure over I items is shared + own / I, both of which fall with the
number of wordings. So every number of wordings, and of texts, gives a smallest I; wordings that items share allow none
where their own part is too much already.

References
----------
Brennan, R. L. (2001). Generalizability Theory, section 1.1.2 (decision studies).
Cohen, J. (1988). Statistical Power Analysis, section 2.5 (the standard error that a difference needs).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from statistics import NormalDist

import numpy as np

from analysis.statistics.reliability.forecast import Forecast, largest
from analysis.statistics.resampling import LEVEL

WORDINGS = (1, 2, 3, 4, 5, 6, 8, 10, 12, 15, 20, 25, 30, 40, 50, 75, 100, 200, 500)
SAMPLES = (1, 2, 3, 5, 10, 20, 50, 100)
LEAST_ITEMS = 2  # fewer have no interval


@dataclass(frozen=True, slots=True)
class Design:
    """One design that reaches what was asked for, in the unit that needs most.

    `samples` are texts sampled with each wording; None where answers are probabilities. `prompts` counts every text.
    """

    items: int
    wordings: int
    samples: int | None
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


def designs(
    forecasts: Sequence[Forecast], error: float, *, crossed: bool, samples: Sequence[int | None] = (None,),
    cost_item: float = 0.0, cost_wording: float = 0.0,
) -> list[Design]:  # fmt: skip
    """List the designs whose standard error is at most this in every forecast, the cheapest first, then the smallest.

    Parameters
    ----------
    forecasts
        Of a pilot.
    error
        Standard error to reach, with other items and other wordings.
    crossed
        Whether all items share the wordings: these are made once, own ones for every item.
    samples
        Numbers of texts with each wording that may be planned; None: as in the pilot.
    cost_item, cost_wording
        Of making an item, and a wording. Without costs, the number of prompts is the cost.
    """
    found = []
    least, most = max(each.least for each in forecasts), min(each.most for each in forecasts)
    for wordings, texts in product((each for each in WORDINGS if least <= each <= most), samples):
        sizes = [_items(each, error, wordings, texts) for each in forecasts]
        if not np.isfinite(sizes).all():
            continue
        items = max(LEAST_ITEMS, *(int(np.ceil(size - 1e-9)) for size in sizes))
        answers = items * wordings
        prompts = answers * (texts or 1)
        made = wordings if crossed else answers
        cost = items * cost_item + made * cost_wording if cost_item or cost_wording else float(prompts)
        found.append(Design(items, wordings, texts, prompts, cost, largest(forecasts, items, wordings, texts)))
    return sorted(found, key=lambda design: (design.cost, design.prompts))


def _items(forecast: Forecast, error: float, wordings: int, samples: int | None) -> float:
    """Return the number of items that a forecast needs; infinite where none is enough."""
    shared, own = forecast.parts(wordings, samples)
    left = error**2 - shared
    return own / left if left > 0 else np.inf
