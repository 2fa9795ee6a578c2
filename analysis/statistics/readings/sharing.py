"""Estimate how much of a reading's wording variance other readings share, and how much belongs to it alone.

The measurement model: mu_A(w) = a_i + b_A T(w) + e_A(w) within item i, where T is what wording w does to the model's
answer, b_A how strongly reading A shows it, and e_A what A adds by itself. With V_A the variance of mu_A over wordings
and C_AB the covariance of two readings (`moments`, net of sampling):

- *Kept*: the least of C_AB / V_A over the other readings B, between 0 and 1: of the variance that A shows, every
  other reading moves along with at least this part. A reading that moves further can hide a part that is A's own; how
  much is surely the same, `common` tells. It says nothing of who is right.
- *Due to the reading*: var(e_A) / V_A = 1 - b_A^2 var(T) / V_A. Three readings whose own parts do not go together
  identify it (Spearman's triad): b_A^2 var(T) = C_AB C_AC / C_BC; of several pairs (B, C), sums of products by sums of
  covariances. Two readings give bounds only: from 0 to 1 - r^2, with r the correlation of mu_A and mu_B (`common`).

**Which readings may form a triad.** Two readings of the same texts may share errors: an odd text misleads all rules.
If the errors of B and C go together, C_BC is too large, and A seems to have errors of its own that it has not. So B and
C must read different responses (texts, probabilities, thoughts). A itself may share its texts with B: a common error
then counts as the model's, and what is due to the reading is too small, never too large.

**The test.** That A has own variance of more than `LEAST_OWN` of its variance: the statistic D = (1 - LEAST_OWN) V_A
sum C_BC - sum C_AB C_AC has no denominator, so its bootstrap over items is defined where that of the share is not.
`LEAST_OWN` is not 0, since texts at a low temperature bend the scale of probabilities: no error of reading, but own
variance of one or two per cent.

References
----------
Spearman, C. (1904). The proof and measurement of association between two things. American Journal of Psychology 15,
72-101 (correction for noise). Harman, H. H. (1976). Modern Factor Analysis, section 7.4 (triads).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from analysis.statistics.interval import Interval
from analysis.statistics.readings.common import estimate_largest_r2_of_reading_with_others
from analysis.statistics.readings.moments import ItemMoments
from analysis.statistics.resampling import (
    DRAWS,
    Array,
    Columns,
    bootstrap_intervals,
    compute_mean_per_draw,
    divide_one_drawn_sum_by_another,
    iterate_drawn_item_counts,
)
from analysis.statistics.significance import compute_smallest_bootstrap_p, compute_two_sided_bootstrap_p

LEAST_OWN = 0.05  # of a reading's variance: less of its own is no artefact, see above


@dataclass(frozen=True, slots=True)
class OwnShare:
    """Hold what is known of the share of a reading's wording variance that is due to the reading.

    Attributes
    ----------
    figure
        The estimate with its 95 % interval, of one unit; None where it is not identified.
    most
        Where it is not identified, the upper bound, 1 - the lower end of r^2; NaN where nothing is known.
    p, p_least
        That it is more than `LEAST_OWN`; NaN where it is not identified. p_least: the smallest possible one.
    """

    figure: Interval | None = None
    most: float = np.nan
    p: float = np.nan
    p_least: float = np.nan


def list_other_pairs_on_different_responses(reading: int, sources: Sequence[str]) -> list[tuple[int, int]]:
    """List the pairs of other readings that read different responses.

    Parameters
    ----------
    reading
        Place of the reading that is judged.
    sources
        Of every reading, what it reads: two of the same texts have the same one.

    Returns
    -------
    list of tuple of int

    >>> list_other_pairs_on_different_responses(0, ["texts", "texts", "probability"])
    [(1, 2)]
    >>> list_other_pairs_on_different_responses(2, ["texts", "texts", "probability"])
    []
    """
    places = [place for place in range(len(sources)) if place != reading]
    return [(b, c) for b in places for c in places if b < c and sources[b] != sources[c]]


def estimate_means_and_spreads_of_readings(
    moments: ItemMoments, *, draws: int = DRAWS, seed: int = 0
) -> dict[str, Interval]:
    """Estimate the figures of every reading with intervals over items.

    Parameters
    ----------
    moments
        Of one model.
    draws, seed
        As in `resampling.bootstrap_intervals`.

    Returns
    -------
    dict
        Of every reading: mean; flips (mean share of wordings on an item's smaller side); wording_variance, wording_sd
        (over wordings within items, net of sampling; below 0 counts as 0 in the SD); wording_share (of the variance
        over items and wordings); kept (see the module's docstring; NaN for one reading).

    Raises
    ------
    InputError
        As `resampling.bootstrap_intervals`.
    """
    has_wordings = moments.freedom > 0
    n_readings = len(moments.mean)
    columns = {
        "mean": moments.mean.T, "minority": moments.minority.T, "error": moments.mean_error.T,
        "variance": np.einsum("aai->ia", moments.cross), "freedom": np.repeat(moments.freedom[:, None], n_readings, 1),
        **{f"cross_{place}": np.stack([np.delete(moments.cross[reading], reading, 0)[place]
                                       for reading in range(n_readings)], axis=1) for place in range(n_readings - 1)},
    }  # fmt: skip
    columns = {name: np.where(has_wordings[:, None], column, np.nan) for name, column in columns.items()}
    return bootstrap_intervals(columns, _compute_means_and_spreads_per_draw, draws=draws, seed=seed)


def _compute_means_and_spreads_per_draw(columns: Columns, counts: Array) -> dict[str, Array]:
    """Compute the figures of `estimate_means_and_spreads_of_readings` in every draw."""
    freedom = counts @ columns["freedom"]
    variance = divide_one_drawn_sum_by_another(counts @ columns["variance"], freedom)
    mean, n = compute_mean_per_draw(counts, columns["mean"]), counts.sum(axis=1, keepdims=True)
    with np.errstate(divide="ignore", invalid="ignore"):
        between = (counts @ columns["mean"] ** 2 / n - mean**2) * n / (n - 1)
        between = np.maximum(between - compute_mean_per_draw(counts, columns["error"]), 0.0)
        least_zero = np.maximum(variance, 0.0)
        share = least_zero / (between + least_zero)
    figures = {
        "mean": mean, "flips": compute_mean_per_draw(counts, columns["minority"]), "wording_variance": variance,
        "wording_sd": np.sqrt(least_zero), "wording_share": share,
    }  # fmt: skip
    crosses = [counts @ column for name, column in columns.items() if name.startswith("cross_")]
    if crosses:
        variance = np.maximum(counts @ columns["variance"], 0.0)
        figures["kept"] = np.clip(divide_one_drawn_sum_by_another(np.min(crosses, axis=0), variance), 0.0, 1.0)
    return figures


def estimate_kappa_and_r_of_reading_pairs(
    moments: ItemMoments, pairs: Sequence[tuple[int, int]], *, draws: int = DRAWS, seed: int = 0
) -> dict[str, Interval]:
    """Estimate how two readings go together, with intervals over items.

    Parameters
    ----------
    moments
        Of one model.
    pairs
        Places of the readings.
    draws, seed
        As in `resampling.bootstrap_intervals`.

    Returns
    -------
    dict
        Of every pair: same_side: share of wordings that both put on one side of one half; kappa: Cohen's, of that;
        correlation: of both over wordings within items, net of sampling, between -1 and 1; common_sd: the root of their
        covariance, 0 where it is negative.

    Raises
    ------
    InputError
        As `resampling.bootstrap_intervals`.
    """
    a, b = np.array(pairs, int).reshape(-1, 2).T
    n = np.repeat(moments.n_wordings[:, None], len(a), 1)
    columns = {
        "n": n, "upper_a": moments.upper[a].T, "upper_b": moments.upper[b].T, "both": moments.same_upper[a, b].T,
        "cross": moments.cross[a, b].T, "square_a": moments.cross[a, a].T, "square_b": moments.cross[b, b].T,
        "freedom": np.repeat(moments.freedom[:, None], len(a), 1),
    }  # fmt: skip
    columns = {name: np.where(n > 1, column, np.nan) for name, column in columns.items()}
    return bootstrap_intervals(columns, _compute_kappa_and_r_in_each_draw, draws=draws, seed=seed)


def _compute_kappa_and_r_in_each_draw(columns: Columns, counts: Array) -> dict[str, Array]:
    """Compute the figures of `estimate_kappa_and_r_of_reading_pairs` in every draw."""
    sums = {name: counts @ column for name, column in columns.items()}
    share_a, share_b = (divide_one_drawn_sum_by_another(sums[f"upper_{side}"], sums["n"]) for side in "ab")
    same = divide_one_drawn_sum_by_another(sums["n"] - sums["upper_a"] - sums["upper_b"] + 2 * sums["both"], sums["n"])
    by_chance = share_a * share_b + (1 - share_a) * (1 - share_b)
    with np.errstate(invalid="ignore"):
        scale = np.sqrt(np.maximum(sums["square_a"], 0) * np.maximum(sums["square_b"], 0))
    return {
        "same_side": same, "kappa": divide_one_drawn_sum_by_another(same - by_chance, 1 - by_chance),
        "correlation": np.clip(divide_one_drawn_sum_by_another(sums["cross"], scale), -1.0, 1.0),
        "common_sd": np.sqrt(np.maximum(divide_one_drawn_sum_by_another(sums["cross"], sums["freedom"]), 0.0)),
    }  # fmt: skip


def estimate_own_variance_share_of_one_reading(
    moments: ItemMoments, reading: int, sources: Sequence[str], *, draws: int = DRAWS, seed: int = 0
) -> OwnShare:
    """Estimate the share of a reading's wording variance that is due to the reading: by triads, else its bounds.

    A triad needs its three covariances: one of unknown noise is left out, and takes nothing from the others.

    Parameters
    ----------
    moments
        Of one model.
    reading
        Place of the reading.
    sources
        As in `list_other_pairs_on_different_responses`.
    draws, seed
        As in `resampling.bootstrap_intervals`.

    Returns
    -------
    OwnShare
        Without a figure or a bound where the noise of the reading is unknown, or it does not vary.

    Raises
    ------
    InputError
        As `resampling.bootstrap_intervals`.
    """
    is_known = ~np.isnan(moments.cross.sum(axis=2))
    pairs = [
        (b, c)
        for b, c in list_other_pairs_on_different_responses(reading, sources)
        if is_known[[reading, reading, b], [b, c, c]].all()
    ]
    if not pairs or not is_known[reading, reading]:
        return build_own_share_bounded_by_largest_r2(moments, reading, sources, draws=draws, seed=seed)
    b, c = np.array(pairs).T
    columns = {"freedom": moments.freedom[:, None], "variance": moments.cross[reading, reading][:, None]}
    columns |= {f"first_{place}": moments.cross[reading, other][:, None] for place, other in enumerate(b)}
    columns |= {f"second_{place}": moments.cross[reading, other][:, None] for place, other in enumerate(c)}
    columns |= {f"apart_{place}": moments.cross[pair][:, None] for place, pair in enumerate(pairs)}
    columns = {name: np.where(moments.freedom[:, None] > 0, column, np.nan) for name, column in columns.items()}
    figure = bootstrap_intervals(columns, _compute_own_variance_share_per_draw, draws=draws, seed=seed)["own"]
    if np.isnan(figure.estimate[0]):  # another reading may still bound it
        return build_own_share_bounded_by_largest_r2(moments, reading, sources, draws=draws, seed=seed)
    return OwnShare(figure, np.nan, *compute_p_and_least_p_of_own_variance_share(columns, draws, seed))


def _compute_variance_and_triad_sums_per_draw(columns: Columns, counts: Array) -> tuple[Array, Array, Array]:
    """Return variance, sum of products and sum of covariances of the triads, in every draw."""
    freedom = counts @ columns["freedom"]
    means = {name: divide_one_drawn_sum_by_another(counts @ column, freedom) for name, column in columns.items()}
    places = range(sum(name.startswith("apart_") for name in columns))
    products = sum((means[f"first_{place}"] * means[f"second_{place}"] for place in places), np.zeros_like(freedom))
    return means["variance"], products, sum((means[f"apart_{place}"] for place in places), np.zeros_like(freedom))


def _compute_own_variance_share_per_draw(columns: Columns, counts: Array) -> dict[str, Array]:
    """Compute 1 - sum of products / (variance times sum of covariances), in every draw."""
    variance, products, apart = _compute_variance_and_triad_sums_per_draw(columns, counts)
    scale = np.where((variance > 0) & (apart > 0), variance * apart, 0.0)
    return {"own": 1 - divide_one_drawn_sum_by_another(products, scale)}


def compute_p_and_least_p_of_own_variance_share(columns: Columns, draws: int, seed: int) -> tuple[float, float]:
    """Test that a reading has more variance of its own than `LEAST_OWN` of its variance; return p and the least one.

    Only a larger share counts: p is 1 where the estimate is not above it, or the other readings do not go together.

    Parameters
    ----------
    columns
        Of the items, as made by `estimate_own_variance_share_of_one_reading`.
    draws, seed
        As there.

    Returns
    -------
    tuple of float
        NaN without draws.
    """
    has_wordings = ~np.isnan(columns["variance"][:, 0])
    columns = {name: column[has_wordings] for name, column in columns.items()}
    n_items = int(has_wordings.sum())
    if draws == 0 or n_items < 2:
        return np.nan, np.nan

    def compute_own_variance_excess_in_draws(counts: Array) -> tuple[Array, Array]:
        variance, products, apart = _compute_variance_and_triad_sums_per_draw(columns, counts)
        return (1 - LEAST_OWN) * variance * apart - products, apart

    excess, apart = map(
        np.concatenate,
        zip(*map(compute_own_variance_excess_in_draws, iterate_drawn_item_counts(n_items, draws, seed)), strict=True),
    )
    estimate, _ = compute_own_variance_excess_in_draws(np.ones((1, n_items)))
    least = float(compute_smallest_bootstrap_p(draws, n_items))
    p_values = [float(compute_two_sided_bootstrap_p(samples, n_items)[0]) for samples in (excess, apart)]
    return max(p_values) if estimate[0, 0] > 0 else 1.0, least


def build_own_share_bounded_by_largest_r2(
    moments: ItemMoments, reading: int, sources: Sequence[str], *, draws: int = DRAWS, seed: int = 0
) -> OwnShare:
    """Bound the share that is due to a reading by its highest correlation r with another one: from 0 to 1 - r^2.

    Another reading of the same texts gives no bound: what both misread alike makes r too high. The lower end of r^2 is
    taken: of a reading beside one without errors, 1 - r^2 itself is as often below the share as above it. There, the
    bound is below the share in 3 % of simulated studies of 100 items, 7 % of 40 and 10 % of 12: r^2 is skewed, and the
    largest of several. Bonferroni's correction for their number halves that at most; Fisher's z makes bounds of 12
    items .8 to .9 where .43 is true.

    Parameters
    ----------
    moments
        Of one model.
    reading
        Place of the reading.
    sources
        As in `list_other_pairs_on_different_responses`.
    draws, seed
        As in `resampling.bootstrap_intervals`.

    Returns
    -------
    OwnShare
        Without an estimate or a p value; without a bound where r^2 has no interval.

    Raises
    ------
    InputError
        As `resampling.bootstrap_intervals`.
    """
    common = estimate_largest_r2_of_reading_with_others(moments, reading, sources, draws=draws, seed=seed)
    return OwnShare(most=float(1 - common.lower[0]))
