"""Name the fits and predictors of the page on text features."""

from __future__ import annotations

import pandas as pd

from analysis.pages.text_features.columns import TERMS
from analysis.reporting.words import labels
from analysis.statistics.mixed.design import INTERCEPT


def add_fit_labels(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the frame with the column `label`: the name of each row's fit."""
    return frame.assign(label=labels.build_row_labels(frame) if len(frame) else "")


def name_predictor(term: object) -> str:
    """Name a predictor in the middle of a sentence."""
    return title_predictor(str(term)).lower()


def title_predictor(term: str) -> str:
    """Name a predictor as a heading or at the start of a sentence."""
    return TERMS[term].header if term in TERMS else term


def rank_predictors(mixed: pd.DataFrame) -> list[str]:
    """Sort the predictors: most significant effects first; among equals, the largest effects first."""
    effects = mixed[mixed["term"] != INTERCEPT]
    effects_by_term = effects.assign(clear=effects["confirmed"], size=effects["estimate_std"].abs()).groupby("term")
    order = effects_by_term.agg({"clear": "mean", "size": "mean"}).sort_values(
        ["clear", "size"], ascending=False, kind="stable"
    )
    return list(order.index)
