"""p values after several tests, family-wise.

As statsmodels' `multipletests` has them, to the last bit. That one collects all garbage of the process at every call of
Holm's, which took most of the time of a small fit.

References
----------
Holm, S. (1979). A simple sequentially rejective multiple test procedure. Scand. J. Statist. 6, 65-70.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]


def bonferroni(p: npt.ArrayLike) -> Array:
    """p values times their number, at most 1."""
    found = np.asarray(p, dtype=float)
    return np.minimum(found * len(found), 1.0)


def holm(p: npt.ArrayLike) -> Array:
    """p values, the smallest times their number, the next one times one less and so on; never below a smaller one's."""
    found = np.asarray(p, dtype=float)
    order = np.argsort(found)
    corrected = np.empty_like(found)
    corrected[order] = np.minimum(np.maximum.accumulate(found[order] * np.arange(len(found), 0, -1)), 1.0)
    return corrected
