"""Means with equal weight for strata: a shared wording that a stratum lacks tells nothing of wordings."""

from __future__ import annotations

import numpy as np
import pytest

from analysis.statistics.strata import estimate_stratified_mean


def test_a_wording_that_a_stratum_lacks_does_not_count_among_the_wordings():
    """The parts of both variances are those of the three wordings that both strata have: to 1e-12."""
    rng = np.random.default_rng(0)
    stratum = np.repeat([0, 1], 5)
    values = rng.random((10, 3)) + np.array([0.0, 0.3, 0.6])
    whole = estimate_stratified_mean(values, stratum, crossed=True)
    lacking = np.hstack([values, np.where(stratum == 0, np.nan, values.mean(axis=1))[:, None]])
    share = estimate_stratified_mean(lacking, stratum, crossed=True)
    assert share.mean == pytest.approx(whole.mean, abs=1e-12)
    assert np.array(share.both) == pytest.approx(np.array(whole.both), abs=1e-12)
    one_shared = lacking.copy()
    one_shared[:5, 1:] = np.nan
    assert np.isnan(estimate_stratified_mean(one_shared, stratum, crossed=True).both[1]).all()
