"""Tell whether a difference would stand in another study: with other items, other wordings, or both.

A study estimates a difference d with variance V. Another one of the same size, with as many items and wordings, drawn
from those like these, estimates it with the same variance. Where nothing is known of such differences beforehand, its
result lies around d with variance 2 V. Among several models it is known how far true differences are from 0: with
variance T over pairs, d is too large on average, and the result lies around r d with variance (1 + r) V, where r is
T / (T + V). The probability of the same sign is that a t variable with this mean and variance does not cross 0.

V of one pair rests on few degrees of freedom where wordings are few. A pair whose V is too small by chance would seem
sure to keep its order, and of many pairs some always are. So V is drawn towards the mean over all models: an average,
weighted by its degrees of freedom f and by those that the mean counts, f0. These are the fewer, the more models differ
in their own V beyond chance: 1 / f0 = h / 2 + 1 / ((M - 1) f), with h the squared coefficient of variation that is left
(Smyth), and M models.

References
----------
Killeen, P. R. (2005). An alternative to null-hypothesis significance tests. Psychological Science 16, 345-353 (the
probability of replication, from 2 V).
Efron, B. and Morris, C. (1973). Stein's estimation rule and its competitors. JASA 68, 117-130 (r).
Smyth, G. K. (2004). Linear models and empirical Bayes methods for assessing differential expression. Statistical
Applications in Genetics and Molecular Biology 3, 3 (f0).
Schuirmann, D. J. (1987). A comparison of the two one-sided tests procedure and the power approach. Journal of
Pharmacokinetics and Biopharmaceutics 15, 657-680.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from analysis.statistics.reliability.components import Array, estimate_model_variance_components
from analysis.statistics.reliability.panel import (
    Anew,
    Panel,
    Parts,
    compute_p_norm_of_squared_limits,
    compute_squared_half_widths_and_freedom,
    estimate_panel_mean,
)
from analysis.statistics.significance import ROUNDING

PLACES = 9
_LEAST = 1e-300  # a variance of 0 that can be divided by
_STEPS, _PARTS = 15, 8  # of a search for p in so many equal parts, as fine as 45 bisections: more would change no digit


def compute_p_of_panel_mean_against_value(panel: Panel, anew: Anew, tested_value: float = 0.0) -> float:
    """Test the mean of a panel against a value: the least p at which `Panel.compute_interval` excludes it.

    Parameters
    ----------
    panel
        Of a difference, or of answers without bounds.
    anew
        What another study draws anew.
    tested_value
        In the unit of the answers.

    Returns
    -------
    float
        1 where mean and value are equal, NaN where the variance is unknown or 0. Where too few items differ for an
        interval (`Panel.few`), at least the p if all that differ from the value did so in one direction.

    Raises
    ------
    ValueError
        For a share or a bounded mean: their intervals are Wilson's, of which this is not the test.
    """
    if panel.share == panel.share or panel.bounded:
        raise ValueError("the mean is a share or bounded: t is not the test of its interval")
    p = _compute_p_of_distance_from_mean(tested_value - panel.mean, panel, anew)
    if not panel.few or anew == "wordings":
        return p
    return max(p, min(2.0 ** (1 - int((np.abs(panel.means - tested_value) > ROUNDING).sum())), 1.0))


@dataclass(frozen=True, slots=True)
class PairPrior:
    """Hold what several models tell about the difference of any two of them.

    Attributes
    ----------
    true
        Variances of true differences that are equally likely, T in the module's docstring: places of the generalized
        distribution (`ranges`) of the variance of the models' means, which few models do not tell well.
    error
        Mean variance of the error of a difference.
    freedom
        Degrees of freedom that it counts, f0 in the module's docstring.
    """

    true: Array
    error: float
    freedom: float


def estimate_pair_difference_prior(values: Array, crossed: bool, anew: Anew) -> PairPrior | None:
    """Learn from all models how far true differences are from 0 and how large errors are.

    With the same items, what models make of these is a part of their true difference; so with wordings.

    Parameters
    ----------
    values
        Answers (models, items, wordings), NaN where there is none; compared are the cells that all models have.
    crossed
        Whether all items share the wordings.
    anew
        What another study draws anew.

    Returns
    -------
    PairPrior or None
        None for fewer than three models, one wording of each item, or where nothing is known.
    """
    from scipy.special import chdtri

    components = estimate_model_variance_components(values, crossed)
    if components is None or np.isnan(components.wording) or components.n_models < 3 or not components.spread > 0:
        return None
    lasting_variance = {
        "wordings": components.model_item / components.n_items,
        "items": 0.0
        if np.isnan(components.model_wording)
        else components.model_wording / components.incidence.n_shared,
        "both": 0.0,
    }
    freedom = components.n_models - 1
    # Equally likely spreads: with 9 places, chi-square has its quantiles at 1/18, 3/18 ... 17/18.
    likely_spreads = components.spread * freedom / chdtri(freedom, (np.arange(PLACES) + 0.5) / PLACES)
    true = 2 * np.maximum(
        likely_spreads - (components.spread - components.model) + max(lasting_variance[anew], 0.0), 0.0
    )
    panels = [estimate_panel_mean(of_model, crossed) for of_model in values - values.mean(axis=0)]
    variances, freedoms = np.array([_sum_variance_parts(of_model.parts[anew]) for of_model in panels]).T
    return build_pair_prior_from_errors(true, variances, freedoms)


def build_pair_prior_from_errors(true_variances: Array, variances: Array, freedoms: Array) -> PairPrior:
    """Learn from the errors of all models how large the error of a difference of two is.

    Parameters
    ----------
    true_variances
        As `true` of `PairPrior`.
    variances, freedoms
        Of every model's error, less the mean over models, and their degrees of freedom: (models,).

    Returns
    -------
    PairPrior
        Error and freedom are 0 where no model has an error, or none is known.
    """
    mean, free, freedom = float(variances.mean()), float(freedoms.mean()), len(variances) - 1
    if not mean > 0:
        return PairPrior(true_variances, 0.0, 0.0)
    excess_variation = max(float(variances.var(ddof=1)) / mean**2 - 2 / free, 0.0)
    return PairPrior(
        true_variances, 2 * mean * len(variances) / freedom, 1 / (excess_variation / 2 + 1 / (freedom * free))
    )


def compute_panel_same_sign_probability(panel: Panel, anew: Anew, prior: PairPrior | None = None) -> float:
    """Return the probability that another study of this size finds a difference of the same sign.

    Parameters
    ----------
    panel
        Of the difference.
    anew
        What another study draws anew.
    prior
        From `estimate_pair_difference_prior`, where the difference is one of several models; else nothing is known
        beforehand.

    Returns
    -------
    float
        NaN where there is no difference, or its variance is unknown; 1 where the variance is 0.
    """
    return float(
        compute_same_sign_probabilities(np.asarray(panel.mean), *_sum_variance_parts(panel.parts[anew]), prior)
    )


def compute_same_sign_probabilities(
    differences: Array,
    variances: Array,
    freedoms: Array,
    prior: PairPrior | None = None,
    wording_freedom: float = np.inf,
) -> Array:
    """Compute as `compute_panel_same_sign_probability`, for differences of any shape.

    Parameters
    ----------
    differences, variances, freedoms
        Of one shape; the variances are those of the errors of the differences, with their degrees of freedom.
    prior
        As in `compute_panel_same_sign_probability`.
    wording_freedom
        Degrees of freedom w with which these wordings tell, of all models, how far others move them apart. Infinite
        where wordings do not differ in that. With f of its own, the sum V + V' of the variances here and there has the
        relative variance 2 / f + (2 / w + 2 / w) / 4, so that it counts 1 / (1 / f + 1 / (2 w)). Without `prior`, it
        is not used.

    Returns
    -------
    array
        Of the same shape; NaN where there is no difference, or its variance is unknown; 1 where the variance is 0.
    """
    from scipy.special import stdtr

    true = np.array([np.inf])
    if prior is not None:
        true, has_freedom = prior.true, freedoms > 0
        total_freedom = freedoms + prior.freedom
        with np.errstate(invalid="ignore"):
            pooled = (freedoms * variances + prior.freedom * prior.error) / total_freedom
        variances = np.where(has_freedom, pooled, variances)
        freedoms = 1 / (1 / np.where(has_freedom, total_freedom, freedoms) + 0.5 / wording_freedom)
    true = true.reshape(-1, *(1,) * differences.ndim)
    sure = variances <= ROUNDING**2
    safe = np.where(sure, 1.0, variances)
    shrunk = 1 / (1 + safe / np.maximum(true, _LEAST))
    foreseen = stdtr(freedoms, np.abs(differences) * shrunk / np.sqrt((1 + shrunk) * safe)).mean(axis=0)
    return np.where(np.abs(differences) > ROUNDING, np.where(sure, 1.0, foreseen), np.nan)


def sum_variances_and_freedom(variances: Array, freedoms: Array) -> tuple[Array, Array]:
    """Return the sums of variances, and their degrees of freedom by Satterthwaite's approximation.

    Parameters
    ----------
    variances, freedoms
        (..., parts).

    Returns
    -------
    tuple of two arrays (...)
        The freedom is that of the part with the fewest where the sum is 0 or unknown.
    """
    totals = variances.sum(axis=-1)
    with np.errstate(invalid="ignore", divide="ignore"):
        pooled = totals**2 / (variances**2 / freedoms).sum(axis=-1)
    return totals, np.where(totals > 0, pooled, freedoms.min(axis=-1))


def _sum_variance_parts(variance_parts: Parts) -> tuple[Array, Array]:
    """Return the sum of the variances of a panel, and its degrees of freedom."""
    return sum_variances_and_freedom(*np.array(variance_parts).T)


def compute_equivalence_p_of_panel_mean(panel: Panel, anew: Anew, margin: float) -> float:
    """Test by two one-sided tests that a difference lies within a margin on both sides of 0.

    Parameters
    ----------
    panel
        Of the difference.
    anew
        What another study draws anew.
    margin
        In the unit of the answers, from 0 on.

    Returns
    -------
    float
        The larger p. Without any difference and with variance 0, as between the same answers, it is certain that the
        difference is within any margin above 0: p is 0. NaN where the variance is unknown, or 0 beside a difference, or
        where too few items differ for an interval (`Panel.few`): a margin holds what an interval holds.
    """
    if abs(panel.mean) <= min(ROUNDING, margin) and _sum_variance_parts(panel.parts[anew])[0] <= ROUNDING**2:
        return 0.0
    if panel.few and anew != "wordings":
        return np.nan
    side = float(np.copysign(margin, panel.mean))
    p = _compute_p_of_distance_from_mean(side - panel.mean, panel, anew) / 2
    if abs(panel.mean) >= margin:
        return 1 - p
    # By skewed items, the farther side can be the one that is not excluded.
    return max(p, _compute_p_of_distance_from_mean(-side - panel.mean, panel, anew) / 2) if panel.skewness else p


def _compute_p_of_distance_from_mean(distance_from_mean: float, panel: Panel, anew: Anew) -> float:
    """Return the least p whose interval stays within a distance, above 0 for values above the mean."""
    skewness = 0.0 if anew == "wordings" else -panel.skewness if distance_from_mean > 0 else panel.skewness
    p = find_p_that_excludes_a_distance(abs(distance_from_mean), panel.parts[anew], skewness)
    # For wordings like these, an interval is never shorter than for these wordings.
    if anew == "both":
        p = max(p, find_p_that_excludes_a_distance(abs(distance_from_mean), panel.parts["items"], skewness))
    return p


def find_p_that_excludes_a_distance(distance: float, variance_parts: Parts, skewness: float = 0.0) -> float:
    """Find the least p at which an interval of these variance parts does not reach as far as a distance.

    Parameters
    ----------
    distance
        From the mean, from 0 on.
    variance_parts, skewness
        As in `panel.compute_squared_half_widths_and_freedom`.

    Returns
    -------
    float
        Two-sided; 1 without a distance, NaN where the variance is unknown, infinite or 0.
    """
    from scipy.special import stdtr

    variances, free = np.array(variance_parts).T
    if not (0 <= variances.sum() < np.inf and (free > 0).all()):
        return np.nan
    if distance <= ROUNDING:
        return 1.0
    if variances.sum() <= ROUNDING**2:
        return np.nan
    if len(free) == 1 and not skewness:
        return float(2 * stdtr(free[0], -distance / np.sqrt(variances[0])))
    low, width = 0.0, 1.0  # the p value lies between low and low + width
    for _ in range(_STEPS):
        width /= _PARTS
        levels = 1 - (low + width * np.arange(1, _PARTS))[:, None]
        squared_limits = compute_p_norm_of_squared_limits(
            *compute_squared_half_widths_and_freedom(variance_parts, levels, skewness)
        )
        low += width * int((squared_limits > distance * distance).sum())
    return low + width
