"""Write the captions of the figures; each function takes the frames of its namesake in `plots`."""

from __future__ import annotations

import numpy as np
import pandas as pd

from analysis.pages.choice.figures import MOST
from analysis.pages.choice.plots import LINES, ROWS, list_panel_subsets
from analysis.reporting.drawing import panels
from analysis.reporting.words import explain_missing_interval_lines, format_count_range, format_quantity, labels
from analysis.reporting.words.counts import phrase_models_in_conditions

WHAT = "XParaCon grows as the wordings of a question are answered more alike"


def caption_choice_map(rows: pd.DataFrame, arrows: pd.DataFrame) -> str:
    """Write the caption of accuracy and XParaCon.

    Parameters
    ----------
    rows, arrows
        As in `plots.draw_choice_map`.

    Returns
    -------
    str
        The caption.
    """
    part = rows[rows["subset"].isin(list_panel_subsets(rows))]
    arrow_sentence = (
        " Arrows lead from a base model to the model tuned from it, under the same prompt." if len(arrows) else ""
    )
    return (
        f"Accuracy of {format_quantity(part['model'].nunique(), 'model')} against XParaCon in the study "
        f"{_quote_first_study_name(part)}, over {format_count_range(part['n_questions'], 'question')} a panel. "
        f"{WHAT}.{_describe_number_of_infinite_xparacon(part)} "
        f"The grey line is the accuracy of guessing.{arrow_sentence} "
        "Counterpart of Choi, Figure 2; the next figure and the table have "
        f"intervals.{_describe_units_on_choice_map(rows)}{labels.explain_mark_of_unjudged_models(part)}"
    )


def _describe_units_on_choice_map(rows: pd.DataFrame) -> str:
    """Say which models and conditions the map shows, where it has no room for all."""
    n_shown, total = rows["label"].nunique(), int(rows["total"].max())
    if n_shown == total:
        return ""
    return (
        f" Shown: {n_shown} of {total:,} models and conditions, of each model the one with most valid answers. Of "
        f"more than {MOST} models, the least and the most accurate are shown; the table has all."
    )


def caption_choice_xparacon(frame: pd.DataFrame) -> str:
    """Write the caption of XParaCon by model."""
    part = frame[frame["subset"].isin(list_panel_subsets(frame))]
    n_rows = frame["label"].nunique()
    selection = labels.describe_shown_rows(panels.ROWS, n_rows, "rows", "with the highest and the lowest XParaCon")
    return (
        f"XParaCon of {phrase_models_in_conditions(part)} in the study {_quote_first_study_name(part)}, over "
        f"{format_count_range(part['n_questions'], 'question')}. {WHAT}. Lines: 95 % intervals over questions "
        "(Wilson's, of the mean standard "
        f"deviation).{_describe_number_of_infinite_xparacon(part, 'stands as a triangle at the edge')} Counterpart of "
        f"Choi, Figures 3 and 4.{selection}{labels.explain_mark_of_unjudged_models(part)}"
    )


def _quote_first_study_name(frame: pd.DataFrame) -> str:
    """Return the name of the first row's study in quotation marks."""
    return f"“{frame['study'].iloc[0]}”"


def _describe_number_of_infinite_xparacon(
    rows: pd.DataFrame, where_drawn_text: str = "stands above the dashed line"
) -> str:
    """Say how many values of XParaCon are infinite, and where the figure shows them."""
    number = int(np.isinf(rows["xparacon"]).sum())
    return f" Where no question varies it is infinite and {where_drawn_text} ({number:,} here)." if number else ""


def caption_choice_positions(frame: pd.DataFrame) -> str:
    """Write the caption of the letters."""
    return (
        f"Share of the answers that are each letter, of {format_quantity(frame['model'].nunique(), 'model')} in the "
        f"study {_quote_first_study_name(frame)}, over "
        f"{format_count_range(frame['n'], 'answer')} a row: every question in all wordings and orders. Strokes: share "
        "of the answers for which the letter is right. Where each choice stands at each place about as often, a dot "
        "far from its stroke is a preference for a place, not for a choice. With one order it may be either. Lines: 95 "
        "% intervals over questions (Wilson); the table has those of the distances."
        f"{labels.describe_shown_rows(ROWS, frame['label'].nunique(), 'rows', 'with the largest and the smallest gap')}"
        f"{labels.explain_mark_of_unjudged_models(frame)}{explain_missing_interval_lines(frame, 'share')}"
    )


def caption_training_losses(frame: pd.DataFrame) -> str:
    """Write the caption of the losses."""
    last = int(frame["step"].max())
    validation_sentence = (
        " Marks: the same on the validation examples." if frame["validation_loss"].notna().any() else ""
    )
    return (
        f"Mean loss on the training examples while {format_quantity(frame['model'].nunique(), 'adapter')} learned, "
        f"over {last:,} training steps.{validation_sentence} The loss is that of the answers' tokens, in nats."
        f"{labels.describe_shown_rows(LINES, frame['model'].nunique(), 'adapters', 'that come first')}"
    )
