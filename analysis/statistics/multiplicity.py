"""Correct the p values of a family of tests, so that a family without any effect rarely shows one (family-wise error).

`bonferroni` and `holm` return what statsmodels' `multipletests` returns, to the last bit. Its Holm collects the garbage
of the whole process at every call, 0.16 s where tables are made: 20 s for the 125 families of a report of the demo.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    import pandas as pd

ALPHA = 0.05
SMALLEST = float(np.finfo(float).tiny)  # the smallest normal number of double precision


def bonferroni(p: npt.ArrayLike) -> npt.NDArray[np.float64]:
    """Multiply every p value by the number of tests: (n_tests,) -> (n_tests,), at most 1.

    Parameters
    ----------
    p
        p values without NaN; may be empty.
    """
    p_values = np.asarray(p, dtype=float)
    return np.minimum(p_values * len(p_values), 1)


def holm(p: npt.ArrayLike) -> npt.NDArray[np.float64]:
    """Correct p values step by step, the smallest first: (n_tests,) -> (n_tests,), at most 1.

    The smallest of n p values is multiplied by n, the next one by n - 1, the largest by 1. A corrected value is never
    below the one before it: 0.01, 0.03, 0.04 become 0.03, 0.06, 0.06 (the last would be 0.04).

    Parameters
    ----------
    p
        p values without NaN; may be empty.

    References
    ----------
    Holm, S. (1979). A simple sequentially rejective multiple test procedure. Scand. J. Statist. 6, 65-70.
    """
    p_values = np.asarray(p, dtype=float)
    order = np.argsort(p_values)
    steps = p_values[order] * np.arange(len(p_values), 0, -1)
    corrected = np.empty_like(p_values)
    corrected[order] = np.minimum(np.maximum.accumulate(steps), 1)
    return corrected


def correct_families_by_holm(table: pd.DataFrame, family_columns: Sequence[str], p_column: str = "p") -> pd.Series:
    """Correct a column of p values after Holm within every family.

    Parameters
    ----------
    table
        One row per test.
    family_columns
        Columns: the rows with equal values in them are a family.
    p_column
        Column of p values; NaN is no test.

    Returns
    -------
    Series
        In the order of the rows; NaN where there is no test.

    >>> import pandas as pd
    >>> table = pd.DataFrame({"measure": ["x", "x", "y", "x"], "p": [0.01, 0.04, 0.04, float("nan")]})
    >>> correct_families_by_holm(table, ["measure"]).tolist()
    [0.02, 0.04, 0.04, nan]
    """
    rows = table.reset_index(drop=True)  # of two rows with one label, each has its own p
    corrected = rows[p_column].astype(float)
    for _, family in rows.dropna(subset=[p_column]).groupby(list(family_columns), dropna=False):
        corrected[family.index] = holm(family[p_column])
    return corrected.set_axis(table.index)


def replace_underflowed_p_values(table: pd.DataFrame) -> pd.DataFrame:
    """Raise p values (columns `p` and `p_...`) that are too small for a float to the smallest one that is not 0."""
    names = [name for name in table if name == "p" or str(name).startswith("p_")]
    return table.assign(**{name: table[name].clip(lower=SMALLEST) for name in names})


def has_possibly_significant_test(*families: pd.DataFrame) -> bool:
    """Tell whether any test of some families could be significant after Holm: `compute_smallest_p_after_holm`.

    Few items and few draws limit how small a p value can be; with many tests, its multiple is then above ALPHA whatever
    the data are, and "none differs" would say nothing.
    """
    return compute_smallest_p_after_holm(*families) < ALPHA


def compute_smallest_p_after_holm(*families: pd.DataFrame) -> float:
    """Compute the smallest p value after Holm that any test could have, from `p_least`, the least p of each test.

    It is 1 at most, also where there is no test. Each family is corrected by itself.
    """
    return min([1.0, *(family["p_least"].min() * family["p_least"].count() for family in families
                       if family["p_least"].notna().any())])  # fmt: skip
