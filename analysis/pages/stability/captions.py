"""Write captions that can be read alone: what is plotted, how many, and what every mark means.

Each function takes the frames that the function of the same name in `plots` takes.
"""

from __future__ import annotations

import pandas as pd

from analysis.pages.stability.columns import threshold
from analysis.pages.stability.measures import headline
from analysis.pages.stability.model_plots import FOREST
from analysis.pages.stability.plots import LISTED, least_stable, only_answers
from analysis.reporting import choice, labels
from analysis.reporting.catalogue import column
from analysis.reporting.columns import OVER_ITEMS
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
    )


def agreement(distribution: pd.DataFrame, items: pd.DataFrame, outliers: pd.DataFrame | None = None) -> str:
    """Write the caption of the box plots of agreement by item."""
    panels = labels.series(distribution).nunique() if "label" not in distribution else distribution["label"].nunique()
    models = distribution["model"].nunique()
    who = count(panels, "model") if panels == models else f"{panels} combinations of model and condition"
    n = low_to_high(distribution["n"])
    original = items["original_agreement"].notna().any()
    diamond = " Diamonds: the answer to the original wording." if original else ""
    dots = " Dots: responses beyond the whiskers." if outliers is not None else ""
    shown = items.merge(distribution[["study", "model", "condition", "item"]])
    answers = [only_answers(part) for _, part in shown.groupby(["study", "model", "condition"])]
    bars = (
        ""
        if not any(answers)
        else " Bars, where a wording has one answer: share of wordings that agree (mean agreement)."
    )
    if all(answers):
        return choice.of(distribution).named(
            f"Share of the wordings of {count(distribution['item'].nunique(), 'item')} ({n} with a valid answer each) "
            f"that {who} agreed with, items sorted by it.{diamond} Dashed: 0.5, where the "
            f"majority flips.{labels.explained(distribution)}"
        )
    return choice.of(distribution).named(
        f"Distribution of agreement over the paraphrases of {count(distribution['item'].nunique(), 'item')} "
        f"({n} paraphrases each) for {who}, items sorted by their median. Box: first to third "
        "quartile; line: median; whiskers: furthest response within 1.5 interquartile ranges of the box."
        f"{dots}{bars}{diamond} Dashed: 0.5, where the answer flips. {AGREEMENT}.{labels.explained(distribution)}"
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
    low, high = items["validity_mean"].min(), items["validity_mean"].max()
    return (
        f"Mean validity over the paraphrases of each of {count(items['item'].nunique(), 'item')}: the probability of "
        "all answers together, or the share of valid answers where texts were read. Rows and columns are sorted, the "
        f"lowest first; lowest cell {low:.2f}, highest {high:.2f}. Grey: no response.{labels.explained(items)}"
    )


def differences(frame: pd.DataFrame, measure: str | None = None) -> str:
    """Write the caption of the paired differences."""
    measure = measure or str(frame["measure"].iloc[0])
    pairs = frame[frame["measure"] == measure]
    what = choice.of(frame).named(column("stability", measure).meaning)
    forest = len(pairs) <= FOREST
    lines = ". Lines: 95 % intervals, not corrected" if forest else ""
    sides = pd.DataFrame({"silent": pairs.filter(like="_silent").any(axis=1)})
    marks = "Positive: the first is higher. Filled"
    if not forest:
        marks = "Positive: the row is higher. Grey: not compared. Bold or dotted"
    return (
        f"Paired differences over {low_to_high(pairs['n_items'])} common items in "
        f"the {what}: {count(len(pairs), 'pair')}. {marks}: p below {ALPHA:g} after Holm over all pairs{lines}."
        f"{missing(pairs)}{labels.explained(sides)}"
    )
