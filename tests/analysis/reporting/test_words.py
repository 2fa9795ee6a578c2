"""Numbers in words."""

from __future__ import annotations

import doctest

import pytest

from analysis.compare import settings
from analysis.reporting import catalogue, words
from analysis.reporting.catalogue import condition_names
from analysis.reporting.words import labels, shots


@pytest.mark.parametrize("module", [words, labels, shots, catalogue, condition_names, settings])
def test_the_examples_are_right(module):
    assert doctest.testmod(module).failed == 0


@pytest.mark.parametrize("decimals", [0, 1])
@pytest.mark.parametrize("share", [1e-9, 0.0004, 0.004, 0.5, 0.996, 0.9996, 1 - 1e-9])
def test_a_share_that_is_neither_nothing_nor_all_never_looks_so(share, decimals):
    text = words.format_percent(share, decimals).removesuffix(" %")
    assert text[0] in "<>" or 0 < float(text) < 100
