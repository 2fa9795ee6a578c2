"""Write the captions of the figures; each function takes the frame of its namesake in `plots`."""

from __future__ import annotations

import pandas as pd

from analysis.pages.benchmarks.measures import MEASURE
from analysis.pages.benchmarks.plots import (
    NAMED,
    PANELS,
    SIDE,
    build_symmetric_matrix_and_measure_order,
    select_drawn_measures,
)
from analysis.pages.benchmarks.repeated import describe_counts_of_rows_per_model
from analysis.reporting.catalogue.columns import SHARE
from analysis.reporting.words import format_count_range, format_quantity, labels
from analysis.reporting.words.validity import FEW_ANSWERS
from analysis.statistics.multiplicity import ALPHA
from ground.capitals import uncapitalise_sentence


def _caption_hollow_points(frame: pd.DataFrame) -> str:
    """Say what a hollow point means; empty where there is none."""
    has_silent = "silent" in frame and frame["silent"].any()
    return f" Hollow: {uncapitalise_sentence(FEW_ANSWERS)}, so the point is in no coefficient." if has_silent else ""


def _caption_missing_legend(n_models: int) -> str:
    """Say that all models look alike; empty where a legend names them."""
    return "" if n_models <= NAMED else f" One colour for all {n_models:,} models; the table names them."


def caption_size_measures(frame: pd.DataFrame) -> str:
    """Write the caption of measures against size."""
    drawn_rows = select_drawn_measures(frame)
    models = drawn_rows["model"].nunique()
    return (
        f"{_format_measure_count(drawn_rows)} against the size of {format_quantity(models, 'model')} (logarithmic "
        "scale), a panel for each, a point per model that has it. Each measure has its own scale, and the page named "
        "in the table explains it."
        f"{_caption_counterpart_in_paper(drawn_rows, 'Overall', 4)}{_caption_left_out_measures(frame)}"
        f"{_caption_hollow_points(drawn_rows)}{_caption_missing_legend(models)}"
    )


def caption_accuracy_measures(frame: pd.DataFrame) -> str:
    """Write the caption of measures against accuracy."""
    drawn_rows = select_drawn_measures(frame)
    models = drawn_rows["model"].nunique()
    line = " Line: equal values, for orientation." if (drawn_rows["unit"] == SHARE).any() else ""
    return (
        f"{_format_measure_count(drawn_rows)} against the accuracy on the same items, a panel for each: "
        f"{format_quantity(models, 'model')}, a point per model that has it.{line}"
        f"{_caption_counterpart_in_paper(drawn_rows, 'Consistency', 5)}{_caption_left_out_measures(frame)}"
        f"{_caption_hollow_points(drawn_rows)}{_caption_missing_legend(models)}"
    )


def _caption_counterpart_in_paper(frame: pd.DataFrame, measure: str, figure_number: int) -> str:
    """Say which figure of the paper has a measure; empty where it is not there."""
    has_measure = frame["measure"].str.startswith(measure).any()
    return f" {measure} is the counterpart of Takayama et al., Figure {figure_number}." if has_measure else ""


def _format_measure_count(frame: pd.DataFrame) -> str:
    """Write the number of measures that are drawn, as in "3 measures"."""
    return format_quantity(frame.groupby(MEASURE).ngroups, "measure")


def _caption_left_out_measures(frame: pd.DataFrame) -> str:
    """Say that only the first measures are drawn; empty where all are."""
    total, ending = frame.groupby(MEASURE).ngroups, ", by turns from every page; the table has all"
    return labels.describe_shown_rows(PANELS, total, "measures", "first", ending)


def caption_coefficients(frame: pd.DataFrame) -> str:
    """Write the caption of a matrix of correlations."""
    values, order = build_symmetric_matrix_and_measure_order(frame)
    method = f"{frame['method'].iloc[0].capitalize()} correlations" if "method" in frame else "Pearson correlations"
    place = " Each name stands at the end of its row and on top of its column; a numbered legend has long ones."
    place += labels.describe_shown_rows(SIDE, len(order), "measures", "with the largest mean coefficients")
    if "source" in frame:
        return (
            f"{method} between {len(order)} measures as printed in {frame['source'].iloc[0]}, in the printed order, "
            f"redrawn from the printed numbers: other models and other items than ours.{place}"
        )
    n = f", n = {format_count_range(frame['n'], 'model')}" if "n" in frame else ""
    empty = " Hatched: fewer than 4 models, or a value that never varies." if pd.isna(values).any() else ""
    clear = f" Bold or dotted: p below {ALPHA:g} after Holm." if "p_holm" in frame else ""
    return (
        f"{method} between {len(order)} measures over models{n}, in the order of the "
        f"table.{place}{empty}{clear}{describe_counts_of_rows_per_model(frame)} The table has intervals and p values. "
        "Counterpart of Takayama et al., Figure 8."
    )
