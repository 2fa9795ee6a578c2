"""How the text-features report names fits, predictors and counts."""

from __future__ import annotations

import pandas as pd

from analysis.pages.text_features.columns import TERMS
from analysis.reporting import labels
from analysis.statistics.mixed.design import INTERCEPT
from analysis.statistics.mixed.result import ALPHA


def labelled(frame: pd.DataFrame) -> pd.DataFrame:
    """The frame with `label`, what its fits are called."""
    return frame.assign(label=labels.series(frame) if len(frame) else "")


def name(term: object) -> str:
    """A predictor in the middle of a sentence."""
    return title(str(term)).lower()


def title(term: str) -> str:
    """A predictor in words."""
    return TERMS[term].header if term in TERMS else term


def ranked(mixed: pd.DataFrame) -> list[str]:
    """The predictors: those with most significant effects first, of these the largest."""
    effects = mixed[mixed["term"] != INTERCEPT]
    size = effects.assign(clear=effects["p_bonferroni"] < ALPHA, size=effects["estimate_std"].abs()).groupby("term")
    order = size.agg({"clear": "mean", "size": "mean"}).sort_values(["clear", "size"], ascending=False, kind="stable")
    return list(order.index)
