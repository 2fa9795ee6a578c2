"""Write the captions of the figures; each function takes the frame of its namesake in `plots`."""

from __future__ import annotations

import pandas as pd

from analysis.pages.benchmarks.plots import NAMED, SIDE, square
from analysis.pages.benchmarks.repeated import told
from analysis.reporting import labels
from analysis.reporting.words import count
from analysis.statistics.multiplicity import ALPHA


def _hollow(frame: pd.DataFrame) -> str:
    """Say what a hollow point means; empty where there is none."""
    hollow = "silent" in frame and frame["silent"].any()
    return " Hollow: less than half of the answers are valid, so the point is in no coefficient." if hollow else ""


def _unnamed(models: int) -> str:
    """Say that a legend is left out; empty where it is there."""
    return "" if models <= NAMED else f" No legend: {models:,} models are more than colours; the table names them."


def size_overall(frame: pd.DataFrame) -> str:
    """Write the caption of Overall against size."""
    known = frame.dropna(subset=["parameters", "value"])
    return (
        f"Overall, averaged over patterns and tasks, against the size of {count(known['model'].nunique(), 'model')} "
        f"(logarithmic): {count(len(known), 'point')}, one per model and condition. The table has the coefficients. "
        f"Counterpart of Takayama et al., Figure 4.{_hollow(frame)}{_unnamed(known['model'].nunique())}"
    )


def accuracy_consistency(frame: pd.DataFrame) -> str:
    """Write the caption of Consistency against accuracy."""
    return (
        "Consistency against accuracy before rewording, a panel per pattern: "
        f"{count(frame['model'].nunique(), 'model')}, a point per model, language, task and condition. Line: equal "
        f"values, for orientation. Counterpart of Takayama et al., Figure 5.{_hollow(frame)}"
        f"{_unnamed(frame['model'].nunique())}"
    )


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
    n = f", n = {int(frame['n'].min()):,} to {int(frame['n'].max()):,} models" if "n" in frame else ""
    where = ", ".join(
        str(frame[name].iloc[0]) for name in ("task", "language", "condition") if name in frame and frame[name].iloc[0]
    )
    empty = " Hatched: fewer than 4 models, or a value that never varies." if pd.isna(values).any() else ""
    clear = f" Bold or dotted: p below {ALPHA:g} after Holm." if "p_holm" in frame else ""
    return (
        f"{method} between {len(order)} measures over models{f' ({where})' if where else ''}{n}, in the order of the "
        f"file.{place}{empty}{clear}{told(frame)} The table has intervals and p values. "
        "Counterpart of Takayama et al., Figure 8."
    )
