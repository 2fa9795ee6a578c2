"""Write the captions of the figures; each function takes the frame of its namesake in `plots`."""

from __future__ import annotations

import pandas as pd

from analysis.measures.thresholds import is_validity_below_half
from analysis.pages.wording.plots import LEAST, MOST_LINES, select_drawn_bins
from analysis.reporting.catalogue.columns import OVER_ITEMS
from analysis.reporting.drawing import panels
from analysis.reporting.words import explain_missing_interval_lines, format_count_range, format_quantity, labels
from analysis.reporting.words.counts import phrase_models_in_conditions
from analysis.runs.folder import ORIGINAL

FEW_ANSWERS = "less than half of the answers are valid"  # of models that are not judged
INTERVALS = f"Lines: {OVER_ITEMS}."


def _join_quoted_task_names(frame: pd.DataFrame) -> str:
    """Join the tasks of a frame in quotation marks, each with its language."""
    language_tasks = frame[["language", "task"]].drop_duplicates()
    task_names = [
        f"“{task}”{f' ({language})' if language else ''}"
        for language, task in language_tasks.itertuples(index=False, name=None)
    ]
    return " and ".join(task_names)


def _describe_pair_count_range(frame: pd.DataFrame) -> str:
    """Say how many pairs of questions the fewest and the most of the rows hold."""
    n = frame.loc[(frame["pattern"] != ORIGINAL) & (frame["n"] > 0), "n"]
    return f"{format_count_range(n, 'pair')} of questions" if len(n) else "no pair of valid answers"


def _describe_drawn_row_selection(row_names: pd.Series, measure: str) -> str:
    """Say which rows are drawn where there are too many."""
    return labels.describe_shown_rows(
        panels.ROWS, row_names.nunique(), "rows", f"with the lowest and the highest {measure}"
    )


def caption_consistency(frame: pd.DataFrame) -> str:
    """Write the caption of the Consistency of every model."""
    has_antonyms = (frame["pattern"] == "antonym").any()
    antonym_text = " To antonyms, the opposite answer means the same." if has_antonyms else ""
    return (
        f"Consistency on {_join_quoted_task_names(frame)} of {phrase_models_in_conditions(frame)}: "
        "share of pairs of questions whose answers mean the same before and after rewording. A row has "
        f"{_describe_pair_count_range(frame)}."
        f"{antonym_text} {INTERVALS} Dashed: 0.5, what answers by chance would give. Counterpart of the first "
        "columns of Takayama et al., Tables 1 and "
        f"3.{_describe_drawn_row_selection(labels.build_row_labels(frame), 'Consistency')}"
        f"{labels.explain_mark_of_unjudged_models(frame, FEW_ANSWERS)}"
    )


def caption_diff_yes(frame: pd.DataFrame) -> str:
    """Write the caption of the change of “Yes”."""
    has_antonyms = (frame["pattern"] == "antonym").any()
    antonym_text = (
        " Hollow, for antonyms: the excess of “Yes” over what unchanged answers would give. A consistent model says "
        "“Yes” to antonyms as often as it said “No” before."
    )
    return (
        f"Change of “Yes” on {_join_quoted_task_names(frame)} with {phrase_models_in_conditions(frame)}: "
        f"its share after rewording minus before, over {_describe_pair_count_range(frame)} per row. {INTERVALS}"
        f"{antonym_text if has_antonyms else ''} Counterpart of Takayama et al., Figure "
        f"6.{_describe_drawn_row_selection(labels.build_row_labels(frame), 'change')}"
        f"{labels.explain_mark_of_unjudged_models(frame, FEW_ANSWERS)}"
    )


def caption_overall_scores(frame: pd.DataFrame) -> str:
    """Write the caption of the means over patterns and tasks."""
    judged_frame = frame.assign(silent=is_validity_below_half(frame["valid"]))
    return (
        f"Overall of {format_quantity(frame['model'].nunique(), 'model')}: harmonic mean of accuracy before, accuracy "
        "after and Consistency in each task and pattern. Shown is the plain mean over "
        f"{format_count_range(frame['n_patterns'], 'pattern')} and {format_count_range(frame['n_tasks'], 'task')} "
        f"of a language. {INTERVALS}{explain_missing_interval_lines(frame, 'overall')} Counterpart of Takayama et al., "
        f"Figure 3.{_describe_drawn_row_selection(labels.build_row_labels(frame), 'Overall')}"
        f"{labels.explain_mark_of_unjudged_models(judged_frame, FEW_ANSWERS)}"
    )


def caption_stage_differences(frame: pd.DataFrame) -> str:
    """Write the caption of the differences between stages."""
    return (
        "Consistency of the instruction-tuned minus that of the base models in "
        f"{format_quantity(frame['series'].nunique(), 'series', 'series')} "
        f"on {_join_quoted_task_names(frame)}. Both were asked the same {format_count_range(frame['n_items'], 'item')} "
        f"with the same exemplars. {INTERVALS} Right of 0: the tuned models are more consistent. Counterpart of "
        "Takayama et al., Figure "
        f"7.{_describe_drawn_row_selection(frame['series'] + frame['shots'].astype(str), 'change')}"
    )


def caption_shift_curve(frame: pd.DataFrame) -> str:
    """Write the caption of p(Yes) before and after."""
    rows, models = select_drawn_bins(frame), frame["model"].nunique()
    shown = labels.describe_shown_rows(MOST_LINES, models, "models", "whose answers move most")
    if lacking := min(MOST_LINES, models) - rows["model"].nunique():
        shown += f" Without such a tenth, and not drawn: {format_quantity(lacking, 'model')}."
    several = frame[["model", "condition"]].drop_duplicates()["model"].duplicated().any()
    condition_text = ", each in the condition where it answers most pairs" if several else ""
    return (
        f"p(Yes) after rewording by p(Yes) before, of {format_quantity(rows['model'].nunique(), 'model')} on "
        f"{_join_quoted_task_names(frame)}{condition_text}. Means in tenths of p(Yes) before. Drawn: tenths with "
        f"{LEAST} pairs or more and an interval ({format_count_range(rows['n'], 'pair')} each). A line joins "
        "neighbouring tenths. Bars: 95 % intervals of the shift over items. p(Yes) is divided by p(Yes) + p(No). "
        "Dashed: answers that did not move (for antonyms 1 − p). Grey: p(Yes) before between 0.2 and 0.8, where the "
        "model is not sure. Counterpart of Takayama et al., Figure "
        f"2.{shown}"
        f"{labels.explain_mark_of_unjudged_models(rows, FEW_ANSWERS)}"
    )
