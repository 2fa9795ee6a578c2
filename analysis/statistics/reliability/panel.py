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
items differ. The half of an interval is sqrt(sum of t^2 V) over the parts V, each with the t of its degrees of freedom:
so few templates widen it, and with 2 it rests on 1. Satterthwaite's approximation is narrower, but covers only .87 with
2 templates and 1,000 items. As an estimate of s_w can be 0 by chance, it counts at least as a twentieth of what the
interaction alone would make of it; without that, 2 templates cover .91.

Where answers are means of several samples (`sampling`), what sampling adds is taken out of the interaction, or out of
nested wordings, and shown apart; the variance of the mean holds it. With a single wording of each item, samples tell
items apart, but not what that wording does to them, which is a part of `item`.

Where all answers are 0 or 1 the mean is a share. Its intervals are Wilson's, with the effective number of items for
these wordings (`analysis.statistics.shares`), and with the part of the wordings added for others.

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
from typing import Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from analysis.statistics.reliability.components import Array, Components, components
from analysis.statistics.reliability.sampling import Sampled
from analysis.statistics.resampling import LEVEL
from analysis.statistics.shares import estimated, score
from analysis.statistics.significance import ROUNDING

Anew: TypeAlias = Literal["items", "wordings", "both"]  # what another study draws anew
Parts: TypeAlias = tuple[tuple[float, float], ...]  # variances of a mean and their degrees of freedom
Known: TypeAlias = npt.NDArray[np.bool_]
LEAST = 1 / 20  # of the interaction's part: the least that a shared wording counts


@dataclass(frozen=True, slots=True)
class Panel:
    """Hold what one panel says.

    Attributes
    ----------
    mean
        Over items, of the mean of each item; NaN without an answer.
    n_items, n_wordings, n
        Items with an answer; wordings: crossed, how many different ones, nested, the harmonic mean of those per item;
        answers.
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
        Effective number of items where all answers are 0 or 1 (`shares.Estimated.n`), else NaN.
    spread, freedom
        Variance of the items' means, and the degrees of freedom of that and of the residual, lowered for heavy tails.
    """

    mean: float
    n_items: int
    n_wordings: float
    n: int
    crossed: bool
    item: float
    wording: float
    interaction: float
    inner: float
    sampled: Sampled | None
    parts: dict[Anew, Parts]
    share: float
    spread: float
    freedom: tuple[float, float]

    def error(self, anew: Anew) -> float:
        """Return the standard error of the mean."""
        return float(np.sqrt(sum(variance for variance, _ in self.parts[anew])))

    def interval(self, anew: Anew, level: float = LEVEL) -> tuple[float, float]:
        """Return the ends of the mean's interval; NaN where its width is unknown or 0."""
        parts = self.parts[anew]
        total = sum(variance for variance, _ in parts)
        if anew != "wordings" and self.share == self.share:
            if not total >= 0:
                return np.nan, np.nan
            z, spread = NormalDist().inv_cdf((1 + level) / 2), self.mean * (1 - self.mean)
            more = sum(t_squared(level, free) * variance for variance, free in parts[1:])
            added = sum(variance for variance, _ in parts[1:])
            own = spread / self.share
            n = self.share if spread == 0 else spread / (own + added)
            z = z if spread == 0 else float(np.sqrt((z**2 * own + more) / (own + added)))
            lower, upper = score(np.asarray(self.mean), np.asarray(n), z)
            return float(lower), float(upper)
        if not total > ROUNDING**2:
            return np.nan, np.nan
        half = half_width(parts, level)
        return self.mean - half, self.mean + half

    def error_at(self, n_items: float, n_wordings: float) -> float:
        """Predict the standard error with other numbers of items and wordings, both drawn anew.

        Negative components count as 0. NaN where the component of wordings is.
        """
        if np.isnan(self.wording):
            return np.nan
        shared = max(self.wording, 0.0) if self.crossed else 0.0
        of_item = max(self.item, 0.0) + self.inner / n_wordings
        return float(np.sqrt(of_item / n_items + shared / n_wordings))

    def widening(self) -> float:
        """Return how many times as wide an interval is as it would be with a wording without end; it is at least 1.

        Infinite where items do not differ beyond what their wordings explain; NaN where nothing differs.
        """
        if np.isnan(self.item):
            return np.nan
        now, least = (self.error_at(self.n_items, wordings) for wordings in (self.n_wordings, np.inf))
        return now / least if least > 0 else np.inf if now > 0 else np.nan


def panel(values: Array, crossed: bool, sampled: Sampled | None = None) -> Panel:
    """Compute a panel from its answers (items, wordings), and from what sampling adds to them."""
    known = ~np.isnan(values)
    rows, columns = known.any(axis=1), known.any(axis=0)
    if not (rows.all() and columns.all()):
        values, known = values[rows][:, columns], known[rows][:, columns]
    n_items, per_item = len(values), known.sum(axis=1)
    if not n_items:
        return _unknown(crossed)
    filled = np.where(known, values, 0.0)
    means = filled.sum(axis=1) / per_item
    found = components(values, crossed)
    inner, added = found.residual, sampled.noise if sampled else 0.0
    width = float(known.shape[1] if crossed else n_items / (1 / per_item).sum())
    spread = float(means.var(ddof=1)) if n_items > 1 else np.nan
    weights = known / per_item[:, None]  # what an answer weighs in its item's mean
    own, noise = (spread / n_items, n_items - 1.0), inner * float((weights**2).sum()) / n_items**2
    parts: dict[Anew, Parts] = {"items": (own,), "both": (own,)}
    if crossed:
        seen = float((weights.mean(axis=0) ** 2).sum())
        # Where items have different wordings, their means differ by these, too: that part is in `own` already.
        apart = float((weights**2).sum() - n_items * seen) / max(1, n_items - 1) / n_items
        effect = max(found.wording, LEAST * inner * width / float(known.sum()))
        parts["both"] = own, (effect * (seen - apart), width - 1)
        parts["wordings"] = ((max(found.wording, 0.0) * seen + noise, width - 1),)
    else:
        parts["wordings"] = (_within(filled, known, means, per_item),)
    answers = filled[known]
    binary = bool(((answers == 0) | (answers == 1)).all())
    share = float(estimated([(means[:, None], np.ones((n_items, 1)))], LEVEL).n[0]) if binary else np.nan
    item, left, freedom = found.item, inner - added, _freedom(filled, known, means, found)
    if sampled and (known.shape[1] if crossed else per_item.max()) == 1:
        item, inner, freedom = spread - added, added, (freedom[0], sampled.freedom)
    return Panel(
        float(means.mean()), n_items, width, int(known.sum()), crossed, item, found.wording if crossed else left,
        left if crossed else np.nan, inner, sampled, parts, share, spread, freedom,
    )  # fmt: skip


def half_width(parts: Parts, level: float) -> float:
    """Return half the width of an interval whose variance is a sum of parts: sqrt(sum of t^2 V)."""
    return float(np.sqrt(sum(t_squared(level, free) * variance for variance, free in parts)))


def t_squared(level: float, freedom: float) -> float:
    """Return the square of the two-sided quantile of Student's t; NaN without degrees of freedom."""
    from scipy.special import stdtrit

    return float(stdtrit(freedom, (1 + level) / 2)) ** 2 if freedom > 0 else np.nan


def _within(filled: Array, known: Known, means: Array, per_item: npt.NDArray[np.int64]) -> tuple[float, float]:
    """Return the variance of the mean over the wordings of every item; NaN where an item has only one."""
    few = np.where(per_item > 1, per_item - 1.0, np.nan)
    squares = (np.where(known, filled - means[:, None], 0.0) ** 2).sum(axis=1)
    of_item = squares / few / per_item
    total = float(of_item.sum())
    return total / len(means) ** 2, float(total**2 / (of_item**2 / few).sum()) if total > 0 else np.nan


def _freedom(filled: Array, known: Known, means: Array, found: Components) -> tuple[float, float]:
    """Return the degrees of freedom of the variance of items' means, and of the residual, by their fourth moments.

    Those of a normal distribution where the tails are no heavier: a variance s^2 of n values has the variance
    s^4 (kurtosis / n + 2 / (n - 1)).
    """
    n_items = len(means)
    if n_items < 2:
        return np.nan, np.nan
    centred = means - means.mean()
    square = float((centred**2).mean())
    heavy = max(float((centred**4).mean()) / square**2 - 3, 0.0) if square > 0 else 0.0
    columns = 0.0 if np.isnan(found.wording) else filled.sum(axis=0) / known.sum(axis=0) - means.mean()
    of_item = (np.where(known, filled - means[:, None] - columns, 0.0) ** 2).sum(axis=1)
    total = float(of_item.mean())
    uneven = float(of_item.var(ddof=1)) / n_items / total**2 if total > 0 else 0.0
    inner = min(found.freedom, 2 / uneven) if uneven > 0 else found.freedom
    return 2 / (heavy / n_items + 2 / (n_items - 1)), inner if inner > 0 else np.nan


def _unknown(crossed: bool) -> Panel:
    nothing: dict[Anew, Parts] = dict.fromkeys(("items", "wordings", "both"), ((np.nan, np.nan),))
    return Panel(
        np.nan, 0, np.nan, 0, crossed, np.nan, np.nan, np.nan, np.nan, None, nothing, np.nan, np.nan, (np.nan, np.nan)
    )
