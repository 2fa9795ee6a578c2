"""Write the captions of the figures; each function takes the frame of its namesake in `plots`."""

from __future__ import annotations

import pandas as pd

from analysis.pages.benchmarks.plots import MEASURE, NAMED, PANELS, SIDE, square
from analysis.pages.benchmarks.repeated import told
from analysis.reporting import labels
from analysis.reporting.columns import SHARE
from analysis.reporting.words import count, low_to_high
from analysis.statistics.multiplicity import ALPHA


def _hollow(frame: pd.DataFrame) -> str:
    """Say what a hollow point means; empty where there is none."""
    hollow = "silent" in frame and frame["silent"].any()
    return " Hollow: less than half of the answers are valid, so the point is in no coefficient." if hollow else ""


def _unnamed(models: int) -> str:
    """Say that a legend is left out; empty where it is there."""
    return "" if models <= NAMED else f" No legend: {models:,} models are more than colours; the table names them."


def size_measures(frame: pd.DataFrame) -> str:
    """Write the caption of measures against size."""
    models = frame["model"].nunique()
    return (
        f"{_measures(frame)} against the size of {count(models, 'model')} (logarithmic), a point per model, each in "
        "its own form of the prompt. The table has the coefficients."
        f"{_counterpart(frame, 'Overall', 4)}{_left_out(frame)}{_hollow(frame)}{_unnamed(models)}"
    )


def accuracy_measures(frame: pd.DataFrame) -> str:
    """Write the caption of measures against accuracy."""
    models = frame["model"].nunique()
    line = " Line: equal values, for orientation." if (frame["unit"] == SHARE).any() else ""
    return (
        f"{_measures(frame)} against the accuracy on the same items, a panel for each: {count(models, 'model')}, a "
        f"point per model.{line}{_counterpart(frame, 'Consistency', 5)}{_left_out(frame)}"
        f"{_hollow(frame)}{_unnamed(models)}"
    )


def _counterpart(frame: pd.DataFrame, measure: str, figure: int) -> str:
    """Say which figure of the paper has a measure; empty where it is not there."""
    there = frame["measure"].str.startswith(measure).any()
    return f" {measure} is the counterpart of Takayama et al., Figure {figure}." if there else ""


def _measures(frame: pd.DataFrame) -> str:
    return count(frame.groupby(MEASURE).ngroups, "measure")


def _left_out(frame: pd.DataFrame) -> str:
    return labels.shown(PANELS, frame.groupby(MEASURE).ngroups, "measures", "first")


def coefficients(frame: pd.DataFrame) -> str:
    """Write the caption of a matrix of correlations."""
    values, order = square(frame)
    method = f"{frame['method'].iloc[0].capitalize()} correlations" if "method" in frame else "Pearson correlations"
    place = " Each name stands at the end of its row and on top of its column."
    place += labels.shown(SIDE, len(order), "measures", "with the largest mean coefficients")
    if "source" in frame:
        return (
            f"{method} between {len(order)} measures as printed in {frame['source'].iloc[0]}, in the printed order, "
            f"redrawn from the printed numbers: other models and other items than ours.{place}"
        )
    n = f", n = {low_to_high(frame['n'])} models" if "n" in frame else ""
    empty = " Hatched: fewer than 4 models, or a value that never varies." if pd.isna(values).any() else ""
    clear = f" Bold or dotted: p below {ALPHA:g} after Holm." if "p_holm" in frame else ""
    return (
        f"{method} between {len(order)} measures over models{n}, in the order of the "
        f"table.{place}{empty}{clear}{told(frame)} The table has intervals and p values. "
        "Counterpart of Takayama et al., Figure 8."
    )
