"""Say what weakens the answer of the page: people, checks, and what neither of them sees."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping
from typing import Any

import pandas as pd

from analysis.reporting.words import format_percent, format_quantity, join_names, labels, list_few_items_cautions
from analysis.reporting.words.doubts import LEFT_OUT, WIDE, WRONG, Caution
from analysis.reporting.words.meaning import MOST_LEFT_OUT
from analysis.reporting.words.validity import list_cautions_unless_all_models_unjudged
from ground.errors import format_part_with_verb
from ground.meaning.separation import ALLOWED
from ground.meaning.verdicts import ALL, UNCLEAR

TENTATIVE = 0.667  # Krippendorff's alpha, below which he draws not even tentative conclusions (2004, section 11.4)


def format_two_decimals(value: float) -> str:
    """Write a number with two decimals and a true minus sign."""
    return f"{value:.2f}".replace("-", "−")


def phrase_study_where_several(rows: pd.DataFrame, study: str) -> str:
    """Write " in STUDY" where rows are of several studies; else nothing.

    Parameters
    ----------
    rows
        Rows of a table, with the column study.
    study
        Name of the study that a sentence is about.
    """
    return f" in {labels.shorten_middle(study, 30)}" if rows["study"].nunique() > 1 else ""


def format_interval_in_brackets(row: Mapping[Hashable, Any], column: str) -> str:
    """Write the interval of a column in brackets, after a blank; nothing where there is none."""
    low, high = row[f"{column}_lower"], row[f"{column}_upper"]
    return "" if pd.isna(low) else f" ({low:.2f} to {high:.2f})".replace("-", "−")


def list_cautions(frames: Mapping[str, pd.DataFrame]) -> Iterator[str]:
    """Yield what weakens the answer.

    Parameters
    ----------
    frames
        The tables that the sentences of the page are from; those of flips with a `label` that names study and condition
        where the page has several.

    Yields
    ------
    A sentence or two.
    """
    flips, meanings, checks = frames["meaning_flips"], frames["meanings"], frames["meaning_checks"]
    if len(flips):
        units = flips[flips["wordings"] == "all"]
        yield from list_cautions_unless_all_models_unjudged(units)
        yield from list_few_items_cautions(units.set_index("label")["n_items"])
        yield from _list_left_out_item_cautions(units)
    unread_studies = list(dict.fromkeys(checks.loc[checks["passed_by"] == ALL, "study"])) if len(checks) else []
    if unread_studies:
        is_partly_read = len(unread_studies) < checks["study"].nunique()
        whose = f" of {join_names(unread_studies)}" if is_partly_read else ""
        yield Caution(
            f"No person judged a wording{whose}: all wordings stood for passed ones. So checks seem worse than they "
            "are, and finer changes of meaning than those of the decoys may pass.",
            WRONG,
        )
    elif len(checks) and not checks["used"].any() and meanings["meaning"].notna().any():
        n_judged = int(meanings["meaning"].notna().sum())
        yield Caution(
            "No check parts decoys from paraphrases: the verdicts are those of people alone."
            if n_judged == len(meanings)
            else "No check parts decoys from paraphrases: only "
            f"{format_part_with_verb(n_judged, len(meanings), 'wording')} a verdict, which people gave.",
            LEFT_OUT,
        )
    yield from _list_annotator_vote_cautions(frames["meaning_annotators"])
    n_unclear = int((meanings["meaning"] == UNCLEAR).sum())
    if n_unclear:
        yield Caution(
            f"{format_percent(n_unclear / len(meanings))} of the wordings are unclear: they count among all, not among "
            "those of the same meaning.",
            LEFT_OUT,
        )
    corrected = frames["meaning_corrected"]
    hidden = corrected[corrected["not_shown"].fillna("") != ""] if len(corrected) else corrected
    if len(hidden):
        reasons = join_names(list(hidden["not_shown"].unique()), 1)
        names = join_names(list(hidden["label"]))
        with_models = f" with {names}" if len(hidden) < len(corrected) else ""
        yield Caution(f"The share corrected for errors of the check is not shown{with_models}: {reasons}.", LEFT_OUT)


def _list_left_out_item_cautions(units: pd.DataFrame) -> Iterator[str]:
    """Yield which items are in neither share, of the model that changes most answers to them."""
    worst = units.sort_values(["left_out_flips", "left_out_items"], ascending=False, kind="stable").head(1)
    for row in worst[worst["left_out_items"] > 0].to_dict("records"):
        n_left, n_items = int(row["left_out_items"]), int(row["n_items"])
        yield Caution(
            f"In neither share: {n_left:,} of {format_quantity(n_items + n_left, 'item')} without a wording of the "
            f"same meaning. Up to {format_percent(row['left_out_flips'])} of a model's changed answers are there"
            f"{'' if row['left_out_flips'] <= MOST_LEFT_OUT else ': too many for a word'}.",
            LEFT_OUT,
        )


def _list_annotator_vote_cautions(annotators: pd.DataFrame) -> Iterator[str]:
    """Yield what weakens the votes of people."""
    if annotators.empty:
        return
    single = annotators[annotators["annotator"] != "all"]
    if single["annotator"].nunique() == 1:
        yield Caution("One person judged the wordings: how far people would agree is not known.", WIDE)
    for row in annotators[annotators["annotator"] == "all"].to_dict("records"):
        lowest = row["alpha"] if pd.isna(row["alpha_lower"]) else row["alpha_lower"]
        if lowest < TENTATIVE:
            yield Caution(
                f"That people agree enough{phrase_study_where_several(annotators, row['study'])} is not sure: "
                f"Krippendorff's alpha is {format_two_decimals(row['alpha'])}"
                f"{format_interval_in_brackets(row, 'alpha')}, and {TENTATIVE:g} is the least to build on.",
                WIDE,
            )
    careless = single[single["decoy_error_share"] > ALLOWED]
    if len(careless):
        names = [
            f"{labels.shorten_middle(row['annotator'], 20)}{phrase_study_where_several(annotators, row['study'])} "
            f"({format_percent(row['decoy_error_share'], 1)})"
            for row in careless.to_dict("records")
        ]
        yield Caution(
            f"Some people called more than {format_percent(ALLOWED)} of the decoys the same: {join_names(names)}.",
            WRONG,
        )
    if len(single) and (single["n_decoys"] == 0).all():
        yield Caution("The sheets hold no decoys: how often people err is not known.", WIDE)
