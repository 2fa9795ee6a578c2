"""A short run of the fuzzer of run folders: damaged values are refused in one line, by name."""

from __future__ import annotations

import pytest

from whole.fuzz_runs import fuzz

pytestmark = pytest.mark.slow


def test_damaged_values_are_refused():
    kinds, faults = fuzz(range(1, 31))
    assert not faults, "\n\n".join(f"seed {seed}, {fault}" for seed, fault in faults.items())
    assert len(kinds) > 18
