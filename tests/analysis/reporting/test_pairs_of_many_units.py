"""Of too many units, each is compared with the first: the same pairs as picked from the list of all."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from analysis.measures.reworded import Study
from analysis.reporting.words import beyond


def pick_slowly(study, most):
    """All pairs, and of too many the first of each unit."""
    same = [(a, b) for a, b in combinations(range(len(study.units)), 2) if study.units[a][0] == study.units[b][0]]
    pairs = sorted({*combinations(study.list_first_units_of_answering_models(), 2), *same})
    if len(pairs) <= most:
        return pairs
    first = {}
    for a, b in pairs:
        first.setdefault(b, a)
    return sorted((a, b) for b, a in first.items())


@pytest.mark.parametrize("seed", range(20))
def test_the_pairs_are_those_of_the_whole_list(seed, monkeypatch):
    monkeypatch.setattr(beyond, "MOST_PAIRS", 40)
    draw = np.random.default_rng(seed)
    n_units = int(draw.integers(2, 30))
    units = [(f"m{draw.integers(0, 1 + n_units // (1 + seed % 4))}", f"c{place}") for place in range(n_units)]
    validity = draw.uniform(0.3, 1, n_units)  # some do not answer
    study = Study("s", "score", True, False, units, validity, np.zeros((n_units, 2, 2)), [])
    assert beyond._list_unit_pairs(study) == pick_slowly(study, 40)
