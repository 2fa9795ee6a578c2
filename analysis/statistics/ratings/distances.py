"""Compute how far two distributions over ordered options lie apart, from 0 (equal) to 1 (all on opposite ends).

Distributions are arrays whose last axis is the options, in rising order. Where an item has fewer options than others,
its last places hold 0 and `n_options` says how many it has.

- Wasserstein-1: sum over k < K of |F_k - G_k|, divided by K - 1. It is what share of the way from one end to the other
  answers have to be moved, on average; 1 minus its mean over items is the alignment of Santurkar et al. [1]_.
- Total variation: half the sum of |p_k - q_k|: the share of answers that have to be moved at all.

Reference
---------
.. [1] Santurkar, S., Durmus, E., Ladhak, F., Lee, C., Liang, P., Hashimoto, T. (2023). Whose opinions do language
   models reflect? ICML. Section 3, alignment.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from analysis.statistics.shares import Array


def compute_wasserstein(p: Array, q: Array, n_options: npt.ArrayLike | None = None) -> Array:
    """Compute the Wasserstein-1 distance on ranks, divided by its largest value, K - 1.

    Parameters
    ----------
    p, q
        (..., options); they broadcast. The sums over options are equal.
    n_options
        K of every distribution; None: all places are options.

    Returns
    -------
    array (...)
    """
    steps = np.abs(np.cumsum(np.subtract(p, q), axis=-1)[..., :-1]).sum(axis=-1)
    most = np.shape(p)[-1] if n_options is None else np.asarray(n_options)
    return np.asarray(steps / (most - 1))


def compute_total_variation(p: Array, q: Array) -> Array:
    """Compute half the sum of absolute differences.

    Parameters
    ----------
    p, q
        (..., options); they broadcast.

    Returns
    -------
    array (...)
    """
    return np.asarray(np.abs(np.subtract(p, q)).sum(axis=-1) / 2)
