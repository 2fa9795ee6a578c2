"""The same command goes on with a run folder that an earlier version left half done, and asks only what is missing."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from helpers.commands import ROOT
from inference.__main__ import main
from inference.asking import rounds
from inference.demo import FAMILY
from inference.engines.digest import compute_sampled_checkpoint_digest

pytestmark = pytest.mark.slow

BEFORE = ROOT / "tests" / "fixtures" / "run-of-f7ec5ae"
ROWS = {"agreement": (13, 18), "wording": (18, 20), "scoring": (8, 16)}
"""Rows of each run: there already, and in all."""


def rows(run: Path) -> dict[tuple, dict]:
    """Every row by its key; a row that is there twice fails."""
    found = [row for part in sorted((run / "responses").glob("*.parquet")) for row in pq.read_table(part).to_pylist()]
    keyed = {(row["model"], row["condition"], row["item"], row["variant"]): row for row in found}
    assert len(keyed) == len(found)
    return keyed


def about(run: Path) -> dict:
    return json.loads((run / "run.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("protocol", ROWS)
def test_the_same_command_goes_on_and_asks_what_is_missing(protocol, tmp_path, monkeypatch):
    run = tmp_path / protocol
    shutil.copytree(BEFORE / protocol, run)
    as_if_of_today(run)
    there, recorded, stimuli = rows(run), about(run), (run / "stimuli.parquet").read_bytes()
    had, whole = ROWS[protocol]
    assert len(there) == had
    asked = watched(monkeypatch)
    (session,) = recorded["sessions"]
    monkeypatch.chdir(ROOT)
    assert main([*session["command"][3:-1], str(run)]) == 0

    now, after = rows(run), about(run)
    assert len(now) == whole
    assert {key: now[key] for key in there} == there
    assert all(row["error"] is None for row in now.values())
    # A batch is asked whole, so that numbers do not depend on where a run was stopped; today's models read other tokens
    # and make other batches. Conditions without a gap are not asked.
    gaps = {condition for model, condition, *_ in now.keys() - there.keys()}
    assert whole - had <= sum(asked) <= sum(condition in gaps for model, condition, *_ in now)
    assert (run / "stimuli.parquet").read_bytes() == stimuli
    for field in ("format", "study", "decision_rule", "seed"):
        assert after[field] == recorded[field]
    assert without_shortcuts(after) == without_shortcuts(recorded)
    assert recorded["conditions"].items() <= after["conditions"].items()
    hashes = {(fields["form"], fields["prompt_hash"]) for fields in after["conditions"].values()}
    assert hashes == {(fields["form"], fields["prompt_hash"]) for fields in recorded["conditions"].values()}
    assert [each["finished"] is None for each in after["sessions"]] == [True, False]


def as_if_of_today(run: Path) -> None:
    """Record that the rows are those of the demo model's weights of today: others than those are refused."""
    info = about(run)
    (name,) = info["models"]
    now = {"revision": compute_sampled_checkpoint_digest(FAMILY[name].path), "parameters": FAMILY[name].parameters}
    info["models"][name] |= now
    (run / "run.json").write_text(json.dumps(info), encoding="utf-8")


def without_shortcuts(info: dict) -> dict:
    """The models, but for what an engine leaves out of the computation: that of today leaves out more."""
    return {name: {**fields, "shortcuts": None} for name, fields in info["models"].items()}


def watched(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Numbers of rows asked from now on: prompts times conditions, a batch at a time."""
    asked: list[int] = []
    ask = rounds.ask_batch_in_each_way

    def watching(engine, prompts, ways):
        asked.append(len(prompts) * len(ways))
        return ask(engine, prompts, ways)

    monkeypatch.setattr(rounds, "ask_batch_in_each_way", watching)
    return asked
