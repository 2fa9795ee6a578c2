"""Print what a check needs to be decided: `waver plan --check rules.toml RUN`."""

from __future__ import annotations

import csv
import sys
from collections.abc import Sequence
from pathlib import Path

from analysis import runs
from analysis.check.checking import check_names_of_rule
from analysis.check.planning.aims import Aim
from analysis.check.planning.designs import list_aims, list_check_designs
from analysis.check.rules_file import read_rules
from analysis.reporting.words import format_quantity

COLUMNS = ("rule", "decided", "items", "wordings", "prompts", "study", "model", "condition", "measure")


def print_check_designs(run: str, rules_path: Path, change: float | None, power: float) -> int:
    """Print for every rule, and what it may be decided as, the designs that decide it, as CSV.

    Parameters
    ----------
    run
        Run folder of the pilot.
    rules_path
        The file of rules.
    change
        The true change to find; None: twice what each rule allows.
    power
        Of each number of a rule.

    Returns
    -------
    int
        The exit status: 0.

    Raises
    ------
    InputError
        The file or the run is wrong, or a rule is about nothing that the run has.
    """
    rules = read_rules(rules_path)
    pilot = runs.open_runs(run)
    for written_rule in rules.rules:
        check_names_of_rule(written_rule, pilot)
    groups = list_aims(rules, pilot, change)
    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow(COLUMNS)
    doubts: dict[tuple[str, str, str], list[Aim]] = {}
    for aims in groups:
        planned_aims = [aim for aim in aims if aim.compute_power is not None]
        for aim in aims:
            if aim.compute_power is None:
                doubts.setdefault((aim.rule.name, aim.goal, aim.why_not), []).append(aim)
        designs = list_check_designs(planned_aims, power) if planned_aims else []
        if planned_aims and not designs:
            doubts[planned_aims[0].rule.name, planned_aims[0].goal, "out of reach with the wordings that are tried"] = (
                planned_aims
            )
        for design in designs:
            aim = design.aim
            labels = (aim.study, aim.model, aim.condition, aim.measure)
            size = design.wordings or "", design.prompts or ""  # of some columns, as many wordings as in the pilot
            writer.writerow([aim.rule.name, aim.goal, design.items, *size, *labels])
    looks = f", at each of {rules.looks} looks" if rules.looks > 1 else ""
    print(
        f"items and wordings with which each number of a rule is decided with power {power:g}{looks}; the model and "
        "condition that needs most is named",
        file=sys.stderr,
    )
    for (rule, goal, why), aims in doubts.items():
        print(f"{rule}: {goal}: {why} ({_describe_numbers(aims)})", file=sys.stderr)
    return 0


def _describe_numbers(aims: Sequence[Aim]) -> str:
    """Name the first of some numbers of a rule, and say how many others there are."""
    labels = (aims[0].study, aims[0].model, aims[0].condition)
    first = ", ".join(label for label in labels if isinstance(label, str) and label) or "all"
    others = len(aims) - 1
    return first if not others else f"{first}, and {format_quantity(others, 'other number')}"
