"""Write the cautions of the page on wording: what weakens the answer, from its tables."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import pandas as pd

from analysis.pages.wording.cells import spoken, validity
from analysis.reporting import labels
from analysis.reporting.thresholds import silent
from analysis.reporting.words import count, few_items, few_models, listing, percent
from analysis.runs.folder import ORIGINAL

SAME = 0.95  # share of one answer from which on a model says nearly always the same


def cautions(frames: Mapping[str, pd.DataFrame]) -> tuple[str, ...]:
    """Say, in sentences, what a reader must know before believing the answer; from tables of the page by name."""
    return tuple(_cautions(frames["consistency"], frames["conventions"]))


def _cautions(table: pd.DataFrame, conventions: pd.DataFrame) -> Iterator[str]:
    reworded = table[table["pattern"] != ORIGINAL]
    yield from _silent(table)
    yield from _bounds(conventions)
    yield from _one_sided(table[~silent(validity(table))])
    if reworded["accuracy"].isna().all() and reworded["consistency"].notna().any():
        yield "No right answers are known: accuracy and Overall are undefined."
    own = reworded[["n", "n_items"]].min(axis=1).set_axis(labels.series(reworded))
    yield from few_items(own, " in a cell", "intervals are wide, and that of Overall tends to be too narrow")
    yield from few_models(table["model"].nunique())


def _silent(table: pd.DataFrame) -> Iterator[str]:
    """Name the models with no or few valid answers."""
    for (language, task), part in table.groupby(["language", "task"], sort=False):
        none = part.groupby(["model", "condition"], sort=False)["n"].sum() == 0
        valid = validity(part).groupby([part["model"], part["condition"]], sort=False).first()
        empty = none & (valid == 0) if len(none) else none
        where = f"“{task}”{f' in {spoken(language)}' if language else ''}"
        if none.all():
            yield f"No model gives a valid answer to {where}: nothing is measured there."
        elif empty.any():
            yield f"There are no valid answers to {where} from {_units(none.index[empty], part)}."
        low = silent(valid) & ~none
        if low.any():
            yield (
                f"Less than half of the answers to {where} are valid for {_units(low.index[low], part)}. The "
                f"lowest share is {percent(valid[low].min(), 1)}. What the other answers would have been is not "
                "known, so these are not compared."
            )


def _units(index: pd.MultiIndex | Sequence[tuple[str, str]], part: pd.DataFrame) -> str:
    names = part[["model", "condition"]].drop_duplicates()
    named = dict(zip(names.itertuples(index=False, name=None), labels.series(names), strict=True))
    return listing([named[unit] for unit in index])


def _bounds(conventions: pd.DataFrame) -> Iterator[str]:
    """Say what both ways to treat invalid answers give, and between which bounds the numbers lie."""
    reworded = conventions[conventions["pattern"] != ORIGINAL]
    known = reworded[reworded["n_pairs"] > 0]
    if known.empty:
        return
    lost = int((reworded["n"] - reworded["n_pairs"]).sum())
    mean = {name: percent(known[name].mean(), 1) for name in known if name.startswith(("consistency_", "yes_"))}
    yield (
        f"{count(lost, 'pair')} {'has' if lost == 1 else 'have'} an invalid answer. In the rows of such pairs and "
        f"some valid ones, mean Consistency is {mean['consistency_dropped']} without these pairs. It is "
        f"{mean['consistency_inconsistent']} where they count as inconsistent (-p invalid=inconsistent), and would be "
        f"{mean['consistency_most']} if all were consistent. The share of “Yes” lies between "
        f"{mean['yes_inconsistent']} and {mean['yes_most']}, whatever the invalid answers say."
    )


def _one_sided(table: pd.DataFrame) -> Iterator[str]:
    """Name the models that always say the same, antonyms included: their consistency elsewhere says nothing."""
    known = table[table["n"] > 0]
    spans = known.groupby(["study", "model", "condition"], sort=False)["yes"].agg(["min", "max"]).reset_index()
    spans = spans.assign(label=labels.series(spans)) if len(spans) else spans.assign(label="")
    for word, rows in (("Yes", spans[spans["min"] > SAME]), ("No", spans[spans["max"] < 1 - SAME])):
        if len(rows):
            yield (
                f"{listing(list(rows['label']))} {'says' if len(rows) == 1 else 'say'} “{word}” to nearly everything, "
                "antonyms included. This is consistent under the other kinds of wording without any understanding."
            )
