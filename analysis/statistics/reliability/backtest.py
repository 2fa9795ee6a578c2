"""Compare what a pilot foresees with what comes: standard errors from a tenth of the wordings, and of the others.

A tenth of the wordings is the pilot (`forecast`). Of the others, k of each item are drawn again and again, and the
standard error of the figure is computed from these alone: where items have wordings of their own, that of a mean over
items; where they share them, that with other items and other wordings (`estimate_panel_mean`). The root of its mean
square over the draws is the actual error.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from analysis.statistics.reliability.components import Array
from analysis.statistics.reliability.deviations import compute_sd_pseudo_values, forecast_error_of_mean_wording_sd
from analysis.statistics.reliability.flips import build_flip_share_error_forecast
from analysis.statistics.reliability.forecast import Forecast, build_mean_error_forecast, predict_standard_error
from analysis.statistics.reliability.panel import choose_part_that_loses_interaction

PILOT, OTHERS = 3, 2  # least number of wordings of the pilot, and of the others
SHARE = 0.1
DRAWS = 8
AT = (2, 3, 4, 5, 7, 10, 15, 20, 30, 50, 70, 100, 150, 200, 300, 500)  # numbers of wordings
MEAN, SD, FLIPS = "mean", "sd", "flips"


@dataclass(frozen=True, slots=True)
class ErrorComparison:
    """Hold one standard error: foreseen from `pilot` wordings of each item, and actual with `wordings` others.

    `items` have enough wordings for both. NaN: the pilot does not tell.
    """

    figure: str
    items: int
    pilot: int
    wordings: int
    predicted: float
    actual: float


def compare_forecast_and_actual_errors(
    values: Array, crossed: bool, threshold: float, *, seed: int = 0, mean_only: bool = False
) -> list[ErrorComparison]:
    """Compare foreseen and actual errors of the mean, the SD, and, where wordings are not shared, the share of flips.

    Parameters
    ----------
    values
        Answers (items, wordings), NaN where there is none. Items with too few for a pilot and others are left out;
        where wordings are shared, so are items that have not all of them: a pilot's three columns hold too few answers
        of an item that has 5 of 19.
    crossed
        Whether all items share the wordings.
    threshold
        Share of the wordings that may be with the minority without a flip.
    seed
        Of the choice of the pilot's wordings, and of the draws of others.
    mean_only
        Leave out SD and flips.

    Returns
    -------
    list of ErrorComparison
        By figure, and by number of wordings (`AT`, and all others); empty for fewer than two items.
    """
    rng = np.random.default_rng(seed)
    sizes = (~np.isnan(values)).sum(axis=1)
    enough = sizes >= max(PILOT + OTHERS, values.shape[1] if crossed else 0)
    values, sizes = values[enough], sizes[enough]
    if len(values) < 2:
        return []
    values = values[:, rng.permutation(values.shape[1])] if crossed else _shuffle_answers_within_items(values, rng)
    width = values.shape[1] if crossed else int(sizes.min())
    size = max(PILOT, round(SHARE * width))
    pilot, held_back = values[:, :size], values[:, size:]
    forecasts: dict[str, Forecast | None] = {MEAN: build_mean_error_forecast(pilot, crossed)}
    if not mean_only:
        forecasts[SD] = forecast_error_of_mean_wording_sd(pilot, crossed)
        forecasts |= {} if crossed else {FLIPS: build_flip_share_error_forecast(pilot, threshold)}
    at = sorted({n_wordings for n_wordings in AT if n_wordings < width - size} | {width - size})
    actual_errors = (_compute_errors_with_shared_wordings if crossed else _compute_errors_with_own_wordings)(
        held_back, at, threshold, rng
    )
    return [
        ErrorComparison(
            figure, len(values), size, k,
            np.nan if forecast is None else predict_standard_error(forecast, len(values), k), actual,
        )
        for figure, forecast in forecasts.items()
        for k, actual in zip(at, actual_errors[figure], strict=True)
        if k >= (OTHERS if forecast is None else forecast.least)
    ]  # fmt: skip


def _shuffle_answers_within_items(values: Array, rng: np.random.Generator) -> Array:
    """Put the answers of every item in a random order, those that are missing last."""
    order = np.argsort(np.where(np.isnan(values), np.inf, rng.random(values.shape)), axis=1)
    return np.take_along_axis(values, order, axis=1)


def _compute_errors_with_own_wordings(
    values: Array, wording_counts: list[int], threshold: float, rng: np.random.Generator
) -> dict[str, Array]:
    """Compute the actual errors where items have wordings of their own: figure -> error at each number."""
    squares: dict[str, list[Array]] = {MEAN: [], SD: [], FLIPS: []}
    k: npt.NDArray[np.int64] = np.array(wording_counts)
    for _ in range(DRAWS):
        drawn = _shuffle_answers_within_items(values, rng)[:, : wording_counts[-1]]
        centred = drawn - np.nanmean(values, axis=1, keepdims=True)
        # The sum of the first k answers stands at place k - 1 of the running sums.
        sums, of_squares, agree = (
            np.cumsum(terms, axis=1)[:, k - 1] for terms in (centred, centred**2, (drawn >= 0.5).astype(float))
        )
        means = np.cumsum(drawn, axis=1)[:, k - 1] / k
        deviations = np.sqrt(np.maximum(of_squares - sums**2 / k, 0.0) / (k - 1))
        flipped = (np.minimum(agree, k - agree) / k > threshold).astype(float)
        for name, figures in ((MEAN, means), (SD, deviations), (FLIPS, flipped)):
            squares[name].append(figures.var(axis=0, ddof=1) / len(figures))
    errors = {name: np.sqrt(np.mean(terms, axis=0)) for name, terms in squares.items()}
    return errors | {FLIPS: np.where(errors[FLIPS] > 0, errors[FLIPS], np.nan)}  # no flips do not mean no error


def _compute_errors_with_shared_wordings(
    values: Array, wording_counts: list[int], threshold: float, rng: np.random.Generator
) -> dict[str, Array]:
    """Compute the actual errors where all items share the wordings: figure -> error at each number."""
    squares = {name: np.full((DRAWS, len(wording_counts)), np.nan) for name in (MEAN, SD)}
    for draw in range(DRAWS):
        drawn = values[:, rng.permutation(values.shape[1])]
        for place, k in enumerate(wording_counts):
            squares[MEAN][draw, place] = compute_error_variance_of_complete_panel(drawn[:, :k])
            squares[SD][draw, place] = compute_error_variance_of_complete_panel(compute_sd_pseudo_values(drawn[:, :k]))
    return {name: np.sqrt(squared_errors.mean(axis=0)) for name, squared_errors in squares.items()}


def compute_error_variance_of_complete_panel(values: Array) -> float:
    """Square the standard error "both" that `estimate_panel_mean` gives answers without holes to shared wordings.

    Parameters
    ----------
    values
        Answers (items, wordings), at least two of each.

    Returns
    -------
    float
        In the unit of the answers squared.

    >>> from analysis.statistics.reliability.panel import estimate_panel_mean
    >>> values = np.random.default_rng(0).random((4, 7))
    >>> slow = estimate_panel_mean(values, True).compute_standard_error("both") ** 2
    >>> abs(compute_error_variance_of_complete_panel(values) / slow - 1) < 1e-12
    True
    """
    n_items, n_wordings = values.shape
    items, wordings = values.mean(axis=1), values.mean(axis=0)
    left = values - items[:, None] - (wordings - items.mean())
    interaction = float(np.vdot(left, left)) / (n_items - 1) / (n_wordings - 1) / values.size
    less, more = choose_part_that_loses_interaction(n_items - 1, n_wordings - 1, interaction)
    of_items, of_wordings = items.var(ddof=1) / n_items, wordings.var(ddof=1) / n_wordings
    return float(np.maximum(of_items - less, 0.0) + np.maximum(of_wordings - more, 0.0))
