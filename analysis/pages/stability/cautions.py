"""Write the cautions of the page on stability: what weakens its answer.

Every number comes from a table of the report; only counts, smallest and largest values of its rows are found here.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from analysis.pages.stability import wordings
from analysis.pages.stability.measures import headline
from analysis.reporting import labels
from analysis.reporting.catalogue import column
from analysis.reporting.choice import Choice, quoted
from analysis.reporting.columns import value
from analysis.reporting.thresholds import silent
from analysis.reporting.words import count, few_items, few_models, listing, percent, units

FEW_PARAPHRASES = 20


def cautions(
    stability: pd.DataFrame,
    items: pd.DataFrame,
    excluded: pd.DataFrame,
    invalid: pd.DataFrame,
    alike: pd.DataFrame,
    flip_conventions: pd.DataFrame,
    choice: Choice,
) -> tuple[str, ...]:
    """Write all cautions.

    Parameters
    ----------
    stability, items, excluded, invalid, alike, flip_conventions, choice
        As in `narrative.answer`.

    Returns
    -------
    tuple of str
        The sentences; those about validity come first.
    """
    named = invalid.assign(label=labels.series(invalid))
    return (
        *_validity(stability), *wordings.uneven(items), *_bounded(named), *wordings.ties(items, choice),
        *_one_sided(stability, choice), *_excluded(excluded, items), *_invalid(named), *unread(named, choice),
        *wordings.conventions(flip_conventions, headline(stability)), *wordings.alike(alike),
        *wordings.matched(items), *_few(stability, items),
    )  # fmt: skip


def _validity(stability: pd.DataFrame) -> list[str]:
    named = stability.assign(label=labels.series(stability))  # on an empty frame it would add rows instead
    low = named[named["low_mass"].astype(bool)]
    if low.empty:
        return []
    least = low.sort_values(["validity", "label"], kind="stable").iloc[0]
    of = f"{len(low)} of {units(stability)}" if len(stability) > 1 else "the model"
    return [
        f"Low validity: for {of}, less than half of the probability (or of the texts read) is a valid answer. The "
        f"lowest is {value(least['validity'], column('stability', 'validity'))} ({least['label']}). Such models are "
        "not compared."
    ]


def _bounded(invalid: pd.DataFrame) -> list[str]:
    found = invalid[invalid["n_bounded"] > 0].sort_values(
        ["mass_missing", "label"], ascending=[False, True], kind="stable"
    )
    if found.empty:
        return []
    most = value(found["mass_missing"].iloc[0], column("invalid", "mass_missing"))
    return [
        f"Bounds: for {listing(found['label'].tolist())} a server showed the most probable tokens only. So masses are "
        f"lower bounds: on average, up to {most} more of the probability may be on the answers."
    ]


def _one_sided(stability: pd.DataFrame, choice: Choice) -> list[str]:
    named = stability.assign(label=labels.series(stability))
    named = named[~silent(named["validity"])]
    sentences = []
    for mark, answer in (("+", choice.first), ("-", choice.second)):
        names = sorted(named.loc[named["mark"] == mark, "label"])
        if names:
            ending = "s" if len(names) == 1 else ""
            chosen = f"{answer}{ending} with" if choice.agrees else f"choose{ending} {quoted(answer)} on"
            sentences.append(
                f"{listing(names)} {chosen} every item on average: always the same answer, whatever is asked."
            )
    return sentences


def _excluded(excluded: pd.DataFrame, items: pd.DataFrame) -> list[str]:
    if excluded.empty:
        return []
    left = len(excluded.drop_duplicates(["study", "item"]))
    total = len(items.drop_duplicates(["study", "item"]))
    reasons = excluded["reason"].value_counts()
    why = f": {', '.join(reasons.index)}" if len(reasons) <= 2 else ""
    each = excluded.groupby(["study", "item"]).size()
    some = "" if len(excluded) % left == 0 and each.nunique() == 1 else " for some models"
    return [f"{left:,} of {count(max(total, left), 'item')} {'is' if left == 1 else 'are'} left out{some}{why}."]


def _invalid(invalid: pd.DataFrame) -> list[str]:
    bad, total = int(invalid["n_invalid"].sum()), int(invalid["n_rows"].sum())
    if not bad:
        return []
    worst = invalid.sort_values("share", kind="stable").iloc[-1]
    most = f", most from {worst['label']} ({percent(worst['share'])})" if len(invalid) > 1 else ""
    return [f"{bad:,} of {count(total, 'response')} ({percent(bad / total)}) hold no valid answer{most}."]


def unread(written: pd.DataFrame, choice: Choice) -> list[str]:
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
    open_ = (written["most_agreement"] - written["least_agreement"]).dropna()
    if not (open_ > 0).any():
        return []
    row = written.loc[open_.idxmax()]
    low, high = percent(row["least_agreement"]), percent(row["most_agreement"])
    if low == high:
        return []  # fewer texts were unread than one would see in the number
    read = "" if pd.isna(row["read_agreement"]) else f" ({percent(row['read_agreement'])} of those read)"
    return [
        f"Unread answers leave most open for {row['label']}: its {choice.measure}{read} lies between {low} and {high}."
    ]


def _few(stability: pd.DataFrame, items: pd.DataFrame) -> list[str]:
    own = stability["n_items"].set_axis(labels.series(stability))
    sentences = [*few_models(stability["model"].nunique()), *few_items(own)]
    typical = int(np.median(wordings.per_item(items)))
    if 0 < typical < FEW_PARAPHRASES:
        sentences.append(
            f"Only {count(typical, 'wording')} per item: a single one is {percent(1 / typical)} of them, and ranges "
            "grow with the number of wordings."
        )
    return sentences
