"""Corrections for several tests, by hand and against statsmodels."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from statsmodels.stats.multitest import multipletests

from analysis.statistics.multiplicity import (
    bonferroni,
    compute_smallest_p_after_holm,
    correct_families_by_holm,
    has_possibly_significant_test,
    holm,
)

pytestmark = pytest.mark.slow

METHODS = {"bonferroni": bonferroni, "holm": holm}


def test_by_hand():
    p = [0.04, 0.01, 0.03, 0.5]
    # Holm: 4 x 0.01, 3 x 0.03, 2 x 0.04 (below the one before, so 0.09), 1 x 0.5.
    assert holm(p).tolist() == pytest.approx([0.09, 0.04, 0.09, 0.5], abs=1e-15)
    assert bonferroni(p).tolist() == pytest.approx([0.16, 0.04, 0.12, 1.0], abs=1e-15)


@pytest.mark.parametrize("name", METHODS)
@settings(max_examples=30)  # statsmodels collects the garbage of the whole process at every call
@given(p=st.lists(st.floats(0, 1), min_size=1, max_size=60))
def test_statsmodels_gives_the_same_to_the_last_bit(name, p):
    np.testing.assert_array_equal(METHODS[name](p), multipletests(p, method=name)[1])


@pytest.mark.parametrize("correct", METHODS.values())
def test_no_test_no_p_value(correct):
    assert len(correct([])) == 0


def test_what_has_no_p_value_is_no_test_and_families_are_apart():
    table = pd.DataFrame({"measure": ["x", "x", "x", "y"], "p": [0.01, np.nan, 0.04, 0.04]}, index=[3, 1, 7, 5])
    found = correct_families_by_holm(table, ["measure"])
    assert found[[3, 7, 5]].tolist() == [0.02, 0.04, 0.04]
    assert np.isnan(found[1])
    same_label = correct_families_by_holm(table.set_axis([0, 0, 0, 0]), ["measure"])
    assert same_label.fillna(-1).tolist() == [0.02, -1, 0.04, 0.04] and same_label.index.tolist() == [0] * 4


def test_many_tests_need_small_p_values():
    """With 1,000 draws no p value is below 2 / 1001, so 25 tests can be decided and 26 cannot."""
    least = pd.DataFrame({"p_least": [2 / 1001] * 26})
    assert has_possibly_significant_test(least.head(25))
    assert not has_possibly_significant_test(least)
    assert not has_possibly_significant_test(pd.DataFrame({"p_least": [np.nan]}))
    assert has_possibly_significant_test(least.head(25), least.tail(25))  # two studies, corrected by themselves
    assert compute_smallest_p_after_holm(least, least.head(25)) == pytest.approx(50 / 1001)
