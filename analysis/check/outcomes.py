"""The numbers that rules are tested on, and what is decided about them.

Rules, in this order, with one-sided p values at .025, so that a single rule is decided as its 95 % interval shows it.

1. "broken": p of "the limit is kept" is below .025 / looks after Holm over all outcomes of the check. One outcome that
   is broken breaks its rule, and one rule the check: a union of claims, whose false alarms are held together.
2. "holds": p of "the limit is not kept" is below .025. A rule holds where all of its outcomes do: an intersection of
   claims, which errs no more often than one of them, so nothing is corrected.
3. "cannot tell": neither, or there is no p.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from analysis.check.rules import Rule
from analysis.statistics.multiplicity import holm

HOLDS, BROKEN, CANNOT_TELL = "holds", "broken", "cannot tell"
LEVEL = 0.025  # one-sided: what a two-sided interval of 95 % leaves on each side
COUNTED = "counted"  # the test of a number without uncertainty: its p is 0 or 1


@dataclass(frozen=True, slots=True)
class Outcome:
    """One number that a rule is tested on: a row of a table, a model against its baseline, or a pair of models.

    Attributes
    ----------
    rule : Rule
        The rule.
    study, model, condition, measure : str
        What the number is of; `model` is "a > b" for a ranked pair.
    number : float
        What the rule is about: the column's number; the difference now less before, turned so that + is better; the
        share of answers as before, mean over items, or for wordings like these, 1 less half the squared change of the
        shares of answers.
    lower, upper : float
        Its two-sided 95 % interval; NaN: none.
    limit : float
        What the number is compared with: minus the margin for `NOT_WORSE`, 0 for `RANKING` and `KURTOSIS`.
    p_broken : float
        One-sided p of "the limit is kept": small where it is broken; of `KURTOSIS`, two-sided. NaN: no test.
    p_holds : float
        One-sided p of "the limit is not kept": small where it holds. NaN: no test.
    n_items : int
        Items that the number is of.
    n_wordings : float
        Wordings per item, on average.
    test : str
        In words: "t over items", "interval of the table"; `COUNTED`: a number without uncertainty, decided as it is,
        with p values of 0 and 1.
    before : float
        The baseline's number; NaN: none.
    note : str
        What is left out.
    """

    rule: Rule
    study: str
    model: str
    condition: str
    measure: str
    number: float
    lower: float
    upper: float
    limit: float
    p_broken: float
    p_holds: float
    n_items: int
    n_wordings: float
    test: str
    before: float = math.nan
    note: str = ""


def choose_decision_of_each_outcome(outcomes: Sequence[Outcome], looks: int = 1) -> list[str]:
    """Decide every outcome of a check by the rules above.

    Parameters
    ----------
    outcomes
        All of a check, of all its rules: Holm counts those with a test. A counted number is decided as it is, and is no
        test.
    looks
        How often the check is made: each look has an equal part of the level.

    Returns
    -------
    list of str
        `HOLDS`, `BROKEN` or `CANNOT_TELL` per outcome.
    """
    return [
        BROKEN if p_broken < LEVEL / looks else HOLDS if outcome.p_holds < LEVEL else CANNOT_TELL
        for outcome, p_broken in zip(outcomes, correct_p_values_by_holm(outcomes), strict=True)
    ]


def correct_p_values_by_holm(outcomes: Sequence[Outcome]) -> list[float]:
    """Correct `p_broken` after Holm over all outcomes of a check that have a test; a counted one keeps its 0 or 1."""
    corrected = np.array([outcome.p_broken for outcome in outcomes], dtype=float)
    is_test = np.array([outcome.test != COUNTED for outcome in outcomes], dtype=bool) & ~np.isnan(corrected)
    corrected[is_test] = holm(corrected[is_test])
    return [float(p) for p in corrected]


def decide_rule_from_outcomes(decisions: Sequence[str]) -> str:
    """Decide a rule from its outcomes: holds where all hold, broken where one is, else cannot tell.

    Parameters
    ----------
    decisions
        From `choose_decision_of_each_outcome`; none: cannot tell.

    Returns
    -------
    str
        `HOLDS`, `BROKEN` or `CANNOT_TELL`.

    >>> (decide_rule_from_outcomes(["holds", "cannot tell"]),
    ...  decide_rule_from_outcomes(["holds", "broken"]),
    ...  decide_rule_from_outcomes(["holds"]))
    ('cannot tell', 'broken', 'holds')
    """
    if BROKEN in decisions:
        return BROKEN
    return HOLDS if decisions and set(decisions) == {HOLDS} else CANNOT_TELL
