"""Test the differences of a comparison once more, by the tests of other packages.

::

    items = page.average_each_side_per_item()
    by_t = recompute_paired_t_tests(items, page.rows, scipy.stats.ttest_rel)
    exact = recompute_mcnemar_tests(items, page.rows, statsmodels.stats.contingency_tables.mcnemar)
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pandas as pd

ROW = ["study", "a_model", "a_condition", "b_model", "b_condition", "measure"]
COLUMNS = [*ROW, "difference", "p"]


def recompute_paired_t_tests(items: pd.DataFrame, rows: pd.DataFrame, ttest: Callable[..., Any]) -> pd.DataFrame:
    """Test the rows of a comparison that have a paired t test, where items differ.

    Parameters
    ----------
    items
        The columns of `ROW`, item, a and b: the mean of both sides of every item, and difference.
    rows
        The rows: the columns of `ROW`, test, n_items and n_items_differing.
    ttest
        `scipy.stats.ttest_rel`.

    Returns
    -------
    DataFrame
        The columns of `ROW`, difference and p.
    """
    tested = [(*keys, part["difference"].mean(), float(ttest(part["a"], part["b"]).pvalue))
              for keys, part in _yield_items_of_testable_rows(items, rows, "paired t")]  # fmt: skip
    return pd.DataFrame(tested, columns=COLUMNS)


def recompute_mcnemar_tests(items: pd.DataFrame, rows: pd.DataFrame, mcnemar: Callable[..., Any]) -> pd.DataFrame:
    """Test the rows of a comparison that have the exact test of McNemar, where items differ.

    Parameters
    ----------
    items, rows
        As in `recompute_paired_t_tests`.
    mcnemar
        `statsmodels.stats.contingency_tables.mcnemar`.

    Returns
    -------
    DataFrame
        The columns of `ROW`, difference and p.
    """
    tested = []
    for keys, part in _yield_items_of_testable_rows(items, rows, "exact McNemar"):
        is_a, is_b = part["a"] > 0.5, part["b"] > 0.5
        table = [[int((is_a & is_b).sum()), int((is_a & ~is_b).sum())],
                 [int((~is_a & is_b).sum()), int((~is_a & ~is_b).sum())]]  # fmt: skip
        tested.append((*keys, part["difference"].mean(), float(mcnemar(table, exact=True).pvalue)))
    return pd.DataFrame(tested, columns=COLUMNS)


def _yield_items_of_testable_rows(
    items: pd.DataFrame, rows: pd.DataFrame, test: str
) -> Iterator[tuple[tuple[str, ...], pd.DataFrame]]:
    """Yield the keys and the items of the rows that have this test, two items or more, and an item that differs."""
    tested = rows.loc[(rows["test"] == test) & (rows["n_items_differing"] > 0) & (rows["n_items"] > 1), ROW]
    yield from items.merge(tested, on=ROW).groupby(ROW, sort=False)
