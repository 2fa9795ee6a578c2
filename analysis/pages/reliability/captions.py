"""Write the captions of the figures; each function takes the frames of its namesake in `plots`."""

from __future__ import annotations

import pandas as pd

from analysis.pages.reliability.plots import LINES, lines
from analysis.reporting import labels, panels
from analysis.reporting.words import count, low_to_high


def wordings_needed(frame: pd.DataFrame) -> str:
    """Write the caption of the curves."""
    row, rows = frame.iloc[0], lines(frame)
    own = frame.drop_duplicates("label")
    return (
        f"Standard error of the mean {row['measure']} of {count(rows['label'].nunique(), 'model')} with other items "
        f"and other wordings, by the number of wordings of each of {low_to_high(own['n_items'])} items, as the "
        f"variance components predict it. Wordings: {row['design']}. Marks: the number that was asked; above its line "
        "where an item has only some of the shared wordings. Where a line is flat, more wordings add nothing."
        f"{labels.shown(LINES, len(own), 'models', 'that wordings widen least and most')}"
    )


def wording_ranking(frame: pd.DataFrame) -> str:
    """Write the caption of the ranks."""
    row = frame.iloc[0]
    items = count(int(row["n_items"]), "common item")
    return (
        f"Rank of {count(len(frame), 'model')} by mean {row['measure']} over {items}, the highest first. Lines: ranks "
        "that hold in 95 % of other studies with as many other items and other wordings."
        f"{labels.shown(panels.ROWS, len(frame), 'models', 'first and last')}"
    )


def template_accuracies(frame: pd.DataFrame) -> str:
    """Write the caption of the accuracies with templates."""
    models = frame["label"].nunique()
    return (
        f"Share of right answers of {count(models, 'model')} with each of "
        f"{count(frame['template'].nunique(), 'template')}: a dot per template, over {low_to_high(frame['n_items'])} "
        "items each. Stroke: mean over templates."
        f"{labels.shown(panels.ROWS, models, 'models', 'with the highest and lowest mean')}"
    )
