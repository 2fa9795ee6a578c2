"""Compute the tables of the page on changes: which measures changed, since when, by how much, and in which items."""

from __future__ import annotations

import numpy as np
import pandas as pd

from analysis.measures.reworded.flips import FLIPS
from analysis.measures.thresholds import refuse_too_few_examples
from analysis.pages.drift.columns import CANNOT_TELL, CHANGED, NOT_FOUND
from analysis.pages.drift.series import Series
from analysis.pages.drift.tables import (
    build_unit_columns_of_series,
    detect_changes_of_all_series,
    has_item_answered_in_two_wordings,
    is_series_of_headline_measure,
)
from analysis.pages.drift.wordings import SAME
from analysis.runs import Runs
from analysis.statistics.drift import (
    LOOKS,
    Drift,
    compute_confidence_level_for_all_looks,
    compute_least_p_of_change,
)
from analysis.statistics.multiplicity import ALPHA, correct_families_by_holm
from analysis.statistics.reliability.panel import (
    Panel,
    compute_p_norm_of_squared_limits,
    compute_squared_half_widths_and_freedom,
    estimate_panel_mean,
)
from analysis.statistics.resampling import LEVEL, Array


def tabulate_change_verdict_of_each_series(runs: Runs, *, looks: int = LOOKS) -> pd.DataFrame:
    """Say of every model, condition and measure whether it changed, since when, and by how much.

    Parameters
    ----------
    runs, looks
        As in `tabulate_measures_at_each_look`.

    Returns
    -------
    DataFrame
        study, model, condition, measure, headline, lower_is_better; validity_least, validity_least_at_most: the lowest
        validity of all looks, and its upper bound, NaN where it is exact; n_looks, n_untested: looks beyond the planned
        ones; n_items, wordings; found: `CHANGED`, `NOT_FOUND` or `CANNOT_TELL`; p: of a change at any look, corrected
        for all planned looks; p_holm: after Holm over all rows; alarm_time: the look that found it; changed_time: the
        look that the strongest change begins with; likely_first, likely_last: between which looks it begins; these
        four are empty where no change was found. before, after: means on both sides of it, or where none was found, of
        all looks before the last one, and of the last one; difference, lower, upper: for these wordings; like_lower,
        like_upper: for wordings like these. Intervals of a change hold at once for all looks that it could begin with:
        the data chose one of them.

    Raises
    ------
    InputError
        For fewer than two looks that are planned.
    """
    detected = detect_changes_of_all_series(runs, looks)
    if not detected:
        return pd.DataFrame()
    frame = pd.DataFrame([build_unit_columns_of_series(series) | {"p": drift.p[-1]} for series, drift in detected])
    least = [compute_least_p_of_change(row.answers, row.has_shared_fresh_wordings, looks) for row, _ in detected]
    frame = frame.assign(page=0, least=np.where(frame["p"].isna(), np.nan, least))
    # What would not be found if all rows changed as much as they could, is not told.
    holm, least_holm = (correct_families_by_holm(frame, ["page"], column) for column in ("p", "least"))
    rows = []
    for (series, drift), p, p_holm, least_p_holm in zip(detected, frame["p"], holm, least_holm, strict=True):
        verdict = CHANGED if p_holm < ALPHA else NOT_FOUND if least_p_holm < ALPHA else CANNOT_TELL
        # What Holm's correction multiplies the last p by, it does at every look.
        alarms = np.flatnonzero(drift.p * (p_holm / p) < ALPHA) if verdict == CHANGED else np.zeros(0, int)
        columns_about_looks = _collect_row_values_on_measure_and_looks(series, looks)
        rows.append(columns_about_looks | _compare_before_and_after_change(series, drift, verdict) | {
            "found": verdict, "p": p, "p_holm": p_holm,
            "alarm_time": series.looks[alarms[0]].label if len(alarms) else "",
        })  # fmt: skip
    return pd.DataFrame(rows)


def tabulate_most_changed_items(runs: Runs, *, looks: int = LOOKS, examples: int = 5) -> pd.DataFrame:
    """List the items that changed most, of every measure in which a change was found.

    Parameters
    ----------
    runs, looks
        As in `tabulate_measures_at_each_look`.
    examples
        Items of each.

    Returns
    -------
    DataFrame
        study, model, condition, measure, item; before, after: means of its looks before the change and from it on;
        difference; text: the item's own wording, or its first one; before_text, after_text: a rewording that it had
        at the last look before the change and at the first one from it on.

    Raises
    ------
    InputError
        For a number of examples below 1, and as `tabulate_change_verdict_of_each_series`.
    """
    refuse_too_few_examples(examples)
    changes = tabulate_change_verdict_of_each_series(runs, looks=looks)
    rows: list[dict[str, object]] = []
    for (series, drift), verdict in zip(
        detect_changes_of_all_series(runs, looks), changes.get("found", ()), strict=True
    ):
        if verdict == CHANGED:
            rows += _list_most_changed_items(series, drift.first_changed, examples)
    return pd.DataFrame(rows)


def _bound_least_validity(series: Series) -> dict[str, float]:
    """Bound the lowest validity of all looks: it lies between the lowest lower bound and the lowest upper one."""
    lowest = [look.validity for look in series.looks]
    highest = [look.validity_at_most for look in series.looks]
    is_exact = bool(np.isnan(highest).all())
    return {
        "validity_least": min(lowest),
        "validity_least_at_most": np.nan if is_exact else min(np.where(np.isnan(highest), lowest, highest)),
    }


def _collect_row_values_on_measure_and_looks(series: Series, looks: int) -> dict[str, object]:
    """Say what was looked at."""
    return {
        **build_unit_columns_of_series(series), "measure": series.measure,
        "headline": is_series_of_headline_measure(series),
        "lower_is_better": series.study_read.lower_is_better or series.measure == FLIPS,
        **_bound_least_validity(series), "n_looks": len(series.looks),
        "n_untested": max(len(series.looks) - looks, 0), "wordings": series.wordings,
    }  # fmt: skip


def _compare_before_and_after_change(series: Series, drift: Drift, verdict: str) -> dict[str, object]:
    """Compare the looks before a change with those from it on; where none was found, the last look with all before."""
    labels = [look.label for look in series.looks]
    has_change = verdict == CHANGED
    place = drift.first_changed if has_change else len(labels) - 1
    level = compute_confidence_level_for_all_looks(len(labels)) if has_change else LEVEL
    before, after = _average_answers_before_and_after(series, place)
    is_common = ~np.isnan(before) & ~np.isnan(after)
    panel = estimate_panel_mean((after - before)[:, None], False, is_share=False)
    cut = series.study_read.clip_difference_interval_at_bounds
    lower, upper = cut(panel.compute_interval("items", level))
    like_lower, like_upper = cut(_compute_interval_for_similar_wordings(series, place, panel, level))
    times = (place, drift.likely_first, drift.likely_last)
    since = [labels[time] if has_change else "" for time in times]
    return {
        "n_items": panel.n_items, "changed_time": since[0], "likely_first": since[1], "likely_last": since[2],
        "before": float(before[is_common].mean()) if panel.n_items else np.nan,
        "after": float(after[is_common].mean()) if panel.n_items else np.nan, "difference": panel.mean,
        "lower": lower, "upper": upper, "like_lower": like_lower, "like_upper": like_upper,
    }  # fmt: skip


def _compute_interval_for_similar_wordings(
    series: Series, place: int, panel: Panel, level: float
) -> tuple[float, float]:
    """Return the interval of a difference for wordings like these, from the panel of the items' differences."""
    if not series.crossed:
        # Items have wordings of their own: how far these move an item shows in how far items differ.
        several = series.wordings != SAME or all(map(has_item_answered_in_two_wordings, series.answers))
        return panel.compute_interval("both", level) if several else (np.nan, np.nan)
    if series.wordings == SAME and len({answers.shape for answers in series.answers}) == 1:
        cells = [_average_present_answers(np.stack(part)) for part in (series.answers[:place], series.answers[place:])]
        of_cells = estimate_panel_mean(cells[1] - cells[0], True, is_share=False)
        return (
            of_cells.compute_interval("both", level)
            if has_item_answered_in_two_wordings(cells[0])
            else (np.nan, np.nan)
        )
    means = [
        [_average_present_answers(answers) for answers in part]
        for part in (series.answers[:place], series.answers[place:])
    ]
    wordings = [np.concatenate(part) for part in means]
    wordings = [part[~np.isnan(part)] for part in wordings]
    freedom = sum(map(len, wordings)) - 2
    if freedom < 1 or not min(map(len, wordings)) or np.isnan(panel.compute_interval("items")).any():
        return np.nan, np.nan  # without an interval for these wordings, none for others: it would be no wider
    squares = sum(float(((part - part.mean()) ** 2).sum()) for part in wordings)
    shared = squares / freedom * sum(1 / len(part) for part in wordings)
    parts = (*panel.parts["items"], (shared, float(freedom)))
    half = float(np.sqrt(compute_p_norm_of_squared_limits(*compute_squared_half_widths_and_freedom(parts, level))))
    return panel.mean - half, panel.mean + half


def _list_most_changed_items(series: Series, place: int, examples: int) -> list[dict[str, object]]:
    """List the items of a series that changed most at a look, with their texts."""
    before, after = _average_answers_before_and_after(series, place)
    distances = np.nan_to_num(np.abs(after - before))
    order = np.argsort(-distances, kind="stable")[:examples]
    texts = [_read_texts_and_first_rewordings_at_look(series, look) for look in (place - 1, place)]
    return [
        {
            **build_unit_columns_of_series(series), "measure": series.measure, "item": series.items[row],
            "before": before[row], "after": after[row], "difference": after[row] - before[row],
            "text": texts[1].at[series.items[row], "text"],
            "before_text": texts[0].at[series.items[row], "reworded"],
            "after_text": texts[1].at[series.items[row], "reworded"],
        }
        for row in order[distances[order] > 0]
    ]  # fmt: skip


def _read_texts_and_first_rewordings_at_look(series: Series, place: int) -> pd.DataFrame:
    """Read of every item of a look its own text, else its first, and its first rewording that was asked."""
    rows = series.looks[place].runs.sql(
        """
        SELECT item, first(text ORDER BY pattern <> 'original', position) AS text,
               coalesce(first(text ORDER BY position) FILTER (pattern <> 'original' AND asked), '') AS reworded
        FROM (SELECT s.*, r.item IS NOT NULL AS asked FROM stimuli AS s LEFT JOIN (
                SELECT DISTINCT item, variant FROM responses WHERE model = ? AND condition = ?) AS r
              USING (item, variant))
        GROUP BY item""",
        [series.model, series.condition],
    )
    return rows.set_index("item")


def _average_answers_before_and_after(series: Series, place: int) -> tuple[Array, Array]:
    """Average the answers of every item before a look, and from it on: each look counts by its number of answers."""
    sides = (np.concatenate(part, axis=1) for part in (series.answers[:place], series.answers[place:]))
    before, after = (_average_present_answers(np.moveaxis(side, 1, 0)) for side in sides)
    return before, after


def _average_present_answers(answers: Array) -> Array:
    """Average answers over the first axis, without those that are missing; NaN where all are."""
    numbers = (~np.isnan(answers)).sum(axis=0)
    return np.divide(np.nansum(answers, axis=0), numbers, out=np.full(numbers.shape, np.nan), where=numbers > 0)
