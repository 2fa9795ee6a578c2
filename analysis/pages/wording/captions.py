"""Write the captions of the figures; each function takes the frame of its namesake in `plots`."""

from __future__ import annotations

import pandas as pd

from analysis.reporting import labels
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


def consistency(frame: pd.DataFrame) -> str:
    """Write the caption of the Consistency of every model."""
    return (
        f"Consistency of {count(frame['model'].nunique(), 'model')} on {_where(frame)}: share of {_pairs(frame)} per "
        f"row whose answers mean the same before and after rewording. {INTERVALS} Dashed: 0.5, what answers by chance "
        "would give. Counterpart of the first columns of Takayama et al., Tables 1 and 3."
        f"{labels.explained(frame)}"
    )


def diff_yes(frame: pd.DataFrame) -> str:
    """Write the caption of DiffYes."""
    return (
        f"DiffYes of {count(frame['model'].nunique(), 'model')} on {_where(frame)}: share of “Yes” after rewording "
        f"minus before, over {_pairs(frame)} per row. {INTERVALS} Hollow, for antonyms: the excess of “Yes” over what "
        "unchanged answers would give. A consistent model says “Yes” to antonyms as often as it said “No” before. "
        f"Counterpart of Takayama et al., Figure 6.{labels.explained(frame)}"
    )


def overall_scores(frame: pd.DataFrame) -> str:
    """Write the caption of the means over patterns and tasks."""
    tasks = low_to_high(frame["n_tasks"])
    return (
        f"Overall of {count(frame['model'].nunique(), 'model')}: harmonic mean of accuracy before, accuracy after and "
        "Consistency in each task and pattern. Shown is the plain mean over "
        f"{low_to_high(frame['n_patterns'])} patterns and {tasks} {'task' if tasks == '1' else 'tasks'} of a language. "
        f"{INTERVALS}{missing(frame, 'overall')} Counterpart of Takayama et al., Figure 3."
        f"{labels.explained(frame.assign(silent=silent(frame['valid'])))}"
    )


def stage_differences(frame: pd.DataFrame) -> str:
    """Write the caption of the differences between stages."""
    return (
        "Consistency of the instruction-tuned minus that of the base models in "
        f"{count(frame['series'].nunique(), 'series', 'series')} "
        f"on {_where(frame)}. Both were asked the same {low_to_high(frame['n_items'])} items with the same exemplars. "
        f"{INTERVALS} Right of 0: the tuned models are more consistent. "
        "Counterpart of Takayama et al., Figure 7."
    )


def shift_curve(frame: pd.DataFrame) -> str:
    """Write the caption of p(Yes) before and after."""
    n = frame.groupby(["study", "model", "condition", "pattern"])["n"].sum()
    return (
        f"p(Yes) after rewording by p(Yes) before, of {count(frame['model'].nunique(), 'model')} on {_where(frame)}, "
        f"{frame['condition'].iloc[0]}. Means in tenths of p(Yes) before, over {low_to_high(n)} pairs of questions per "
        "line. p(Yes) is divided by p(Yes) + p(No). Dashed: answers that did not move (for antonyms 1 − p). Grey: "
        "p(Yes) before between 0.2 and 0.8, where the model is not sure. Counterpart of Takayama et al., Figure 2."
        f"{labels.explained(frame)}"
    )
