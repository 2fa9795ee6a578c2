"""Tell whether a difference, or a ranking, would stand in another study: with other items, other wordings, or both.

A study estimates a difference d with variance V. Another one of the same size, with as many items and wordings, drawn
from those like these, estimates it with the same variance. Where nothing is known of such differences beforehand, its
result lies around d with variance 2 V. Among several models it is known how far true differences are from 0: with
variance T over pairs, d is too large on average, and the result lies around r d with variance (1 + r) V, where r is
T / (T + V). The probability of the same sign is that a t variable with this mean and variance does not cross 0.

References
----------
Killeen, P. R. (2005). An alternative to null-hypothesis significance tests. Psychological Science 16, 345-353 (the
probability of replication, from 2 V).
Efron, B. and Morris, C. (1973). Stein's estimation rule and its competitors. JASA 68, 117-130 (r).
Schuirmann, D. J. (1987). A comparison of the two one-sided tests procedure and the power approach. Journal of
Pharmacokinetics and Biopharmaceutics 15, 657-680.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from analysis.statistics.reliability.components import Across, Array, across, shared_by_wordings
from analysis.statistics.reliability.panel import Anew, Panel
from analysis.statistics.resampling import LEVEL
from analysis.statistics.significance import ROUNDING

DRAWS = 10_000
PLACES = 9
_LEAST = 1e-300  # a variance of 0 that can be divided by
_CHUNK = 2_000_000  # pairs of models in draws that are held at a time: 2 MB
_STEPS = 45  # of a bisection: more would change no digit


def p_value(panel: Panel, anew: Anew, value: float = 0.0) -> float:
    """Test the mean of a panel against a value: the least p at which the interval (`Panel.interval`) excludes it.

    Of a difference, by t intervals also where both sides are shares. Returns 1 where mean and value are equal, NaN
    where the variance is unknown or 0.
    """
    return _two_sided(abs(panel.mean - value), panel, anew)


def same_sign(panel: Panel, anew: Anew, true: npt.ArrayLike = np.inf) -> float:
    """Return the probability that another study of this size finds a difference of the same sign.

    Parameters
    ----------
    true
        Variance of true differences, T in the module's docstring; infinite where it is not known. Of several values,
        which are as likely (`true_differences`), the mean probability is returned.

    Returns
    -------
    float
        NaN where there is no difference, or its variance is unknown; 1 where the variance is 0.
    """
    if not abs(panel.mean) > ROUNDING:
        return np.nan
    variance = sum(each for each, _ in panel.parts[anew])
    if variance <= ROUNDING**2:
        return 1.0
    shrunk = 1 / (1 + variance / np.maximum(np.atleast_1d(np.asarray(true, float)), _LEAST))
    return 1 - float(_all_two_sided(abs(panel.mean) * shrunk / np.sqrt(1 + shrunk), panel, anew).mean()) / 2


def true_differences(found: Across | None, anew: Anew) -> Array:
    """Return the variance of true differences between models, at `PLACES` of its generalized distribution.

    With the same items, what models make of these is a part of their true difference; so with wordings. From few models
    the variance is not known well: its mean square S over models is drawn as S f / X (`ranges`), with X at equally
    likely places of its chi-square distribution. Infinite for fewer than three models, or where nothing is known.
    """
    from scipy.special import chdtri

    if found is None or found.n_models < 3 or not found.spread > 0:
        return np.array([np.inf])
    kept = {
        "wordings": found.model_item / found.n_items,
        "items": 0.0 if np.isnan(found.model_wording) else found.model_wording / found.n_wordings,
        "both": 0.0,
    }
    free = found.n_models - 1
    drawn = found.spread * free / chdtri(free, (np.arange(PLACES) + 0.5) / PLACES)
    return np.asarray(2 * np.maximum(drawn - (found.spread - found.model) + max(kept[anew], 0.0), 0.0))


def equivalence(panel: Panel, anew: Anew, margin: float) -> float:
    """Test by two one-sided tests that a difference lies within a margin on both sides of 0; return the larger p."""
    if abs(panel.mean) < margin:
        return _two_sided(margin - abs(panel.mean), panel, anew) / 2
    return 1 - _two_sided(abs(panel.mean) - margin, panel, anew) / 2


def _two_sided(distance: float, panel: Panel, anew: Anew) -> float:
    return float(_all_two_sided(np.array([distance]), panel, anew)[0])


def _all_two_sided(distances: Array, panel: Panel, anew: Anew) -> Array:
    """Return the least p at which the half of an interval is shorter than each distance."""
    from scipy.special import stdtr, stdtrit

    variances, free = np.array(panel.parts[anew]).T
    if not (variances.sum() >= 0 and (free > 0).all()):
        return np.full(len(distances), np.nan)
    if variances.sum() <= ROUNDING**2:
        return np.where(distances <= ROUNDING, 1.0, np.nan)
    if len(free) == 1:
        found = 2 * stdtr(free[0], -distances / np.sqrt(variances[0]))
        return np.where(distances <= ROUNDING, 1.0, found)
    low, high = np.zeros(len(distances)), np.ones(len(distances))  # the p values lie between them
    for _ in range(_STEPS):
        p = (low + high) / 2
        inside = (stdtrit(free[:, None], 1 - p / 2) ** 2 * variances[:, None]).sum(axis=0) > distances**2
        low, high = np.where(inside, p, low), np.where(inside, high, p)
    return np.where(distances <= ROUNDING, 1.0, high)


@dataclass(frozen=True, slots=True)
class Ranking:
    """Hold how several models rank by their means, the highest first.

    Attributes
    ----------
    mean, rank
        (models,); ranks from 1; equal means share the mean of their ranks.
    lower, upper
        Ends of the interval that holds a model's rank in 95 % of other studies.
    first
        Probability to be first in another study.
    tau
        Expected Kendall tau of this ranking with that of another study.
    kept
        Probability of every pair to have the same order in another study: (models, models); NaN for equal means.
    n_items, n_wordings
        Those that all models answered. Wordings as in `panel.Panel`.
    """

    mean: Array
    rank: Array
    lower: Array
    upper: Array
    first: Array
    tau: float
    kept: Array
    n_items: int
    n_wordings: float


def ranking(values: Array, crossed: bool, *, seed: int = 0, level: float = LEVEL) -> Ranking | None:
    """Rank models by their answers (models, items, wordings) to what all of them answered.

    The means of another study are drawn around these: jointly, with the covariances over items and, where crossed, over
    wordings, each with a t distribution. For tau, which all models make together, its degrees of freedom are those of
    all models but one. With three models or more, r of the module's docstring is the relative
    coefficient of generalizability; with two it is 1. Returns None for fewer than two models or items.
    """
    known: npt.NDArray[np.bool_] = np.all(~np.isnan(values), axis=0)
    rows, columns = known.any(axis=1), known.any(axis=0)
    if len(values) < 2 or rows.sum() < 2:
        return None
    values, known = values[:, rows][:, :, columns], known[rows][:, columns]
    n_items, per_item = int(rows.sum()), known.sum(axis=1)
    filled = np.where(known, values, 0.0)
    of_items = filled.sum(axis=2) / per_item
    mean = of_items.mean(axis=1)
    shrunk = _shrunk(values, crossed, known)
    n_wordings = n_items / float((1 / per_item).sum())
    moved = [(np.cov(of_items) / n_items, n_items - 1.0)]
    if crossed:
        n_wordings = float(known.shape[1])
        if n_wordings < 2:
            return None
        seen = float(((known / per_item[:, None]).mean(axis=0) ** 2).sum())
        together = np.nan_to_num(shared_by_wordings(np.where(known, values, np.nan)))
        moved.append((together * seen, n_wordings - 1))
    return stand(mean, moved, shrunk, n_items, n_wordings, seed=seed, level=level)


def stand(
    mean: Array, moved: Sequence[tuple[Array, float]], shrunk: float, n_items: int, n_wordings: float, *,
    seed: int = 0, level: float = LEVEL,
) -> Ranking:  # fmt: skip
    """Rank models by their means, and tell how the ranking would stand in another study (`ranking`).

    Parameters
    ----------
    mean
        Of every model.
    moved
        What moves the means in another study: covariances (models, models) with their degrees of freedom.
    shrunk
        Share of the variance of the means that is true, r of the module's docstring.
    n_items, n_wordings
        As in `Ranking`.
    """
    near = mean.mean() + shrunk * (mean - mean.mean())
    scale, others = np.sqrt(1 + shrunk), len(mean) - 1
    drawn, pooled = near, near
    for number, (covariance, free) in enumerate(moved):
        drawn = drawn + scale * _moved(covariance, free, [seed, number])
        pooled = pooled + scale * _moved(covariance, free * others, [seed, number])
    (ranks, above), ours = _placed(drawn), np.sign(mean[:, None] - mean)
    low, high = np.quantile(ranks, [(1 - level) / 2, (1 + level) / 2], axis=0, method="nearest")
    upper = np.triu_indices(len(mean), 1)
    told = ours[upper] != 0
    tau = float((ours * _placed(pooled)[1])[upper][told].mean()) if told.any() else np.nan
    kept = np.where(ours != 0, (1 + ours * above) / 2, np.nan)
    return Ranking(
        mean, _placed(mean[None])[0][0], low, high, (ranks == 1).mean(axis=0), tau, kept, n_items, n_wordings
    )


def _placed(drawn: Array) -> tuple[Array, Array]:
    """Rank the means of every draw (draws, models), and tell how often each model is above each other one.

    Returns
    -------
    ranks
        (draws, models): the highest first; equal means share the mean of their ranks.
    above
        (models, models): share of the draws in which it is above, less that in which it is below, -1 to 1.
    """
    number, ranks = drawn.shape[1], []
    above: npt.NDArray[np.int64] = np.zeros((number, number), np.int64)
    for part in _higher(drawn):
        more, fewer = (np.count_nonzero(part, axis=axis) for axis in (2, 1))
        ranks.append((number + 1 + fewer - more) / 2)
        above += np.count_nonzero(part, axis=0)
    return np.concatenate(ranks), (above - above.T) / len(drawn)


def _higher(drawn: Array) -> Iterator[npt.NDArray[np.bool_]]:
    """Yield which models are above which (draws, models, models), some draws at a time."""
    step = max(1, _CHUNK // drawn.shape[1] ** 2)
    for start in range(0, len(drawn), step):
        part = drawn[start : start + step]
        yield part[:, :, None] > part[:, None, :]


def _shrunk(values: Array, crossed: bool, known: npt.NDArray[np.bool_]) -> float:
    """Return the share of the variance of models' means that is true, as far as it can be told."""
    found = across(np.where(known, values, np.nan), crossed) if len(values) > 2 else None
    return 1.0 if found is None or not found.spread > 0 else max(found.model, 0.0) / found.spread


def _moved(covariance: Array, freedom: float, seed: Sequence[int]) -> Array:
    """Draw (draws, models) from a t distribution with a covariance, less what of it is negative."""
    rng = np.random.default_rng(seed)
    scales, axes = np.linalg.eigh(covariance)
    normal = rng.standard_normal((DRAWS, len(scales))) * np.sqrt(np.maximum(scales, 0))
    return np.asarray(normal @ axes.T * np.sqrt(freedom / rng.chisquare(freedom, (DRAWS, 1))))
