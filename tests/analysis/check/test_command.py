"""The command `waver check`: its exit states, what it prints and writes, and what it leaves alone."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from analysis.__main__ import main
from analysis.check import checking
from analysis.check.command import write_and_print_check
from analysis.check.outcomes import Outcome
from analysis.check.rules import Rule
from helpers.checks import BROKEN, make_check, make_outcome
from helpers.synthetic import random_frame, write_run

RULES = """
[[rule]]
require = "stability.flip_10 <= 0.2"
[[rule]]
name = "valid"
require = "validity >= 0.9"
cannot_tell = "fail"
"""


@pytest.fixture
def call(tmp_path, monkeypatch) -> Callable[..., int]:
    """Checks two rules of two models, whose p of being broken and of holding are given for each rule by its place."""
    write_run(tmp_path / "run", random_frame(["gpt2", "opt"], items=6))
    (tmp_path / "rules.toml").write_text(RULES, encoding="utf-8")
    monkeypatch.chdir(tmp_path)

    def check(*ps: tuple[float, float], options: tuple[str, ...] = ()) -> int:
        places = {"stability.flip_10 <= 0.2": 0, "valid": 1}

        def make_outcomes(rule: Rule) -> list[Outcome]:
            return [make_outcome(rule, *ps[places[rule.name]], model=model) for model in ("gpt2", "opt")]

        monkeypatch.setattr(
            checking, "build_rule_testing_function_and_notes", lambda runs, baseline: (make_outcomes, [])
        )
        return main(["check", "run", "--rules", "rules.toml", *options])

    return check


HOLDS, BREAKS, OPEN = (0.999, 0.001), (0.0001, 0.9999), (0.3, 0.7)


@pytest.mark.parametrize(
    ("first", "second", "status"),
    [(HOLDS, HOLDS, 0), (OPEN, HOLDS, 0), (HOLDS, OPEN, 4), (BREAKS, HOLDS, 3), (BREAKS, OPEN, 3), (HOLDS, BREAKS, 3)],
)
def test_exit_states(call, capsys, first, second, status):
    assert call(first, second) == status
    words = {HOLDS: "holds", BREAKS: "broken", OPEN: "cannot tell"}
    lines = capsys.readouterr().out.splitlines()
    assert [line[:11].strip() for line in lines[:2]] == [words[first], words[second]]
    assert lines[2].startswith("2 rules: ")


def test_files_and_json_of_a_call(call, capsys, tmp_path):
    files = ("--junit", "junit.xml", "--markdown", "summary.md")
    assert call(HOLDS, BREAKS, options=(*files, "--json", "--against", "baseline")) == 3
    content = json.loads(capsys.readouterr().out)
    assert (content["run"], content["against"], content["rules_file"]) == ("run", "baseline", "rules.toml")
    assert content["notes"] == ["no rule is about a change: baseline is not read"]
    assert '<testcase name="valid"' in (tmp_path / "junit.xml").read_text("utf-8")
    assert "| valid | ❌ broken |" in (tmp_path / "summary.md").read_text("utf-8")
    assert call(HOLDS, HOLDS, options=files) == 0  # what a check before has written is replaced
    assert "❌" not in (tmp_path / "summary.md").read_text("utf-8")


def test_an_explanation_needs_no_run(call, capsys):
    assert main(["check", "--rules", "rules.toml", "--explain"]) == 0
    assert "column flip_10 of table stability is at most 0.2" in capsys.readouterr().out


@pytest.mark.skipif(sys.platform == "win32", reason="closes one end of a pipe")
def test_a_reader_that_has_seen_enough_opens_no_gate(monkeypatch):
    """`waver check ... | head -1` under `set -o pipefail`."""
    reading, writing = os.pipe()
    os.close(reading)
    with os.fdopen(writing, "w", encoding="utf-8") as stream:
        monkeypatch.setattr(sys, "stdout", stream)
        assert write_and_print_check(make_check(BROKEN), False) == 3


def test_a_full_disk_is_no_state_of_a_check(call, capsys, monkeypatch, tmp_path):
    def refuse(path: Path, write: object) -> None:
        raise OSError(28, "No space left on device", str(path))

    monkeypatch.setattr("ground.writing.write_atomically", refuse)
    assert call(BREAKS, HOLDS, options=("--junit", "junit.xml")) == 1
    assert capsys.readouterr().err.startswith("python -m analysis: junit.xml: No space left on device")
