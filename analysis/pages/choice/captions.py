"""Write the captions of the figures; each function takes the frames of its namesake in `plots`."""

from __future__ import annotations

import numpy as np
import pandas as pd

from analysis.pages.choice.plots import LINES, ROWS, panels_of
from analysis.reporting import labels, panels
from analysis.reporting.words import count, low_to_high, missing, units

WHAT = "XParaCon grows as the wordings of a question are answered more alike"


def choice_map(rows: pd.DataFrame, arrows: pd.DataFrame) -> str:
    """Write the caption of accuracy and XParaCon.

    Parameters
    ----------
    rows, arrows
        As in `plots.choice_map`.

    Returns
    -------
    str
        The caption.
    """
    part = rows[rows["subset"].isin(panels_of(rows))]
    joined = " Arrows lead from a base model to the model tuned from it, under the same prompt." if len(arrows) else ""
    return (
        f"Accuracy of {count(part['model'].nunique(), 'model')} against XParaCon in the study {_study(part)}, over "
        f"{low_to_high(part['n_questions'])} questions a panel. {WHAT}.{_infinite(part)} The grey line is the "
        f"accuracy of guessing.{joined} Counterpart of Choi, Figure 2; the next figure and the table have intervals."
        f"{labels.explained(part)}"
    )


def choice_xparacon(frame: pd.DataFrame) -> str:
    """Write the caption of XParaCon by model."""
    part = frame[frame["subset"].isin(panels_of(frame))]
    who = units(part.drop_duplicates("label"))
    return (
        f"XParaCon of {who} in the study {_study(part)}, over {low_to_high(part['n_questions'])} questions. {WHAT}. "
        f"Lines: 95 % intervals over questions (Wilson's, of the mean standard deviation)."
        f"{_infinite(part, 'stands as a triangle at the edge')} Counterpart of Choi, "
        "Figures 3 and 4."
        f"{labels.shown(panels.ROWS, frame['label'].nunique(), 'rows', 'with the highest and the lowest XParaCon')}"
        f"{labels.explained(part)}"
    )


def _study(frame: pd.DataFrame) -> str:
    return f"“{frame['study'].iloc[0]}”"


def _infinite(part: pd.DataFrame, where: str = "stands above the dashed line") -> str:
    number = int(np.isinf(part["xparacon"]).sum())
    return f" Where no question varies it is infinite and {where} ({number:,} here)." if number else ""


def choice_positions(frame: pd.DataFrame) -> str:
    """Write the caption of the letters."""
    return (
        f"Share of the answers that are each letter, of {count(frame['model'].nunique(), 'model')} in the study "
        f"{_study(frame)}, over "
        f"{low_to_high(frame['n'])} answers a row: every question in all wordings and orders. Strokes: share of the "
        "answers for which the letter is right. A dot far from its stroke is a preference for a place, not for a "
        "choice, where each choice stands at each place about as often; with one order it may be either. Lines: 95 % "
        "intervals over questions (Wilson); the table has those of the distances."
        f"{labels.shown(ROWS, frame['label'].nunique(), 'rows', 'with the largest and the smallest gap')}"
        f"{labels.explained(frame)}{missing(frame, 'share')}"
    )


def choice_losses(frame: pd.DataFrame) -> str:
    """Write the caption of the losses."""
    last = int(frame["step"].max())
    checked = " Marks: the same on the validation examples." if frame["validation_loss"].notna().any() else ""
    return (
        f"Mean loss on the training examples while {count(frame['model'].nunique(), 'adapter')} learned, over "
        f"{last:,} training steps.{checked} The loss is that of the answers' tokens, in nats."
        f"{labels.shown(LINES, frame['model'].nunique(), 'adapters', 'that come first')}"
    )
