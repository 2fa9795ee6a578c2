"""Sum up the accuracies of the templates that all items share, as studies of many prompts do, with intervals.

Intervals are for these templates, with items drawn anew, from those of each template's accuracy (Wilson's) and of
differences between two (Newcombe's). The highest of several accuracies is too high on average: its template was lucky,
too. So the lower end is the highest of the lower ends of *all* templates, wide enough for none to be wrong in 95 % of
studies (Bonferroni); for the upper end, the highest of the plain upper ends is enough, since the best template has one
of them. The same holds for the lowest, the range (the largest difference of two), the gain (the largest difference from
the mean), saturation, and quantiles on their side of the median. The combined score is made of shares.

Draws of items do not suit these figures: with 10 to 1,000 items and 2 to 10 templates, they covered .8 of highest and
.6 of range and SD where templates hardly differ. These cover .96 to .97 of mean, lowest and combined score, .98 of
quantiles, .99 and more of highest, range, gain and saturation. The SD has no interval; the component of wordings
(`panel`) has.

References
----------
Polo, F. M. et al. (2024). Efficient multi-prompt evaluation of LLMs. NeurIPS (quantiles over templates, section 2).
Mizrahi, M. et al. (2024). State of what art? A call for multi-prompt LLM evaluation. TACL 12, 933-949 (section 5: MaxP,
AvgP, saturation, combined performance score).
Miller, R. G. (1981). Simultaneous Statistical Inference, chapter 2 (Bonferroni).
"""

from __future__ import annotations

from itertools import permutations

import numpy as np

from analysis.statistics.reliability.components import Array
from analysis.statistics.resampling import LEVEL
from analysis.statistics.shares import Made, Share, estimated, newcombe

QUANTILES = {"q05": 0.05, "q25": 0.25, "q50": 0.5, "q75": 0.75, "q95": 0.95}


def summary(accuracies: Array) -> dict[str, Array]:
    """Sum up accuracies (..., templates) over their last axis.

    Returns
    -------
    dict
        mean (AvgP), sd (n - 1 below; NaN for one template), lowest, highest (MaxP), range, q05 ... q95 (linear
        interpolation), gain: highest minus mean; saturation: 1 minus gain; combined: saturation times highest.
    """
    mean, highest, lowest = accuracies.mean(axis=-1), accuracies.max(axis=-1), accuracies.min(axis=-1)
    several = accuracies.shape[-1] > 1
    found = {
        "mean": mean,
        "sd": accuracies.std(axis=-1, ddof=1) if several else np.full(mean.shape, np.nan),
        "lowest": lowest,
        "highest": highest,
        "range": highest - lowest,
        **dict(zip(QUANTILES, np.quantile(accuracies, list(QUANTILES.values()), axis=-1), strict=True)),
        "gain": highest - mean,
    }
    saturation = 1 - found["gain"]
    return found | {"saturation": saturation, "combined": saturation * highest}


def intervals(right: Array, level: float = LEVEL) -> dict[str, tuple[float, float, float]]:
    """Compute `summary` with intervals from right answers (items, templates): 1, 0, or NaN where there is none.

    Returns
    -------
    dict
        Figure -> estimate, lower, upper end. The ends are NaN for the SD, and for fewer than two items.
    """
    known = ~np.isnan(right)
    part, whole = np.where(known, right, 0.0), known.astype(float)
    with np.errstate(invalid="ignore"):
        estimate = summary(part.sum(axis=0) / whole.sum(axis=0))
    found = {name: (float(value), np.nan, np.nan) for name, value in estimate.items()}
    if len(right) < 2:
        return found
    ends = _ends(part, whole, level)
    return found | {name: (found[name][0], float(low), float(high)) for name, (low, high) in ends.items()}


def _ends(part: Array, whole: Array, level: float) -> dict[str, tuple[float, float]]:
    number = part.shape[1]
    share: Share = [(part, whole)]
    every: Share = [(part[:, [k]], whole[:, [k]]) for k in range(number)]
    mean, of_all = estimated(every, level), estimated(share, level)
    surely = estimated(share, _of_many(level, number))
    low, high = surely.lower, surely.upper
    found = {
        "mean": (mean.lower[0], mean.upper[0]),
        "lowest": (of_all.lower.min(), high.min()),
        "highest": (low.max(), of_all.upper.max()),
        "combined": _combined(every, level),
    }
    for name, q in QUANTILES.items():
        below, above = (low if q > 0.5 else of_all.lower), (high if q < 0.5 else of_all.upper)
        found[name] = float(np.quantile(below, q)), float(np.quantile(above, q))
    if number > 1:
        a, b = np.array(list(permutations(range(number), 2))).T
        pairs = estimated(share, _of_many(level, len(a)))
        found["range"] = (
            max(0.0, newcombe(pairs.take(a), pairs.take(b))[0].max()),
            min(1.0, newcombe(of_all.take(a), of_all.take(b))[1].max()),
        )
        same = np.zeros(number, np.intp)
        lower = newcombe(surely, estimated(every, _of_many(level, number)).take(same))[0].max()
        upper = newcombe(of_all, mean.take(same))[1].max()
        found["gain"] = max(0.0, lower), min(1.0, upper)
        found["saturation"] = 1 - found["gain"][1], 1 - found["gain"][0]
    return found


def _of_many(level: float, number: int) -> float:
    """Return the coverage of each of several intervals with which all of them hold in `level` of cases."""
    return 1 - (1 - level) / number


def _combined(every: Share, level: float) -> tuple[float, float]:
    def of(values: Array) -> tuple[Array, Array]:
        highest, mean = values.max(axis=0), values.mean(axis=0)
        slopes = np.broadcast_to(highest / len(values), values.shape).copy()
        slopes[values.argmax(axis=0), np.arange(values.shape[1])] += 1 - 2 * highest + mean
        return (1 - highest + mean) * highest, slopes

    found = estimated(Made([[pair] for pair in every], of), level)
    return float(found.lower[0]), float(found.upper[0])
