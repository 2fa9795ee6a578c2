"""Write the captions of the figures; each function takes the frame of its namesake in `plots`."""

from __future__ import annotations

import pandas as pd

from analysis.pages.negation.plots import LINES, lines
from analysis.reporting import labels, panels
from analysis.reporting.words import count, low_to_high

INTERVALS = "Lines: 95 % intervals over originals (shares: Wilson; differences: Newcombe)."
KINDS = "Important: the negation changes the right label; unimportant: it does not."


def slopes(frame: pd.DataFrame) -> str:
    """Write the caption of the slopes."""
    rows, models = lines(frame), frame["model"].nunique()
    several = frame[["model", "condition"]].drop_duplicates()["model"].duplicated().any()
    where = ", each in the condition with most valid answers" if several else ""
    return (
        f"Share of right labels of {count(rows['model'].nunique(), 'model')}{where}, without and with the one negation "
        f"in which the two sides of a minimal pair differ ({low_to_high(rows['n'])} pairs per line). {KINDS} "
        f"{INTERVALS.replace('Lines', 'Vertical lines')} Counterpart of Acc and Acc′ in Yoshida et al., Table 2."
        f"{labels.shown(LINES, models, 'models', 'whose share changes most over important negations')}"
        f"{labels.explained(rows)}"
    )


def changes(frame: pd.DataFrame) -> str:
    """Write the caption of the changes."""
    return (
        f"Share of right labels with the negation minus without, of {count(frame['model'].nunique(), 'model')} over "
        f"{low_to_high(frame['n'])} minimal pairs per row. {KINDS} {INTERVALS} Left of the dashed line, a negation "
        "costs right labels. Counterpart of AccChg in Yoshida et al., Table 2."
        f"{labels.shown(panels.ROWS, labels.series(frame).nunique(), 'rows', 'with the largest and the smallest loss')}"
        f"{labels.explained(frame)}"
    )
