"""Foresee from a pilot how far a figure will be off with other numbers of items, wordings and sampled texts.

A forecast splits the variance of a figure that is a mean over I items into a part that more items do not average out,
and one that every item has: V = shared + own / I.

- *Mean*: with components s_i, s_w, s_e of item, wording and interaction and K wordings, shared = s_w / K and own =
  s_i + s_e / K; where each item has its own wordings, shared = 0 and own = s_i + s_w / K. Where an answer is the mean
  of S samples, what sampling adds (`sampling`) changes with S. A pilot with one wording of each item foresees studies
  with that wording only.
- *SD over wordings* and *flips* have modules of their own (`deviations`, `flips`).

Reference
---------
Brennan, R. L. (2001). Generalizability Theory, section 1.1.2 (decision studies).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from analysis.statistics.reliability.components import Array
from analysis.statistics.reliability.deviations import Deviations
from analysis.statistics.reliability.flips import Flips
from analysis.statistics.reliability.panel import estimate_panel_mean
from analysis.statistics.reliability.sampling import SampleSpread


@dataclass(frozen=True, slots=True)
class MeanForecast:
    """Hold what the error of a mean rests on; a negative component counts as 0.

    Attributes
    ----------
    item, shared, inner
        Components of items, of wordings that all items share (else 0), and of a wording within an item.
    noise, sample
        What sampling adds to an answer of the pilot, and would add to one that is read from a single sample; 0 where
        answers are probabilities.
    least, most
        Wordings of each item that the figure needs, and that the pilot tells of.
    """

    item: float
    shared: float
    inner: float
    noise: float = 0.0
    sample: float = 0.0
    least: int = 1
    most: float = np.inf

    def split_shared_and_item_variance(self, n_wordings: float, n_samples: float | None = None) -> tuple[float, float]:
        """Split the variance of the mean.

        Parameters
        ----------
        n_wordings
            Of each item.
        n_samples
            Texts sampled with each wording; None: as many as in the pilot.

        Returns
        -------
        tuple of float
            The variance that items share, and that of every item.
        """
        return max(self.shared, 0.0) / n_wordings, max(self.item, 0.0) + self.compute_within_item_variance(
            n_wordings, n_samples
        )

    def compute_within_item_variance(self, n_wordings: float, n_samples: float | None = None) -> float:
        """Return the part of the variance of every item that more wordings average out.

        Parameters
        ----------
        n_wordings, n_samples
            As in `split_shared_and_item_variance`.

        Returns
        -------
        float
            In the unit of the answers squared.
        """
        inner = self.inner if n_samples is None else max(self.inner - self.noise, 0.0) + self.sample / n_samples
        return inner / n_wordings


def build_mean_error_forecast(
    values: Array, crossed: bool, sample_spread: SampleSpread | None = None, *, least: int = 1
) -> MeanForecast:
    """Foresee the error of a mean of answers, of pseudo-deviations (`compute_sd_pseudo_values`), or of differences.

    Of sampled answers to one wording of each item: with other items and samples in that wording.

    Parameters
    ----------
    values
        (items, wordings), NaN where there is none.
    crossed
        Whether all items share the wordings.
    sample_spread
        From `sampling.estimate_sampling_variance`; of a difference, of both together.
    least
        Fewest wordings of each item that the figure needs.

    Returns
    -------
    MeanForecast
        Its components are NaN where the pilot does not tell items and wordings apart.
    """
    pilot_panel = estimate_panel_mean(values, crossed, sample_spread)
    is_single = np.isnan(pilot_panel.wording)
    shared = pilot_panel.wording if crossed and not is_single else 0.0
    noise, sample = (sample_spread.noise_variance, sample_spread.sample) if sample_spread else (0.0, 0.0)
    return MeanForecast(pilot_panel.item, shared, pilot_panel.inner, noise, sample, least, 1 if is_single else np.inf)


Forecast: TypeAlias = MeanForecast | Deviations | Flips


def predict_standard_error(
    forecast: Forecast, n_items: float, n_wordings: float, n_samples: float | None = None
) -> float:
    """Foresee the standard error of a figure.

    Parameters
    ----------
    forecast
        From a pilot.
    n_items, n_wordings, n_samples
        How many items, wordings of each, and texts sampled with each; `n_samples` None: as many as in the pilot.

    Returns
    -------
    float
        In the unit of the figure; NaN where the pilot does not tell.
    """
    shared, item_variance = forecast.split_shared_and_item_variance(n_wordings, n_samples)
    return float(np.sqrt(shared + item_variance / n_items))
