"""Write a check as Markdown: a summary for a pull request, with a table of rules and the numbers that do not hold."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from analysis.check.checking import Check, DecidedOutcome, DecidedRule
from analysis.check.forms.lines import (
    describe_test_of_outcome,
    format_command_to_plan_check,
    format_interval_of_outcome,
    format_limit_of_outcome,
    format_number_of_outcome,
    name_unit_of_outcome,
    summarise_check,
)
from analysis.check.outcomes import BROKEN, CANNOT_TELL, HOLDS
from analysis.reporting.catalogue.grid import escape_markdown
from analysis.reporting.words import format_quantity
from ground.errors import escape_control_characters

SIGNS = {HOLDS: "✅ holds", BROKEN: "❌ broken", CANNOT_TELL: "❔ cannot tell"}
MOST_ROWS = 50  # of numbers that do not hold: a pull request takes 65,536 characters


def format_check_as_markdown(check: Check) -> str:
    """Write a check as Markdown; names of models and rules are escaped.

    Parameters
    ----------
    check
        The check.

    Returns
    -------
    The text.
    """
    return "".join(f"{line}\n" for line in _iterate_markdown_lines_of_check(check))


def _iterate_markdown_lines_of_check(check: Check) -> Iterator[str]:
    """Yield the lines of the summary."""
    yield f"### Waver: {summarise_check(check)}"
    yield ""
    about = f"Run {_escape_markdown(check.run)}, rules {_escape_markdown(str(check.rules.path))}"
    yield f"{about}, against {_escape_markdown(check.against)}." if check.against else f"{about}."
    yield ""
    yield from _format_markdown_table(
        ("Rule", "Verdict", "Worst", "Number", "95 % interval", "Limit", "Test"),
        [_list_rule_cells(result) for result in check.results],
    )
    rows = [
        (result, decided) for result in check.results for decided in result.outcomes[1:] if decided.decision != HOLDS
    ]
    if rows:
        yield ""
        yield f"<details><summary>{format_quantity(len(rows), 'more number')} not known to hold</summary>"
        yield ""
        yield from _format_markdown_table(
            ("Rule", "Verdict", "Of", "Number", "95 % interval", "Limit", "Test"),
            [
                (result.rule.name, SIGNS[decided.decision], *_list_outcome_cells(decided))
                for result, decided in rows[:MOST_ROWS]
            ],
        )
        if len(rows) > MOST_ROWS:
            yield ""
            yield f"{format_quantity(len(rows) - MOST_ROWS, 'other is', 'others are')} not shown."
        yield ""
        yield "</details>"
    if (command := format_command_to_plan_check(check)) is not None:
        yield ""
        yield f"How many items and wordings would tell: {_escape_markdown(command)}"
    for note in check.notes:
        yield ""
        yield f"Note: {_escape_markdown(note)}"


def _list_rule_cells(result: DecidedRule) -> Sequence[str]:
    """List the cells of a rule: itself, what is decided, and its worst number."""
    cells = _list_outcome_cells(result.outcomes[0]) if result.outcomes else ("there is nothing to test", "", "", "", "")
    if len(result.outcomes) > 1:
        cells = (f"{cells[0]} (of {len(result.outcomes):,})", *cells[1:])
    decision = SIGNS[result.decision]
    if result.decision == CANNOT_TELL:
        decision += ", fails" if result.is_failed else ", passes"
    return (result.rule.name, decision, *cells)


def _list_outcome_cells(decided: DecidedOutcome) -> tuple[str, ...]:
    """List the cells of an outcome."""
    outcome = decided.outcome
    interval = "" if outcome.lower != outcome.lower else format_interval_of_outcome(outcome)
    return (
        name_unit_of_outcome(outcome),
        format_number_of_outcome(outcome),
        interval,
        format_limit_of_outcome(outcome),
        describe_test_of_outcome(decided),
    )


def _format_markdown_table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """Write a table; its cells are escaped."""
    yield f"| {' | '.join(header)} |"
    yield f"|{'---|' * len(header)}"
    for row in rows:
        yield f"| {' | '.join(map(_escape_markdown, row))} |"


def _escape_markdown(text: str) -> str:
    """Escape what Markdown or HTML reads as markup, and names that would call somebody or link to an issue."""
    return escape_markdown(escape_control_characters(" ".join(text.split()))).replace("@", "&#64;")
