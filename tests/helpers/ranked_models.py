"""Models that are ranked by answers to items which have only some of the wordings."""

from __future__ import annotations

import numpy as np

from helpers.unlike_items import Design

# SDs of the components of answers around .5: a ranking by 62 items and 5 of 19 wordings is then reliable to some .7.
SDS = {"model": 0.03, "item": 0.15, "wording": 0.05, "model_item": 0.12, "model_wording": 0.05, "rest": 0.12}


def draw_answers(
    rng: np.random.Generator, n_models: int, n_items: int, design: Design, spread: float
) -> tuple[np.ndarray, float]:
    """Draw answers (models, items, wordings), NaN where an item lacks a wording, and their true coefficient."""
    shape = (n_models, n_items, design.of)
    of_wordings = (1, 1, design.of) if design.crossed else (1, n_items, design.of)
    of_both = (n_models, 1, design.of) if design.crossed else shape
    item_sizes = np.exp(rng.normal(-(spread**2), spread, (1, n_items, 1)))  # with a mean square of 1
    wording_sizes = np.exp(rng.normal(-(spread**2), spread, (1, 1, design.of)))
    answers = 0.5 + rng.normal(0, SDS["model"], (n_models, 1, 1)) + rng.normal(0, SDS["item"], (1, n_items, 1))
    answers = answers + rng.normal(0, SDS["wording"], of_wordings)
    answers = answers + rng.normal(0, SDS["model_item"], (n_models, n_items, 1)) * item_sizes
    answers = answers + rng.normal(0, SDS["model_wording"], of_both) * wording_sizes
    answers = answers + rng.normal(0, SDS["rest"], shape) * item_sizes * wording_sizes
    answered = rng.random(shape[1:]).argsort(axis=1) < design.each
    shares = answered / answered.sum(axis=1, keepdims=True) / n_items
    squared_shares = (shares.sum(axis=0) ** 2).sum() if design.crossed else (shares**2).sum()
    signal = SDS["model"] ** 2
    error = SDS["model_item"] ** 2 / n_items + SDS["model_wording"] ** 2 * squared_shares
    error += SDS["rest"] ** 2 / n_items / design.each
    return np.where(answered, answers, np.nan), signal / (signal + error)
