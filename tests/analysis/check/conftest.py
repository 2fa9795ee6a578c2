"""What the simulations of tests share."""

from __future__ import annotations

import pytest

from analysis.check import same_answers
from analysis.check.limits import panels, tails


@pytest.fixture
def only_p(monkeypatch) -> None:
    """Find no ends of intervals, which take nearly all the time of a test: hundreds of simulated studies want p alone.

    That ends agree with p is tested in `test_tails.py`, `test_measured.py`, `test_same_answers.py`, `test_columns.py`.
    """
    for module in (tails, same_answers):
        monkeypatch.setattr(module, "find_largest_refuted_claim", lambda compute_p, most: 0.0)
    for module in (panels, same_answers):
        monkeypatch.setattr(module, "compute_bounded_mean_interval", lambda values: (0.0, 1.0))
