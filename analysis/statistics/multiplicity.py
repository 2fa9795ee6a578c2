"""p values after several tests, family-wise."""

from __future__ import annotations

import gc

import numpy as np
import numpy.typing as npt


def adjusted(p: npt.ArrayLike, method: str) -> npt.NDArray[np.float64]:
    """p values of a family of tests as statsmodels' `multipletests` corrects them: "bonferroni" or "holm".

    References
    ----------
    Holm, S. (1979). A simple sequentially rejective multiple test procedure. Scand. J. Statist. 6, 65-70.
    """
    from statsmodels.stats.multitest import multipletests

    found = np.asarray(p, dtype=float)
    if not len(found):
        return found
    # It collects the garbage of the whole process each time, longer than a small fit takes: what is frozen is skipped.
    gc.freeze()
    try:
        corrected: npt.NDArray[np.float64] = multipletests(found, method=method)[1]
    finally:
        gc.unfreeze()
    return corrected
