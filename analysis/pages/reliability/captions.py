"""Write the captions of the figures; each function takes the frames of its namesake in `plots`."""

from __future__ import annotations

import pandas as pd

from analysis.pages.reliability.comparisons import ITEMS
from analysis.pages.reliability.plots import LINES, lines
from analysis.reporting import labels, panels
from analysis.reporting.words import count, low_to_high

OTHERS = "other items and other wordings"


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
        f"that hold in 95 % of other studies with as many {'other items' if row['anew'] == ITEMS else OTHERS}."
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


def planned_errors(frame: pd.DataFrame) -> str:
    """Write the caption of the errors that were foreseen."""
    row, models = frame.iloc[0], frame["label"].nunique()
    return (
        f"Standard errors of {count(models, 'model')} by the number of wordings of each of "
        f"{low_to_high(frame['n_items'])} items. Lines: foreseen from {low_to_high(frame['n_pilot'])} wordings. Marks: "
        f"computed from wordings that were held back. Wordings: {row['design']}."
        f"{labels.shown(LINES, models, 'models', 'first and last in run.json')}"
    )


def ranking_calibration(frame: pd.DataFrame) -> str:
    """Write the caption of the probabilities that came true."""
    row = frame.iloc[0]
    return (
        f"Pairs of {count(int(row['n_models']), 'model')} by {row['measure']}. Each half of the wordings foresees how "
        "likely a pair keeps its order in the other half. Dots: pairs with similar probabilities, larger where there "
        f"are more of them ({low_to_high(frame['n_cases'])}). On the dashed line, probabilities come true. Pairs share "
        "models and halves share data, so that there are no intervals."
    )
