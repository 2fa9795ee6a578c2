"""Sum up the accuracies of the templates that all items share, as studies of many prompts do, with intervals.

Intervals are for these templates, with items drawn anew. The highest of several accuracies is too high on average, and
resampled ones are too high once more: so an end is 2 x figure - percentile of the draws (the basic bootstrap), which
takes the second excess for the first. In a simulation with 4 and 10 templates these covered .83 to .97: with 62 items
.90 of mean, highest and combined score, but .81 of the SD over 10 templates that hardly differ. The component of
wordings (`panel`) has no such excess.

References
----------
Polo, F. M. et al. (2024). Efficient multi-prompt evaluation of LLMs. NeurIPS (quantiles over templates, section 2).
Mizrahi, M. et al. (2024). State of what art? A call for multi-prompt LLM evaluation. TACL 12, 933-949 (section 5: MaxP,
AvgP, saturation, combined performance score).
Davison, A. C. and Hinkley, D. V. (1997). Bootstrap Methods and their Application, section 5.2 (basic intervals).
"""

from __future__ import annotations

import numpy as np

from analysis.statistics.reliability.components import Array
from analysis.statistics.resampling import LEVEL, counts, percentiles

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


def intervals(
    right: Array, *, draws: int, seed: int = 0, level: float = LEVEL
) -> dict[str, tuple[float, float, float]]:
    """Compute `summary` with intervals from right answers (items, templates): 1, 0, or NaN where there is none.

    Returns
    -------
    dict
        Figure -> estimate, lower, upper end. The ends are NaN where no draws were asked for, all draws are alike, or a
        template has no answer in one of them.
    """
    known = ~np.isnan(right)
    filled = np.where(known, right, 0.0)
    with np.errstate(invalid="ignore"):
        estimate = summary(filled.sum(axis=0) / known.sum(axis=0))
    found = {name: (float(value), np.nan, np.nan) for name, value in estimate.items()}
    if not draws or len(right) < 2:
        return found
    with np.errstate(invalid="ignore", divide="ignore"):
        drawn = np.concatenate([part @ filled / (part @ known) for part in counts(len(right), draws, seed)])
    for name, values in summary(drawn).items():
        low, high = percentiles(values, level)
        if high - low > 1e-9:
            middle = found[name][0]
            below, above = 2 * middle - float(high), 2 * middle - float(low)
            found[name] = middle, max(0.0, below), min(1.0, above)  # all of them are between 0 and 1
    return found
