"""Test a number of a run against its limit: every row of a column, or every model by a measure.

A column has the test that its interval allows (`limits.columns`), a measure that of its answers (`limits.measured`).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from analysis.check.limits.columns import list_numbers_of_table_rows
from analysis.check.limits.measured import list_numbers_of_units_for_measure_rule
from analysis.check.limits.number import Number, get_limit_of_rule
from analysis.check.limits.tails import Tails
from analysis.check.outcomes import COUNTED, Outcome
from analysis.check.rules import Rule
from analysis.runs import Runs
from analysis.statistics.significance import ROUNDING


def compute_outcomes_of_number_rule(rule: Rule, runs: Runs) -> list[Outcome]:
    """Test a rule on a number.

    Parameters
    ----------
    rule
        Of the kind `NUMBER`.
    runs
        The run.

    Returns
    -------
    list of Outcome
        One per row of the table, or per model and condition, that the rule is about.

    Raises
    ------
    InputError
        The run has no such column, measure or condition, the limit is out of range, nothing tells of wordings like
        these, or scores are too large to be squared.
    """
    list_numbers = list_numbers_of_table_rows if "." in rule.target else list_numbers_of_units_for_measure_rule
    return [_build_outcome_of_number(rule, number) for number in list_numbers(rule, runs)]


def _build_outcome_of_number(rule: Rule, number: Number) -> Outcome:
    """Say which tail speaks for and against the rule; a number without uncertainty is decided as it is."""
    is_least, limit, tails = rule.at_least == rule.at_least, get_limit_of_rule(rule), number.tails
    if tails is None:
        above = number.value - limit
        is_kept = (above if is_least else -above) >= -ROUNDING  # 0.1 + 0.2 is at most 0.3
        is_known = not np.isnan(number.value)
        tails = Tails(
            *((float(is_kept), float(not is_kept)) if is_known else (np.nan, np.nan)), np.nan, np.nan, COUNTED
        )
        p_broken, p_holds = tails.p_at_most, tails.p_at_least
    else:
        p_broken, p_holds = (tails.p_at_least, tails.p_at_most) if is_least else (tails.p_at_most, tails.p_at_least)
    fields: dict[str, Any] = {
        "study": number.study, "model": number.model, "condition": number.condition, "measure": number.measure,
        "number": number.value, "lower": tails.lower, "upper": tails.upper, "limit": limit, "p_broken": p_broken,
        "p_holds": p_holds, "n_items": number.n_items, "n_wordings": number.n_wordings, "test": tails.test,
        "note": number.note,
    }  # fmt: skip
    return Outcome(rule, **fields)
