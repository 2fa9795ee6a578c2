"""Sum up the rows of a fit per item: what the checks of its errors and slopes are computed from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from analysis.statistics.mixed.design import build_full_rank_design, build_model_matrix

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from analysis.statistics.mixed.design import FitInput
    from analysis.statistics.mixed.fits import Fit

    Array = NDArray[np.floating[Any]]


@dataclass(frozen=True, slots=True)
class ItemSums:
    """Hold sums over the rows of every item; the columns are those of `q`, and last the residuals y - X beta.

    Attributes
    ----------
    size : rows per item (items).
    mean : means of the columns (items x columns).
    products : cross-products of the columns (items x columns x columns).
    r : the design is X = q r, with orthonormal columns of q (terms x terms).
    """

    size: Array
    mean: Array
    products: Array
    r: Array

    def compute_partly_centred_products_by_item(self, share: Array) -> Array:
        """Return the cross-products of rows of which a share of their item's mean is taken away: share is (items).

        Rows 1 and 3, mean 2, less half of it: 0 and 2, whose squares sum to 10 - (1 - 1/4) * 2 * 4 = 4.
        """
        weight = (1 - (1 - share) ** 2) * self.size
        return self.products - weight[:, None, None] * self.mean[:, :, None] * self.mean[:, None, :]


def compute_item_sums_of_fit(fit_input: FitInput, fit: Fit) -> ItemSums:
    """Sum up the rows of a fit with one random intercept.

    Parameters
    ----------
    fit_input, fit
        The rows, and the fit that was made of them.

    Returns
    -------
    ItemSums
        Items in the order of `Matrix.levels`.
    """
    full_matrix = build_model_matrix(fit_input)
    full_rank = build_full_rank_design(full_matrix)
    columns = np.column_stack([full_rank.q, full_matrix.y - full_rank.x @ fit.estimate])
    order = np.argsort(full_matrix.codes, kind="stable")
    size = np.bincount(full_matrix.codes)
    # Items of 2, 3 and 1 rows are cut out of the sorted rows before row 2 and row 5.
    items = np.split(columns[order], np.cumsum(size)[:-1])
    mean = np.array([rows.mean(axis=0) for rows in items])
    return ItemSums(size.astype(float), mean, np.array([rows.T @ rows for rows in items]), full_rank.r)
