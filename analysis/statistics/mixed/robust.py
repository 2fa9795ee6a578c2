"""Compute standard errors of a mixed model's estimates that hold where effects differ between items.

A fit with one random intercept assumes that a predictor has the same effect in all items. Where its effect differs, the
rows of an item err together, and the fit's own standard errors are too small. Here, every item is left out once, and
the estimates are computed again from the others, with the fit's variances kept: the delete-one-cluster jackknife
(CV3 of [1]_). It holds for any dependence of the rows of an item, and is reliable with few items where the usual
sandwich is too sure.

The fit itself is least squares on rows of which a share of their item's mean is taken away: n rows of an item lose
1 - sigma / sqrt(sigma^2 + n tau^2) of it (tau: SD of the random intercepts). For example, with sigma = 1 and tau = 1,
the rows 1 and 3 of an item lose 0.42 of their mean, 2, and become 0.15 and 2.15.

References
----------
.. [1] MacKinnon, Nielsen, Webb (2023). Fast and reliable jackknife and bootstrap methods for cluster-robust inference.
   J. Appl. Econometrics 38(5), eq. 11 (CV3); t with items - 1 degrees of freedom, section 3.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from analysis.statistics.mixed.by_item import ItemSums
    from analysis.statistics.mixed.fits import Fit

    Array = NDArray[np.floating[Any]]

# A direction that the other items leave less than this share of its length cannot be estimated without the item.
UNKNOWN = 1e-10


def compute_robust_se(item_sums: ItemSums, fit: Fit) -> Array:
    """Compute cluster-robust standard errors of a fit with one random intercept; the items are the clusters.

    Parameters
    ----------
    item_sums, fit
        The sums over the rows of every item (`by_item`), and the fit.

    Returns
    -------
    array over the terms of the fit
        To be tested with t and items - 1 degrees of freedom. NaN for a coefficient that rests on one item alone.
    """
    item_products = item_sums.compute_partly_centred_products_by_item(
        1 - fit.sigma / np.sqrt(fit.sigma**2 + item_sums.size * fit.variances[0].sd ** 2)
    )
    without_item = item_products.sum(axis=0) - item_products  # what the other items hold
    basis = np.linalg.inv(item_sums.r)  # orthonormal basis -> columns of the design
    lengths, axes = np.linalg.eigh(without_item[:, :-1, :-1])
    is_estimable = lengths > UNKNOWN * lengths.max(axis=1, keepdims=True)
    inverse = np.where(is_estimable, 1 / np.where(is_estimable, lengths, 1), 0)
    # The estimates move by this if an item is left out: the residuals of the fit, explained by the other items.
    shifts = np.einsum("gij,gj,gkj,gk->gi", axes, inverse, axes, without_item[:, :-1, -1], optimize=True) @ basis.T
    is_unidentified = np.abs(basis @ (axes * ~is_estimable[:, None, :])).max(axis=(0, 2)) > np.sqrt(
        UNKNOWN
    ) * np.linalg.norm(basis, axis=1)
    variance = (len(item_products) - 1) / len(item_products) * (shifts**2).sum(axis=0)
    return np.where(is_unidentified, np.nan, np.sqrt(variance))
