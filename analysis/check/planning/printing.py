"""Print what a check needs to be decided: `waver plan --check rules.toml RUN`."""

from __future__ import annotations

import csv
import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from analysis import runs
from analysis.check.checking import refuse_unknown_rule_models_and_studies
from analysis.check.planning.aims import Aim
from analysis.check.planning.designs import list_aims_by_rule_and_goal, plan_fewest_groups_of_aims
from analysis.check.rules_file import read_rules_file
from analysis.reporting.catalogue.grid import convert_to_json_value
from analysis.reporting.words import join_names, labels

COLUMNS = ("rule", "decided", "items", "wordings", "prompts", "study", "model", "condition", "measure")
OUT_OF_REACH = "out of reach with the wordings that are tried"
APART = "no design decides all numbers, so that each study, or number of wordings, has designs of its own"


def plan_check_and_print_designs(
    run: str, rules_path: Path, change: float | None, power: float, *, as_json: bool = False
) -> int:
    """Print for every rule, and what it may be decided as, the designs that decide it, as CSV or JSON.

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
    as_json
        Whether to print JSON, with the notes in it.

    Returns
    -------
    int
        The exit status: 0.

    Raises
    ------
    InputError
        The file or the run is wrong, a rule is about nothing that the run has, or the change is within its margin.
    """
    rules = read_rules_file(rules_path)
    pilot = runs.open_runs(run)
    for written_rule in rules.rules:
        refuse_unknown_rule_models_and_studies(written_rule, pilot)
    groups = list_aims_by_rule_and_goal(rules, pilot, change)
    rows: list[tuple[Any, ...]] = []
    doubts: dict[tuple[str, str, str], list[Aim]] = {}
    for aims in groups:
        planned_aims = [aim for aim in aims if aim.compute_power is not None]
        for aim in aims:
            if aim.compute_power is None:
                doubts.setdefault((aim.rule.name, aim.goal, aim.why_not), []).append(aim)
        plans = list(plan_fewest_groups_of_aims(planned_aims, power)) if planned_aims else []
        is_apart = sum(bool(designs) for _, designs in plans) > 1
        for aims_of_plan, designs in plans:
            if not designs or is_apart:
                why = APART if designs else OUT_OF_REACH
                doubts.setdefault((aims[0].rule.name, aims[0].goal, why), []).extend(aims_of_plan)
            for design in designs:
                aim = design.aim
                number = (aim.study, aim.model, aim.condition, aim.measure)
                # Of some columns, as many wordings as in the pilot.
                size = design.wordings or None, design.n_prompts_per_unit or None
                rows.append((aim.rule.name, aim.goal, design.items, *size, *number))
    looks = f", at each of {rules.looks} looks" if rules.looks > 1 else ""
    notes = [
        f"items and wordings with which each number of a rule is decided with power {power:g}{looks}; the model and "
        "condition that needs most is named",
        *(
            f"{rule}: {goal}: {why} ({_name_first_numbers_and_count_others(aims)})"
            for (rule, goal, why), aims in doubts.items()
        ),
    ]
    if as_json:
        records = [dict(zip(COLUMNS, row, strict=True)) for row in rows]
        print(format_plan_as_json(run, {"check": str(rules_path), "power": power}, None, notes, records), end="")
        return 0
    csv.writer(sys.stdout, lineterminator="\n").writerows([COLUMNS, *rows])
    for note in notes:
        print(note, file=sys.stderr)
    return 0


def format_plan_as_json(
    run: str, goal: Mapping[str, Any], measure: str | None, notes: Sequence[str], designs: Sequence[Mapping[str, Any]]
) -> str:
    """Write a plan as JSON, as `analysis/check/planning/schema.json` explains it.

    Parameters
    ----------
    run
        Run folder of the pilot.
    goal
        Of standard_error, difference, check and power those that the call says.
    measure
        What is planned for; None: the rules say it.
    notes
        What the designs rest on.
    designs
        The designs that reach the goal, as records.

    Returns
    -------
    The text.
    """
    goals = {name: goal.get(name) for name in ("standard_error", "difference", "check", "power")}
    content = {"format": 1, "run": run, "goal": goals, "measure": measure, "notes": notes, "designs": designs}
    return json.dumps(convert_to_json_value(content), indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def _name_first_numbers_and_count_others(aims: Sequence[Aim]) -> str:
    """Name the first of some numbers of a rule, by their measures, too, where units have several; count the others."""
    units = [(aim.study, aim.model, aim.condition) for aim in aims]
    measures = [(aim.measure,) if len(set(units)) < len(units) else () for aim in aims]
    names = [
        labels.SEPARATOR.join(label for label in (*unit, *measure) if isinstance(label, str) and label)
        for unit, measure in zip(units, measures, strict=True)
    ]
    return join_names([name or "all" for name in names])
