"""Studies as they are: items that have only some of the shared wordings, and that differ in how stable they are."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

MANY_ITEMS, MANY_WORDINGS = 20_000, 400  # of the population that the true components are computed from
SD_WORDING, CENTRE = 0.05, 0.5
MOST = 0.115  # SD of an answer within an item; a uniform one then stays within the bounds

Draw = Callable[[np.random.Generator, int, int], tuple[np.ndarray, np.ndarray]]


def draw_levels(rng: np.random.Generator, n_items: int) -> np.ndarray:
    return np.clip(rng.normal(CENTRE, 0.12, n_items), 0.2, 0.8)


def vary(sds: Callable[[np.random.Generator, int], np.ndarray]) -> Draw:
    """Items with levels and SDs of their own, answers from 0 to 1, uniform within an item and a wording."""

    def draw(rng: np.random.Generator, n_items: int, n_wordings: int) -> tuple[np.ndarray, np.ndarray]:
        wordings = np.clip(rng.normal(0, SD_WORDING, n_wordings), -0.1, 0.1)
        sd = np.minimum(sds(rng, n_items), MOST)[:, None] * np.sqrt(3)
        return draw_levels(rng, n_items)[:, None] + sd * rng.uniform(-1, 1, (n_items, n_wordings)), wordings

    return draw


def draw_right_or_wrong(rng: np.random.Generator, n_items: int, n_wordings: int) -> tuple[np.ndarray, np.ndarray]:
    """Log odds of right answers; most items are answered alike in all wordings."""
    return rng.normal(1, 3, (n_items, 1)) + rng.normal(0, 0.7, (n_items, n_wordings)), rng.normal(0, 0.5, n_wordings)


SHAPES: dict[str, Draw] = {
    "alike": vary(lambda rng, n: np.full(n, 0.06)),
    "lognormal .5": vary(lambda rng, n: 0.03 * np.exp(0.5 * rng.normal(size=n))),
    "lognormal 1": vary(lambda rng, n: 0.02 * np.exp(rng.normal(size=n))),
    "5 % unstable": vary(lambda rng, n: np.where(rng.random(n) < 0.05, 0.11, 0.01)),
    "0 or 1": draw_right_or_wrong,
}


@dataclass(frozen=True, slots=True)
class Design:
    """Each item has `each` of `of` wordings; `crossed`: these are shared by all items."""

    each: int
    of: int
    crossed: bool = True

    def __str__(self) -> str:
        return f"{self.each} of {self.of}" if self.crossed else f"{self.each} own"


DESIGNS = (Design(2, 19), Design(5, 19), Design(12, 19), Design(4, 8), Design(5, 5), Design(5, 5, crossed=False))


def answer(shape: str, parts: tuple[np.ndarray, np.ndarray], rng: np.random.Generator) -> np.ndarray:
    """Add what wordings do, and answer: `parts` are of items by wordings, and of wordings."""
    of_items, of_wordings = parts
    if shape == "0 or 1":
        return (rng.random(of_items.shape) < 1 / (1 + np.exp(-of_items - of_wordings))).astype(float)
    return of_items + of_wordings


def draw_study(rng: np.random.Generator, shape: str, design: Design, n_items: int) -> np.ndarray:
    """Draw the answers (items, wordings) of one study, NaN where an item does not have a wording."""
    of_items, of_wordings = SHAPES[shape](rng, n_items, design.of)
    if not design.crossed:  # every item draws wordings of its own
        of_wordings = SHAPES[shape](rng, 1, n_items * design.of)[1].reshape(n_items, design.of)
    values = answer(shape, (of_items, of_wordings), rng)
    left_out = rng.random(values.shape).argsort(axis=1)[:, design.each :]
    np.put_along_axis(values, left_out, np.nan, axis=1)
    return values


def true_components(shape: str) -> tuple[float, float, float, float]:
    """Return mean, and components of items, of wordings and of what is left, of a very large complete study."""
    rng = np.random.default_rng(0)
    values = answer(shape, SHAPES[shape](rng, MANY_ITEMS, MANY_WORDINGS), rng)
    items, wordings = values.mean(axis=1), values.mean(axis=0)
    left = values - items[:, None] - wordings + values.mean()
    interaction = float((left**2).sum()) / (MANY_ITEMS - 1) / (MANY_WORDINGS - 1)
    item = float(items.var(ddof=1)) - interaction / MANY_WORDINGS
    wording = float(wordings.var(ddof=1)) - interaction / MANY_ITEMS
    if shape != "0 or 1":  # 400 wordings would tell their variance to 7 %
        wording = float(np.clip(rng.normal(0, SD_WORDING, 1_000_000), -0.1, 0.1).var())
        return CENTRE, item, wording, interaction
    return float(values.mean()), item, wording, interaction
