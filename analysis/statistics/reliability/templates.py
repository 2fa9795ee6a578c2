"""Sum up the accuracies of the templates that all items share, as studies of many prompts do, with intervals.

Intervals are for these templates, with items drawn anew, from those of each template's accuracy (Wilson's) and of
differences between two (Newcombe's). The highest of several accuracies is too high on average: its template was lucky,
too. So the lower end is the highest of the lower ends of *all* templates, wide enough for none to be wrong in 95 % of
studies (Bonferroni; Clopper and Pearson's, as Wilson's do not hold so far out); for the upper end, the highest of the
plain upper ends is enough, since the best template has one of them. The same holds for the lowest, the range (the
largest difference of two), the gain (the largest difference from the mean), saturation, and quantiles on their side of
the median. The combined score lies between its least and its largest value over the intervals of highest and mean
(`_compute_bounds_of_saturation_times_highest`): a chain rule at the luckiest template covered .51 with 60 equal ones.

The estimates of highest and combined score are the papers', which luck makes too high: by .08 of .22 with 20 equal
templates and 100 independent answers. `correct_best_scores_for_luck` estimates them without it: every accuracy is
drawn towards their mean by the share of their variance that items alone explain (Efron and Morris).

With 10 to 1,000 items and 5 to 60 templates, equal or unlike, at accuracies of .22 and .8, these cover .93 and more of
every figure (`tests/benchmarks/bench_templates.py`). The SD has no interval; the component of wordings (`panel`) has.

Accuracies alone, without answers, have the wider case: how far errors go together is not known (`aggregated`).

References
----------
Polo, F. M. et al. (2024). Efficient multi-prompt evaluation of LLMs. NeurIPS (quantiles over templates, section 2).
Mizrahi, M. et al. (2024). State of what art? A call for multi-prompt LLM evaluation. TACL 12, 933-949 (section 5: MaxP,
AvgP, saturation, combined performance score).
Efron, B. and Morris, C. (1973). Stein's estimation rule and its competitors. JASA 68, 117-130
(`correct_best_scores_for_luck`). Miller, R. G. (1981). Simultaneous Statistical Inference, chapter 2 (Bonferroni).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from itertools import permutations
from typing import TypeAlias

import numpy as np

from analysis.statistics.reliability.components import Array, estimate_variance_components
from analysis.statistics.resampling import LEVEL
from analysis.statistics.shares import Share, ShareEstimate, clopper_pearson, estimate_share, newcombe, wilson

QUANTILES = {"q05": 0.05, "q25": 0.25, "q50": 0.5, "q75": 0.75, "q95": 0.95}


def summarize_accuracies(accuracies: Array) -> dict[str, Array]:
    """Sum up accuracies (..., templates) over their last axis.

    Returns
    -------
    dict
        mean (AvgP), sd (n - 1 below; NaN for one template), lowest, highest (MaxP), range, q05 ... q95 (linear
        interpolation), gain: highest minus mean; saturation: 1 minus gain; combined: saturation times highest.
    """
    mean, highest, lowest = accuracies.mean(axis=-1), accuracies.max(axis=-1), accuracies.min(axis=-1)
    several = accuracies.shape[-1] > 1
    figures = {
        "mean": mean,
        "sd": accuracies.std(axis=-1, ddof=1) if several else np.full(mean.shape, np.nan),
        "lowest": lowest,
        "highest": highest,
        "range": highest - lowest,
        **dict(zip(QUANTILES, np.quantile(accuracies, list(QUANTILES.values()), axis=-1), strict=True)),
        "gain": highest - mean,
    }
    saturation = 1 - figures["gain"]
    return figures | {"saturation": saturation, "combined": saturation * highest}


def correct_best_scores_for_luck(
    accuracies: Array, noise_variance: float, intervals: Mapping[str, tuple[float, float, float]]
) -> dict[str, float]:
    """Estimate the highest accuracy and the combined score without the luck of the best template.

    Accuracies are drawn towards their mean m: m + r (a - m), where r = 1 - noise / variance, and at least 0. Nothing is
    estimated below the intervals of highest and combined score.

    Parameters
    ----------
    accuracies
        Of the templates: (templates,).
    noise_variance
        Variance of an accuracy about the mean of all that items alone explain:
        `estimate_item_noise_variance_of_templates`, `estimate_item_noise_variance_from_accuracies`.
    intervals
        From `summarize_accuracies_from_answers_with_intervals` or `summarize_template_accuracies_with_intervals`.

    Returns
    -------
    dict
        highest_corrected, combined_corrected; NaN for one template, which nothing was chosen from, and where the noise
        is not known.
    """
    figures = ("highest", "combined")
    if len(accuracies) < 2 or np.isnan(noise_variance):
        return {f"{name}_corrected": np.nan for name in figures}
    variance = float(accuracies.var(ddof=1))
    true = max(0.0, 1 - noise_variance / variance) if variance > 0 else 0.0
    shrunk_figures = summarize_accuracies(accuracies.mean() + true * (accuracies - accuracies.mean()))
    return {f"{name}_corrected": float(np.fmax(shrunk_figures[name], intervals[name][1])) for name in figures}


def estimate_item_noise_variance_of_templates(right_answers: Array) -> float:
    """Return how far items alone move a template's accuracy apart from the others' (items, templates), as a variance.

    It is the component of items by templates, divided by the number of items (harmonic mean over templates).
    """
    return estimate_variance_components(right_answers, crossed=True).residual * float(
        (1 / (~np.isnan(right_answers)).sum(axis=0)).mean()
    )


def estimate_item_noise_variance_from_accuracies(accuracies: Array, n_answers: Array) -> float:
    """Return how far items alone move a template's accuracy apart from the others', as a variance, without answers.

    As if the errors of the templates were independent, which makes it too large.

    Parameters
    ----------
    accuracies, n_answers
        Of the templates, and the numbers of answers behind them: (templates,).

    Returns
    -------
    float
        A variance, as of `estimate_item_noise_variance_of_templates`.
    """
    return float((accuracies * (1 - accuracies) / n_answers).mean())


def summarize_accuracies_from_answers_with_intervals(right_answers: Array) -> dict[str, tuple[float, float, float]]:
    """Compute `summarize_accuracies` with intervals, from right answers (items, templates): 1, 0, or NaN for none.

    Returns
    -------
    dict
        Figure -> estimate, lower, upper end. The ends are NaN for the SD, and for fewer than two items.
    """
    has_answer = ~np.isnan(right_answers)
    part, whole = np.where(has_answer, right_answers, 0.0), has_answer.astype(float)
    with np.errstate(invalid="ignore"):
        accuracies = part.sum(axis=0) / whole.sum(axis=0)
    return _join_summaries_with_interval_ends(
        accuracies, _compute_summary_intervals_from_answers(part, whole) if len(right_answers) > 1 else {}
    )


def summarize_template_accuracies_with_intervals(
    accuracies: Array, n_answers: Array
) -> dict[str, tuple[float, float, float]]:
    """Compute `summarize_accuracies` with intervals from one model's accuracies, without answers.

    Of the wider case: Wilson's with n of one template for the mean, and Newcombe's for independent shares for range,
    gain and saturation.

    Parameters
    ----------
    accuracies, n_answers
        Of the templates, and the numbers of answers behind them: (templates,).

    Returns
    -------
    dict
        As of `summarize_accuracies_from_answers_with_intervals`.
    """
    number, mean = len(accuracies), float(accuracies.mean())
    plain = wilson(accuracies, n_answers, LEVEL)
    surely = clopper_pearson(accuracies, n_answers, _apply_bonferroni_to_level(number)) if number > 1 else plain
    ends = _compute_summary_interval_ends(plain, surely, _compute_wilson_ends(mean, n_answers.min(), LEVEL))
    if number > 1:
        pairs = clopper_pearson(accuracies, n_answers, _apply_bonferroni_to_level(number * (number - 1)))
        ends["range"] = _compute_ends_of_largest_difference(accuracies, pairs, plain, accuracies[:, None], pairs, plain)
        of_mean = ends["mean"]
        mean_surely = _compute_wilson_ends(mean, n_answers.min(), _apply_bonferroni_to_level(number))
        ends |= _build_gain_and_saturation_intervals(
            _compute_ends_of_largest_difference(accuracies, surely, plain, np.array([[mean]]), mean_surely, of_mean)
        )
    return _join_summaries_with_interval_ends(accuracies, ends)


Ends: TypeAlias = tuple[Array | float, Array | float]


def _join_summaries_with_interval_ends(
    accuracies: Array, ends: Mapping[str, tuple[float, float]]
) -> dict[str, tuple[float, float, float]]:
    """Put the figures and the ends of their intervals side by side."""
    figures = {}
    for name, value in summarize_accuracies(accuracies).items():
        lower, upper = ends.get(name, (np.nan, np.nan))
        figures[name] = float(value), float(lower), float(upper)
    return figures


def _compute_summary_intervals_from_answers(part: Array, whole: Array) -> dict[str, tuple[float, float]]:
    """Compute the ends of the intervals of all summary figures but the SD, from answers (items, templates)."""
    number = part.shape[1]
    share: Share = [(part, whole)]
    every: Share = [(part[:, [k]], whole[:, [k]]) for k in range(number)]
    mean = _widen_share_estimate_for_missing_templates(estimate_share(every, LEVEL), whole, LEVEL)
    of_all = estimate_share(share, LEVEL)
    surely = (
        _estimate_shares_with_clopper_pearson_ends(share, _apply_bonferroni_to_level(number)) if number > 1 else of_all
    )
    ends = _compute_summary_interval_ends((of_all.lower, of_all.upper), (surely.lower, surely.upper),
                            (float(mean.lower[0]), float(mean.upper[0])))  # fmt: skip
    if number > 1:
        a, b = np.array(list(permutations(range(number), 2))).T
        pairs = _estimate_shares_with_clopper_pearson_ends(share, _apply_bonferroni_to_level(len(a)))
        ends["range"] = (
            max(0.0, newcombe(pairs.select_units(a), pairs.select_units(b))[0].max()),
            min(1.0, newcombe(of_all.select_units(a), of_all.select_units(b))[1].max()),
        )
        same = np.zeros(number, np.intp)
        joint_level = _apply_bonferroni_to_level(number)
        mean_surely = _widen_share_estimate_for_missing_templates(
            estimate_share(every, joint_level), whole, joint_level
        )
        lower = newcombe(surely, mean_surely.select_units(same))[0].max()
        upper = newcombe(of_all, mean.select_units(same))[1].max()
        ends |= _build_gain_and_saturation_intervals((max(0.0, lower), min(1.0, upper)))
    return ends


def _compute_summary_interval_ends(
    separate_ends: tuple[Array, Array], joint_ends: tuple[Array, Array], mean_ends: tuple[float, float]
) -> dict[str, tuple[float, float]]:
    """Return the ends of all that is made of single accuracies and their mean.

    Ends of every template's accuracy are `separate_ends` each for itself, `joint_ends` so that all hold at once.
    """
    (lower, upper), (low, high) = separate_ends, joint_ends
    ends = {"mean": mean_ends, "lowest": (lower.min(), high.min()), "highest": (low.max(), upper.max())}
    for name, q in QUANTILES.items():
        below, above = (low if q > 0.5 else lower), (high if q < 0.5 else upper)
        ends[name] = float(np.quantile(below, q)), float(np.quantile(above, q))
    return ends | {"combined": _compute_bounds_of_saturation_times_highest(ends["highest"], mean_ends)}


def _compute_bounds_of_saturation_times_highest(
    highest_ends: tuple[float, float], mean_ends: tuple[float, float]
) -> tuple[float, float]:
    """Return the least and the largest (1 - h + m) h with h and m in their intervals.

    It grows with m; in h it is a parabola that is open below and has its top at (1 + m) / 2.
    """

    def combine_highest_and_mean_accuracy(h: float, m: float) -> float:
        """Compute the combined score from the highest accuracy and the mean."""
        return (1 - h + m) * h

    top = min(max((1 + mean_ends[1]) / 2, highest_ends[0]), highest_ends[1])
    return min(combine_highest_and_mean_accuracy(h, mean_ends[0]) for h in highest_ends), min(
        1.0, combine_highest_and_mean_accuracy(top, mean_ends[1])
    )


def _build_gain_and_saturation_intervals(gain_ends: tuple[float, float]) -> dict[str, tuple[float, float]]:
    """Return the ends of gain and saturation, which is 1 minus the gain."""
    return {"gain": gain_ends, "saturation": (1 - gain_ends[1], 1 - gain_ends[0])}


def _widen_share_estimate_for_missing_templates(mean: ShareEstimate, has_answer: Array, level: float) -> ShareEstimate:
    """Widen the interval of the mean where items lack templates: each is centred on few answers, which are near it.

    A variance about a mean of n answers is (n - 1) / n of the true one.
    """
    sizes = has_answer.sum(axis=0)
    if has_answer.all() or not (sizes > 1).any():
        return mean
    n = mean.n * float(((sizes - 1) / sizes).mean())
    lower, upper = wilson(mean.estimate, n, level)
    return replace(mean, lower=lower, upper=upper, n=n)


def _estimate_shares_with_clopper_pearson_ends(share: Share, level: float) -> ShareEstimate:
    """Estimate shares with Clopper and Pearson's interval."""
    shares = estimate_share(share, level)
    lower, upper = clopper_pearson(shares.estimate, shares.n, level)
    return replace(shares, lower=lower, upper=upper)


def _apply_bonferroni_to_level(n_intervals: int) -> float:
    """Return the coverage of each of several intervals with which all of them hold in `LEVEL` of cases."""
    return 1 - (1 - LEVEL) / n_intervals


def _compute_wilson_ends(share: float, n: float, level: float) -> tuple[float, float]:
    """Compute Wilson's interval of a single share as two floats."""
    lower, upper = wilson(np.asarray(share), np.asarray(n), level)
    return float(lower), float(upper)


def _compute_ends_of_largest_difference(
    a: Array, a_joint_ends: Ends, a_separate_ends: Ends, b: Array, b_joint_ends: Ends, b_separate_ends: Ends
) -> tuple[float, float]:
    """Return the ends of the largest difference a - b: Newcombe's, the lower one of all at once."""
    low = a - b - np.hypot(a - a_joint_ends[0], np.transpose(b_joint_ends[1] - b.T))
    high = a - b + np.hypot(a_separate_ends[1] - a, np.transpose(b.T - b_separate_ends[0]))
    return max(0.0, float(low.max())), min(1.0, float(high.max()))
