"""The examples in docstrings are true."""

from __future__ import annotations

import doctest
import importlib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
MODULES = [
    ".".join(file.relative_to(ROOT).with_suffix("").parts)
    for wing in ("analysis", "ground", "inference") for file in sorted((ROOT / wing).rglob("*.py"))
    if any(">>> " in line and "+SKIP" not in line for line in file.read_text(encoding="utf-8").splitlines())
]  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("module", MODULES)
def test_the_examples_in_the_docstrings(module):
    done = doctest.testmod(importlib.import_module(module))
    assert done.attempted
    assert not done.failed
