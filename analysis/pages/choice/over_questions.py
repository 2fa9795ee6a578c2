"""Compute figures that are shares over questions, XParaCon among them, with their intervals and their differences.

Accuracy is the share of right answers, perfectly correct the share of wordings that are it. XParaCon is -log2 of a mean
over questions, too: the standard deviation of three accuracies lies between 0 and 0.471, so that its mean is a share of
that maximum. It gets Wilson's interval for as many questions as vary that much (`analysis.statistics.shares`), and
-log2 of both ends are the ends for XParaCon. Where few questions vary, the bootstrap is no choice: with 1 in 100
questions varying, its interval held the true value in 26 % of simulated studies of 30 questions and in 83 % of those of
300; Wilson's in 98 % and more (`tests/analysis/pages/choice/test_coverage.py`). Where no question varies, XParaCon
is infinite, and only its lower end is a number.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from analysis.pages.choice import measures
from analysis.runs.choices import Choices
from analysis.statistics import interval
from analysis.statistics.interval import Interval, unknown
from analysis.statistics.resampling import LEVEL, Array, Columns, bootstrap, paired, ratio
from analysis.statistics.shares import Share, estimated, newcombe
from analysis.statistics.significance import exchanged

Parts = tuple[Array, Array]  # per question: what counts, of how much; twice (questions, units)
ACCURACY, XPARACON, PERFECT = "accuracy", "xparacon", "perfectly_correct"
MEASURES = (ACCURACY, XPARACON, PERFECT)


def headline(part: Choices) -> dict[str, Parts]:
    """Return the parts of accuracy, of the mean standard deviation (under the name of XParaCon) and of perfect answers.

    The standard deviations are shares of the largest one that there can be; NaN with a single wording.
    """
    accuracy, orders = measures.accuracies(part.chosen, part.gold), part.asked.sum(axis=2)[..., None]
    widest = measures.largest_spread(len(part.wordings)) or np.nan
    spread = measures.spreads(accuracy)
    return {
        ACCURACY: ((accuracy * orders).sum(axis=1), (accuracy * 0 + orders).sum(axis=1)),
        XPARACON: (spread / widest, spread * 0 + 1),
        PERFECT: over(measures.perfect(accuracy)),
    }


def over(values: Array, axis: int = 1) -> Parts:
    """Return the parts of a mean over questions and another axis, such as wordings.

    Parameters
    ----------
    values
        (questions, wordings or orders, units); NaN is not there.
    axis
        The other axis.

    Returns
    -------
    Parts
        Sum and number of the known values; NaN where there is none.
    """
    known = ~np.isnan(values)
    counted = known.sum(axis=axis).astype(float)
    return np.where(counted > 0, np.where(known, values, 0).sum(axis=axis), np.nan), np.where(
        counted > 0, counted, np.nan
    )


def measured(
    figures: Mapping[str, Parts], resamples: int, seed: int, differences: Mapping[str, tuple[str, str]] | None = None
) -> dict[str, Interval]:
    """Compute shares over questions, with Wilson's intervals.

    Parameters
    ----------
    figures
        Name -> parts.
    resamples, seed
        Draws of the bootstrap over items (0: no intervals) and its seed.
    differences
        Name -> two of the figures, the first minus the second: with Newcombe's intervals.

    Returns
    -------
    dict
        Interval of every figure and difference: (units,).
    """
    shares = {name: (name,) for name in figures} | dict(differences or {})
    known, told = _defined(figures), {}
    if known:
        own = {name: parts for name, parts in shares.items() if set(parts) <= known.keys()}
        told = bootstrap(_columns(known), partial(_ratios, shares=own), partial(_shares, shares=own),
                         draws=resamples, seed=seed)  # fmt: skip
    units = next(iter(figures.values()))[0].shape[1]
    asked = next(iter(told.values())).n_items if told else np.zeros(units, np.int64)
    return {name: told.get(name, unknown(asked)) for name in shares}


def _defined(figures: Mapping[str, Parts]) -> dict[str, Parts]:
    """Leave out what no unit has: with one wording, nothing is known about other ones, and the rest is measured."""
    return {name: parts for name, parts in figures.items() if not np.isnan(parts[0]).all()}


def compared(
    figures: Mapping[str, Parts], pairs: Sequence[tuple[int, int]], resamples: int, seed: int
) -> dict[str, Interval]:
    """Compute differences of shares, a minus b, with Newcombe's intervals and p values of `exchanged`.

    Parameters
    ----------
    figures
        As in `measured`.
    pairs
        Numbers of the units a and b.
    resamples, seed
        As in `comparisons.differences`.

    Returns
    -------
    dict
        Interval of every figure: (pairs,).
    """
    known = _defined(figures)
    shares = {name: (name,) for name in known}
    # The intervals are in closed form and the p values are those below: the draws of the bootstrap are not used.
    found = paired(_columns(known), partial(_ratios, shares=shares), pairs, partial(_shares, shares=shares),
                   draws=min(resamples, 1), seed=seed)  # fmt: skip
    for name, parts in known.items():
        found[name].p[:], found[name].p_least[:] = exchanged(_differences(parts, pairs), resamples, seed)
    return {name: found.get(name, unknown(found[ACCURACY].n_items)) for name in figures}


def _differences(parts: Parts, pairs: Sequence[tuple[int, int]]) -> Array:
    """Return what every question adds to the difference of two shares: (questions, pairs), NaN where it is not in both.

    Both units answered each of these questions as often (`answers.studies`), so that exchanging them changes no total.
    """
    (a, of_a), (b, of_b) = ([values[:, [pair[side] for pair in pairs]] for values in parts] for side in (0, 1))
    return (a - b) / np.nansum(np.where(np.isnan(a + b + of_b), np.nan, of_a), axis=0)


def columns(found: Mapping[str, Interval], wordings: int) -> dict[str, Any]:
    """Make the columns of a table of `headline`.

    Parameters
    ----------
    found
        From `measured`, of the figures of `headline`.
    wordings
        How many a question has.

    Returns
    -------
    dict
        Figures, intervals and n_questions, mean_sd beside XParaCon: (units,).
    """
    share, widest = found[XPARACON], measures.largest_spread(wordings)
    value, low, high = (measures.xparacon(end * widest) for end in (share.estimate, share.upper, share.lower))
    missing = np.where(np.isnan(share.estimate), "", share.missing)
    shown = {**found, XPARACON: replace(share, estimate=value, lower=low, upper=high, missing=missing)}
    n = found[ACCURACY].n_items
    return {"n_questions": n, "mean_sd": share.estimate * widest, **interval.columns(shown)}


def xparacon_ends(
    figures: Mapping[str, Parts], pairs: Sequence[tuple[int, int]], wordings: int, level: float = LEVEL
) -> tuple[Array, Array]:
    """Compute the interval of XParaCon of a minus that of b: Newcombe's, from the intervals of both.

    It takes the distances on the scale of XParaCon, and the correlation of the standard deviations over questions. A
    pair without a number on either side has none: where nothing varies, XParaCon is no number to subtract.

    Parameters
    ----------
    figures, pairs
        As in `compared`.
    wordings
        How many a question has.
    level
        Coverage, 0 to 1.

    Returns
    -------
    tuple
        Lower and upper end: (pairs,).
    """
    part, whole = figures[XPARACON]
    ends = np.full((2, len(pairs)), np.nan)
    widest = measures.largest_spread(wordings)
    for number, pair in enumerate(pairs):
        own = ~np.isnan(part[:, pair]).any(axis=1)
        if own.sum() < 2:
            continue
        share = estimated([(part[own][:, pair], whole[own][:, pair])], level)
        if not (share.estimate > 0).all():
            continue
        value, low, high = (measures.xparacon(end * widest) for end in (share.estimate, share.upper, share.lower))
        turned = replace(share, estimate=value, lower=low, upper=high)
        one, other = (turned.take(np.array([side])) for side in (0, 1))
        ends[:, number] = np.ravel(newcombe(one, other))
    return ends[0], ends[1]


def _columns(figures: Mapping[str, Parts]) -> dict[str, Array]:
    return {f"{name}_{side}": values for name, parts in figures.items()
            for side, values in zip(("part", "whole"), parts, strict=True)}  # fmt: skip


def _ratios(columns: Columns, counts: Array, shares: Mapping[str, Sequence[str]]) -> dict[str, Array]:
    found = {}
    for name, parts in shares.items():
        each = [ratio(counts, columns[f"{part}_part"], columns[f"{part}_whole"]) for part in parts]
        found[name] = each[0] if len(each) == 1 else each[0] - each[1]
    return found


def _shares(columns: Columns, shares: Mapping[str, Sequence[str]]) -> dict[str, list[Share]]:
    return {name: [[(columns[f"{part}_part"], columns[f"{part}_whole"])] for part in parts]
            for name, parts in shares.items()}  # fmt: skip
