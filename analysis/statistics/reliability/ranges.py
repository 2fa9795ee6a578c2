"""Compute intervals of variance components, and of what is made of them, from items and wordings drawn anew.

Some items move far more than others, and a few may move all that there is to move: where 1 item in 20 is unstable,
most studies of 10 items see none. No interval that looks only at the items at hand can know. Chi-square quantiles, with
degrees of freedom lowered for heavy tails, then cover .33 of true interactions at 10 items, and .82 at 62. But answers
have bounds, and so has what one more item could add.

- Means over items (of their squared distances from the mean, and of what is left within them) are drawn by the Bayesian
  bootstrap: items get the weights of a flat Dirichlet distribution. One *further item* has a weight, too. In upper ends
  it stands at the largest square that the bounds allow, in lower ends at 0. This is Gaffke's bound for the mean of a
  bounded variable, which is known to hold for two values and has never been found to fail. It holds for any shape; at
  10 items, it is wide.
- The mean square of wordings that items share is drawn as S f / X, with X from the chi-square distribution of its f
  degrees of freedom (a generalized interval): there are too few of them to learn their shape.

A figure that rises with one part and falls with another has its upper end from the upper end of the first part and the
lower end of the second, and its lower end from the other two.

References
----------
Gaffke, N. (2005). Three test statistics for a nonparametric one-sided hypothesis on the mean of a nonnegative variable.
Mathematical Methods of Statistics 14, 451-467.
Learned-Miller, E. and Thomas, P. S. (2019). A new confidence interval for the mean of a bounded random variable.
arXiv:1905.06208.
Rubin, D. B. (1981). The Bayesian bootstrap. Annals of Statistics 9, 130-134.
Weerahandi, S. (1993). Generalized confidence intervals. JASA 88, 899-905.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass

import numpy as np

from analysis.statistics.reliability.components import Array
from analysis.statistics.reliability.panel import Panel
from analysis.statistics.resampling import LEVEL

DRAWS = 2_000
LEAST_LEFT = 0.5  # degrees of freedom of what is left, for every item: 2 of 19 wordings of 30 items leave 0.4
GROUPS = 500  # more items than these are put together, at random, to as many means
FIGURES = ("item", "wording", "interaction", "sample", "widening", "consistency")


@dataclass(frozen=True, slots=True)
class VarianceDraws:
    """Hold draws of a variance: with the further item at 0, and at the largest square."""

    low: Array
    high: Array

    def multiply_by(self, factor: float) -> VarianceDraws:
        """Multiply by a factor from 0 on."""
        return VarianceDraws(self.low * factor, self.high * factor)

    def add_variance(self, other: VarianceDraws) -> VarianceDraws:
        """Add another variance."""
        return VarianceDraws(self.low + other.low, self.high + other.high)

    def subtract_variance(self, other: VarianceDraws) -> VarianceDraws:
        """Take another variance away: the lower ends lose its upper ones; nothing is below 0."""
        return VarianceDraws(np.maximum(self.low - other.high, 0.0), np.maximum(self.high - other.low, 0.0))


ZERO = VarianceDraws(np.zeros(DRAWS), np.zeros(DRAWS))


def compute_component_intervals(
    panel: Panel, bounds: tuple[float, float] | None, seed: int = 0
) -> dict[str, tuple[float, float]]:
    """Compute the intervals of a panel's components, of its `widening`, and of the consistency of an item's mean.

    With one wording of each item, of items, samples and consistency only. Nothing has an interval where items and
    wordings are hardly told apart (`has_enough_degrees_of_freedom`).

    Parameters
    ----------
    panel
        Of answers, or of differences.
    bounds
        What answers lie within; None: they have no bounds, and nothing has an interval.
    seed
        Of the draws.

    Returns
    -------
    dict
        Each of `FIGURES` -> lower and upper end, from 0 on; NaN where a component is unknown, all answers are alike, an
        end would be infinite, or, of wordings that all items share, where their means are equal.
    """
    nothing = dict.fromkeys(FIGURES, (np.nan, np.nan))
    if (
        bounds is None
        or np.isnan(panel.item)
        or not (panel.item_mean_variance > 0 or panel.inner > 0)
        or not has_enough_degrees_of_freedom(panel)
    ):
        return nothing
    incidence, sampled, single = panel.incidence, panel.sampled, bool(np.isnan(panel.wording))
    spread = _draw_item_mean_variance(panel, bounds, seed)
    noise = _draw_variance_due_to_sampled_answers(panel, bounds, seed)
    residual = noise if single else _draw_residual_variance(panel, bounds, seed)
    wording = _sample_wording_variance_component(panel, residual, seed) if panel.crossed and not single else ZERO
    error = residual.multiply_by(1 / (1 if single else incidence.n_wordings)).add_variance(
        wording.multiply_by(incidence.unshared_variance)
    )
    item = spread.subtract_variance(error)
    drawn = {"item": item, "consistency": _draw_share_of_variance(item, spread)}
    if sampled and sampled.sample > 0:
        drawn["sample"] = noise.multiply_by(sampled.number)
    if not single:
        interaction = residual.subtract_variance(noise)
        drawn |= {"wording": wording, "interaction": interaction} if panel.crossed else {"wording": interaction}
        shared = wording.multiply_by(incidence.n_items / incidence.n_shared) if panel.crossed else ZERO
        drawn["widening"] = _draw_interval_widening_by_wordings(
            item, residual.multiply_by(1 / incidence.n_wordings).add_variance(shared)
        )
    return nothing | {name: _find_interval_ends_in_draws(part) for name, part in drawn.items()}


def has_enough_degrees_of_freedom(panel: Panel) -> bool:
    """Tell whether enough is left, beside items and wordings, for the components of a panel to have intervals.

    With less, intervals of the interaction covered .87 where items' SDs are lognormal.
    """
    return bool(np.isnan(panel.wording)) or panel.estimates.freedom >= LEAST_LEFT * panel.n_items


def _draw_item_mean_variance(panel: Panel, bounds: tuple[float, float], seed: int) -> VarianceDraws:
    """Draw the variance of the items' means."""
    mean, n_items = panel.mean, panel.n_items
    squares = (panel.means - mean) ** 2 * n_items / (n_items - 1)
    return _draw_mean_square_bounds_over_items(squares, max(mean - bounds[0], bounds[1] - mean) ** 2, seed)


def _draw_residual_variance(panel: Panel, bounds: tuple[float, float], seed: int) -> VarianceDraws:
    """Draw the variance of an answer within its item, and within its wording where these are shared."""
    estimates, wordings = panel.estimates, panel.n_wordings
    per_item = estimates.freedom / panel.n_items  # degrees of freedom that an item's squares have on average
    # Half of an item's answers at either bound: its squares are at most a quarter of the width squared for each answer.
    most = (bounds[1] - bounds[0]) ** 2 / 4 * wordings / per_item
    return _draw_mean_square_bounds_over_items(estimates.squares / per_item, most, seed)


def _draw_variance_due_to_sampled_answers(panel: Panel, bounds: tuple[float, float], seed: int) -> VarianceDraws:
    """Draw what sampling adds to an answer; 0 where nothing was sampled."""
    if panel.sampled is None or not panel.sampled.sample > 0:
        return ZERO
    most = (bounds[1] - bounds[0]) ** 2 / 2  # the variance (n - 1) of two samples, one at either bound
    return _draw_mean_square_bounds_over_items(panel.sampled.by_item, most, seed).multiply_by(1 / panel.sampled.number)


def _sample_wording_variance_component(panel: Panel, residual: VarianceDraws, seed: int) -> VarianceDraws:
    """Draw the component of shared wordings from their mean square, which holds a part of the residual."""
    levels, per_wording = panel.estimates.levels, panel.estimates.per_wording
    mean_square = max(panel.wording + panel.inner / per_wording, 0.0)
    drawn = mean_square * levels / np.random.default_rng([seed, 1]).chisquare(levels, DRAWS)
    return VarianceDraws(drawn, drawn).subtract_variance(residual.multiply_by(1 / per_wording))


def _draw_mean_square_bounds_over_items(squares: Array, largest_square: float, seed: int) -> VarianceDraws:
    """Draw the mean over items and one more: 0 in lower ends, `largest_square` or the maximum in upper ones."""
    if len(squares) > GROUPS:
        # Of 1,200 items, 200 groups have 3 at random, and 300 have 2; each counts as one item with their mean.
        order = np.random.default_rng([seed, 2]).permutation(len(squares))
        squares = np.array([group.mean() for group in np.array_split(squares[order], GROUPS)])
    weights = _draw_item_weights(len(squares), seed)
    low = weights[:, :-1] @ squares
    return VarianceDraws(low, low + weights[:, -1] * max(largest_square, float(squares.max())))


@functools.lru_cache(maxsize=8)  # models answer the same items
def _draw_item_weights(n_items: int, seed: int) -> Array:
    """Draw weights of items and of one further item: (draws, items + 1), each row a point of the flat Dirichlet."""
    drawn = np.random.default_rng(seed).standard_exponential((DRAWS, n_items + 1))
    drawn /= drawn.sum(axis=1, keepdims=True)
    drawn.flags.writeable = False
    return drawn


def _draw_share_of_variance(part: VarianceDraws, whole: VarianceDraws) -> VarianceDraws:
    """Draw a share of a variance: the lower ends of both go together, as do the upper ones."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return VarianceDraws(part.low / whole.low, part.high / whole.high)


def _draw_interval_widening_by_wordings(item_variance: VarianceDraws, error_variance: VarianceDraws) -> VarianceDraws:
    """Draw the widening: the error with these wordings, divided by that of items alone."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return VarianceDraws(
            np.sqrt(1 + error_variance.low / item_variance.high), np.sqrt(1 + error_variance.high / item_variance.low)
        )


def _find_interval_ends_in_draws(drawn: VarianceDraws) -> tuple[float, float]:
    """Find the ends of the interval in the draws; both are NaN if one is infinite, or if all draws are alike."""
    # Infinite draws have no place between two others: an order statistic instead of an interpolation.
    low = float(np.quantile(drawn.low, (1 - LEVEL) / 2, method="nearest"))
    high = float(np.quantile(drawn.high, (1 + LEVEL) / 2, method="nearest"))
    return (low, high) if np.isfinite(low) and np.isfinite(high) and high > low else (np.nan, np.nan)
