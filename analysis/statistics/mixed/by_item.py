"""Sum up the rows of a fit per item: what the checks of its errors and slopes are computed from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from analysis.statistics.mixed.design import design, matrix

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from analysis.statistics.mixed.design import Part
    from analysis.statistics.mixed.fits import Fit

    Array = NDArray[np.floating[Any]]


@dataclass(frozen=True, slots=True)
class ByItem:
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

    def less(self, share: Array) -> Array:
        """Return the cross-products of rows of which a share of their item's mean is taken away: share is (items).

        Rows 1 and 3, mean 2, less half of it: 0 and 2, whose squares sum to 10 - (1 - 1/4) * 2 * 4 = 4.
        """
        lost = (1 - (1 - share) ** 2) * self.size
        return self.products - lost[:, None, None] * self.mean[:, :, None] * self.mean[:, None, :]


def by_item(part: Part, fit: Fit) -> ByItem:
    """Sum up the rows of a fit with one random intercept.

    Parameters
    ----------
    part, fit
        The rows, and the fit that was made of them.

    Returns
    -------
    ByItem
        Items in the order of `Matrix.levels`.
    """
    asked = matrix(part)
    made = design(asked)
    columns = np.column_stack([made.q, asked.y - made.x @ fit.estimate])
    order = np.argsort(asked.codes, kind="stable")
    size = np.bincount(asked.codes)
    # Items of 2, 3 and 1 rows are cut out of the sorted rows before row 2 and row 5.
    items = np.split(columns[order], np.cumsum(size)[:-1])
    mean = np.array([rows.mean(axis=0) for rows in items])
    return ByItem(size.astype(float), mean, np.array([rows.T @ rows for rows in items]), made.r)
