"""The exact sign test of paired shares, against statsmodels' exact McNemar test and by hand."""

from __future__ import annotations

import numpy as np
import pytest
from statsmodels.stats import contingency_tables

from analysis.statistics.resampling import mean, paired
from analysis.statistics.significance import least_p, mcnemar


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


def test_one_rule_for_all_shares():
    """Shares with one answer to each of the same items get McNemar's p; all others get that of the draws."""
    rng = np.random.default_rng(4)
    one = (rng.random((30, 3)) < [0.8, 0.4, 0.4]).astype(float)
    several = np.round(one * 0.5 + rng.random((30, 3)) * 0.5, 1)  # shares of ten answers
    asked = np.ones((30, 3))
    asked[0, 2] = 0  # the last unit has no answer to one item
    one[0, 2] = 0

    def figures(columns, counts):
        return {name: mean(counts, columns[name]) for name in ("one", "several")}

    def shares(columns):
        return {"one": [[(columns["one"], columns["asked"])]], "several": [[(columns["several"], columns["asked"])]]}

    columns = {"one": one, "several": several, "asked": asked}
    found = paired(columns, figures, [(0, 1), (0, 2)], shares, draws=199)
    expected = contingency_tables.mcnemar(
        [[0, (one[:, 0] > one[:, 1]).sum()], [(one[:, 0] < one[:, 1]).sum(), 0]], exact=True
    ).pvalue
    assert found["one"].p[0] == pytest.approx(expected, abs=1e-12)
    assert found["one"].p_least.tolist() == [2.0**-29, least_p(199)]
    assert found["several"].p_least.tolist() == [least_p(199)] * 2
    without_draws = paired(columns, figures, [(0, 1)], shares, draws=0)
    assert without_draws["one"].p[0] == found["one"].p[0] and np.isnan(without_draws["several"].p[0])
