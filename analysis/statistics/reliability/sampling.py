"""Estimate what sampling adds to answers that are means of several sampled ones, such as texts or scores.

An answer read from n samples with variance v between them is off by v / n: its *noise*. So of the variance that is left
within an item and a wording, the noise is known without another wording, and samples tell items apart even where each
item has a single wording. In the analysis of variance of items x wordings x samples, v is the mean square of samples.

Reference
---------
Brennan, R. L. (2001). Generalizability Theory, section 3.3 (designs with a nested facet without effects of its own).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from analysis.statistics.reliability.components import Array


@dataclass(frozen=True, slots=True)
class SampleSpread:
    """Hold how samples differ from each other.

    Attributes
    ----------
    sample
        Variance component of a single sample: mean variance (n - 1) of the samples behind an answer.
    number
        Samples behind an answer: harmonic mean.
    by_item
        Mean variance of the samples of every item that has some.
    """

    sample: float
    number: float
    by_item: Array

    @property
    def noise_variance(self) -> float:
        """Return what sampling adds to the variance of an answer."""
        return self.sample / self.number

    def combine_for_difference(self, other: SampleSpread) -> SampleSpread:
        """Return what sampling adds to the difference of two answers, each from its own samples."""
        sample, noise = self.sample + other.sample, self.noise_variance + other.noise_variance
        by_item = np.append(self.by_item + other.sample, other.by_item + self.sample)
        return SampleSpread(sample, sample / noise if noise > 0 else self.number, by_item)


def estimate_sampling_variance(sample_variances: Array, n_samples: Array) -> SampleSpread | None:
    """Estimate what sampling adds to answers.

    Parameters
    ----------
    sample_variances
        Variance (n - 1) of the samples behind each answer: (items, wordings); NaN below two.
    n_samples
        How many samples there are; NaN where an answer has none.

    Returns
    -------
    Sampled or None
        None where no answer has two samples.
    """
    has_spread = ~np.isnan(sample_variances)
    if not has_spread.any():
        return None
    spreads = sample_variances[has_spread]
    rows = has_spread.any(axis=1)
    per_item = np.where(has_spread, sample_variances, 0.0)[rows].sum(axis=1) / has_spread[rows].sum(axis=1)
    sample = float(spreads.mean())
    return SampleSpread(sample, float(1 / np.nanmean(1 / np.where(n_samples > 0, n_samples, np.nan))), per_item)


def compute_yes_no_sample_variance(share: Array, n_samples: Array) -> Array:
    """Compute the variance (n - 1) of samples that agree or do not.

    Parameters
    ----------
    share, n_samples
        Share of the samples behind an answer that agree, and how many samples there are; of one shape.

    Returns
    -------
    array
        Of the same shape; NaN below two samples.

    >>> compute_yes_no_sample_variance(np.array([0.25]), np.array([4.0])).tolist() == [np.var([1, 0, 0, 0], ddof=1)]
    True
    """
    n = np.where(n_samples > 1, n_samples, np.nan)
    return np.asarray(share * (1 - share) * n / (n - 1))
