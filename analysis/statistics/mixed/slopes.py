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

    from analysis.statistics.mixed.by_item import ByItem

    Array = NDArray[np.floating[Any]]


def slope_tests(items: ByItem) -> Array:
    """Test for every term of a fit with one random intercept whether its slope varies between items.

    Returns
    -------
    array over the terms of the fit
        p of the F test. NaN for the intercept, for a predictor that varies within fewer than two items, and where the
        rows are too few for slopes of their own.
    """
    basis = np.eye(len(items.r) + 1)
    basis[:-1, :-1] = items.r  # the columns are now those of the design, and the residuals of the fit
    whole = np.linalg.norm(items.r, axis=0)
    each = basis.T @ items.less(np.ones_like(items.size)) @ basis
    # A column that does not vary within items is rounding now; of the others, the length is taken out.
    lengths = np.sqrt(np.maximum(np.einsum("gii->i", each), 0))
    least = np.append(RANK_TOLERANCE * whole, 0)
    varies = lengths > least
    each = each / np.where(varies, lengths, np.inf) / np.where(varies, lengths, np.inf)[:, None]
    rows = int(items.size.sum()) - len(each)
    return np.array(
        [
            _test(each, rows, term, (least[term] / lengths[term]) ** 2) if varies[term] else np.nan
            for term in range(len(items.r))
        ]
    )


def _test(each: Array, rows: int, term: int, least: float) -> float:
    """Compare one slope with a slope per item.

    `each` holds the cross-products of every item (items, k, k), the residuals last; `rows` is the number of rows, less
    one for the mean of every item. An item has a slope if the squares of its predictor sum to more than `least`: if it
    is constant there, they are rounding, which grows with its size and not with how much it varies elsewhere.
    """
    from scipy.stats import f

    own = each[:, term, term]
    has = own > least
    others = np.delete(np.arange(each.shape[1]), term)
    cross = each[has][:, others, term]
    common, n_common = _residual(each.sum(axis=0))
    separate, n_others = _residual((each.sum(axis=0)[np.ix_(others, others)]) - (cross.T / own[has]) @ cross)
    more, left = n_others + int(has.sum()) - n_common, rows - n_others - int(has.sum())
    if more < 1 or left < 1 or separate <= 0:
        return np.nan
    return float(f.sf((common - separate) / more / (separate / left), more, left))


def _residual(squares: Array) -> tuple[float, int]:
    """Compute the residual sum of squares of the last column on the others, and the rank of these."""
    x, xy, yy = squares[:-1, :-1], squares[:-1, -1], squares[-1, -1]
    lengths, axes = np.linalg.eigh(x)
    known = lengths > RANK_TOLERANCE * max(1.0, float(lengths.max(initial=0)))
    explained = (axes[:, known].T @ xy) ** 2 / lengths[known]
    return float(yy - explained.sum()), int(known.sum())
