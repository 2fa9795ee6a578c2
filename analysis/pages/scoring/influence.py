"""Measure how much one point changes the correlation of differences in kurtosis and tau (Sato et al., 4.1)."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from analysis.measures.thresholds import is_validity_below_half
from analysis.pages.scoring.contrasts import SETTING, tabulate_score_changes_by_tuning
from analysis.pages.scoring.printed import read_printed_score_differences
from analysis.reporting.catalogue.published_numbers import OURS
from analysis.runs import Runs
from analysis.statistics import interval, weighted
from analysis.statistics.resampling import DRAWS, Array, Columns, bootstrap_intervals

NOTHING = "nothing"
LEAST = 3  # points; two always lie on a line
_FAMILY = ["source", "study", *SETTING]


def tabulate_correlations_leaving_points_out(
    runs: Runs, *, biased: bool = True, invalid: str = "dropped", resamples: int = DRAWS, seed: int = 0
) -> pd.DataFrame:
    """Correlate the differences in kurtosis and in tau (Pearson) with all points, and without single ones.

    A point is a group and a series under one setting. The correlation is given for all points, and without each point,
    each group and each series; the same follows for the paper's Table 1.

    Parameters
    ----------
    runs
        From `analysis.runs.open_runs`.
    biased, invalid
        As in `tables.tabulate_score_bias_and_accuracy`.
    resamples, seed
        Draws of the bootstrap over points (0: no intervals) and its seed.

    Returns
    -------
    DataFrame
        source (these runs, or the printed table), study, range, temperature, method; omitted: nothing, point, group or
        series, and omitted_name; n: points left; undefined: points without both differences, left out everywhere (a
        constant score has no kurtosis; a model has a validity below one half); pearson, pearson_lower, pearson_upper:
        correlation, NaN below three points, and its 95 % percentile interval with points resampled; no_interval: why it
        has none; change: pearson minus pearson of all points.
    """
    sources = (
        blank_differences_of_invalid_models(
            tabulate_score_changes_by_tuning(runs, biased=biased, invalid=invalid, resamples=0)
        ),
        read_printed_score_differences(),
    )
    parts = [
        correlate_points_leaving_each_out(part, resamples=resamples, seed=seed).assign(
            **dict(zip(_FAMILY, family, strict=True))
        )
        for source in sources
        if len(source)
        for family, part in add_names_of_correlation_points(source).groupby(_FAMILY, sort=False, dropna=False)
    ]
    return pd.concat(parts, ignore_index=True)


def blank_differences_of_invalid_models(frame: pd.DataFrame) -> pd.DataFrame:
    """Blank the differences of pairs with a model that does not answer (`thresholds.is_validity_below_half`): they
    are no points."""
    if frame.empty:
        return frame
    both_answer = ~(is_validity_below_half(frame["validity_pre"]) | is_validity_below_half(frame["validity_post"]))
    return frame.assign(**{name: frame[name].where(both_answer) for name in ("kurtosis_difference", "tau_difference")})


def add_names_of_correlation_points(frame: pd.DataFrame) -> pd.DataFrame:
    """Name the points of the correlation: add `source` and `point`, such as "En-De/gemma", to rows of
    table `score_differences`.

    If a base model has several tuned ones, the name has the tuned model's id in place of the series; if a model was
    asked in several prompts, the condition, too.
    """
    frame = frame if "source" in frame else frame.assign(source=OURS)
    several = frame.duplicated([*_FAMILY, "group", "series"], keep=False)
    name = frame["series"].where(~several, frame["post_model"])
    # The columns become strings first, because without rows they may have any type.
    point = frame["group"].astype(str) + "/" + name.astype(str)
    is_repeated = frame.assign(point=point).duplicated([*_FAMILY, "point"], keep=False)
    if is_repeated.any():
        point = point.where(~is_repeated, point + " (" + frame["post_condition"].astype(str) + ")")
    return frame.assign(point=point)


def correlate_points_leaving_each_out(points: pd.DataFrame, *, resamples: int = DRAWS, seed: int = 0) -> pd.DataFrame:
    """Correlate all points (`add_names_of_correlation_points`), and those without each point, group and series.

    Parameters
    ----------
    points
        Points of one source and setting.
    resamples, seed
        Draws of the bootstrap over points (0: no intervals) and its seed.

    Returns
    -------
    DataFrame
        The columns of `tabulate_correlations_leaving_points_out` from omitted on.
    """
    defined_points = points.dropna(subset=["kurtosis_difference", "tau_difference"])
    cases: list[tuple[str, str, Any]] = [(NOTHING, "", np.ones(len(defined_points), bool))]
    for omitted in ("point", "group", "series"):
        names = defined_points[omitted].unique()
        if len(names) > 1:
            cases += [(omitted, str(name), (defined_points[omitted] != name).to_numpy()) for name in names]
    point_masks = np.column_stack([case[2] for case in cases])
    measures = {name: defined_points[f"{name}_difference"].to_numpy(float)[:, None] for name in ("kurtosis", "tau")}
    columns = {name: np.where(point_masks, values, np.nan) for name, values in measures.items()}
    intervals = bootstrap_intervals(columns, _correlate_differences_in_each_draw, draws=resamples, seed=seed)
    correlations = intervals["pearson"]
    has_enough = correlations.n_items >= LEAST
    table = pd.DataFrame({"omitted": [case[0] for case in cases], "omitted_name": [case[1] for case in cases]})
    table = table.assign(n=correlations.n_items, undefined=len(points) - len(defined_points))
    for name, values in interval.build_interval_columns({"pearson": correlations}).items():
        table[name] = np.where(has_enough, values, "" if name == "no_interval" else np.nan)
    return table.assign(change=table["pearson"] - table["pearson"].iloc[0])


def _correlate_differences_in_each_draw(columns: Columns, counts: Array) -> dict[str, Array]:
    """Compute Pearson's correlation of the differences in kurtosis and in tau in every draw."""
    return {"pearson": weighted.compute_pearson_correlation_per_draw(counts, columns["kurtosis"], columns["tau"])}
