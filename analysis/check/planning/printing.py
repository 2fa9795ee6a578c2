"""Print what a check needs to be decided: `waver plan --check rules.toml RUN`."""

from __future__ import annotations

import csv
import sys
from pathlib import Path

from analysis import runs
from analysis.check.planning.aims import Aim
from analysis.check.planning.designs import list_aims, list_check_designs
from analysis.check.rules_file import read_rules

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
    groups = list_aims(rules, runs.open_runs(run), change)
    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow(COLUMNS)
    doubts: list[str] = []
    for aims in groups:
        told = [aim for aim in aims if aim.compute_power is not None]
        doubts += [_describe_doubt(aim) for aim in aims if aim.compute_power is None]
        designs = list_check_designs(told, power) if told else []
        if told and not designs:
            doubts.append(f"{told[0].rule.name}: {told[0].goal}: out of reach with the wordings that are tried")
        for design in designs:
            aim = design.aim
            labels = (aim.study, aim.model, aim.condition, aim.measure)
            writer.writerow([aim.rule.name, aim.goal, design.items, design.wordings, design.prompts, *labels])
    looks = f", at each of {rules.looks} looks" if rules.looks > 1 else ""
    print(
        f"items and wordings with which each number of a rule is decided with power {power:g}{looks}; the model and "
        "condition that needs most is named",
        file=sys.stderr,
    )
    for line in dict.fromkeys(doubts):
        print(line, file=sys.stderr)
    return 0


def _describe_doubt(aim: Aim) -> str:
    """Say why one number of a rule cannot be planned."""
    about = ", ".join(filter(None, (aim.study, aim.model, aim.condition)))
    return f"{aim.rule.name}: {aim.goal}: not told ({about}): {aim.why_not}"
