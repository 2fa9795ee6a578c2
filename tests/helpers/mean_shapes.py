"""Draws items between 0 and 1 of shapes whose means are hard to test, with their true means."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
import numpy.typing as npt
from scipy import stats

Array = npt.NDArray[np.float64]
Draw = Callable[[np.random.Generator, tuple[int, ...]], Array]


def mix(share: float, first: tuple[float, float], second: tuple[float, float] | float) -> tuple[Draw, float]:
    """A share of the items has a beta distribution, the others another one, or one value; and the mean."""

    def draw(rng: np.random.Generator, size: tuple[int, ...]) -> Array:
        others = rng.beta(*second, size) if isinstance(second, tuple) else np.full(size, second)
        return np.where(rng.random(size) < share, rng.beta(*first, size), others)

    means = [ends[0] / sum(ends) if isinstance(ends, tuple) else ends for ends in (first, second)]
    return draw, share * means[0] + (1 - share) * means[1]


SHAPES: Mapping[str, tuple[Draw, float]] = {
    "even": mix(1, (1, 1), 0.0),
    "two kinds": mix(1, (0.3, 0.3), 0.0),
    "near 0": mix(1, (1, 9), 0.0),
    "80 % zeros": mix(0.2, (2, 2), 0.0),
    "95 % zeros": mix(0.05, (2, 2), 0.0),
    "valid but for 1 %": mix(0.01, (1, 20), 0.9995),
    "valid but for 5 %": mix(0.05, (1, 20), 0.9995),
    "share of .05": mix(0.05, (1e6, 1e-6), 0.0),
    "share of .3": mix(0.3, (1e6, 1e-6), 0.0),
}


def draw_shape(rng: np.random.Generator, shape: str, size: tuple[int, ...]) -> tuple[Array, float]:
    """Values of a shape, and their true mean."""
    draw, mean = SHAPES[shape]
    return draw(rng, size), mean


def allow_errors(studies: int, level: float, luck: float = 1e-4) -> float:
    """How many of some studies may err at a level, but for luck that is as seldom as this."""
    return float(stats.binom.isf(luck, studies, level))
