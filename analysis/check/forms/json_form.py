"""Write a check as JSON, as `analysis/check/schema.json` explains it."""

from __future__ import annotations

import json
from typing import Any

from analysis.check.checking import Check, DecidedOutcome, DecidedRule
from analysis.reporting.catalogue.grid import convert_to_json_value


def format_check_as_json(check: Check) -> str:
    """Write a check as JSON, in which an undefined number is null.

    Parameters
    ----------
    check
        The check.

    Returns
    -------
    The text.
    """
    content = {
        "format": 1, "run": check.run, "against": check.against or None, "rules_file": str(check.rules.path),
        "looks": check.rules.looks, "exit_status": check.exit_status, "notes": list(check.notes),
        "rules": [_build_rule_record(result) for result in check.results],
    }  # fmt: skip
    return json.dumps(content, indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def _build_rule_record(result: DecidedRule) -> dict[str, Any]:
    """Build the record of a rule."""
    rule = result.rule
    return {
        "name": rule.name, "require": rule.text, "kind": rule.kind, "wordings": rule.wordings,
        "cannot_tell": rule.cannot_tell, "decision": result.decision, "failed": result.is_failed,
        "outcomes": [_build_outcome_record(decided) for decided in result.outcomes],
    }  # fmt: skip


def _build_outcome_record(decided: DecidedOutcome) -> dict[str, Any]:
    """Build the record of an outcome."""
    outcome = decided.outcome
    record = {
        "study": outcome.study, "model": outcome.model, "condition": outcome.condition, "measure": outcome.measure,
        "number": outcome.number, "lower": outcome.lower, "upper": outcome.upper, "limit": outcome.limit,
        "before": outcome.before, "p_broken": outcome.p_broken, "p_broken_holm": decided.p_broken_holm,
        "p_holds": outcome.p_holds, "n_items": int(outcome.n_items), "n_wordings": outcome.n_wordings,
        "test": outcome.test, "decision": decided.decision, "note": outcome.note,
    }  # fmt: skip
    converted: dict[str, Any] = convert_to_json_value(record)
    return converted
