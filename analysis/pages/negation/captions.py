"""Write the captions of the figures; each function takes the frame of its namesake in `plots`."""

from __future__ import annotations

import pandas as pd

from analysis.pages.negation.plots import LINES, choose_slope_rows
from analysis.reporting.drawing import panels
from analysis.reporting.words import format_count_range, format_quantity, labels

FEW_ANSWERS = "less than half of the answers are one of the labels"  # of models that are not judged
INTERVALS = "Lines: 95 % intervals over originals (shares: Wilson; differences: Newcombe)."
ORDER = "whose share changes most over important negations, judged ones first,"
KINDS = "Important: the negation changes the right label; unimportant: it does not."


def caption_negation_slopes(frame: pd.DataFrame) -> str:
    """Write the caption of the slopes."""
    rows, models = choose_slope_rows(frame), frame["model"].nunique()
    several = frame[["model", "condition"]].drop_duplicates()["model"].duplicated().any()
    where = ", each in the condition with most valid answers" if several else ""
    return (
        f"Share of right labels of {format_quantity(rows['model'].nunique(), 'model')}{where}, without and with a "
        f"negation. The two sides of a minimal pair differ in that one; {format_count_range(rows['n'], 'pair')} per "
        f"line. {KINDS} {INTERVALS.replace('Lines', 'Vertical lines')} Counterpart of Acc and Acc′ in Yoshida et "
        f"al., Table 2.{labels.describe_shown_rows(LINES, models, 'models', ORDER)}"
        f"{labels.explain_mark_of_unjudged_models(rows, FEW_ANSWERS)}"
    )


def caption_negation_changes(frame: pd.DataFrame) -> str:
    """Write the caption of the changes."""
    n_rows = labels.build_row_labels(frame).nunique()
    selection = labels.describe_shown_rows(panels.ROWS, n_rows, "rows", "with the largest and the smallest loss")
    return (
        "Share of right labels with the negation minus without, of "
        f"{format_quantity(frame['model'].nunique(), 'model')} over {format_count_range(frame['n'])} minimal pairs per "
        f"row. {KINDS} {INTERVALS} Left of the dashed line, a negation costs right labels. Counterpart of AccChg in "
        f"Yoshida et al., Table 2.{selection}{labels.explain_mark_of_unjudged_models(frame, FEW_ANSWERS)}"
    )
