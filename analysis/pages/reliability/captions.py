"""Write the captions of the figures; each function takes the frames of its namesake in `plots`."""

from __future__ import annotations

import pandas as pd

from analysis.pages.reliability.comparisons import ITEMS
from analysis.pages.reliability.plots import CONDITIONS, LINES, lines
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
        f"variance components predict it. Wordings: {row['design']}. Marks: the number that was asked. Where a line is "
        "flat, more wordings add nothing."
        f"{labels.shown(LINES, len(own), 'models', 'that wordings widen least and most')}"
    )


def wording_ranking(frame: pd.DataFrame) -> str:
    """Write the caption of the ranks."""
    row = frame.iloc[0]
    over = f"mean {row['measure']} over {count(int(row['n_items']), 'common item')}"
    rather = ""
    if row["task"]:
        rather = " Rather too long: how far models share errors of items is not known from accuracies."
        of = "its mean over tasks" if row["task"] == "all" else f"that in {row['task']}"
        over = f"{row['measure']} under condition {row['condition']}, {of}"
    return (
        f"Rank of {count(len(frame), 'model')} by {over}, the highest first. Lines: ranks that hold in 95 % of other "
        f"studies with as many {'other items' if row['anew'] == ITEMS else OTHERS}.{rather}"
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


def template_reliability(frame: pd.DataFrame) -> str:
    """Write the caption of the reliability with one template and with four."""
    return (
        f"Reliability of the ranking of {low_to_high(frame['n_models'])} models by one template of each task, and by "
        "four: share of the variance of their accuracies that is not due to templates. Lines: 95 % intervals for "
        f"models and templates like these, from {low_to_high(frame['n_templates'])} templates of a task."
        f"{_panels(frame)}"
    )


def template_ranges(frame: pd.DataFrame) -> str:
    """Write the caption of the ranges over templates."""
    return (
        f"Highest minus lowest accuracy over {low_to_high(frame['n_templates'])} templates of a task: a dot for each "
        f"of {count(frame['model'].nunique(), 'model')}. Stroke: mean over models. The range grows with the number of "
        f"templates, and with what luck adds.{_panels(frame)}"
    )


def _panels(frame: pd.DataFrame) -> str:
    conditions, tasks = frame["condition"].nunique(), frame["task"].nunique()
    return (
        (" A panel for each condition." if conditions > 1 else "")
        + labels.shown(CONDITIONS, conditions, "conditions", "first")
        + labels.shown(panels.ROWS, tasks, "tasks", "first and last")
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
