"""The exact sign test of paired shares, against statsmodels' exact McNemar test and by hand."""

from __future__ import annotations

import numpy as np
import pytest
from statsmodels.stats import contingency_tables

from analysis.statistics.significance import mcnemar


def test_statsmodels_gives_the_same():
    rng = np.random.default_rng(1)
    first, second = (rng.random((40, 30)) < share for share in (0.5, rng.random(30)))
    p, least = mcnemar(first.astype(float), second.astype(float))
    for pair in range(30):
        a, b = first[:, pair], second[:, pair]
        table = [[(a & b).sum(), (a & ~b).sum()], [(~a & b).sum(), (~a & ~b).sum()]]
        assert p[pair] == pytest.approx(contingency_tables.mcnemar(table, exact=True).pvalue, abs=1e-12)
    assert (least == 2.0**-39).all()


def test_by_hand():
    # Five items flip on the first side only: 2 / 2^5. One on each side: nothing. No value: no item. One item: no test.
    first = np.array([[1.0, 1, 1], [1, 0, np.nan], [1, 1, np.nan], [1, 0, np.nan], [1, 0, np.nan], [0, 0, np.nan]])
    second = np.array([[0.0, 0, 0], [0, 1, 0], [0, 1, 0], [0, 0, 0], [0, 0, 0], [0, 0, 0]])
    p, least = mcnemar(first, second)
    assert p[:2].tolist() == [0.0625, 1.0]
    assert least[:2].tolist() == [2 / 64, 2 / 64]
    assert np.isnan([p[2], least[2]]).all()
