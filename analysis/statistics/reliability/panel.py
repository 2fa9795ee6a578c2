"""Compute the mean of one unit over items and wordings, and how far it would move with others of either.

A *panel* holds the answers of one unit as an array (items, wordings), NaN where there is none; a paired difference of
two units is a panel, too. Wordings are *crossed* with items where all items share them (templates, orders of options),
and *nested* where every item has its own (paraphrases). A shared wording moves all items at once, so that more items do
not average it out.

The mean is that over items of each item's mean. Its variance is a sum of parts, by what another study draws anew. With
components s_i, s_w, s_e of item, wording and interaction, over I items and K wordings:

- *items*: s_i / I + s_e / IK, with I - 1 degrees of freedom: other items, the same wordings;
- *both*: the same, and s_w / K with K - 1: other items and other wordings;
- *wordings*: s_w / K + s_e / IK, with K - 1: the same items, other wordings.

For nested wordings the first two are one: another item comes with other wordings, and both show in how far the means of
items differ. For crossed ones, *both* is a sum of two parts that are estimated apart: (s_i + s_e / K) / I by how far
the means of items differ, and (s_w + s_e / I) / K by how far those of wordings do. The interaction is in each, and is
taken out of the one with more degrees of freedom.

The half of an interval is the p-norm (sum of (t^2 V)^p)^(1 / 2p) over the parts V, each with the t of its degrees of
freedom f, and p = 1 + 8 / f^2 of the fewest. With many it is the plain sum; with few, that would be too wide where both
parts weigh alike. From 30 items and 3 templates on, it leaves out the truth in .043 to .055 of studies, whatever the
components are (by integration over the mean squares, as in the tests); with 2 templates only in .023 to .050, since 1
degree of freedom does not tell how small their part is. With Satterthwaite's approximation it would be .08 and .13.
Where the wordings seem to do less than chance alone, the interval is the one for these wordings: it is never shorter.

Where answers are means of several samples (`sampling`), what sampling adds is taken out of the interaction, or out of
nested wordings, and shown apart; the variance of the mean holds it. With a single wording of each item, samples tell
items apart, but not what that wording does to them, which is a part of `item`.

Where all answers are 0 or 1, or shares of right answers, the mean is a share, too. Its intervals are Wilson's, with the
effective number of items for these wordings (`analysis.statistics.shares`), and with the part of the wordings added for
others. Means within 0 and 1 vary no more than single answers with the same share do: there are at least as many
effective items as items. The t interval of 62 items goes beyond 1, and leaves out shares of .955 in .08 to .12 of
studies. A difference of shares keeps its t interval, which agrees with its test.

The mean of other scores has t intervals that are corrected for skewness (`analysis.statistics.skewness`). Where scores
lie within 0 and 1, their mean varies no more than that of as many answers of 0 or 1: the interval is cut at Wilson's
with the number of items, and is Wilson's where the items do not differ at all. Where scores have no bounds, nothing
bounds what was not seen, nor does it closely for a difference: there is no interval where fewer than six items differ
from the others (`skewness.has_few_values_unlike_commonest`). `tests/benchmarks/bench_score_intervals.py` has what was
compared.

References
----------
Brennan, R. L. (2001). Generalizability Theory, chapters 3 and 6 (error of a mean over random items and wordings).
Burdick, R. K. and Graybill, F. A. (1992). Confidence Intervals on Variance Components, chapter 3 (sums of squared
limits), and section 3.2 (Satterthwaite).
Clark, H. H. (1973). The language-as-fixed-effect fallacy. Journal of Verbal Learning 12, 335-359.
"""

from __future__ import annotations

from dataclasses import dataclass
from statistics import NormalDist
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from analysis.statistics.reliability.components import UNKNOWN, Array, Components, estimate_variance_components
from analysis.statistics.reliability.incidence import NOTHING, Incidence, measure_which_items_have_which_wordings
from analysis.statistics.reliability.sampling import SampleSpread
from analysis.statistics.resampling import LEVEL
from analysis.statistics.rounding import compute_variance_without_rounding, drop_rounding_of_sums
from analysis.statistics.shares import compute_wilson_score_interval, estimate_share
from analysis.statistics.significance import ROUNDING
from analysis.statistics.skewness import (
    compute_scaled_skewness,
    has_few_values_unlike_commonest,
    widen_quantile_for_skewness,
)

Anew: TypeAlias = Literal["items", "wordings", "both"]  # what another study draws anew
Parts: TypeAlias = tuple[tuple[float, float], ...]  # variances of a mean and their degrees of freedom
AnswerMask: TypeAlias = npt.NDArray[np.bool_]
FEW = 8.0  # how fast the p of the p-norm falls with the degrees of freedom


@dataclass(frozen=True, slots=True)
class Panel:
    """Hold what one panel says.

    Attributes
    ----------
    mean
        Over items, of the mean of each item; NaN without an answer.
    incidence
        Which item has which wordings.
    n
        Answers.
    crossed
        Whether the items share the wordings.
    item, wording, interaction
        Variance components. Nested: `wording` is that of wordings within their items, with all else that is left, and
        `interaction` is NaN. Negative where the estimate is; NaN where the answers do not tell them apart.
    inner
        Variance of an answer within its item and wording: of what is left, and of what sampling adds.
    sampled
        What sampling adds; None where nothing was sampled.
    parts
        What is drawn anew -> parts of the variance of the mean. NaN where unknown, as from one item or one wording.
    share
        Effective number of items where the mean is a share (`shares.ShareEstimate.n`), else NaN.
    means
        Mean of every item with an answer.
    estimates
        What `estimate_variance_components` says, of which `item`, `wording` and `inner` are made.
    bounded
        Whether answers lie within 0 and 1 and the mean is not a difference.
    skewness
        Scaled skewness of the items' means (`skewness.compute_scaled_skewness`); 0 where intervals are plain ones by t.
    few
        Whether too few items differ for an interval over items (`skewness.has_few_values_unlike_commonest`).
    """

    mean: float
    incidence: Incidence
    n: int
    crossed: bool
    item: float
    wording: float
    interaction: float
    inner: float
    sampled: SampleSpread | None
    parts: dict[Anew, Parts]
    share: float
    means: Array
    estimates: Components
    bounded: bool = False
    skewness: float = 0.0
    few: bool = False

    @property
    def n_items(self) -> int:
        """Return the number of items with an answer."""
        return self.incidence.n_items

    @property
    def n_wordings(self) -> float:
        """Return the number of wordings of each item, as their harmonic mean."""
        return self.incidence.n_wordings

    @property
    def item_mean_variance(self) -> float:
        """Return the variance of the items' means; NaN for a single item."""
        return compute_variance_without_rounding(self.means)

    def compute_standard_error(self, anew: Anew) -> float:
        """Return the standard error of the mean."""
        return float(np.sqrt(sum(variance for variance, _ in self.parts[anew])))

    def compute_interval(self, anew: Anew, level: float = LEVEL) -> tuple[float, float]:
        """Return the ends of the mean's interval.

        Parameters
        ----------
        anew
            What another study draws anew. For "both", it is never narrower than for "items".
        level
            Coverage.

        Returns
        -------
        tuple of float
            NaN where the width is unknown or 0.
        """
        ends = self._compute_interval_from_variance_parts(anew, level)
        if anew != "both" or not self.crossed:
            return ends
        item_ends = self._compute_interval_from_variance_parts("items", level)
        return min(ends[0], item_ends[0]), max(ends[1], item_ends[1])

    def _compute_interval_from_variance_parts(self, anew: Anew, level: float) -> tuple[float, float]:
        """Compute the interval from the variance parts of `anew` alone."""
        if anew != "wordings" and self.share == self.share:
            return self._compute_wilson_interval_by_effective_n(anew, level, self.share)
        parts, ends = self.parts[anew], (np.nan, np.nan)
        if sum(variance for variance, _ in parts) > ROUNDING**2 and not (self.few and anew != "wordings"):
            skewness = 0.0 if anew == "wordings" else self.skewness
            ends = (
                self.mean - _compute_interval_half_width(parts, level, skewness),
                self.mean + _compute_interval_half_width(parts, level, -skewness),
            )
        if anew == "wordings" or not self.bounded:
            return ends
        lower, upper = self._compute_wilson_interval_by_effective_n(anew, level, self.n_items)
        return float(np.fmax(ends[0], lower)), float(np.fmin(ends[1], upper))

    def _compute_wilson_interval_by_effective_n(self, anew: Anew, level: float, n_items: float) -> tuple[float, float]:
        """Compute Wilson's interval with an effective number of items, and the other parts of `anew` added."""
        parts = self.parts[anew]
        total = sum(variance for variance, _ in parts)
        if not total >= 0:
            return np.nan, np.nan
        spread = self.mean * (1 - self.mean)
        # The part of the items is Wilson's, with the normal quantile, less what is counted with the wordings.
        item_variance = max(spread / n_items - self.parts["items"][0][0] + parts[0][0], 0.0)
        parts = ((item_variance, np.inf), *parts[1:])
        total = sum(variance for variance, _ in parts)
        if not spread > 0 or not total > 0:
            n, z = n_items, NormalDist().inv_cdf((1 + level) / 2)
        else:
            n, z = spread / total, _compute_interval_half_width(parts, level) / float(np.sqrt(total))
        lower, upper = compute_wilson_score_interval(np.asarray(self.mean), np.asarray(n), z)
        return float(lower), float(upper)

    def predict_standard_error_at_size(self, n_items: float, n_wordings: float) -> float:
        """Predict the standard error with other numbers of items and wordings of each, both drawn anew.

        Negative components count as 0.

        Parameters
        ----------
        n_items, n_wordings
            Where items have some of the shared wordings, so they have of more
            (`Incidence.predict_effective_n_wordings`).

        Returns
        -------
        float
            NaN where the component of wordings is.
        """
        if np.isnan(self.wording):
            return np.nan
        shared = (
            max(self.wording, 0.0) / self.incidence.predict_effective_n_wordings(n_wordings) if self.crossed else 0.0
        )
        of_item = max(self.item, 0.0) + self.inner / n_wordings
        return float(np.sqrt(of_item / n_items + shared))

    def compute_interval_widening_by_few_wordings(self) -> float:
        """Return how many times as wide an interval is as it would be with wordings without end; it is at least 1.

        NaN where items do not differ beyond what their wordings explain: then there is nothing to compare with.
        """
        if np.isnan(self.item):
            return np.nan
        now, least = (
            self.predict_standard_error_at_size(self.n_items, wordings) for wordings in (self.n_wordings, np.inf)
        )
        return now / least if least > 0 else np.nan


def estimate_panel_mean(
    values: Array, crossed: bool, sample_spread: SampleSpread | None = None, *, is_share: bool | None = None,
    is_bounded: bool = False, corrects_skewness: bool = False,
) -> Panel:  # fmt: skip
    """Compute a panel from its answers.

    Parameters
    ----------
    values
        Answers (items, wordings), NaN where there is none.
    crossed
        Whether all items share the wordings.
    sample_spread
        What sampling adds to an answer; None: nothing was sampled.
    is_share
        Whether the mean is a share: of right answers also where single answers are shares, as over several orders; a
        difference is none. None: where all answers are 0 or 1.
    is_bounded
        Whether answers lie within 0 and 1 and are no differences.
    corrects_skewness
        Whether intervals over items heed how skewed the items are.

    Returns
    -------
    Panel
    """
    has_answer = ~np.isnan(values)
    rows, columns = has_answer.any(axis=1), has_answer.any(axis=0)
    if not (rows.all() and columns.all()):
        values, has_answer = values[rows][:, columns], has_answer[rows][:, columns]
    n_items, per_item = len(values), has_answer.sum(axis=1)
    if not n_items:
        return _build_empty_panel(crossed)
    filled = np.where(has_answer, values, 0.0)
    means = filled.sum(axis=1) / per_item
    estimates = estimate_variance_components(values, crossed)
    incidence = measure_which_items_have_which_wordings(has_answer, crossed)
    inner, added = estimates.residual, sample_spread.noise_variance if sample_spread else 0.0
    spread = compute_variance_without_rounding(means)
    answers = filled[has_answer]
    if is_share is None:
        is_share = bool(((answers == 0) | (answers == 1)).all())
    effective = float(estimate_share([(means[:, None], np.ones((n_items, 1)))], LEVEL).n[0]) if is_share else np.nan
    item, remainder = estimates.item, inner - added
    if crossed and incidence.unshared_variance > 0:  # with holes: that of which `ranges` draws the interval
        item = drop_rounding_of_sums(
            spread - inner / incidence.n_wordings - estimates.wording * incidence.unshared_variance, spread + inner
        )
    if sample_spread and (has_answer.shape[1] if crossed else per_item.max()) == 1:
        item, inner = spread - added, added
    return Panel(
        float(means.mean()), incidence, int(has_answer.sum()), crossed, item,
        estimates.wording if crossed else remainder,
        remainder if crossed else np.nan, inner, sample_spread,
        _split_variance_of_mean_by_redraws(filled, has_answer, means, estimates, incidence),
        effective, means, estimates, is_bounded, compute_scaled_skewness(means) if corrects_skewness else 0.0,
        not (is_share or is_bounded) and has_few_values_unlike_commonest(means),
    )  # fmt: skip


def _split_variance_of_mean_by_redraws(
    filled: Array, has_answer: AnswerMask, means: Array, estimates: Components, incidence: Incidence
) -> dict[Anew, Parts]:
    """Split the variance of the mean by what is drawn anew."""
    n_items, crossed = incidence.n_items, np.isfinite(incidence.n_shared)
    spread = compute_variance_without_rounding(means)
    between = (spread / n_items, n_items - 1.0)
    if crossed:
        shape = incidence, has_answer.shape[1]
        return split_crossed_variance_of_mean_by_redraws(between[0], estimates.wording, estimates.residual, *shape)
    of_wordings = _compute_wording_variance_and_freedom(filled, has_answer, means, has_answer.sum(axis=1))
    return {"items": (between,), "both": (between,), "wordings": (of_wordings,)}


def split_crossed_variance_of_mean_by_redraws(
    between: Any, wording: Any, residual: Any, incidence: Incidence, n_columns: int
) -> dict[Anew, Any]:
    """Split the variance of a mean over items that share their wordings, or of several means.

    Parameters
    ----------
    between
        Variance of the items' means over the number of items.
    wording, residual
        Components; floats, or arrays of one shape with `between`.
    incidence
        Which item has which wordings.
    n_columns
        Number of wordings.

    Returns
    -------
    dict
        What is drawn anew -> variances, and their degrees of freedom.
    """
    n_items, free = incidence.n_items, n_columns - 1.0
    items_df = n_items - 1.0
    noise = residual / incidence.n_wordings / n_items
    of_wordings = wording / incidence.n_shared + noise
    # Where items have different wordings, their means differ by these, too: that part is in `between` already.
    less, more = choose_part_that_loses_interaction(items_df, free, noise)
    shared = of_wordings - wording * incidence.unshared_variance / n_items
    return {
        "items": ((between, items_df),),
        "both": ((np.maximum(between - less, 0.0), items_df), (np.maximum(shared - more, 0.0), free)),
        "wordings": ((np.maximum(of_wordings, 0.0), free),),
    }


def compute_squared_half_widths_and_freedom(
    variance_parts: Parts, level: npt.ArrayLike, skewness: float = 0.0
) -> tuple[Array, Array]:
    """Return t^2 V of every part, and their degrees of freedom.

    Parameters
    ----------
    variance_parts
        The first is that of the items.
    level
        Coverage; several: (levels, 1).
    skewness
        Scaled skewness for a lower end; with the other sign for an upper one.

    Returns
    -------
    tuple of two arrays, ([levels,] parts) and (parts,)
    """
    variances, free = np.array(variance_parts).T
    squares = compute_squared_t_quantile(level, free)
    if skewness:
        squares[..., 0] = widen_quantile_for_skewness(np.sqrt(squares[..., 0]), skewness) ** 2
    return squares * variances, free


def _compute_interval_half_width(variance_parts: Parts, level: float, skewness: float = 0.0) -> float:
    """Return how far an end of an interval, whose variance is a sum of parts, is from the mean."""
    return float(
        np.sqrt(
            compute_p_norm_of_squared_limits(*compute_squared_half_widths_and_freedom(variance_parts, level, skewness))
        )
    )


def compute_p_norm_of_squared_limits(squared_limits: Array, freedom: Array) -> Array:
    """Return the p-norm of the squared limits of the parts of a variance; one part is its own limit.

    Parameters
    ----------
    squared_limits
        t^2 V of every part: (..., parts).
    freedom
        Degrees of freedom of every part: (parts,).

    Returns
    -------
    array (...)
        NaN where a part is.
    """
    if squared_limits.shape[-1] == 1:
        return np.asarray(squared_limits[..., 0])
    power = 1 + FEW / freedom.min() ** 2
    most = squared_limits.max(axis=-1)
    scaled = np.divide(squared_limits, most[..., None], out=squared_limits.copy(), where=most[..., None] > 0)
    return np.asarray(most * (scaled**power).sum(axis=-1) ** (1 / power))


def choose_part_that_loses_interaction(
    items_df: float, wordings_df: float, interaction_variance: float
) -> tuple[float, float]:
    """Take the interaction, which both parts hold, out of the one with more degrees of freedom.

    Parameters
    ----------
    items_df, wordings_df
        Degrees of freedom of the parts.
    interaction_variance
        Its variance in the mean.

    Returns
    -------
    tuple of float
        What the part of the items loses, and that of the wordings.
    """
    return (interaction_variance, 0.0) if items_df >= wordings_df else (0.0, interaction_variance)


def compute_squared_t_quantile(level: npt.ArrayLike, freedom: Array) -> Array:
    """Return the square of the two-sided quantile of Student's t.

    Parameters
    ----------
    level, freedom
        Coverage and degrees of freedom, of shapes that go together.

    Returns
    -------
    array
        NaN without degrees of freedom.
    """
    from scipy.special import stdtrit

    return np.asarray(stdtrit(np.where(freedom > 0, freedom, np.nan), (1 + np.asarray(level)) / 2) ** 2)


def _compute_wording_variance_and_freedom(
    filled: Array, has_answer: AnswerMask, means: Array, n_answers_by_item: npt.NDArray[np.int64]
) -> tuple[float, float]:
    """Return the variance of the mean over the wordings of every item; NaN where an item has only one."""
    few = np.where(n_answers_by_item > 1, n_answers_by_item - 1.0, np.nan)
    squares = (np.where(has_answer, filled - means[:, None], 0.0) ** 2).sum(axis=1)
    of_item = squares / few / n_answers_by_item
    total = float(of_item.sum())
    return total / len(means) ** 2, float(total**2 / (of_item**2 / few).sum()) if total > 0 else np.nan


def _build_empty_panel(crossed: bool) -> Panel:
    """Build the panel of a unit without any answer."""
    nothing: dict[Anew, Parts] = dict.fromkeys(("items", "wordings", "both"), ((np.nan, np.nan),))
    return Panel(
        np.nan, NOTHING, 0, crossed, np.nan, np.nan, np.nan, np.nan, None, nothing, np.nan, np.zeros(0), UNKNOWN
    )
