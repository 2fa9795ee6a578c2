"""Measure response styles of models: what moves their answers whatever is asked.

Every style is a difference of two numbers that a reader can look at: of acquiescence the mean s from .5, of the ends
and the middle a model's share from the mean of the other models', of order and labels s shown in one way from s in
another.

References
----------
Baumgartner, H. and Steenkamp, J.-B. (2001). Response styles in marketing research. Journal of Marketing Research 38,
143-156 (acquiescence over balanced keys, extreme and middle responding).
Schuman, H. and Presser, S. (1981). Questions and Answers in Attitude Surveys, chapter 2 (order of the options).
Dominguez-Olmedo, R., Hardt, M. and Mendler-Duenner, C. (2024). Questioning the survey responses of large language
models. NeurIPS (order and labels of options).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np
import numpy.typing as npt

from analysis.measures.ratings import Ratings, average_known_over_first_axis, group_units_by_columns
from analysis.measures.ratings_rows import PERSONA, SHOWN
from analysis.measures.ratings_wordings import select_places_of_units_showing_middle
from analysis.measures.thresholds import is_validity_below_half
from analysis.statistics.ordered import MIDDLE as HALF
from analysis.statistics.ordered import compute_shares_of_end_options, compute_shares_of_middle_option
from analysis.statistics.reliability.panel import estimate_panel_mean
from analysis.statistics.reliability.replication import compute_p_of_panel_mean_against_value
from analysis.statistics.resampling import Array
from analysis.statistics.strata import estimate_stratified_mean

ACQUIESCENCE, ENDS, MIDDLE, ORDER, CUT = "acquiescence", "ends", "middle", "order", "no middle"
LABELS = "labels"  # before the two that are compared: "labels numbers-words"
LEAST, LEAST_SHARE = (
    0.02,
    0.05,
)  # the least difference that is a style: of s, and of shares at the ends or in the middle
UP, DOWN = "up", "down"
Places = npt.NDArray[np.intp]


@dataclass(frozen=True, slots=True)
class Style:
    """Hold one style of one model in one setting.

    Attributes
    ----------
    unit
        Model and setting.
    style
        One of `ACQUIESCENCE`, `ENDS`, `MIDDLE`, `ORDER`, `CUT`, or `LABELS` with two labels.
    value, against
        The model's number, and what it is compared with.
    ends, like_ends
        95 % intervals of value - against, for these wordings and for wordings like these.
    n_items
        Items that it is computed from.
    p
        p value of the test whether the difference is beyond `LEAST`, or `LEAST_SHARE`, for items and wordings like
        these; 1 where it is not beyond it here; NaN where it cannot be told.
    """

    unit: tuple[str, str]
    style: str
    value: float
    against: float
    ends: tuple[float, float]
    like_ends: tuple[float, float]
    n_items: int
    p: float


def iterate_model_response_styles(ratings: Ratings) -> Iterator[Style]:
    """Measure the styles of every model in every setting, those that its conditions tell of."""
    settings = ratings.list_unit_places_by_model_and_setting()
    for unit, places in settings:
        yield _measure_acquiescence(ratings, unit, places)
    for style, shares in (
        (ENDS, compute_shares_of_end_options(ratings.shares, ratings.n_options[:, :, None])),
        (MIDDLE, compute_shares_of_middle_option(ratings.shares, ratings.n_options[:, :, None])),
    ):
        # Of two options there is nothing between the ends.
        shares = np.where(ratings.n_options[:, :, None] > 2, shares, np.nan)
        yield from _compare_share_of_each_model_with_others(ratings, style, shares)
    for unit, places in settings:
        for style, (value, against) in average_model_scores_shown_in_two_ways(ratings, places).items():
            yield _build_style_from_common_answers(unit, style, value, against, ratings.crossed)


def _measure_acquiescence(ratings: Ratings, unit: tuple[str, str], places: Places) -> Style:
    """Measure the mean s before reversing, with equal weight for both keys of every scale that has both."""
    scores = average_known_over_first_axis(ratings.scores[places])
    stratum = np.full(len(ratings.items), -1)
    n_strata = 0
    for scale in ratings.scales:
        of_scale = ratings.mark_scale_items(scale)
        keys = [of_scale & (ratings.item_keying_signs == key) for key in (1, -1)]
        if all(mask.any() for mask in keys):
            for mask in keys:
                stratum[mask] = n_strata
                n_strata += 1
    balanced = stratum >= 0
    estimate = estimate_stratified_mean(scores[balanced], stratum[balanced], crossed=ratings.crossed)
    low, high = estimate.compute_interval("items")
    like_low, like_high = estimate.compute_interval("both")
    ends, like_ends = (low - HALF, high - HALF), (like_low - HALF, like_high - HALF)
    p = 1.0 if abs(estimate.mean - HALF) <= LEAST else estimate.compute_p_against(
        HALF + math.copysign(LEAST, estimate.mean - HALF)
    )  # fmt: skip
    return Style(unit, ACQUIESCENCE, estimate.mean, HALF, ends, like_ends, estimate.n_items, p)


def _compare_share_of_each_model_with_others(ratings: Ratings, style: str, shares: Array) -> Iterator[Style]:
    """Compare every model's share with the mean of the other models' in the same setting.

    Its p value is the larger of two: against their mean, and against the model in the middle of them; 1 where it is
    above one of these and not above the other. One model that stands apart moves the mean of the others, so that
    without the second one, all would differ from it.
    """
    settings = ratings.list_unit_places_by_model_and_setting()
    averages = [
        average_known_over_first_axis(shares[select_places_of_units_showing_middle(ratings, places)])
        for _, places in settings
    ]
    means = [float(np.nanmean(average)) if not np.isnan(average).all() else np.nan for average in averages]
    by_condition: dict[str, list[int]] = {}  # -> places of the models that answer, the lowest mean first
    for place in np.argsort(means, kind="stable").tolist():  # NaN last
        if not np.isnan(means[place]) and not is_validity_below_half(
            ratings.average_validity_over_units(settings[place][1])
        ):
            by_condition.setdefault(settings[place][0][1], []).append(place)
    sums = {
        condition: sum((np.nan_to_num(averages[place]) for place in group), np.zeros(()))
        for condition, group in by_condition.items()
    }
    counts = {
        condition: sum((~np.isnan(averages[place]) for place in group), np.zeros(()))
        for condition, group in by_condition.items()
    }
    for place, (unit, _) in enumerate(settings):
        if np.isnan(means[place]):
            continue
        group, own = by_condition.get(unit[1], []), averages[place]
        if place not in group or len(group) < 2:
            value = estimate_panel_mean(own, ratings.crossed, is_share=False)
            nothing = (np.nan, np.nan)
            yield Style(unit, style, value.mean, np.nan, nothing, nothing, value.n_items, np.nan)
            continue
        n_others = counts[unit[1]] - ~np.isnan(own)
        against = (sums[unit[1]] - np.nan_to_num(own)) / np.where(n_others > 0, n_others, np.nan)
        compared = _build_style_from_common_answers(unit, style, own, against, ratings.crossed)
        in_middle = averages[_find_median_model_of_others(means, place, group)]
        with_middle = _build_style_from_common_answers(unit, style, own, in_middle, ratings.crossed)
        is_same_side = (compared.value > compared.against) == (with_middle.value > with_middle.against)
        yield replace(compared, p=float(np.maximum(compared.p, with_middle.p)) if is_same_side else 1.0)


def _find_median_model_of_others(means: list[float], place: int, in_order: list[int]) -> int:
    """Find the model in the middle of the others by its mean; of two, the one that is nearer."""
    rank, n_others = in_order.index(place), len(in_order) - 1
    middle = [in_order[k if k < rank else k + 1] for k in ((n_others - 1) // 2, n_others // 2)]
    return min(middle, key=lambda other: abs(means[other] - means[place]))


def average_model_scores_shown_in_two_ways(ratings: Ratings, places: Places) -> dict[str, tuple[Array, Array]]:
    """Pair the conditions of a model in one setting that differ in how the options are shown.

    Parameters
    ----------
    ratings
        The answers.
    places
        Units of the setting.

    Returns
    -------
    dict
        `ORDER`, `CUT`, or `LABELS` with two labels -> s shown in one way and in the other, before reversing: two arrays
        (items, wordings), means over the pairs of conditions; NaN where one of a pair has no answer. Without those that
        no two conditions tell of.
    """
    part = ratings.units.iloc[places]
    labels = list(dict.fromkeys(part["labels"].dropna()))
    comparisons = [(ORDER, "option_order", UP, DOWN), (CUT, "without_middle", True, False)]
    comparisons += [(f"{LABELS} {a}-{b}", "labels", a, b) for a, b in combinations(labels, 2)]
    compared = {}
    for style, column, first, second in comparisons:
        pairs = []
        for _, group in group_units_by_columns(part, [key for key in (*SHOWN, PERSONA) if key != column]):
            by_value = dict(zip(part[column].iloc[group], places[group], strict=True))
            if first in by_value and second in by_value:
                pairs.append((by_value[first], by_value[second]))
        if pairs:
            sides = [ratings.scores[[pair[side] for pair in pairs]] for side in (0, 1)]
            has_both = ~np.isnan(sides[0]) & ~np.isnan(sides[1])
            value, against = (average_known_over_first_axis(np.where(has_both, side, np.nan)) for side in sides)
            compared[style] = (value, against)
    return compared


def _build_style_from_common_answers(
    unit: tuple[str, str], style: str, value: Array, against: Array, crossed: bool
) -> Style:
    """Compare two panels (items, wordings) on the answers that both have.

    Shares at the ends and in the middle are skewed over wordings, of which a study shares too few to correct for that:
    95 % intervals of 24 to 60 items in five to eight shared wordings held the truth in .90 to .92 of simulated studies
    (`tests/benchmarks/bench_scale_styles.py`). So there is none for other wordings.
    """
    difference = value - against
    panel = estimate_panel_mean(difference, crossed, is_share=False)
    is_common = ~np.isnan(difference)
    least = LEAST_SHARE if style in (ENDS, MIDDLE) else LEAST
    p = 1.0 if abs(panel.mean) <= least else compute_p_of_panel_mean_against_value(
        panel, "both", math.copysign(least, panel.mean)
    )  # fmt: skip
    is_skewed = style in (ENDS, MIDDLE) and crossed
    return Style(
        unit, style, estimate_panel_mean(np.where(is_common, value, np.nan), crossed, is_share=False).mean,
        estimate_panel_mean(np.where(is_common, against, np.nan), crossed, is_share=False).mean,
        panel.compute_interval("items"), (np.nan, np.nan) if is_skewed else panel.compute_interval("both"),
        panel.n_items, p,
    )  # fmt: skip
