"""Say how probable it is that a check decides a rule, from what a pilot tells of items and wordings.

Tests are one-sided, at `outcomes.LEVEL` to hold, and at Holm's smallest level of all looks to be broken. Means and
their differences are tested by t (`statistics.reliability.planning.compute_power_of_difference_test`), shares by the
exact binomial test. What else a table counts is foreseen by its own p: with I items in place of I0, its quantile of the
normal distribution grows by sqrt(I / I0).

A model that did not change differs from its baseline by its samples, and in fresh wordings by these: an item's mean
over K wordings of its own has the variance 2 s_e / K as a difference, with s_e the variance within an item. A change
takes from the answers a share f of what they have above the worst one, so that their mean falls by D = f m. With s_i
the variance between items, the differences of items then have this variance:

- *here and there*, where each answer is lost by a chance f of its own: f^2 s_i + f (1 - f) E(a^2) / K, with E(a^2) =
  m^2 + s_i + s_e the mean square of an answer; and beside that (s_e + (1 - f)^2 s_e) / K in fresh wordings, or
  f^2 s_e / K in the same ones;
- *in whole items*, where an item loses all of its answers by a chance f: f E(b^2) - D^2, with E(b^2) = m^2 + s_i +
  s_e / K the mean square of an item's mean; and beside that (1 - f) 2 s_e / K in fresh wordings.

References
----------
Brennan, R. L. (2001). Generalizability Theory, section 1.1.2 (decision studies).
Clopper, C. J. and Pearson, E. S. (1934). The use of confidence or fiducial limits illustrated in the case of the
binomial. Biometrika 26, 404-413.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy.optimize import brentq
from scipy.special import bdtr, bdtrik, ndtr, ndtri, stdtrit

from analysis.check.limits.tails import compute_p_of_t_and_exponential
from analysis.statistics.reliability.forecast import MeanForecast
from analysis.statistics.reliability.planning import compute_power_of_difference_test

PLACES = 200  # at which an estimate is equally likely to turn out
EVERYWHERE, IN_WHOLE_ITEMS = "here and there", "in whole items"  # how a change may spread


def compute_power_of_mean_test(
    forecast: MeanForecast, distance: float, n_items: int, n_wordings: float, level: float, *, crossed: bool
) -> float:
    """Return the probability that a one-sided test by t tells a mean from a limit.

    Parameters
    ----------
    forecast
        Of the mean, or of a difference.
    distance
        From the limit, in the direction in which it is tested.
    n_items, n_wordings
        How many items, and wordings of each.
    level
        One-sided.
    crossed
        Whether all items share the wordings, and other ones are drawn.

    Returns
    -------
    float
        0 where there is no distance, or no test.
    """
    if not distance > 0:
        return 0.0
    # A two-sided test at twice the level: that it finds the other side has next to no probability.
    power = compute_power_of_difference_test(
        forecast, distance, n_items, n_wordings, crossed=crossed, level=1 - 2 * level
    )
    return power if power == power else 0.0


def compute_power_with_one_item_more(
    number: float, limit: float, error: float, n_fewer: float, level: float
) -> float:  # fmt: skip
    """Return the probability that the t test with one item or wording more tells a number, 0 to 1, from a limit.

    Parameters
    ----------
    number, limit
        The true number, and what it is compared with.
    error
        Standard error of its estimate.
    n_fewer
        Items, or wordings where there are fewer of them.
    level
        One-sided.

    Returns
    -------
    float
        0 where the number is the limit, or fewer than two items or wordings are there.
    """
    distance, claim = abs(number - limit), limit if number > limit else 1 - limit

    def compute_p_of_least_number(least: float) -> float:
        return compute_p_of_t_and_exponential(-least, error, claim, n_fewer, n_fewer - 1)

    if n_fewer < 2 or not distance > 0 or compute_p_of_least_number(1.0) > level:
        return 0.0
    least = float(brentq(lambda point: compute_p_of_least_number(point) - level, 0.0, 1.0))
    return float(ndtr((distance - least) / error)) if error > 0 else float(distance > least)


def compute_difference_power_in_shared_wordings(
    forecast: MeanForecast, difference: float, limit: float, n_items: int, n_wordings: int, level: float
) -> float:
    """Return the probability that a difference in wordings that all items share, and an odd one, is told from a limit.

    Parameters
    ----------
    forecast
        Of the difference.
    difference, limit
        The true difference of means between 0 and 1, and what it is compared with.
    n_items, n_wordings
        How many items, and wordings of each.
    level
        One-sided.

    Returns
    -------
    float
        0 where there is no test.
    """
    shared, of_items = forecast.split_shared_and_item_variance(n_wordings)
    error = float(np.sqrt(shared + of_items / n_items)) / 2  # differences from -1 to 1 are moved to 0 to 1
    return compute_power_with_one_item_more(
        (1 + difference) / 2, max(1 + limit, 0.0) / 2, error, min(n_items, n_wordings), level
    )


def compute_power_of_binomial_test(share: float, limit: float, ratio: float, n_items: int, level: float) -> float:
    """Return the probability that the exact binomial test tells a share from a limit, on the side on which it is.

    Parameters
    ----------
    share, limit
        The true share, and what it is compared with.
    ratio
        Variance of the items' shares as a part of that of single answers, share (1 - share): 1 where items count by one
        answer, less where they are means over wordings. So many fewer answers would tell as much.
    n_items
        How many items.
    level
        One-sided.

    Returns
    -------
    float
        Of a binomial number of answers; 0 where the share is the limit.
    """
    if share == limit:
        return 0.0
    if share > limit:
        share, limit = 1 - share, 1 - limit
    # An effective number of answers is estimated: then the test has fewer, as t has a larger quantile than the normal.
    n = n_items if ratio == 1 else n_items / ratio * (ndtri(level) / stdtrit(n_items - 1, level)) ** 2
    n = max(round(n), 1)
    most = np.floor(np.nan_to_num(bdtrik(level, n, limit), nan=-1.0) + 1e-9)  # answers that are few enough
    most -= bdtr(max(most, 0), n, limit) > level
    return float(bdtr(most, n, share)) if most >= 0 else 0.0


def compute_power_of_gaffke_test(
    mean: float, limit: float, deviation: float, skewness: float, n_items: int, level: float
) -> float:
    """Return the probability that Gaffke's test (`statistics.bounded_mean`) tells a mean from a limit, on its side.

    Parameters
    ----------
    mean, limit
        The true mean, and what it is compared with: of items between 0 and 1.
    deviation, skewness
        Of the items.
    n_items
        How many items.
    level
        One-sided.

    Returns
    -------
    float
        0 where the mean is the limit.
    """
    if mean == limit:
        return 0.0
    if mean < limit:
        mean, limit, skewness = 1 - mean, 1 - limit, -skewness
    # An estimate that is high by chance has another variance than one that is low.
    of_skewness, places = skewness / np.sqrt(n_items), ndtri((np.arange(PLACES) + 0.5) / PLACES)
    spread = np.sqrt(np.maximum(1 + of_skewness * places, 0.1))
    quantile = -stdtrit(n_items - 1, level)
    # The test weighs the items at random, and one that is 0: twice as skewed as their mean (Cornish and Fisher).
    quantile -= of_skewness * (ndtri(level) ** 2 - 1) / 3
    error, more = deviation / np.sqrt(n_items), limit / n_items  # the item that is 0 varies, too
    return float((mean - limit - more + error * places > quantile * np.hypot(error * spread, more)).mean())


def compute_power_of_n_items_from_pilot_p(p: float, n_pilot: int, n_items: int, level: float) -> float:
    """Return the probability that a test finds what it found in a pilot, if that is the truth.

    Parameters
    ----------
    p
        One-sided, in the pilot.
    n_pilot, n_items
        Items of the pilot, and of the next study.
    level
        One-sided.

    Returns
    -------
    float
    """
    return float(ndtr(-ndtri(max(p, 1e-300)) * np.sqrt(n_items / n_pilot) + ndtri(level)))


def forecast_mean_change_of_unchanged_model(answers: MeanForecast, *, fresh: bool) -> MeanForecast:
    """Foresee the difference of a model from itself at an earlier time.

    Parameters
    ----------
    answers
        Of one time.
    fresh
        Whether each time has wordings of its own.

    Returns
    -------
    MeanForecast
        Without any variance where the same wordings get the same answers.
    """
    return MeanForecast(0.0, 0.0, 2 * (answers.inner if fresh else answers.noise))


def forecast_difference_of_degraded_model(
    answers: MeanForecast, mean: float, change: float, n_wordings: float, *, fresh: bool, spread: str
) -> MeanForecast:
    """Foresee the difference of a model that lost something from itself, as the module's docstring derives.

    Parameters
    ----------
    answers
        Of the time before.
    mean
        Of the time before, above the worst answer.
    change
        How much the mean falls: at most as much.
    n_wordings
        Of each item: a loss in whole items is written for this number.
    fresh
        Whether each time has wordings of its own.
    spread
        `EVERYWHERE` or `IN_WHOLE_ITEMS`.

    Returns
    -------
    MeanForecast
        Of the difference.
    """
    lost = change / mean
    item, inner = max(answers.item, 0.0) + max(answers.shared, 0.0), max(answers.inner, 0.0)
    unchanged = forecast_mean_change_of_unchanged_model(answers, fresh=fresh)
    if spread == IN_WHOLE_ITEMS:
        square = mean**2 + item + inner / n_wordings
        return replace(unchanged, item=lost * square - change**2, inner=(1 - lost) * unchanged.inner)
    within = lost * (1 - lost) * (mean**2 + item + inner)
    within += (1 + (1 - lost) ** 2) * inner if fresh else lost**2 * inner + unchanged.inner
    return replace(unchanged, item=lost**2 * item, inner=within)
