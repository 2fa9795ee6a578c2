"""Write captions that can be read alone: what is plotted, how many, and what every mark means.

Each function takes the frames that the function of the same name in `plots` takes.
"""

from __future__ import annotations

import pandas as pd

from analysis.pages.stability.columns import threshold
from analysis.pages.stability.measures import headline
from analysis.pages.stability.model_plots import FOREST, listed
from analysis.pages.stability.plots import COLUMNS, LISTED, agreement_cells, least_stable, validity_cells
from analysis.pages.stability.tables import MOST_PAIRS
from analysis.reporting import choice, labels
from analysis.reporting.catalogue import column
from analysis.reporting.columns import OVER_ITEMS
from analysis.reporting.labels import UNIT
from analysis.reporting.panels import ROWS
from analysis.reporting.thresholds import silent
from analysis.reporting.words import count, low_to_high, missing, units
from analysis.statistics.multiplicity import ALPHA

AGREEMENT = "Agreement is p(agree) / (p(agree) + p(disagree))"


def overview(stability: pd.DataFrame) -> str:
    """Write the caption of the overview of all models."""
    flip = threshold(headline(stability))
    low, high = int(stability["n_items"].min()), int(stability["n_items"].max())
    items = count(high, "item") if low == high else f"{low_to_high(stability['n_items'])} items"
    bare = missing(stability, "validity", "range_mean", "sd_mean", headline(stability))
    shown = stability.assign(silent=silent(stability["validity"]))
    hollow = f"{labels.explained(shown)[:-1]} (hollow, at the foot)." if shown["silent"].any() else ""
    marks = " (+) agrees, (-) disagrees with every item on average." if stability["mark"].fillna("").any() else ""
    return choice.of(stability).named(
        f"Validity and stability of {units(stability)} over {items}, the most stable on top. Range and SD: highest "
        "minus lowest agreement, and standard deviation of agreement, over an item's paraphrases, then the mean over "
        f"items. Flips: share of items with more than {flip:g} % of their paraphrases on the other side of 0.5 than "
        f"the majority. {AGREEMENT}. Lines: {OVER_ITEMS}.{bare}{hollow}{marks}"
        f"{labels.shown(ROWS, len(stability), 'rows', 'first and last')}"
    )


def agreement(distribution: pd.DataFrame, items: pd.DataFrame) -> str:
    """Write the caption of the map of agreement by item and model.

    Parameters
    ----------
    distribution, items
        As in `plots.agreement`.

    Returns
    -------
    str
        The caption.
    """
    cells = agreement_cells(distribution, items)
    known = distribution.dropna(subset=["median"])
    n_items, n_units = len(known[["study", "item"]].drop_duplicates()), len(known[UNIT].drop_duplicates())
    bars = (
        " In columns where a wording has one answer: the share of wordings that agree."
        if cells["answers"].any()
        else ""
    )
    empty = " Hatched: no valid answer." if len(cells) < cells["row"].nunique() * cells["label"].nunique() else ""
    return choice.of(distribution).named(
        f"Median agreement over the paraphrases of {count(cells['row'].nunique(), 'item')} "
        f"({low_to_high(known['n'])} paraphrases each), a column for each of {units(known.drop_duplicates(UNIT))}. "
        "Items are sorted by their median over the columns. Orange: disagrees; purple: agrees; white: 0.5, where an "
        "answer flips. Dot: the middle half of the paraphrases lies on both sides of 0.5, so both answers are "
        f"common.{bars}{empty}{labels.shown(LISTED, n_items, 'items', 'nearest to 0.5')}"
        f"{labels.shown(COLUMNS, n_units, 'columns', 'with the largest mean range')}{labels.explained(distribution)}"
    )


def item_stability(frame: pd.DataFrame) -> str:
    """Write the caption of the normalised SD of every item."""
    ranked = least_stable(frame.dropna(subset=["normalised_sd_mean"]))
    shown = (
        f"The {LISTED} least stable of {len(ranked):,} items"
        if len(ranked) > LISTED
        else f"All {count(len(ranked), 'item')}"
    )
    models = frame.groupby("family")["n_models"].max()
    families = " and ".join(f"{n} {family}" for family, n in models.items())
    total = int(models.sum())
    bars = (
        "Lines: standard error over models (none where a family has one model)"
        if (models > 1).any()
        else "No standard error: one model"
    )
    return choice.of(frame).named(
        f"{shown}, the least stable on top: SD of agreement over an item's paraphrases divided by the model's largest "
        f"such SD, mean over {families} {'model' if total == 1 else 'models'}. {bars}. 1 would be the least stable "
        "item of every model, 0 an item whose answer never moves. Models of which less than half of the answers "
        "are valid are left out."
    )


def validity(items: pd.DataFrame) -> str:
    """Write the caption of the heat map of validity."""
    cells, known = validity_cells(items), items.dropna(subset=["validity_mean"])
    low, high = cells["validity_mean"].min(), cells["validity_mean"].max()
    n_items, n_units = len(known[["study", "item"]].drop_duplicates()), len(known[UNIT].drop_duplicates())
    empty = " Hatched: no response." if len(cells) < cells["row"].nunique() * cells["label"].nunique() else ""
    return (
        f"Mean validity over the paraphrases of each of {count(cells['row'].nunique(), 'item')}: the probability of "
        "all answers together, or the share of valid answers where texts were read. Items are sorted, the lowest mean "
        f"first; lowest cell {low:.2f}, highest {high:.2f}.{empty}{labels.shown(LISTED, n_items, 'items', 'lowest')}"
        f"{labels.shown(COLUMNS, n_units, 'columns', 'lowest')}{labels.explained(items)}"
    )


def differences(frame: pd.DataFrame, measure: str | None = None) -> str:
    """Write the caption of the paired differences.

    Parameters
    ----------
    frame, measure
        As in `model_plots.differences`.

    Returns
    -------
    str
        The caption.
    """
    measure = measure or str(frame["measure"].iloc[0])
    pairs = frame[frame["measure"] == measure].dropna(subset=["difference"])
    what = choice.of(frame).named(column("stability", measure).meaning)
    sides = pd.DataFrame({"silent": pairs.filter(like="_silent").any(axis=1)})
    pairs = pairs.assign(**labels.of_pairs(pairs))
    shown = listed(pairs)
    if shown is not None:
        marks, lines = "Positive: the first is higher. Filled", ". Lines: 95 % intervals, not corrected"
    else:
        models = len(pd.concat([pairs["a"], pairs["b"]]).unique())
        marks = "Each name stands at the end of its row and on top of its column. Positive: the row is higher."
        marks += " Hatched: not compared." if len(pairs) < models * (models - 1) / 2 else ""
        marks, lines = f"{marks} Bold or dotted", ""
    return (
        f"Paired differences over {low_to_high(pairs['n_items'])} common items in "
        f"the {what}: {count(len(pairs), 'pair')}. {marks}: p below {ALPHA:g} after Holm over all pairs{lines}."
        f"{_largest(pairs, shown)}{_in_part(pairs)}{missing(pairs)}{labels.explained(sides)}"
    )


def _largest(pairs: pd.DataFrame, shown: pd.DataFrame | None) -> str:
    """Say that a list holds the largest differences only, and what that does to them."""
    if shown is None or len(shown) == len(pairs):
        return ""
    chosen = "largest differences, of either sign,"
    return (
        f"{labels.shown(len(shown), len(pairs), 'pairs', chosen)} Differences that are chosen for their size are "
        "larger than they would be in new data, on average."
    )


def _in_part(pairs: pd.DataFrame) -> str:
    """Say how pairs are chosen, where every model is compared with one other only (`tables.MOST_PAIRS`)."""
    if len(pairs) <= FOREST or pairs.duplicated(["study", "b_model", "b_condition"]).any():
        return ""
    return (
        f" Where a study has more than {MOST_PAIRS:,} pairs, each model is compared only with the first of the run "
        "that it can be compared with."
    )
