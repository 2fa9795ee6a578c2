"""Name the fits and predictors of the page on text features."""

from __future__ import annotations

from collections.abc import Iterable

import pandas as pd

from analysis.features.attributes import PREFIX, is_attribute_column, split_term_into_column_and_level
from analysis.pages.text_features.columns import TERMS
from analysis.reporting.words import format_quantity, labels
from analysis.statistics.mixed.design import INTERCEPT
from ground.errors import shorten_to_one_line


def add_fit_labels(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the frame with the column `label`: the name of each row's fit."""
    return frame.assign(label=labels.build_row_labels(frame) if len(frame) else "")


def name_predictor(term: object) -> str:
    """Name a predictor in the middle of a sentence; the name of an attribute is its author's, and stays as it is."""
    title = phrase_predictor_as_title(str(term))
    return title if is_attribute_column(str(term)) else title.lower()


def phrase_predictor_as_title(term: str) -> str:
    """Name a predictor as a heading or at the start of a sentence; of a category, with the levels compared."""
    column, levels = split_term_into_column_and_level(term)
    name = TERMS[term].header if term in TERMS else column.removeprefix(PREFIX)
    return shorten_to_one_line(f"{name}: {levels}" if levels else name)


def phrase_predictor_count(terms: Iterable[str], noun: str = "text feature") -> str:
    """Count the predictors of some fits: "10 text features", or "10 text features and 1 attribute".

    Parameters
    ----------
    terms
        Of the fits; the terms of one category count once.
    noun
        What a predictor is called that is no attribute.
    """
    columns = {split_term_into_column_and_level(term)[0] for term in terms}
    n_attributes = sum(map(is_attribute_column, columns))
    if not n_attributes:
        return format_quantity(len(columns), noun)
    n_features = len(columns) - n_attributes
    features_text = f"{format_quantity(n_features, noun)} and " if n_features else ""
    return f"{features_text}{format_quantity(n_attributes, 'attribute')}"


def sort_predictors_by_significance(mixed: pd.DataFrame) -> list[str]:
    """Sort the predictors: most significant effects first; among equals, the largest effects first."""
    effects = mixed[mixed["term"] != INTERCEPT]
    effects_by_term = effects.assign(clear=effects["confirmed"], size=effects["estimate_std"].abs()).groupby("term")
    order = effects_by_term.agg({"clear": "mean", "size": "mean"}).sort_values(
        ["clear", "size"], ascending=False, kind="stable"
    )
    return list(order.index)
