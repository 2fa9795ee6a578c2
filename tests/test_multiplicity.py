"""Corrections for several tests against statsmodels, to the last bit."""

from __future__ import annotations

from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from statsmodels.stats.multitest import multipletests

from analysis import multiplicity


@given(st.lists(st.floats(0, 1) | st.sampled_from([0.01, 0.02, 0.5]), min_size=1, max_size=30))
def test_as_statsmodels_has_them(p):
    with patch("gc.collect"):  # see analysis.multiplicity
        np.testing.assert_array_equal(multiplicity.holm(p), multipletests(p, method="holm")[1])
        np.testing.assert_array_equal(multiplicity.bonferroni(p), multipletests(p, method="bonferroni")[1])


@pytest.mark.parametrize("correct", [multiplicity.holm, multiplicity.bonferroni])
def test_no_test_no_p_value(correct):
    assert len(correct([])) == 0


def test_holm_by_hand():
    assert multiplicity.holm([0.04, 0.01, 0.03, 0.5]).tolist() == pytest.approx([0.09, 0.04, 0.09, 0.5], abs=1e-15)
