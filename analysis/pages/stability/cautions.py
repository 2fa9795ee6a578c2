"""Write the cautions of the page on stability: what weakens its answer.

Every number comes from a table of the report; only counts, smallest and largest values of its rows are found here.
"""

from __future__ import annotations

import pandas as pd

from analysis.measures.thresholds import is_validity_below_half
from analysis.pages.stability import wordings
from analysis.pages.stability.measures import choose_headline_flip_column
from analysis.reporting.catalogue import look_up_column
from analysis.reporting.catalogue.columns import format_value_by_column
from analysis.reporting.catalogue.selection import AnswerPair, quote_answer
from analysis.reporting.words import (
    format_count_range,
    format_percent,
    format_quantity,
    join_names,
    labels,
    list_few_items_cautions,
    list_few_models_cautions,
)
from analysis.reporting.words.doubts import LEFT_OUT, WIDE, WRONG, Caution
from analysis.reporting.words.validity import list_cautions_unless_all_models_unjudged

FEW_PARAPHRASES = 20


def list_cautions(
    stability: pd.DataFrame,
    items: pd.DataFrame,
    excluded: pd.DataFrame,
    invalid: pd.DataFrame,
    twins: pd.DataFrame,
    flip_conventions: pd.DataFrame,
    choice: AnswerPair,
    convention: str,
) -> tuple[str, ...]:
    """Write all cautions.

    Parameters
    ----------
    stability, items, excluded, invalid, flip_conventions, choice, convention
        As in `narrative.answer_page_question`.
    twins
        Table `alike`.

    Returns
    -------
    tuple of str
        The sentences; those about validity come first.
    """
    labelled_invalid = invalid.assign(label=labels.build_row_labels(invalid))
    return (
        *list_cautions_unless_all_models_unjudged(stability.assign(label=labels.build_row_labels(stability))),
        *wordings.describe_uneven_wording_counts_of_models(items),
        *_describe_bounded_masses(labelled_invalid), *wordings.describe_ties_of_agreement(items, choice),
        *_describe_one_sided_models(stability, choice), *_describe_excluded_items(excluded, items, convention),
        *_describe_invalid_answers(labelled_invalid, convention),
        *describe_agreement_bounds_from_unread_answers(labelled_invalid, choice),
        *wordings.describe_flips_if_invalid_answers_count(
            flip_conventions.merge(labelled_invalid[[*labels.UNIT, "label"]], how="left"),
            choose_headline_flip_column(stability),
        ),
        *wordings.describe_variants_equal_up_to_whitespace(twins),
        *wordings.describe_paraphrases_of_changed_meaning(items),
        *_describe_few_models_items_or_wordings(stability, items),
    )  # fmt: skip


def _describe_bounded_masses(invalid: pd.DataFrame) -> list[str]:
    """Say for which models a server showed the most probable tokens only, so that masses are lower bounds."""
    bounded_rows = invalid[invalid["n_bounded"] > 0].sort_values(
        ["mass_missing", "label"], ascending=[False, True], kind="stable"
    )
    if bounded_rows.empty:
        return []
    most = format_value_by_column(bounded_rows["mass_missing"].iloc[0], look_up_column("invalid", "mass_missing"))
    return [
        Caution(
            f"Bounds: for {join_names(bounded_rows['label'].tolist())} a server showed the most probable tokens only. "
            f"So masses are lower bounds: on average, up to {most} more of the probability may be on the answers.",
            WRONG,
        )
    ]


def _describe_one_sided_models(stability: pd.DataFrame, choice: AnswerPair) -> list[str]:
    """Name the models that give the same answer to every item on average; of one item, that would be nothing."""
    labelled_rows = stability.assign(label=labels.build_row_labels(stability))
    labelled_rows = labelled_rows[~is_validity_below_half(labelled_rows["validity"]) & (labelled_rows["n_items"] > 1)]
    sentences: list[str] = []
    for mark, answer in (("+", choice.first), ("-", choice.second)):
        names = sorted(labelled_rows.loc[labelled_rows["mark"] == mark, "label"])
        if names:
            ending = "s" if len(names) == 1 else ""
            choice_text = (
                f"{answer}{ending} with" if choice.is_agree_disagree else f"choose{ending} {quote_answer(answer)} on"
            )
            sentences.append(
                Caution(
                    f"{join_names(names)} {choice_text} every item on average. That is always the same answer, "
                    "whatever is asked.",
                    WRONG,
                )
            )
    return sentences


def _describe_excluded_items(excluded: pd.DataFrame, items: pd.DataFrame, convention: str) -> list[str]:
    """Count the items left out (of flips only where invalid answers are dropped), with the reasons where few."""
    if excluded.empty:
        return []
    excluded_count = len(excluded.drop_duplicates(["study", "item"]))
    total = len(items.drop_duplicates(["study", "item"]))
    reasons = excluded["reason"].value_counts()
    reasons_text = f": {', '.join(reasons.index)}" if len(reasons) <= 2 else ""
    units = pd.concat([items[labels.UNIT], excluded[labels.UNIT]]).drop_duplicates()
    n_of_all = excluded["study"].map(units["study"].value_counts())
    n_without_item = excluded.groupby(["study", "item"])["item"].transform("size")
    measures_text = "" if convention == "dropped" else " of range and SD"
    models_text = "" if (n_without_item == n_of_all).all() else " for some models"
    return [
        Caution(
            f"{excluded_count:,} of {format_quantity(max(total, excluded_count), 'item')} "
            f"{'is' if excluded_count == 1 else 'are'} left out{measures_text}{models_text}{reasons_text}.",
            LEFT_OUT,
        )
    ]


def _describe_invalid_answers(invalid: pd.DataFrame, convention: str) -> list[str]:
    """Count the responses without a valid answer, name the model with the largest share, and say if they count."""
    bad, total = int(invalid["n_invalid"].sum()), int(invalid["n_rows"].sum())
    if not bad:
        return []
    worst = invalid.dropna(subset="share").sort_values("share", kind="stable").iloc[-1]  # of no response, no share
    most = f", most from {worst['label']} ({format_percent(worst['share'])})" if invalid["share"].nunique() > 1 else ""
    sentence = (
        f"{bad:,} of {format_quantity(total, 'response')} ({format_percent(bad / total)}) "
        f"{'holds' if bad == 1 else 'hold'} no valid answer{most}."
    )
    if convention == "dropped":
        return [Caution(sentence, LEFT_OUT)]
    return [Caution(f"{sentence} In flips, those to paraphrases count as not with the majority.", WRONG)]


def describe_agreement_bounds_from_unread_answers(written: pd.DataFrame, choice: AnswerPair) -> list[str]:
    """Say what the written answers that could not be read leave open, for the row that they leave most open.

    Parameters
    ----------
    written
        Rows of table `invalid` or `answers`, with `label`.
    choice
        The two answers.

    Returns
    -------
    list of str
        One sentence, or none where they leave nothing open.
    """
    open_share = (written["most_agreement"] - written["least_agreement"]).dropna()
    if not (open_share > 0).any():
        return []
    row = written.loc[open_share.idxmax()]
    low, high = format_percent(row["least_agreement"]), format_percent(row["most_agreement"])
    if low == high:
        return []  # fewer texts were unread than one would see in the number
    read_text = "" if pd.isna(row["read_agreement"]) else f" ({format_percent(row['read_agreement'])} of those read)"
    n_written, n_rows = row.get("n_written", 0), row.get("n_rows", 0)  # of table `answers`, all are texts
    over = f", over the {format_quantity(n_written, 'response')} without probabilities," if n_written < n_rows else ""
    return [
        Caution(
            f"Unread answers leave most open for {row['label']}: its {choice.measure_phrase}{read_text}{over} lies "
            f"between {low} and {high}.",
            WRONG,
        )
    ]


def _describe_few_models_items_or_wordings(stability: pd.DataFrame, items: pd.DataFrame) -> list[str]:
    """Say that there are few models, items, or wordings per item."""
    item_counts = stability["n_items"].set_axis(labels.build_row_labels(stability))
    sentences = [*list_few_models_cautions(stability["model"].nunique()), *list_few_items_cautions(item_counts)]
    typical = wordings.count_paraphrases_by_item(items).groupby("study", sort=False).median().astype(int)
    few = typical[(typical > 0) & (typical < FEW_PARAPHRASES)]
    if len(few):
        in_studies = f" in {join_names([f'“{study}”' for study in few.index])}" if len(few) < len(typical) else ""
        sentences.append(
            Caution(
                f"Only {format_count_range(few, 'wording')} per item{in_studies}: a single one is "
                f"{'up to ' if few.nunique() > 1 else ''}{format_percent(1 / few.min())} of them, and ranges grow with "
                "the number of wordings.",
                WIDE,
            )
        )
    return sentences
