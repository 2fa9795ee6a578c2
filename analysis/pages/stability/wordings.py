"""Write the cautions about the wordings of the items: how many are valid, ties, twins, and changes of meaning."""

from __future__ import annotations

import pandas as pd

from analysis.reporting.catalogue.selection import AnswerPair, quote_answer
from analysis.reporting.words import format_percent, format_quantity, labels
from analysis.reporting.words.doubts import READING, WRONG, Caution

SIMILAR = 0.95  # of the largest mean number of valid wordings; with fewer, spreads do not compare


def count_paraphrases_by_item(items: pd.DataFrame) -> pd.Series:
    """Return the number of paraphrases of every item that has some."""
    sizes = items.groupby(["study", "item"], sort=False)["n_variants"].max()
    return sizes[sizes > 0] if (sizes > 0).any() else sizes


def count_wordings_by_item(items: pd.DataFrame) -> pd.Series:
    """Return how many wordings of every item got a response, valid or not: its paraphrases and its original.

    Of table `items`; by study and item, and of items with paraphrases only, where there are some.
    """
    # An original without a valid answer has no agreement, but a validity: 0.
    has_original = items[["original_agreement", "original_validity"]].notna().any(axis=1)
    originals = has_original.groupby([items["study"], items["item"]], sort=False).any()
    sizes = count_paraphrases_by_item(items)
    return sizes + originals.reindex(sizes.index)


def describe_uneven_wording_counts_of_models(items: pd.DataFrame) -> list[str]:
    """Compare the numbers of valid wordings per item: range, SD and flips of fewer wordings are smaller."""
    answered_rows = items[items["n_variants"] > 0]
    mean = answered_rows.groupby(["study", "model", "condition"], sort=False)["n_valid"].mean().reset_index()
    if len(mean) < 2 or mean["n_valid"].min() >= SIMILAR * mean["n_valid"].max():
        return []
    mean = mean.assign(label=labels.build_row_labels(mean)).sort_values(["n_valid", "label"], kind="stable")
    low, high = mean.iloc[0], mean.iloc[-1]
    return [
        Caution(
            f"Different numbers of valid wordings: {low['n_valid']:.1f} per item on average with {low['label']}, "
            f"{high['n_valid']:.1f} with {high['label']}. A model with few valid wordings looks more stable than it "
            "is: range shrinks with their number, and flips are missed.",
            WRONG,
        )
    ]


def describe_ties_of_agreement(items: pd.DataFrame, choice: AnswerPair) -> list[str]:
    """Count the answers with an agreement of exactly 0.5, which agree (Haller et al., section 4.2).

    Parameters
    ----------
    items
        Table `items`.
    choice
        The two answers.

    Returns
    -------
    list of str
        One sentence, or none without ties.
    """
    number, valid = int(items["n_ties"].sum()), int(items["n_valid"].sum())
    if not number:
        return []
    as_first = "as agreeing" if choice.is_agree_disagree else f"for {quote_answer(choice.first)}"
    return [
        Caution(
            f"{number:,} of {format_quantity(valid, 'answer')} {'is a tie' if number == 1 else 'are ties'} "
            f"({choice.measure_phrase} of exactly 0.5). "
            f"{'It counts' if number == 1 else 'They count'} {as_first}, as in the paper.",
            READING,
        )
    ]


def describe_flips_if_invalid_answers_count(convention_rows: pd.DataFrame, flip: str) -> list[str]:
    """Tell where flips are others if invalid answers count, for the largest change.

    Parameters
    ----------
    convention_rows
        Table `flip_conventions`, with `label`.
    flip
        The measure, such as flip_05.

    Returns
    -------
    list of str
        One sentence, or none.
    """
    flip_rows = convention_rows[convention_rows["measure"] == flip].dropna(subset=["flips_dropped"])
    if flip_rows.empty:
        return []
    row = flip_rows.loc[(flip_rows["flips_inconsistent"] - flip_rows["flips_dropped"]).abs().idxmax()]
    return [
        Caution(
            f"Flips depend on what is done with invalid answers. For {row['label']}, "
            f"{format_percent(row['flips_dropped'])} of the items flip where they are dropped, "
            f"{format_percent(row['flips_inconsistent'])} where they count as not with the majority.",
            WRONG,
        )
    ]


def describe_variants_equal_up_to_whitespace(twins: pd.DataFrame) -> list[str]:
    """Say how many wordings differ from another one in line ends or surrounding blanks only (table `alike`)."""
    if twins.empty:
        return []
    wordings, items = int(twins["n_variants"].sum()), len(twins.drop_duplicates(["study", "item"]))
    return [
        Caution(
            f"{wordings:,} wordings of {format_quantity(items, 'item')} differ from another one in line ends or "
            "surrounding blanks only. They count as different wordings.",
            WRONG,
        )
    ]


def describe_paraphrases_of_changed_meaning(items: pd.DataFrame) -> list[str]:
    """Tell where paraphrases that were checked by hand do not all mean the same (Haller et al., Table 4)."""
    checked_items = items.drop_duplicates(["study", "item"]).dropna(subset=["match_proportion"])
    changed_items = checked_items[checked_items["match_proportion"] < 1].sort_values("match_proportion", kind="stable")
    if changed_items.empty:
        return []
    lowest = changed_items.iloc[0]
    of_study = f" of “{lowest['study']}”" if items["study"].nunique() > 1 else ""
    return [
        Caution(
            f"Checked by hand, the paraphrases of {len(changed_items):,} of "
            f"{format_quantity(len(checked_items), 'item')} do not all mean the same. The lowest share that does is "
            f"{format_percent(lowest['match_proportion'])} (item {lowest['item']}{of_study}). A flip there may be a "
            "change of meaning.",
            WRONG,
        )
    ]
