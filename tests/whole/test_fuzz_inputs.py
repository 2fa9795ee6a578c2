"""A short run of the fuzzer: changed inputs end in time, in one line, and leave nothing behind."""

from __future__ import annotations

import pytest

from whole.fuzz_inputs import fuzz

pytestmark = pytest.mark.slow


def test_changed_inputs_end_in_one_line():
    statuses, faults = fuzz(range(1, 25))
    assert not faults, "\n\n".join(f"seed {seed}, {fault}" for seed, fault in faults.items())
    assert sum(statuses.values()) == 24
    assert statuses[2] > 12
