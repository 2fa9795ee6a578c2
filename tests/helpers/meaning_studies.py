"""Made studies in which some paraphrases mean something else: who flips, what passes a check, and what is true."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import betaincinv, ndtr, ndtri

# Over items, the share of flips of wordings of the same meaning is of a beta distribution: by its mean, a and b.
FLIPS = {0.02: (0.4, 19.6), 0.1: (0.8, 7.2), 0.3: (1.5, 3.5)}
OTHER_FLIPS = (0.3, 0.6)  # of wordings of another meaning: uniform over items
EVENNESS = 6.0  # a + b of the beta distribution, over items, of the share of wordings that mean something else
ALLOWED = 0.05  # share of wordings of another meaning that pass


@dataclass(frozen=True)
class Design:
    """What a study is drawn from.

    Attributes
    ----------
    flip
        Mean share of flips of wordings of the same meaning, one of `FLIPS`.
    other
        Mean share of wordings that mean something else.
    auc
        Of the check (where it depends on flips: about so much).
    items, wordings, sheet
        Numbers of items, of wordings of each, and of those that people read.
    dependence
        By how many SDs a flip lowers the score of a wording, whatever it means.
    correlation
        Over items, of the flips of wordings of the same meaning and the share of those of another.
    misread
        Share of wordings on the sheet of which people say the contrary of what is true.
    """

    flip: float
    other: float
    auc: float
    items: int
    wordings: int
    sheet: int
    dependence: float = 0.0
    correlation: float = 0.0
    misread: float = 0.0


def draw_item_shares(rng: np.random.Generator, design: Design, shape: tuple[int, ...]) -> tuple[np.ndarray, np.ndarray]:
    """Draw, of every item, the share of flips of wordings of the same meaning, and the share of those of another."""
    normal = rng.normal(size=shape)
    second = np.sqrt(1 - design.correlation**2) * rng.normal(size=shape) + design.correlation * normal
    other = betaincinv(design.other * EVENNESS, (1 - design.other) * EVENNESS, ndtr(second))
    return betaincinv(*FLIPS[design.flip], ndtr(normal)), other


def compute_truth(design: Design) -> tuple[float, float]:
    """The probability that a wording flips if it means the same, where an item is drawn, and one of its wordings; and
    that any wording does."""
    both = design.flip * (1 - design.other)
    if design.correlation:
        flip, other = draw_item_shares(np.random.default_rng(0), design, (300_000,))
        both = (flip * (1 - other)).mean()
    return float(both / (1 - design.other)), float(both + np.mean(OTHER_FLIPS) * design.other)


def draw_studies(
    rng: np.random.Generator, design: Design, studies: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Draw flips, passes, and what people say (NaN: not on the sheet); and what is true: (studies, items, wordings)."""
    shape = (studies, design.items, design.wordings)
    flip_share, other_share = draw_item_shares(rng, design, (*shape[:2], 1))
    is_same = rng.random(shape) >= other_share
    expected = np.where(is_same, flip_share, rng.uniform(*OTHER_FLIPS, (*shape[:2], 1)))
    flips = rng.random(shape) < expected
    distance = np.sqrt(2) * ndtri(design.auc)
    scores = rng.normal(size=shape) + distance * is_same - design.dependence * (flips - expected)
    on_sheet = np.arange(design.wordings) < design.sheet
    read_same = is_same ^ (rng.random(shape) < design.misread)
    return (
        flips.astype(float), (scores >= ndtri(1 - ALLOWED)).astype(float), np.where(on_sheet, read_same, np.nan),
        is_same.astype(float),
    )  # fmt: skip
