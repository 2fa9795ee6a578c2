"""Test whether the effect of a predictor differs between items.

A model with a random intercept gives a predictor one slope for all items. The slopes are compared with F, as in an
analysis of covariance: by how much do the residuals shrink if every item has a slope of its own for this predictor,
the effects of all others staying common? If slopes do not vary, F has its distribution exactly (for normal residuals
with one variance), whether intercepts and slopes are taken as fixed or as random [1]_.

References
----------
.. [1] Seely, El-Bassiouni (1983). Applying Wald's variance component test. Annals of Statistics 11(1), 197-201.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from analysis.statistics.mixed.design import RANK_TOLERANCE

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from analysis.statistics.mixed.by_item import ItemSums

    Array = NDArray[np.floating[Any]]


def compute_slope_variation_p_values(item_sums: ItemSums) -> Array:
    """Test for every term of a fit with one random intercept whether its slope varies between items.

    Returns
    -------
    array over the terms of the fit
        p of the F test. NaN for the intercept, for a predictor that varies within fewer than two items, and where the
        rows are too few for slopes of their own.
    """
    basis = np.eye(len(item_sums.r) + 1)
    basis[:-1, :-1] = item_sums.r  # the columns are now those of the design, and the residuals of the fit
    whole = np.linalg.norm(item_sums.r, axis=0)
    item_products = basis.T @ item_sums.compute_partly_centred_products_by_item(np.ones_like(item_sums.size)) @ basis
    # A column that does not vary within items is rounding now; of the others, the length is taken out.
    lengths = np.sqrt(np.maximum(np.einsum("gii->i", item_products), 0))
    least = np.append(RANK_TOLERANCE * whole, 0)
    varies = lengths > least
    item_products = item_products / np.where(varies, lengths, np.inf) / np.where(varies, lengths, np.inf)[:, None]
    rows = int(item_sums.size.sum()) - len(item_products)
    return np.array(
        [
            _compute_slope_variation_p(item_products, rows, term, (least[term] / lengths[term]) ** 2)
            if varies[term]
            else np.nan
            for term in range(len(item_sums.r))
        ]
    )


def _compute_slope_variation_p(item_products: Array, n_rows: int, term: int, least_square: float) -> float:
    """Compare one slope with a slope per item.

    `item_products` holds the cross-products of every item (items, k, k), the residuals last; `n_rows` is the number of
    rows, less one for the mean of every item. An item has a slope if the squares of its predictor sum to more than
    `least_square`: if it is constant there, they are rounding, which grows with its size and not with how much it
    varies elsewhere.
    """
    from scipy.stats import f

    item_squares = item_products[:, term, term]
    has = item_squares > least_square
    other_terms = np.delete(np.arange(item_products.shape[1]), term)
    cross = item_products[has][:, other_terms, term]
    common, n_common = _compute_residual_squares_and_rank(item_products.sum(axis=0))
    separate, n_others = _compute_residual_squares_and_rank(
        (item_products.sum(axis=0)[np.ix_(other_terms, other_terms)]) - (cross.T / item_squares[has]) @ cross
    )
    more, freedom = n_others + int(has.sum()) - n_common, n_rows - n_others - int(has.sum())
    if more < 1 or freedom < 1 or separate <= 0:
        return np.nan
    return float(f.sf((common - separate) / more / (separate / freedom), more, freedom))


def _compute_residual_squares_and_rank(cross_products: Array) -> tuple[float, int]:
    """Compute the residual sum of squares of the last column on the others, and the rank of these."""
    x, xy, yy = cross_products[:-1, :-1], cross_products[:-1, -1], cross_products[-1, -1]
    lengths, axes = np.linalg.eigh(x)
    is_estimable = lengths > RANK_TOLERANCE * max(1.0, float(lengths.max(initial=0)))
    explained = (axes[:, is_estimable].T @ xy) ** 2 / lengths[is_estimable]
    return float(yy - explained.sum()), int(is_estimable.sum())
