"""Plan a study: how many items, wordings and sampled texts or thoughts reach a standard error, or find a difference.

With the parts of `forecast` the variance of a figure over I items is shared + own / I, both of which fall with the
number of wordings. So every number of wordings, and of texts, gives a smallest I; wordings that items share allow none
where their own part is too much already.

Thoughts of one prompt share its tokens, another wording has to be read anew: so the tokens of a design weigh thoughts
against wordings and items.

A difference is found where the test for wordings like these (`replication.compute_p_of_panel_mean_against_value`)
rejects 0. Its power is that of a noncentral t test where items have wordings of their own. Where they share them, the
limit of the test rests on two variances, each with few degrees of freedom; the power is the mean over how these turn
out.

References
----------
Brennan, R. L. (2001). Generalizability Theory, section 1.1.2 (decision studies).
Cohen, J. (1988). Statistical Power Analysis, section 2.5 (power of t tests).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np
from scipy.special import chdtri, ndtr

from analysis.statistics.reliability.components import Array
from analysis.statistics.reliability.forecast import Forecast, MeanForecast, predict_standard_error
from analysis.statistics.reliability.panel import (
    choose_part_that_loses_interaction,
    compute_p_norm_of_squared_limits,
    compute_squared_t_quantile,
)
from analysis.statistics.resampling import LEVEL

WORDINGS = (1, 2, 3, 4, 5, 6, 8, 10, 12, 15, 20, 25, 30, 40, 50, 75, 100, 200, 500)
SAMPLES = (1, 2, 3, 5, 10, 20, 50, 100)
THOUGHTS = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 64)
LEAST_ITEMS, MOST_ITEMS = 2, 10_000_000  # fewer have no interval; more are not tried
PLACES = 60  # at which a variance that is estimated turns out


@dataclass(frozen=True, slots=True)
class ThoughtTokens:
    """Say what thoughts take: tokens of a prompt and of a thought, and the share of thoughts that have an answer."""

    prompt: float
    thought: float
    answered: float = 1.0

    def count(self, n_prompts: int, n_thoughts: int) -> float:
        """Count the tokens of prompts with so many thoughts each."""
        return n_prompts * (self.prompt + n_thoughts * self.thought)


@dataclass(frozen=True, slots=True)
class Design:
    """One design that reaches what was asked for, in the unit that needs most.

    `samples` are texts sampled with each wording, or thoughts; None where answers are probabilities. `prompts` counts
    every text, but several thoughts of one prompt once. `tokens` is None where nothing is thought.
    """

    items: int
    wordings: int
    samples: int | None
    prompts: int
    cost: float
    error: float
    tokens: float | None = None


def find_least_items_with_power(
    has_power: Callable[[int], bool], least: int = LEAST_ITEMS, most: int = MOST_ITEMS
) -> float:
    """Find the least number of items with enough power.

    Parameters
    ----------
    has_power
        Whether so many items have it. More have it, too, but for the steps of a counted number.
    least, most
        Fewer and more are not tried.

    Returns
    -------
    float
        Infinite where `most` are too few.
    """
    if has_power(least):
        return least
    low, high = least, min(2 * least, most)
    while not has_power(high):
        if high >= most:
            return np.inf
        low, high = high, min(2 * high, most)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if has_power(middle) else (middle, high)
    return high


@dataclass(frozen=True, slots=True)
class Goal:
    """Say what a study is to reach: a standard error, or to find a difference with a power by a two-sided test."""

    error: float = np.nan
    difference: float = np.nan
    power: float = 0.8

    def find_least_items(
        self, forecast: Forecast, n_wordings: int, n_samples: float | None, crossed: bool, least_items: int
    ) -> float:
        """Return the least number of items that reach the goal.

        Parameters
        ----------
        forecast
            Of one unit; `MeanForecast` where the goal is a difference.
        n_wordings, n_samples
            Of each item, and texts sampled with each; None: as many as in the pilot.
        crossed
            Whether items share the wordings, for the test of a difference.
        least_items
            Fewer items are not tried.

        Returns
        -------
        float
            From `least_items` on; infinite where `MOST_ITEMS` are too few.
        """
        if np.isnan(self.difference):
            shared, item_variance = forecast.split_shared_and_item_variance(n_wordings, n_samples)
            allowed_variance = self.error**2 - shared
            n_items = np.ceil(item_variance / allowed_variance - 1e-9) if allowed_variance > 0 else np.inf
            return max(float(n_items), least_items) if n_items <= MOST_ITEMS else np.inf

        def reaches_power(n_items: float) -> bool:
            """Tell whether the test finds the difference with the wanted power with so many items."""
            assert isinstance(forecast, MeanForecast)
            return (
                compute_power_of_difference_test(
                    forecast, self.difference, n_items, n_wordings, n_samples, crossed=crossed
                )
                >= self.power
            )

        return find_least_items_with_power(reaches_power, least_items)


def compute_power_of_difference_test(
    forecast: MeanForecast, difference: float, n_items: float, n_wordings: float, n_samples: float | None = None, *,
    crossed: bool, level: float = LEVEL,
) -> float:  # fmt: skip
    """Return the probability that the test of a difference for wordings like these rejects 0.

    Parameters
    ----------
    forecast
        Of the difference's mean.
    difference
        The true one, in the unit of the answers.
    n_items, n_wordings, n_samples
        How many items, wordings of each, and texts sampled with each; `n_samples` None: as many as in the pilot.
    crossed
        Whether all items share the wordings.
    level
        Coverage of the interval that the test inverts: at .95, it rejects where p < .05.

    Returns
    -------
    float
        NaN for one item, or one wording where items share it: there is no test.
    """
    if n_items < 2 or (crossed and n_wordings < 2):
        return np.nan
    shared, item_variance = forecast.split_shared_and_item_variance(n_wordings, n_samples)
    noise = forecast.compute_within_item_variance(n_wordings, n_samples) / n_items
    of_items = item_variance / n_items * _list_equally_likely_variance_factors(n_items - 1)
    squared_limit = compute_squared_t_quantile(level, np.asarray(n_items - 1)) * of_items
    if crossed:
        of_wordings = (shared + noise) * _list_equally_likely_variance_factors(n_wordings - 1)
        less, more = choose_part_that_loses_interaction(n_items - 1, n_wordings - 1, noise)
        limit_grid = np.meshgrid(np.maximum(of_items - less, 0), np.maximum(of_wordings - more, 0))
        parts, free = np.stack(limit_grid, axis=-1), np.array([n_items - 1, n_wordings - 1])
        squared_limit = np.maximum(
            squared_limit, compute_p_norm_of_squared_limits(compute_squared_t_quantile(level, free) * parts, free)
        )
    limit = np.sqrt(squared_limit)
    error = np.sqrt(shared + item_variance / n_items)
    if not error > 0:
        return 1.0
    return float((ndtr((difference - limit) / error) + ndtr((-difference - limit) / error)).mean())


def _list_equally_likely_variance_factors(freedom: float) -> Array:
    """Return equally likely values of an estimated variance with a mean of 1."""
    return np.asarray(chdtri(freedom, (np.arange(PLACES) + 0.5) / PLACES) / freedom)


def list_sufficient_designs(
    forecasts: Sequence[Forecast], goal: Goal, *, crossed: bool, samples: Sequence[int | None] = (None,),
    cost_item: float = 0.0, cost_wording: float = 0.0, cost_token: float = 0.0, tokens: ThoughtTokens | None = None,
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
    cost_item, cost_wording, cost_token
        Of making an item, and a wording, and of a token. Without costs, the number of prompts is the cost; that of
        tokens, where it is known.
    tokens
        Where samples are thoughts: what they take. Thoughts without an answer take tokens, and tell nothing.

    Returns
    -------
    list of Design
        The cheapest first, of equal cost the one with fewest prompts; empty where none reaches the goal.
    """
    reaching_designs = []
    least, most = max(forecast.least for forecast in forecasts), min(forecast.most for forecast in forecasts)
    tests_wordings = crossed and most > 1  # of one wording, the test is that for this wording
    for wordings, texts in product((number for number in WORDINGS if least <= number <= most), samples):
        enough, answered = float(LEAST_ITEMS), texts if texts is None or tokens is None else texts * tokens.answered
        for forecast in forecasts:
            if np.isfinite(enough):
                enough = goal.find_least_items(forecast, wordings, answered, tests_wordings, int(enough))
        if not np.isfinite(enough):
            continue
        items = int(enough)
        answers = items * wordings
        prompts = answers * (1 if tokens else texts or 1)
        n_tokens = tokens.count(answers, texts or 1) if tokens else None
        wordings_made = wordings if crossed else answers
        cost = items * cost_item + wordings_made * cost_wording + (n_tokens or 0.0) * cost_token
        if not (cost_item or cost_wording or cost_token):
            cost = float(prompts) if n_tokens is None else n_tokens
        error = max(predict_standard_error(forecast, items, wordings, answered) for forecast in forecasts)
        reaching_designs.append(Design(items, wordings, texts, prompts, cost, error, n_tokens))
    return sorted(reaching_designs, key=lambda design: (design.cost, design.prompts))
