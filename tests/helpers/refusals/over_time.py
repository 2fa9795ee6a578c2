"""Runs of several times that cannot be told apart, or are no times of the same items."""

from __future__ import annotations

from pathlib import Path

from helpers.drift_runs import draw_look, write_looks
from helpers.refusals import Case, write_once
from helpers.synthetic import CANONICAL, edit_run_json, write_run

TABLE = "analysis table runs drift_changes"
REPORT = "analysis report runs --over-time --out report"
SESSION = {"command": ["x"], "started": "2026-01-01T00:00:00+00:00", "finished": "", "versions": {}}


@write_once
def _weeks(folder: Path) -> None:
    """Two weeks in fresh wordings."""
    write_looks(folder / "runs", [draw_look({"m": 0.0}, items=4, wordings=2, seed=seed) for seed in (1, 2)])


def _same_sessions(folder: Path) -> None:
    """One run, copied."""
    _weeks(folder)
    for week in ("week-01", "week-02"):
        edit_run_json(folder / "runs" / week, sessions=[SESSION])


def _started(text: str, folder: Path) -> None:
    """A week that began at some other time."""
    _weeks(folder)
    edit_run_json(folder / "runs" / "week-02", sessions=[SESSION | {"started": text}])


def _no_time(folder: Path) -> None:
    _started("", folder)


def _wrong_time(folder: Path) -> None:
    _started("last week", folder)


def _other_items(folder: Path) -> None:
    """Two weeks whose items have other originals."""
    first = draw_look({"m": 0.0}, items=4, wordings=2)
    write_looks(folder / "runs", [first, first.assign(text="Other: " + first["text"])])


def _other_canonical(folder: Path) -> None:
    """Two weeks whose answers mean something else."""
    _weeks(folder)
    other = write_run(folder / "runs" / "week-03", draw_look({"m": 0.0}, items=4, wordings=2, seed=3),
                      canonical=("yes", "no"))  # fmt: skip
    edit_run_json(other, sessions=[SESSION | {"started": "2026-05-01T00:00:00+00:00"}])
    assert CANONICAL != ("yes", "no")


CASES = [
    Case("several times without --over-time", "analysis report runs --out report", ("hash", "--over-time"), _weeks),
    Case("a run and its copy", TABLE, ("week-01", "week-02", "one run", "give one"), _same_sessions),
    Case("a run and its copy in a report", REPORT, ("week-01", "week-02", "one run"), _same_sessions),
    Case("a time that is not there", TABLE, ("week-02", "sessions", "no time"), _no_time),
    Case("a time that is none", TABLE, ("week-02", "'last week'", "2026-11-22T10:20:33"), _wrong_time),
    Case("no item in common", TABLE, ("no item is in all", "same items"), _other_items),
    Case("other options", TABLE, ("week-03", "canonical", "--name"), _other_canonical),
    Case("single wordings", (*TABLE.split(), "--where", "variant <> 'p2-0'"),
         ("single wordings", "whole items"), _weeks),
    Case("one planned look", f"{TABLE} -p looks=1", ("looks = 1", "from 2 on"), _weeks),
    Case("no examples", "analysis table runs drift_items -p examples=0", ("examples = 0",), _weeks),
]  # fmt: skip
