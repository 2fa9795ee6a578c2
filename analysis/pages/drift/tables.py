"""Compute the tables of the page on times: which there are, and every measure at each of them."""

from __future__ import annotations

import numpy as np
import pandas as pd

from analysis.measures.reworded.flips import FLIPS
from analysis.pages.drift.series import Series, read_measure_series_of_reasked_units
from analysis.pages.drift.wordings import MIXED
from analysis.runs import Runs
from analysis.statistics.drift import LOOKS, Drift, detect_change_over_looks
from analysis.statistics.reliability.panel import Panel, estimate_panel_mean
from analysis.statistics.resampling import Array
from ground.errors import InputError


def tabulate_looks_of_models_and_conditions(runs: Runs) -> pd.DataFrame:
    """Tabulate the looks at every model and condition.

    Parameters
    ----------
    runs
        From `analysis.runs.open_runs(..., over_time=True)`.

    Returns
    -------
    DataFrame
        study, model, condition, look: from 1 on, time, folder; wordings: whether those of all looks are the same;
        n_items: common ones; n_left_out: items of the last look that others have not; n_wordings: answered, mean of
        items; validity, validity_at_most: its upper bound, NaN where it is exact; changed_settings: what run.json
        records otherwise than at the look before.
    """
    rows = []
    for series in _select_one_series_per_condition(read_measure_series_of_reasked_units(runs)):
        for number, (look, answers) in enumerate(zip(series.looks, series.answers, strict=True), start=1):
            rows.append({
                **build_unit_columns_of_series(series), "look": number, "time": look.label,
                "folder": str(look.runs.folders[0].path),
                "wordings": series.wordings, "n_items": len(series.items), "n_left_out": series.n_left_out,
                "n_wordings": float((~np.isnan(answers)).sum(axis=1).mean()), "validity": look.validity,
                "validity_at_most": look.validity_at_most,
                "changed_settings": ", ".join(look.changed_settings),
            })  # fmt: skip
    return pd.DataFrame(rows)


def tabulate_measures_at_each_look(runs: Runs, *, looks: int = LOOKS) -> pd.DataFrame:
    """Compute every measure at every time.

    Parameters
    ----------
    runs
        As in `tabulate_looks_of_models_and_conditions`.
    looks
        Looks that are planned, over which the level is spent.

    Returns
    -------
    DataFrame
        study, model, condition, measure, headline, look, time, n_items, n_wordings; value: mean over items;
        value_lower, value_upper: 95 % interval for these wordings; like_lower, like_upper: for wordings like these;
        p_so_far: of a change up to this look, corrected for all looks that are planned.

    Raises
    ------
    InputError
        For fewer than two looks that are planned.
    """
    rows = []
    for series, drift in detect_changes_of_all_series(runs, looks):
        for number, (look, answers) in enumerate(zip(series.looks, series.answers, strict=True)):
            panel = _estimate_mean_answer_at_time(series, answers)
            lower, upper = panel.compute_interval("items")
            like = panel.compute_interval("both") if _can_estimate_wording_spread(series, answers) else (np.nan, np.nan)
            rows.append({
                **build_unit_columns_of_series(series), "measure": series.measure,
                "headline": is_series_of_headline_measure(series), "look": number + 1, "time": look.label,
                "n_items": panel.n_items, "n_wordings": panel.n_wordings, "value": panel.mean,
                "value_lower": lower, "value_upper": upper, "like_lower": like[0], "like_upper": like[1],
                "p_so_far": drift.p[number],
            })  # fmt: skip
    return pd.DataFrame(rows)


def list_answers_at_every_look(runs: Runs) -> pd.DataFrame:
    """List all answers over time; not a table of the report, but what its notebook begins with.

    Returns
    -------
    DataFrame
        study, model, condition, measure, look, time, item, answer: a row per wording with an answer.
    """
    parts = [pd.DataFrame(columns=["study", "model", "condition", "measure", "look", "time", "item", "answer"])]
    for series in read_measure_series_of_reasked_units(runs):
        for number, (look, answers) in enumerate(zip(series.looks, series.answers, strict=True), start=1):
            rows, columns = np.nonzero(~np.isnan(answers))
            parts.append(pd.DataFrame({
                **build_unit_columns_of_series(series), "measure": series.measure, "look": number, "time": look.label,
                "item": np.array(series.items)[rows], "answer": answers[rows, columns],
            }))  # fmt: skip
    return pd.concat(parts[1:] or parts, ignore_index=True)


def detect_changes_of_all_series(runs: Runs, looks: int) -> list[tuple[Series, Drift]]:
    """Test all series, once per `Runs` and number of looks.

    Parameters
    ----------
    runs
        From `analysis.runs.open_runs`.
    looks
        How often the items are asked at most, from 2 on.

    Returns
    -------
    list of (Series, Drift)

    Raises
    ------
    InputError
        `looks` is below 2.
    """
    if looks < 2:
        raise InputError(f"looks = {looks}: give how often the items are asked at most, from 2 on")
    return runs.compute_once(
        ("changes over looks", looks),
        lambda: [
            (series, _detect_change_of_series(series, looks)) for series in read_measure_series_of_reasked_units(runs)
        ],
    )


def _detect_change_of_series(series: Series, looks: int) -> Drift:
    """Test a series; without p values where only some looks share wordings: answers to the same ones are alike."""
    drift = detect_change_over_looks(series.answers, series.has_shared_fresh_wordings, looks)
    if series.wordings != MIXED:
        return drift
    unknown = np.full(len(series.looks), np.nan)
    return Drift(unknown, unknown, drift.first_changed, drift.likely_first, drift.likely_last)


def _can_estimate_wording_spread(series: Series, answers: Array) -> bool:
    """Tell whether a look says how far other wordings would move its mean."""
    return not series.crossed if series.measure == FLIPS else has_item_answered_in_two_wordings(answers)


def _estimate_mean_answer_at_time(series: Series, answers: Array) -> Panel:
    """Estimate the mean of a look with its variance components."""
    if series.measure == FLIPS:
        return estimate_panel_mean(answers, False, is_share=True)
    return series.study_read.estimate_mean_and_components_of_answers(answers)


def has_item_answered_in_two_wordings(answers: Array) -> bool:
    """Tell whether an item has answers to two wordings."""
    return int((~np.isnan(answers)).sum(axis=1).max(initial=0)) > 1


def is_series_of_headline_measure(series: Series) -> bool:
    """Tell whether sentences are about the measure."""
    return series.study_read.headline and series.measure != FLIPS


def _select_one_series_per_condition(all_series: list[Series]) -> list[Series]:
    """Keep one series of every study, model and condition: they share their looks."""
    first: dict[tuple[str, str, str], Series] = {}
    for series in all_series:
        first.setdefault((series.study, series.model, series.condition), series)
    return list(first.values())


def build_unit_columns_of_series(series: Series) -> dict[str, str]:
    """Return what a series is of."""
    return {"study": series.study, "model": series.model, "condition": series.condition}
