"""Write the captions of the figures; each function takes the frames of its namesake in `plots`."""

from __future__ import annotations

import pandas as pd

from analysis.pages.scoring.items import phrase_temperature
from analysis.pages.scoring.plots import (
    LOGARITHMIC,
    MOST_LINES,
    MOST_NAMES,
    select_most_influential_omissions,
    select_temperature_lines_to_draw,
)
from analysis.pages.scoring.undefined import EQUAL
from analysis.reporting.catalogue import look_up_column
from analysis.reporting.catalogue.columns import format_value_by_column
from analysis.reporting.drawing import panels
from analysis.reporting.words import (
    explain_missing_interval_lines,
    explain_no_interval,
    format_count_range,
    format_quantity,
    labels,
)
from ground.capitals import capitalise_sentence

_HOLLOW = "Hollow: base models; filled: all others."


def _describe_missing_legend(n_names: int) -> str:
    """Say that a legend is left out; empty where it is there."""
    return (
        ""
        if n_names <= MOST_NAMES
        else f" No legend: {n_names:,} names are more than it has room for; the table has them."
    )


def _describe_logarithmic_axis(kurtosis: pd.Series) -> str:
    """Say what the axis of kurtosis is; empty where it is an even one."""
    return " The axis of kurtosis is logarithmic beyond 1." if kurtosis.max() > LOGARITHMIC else ""


def caption_score_violins(items: pd.DataFrame) -> str:
    """Write the caption of the violins."""
    span, temperature, method = str(items["setting"].iloc[0]).rsplit("/", 2)
    sizes = items.groupby(["study", "group"])["item"].nunique()
    groups = f"in {format_quantity(len(sizes), 'group')} " if len(sizes) > 1 else ""
    human = " Grey: the human scores, moved to the same range." if items["gold"].notna().any() else ""
    unscored, rows = int(items["score"].isna().sum()), labels.build_row_labels(items).nunique()
    left_out_text = f" Left out: {format_quantity(unscored, 'missing score')}." if unscored else ""
    return (
        f"Distribution of the scores that {format_quantity(items['model'].nunique(), 'model')} gave to "
        f"{format_count_range(sizes, 'item')} {'each ' if len(sizes) > 1 else ''}{groups}on the range "
        f"{span} at {phrase_temperature(temperature)} ({method} scores). Kernel densities, each scaled to the same "
        f"height, cut at the lowest and highest score. Stroke: median. {_HOLLOW}{human}{left_out_text}"
        f"{labels.describe_shown_rows(panels.ROWS, rows, 'rows', 'with the lowest and highest mean score')}"
        f"{labels.explain_mark_of_unjudged_models(items)}"
    )


def caption_score_temperatures(scores: pd.DataFrame) -> str:
    """Write the caption of the curves by temperature."""
    first = scores.iloc[0]
    drawn = select_temperature_lines_to_draw(scores)
    flat = int((drawn["kurtosis"].isna() & drawn["caution"].str.startswith(EQUAL)).sum())
    lines = len(scores[["study", "model", "form", "prompt"]].drop_duplicates())
    flat_text = f" No mark of kurtosis where {EQUAL}: {flat} of {format_quantity(len(drawn), 'point')}." if flat else ""
    return (
        f"Kurtosis of the scores and their tau-b with the human scores by temperature: {first['method']} scores on the "
        f"range {first['range']}, over {format_count_range(scores['n'], 'item')} per "
        f"group.{_describe_logarithmic_axis(drawn['kurtosis'])} Lines: 95 % "
        f"bootstrap intervals over items.{explain_missing_interval_lines(scores, 'kurtosis', 'tau')} Hollow, dashed: "
        f"base models; filled, solid: all others.{flat_text}"
        f"{labels.describe_shown_rows(MOST_LINES, lines, 'lines', 'with the lowest and highest mean tau')}"
        f"{labels.explain_mark_of_unjudged_models(scores)}"
    )


def caption_score_methods(frame: pd.DataFrame) -> str:
    """Write the caption of the comparison of sampled and exact scores."""
    rows_with_tau = frame.dropna(subset=["tau_difference"])
    peaks = frame[["kurtosis_sampled", "kurtosis_exact"]].dropna()
    samples = format_count_range(frame["samples"], "sample")
    return (
        f"Kurtosis and tau-b of item scores that are the mean of {samples}, by those of the exact expected "
        f"scores. Shown: {format_quantity(len(frame), 'combination')} of group, model, range and temperature "
        f"({format_quantity(len(rows_with_tau), 'has', 'have')} both taus). Dashed: both are equal. Below it, sampled "
        f"scores have the lower tau. {_HOLLOW}{_describe_missing_legend(labels.build_row_labels(frame).nunique())}"
        f"{_describe_logarithmic_axis(peaks.stack())}{labels.explain_mark_of_unjudged_models(frame)}"
    )


def caption_score_influence(influence: pd.DataFrame, points: pd.DataFrame) -> str:
    """Write the caption of the points that the correlation is made of.

    Parameters
    ----------
    influence, points
        As in `plots.draw_score_influence`.

    Returns
    -------
    str
        The caption.
    """
    whole = influence[influence["omitted"] == "nothing"].iloc[0]
    omissions = select_most_influential_omissions(influence)
    total = int((influence["omitted"] != "nothing").sum())
    pearson = format_value_by_column(whole["pearson"], look_up_column("score_influence", "pearson"))
    interval_text = f" ({explain_no_interval(whole, 'pearson')})" if whole["no_interval"] else ""
    if pd.notna(whole["pearson_lower"]):
        interval_text = ", with its 95 % bootstrap interval over points"
    omissions_text = (
        f"the {len(omissions)} of {total} omissions that change it most" if total > len(omissions) else "every omission"
    )
    omission_panel_text = (
        f" Second panel: Pearson's correlation without single points, groups and series, {omissions_text}. Dashed and "
        f"grey: all points, {pearson}{interval_text}."
    )
    point_text = (
        " The point named moves the correlation most." if len(omissions) else f" Pearson's correlation: {pearson}."
    )
    temperature = phrase_temperature(f"{whole['temperature']:g}")
    return (
        f"{capitalise_sentence(whole['source'])}, range {whole['range']} at {temperature}, "
        f"{whole['method']} scores. Change of kurtosis and of tau by tuning, one point per "
        f"group and series (n = {int(whole['n'])}, {int(whole['undefined'])} not used).{point_text}"
        f"{omission_panel_text if len(omissions) else ' Too few points to leave any out.'}"
    )
