"""Makes outcomes of rules and whole checks without a run, for the tests of `analysis.check`."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

from analysis.check.checking import Check, run_and_decide_rules_with_joint_holm
from analysis.check.outcomes import COUNTED, Outcome
from analysis.check.rules import Rule, Rules

FLIPS = Rule("stability.flip_10 <= 0.20", "stability.flip_10 <= 0.20", "number", "stability.flip_10", at_most=0.2)
WORSE = Rule("not worse by 0.02 in accuracy", "as right as before", "not worse", "accuracy", margin=0.02,
             wordings="like these")  # fmt: skip
SAME = Rule("same answers as before on 95 % of items", "same answers", "same answers", at_least=0.95,
            cannot_tell="fail")  # fmt: skip
ENOUGH = Rule("stability.n_items >= 30", "enough items", "number", "stability.n_items", at_least=30)
RANKING = Rule("ranking as before", "ranking as before", "ranking")


def make_outcome(rule: Rule, p_broken: float = 0.5, p_holds: float = 0.5, **fields: Any) -> Outcome:
    """An outcome of a rule, of 62 items in 100 wordings, unless told otherwise."""
    given = {
        "study": "opinions", "model": "gpt2", "condition": "plain",
        "measure": rule.target.rpartition(".")[2] or rule.kind,
        "number": 0.25, "lower": 0.2, "upper": 0.3, "n_items": 62, "n_wordings": 100.0, "test": "t over items",
        "limit": next(x for x in (rule.at_most, rule.at_least, -rule.margin, 0.0) if not math.isnan(x)),
    }  # fmt: skip
    return Outcome(rule, **{**given, **fields}, p_broken=p_broken, p_holds=p_holds)


HOLDING = {
    FLIPS.name: [make_outcome(FLIPS, 1 - 1e-9, 1e-9, number=0.0968, lower=0.0453, upper=0.195),
                 make_outcome(FLIPS, 0.99, 0.01, number=0.129, lower=0.067, upper=0.199, model="opt")],
    WORSE.name: [make_outcome(WORSE, 0.999, 0.001, number=0.0123, lower=-0.004, upper=0.0286, before=0.7)],
    RANKING.name: [make_outcome(RANKING, 1, 0, number=0.1, lower=0.05, upper=0.15, model="gpt2 > opt",
                                measure="accuracy", test=COUNTED)],
    ENOUGH.name: [make_outcome(ENOUGH, 1, 0, number=62, lower=math.nan, upper=math.nan, test=COUNTED)],
}  # fmt: skip
BROKEN = {
    **HOLDING,
    WORSE.name: [make_outcome(WORSE, 0.0001, 0.9999, number=-0.0812, lower=-0.11, upper=-0.05, before=0.7,
                              note="3 items are new"),
                 make_outcome(WORSE, 0.6, 0.4, number=-0.015, lower=-0.06, upper=0.03, model="opt", before=0.6)],
}  # fmt: skip
UNSURE = {
    **HOLDING,
    SAME.name: [make_outcome(SAME, 0.3, 0.7, number=0.94, lower=0.9, upper=0.97)],
    RANKING.name: [make_outcome(RANKING, math.nan, math.nan, number=0.01, lower=math.nan, upper=math.nan,
                                model="gpt2 > a|b <c>\x1b @all", measure="accuracy", n_wordings=math.nan,
                                test="no test: one item", n_items=1)],
}  # fmt: skip


def make_check(outcomes_by_name: dict[str, list[Outcome]], looks: int = 1, notes: tuple[str, ...] = ()) -> Check:
    """A check whose rules have these outcomes."""
    rules = Rules(Path("rules.toml"), tuple(outcomes[0].rule for outcomes in outcomes_by_name.values()), looks)
    results = run_and_decide_rules_with_joint_holm(rules, lambda rule: outcomes_by_name[rule.name])
    return Check(rules, "runs/new", "baselines/old", results, notes)
