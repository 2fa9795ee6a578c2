"""Every wrong call or input ends in one line: no traceback, no wait, no memory, nothing left behind."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path

import pytest

from helpers import apart
from helpers.refusals import Case, areas

pytestmark = pytest.mark.slow

SECONDS = 10
MEGABYTES = 1_000
CASES = [pytest.param(case, id=f"{area}: {case.name}") for area, cases in areas().items() for case in cases]


@pytest.fixture(scope="module")
def turns() -> Iterator[apart.Turns]:
    made = apart.Turns()
    yield made
    made.close()


def test_cases_have_names_of_their_own():
    names = [param.id for param in CASES]
    assert sorted(set(names)) == sorted(names)


@pytest.mark.parametrize("case", CASES)
def test_refused(case: Case, tmp_path, turns):
    folder = tmp_path / "here"
    folder.mkdir()
    case.write(folder)
    before = listing(folder)
    notes = tmp_path / "notes"
    if case.without or case.site:
        ended = apart.call(case.arguments, folder, notes, SECONDS, case.without, case.site)
    else:
        ended = turns.call(case.arguments, folder, notes, SECONDS)

    assert ended.status == case.status, f"status {ended.status} after {ended.seconds:.1f} s: {ended.err[-2000:]}"
    assert "Traceback" not in ended.err, ended.err[-2000:]
    lines = ended.err.splitlines()
    if case.status:
        # What a command told before it ended (items without paraphrases ...) may stand above the one line.
        assert [number for number, line in enumerate(lines) if line.startswith("python -m")] == [len(lines) - 1]
        lines = lines[-1:]
    assert any(all(word.lower() in line.lower() for word in case.words) for line in lines), ended.err[-2000:]
    assert ended.seconds < SECONDS
    assert math.isnan(ended.megabytes) or ended.megabytes < MEGABYTES
    if case.status == 2:
        assert listing(folder) == before


def listing(folder: Path) -> dict[str, bytes]:
    """List everything below a folder: path -> content of an ordinary file of less than 1 MB."""
    return {
        str(path.relative_to(folder)): path.read_bytes() if path.is_file() and path.stat().st_size < 1e6 else b""
        for path in sorted(folder.rglob("*"))
        if "__pycache__" not in path.parts
    }
