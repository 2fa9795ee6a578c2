"""Write the captions of the figures; each function takes the frames of its namesake in `plots`."""

from __future__ import annotations

import pandas as pd

from analysis.pages.meaning.plots import MOST_CHECKS
from analysis.reporting.words import format_count_range, format_quantity, labels
from ground.capitals import capitalise_sentence
from ground.meaning.verdicts import PEOPLE


def caption_meaning_flips_by_model(frame: pd.DataFrame) -> str:
    """Say what dots and lines are."""
    corrected = (
        " Corrected: among wordings that people would call the same, by those that they read."
        if (frame["wordings"] == "corrected").any()
        else ""
    )
    return (
        f"Share of answers unlike that to the original, of "
        f"{format_quantity(frame['model'].nunique(), 'model')} on {format_count_range(frame['n_items'], 'item')}: to "
        f"all wordings, and to those that were judged to mean the same.{corrected} Lines: 95 % intervals over items."
        + labels.describe_shown_rows(
            frame["label"].nunique(), int(frame["total"].max()), "rows", "most and least changed"
        )
    )


def caption_meaning_curves(frame: pd.DataFrame) -> str:
    """Say what lines, bands and panels are."""
    measure = str(frame["measure"].iloc[0])
    return (
        f"{capitalise_sentence(measure)} of {format_quantity(frame['model'].nunique(), 'model')}, the stricter "
        f"the check “{frame['check'].iloc[0]}”: from all wordings (left) to those with the highest scores (right). "
        "Beside them: as many wordings of the same items, whatever their score. Bands: 95 % intervals over "
        "items. Dashed: the threshold. Where the lines part, what is left out moved answers more."
        + labels.describe_shown_rows(frame["label"].nunique(), int(frame["total"].max()), "rows", "highest and lowest")
    )


def caption_meaning_roc(frame: pd.DataFrame) -> str:
    """Say what lines and dots are."""
    passed_by = " that most people called the same" if frame["passed_by"].iloc[0] == PEOPLE else ""
    return (
        f"ROC curves: share of {format_count_range(frame['n_passed'], 'wording')}{passed_by} that pass, by the share "
        f"of {format_count_range(frame['n_decoys'], 'decoy')} that pass with them. Left: a strict threshold; right: a "
        "lenient one. Behind each check: its AUC. Dots: the threshold that at most 5 % of the decoys pass; hollow: the "
        f"check is not used. Dashed: a check that knows nothing.{_describe_drawn_checks(frame)}"
    )


def caption_meaning_scores(frame: pd.DataFrame) -> str:
    """Say what dots and lines are."""
    return (
        f"Scores of {format_quantity(min(MOST_CHECKS, frame['check'].nunique()), 'check')}: median (dot), middle half "
        f"(thick) and middle 90 % (thin) of wordings and of each kind of decoys, "
        f"{format_count_range(frame['n'], 'text')} a row. Dashed: "
        "the threshold; from there on a wording means the same. Decoys should lie left of it."
        f"{_describe_drawn_checks(frame)}"
    )


def _describe_drawn_checks(frame: pd.DataFrame) -> str:
    """Say which checks are drawn, where there is no room for all."""
    return labels.describe_shown_rows(MOST_CHECKS, frame["check"].nunique(), "checks", "with the largest AUC")
