"""The claim that is refuted just so, against SciPy's search."""

from __future__ import annotations

import pytest
from scipy import optimize, stats

from analysis.check.limits.claims import find_largest_refuted_claim


def test_it_is_where_scipy_finds_the_level_to_1e_7():
    def compute_p(claim: float) -> float:
        return float(stats.norm.cdf((claim - 0.6) / 0.1))

    expected = optimize.brentq(lambda claim: compute_p(claim) - 0.025, 0, 0.6, xtol=1e-12)
    assert find_largest_refuted_claim(compute_p, 0.6) == pytest.approx(expected, abs=1e-7)
    assert find_largest_refuted_claim(compute_p, 0.3) == 0.3  # refuted, too
    assert find_largest_refuted_claim(lambda _: 0.5, 0.6) == 0  # nothing is
