"""Turn the 95 % interval of a number into one-sided p values against a limit, for what a table shows and no more.

Three kinds of intervals are told apart by their ends.

- *Shares of items.* Both ends are Wilson's for one number n of answers, which then is known: the effective number of
  items (`analysis.statistics.shares`). p is that of the exact binomial test with so many, which need not be a whole
  number; where n was estimated, it is lowered by the square of the normal quantile over that of t (Korn and Graubard).
  Wilson's own tails would not do: near 0 and 1, one of them leaves out the truth in up to .16 of studies.
- *Numbers with a range*, such as means of agreement: t, and an item more that is as far out as can be. With s the
  standard error that the end on this side tells, p of the claim "at most m" is the probability that the number less s T
  is at most m + (m - a) E / n, with a the least number that there can be, T of t, n the items, and E exponential. It is
  Gaffke's test (`analysis.statistics.bounded_mean`) of values that are near normal. Without that item, t would believe
  that what is rare does not exist: where 1 % of answers are invalid, and the limit is their true share, 30 items would
  "hold" in .73 of studies.
- *Others*: t, on the scale on which the interval is symmetric (as it is, or its inverse hyperbolic tangent, as of
  correlations, or its logarithm), else with the standard error of the end on this side.

References
----------
Korn, E. L. and Graubard, B. I. (1998). Confidence intervals for proportions with small expected number of positive
counts estimated from survey data. Survey Methodology 24, 193-201.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from statistics import NormalDist
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from analysis.check.limits.claims import find_largest_refuted_claim
from analysis.check.outcomes import LEVEL
from analysis.statistics.significance import ROUNDING

SHARE, T_AND_ONE, T = "exact binomial", "interval of the table and one item more", "interval of the table"
SHARES = (0.0, 1.0)
_NORMAL = NormalDist().inv_cdf(1 - LEVEL)
_MANY = 1e9  # degrees of freedom, where their number is not known
_ALIKE = 1e-5  # of two numbers of answers, or two halves of an interval: they are the same up to rounding
FARTHEST = np.linspace(0, 40, 801)  # of the exponential number, whose density is 1e-17 at the end
Scale: TypeAlias = Callable[[npt.NDArray[np.float64]], npt.NDArray[np.float64]]


@dataclass(frozen=True, slots=True)
class Tails:
    """Hold what a number says of a limit.

    Attributes
    ----------
    p_at_most, p_at_least
        One-sided p values of the claims that the true number is at most, and at least, the limit; NaN: no test.
    lower, upper
        The 95 % interval that agrees with them: outside of it, one of them is below `LEVEL`.
    test
        In words.
    """

    p_at_most: float
    p_at_least: float
    lower: float
    upper: float
    test: str


def compute_tails_of_interval(
    estimate: float, ends: tuple[float, float], limit: float, n_items: float = np.nan, n_drawn: float = np.nan,
    bounds: tuple[float, float] | None = None,
) -> Tails:  # fmt: skip
    """Test a number against a limit by its 95 % interval.

    Parameters
    ----------
    estimate, ends
        The number, and the ends of its interval; NaN: none.
    limit
        In the same unit.
    n_items
        How many items the number is of; NaN: not known.
    n_drawn
        How many wordings that items share, models or templates the width of the interval rests on, beside the items;
        NaN: it rests on items alone.
    bounds
        The least and the largest number that a single item can have; None: there are none, or they are not known.

    Returns
    -------
    Tails
        NaN in all but `test` where there is no interval.
    """
    if not np.isfinite([estimate, *ends]).all():
        return Tails(np.nan, np.nan, np.nan, np.nan, T)
    fewest = float(np.fmin(n_items, n_drawn))
    if (
        bounds == SHARES
        and not fewest < n_items
        and np.isfinite(n_answers := recover_n_from_wilson_interval(estimate, ends))
    ):
        return _compute_tails_of_share_of_items(estimate, n_answers, n_items, limit)
    freedom = max(fewest - 1, 1.0) if np.isfinite(fewest) else _MANY
    scale = _choose_scale_of_symmetric_interval(estimate, ends)
    if bounds and np.isfinite(n_items) and scale is not np.arctanh:
        low, width = bounds[0], bounds[1] - bounds[0]
        tails = compute_tails_of_t_with_extra_item(
            (estimate - low) / width, ((ends[0] - low) / width, (ends[1] - low) / width), (limit - low) / width,
            fewest, freedom,
        )  # fmt: skip
        return replace(tails, lower=low + width * tails.lower, upper=low + width * tails.upper)
    return _compute_t_tails_on_symmetric_scale(estimate, ends, limit, freedom, scale)


def _compute_tails_of_share_of_items(share: float, n_answers: float, n_items: float, limit: float) -> Tails:
    """Test a share by as many answers as its interval is of; of an estimated number, allow for its error."""
    if abs(n_answers / n_items - 1) <= _ALIKE:
        return compute_tails_of_share(share, n_items, limit)
    freedom = max(n_items - 1, 1.0) if np.isfinite(n_items) else _MANY
    n_answers *= (_NORMAL / _compute_t_quantile_of_interval(freedom)) ** 2
    return replace(
        compute_tails_of_share(share, n_answers, limit), test=f"{SHARE} of {n_answers:.0f} effective answers"
    )


def recover_n_from_wilson_interval(estimate: float, ends: tuple[float, float]) -> float:
    """Find the number of answers that an interval of a share is Wilson's of, for the normal quantile of 95 %.

    Parameters
    ----------
    estimate, ends
        The share, and the ends of its interval.

    Returns
    -------
    float
        NaN where it is not Wilson's. Of an interval with a larger quantile than the normal one, such as that of t, it
        is less than the number of answers.

    >>> from statsmodels.stats.proportion import proportion_confint
    >>> round(recover_n_from_wilson_interval(0.1, proportion_confint(6.2, 62, method="wilson")), 6)
    62.0
    """
    if not (0 <= ends[0] <= estimate <= ends[1] <= 1 and ends[0] < ends[1]):
        return np.nan
    numbers = [_NORMAL**2 * end * (1 - end) / (estimate - end) ** 2 for end in ends if abs(estimate - end) > ROUNDING]
    if len(numbers) == 1 and estimate in (0, 1):
        return float(numbers[0]) if numbers[0] > 0 else np.nan
    is_wilson = len(numbers) == 2 and min(numbers) > 0 and abs(numbers[0] / numbers[1] - 1) < _ALIKE
    return float(numbers[0]) if is_wilson else np.nan


def compute_tails_of_share(share: float, n_answers: float, limit: float) -> Tails:
    """Test a share against a limit by the exact binomial test.

    Parameters
    ----------
    share
        Of the answers that are "yes"; what lies outside 0 to 1, as an unbiased estimate can, counts as the nearer end.
    n_answers
        How many there are; of an effective number of answers, no whole one.
    limit
        Another share.

    Returns
    -------
    Tails
        With the interval of Clopper and Pearson.
    """
    from scipy.special import betainc, betaincc, betaincinv

    share = min(max(share, 0.0), 1.0)
    yes, no = n_answers * share, n_answers * (1 - share)
    inside = min(max(limit, 0.0), 1.0)
    return Tails(
        float(betainc(yes, no + 1, inside)) if yes > ROUNDING else 1.0,
        float(betaincc(yes + 1, no, inside)) if no > ROUNDING else 1.0,
        float(betaincinv(yes, no + 1, LEVEL)) if yes > ROUNDING else 0.0,
        float(betaincinv(yes + 1, no, 1 - LEVEL)) if no > ROUNDING else 1.0,
        SHARE,
    )


def _compute_t_tails_on_symmetric_scale(
    estimate: float, ends: tuple[float, float], limit: float, freedom: float, scale: Scale
) -> Tails:
    """Test by t, on the scale on which the interval is symmetric."""
    with np.errstate(divide="ignore", invalid="ignore"):
        middle, lower, upper, place = (float(scale(np.asarray(value))) for value in (estimate, *ends, limit))
    if np.isnan(place):  # the limit is beyond what the number can be
        place = np.copysign(np.inf, limit - estimate)
    if not lower <= middle <= upper:  # the interval is about another value, as the one that a jackknife corrects
        middle = (lower + upper) / 2
    quantile = _compute_t_quantile_of_interval(freedom)
    above, below = ((end - middle) / quantile for end in (upper, lower))
    return Tails(
        _compute_t_tail(place - middle, -below, freedom), _compute_t_tail(middle - place, above, freedom), *ends, T
    )


def _compute_t_tail(distance: float, error: float, freedom: float) -> float:
    """Return the probability that t times a standard error is at most a distance."""
    from scipy.special import stdtr

    if not error > 0:
        return float(distance >= 0)
    return float(stdtr(freedom, distance / error))


def _choose_scale_of_symmetric_interval(estimate: float, ends: tuple[float, float]) -> Scale:
    """Choose the scale on which both halves of an interval are alike; as it is, where there is none."""
    values = np.array([ends[0], estimate, ends[1]])
    for scale, is_possible in (
        (np.positive, True), (np.arctanh, bool((abs(values) < 1).all())), (np.log, bool((values > 0).all()))
    ):  # fmt: skip
        if is_possible:
            below, above = np.diff(scale(values))
            if above > 0 and abs(below / above - 1) < _ALIKE:
                return scale
    return np.positive


def compute_tails_of_t_with_extra_item(
    estimate: float, ends: tuple[float, float], limit: float, n_items: float, freedom: float
) -> Tails:
    """Test a number between 0 and 1 by t, with an item more that is 0 or 1, whichever speaks for the claim.

    Parameters
    ----------
    estimate, ends, limit, n_items
        As of `compute_tails_of_interval`; all are numbers.
    freedom
        Degrees of freedom of the interval.

    Returns
    -------
    Tails
        Its interval is longer than the given one.
    """
    middle = estimate if ends[0] <= estimate <= ends[1] else sum(ends) / 2
    errors = [abs(end - middle) / _compute_t_quantile_of_interval(freedom) for end in ends]

    def compute_p_at_most(number: float, error: float, claim: float) -> float:
        """Return p of the claim that the number is at most this; mirrored, of the other one."""
        return compute_p_of_t_and_exponential(claim - number, error, max(claim, 0.0), n_items, freedom)

    def find_just_refuted_claim(number: float, error: float) -> float:
        """Return the claim that is refuted just so."""
        return find_largest_refuted_claim(lambda claim: compute_p_at_most(number, error, claim), number)

    return Tails(
        compute_p_at_most(middle, errors[0], limit), compute_p_at_most(1 - middle, errors[1], 1 - limit),
        find_just_refuted_claim(middle, errors[0]), 1 - find_just_refuted_claim(1 - middle, errors[1]), T_AND_ONE,
    )  # fmt: skip


def compute_p_of_t_and_exponential(
    distance: float, error: float, claim: float, n_items: float, freedom: float
) -> float:  # fmt: skip
    """Return the probability that error T is at most distance + claim / n E, with T of t and E exponential.

    E stands for one item more, which is 0. Far from the claim, the sum falls below the chance that none of n items is
    the one that is 0, (claim / number)^n, if the others are all alike: p is never less than this chance.

    Parameters
    ----------
    distance
        From the number to the claim, in its unit: below 0 where the number speaks against the claim.
    error
        Standard error.
    claim
        That the number is at most this, from 0 on.
    n_items
        Number of items.
    freedom
        Degrees of freedom of T.

    Returns
    -------
    float
        The one-sided p of the claim.
    """
    from scipy.special import stdtr

    least = 1.0 if distance >= 0 else float((claim / (claim - distance)) ** n_items)
    if not error > 0:
        return least
    if not claim > 0:
        return float(stdtr(freedom, distance / error))
    tails = stdtr(freedom, (distance + claim / n_items * FARTHEST) / error) * np.exp(-FARTHEST)
    p = min(float(np.trapezoid(tails, FARTHEST)), 1.0)
    return p if distance >= 0 else max(p, least)


def _compute_t_quantile_of_interval(freedom: float) -> float:
    """Return the quantile of t that a 95 % interval has."""
    from scipy.special import stdtrit

    return float(stdtrit(freedom, 1 - LEVEL))
