"""Corrections for several tests by hand."""

from __future__ import annotations

import gc

import pytest

from analysis.statistics.multiplicity import adjusted


def test_by_hand():
    p = [0.04, 0.01, 0.03, 0.5]
    # Holm: 4 x 0.01, 3 x 0.03, 2 x 0.04 (below the one before, so 0.09), 1 x 0.5.
    assert adjusted(p, "holm").tolist() == pytest.approx([0.09, 0.04, 0.09, 0.5], abs=1e-15)
    assert adjusted(p, "bonferroni").tolist() == pytest.approx([0.16, 0.04, 0.12, 1.0], abs=1e-15)


@pytest.mark.parametrize("method", ["holm", "bonferroni"])
def test_no_test_no_p_value(method):
    assert len(adjusted([], method)) == 0


def test_nothing_stays_out_of_the_garbage_collector_s_sight():
    before = gc.get_freeze_count()
    adjusted([0.1, 0.2], "holm")
    assert gc.get_freeze_count() == before
