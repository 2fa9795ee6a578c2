"""How often `waver check` is wrong, and whether it finds what `waver plan --check` foresees.

Simulated are models that are asked about the same items in fresh wordings each time: at temperature 0, where an answer
is one of two, and with answers that are shares of 10 samples.

*Alarms*: nothing changed, and the limits of rules on numbers are the true ones, which is the worst place for them. A
check is wrong where any rule is broken. Of 50 checks against one baseline, `looks = 50` pays for all; drift looks at the
accuracies and scores of all 50 with its own test. *Power*: something changed, and what the planning foresees from a
pilot of the model is held against the share of checks that decide the rule so.

    .venv/bin/python tests/benchmarks/bench_check_alarms.py                  # 2,000 studies, 200 years: 40 minutes
    .venv/bin/python tests/benchmarks/bench_check_alarms.py --studies 200 --years 20

Exit status 1 where alarms are more than .05, or a power is off by more than .05, beyond two standard errors.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[2]))

from analysis.check.judged_means import JudgedMean, judge_panel_not_worse  # noqa: E402
from analysis.check.outcomes import BROKEN, HOLDS, LEVEL, Outcome, decide_outcomes  # noqa: E402
from analysis.check.planning.aims import UNCHANGED, Aim, PilotUnit  # noqa: E402
from analysis.check.planning.answers import list_same_answer_aims  # noqa: E402
from analysis.check.planning.changes import list_change_aims  # noqa: E402
from analysis.check.planning.numbers import list_number_aims  # noqa: E402
from analysis.check.planning.powers import EVERYWHERE, IN_WHOLE_ITEMS  # noqa: E402
from analysis.check.rules import LIKE_THESE, NOT_WORSE, NUMBER, SAME_ANSWERS, Rule  # noqa: E402
from analysis.check.same_answers import judge_same_answers  # noqa: E402
from analysis.compare.pairs import FLIPS, mark_flips  # noqa: E402
from analysis.measures.reworded import ACCURACY, AGREEMENT, SCORE, Study  # noqa: E402
from analysis.statistics.bounded_mean import compute_p_of_mean_at_least, compute_p_of_mean_at_most  # noqa: E402

SIZES = (30, 100, 300)
WORDINGS, SAMPLES, LOOKS = 5, 10, 50
KINDS = TEMPERATURE_0, SAMPLED = "temperature 0", "sampled"
MARGIN, SHARE = 0.02, 0.95
PILOT = 2000  # items: what a small pilot misses is not what is tried here
OPTION = "option"
LESS_RIGHT, LESS_RIGHT_ITEMS, MORE_FLIPS, MORE_ZEROS, OTHER_OPTION = (
    "accuracy -3 points, here and there", "accuracy -3 points, in whole items", "flips +5 points",
    "scores of more zeros", "another favourite option",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Model:
    """The chances of every item: of a right answer, levels of scores and how many are 0, options (items, options)."""

    right: np.ndarray
    level: np.ndarray
    zeros: np.ndarray
    options: np.ndarray


def draw_model(draw: np.random.Generator, items: int) -> Model:
    """Draw items: most are easy, some are hard; scores are skewed."""
    options = draw.dirichlet([1.2, 0.5, 0.3, 0.3], items)
    return Model(draw.beta(1.5, 0.5, items), draw.beta(0.8, 2, items), np.full(items, 0.3), options)


def ask(draw: np.random.Generator, model: Model, kind: str) -> dict[str, np.ndarray]:
    """Answer every item in fresh wordings: measure -> (items, wordings)."""
    shape = (len(model.right), WORDINGS)
    right = model.right[:, None]
    if kind == TEMPERATURE_0:
        agreement = (draw.random(shape) < right).astype(float)
    else:
        agreement = draw.binomial(SAMPLES, draw.beta(2 * right + 0.01, 2 * (1 - right) + 0.01, shape)) / SAMPLES
    score = np.clip(model.level[:, None] + draw.normal(0, 0.1, shape), 0, 1)
    score = np.where(draw.random(shape) < model.zeros[:, None], 0.0, score)
    bounds = np.cumsum(model.options, axis=1)[:, None, :-1]
    option = (draw.random(shape)[..., None] > bounds).sum(axis=-1).astype(float)
    return {AGREEMENT: agreement, ACCURACY: (agreement >= 0.5).astype(float), SCORE: score, OPTION: option}


def make_number_outcome(measure: str, values: np.ndarray, limit: float, *, at_least: bool) -> Outcome:
    """Test the mean over items against a limit, as `analysis.check.panels` does for own wordings of each item."""
    rule = Rule("", "", NUMBER, measure, wordings=LIKE_THESE, **{"at_least" if at_least else "at_most": limit})
    p_least, p_most = compute_p_of_mean_at_least(values, limit), compute_p_of_mean_at_most(values, limit)
    p = (p_least, p_most) if at_least else (p_most, p_least)
    return Outcome(rule, "s", "m", "c", measure, values.mean(), np.nan, np.nan, limit, *p, len(values), WORDINGS, "p")


def make_change_outcome(rule: Rule, tested: JudgedMean, limit: float) -> Outcome:
    """Make the outcome of a rule on a change."""
    return Outcome(rule, "s", "m", "c", rule.target, tested.number, tested.lower, tested.upper, limit, tested.p_broken,
                   tested.p_holds, tested.n_items, tested.n_wordings, tested.test)  # fmt: skip


def judge_change(rule: Rule, now: dict[str, np.ndarray], before: dict[str, np.ndarray]) -> Outcome:
    """Test a rule on a change since answers to other wordings."""
    if rule.kind == SAME_ANSWERS:
        sides = [answers[OPTION] if rule.target == OPTION else answers[ACCURACY] for answers in (now, before)]
        tested = judge_same_answers(*sides, False, rule.at_least, like_these=True, same_wordings=False)
        return make_change_outcome(rule, tested, rule.at_least)
    if rule.target == FLIPS:
        means = [1 - mark_flips(answers[ACCURACY]) for answers in (now, before)]
    else:
        means = [answers[rule.target].mean(axis=1) for answers in (now, before)]
    tested = judge_panel_not_worse(means[0][:, None], means[1][:, None], False, rule.margin, like_these=True)
    return make_change_outcome(rule, tested, -rule.margin)


def make_change_rules(margin: float = MARGIN, share: float = SHARE) -> list[Rule]:
    """List the rules on changes of a check."""
    rules = [Rule("", m, NOT_WORSE, m, margin=margin, wordings=LIKE_THESE) for m in (ACCURACY, SCORE, FLIPS)]
    return rules + [Rule("", m, SAME_ANSWERS, m, at_least=share, wordings=LIKE_THESE) for m in (AGREEMENT, OPTION)]


def check_answers(now: dict, before: dict, truth: dict[str, float], looks: int) -> list[str]:
    """Decide all rules: two on numbers, at their true limits, and five on changes."""
    outcomes = [
        make_number_outcome(ACCURACY, now[ACCURACY].mean(axis=1), truth[ACCURACY], at_least=True),
        make_number_outcome(FLIPS, mark_flips(now[ACCURACY]), truth[FLIPS], at_least=False),
        *(judge_change(rule, now, before) for rule in make_change_rules()),
    ]
    return decide_outcomes(outcomes, looks)


def find_truth(draw: np.random.Generator, kind: str) -> dict[str, float]:
    """Find the true numbers of very many items."""
    answers = ask(draw, draw_model(draw, 1_000_000), kind)[ACCURACY]
    return {ACCURACY: float(answers.mean()), FLIPS: float(mark_flips(answers).mean())}


def simulate_alarms(studies: int, years: int) -> bool:
    """Print false alarms of a check, and of 50 against one baseline; tell whether all are few enough."""
    is_fine = True
    print("model | items | alarms of a check | of 50 checks, looks = 50")
    for kind in KINDS:
        truth = find_truth(np.random.default_rng(1), kind)
        for items in SIZES:
            draw = np.random.default_rng(items)
            single = np.mean([_has_alarm(draw, items, kind, truth, 1) for _ in range(studies)])
            year = np.mean([_has_alarm(draw, items, kind, truth, LOOKS) for _ in range(years)])
            print(f"{kind} | {items} | {single:.4f} | {year:.4f}", flush=True)
            for share, number in ((single, studies), (year, years)):
                is_fine &= bool(share <= 0.05 + 2 * np.sqrt(0.05 * 0.95 / number))
    return is_fine


def _has_alarm(draw: np.random.Generator, items: int, kind: str, truth: dict[str, float], looks: int) -> bool:
    """Tell whether any of so many checks of an unchanged model breaks a rule."""
    model = draw_model(draw, items)
    before = ask(draw, model, kind)
    return any(BROKEN in check_answers(ask(draw, model, kind), before, truth, looks) for _ in range(looks))


def change_model(draw: np.random.Generator, model: Model, change: str) -> Model:
    """Change a model so that it answers in another way."""
    if change == LESS_RIGHT:
        return replace(model, right=model.right * (1 - 0.03 / 0.75))
    if change == LESS_RIGHT_ITEMS:
        return replace(model, right=np.where(draw.random(len(model.right)) < 0.03 / 0.75, 0.0, model.right))
    if change == MORE_ZEROS:
        return replace(model, zeros=model.zeros + 0.2)
    if change == OTHER_OPTION:  # an eighth of the items exchange their likeliest option for the next
        turned = draw.random(len(model.options)) < 1 / 8
        return replace(model, options=np.where(turned[:, None], np.roll(model.options, 1, axis=1), model.options))
    return model
