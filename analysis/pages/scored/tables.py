"""Compute the tables about models: means with both intervals, spreads over wordings, and paired differences."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from analysis.measures.reworded.scored import HIGHER, LOWER, Scored, list_scored_per_study_and_measure
from analysis.reporting.words.beyond import tabulate_pair_difference_tests_of_study
from analysis.runs import Runs
from analysis.statistics import interval
from analysis.statistics.multiplicity import correct_families_by_holm
from analysis.statistics.resampling import DRAWS, average_columns_in_each_draw, bootstrap_intervals
from analysis.statistics.shares import build_shares_counting_items_once
from analysis.statistics.spread import compute_ranges, compute_standard_deviations
from ground.errors import InputError

PASSED = ("passed_all", "passed_some", "passed_none")
DIFFERENCES = ("difference", "lower", "upper", "like_lower", "like_upper")


def tabulate_scored_means(runs: Runs) -> pd.DataFrame:
    """Compute the mean score of every model by every measure with both intervals.

    Returns
    -------
    DataFrame
        study, model, condition, measure, headline (bool), range, direction, design, validity; n_items, n_wordings, n:
        as in `reliability.panel.Panel`; mean, mean_lower, mean_upper: with the interval for these wordings; like_lower,
        like_upper: for wordings like these; error: standard error with items and wordings drawn anew.
    """
    rows = []
    for scored in list_scored_per_study_and_measure(runs):
        study = scored.study
        for unit in range(len(study.units)):
            panel = study.estimate_mean_and_components(unit)
            ends = [panel.compute_interval("items"), panel.compute_interval("both")]
            (low, high), (like_low, like_high) = scored.low + scored.width * np.array(ends)
            rows.append({
                **_build_key_columns_of_unit(scored, unit), "range": scored.study.range_text,
                "direction": LOWER if study.lower_is_better else HIGHER, "design": study.design,
                "validity": study.validity[unit], "n_items": panel.n_items, "n_wordings": panel.n_wordings,
                "n": panel.n, "mean": scored.low + scored.width * panel.mean, "mean_lower": low, "mean_upper": high,
                "like_lower": like_low, "like_upper": like_high,
                "error": scored.width * panel.compute_standard_error("both"),
            })  # fmt: skip
    return pd.DataFrame(rows)


def _build_key_columns_of_unit(scored: Scored, unit: int) -> dict[str, Any]:
    """Return the columns that name the row of a unit."""
    model, condition = scored.study.units[unit]
    return {
        "study": scored.study.name, "model": model, "condition": condition, "measure": scored.study.measure,
        "headline": scored.study.headline,
    }  # fmt: skip


def tabulate_score_spread_over_wordings(
    runs: Runs, *, passing: float = 0.5, resamples: int = DRAWS, seed: int = 0
) -> pd.DataFrame:
    """Compute how far the wordings of an item move its score, and how many items pass in some of them only.

    Parameters
    ----------
    runs
        From `analysis.runs.open_runs`.
    passing
        The threshold: this share of the range, or of a measure without a range, this quantile of all scores; where that
        is the worst score, the next better one.
    resamples
        Bootstrap samples of the items.
    seed
        Of the random draws.

    Returns
    -------
    DataFrame
        study, model, condition, measure, headline, validity; n_items: with two scored wordings or more;
        wordings_least: fewest of such an item; wordings_most: most of any item; threshold; sd, range, passed_all,
        passed_some, passed_none: means over the items with two, with X_lower, X_upper over items; no_interval.

    Raises
    ------
    InputError
        For a threshold that is no share.
    """
    if not 0 < passing <= 1:
        raise InputError(f"passing = {passing}: give a share of the range above 0 and up to 1, such as 0.5")
    parts = [
        _tabulate_spread_in_one_measure(scored, passing, resamples, seed)
        for scored in list_scored_per_study_and_measure(runs)
    ]
    return pd.concat(parts, ignore_index=True) if parts else pd.DataFrame()


def _tabulate_spread_in_one_measure(scored: Scored, passing: float, resamples: int, seed: int) -> pd.DataFrame:
    """Compute the spread of every unit of a study by one measure."""
    threshold = scored.find_score_dividing_share_of_range(passing)
    sizes = (~np.isnan(scored.scores)).sum(axis=2)
    is_compared = sizes > 1
    passing_mask = scored.scores <= threshold if scored.study.lower_is_better else scored.scores >= threshold
    passes = passing_mask.sum(axis=2)  # NaN does not pass
    columns = {
        "sd": compute_standard_deviations(scored.scores), "range": compute_ranges(scored.scores),
        "passed_all": (passes == sizes).astype(float), "passed_none": (passes == 0).astype(float),
        "passed_some": ((passes > 0) & (passes < sizes)).astype(float),
    }  # fmt: skip
    intervals = bootstrap_intervals(
        {name: np.where(is_compared, column, np.nan).T for name, column in columns.items()},
        average_columns_in_each_draw, partial(build_shares_counting_items_once, names=PASSED),
        draws=resamples, seed=seed,
    )  # fmt: skip
    least = np.where(is_compared, sizes, np.iinfo(int).max).min(axis=1)
    names = pd.DataFrame([_build_key_columns_of_unit(scored, unit) for unit in range(len(scored.study.units))])
    n_items = is_compared.sum(axis=1)
    size_columns = {
        "validity": scored.study.validity, "n_items": n_items, "wordings_least": np.where(n_items > 0, least, 0),
        "wordings_most": sizes.max(axis=1), "threshold": threshold,
    }  # fmt: skip
    return names.assign(**size_columns, **interval.build_interval_columns(intervals))


def tabulate_scored_differences(runs: Runs) -> pd.DataFrame:
    """Test the differences between models, and between conditions of a model, by every measure.

    Returns
    -------
    DataFrame
        study, measure, headline, a_model, a_condition, b_model, b_condition; n_items, n_wordings: common ones;
        difference: a minus b; lower, upper: interval for these wordings; like_lower, like_upper: for wordings like
        these; p_items, p: p values for either; p_items_holm, p_holm: after Holm over the pairs of a study and measure.
    """
    parts = []
    for scored in list_scored_per_study_and_measure(runs):
        pairs = tabulate_pair_difference_tests_of_study(runs, scored.study)
        if len(pairs):
            parts.append(pairs.assign(**{name: scored.width * pairs[name] for name in DIFFERENCES}))
    if not parts:
        return pd.DataFrame()
    frame = pd.concat(parts, ignore_index=True)
    return frame.assign(p_items_holm=correct_families_by_holm(frame, ["study", "measure"], "p_items"))
