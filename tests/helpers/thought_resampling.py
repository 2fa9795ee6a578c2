"""Draws a few thoughts many times from the many that prompts were asked for: what the estimates from a few are worth.

`yes` and `mass` (items, wordings, thoughts) are the probability of the first answer and of both, NaN for a thought
without an answer.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from analysis.statistics.reliability.panel import estimate_panel_mean
from analysis.statistics.reliability.sampling import estimate_sampling_variance


def estimate_ratio(yes, mass):
    """The answer as Waver reads it, and the variance of one linearised thought: a ratio of means over the last axis."""
    known = ~np.isnan(mass)
    number, total = known.sum(axis=-1), np.nansum(mass, axis=-1)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.nansum(yes, axis=-1) / np.where(total > 0, total, np.nan)
        errors = np.where(known, yes - ratio[..., None] * mass, 0.0) / (total / number)[..., None]
        spread = np.where(number > 1, (errors**2).sum(axis=-1) / (number - 1), np.nan)
    return ratio, spread, np.where(number > 0, number, np.nan).astype(float)


def draw_thoughts(rng, yes, mass, number):
    """Draw thoughts of every prompt, with replacement, and one answer after each (1, 0, or NaN for neither)."""
    places = rng.integers(0, yes.shape[-1], (*yes.shape[:-1], number))
    drawn_yes, drawn_mass = (np.take_along_axis(part, places, axis=-1) for part in (yes, mass))
    chance = rng.random(drawn_yes.shape)
    said = np.where(chance < drawn_yes, 1.0, np.where(chance < drawn_mass, 0.0, np.nan))
    return drawn_yes, drawn_mass, said


@dataclass(frozen=True)
class Checked:
    """What `check_estimates` says.

    `bias`: mean over prompts of estimate minus truth; `largest_bias`: of a single prompt, and `largest_error`: the
    simulation error of that; `variance` and `counting`: of the answer to a prompt, mean over prompts, from
    probabilities and from counted answers; `worse`: prompts whose counted answers vary less than they should;
    `coverage`: share of studies whose interval over items holds the mean of all items.
    """

    bias: float
    largest_bias: float
    largest_error: float
    variance: float
    counting: float
    worse: int
    coverage: float


def check_estimates(rng, yes, mass, number=8, draws=2000, studies=2000):
    """Compare answers from `number` thoughts with those from all of them."""
    truth, _, _ = estimate_ratio(yes, mass)
    exact, counted = np.full((2, draws, *truth.shape), np.nan)
    for draw in range(draws):
        drawn_yes, drawn_mass, said = draw_thoughts(rng, yes, mass, number)
        exact[draw] = estimate_ratio(drawn_yes, drawn_mass)[0]
        known = ~np.isnan(said)
        with np.errstate(invalid="ignore"):
            counted[draw] = np.nansum(said, axis=-1) / np.where(known.any(axis=-1), known.sum(axis=-1), np.nan)
    errors = np.nanmean(exact, axis=0) - truth
    variances = [np.nanvar(part, axis=0, ddof=1) for part in (exact, counted)]
    # A variance from normal numbers is off by its root of 2 / draws; both are of the same draws.
    worse = int((variances[0] > variances[1] * (1 + 4 * np.sqrt(2 / draws)) + 1e-12).sum())
    place = np.unravel_index(np.abs(errors).argmax(), errors.shape)
    return Checked(
        float(errors.mean()), float(np.abs(errors).max()), float(np.sqrt(variances[0][place] / draws)),
        float(variances[0].mean()), float(variances[1].mean()), worse,
        measure_coverage(rng, yes, mass, number, studies),
    )  # fmt: skip


def measure_coverage(rng, yes, mass, number, studies):
    """Draw studies, of items and of thoughts, and count the intervals that hold the mean over all items."""
    truth = float(estimate_ratio(yes, mass)[0].mean())
    covered = 0
    for _ in range(studies):
        items = rng.integers(0, len(yes), len(yes))
        drawn_yes, drawn_mass, _ = draw_thoughts(rng, yes[items], mass[items], number)
        ratio, spread, numbers = estimate_ratio(drawn_yes, drawn_mass)
        panel = estimate_panel_mean(ratio, False, estimate_sampling_variance(spread, numbers))
        low, high = panel.compute_interval("items")
        covered += low <= truth <= high
    return covered / studies
