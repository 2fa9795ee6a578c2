"""Write the cautions of the page on negation: what weakens the answer, from its tables."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import pandas as pd

from analysis.measures.thresholds import is_validity_below_half
from analysis.pages.negation.figures import compute_valid_shares, find_units_clearly_above_majority_baseline
from analysis.reporting.words import (
    format_percent,
    join_names,
    labels,
    list_few_items_cautions,
    list_few_models_cautions,
)
from analysis.reporting.words.doubts import LEFT_OUT, WRONG, Caution
from analysis.runs.folder import UNIT

SAME = 0.95  # share of one label from which on a model says nearly always the same


def list_cautions(frames: Mapping[str, pd.DataFrame]) -> tuple[str, ...]:
    """Say, in sentences, what a reader must know before believing the answer; from tables of the page by name."""
    return tuple(_list_negation_cautions(frames["negation_accuracy"], frames["minimal_pairs"], frames["negation_bias"]))


def _list_negation_cautions(accuracy: pd.DataFrame, pairs: pd.DataFrame, bias: pd.DataFrame) -> Iterator[str]:
    """Yield the cautions from the tables of accuracy, minimal pairs and bias."""
    valid = compute_valid_shares(accuracy)
    yield from _list_cautions_on_mostly_invalid_models(valid)
    answering = valid[~is_validity_below_half(valid["valid"])]
    yield from _list_not_clearly_above_majority_cautions(accuracy, answering)
    yield from _list_single_label_model_cautions(bias.merge(answering[[*UNIT, "name"]]))
    items_by_label = pairs["n_items"].set_axis(labels.build_row_labels(pairs))
    yield from list_few_items_cautions(items_by_label, " of a kind of pairs", "intervals are wide")
    yield from list_few_models_cautions(accuracy["model"].nunique())


def _list_cautions_on_mostly_invalid_models(valid_shares: pd.DataFrame) -> Iterator[str]:
    """Name the models of which less than half of the answers are valid."""
    silent_units = valid_shares[is_validity_below_half(valid_shares["valid"])]
    if len(silent_units):
        yield Caution(
            "Less than half of the answers of "
            f"{join_names(list(silent_units['name']))} are one of the labels. "
            f"The lowest share is {format_percent(silent_units['valid'].min(), 1)}. These models are not compared.",
            WRONG,
        )


def _list_not_clearly_above_majority_cautions(accuracy: pd.DataFrame, answering: pd.DataFrame) -> Iterator[str]:
    """Name the models whose accuracy without any negation is not clearly above the majority baseline."""
    units = answering.merge(
        find_units_clearly_above_majority_baseline(accuracy).assign(able=True), "left", on=list(UNIT)
    )
    is_unable = units["able"].isna()
    if is_unable.any():
        yield Caution(
            f"{join_names(list(units.loc[is_unable, 'name']))}: not clearly above the majority baseline on the "
            "originals. What a negation does to guesses says little, so the answer leaves them out.",
            LEFT_OUT,
        )


def _list_single_label_model_cautions(bias: pd.DataFrame) -> Iterator[str]:
    """Name the models that say one label to nearly everything."""
    one_label_rows = bias[bias[["said_original", "said_negated"]].min(axis=1) > SAME]
    for label, part in one_label_rows.groupby("label", sort=False):
        names = list(part["name"])
        yield Caution(
            f"{join_names(names)} {'says' if len(names) == 1 else 'say'} “{label}” to nearly everything.", WRONG
        )
