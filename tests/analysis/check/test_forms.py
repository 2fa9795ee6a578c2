"""What a check prints and writes, against files that were read and judged by hand: tests/fixtures/check.

`UPDATE_GOLDEN=1 pytest FILE` writes them anew; read the difference before it is committed.
"""

from __future__ import annotations

import json
import math
import os
import sys
from pathlib import Path

import jsonschema
import pytest
from junitparser import Failure, JUnitXml, Skipped

from analysis.check.command import write_and_print_check
from analysis.check.forms.json_form import format_check_as_json
from analysis.check.forms.junit import format_check_as_junit
from analysis.check.forms.lines import (
    describe_check,
    format_interval_of_outcome,
    format_limit_of_outcome,
    format_number_of_outcome,
    name_unit_of_outcome,
)
from analysis.check.forms.markdown import format_check_as_markdown
from helpers.checks import BROKEN, FLIPS, HOLDING, RANKING, SAME, UNSURE, WORSE, make_check, make_outcome

ROOT = Path(__file__).parents[3]
GOLDEN = ROOT / "tests" / "fixtures" / "check"
SCHEMA = json.loads((ROOT / "analysis" / "check" / "schema.json").read_text("utf-8"))
CHECKS = {
    "holds": (make_check(HOLDING), 0),
    "broken": (make_check({**UNSURE, **BROKEN}, notes=("item tea is not in the baseline",)), 3),  # 3 before 4
    "cannot-tell-fails": (make_check(UNSURE), 4),
    "cannot-tell-passes": (make_check({name: UNSURE[name] for name in UNSURE if name != SAME.name}), 0),
}
FORMS = {
    "txt": lambda check: "".join(f"{line}\n" for line in describe_check(check)),
    "json": format_check_as_json,
    "md": format_check_as_markdown,
    "xml": format_check_as_junit,
}
STATES = pytest.mark.parametrize("state", CHECKS)


@pytest.mark.parametrize("form", FORMS)
@STATES
def test_every_state_in_every_form_is_as_it_was_read_by_hand(state, form):
    text, file = FORMS[form](CHECKS[state][0]), GOLDEN / f"{state}.{form}"
    if os.environ.get("UPDATE_GOLDEN"):
        file.write_text(text, encoding="utf-8", newline="")
    assert text == file.read_text(encoding="utf-8")


@STATES
def test_the_exit_status_tells_the_state_and_all_files_are_written(state, tmp_path, capsys):
    check, status = CHECKS[state]
    assert (
        write_and_print_check(check, False, tmp_path / "junit.xml", tmp_path / "summary.md")
        == status
        == check.exit_status
    )
    printed = capsys.readouterr()
    assert printed.out == FORMS["txt"](check)
    assert printed.err == "".join(f"note: {note}\n" for note in check.notes)
    assert (tmp_path / "junit.xml").read_text("utf-8") == format_check_as_junit(check)
    assert (tmp_path / "summary.md").read_text("utf-8") == format_check_as_markdown(check)
    assert write_and_print_check(check, True) == status
    printed = capsys.readouterr()
    assert (printed.out, printed.err) == (format_check_as_json(check), "")


@STATES
def test_json_keeps_its_schema(state):
    check = CHECKS[state][0]
    content = json.loads(format_check_as_json(check))
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    jsonschema.Draft202012Validator(SCHEMA).validate(content)
    assert content["exit_status"] == check.exit_status
    assert [rule["decision"] for rule in content["rules"]] == [result.decision for result in check.results]


@STATES
def test_junit_is_what_a_parser_reads(state):
    check = CHECKS[state][0]
    (suite,) = JUnitXml.fromstring(format_check_as_junit(check).encode())
    cases = list(suite)
    assert [case.name for case in cases] == [result.rule.name for result in check.results]
    for case, result in zip(cases, check.results, strict=True):
        kinds = [type(entry) for entry in case.result]
        assert kinds == ([Failure] if result.is_failed else [Skipped] if result.decision == "cannot tell" else [])
    assert (suite.tests, suite.failures, suite.skipped) == (
        len(cases),
        sum(result.is_failed for result in check.results),
        sum(result.decision == "cannot tell" and not result.is_failed for result in check.results),
    )


def test_the_worst_number_stands_first():
    unlike = [
        make_outcome(FLIPS, 0.99, 0.01, number=0.1, model="good"),
        make_outcome(FLIPS, 0, 1, number=0.3, model="counted", test="counted"),
        make_outcome(FLIPS, 0, 1, number=0.4, model="counted and worse", test="counted"),
        make_outcome(FLIPS, 0.4, 0.6, number=0.21, model="open"),
        make_outcome(FLIPS, 1e-9, 1, number=0.9, model="broken"),
    ]
    (result,) = make_check({FLIPS.name: unlike}).results
    models = [decided.outcome.model for decided in result.outcomes]
    assert models == ["counted and worse", "counted", "broken", "open", "good"]


def test_many_numbers_do_not_make_a_summary_that_no_pull_request_takes():
    many = [make_outcome(FLIPS, 1e-9, 1, model=f"m{n}") for n in range(3000)]
    check = make_check({FLIPS.name: many})
    assert (
        "2,949 others are not shown" in format_check_as_markdown(check)
        and len(format_check_as_markdown(check)) < 65_536
    )
    assert "2,800 others are not shown" in format_check_as_junit(check)
    assert len(json.loads(format_check_as_json(check))["rules"][0]["outcomes"]) == 3000


def test_a_rule_without_a_number_cannot_be_told():
    check = make_check({RANKING.name: [make_outcome(RANKING)]})
    empty = type(check)(check.rules, "run", "", (type(check.results[0])(RANKING, "cannot tell", ()),))
    assert next(iter(describe_check(empty))) == "cannot tell ranking as before: there is nothing to test"
    assert "there is nothing to test" in format_check_as_markdown(
        empty
    ) and "there is nothing to test" in format_check_as_junit(empty)
    jsonschema.Draft202012Validator(SCHEMA).validate(json.loads(format_check_as_json(empty)))


def test_only_where_a_rule_cannot_be_told_a_line_says_which_command_tells_the_size():
    lines = {state: list(describe_check(check)) for state, (check, _) in CHECKS.items()}
    told = "how many items and wordings would tell: waver plan runs/new --check rules.toml"
    assert [state for state in lines if lines[state][-1] == told] == [
        "broken",
        "cannot-tell-fails",
        "cannot-tell-passes",
    ]
    assert not any("waver plan" in line for line in lines["holds"])


def test_a_number_says_of_what_it_is_and_how_it_changed():
    same = make_outcome(SAME)
    changes = [make_outcome(WORSE, number=number, before=0.5, measure="flips") for number in (0.0, 0.03)]
    assert (name_unit_of_outcome(same), name_unit_of_outcome(changes[0])) == (
        "gpt2 (plain) in opinions",
        "gpt2 (plain) in opinions, flips",
    )
    assert [format_number_of_outcome(change) for change in changes] == [
        "0 (+ is better, before: 0.5)", "+0.03 (+ is better, before: 0.5)",
    ]  # fmt: skip
    unknown = make_outcome(FLIPS, number=math.nan, lower=math.nan)
    slower = make_outcome(WORSE, number=-12345.6, lower=-20456, upper=-1.4e-17, before=15000.0, limit=-300)
    assert format_number_of_outcome(slower) == "-12,350 (+ is better, before: 15,000)"
    assert format_interval_of_outcome(slower) == "[-20,500, +0]"
    assert (format_number_of_outcome(unknown), format_interval_of_outcome(unknown)) == ("no number", "[no interval]")
    assert format_interval_of_outcome(make_outcome(FLIPS, lower=math.nan, test="counted")) == ""
    assert [format_limit_of_outcome(make_outcome(rule)) for rule in (FLIPS, SAME, RANKING)] == [
        "at most 0.2", "at least 0.95", "above 0",
    ]  # fmt: skip


def test_no_number_is_rounded_to_its_limit_or_past_it():
    """Else a rule would be broken at its limit; a difference that is rounding stays there."""
    numbers = (0.1999961, 0.20004, 0.2, 0.2 + 1e-16, 0.25004)
    assert [format_number_of_outcome(make_outcome(FLIPS, number=number)) for number in numbers] == [
        "0.199996", "0.20004", "0.2", "0.2", "0.25",
    ]  # fmt: skip
    assert format_interval_of_outcome(make_outcome(FLIPS, lower=0.2003, upper=0.4567)) == "[0.2003, 0.457]"
    change = make_outcome(WORSE, number=-0.020003, lower=-0.0200041, upper=0.0)
    assert format_number_of_outcome(change) == "-0.020003 (+ is better)"
    assert format_interval_of_outcome(change) == "[-0.020004, +0]"
    assert format_limit_of_outcome(make_outcome(FLIPS, limit=0.12345)) == "at most 0.12345"


def test_a_terminal_shows_decisions_in_colour(monkeypatch):
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True, raising=False)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)
    lines = list(describe_check(CHECKS["broken"][0]))
    assert any(line.startswith("\033[31mbroken      \033[0m") for line in lines)
    assert any(line.startswith("\033[33mcannot tell \033[0m") for line in lines)
