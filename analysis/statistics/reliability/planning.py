"""Plan a study: how many items, wordings and sampled texts reach a standard error, or find a difference.

With the parts of `forecast` the variance of a figure over I items is shared + own / I, both of which fall with the
number of wordings. So every number of wordings, and of texts, gives a smallest I; wordings that items share allow none
where their own part is too much already.

A difference is found where the test for wordings like these (`replication.p_value`) rejects 0. Its power is that of a
noncentral t test where items have wordings of their own. Where they share them, the limit of the test rests on two
variances, each with few degrees of freedom; the power is the mean over how these turn out.

References
----------
Brennan, R. L. (2001). Generalizability Theory, section 1.1.2 (decision studies).
Cohen, J. (1988). Statistical Power Analysis, section 2.5 (power of t tests).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np
from scipy.special import chdtri, ndtr

from analysis.statistics.reliability.components import Array
from analysis.statistics.reliability.forecast import Components, Forecast, largest
from analysis.statistics.reliability.panel import joined, t_squared, taken
from analysis.statistics.resampling import LEVEL

WORDINGS = (1, 2, 3, 4, 5, 6, 8, 10, 12, 15, 20, 25, 30, 40, 50, 75, 100, 200, 500)
SAMPLES = (1, 2, 3, 5, 10, 20, 50, 100)
LEAST_ITEMS, MOST_ITEMS = 2, 10_000_000  # fewer have no interval; more are not tried
PLACES = 60  # at which a variance that is estimated turns out


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


@dataclass(frozen=True, slots=True)
class Goal:
    """Say what a study is to reach: a standard error, or to find a difference with a power by a two-sided test."""

    error: float = np.nan
    difference: float = np.nan
    power: float = 0.8

    def items(self, forecast: Forecast, wordings: int, samples: int | None, crossed: bool, least: int) -> float:
        """Return the least number of items that reach the goal.

        Parameters
        ----------
        forecast
            Of one unit; `Components` where the goal is a difference.
        wordings, samples
            Of each item, and texts sampled with each; None: as many as in the pilot.
        crossed
            Whether items share the wordings, for the test of a difference.
        least
            Fewer items are not tried.

        Returns
        -------
        float
            From `least` on; infinite where none is enough.
        """
        if np.isnan(self.difference):
            shared, own = forecast.parts(wordings, samples)
            left = self.error**2 - shared
            return max(float(np.ceil(own / left - 1e-9)), least) if left > 0 else np.inf

        def reached(items: float) -> bool:
            assert isinstance(forecast, Components)
            return power(forecast, self.difference, items, wordings, samples, crossed=crossed) >= self.power

        if reached(least):
            return least
        low, high = least, 2 * least  # the first does not reach it
        while not reached(high):
            low, high = high, 2 * high
            if high > MOST_ITEMS:
                return np.inf
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if reached(middle) else (middle, high)
        return high


def power(
    forecast: Components, difference: float, items: float, wordings: float, samples: int | None = None, *,
    crossed: bool, level: float = LEVEL,
) -> float:  # fmt: skip
    """Return the probability that the test of a difference for wordings like these rejects 0.

    Parameters
    ----------
    forecast
        Of the difference's mean.
    difference
        The true one, in the unit of the answers.
    items, wordings, samples
        How many items, wordings of each, and texts sampled with each; `samples` None: as many as in the pilot.
    crossed
        Whether all items share the wordings.
    level
        Coverage of the interval that the test inverts: at .95, it rejects where p < .05.

    Returns
    -------
    float
        NaN for one item, or one wording where items share it: there is no test.
    """
    if items < 2 or (crossed and wordings < 2):
        return np.nan
    shared, own = forecast.parts(wordings, samples)
    noise = forecast.within(wordings, samples) / items
    of_items = own / items * _turning_out(items - 1)
    these = t_squared(level, np.asarray(items - 1)) * of_items
    if crossed:
        of_wordings = (shared + noise) * _turning_out(wordings - 1)
        less, more = taken(items - 1, wordings - 1, noise)
        both = np.meshgrid(np.maximum(of_items - less, 0), np.maximum(of_wordings - more, 0))
        parts, free = np.stack(both, axis=-1), np.array([items - 1, wordings - 1])
        these = np.maximum(these, joined(t_squared(level, free) * parts, free))
    limit = np.sqrt(these)
    error = np.sqrt(shared + own / items)
    if not error > 0:
        return 1.0
    return float((ndtr((difference - limit) / error) + ndtr((-difference - limit) / error)).mean())


def _turning_out(freedom: float) -> Array:
    """Return equally likely values of an estimated variance with a mean of 1."""
    return np.asarray(chdtri(freedom, (np.arange(PLACES) + 0.5) / PLACES) / freedom)


def designs(
    forecasts: Sequence[Forecast], goal: Goal, *, crossed: bool, samples: Sequence[int | None] = (None,),
    cost_item: float = 0.0, cost_wording: float = 0.0,
) -> list[Design]:  # fmt: skip
    """List the designs that reach a goal in every forecast.

    Parameters
    ----------
    forecasts
        Of a pilot.
    goal
        With other items and other wordings.
    crossed
        Whether all items share the wordings: these are made once, own ones for every item.
    samples
        Numbers of texts with each wording that may be planned; None: as in the pilot.
    cost_item, cost_wording
        Of making an item, and a wording. Without costs, the number of prompts is the cost.

    Returns
    -------
    list of Design
        The cheapest first, of equal cost the one with fewest prompts; empty where none reaches the goal.
    """
    found = []
    least, most = max(each.least for each in forecasts), min(each.most for each in forecasts)
    told = crossed and most > 1  # of one wording, the test is that for this wording
    for wordings, texts in product((each for each in WORDINGS if least <= each <= most), samples):
        enough = float(LEAST_ITEMS)
        for each in forecasts:
            enough = goal.items(each, wordings, texts, told, int(enough)) if np.isfinite(enough) else enough
        if not np.isfinite(enough):
            continue
        items = int(enough)
        answers = items * wordings
        prompts = answers * (texts or 1)
        made = wordings if crossed else answers
        cost = items * cost_item + made * cost_wording if cost_item or cost_wording else float(prompts)
        found.append(Design(items, wordings, texts, prompts, cost, largest(forecasts, items, wordings, texts)))
    return sorted(found, key=lambda design: (design.cost, design.prompts))
