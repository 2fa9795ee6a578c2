"""Find the claim about a number that is refuted just so: the end of an interval that agrees with a test."""

from __future__ import annotations

from collections.abc import Callable

from analysis.check.outcomes import LEVEL

_STEPS = 25  # of a bisection of a number between 0 and 1: to 3e-8


def find_largest_refuted_claim(compute_p: Callable[[float], float], most: float) -> float:
    """Find the largest claim that is refuted at `LEVEL`, by bisection; importing SciPy's searches takes half a second.

    Parameters
    ----------
    compute_p
        p of a claim; it grows with the claim.
    most
        Larger claims are not asked about.

    Returns
    -------
    float
        0 where no claim from 0 on is refuted.
    """
    if compute_p(most) < LEVEL:
        return most
    if most <= 0 or compute_p(0.0) >= LEVEL:
        return 0.0
    low, high = 0.0, most
    for _ in range(_STEPS):
        middle = (low + high) / 2
        low, high = (middle, high) if compute_p(middle) < LEVEL else (low, middle)
    return low
