"""Write the captions of the figures; each function takes the frame of its namesake in `plots`."""

from __future__ import annotations

import pandas as pd

from analysis.pages.wording.plots import LEAST, LINES, curves
from analysis.reporting import labels, panels
from analysis.reporting.columns import OVER_ITEMS
from analysis.reporting.thresholds import silent
from analysis.reporting.words import count, low_to_high, missing
from analysis.runs.folder import ORIGINAL

INTERVALS = f"Lines: {OVER_ITEMS}."


def _where(frame: pd.DataFrame) -> str:
    cells = frame[["language", "task"]].drop_duplicates()
    named = [
        f"“{task}”{f' ({language})' if language else ''}" for language, task in cells.itertuples(index=False, name=None)
    ]
    return " and ".join(named)


def _pairs(frame: pd.DataFrame) -> str:
    n = frame.loc[(frame["pattern"] != ORIGINAL) & (frame["n"] > 0), "n"]
    return f"{low_to_high(n)} pairs of questions" if len(n) else "no pair of valid answers"


def _left_out(names: pd.Series, measure: str) -> str:
    """Say which rows are drawn where there are too many."""
    return labels.shown(panels.ROWS, names.nunique(), "rows", f"with the lowest and the highest {measure}")


def consistency(frame: pd.DataFrame) -> str:
    """Write the caption of the Consistency of every model."""
    return (
        f"Consistency of {count(frame['model'].nunique(), 'model')} on {_where(frame)}: share of {_pairs(frame)} per "
        f"row whose answers mean the same before and after rewording. {INTERVALS} Dashed: 0.5, what answers by chance "
        "would give. Counterpart of the first columns of Takayama et al., Tables 1 and 3."
        f"{_left_out(labels.series(frame), 'Consistency')}"
        f"{labels.explained(frame)}"
    )


def diff_yes(frame: pd.DataFrame) -> str:
    """Write the caption of the change of “Yes”."""
    return (
        f"Change of “Yes” with {count(frame['model'].nunique(), 'model')} on {_where(frame)}: its share after "
        f"rewording minus before, over {_pairs(frame)} per row. {INTERVALS} Hollow, for antonyms: the excess of “Yes” "
        "over what unchanged answers would give. A consistent model says “Yes” to antonyms as often as it said “No” "
        "before. "
        f"Counterpart of Takayama et al., Figure 6.{_left_out(labels.series(frame), 'change')}"
        f"{labels.explained(frame)}"
    )


def overall_scores(frame: pd.DataFrame) -> str:
    """Write the caption of the means over patterns and tasks."""
    tasks = low_to_high(frame["n_tasks"])
    return (
        f"Overall of {count(frame['model'].nunique(), 'model')}: harmonic mean of accuracy before, accuracy after and "
        "Consistency in each task and pattern. Shown is the plain mean over "
        f"{low_to_high(frame['n_patterns'])} patterns and {tasks} {'task' if tasks == '1' else 'tasks'} of a language. "
        f"{INTERVALS}{missing(frame, 'overall')} Counterpart of Takayama et al., Figure 3."
        f"{_left_out(labels.series(frame), 'Overall')}{labels.explained(frame.assign(silent=silent(frame['valid'])))}"
    )


def stage_differences(frame: pd.DataFrame) -> str:
    """Write the caption of the differences between stages."""
    return (
        "Consistency of the instruction-tuned minus that of the base models in "
        f"{count(frame['series'].nunique(), 'series', 'series')} "
        f"on {_where(frame)}. Both were asked the same {low_to_high(frame['n_items'])} items with the same exemplars. "
        f"{INTERVALS} Right of 0: the tuned models are more consistent. Counterpart of Takayama et al., Figure 7."
        f"{_left_out(frame['series'] + frame['shots'].astype(str), 'change')}"
    )


def shift_curve(frame: pd.DataFrame) -> str:
    """Write the caption of p(Yes) before and after."""
    rows, models = curves(frame), frame["model"].nunique()
    several = frame[["model", "condition"]].drop_duplicates()["model"].duplicated().any()
    where = ", each in the condition where it answers most pairs" if several else ""
    return (
        f"p(Yes) after rewording by p(Yes) before, of {count(rows['model'].nunique(), 'model')} on "
        f"{_where(frame)}{where}. Means in tenths of p(Yes) before. Drawn: tenths with {LEAST} pairs or more and an "
        f"interval ({low_to_high(rows['n'])} pairs each). A line joins neighbouring tenths. Bars: 95 % intervals of "
        "the shift over items. p(Yes) is divided by p(Yes) + p(No). Dashed: answers that did not move (for antonyms "
        "1 − p). Grey: p(Yes) before between 0.2 and 0.8, where the model is not sure. Counterpart of Takayama et "
        f"al., Figure 2.{labels.shown(LINES, models, 'models', 'whose answers move most')}{labels.explained(rows)}"
    )
