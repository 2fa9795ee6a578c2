"""Estimate how alike two readings rank several models."""

from __future__ import annotations

from itertools import combinations

import numpy as np

from analysis.statistics.interval import Interval
from analysis.statistics.resampling import DRAWS, Array, Columns, bootstrap_intervals, compute_mean_per_draw
from analysis.statistics.significance import ROUNDING


def estimate_tau_of_models_under_two_readings(
    means: Array, *, draws: int = DRAWS, seed: int = 0
) -> dict[str, Interval]:
    """Estimate Kendall's tau-b of the models' means under two readings, with an interval over items.

    Parameters
    ----------
    means
        (2, items, models): mean of every item under both readings, without NaN.
    draws, seed
        As in `resampling.bootstrap_intervals`.

    Returns
    -------
    dict
        "tau" -> `Interval` of one unit; NaN where all models are equal under a reading.

    Raises
    ------
    InputError
        As `resampling.bootstrap_intervals`.

    References
    ----------
    Kendall, M. G. (1945). The treatment of ties in ranking problems. Biometrika 33, 239-251 (tau-b).
    """
    n_models = means.shape[2]
    columns = {f"{side}_{model}": means[side, :, model][:, None] for side in (0, 1) for model in range(n_models)}

    def compute_tau(item_columns: Columns, counts: Array) -> dict[str, Array]:
        """Compute tau-b in every draw."""
        drawn = [[compute_mean_per_draw(counts, item_columns[f"{side}_{model}"]) for model in range(n_models)]
                 for side in (0, 1)]  # fmt: skip
        signs = [
            np.stack([_get_sign_of_difference(side[a] - side[b]) for a, b in combinations(range(n_models), 2)])
            for side in drawn
        ]
        scale = np.sqrt((signs[0] ** 2).sum(axis=0) * (signs[1] ** 2).sum(axis=0))
        with np.errstate(divide="ignore", invalid="ignore"):
            return {"tau": np.where(scale > 0, (signs[0] * signs[1]).sum(axis=0) / scale, np.nan)}

    return bootstrap_intervals(columns, compute_tau, draws=draws, seed=seed)


def _get_sign_of_difference(difference: Array) -> Array:
    """Return the sign of a difference, 0 where it is rounding."""
    return np.where(np.abs(difference) > ROUNDING, np.sign(difference), 0.0)
