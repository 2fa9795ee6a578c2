"""Write the captions of the figures; each function takes the frames of its namesake in `plots`."""

from __future__ import annotations

import pandas as pd

from analysis.pages.reliability.columns import ALL, ITEMS
from analysis.pages.reliability.plots import CONDITIONS, LINES, choose_error_curves
from analysis.reporting.drawing import panels
from analysis.reporting.words import format_count_range, format_quantity, labels

OTHERS = "other items and other wordings"


def caption_wordings_needed(frame: pd.DataFrame) -> str:
    """Write the caption of the curves of standard errors by the number of wordings."""
    row, rows = frame.iloc[0], choose_error_curves(frame)
    unit_rows = frame.drop_duplicates("label")
    off_line = ""
    if (rows["item"] == 0).any():
        off_line = (
            " A mark below its line: these items differ less than their wordings alone would make them, which the line "
            "takes for no difference."
        )
    elif ((rows["wording"] == 0) & rows["interaction"].notna()).any():
        off_line = (
            " A mark below its line: these shared wordings differ less than chance would make them, which the line "
            "takes for no difference."
        )
    return (
        f"Standard error of the mean {row['measure']} of {format_quantity(rows['label'].nunique(), 'model')} with "
        "other items and other wordings, by the number of wordings of each of "
        f"{format_count_range(unit_rows['n_items'], 'item')}. The variance components predict it. Wordings: "
        f"{row['design']}. Marks: the number that was asked. Where a line is flat, more wordings add nothing."
        f"{off_line}{labels.describe_shown_rows(LINES, len(unit_rows), 'models', 'that wordings widen least and most')}"
    )


def caption_wording_ranking(frame: pd.DataFrame) -> str:
    """Write the caption of the ranks."""
    row = frame.iloc[0]
    over = f"mean {row['measure']} over {format_quantity(int(row['n_items']), 'common item')}"
    by_rank = frame.sort_values("rank")["mean"]
    end = "lowest" if by_rank.iloc[0] < by_rank.iloc[-1] else "highest"  # of a score whose lower values are better
    caveat = ""
    if row["task"]:
        caveat = " These lines are rather too long: how far models share errors of items is not known from accuracies."
        of = "its mean over tasks" if row["task"] == ALL else f"that in {row['task']}"
        over = f"{row['measure']} under condition {row['condition']}, {of}"
    return (
        f"Rank of {format_quantity(len(frame), 'model')} by {over}, the {end} first. Lines: ranks that hold in 95 % "
        f"of other studies with as many {'other items' if row['anew'] == ITEMS else OTHERS}.{caveat}"
        f"{labels.describe_shown_rows(panels.ROWS, len(frame), 'models', 'first and last')}"
    )


def caption_template_accuracies(frame: pd.DataFrame) -> str:
    """Write the caption of the accuracies with templates."""
    models = frame["label"].nunique()
    return (
        f"Share of right answers of {format_quantity(models, 'model')} with each of "
        f"{format_quantity(frame['template'].nunique(), 'template')}: a dot per template, over "
        f"{format_count_range(frame['n_items'], 'item')} each. Stroke: mean over templates."
        f"{labels.describe_shown_rows(panels.ROWS, models, 'models', 'with the highest and lowest mean')}"
    )


def caption_template_reliability(frame: pd.DataFrame) -> str:
    """Write the caption of the reliability with one template and with four."""
    return (
        f"Reliability of the ranking of {format_count_range(frame['n_models'], 'model')} by one template of each task, "
        "and by four: share of the variance of their accuracies that is not due to templates. Lines: 95 % intervals "
        f"for models and templates like these, from {format_count_range(frame['n_templates'], 'template')} of a task."
        f"{_describe_condition_panels(frame)}"
    )


def caption_template_ranges(frame: pd.DataFrame) -> str:
    """Write the caption of the ranges over templates."""
    return (
        f"Highest minus lowest accuracy over {format_count_range(frame['n_templates'], 'template')} of a task: a dot "
        f"for each of {format_quantity(frame['model'].nunique(), 'model')}. Stroke: mean over models. The range grows "
        f"with the number of templates, and with what luck adds.{_describe_condition_panels(frame)}"
    )


def _describe_condition_panels(frame: pd.DataFrame) -> str:
    """Say that each condition has a panel, and which conditions and tasks are left out."""
    conditions, tasks = frame["condition"].nunique(), frame["task"].nunique()
    return (
        (" A panel for each condition." if conditions > 1 else "")
        + labels.describe_shown_rows(CONDITIONS, conditions, "conditions", "first")
        + labels.describe_shown_rows(panels.ROWS, tasks, "tasks", "first and last")
    )


def caption_planned_errors(frame: pd.DataFrame) -> str:
    """Write the caption of the errors that were foreseen."""
    row, models = frame.iloc[0], frame["label"].nunique()
    return (
        f"Standard errors of {format_quantity(models, 'model')} by the number of wordings of each of "
        f"{format_count_range(frame['n_items'], 'item')}. Lines: foreseen from {format_count_range(frame['n_pilot'])} "
        f"wordings. Marks: computed from wordings that were held back. Wordings: {row['design']}."
        f"{labels.describe_shown_rows(LINES, models, 'models', 'first and last in run.json')}"
    )


def caption_ranking_calibration(frame: pd.DataFrame) -> str:
    """Write the caption of the probabilities that came true."""
    row = frame.iloc[0]
    return (
        f"Pairs of {format_quantity(int(row['n_models']), 'model')} by {row['measure']}. Each half of the wordings "
        "foresees how likely a pair keeps its order in the other half. Dots: pairs with similar probabilities, larger "
        f"where there are more of them ({format_count_range(frame['n_cases'])}). On the dashed line, probabilities "
        "come true. Pairs share models and halves share data, so that there are no intervals."
    )
