"""How often `waver check` is wrong, and whether it finds what `waver plan --check` foresees.

Simulated are models that are asked about the same items in fresh wordings each time: at temperature 0, where an answer
is one of two, and with answers that are shares of 10 samples.

*Alarms*: nothing changed, and the limits of rules on numbers are the true ones, which is the worst place for them. A
check has seven rules, and is wrong where any of them is broken. Of 50 checks against one baseline, `looks = 50` pays
for all. (`bench_drift.py` has those of the page `drift`.)

A series is only decided in full at its first look, and where a t test of any rule has a p below .02. No other look can
break a rule at .025 / 50: of changes, the product's p is never below that of t. Of numbers, Gaffke's may be, so every
look that is decided in full is held against this screen, and the simulation stops where it would have missed one.

*Power*: something changed, and what the planning foresees from a pilot of 2,000 items is held against the share of
checks that decide the rule so.

*Kurtosis*: the share of checks that break `kurtosis of score as before`, of a model that did not change and of one that
gives a share of the items the same number. No plan foresees it.

    .venv/bin/python tests/benchmarks/bench_check_alarms.py                  # 2,000 studies and series: 40 minutes
    .venv/bin/python tests/benchmarks/bench_check_alarms.py --studies 200 --years 20

Exit status 1 where alarms are more than .05, or a power is off by more than .05, beyond two standard errors.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from scipy.special import stdtr
from scipy.stats import kurtosis as compute_kurtosis

sys.path.insert(0, str(Path(__file__).parents[2]))

from analysis.check import kurtosis
from analysis.check.answer_changes import estimate_change_of_each_item
from analysis.check.answers import Answers
from analysis.check.judged_means import JudgedMean, judge_answers_not_worse_by_margin
from analysis.check.outcomes import BROKEN, HOLDS, LEVEL, Outcome, choose_decision_of_each_outcome
from analysis.check.planning.aims import UNCHANGED, Aim, PilotUnit
from analysis.check.planning.answers import AnsweredUnit, list_same_answers_aims_of_unit
from analysis.check.planning.changes import list_not_worse_aims_of_unit
from analysis.check.planning.item_changes import (
    compute_mean_and_variance_of_item_changes,
    count_item_answers_by_option,
    estimate_mean_power_sums_of_option_shares,
)
from analysis.check.planning.numbers import list_aims_of_number_rule
from analysis.check.planning.powers import EVERYWHERE, IN_WHOLE_ITEMS
from analysis.check.rules import LIKE_THESE, NOT_WORSE, NUMBER, SAME_ANSWERS, Rule
from analysis.check.same_answers import judge_share_of_same_answers
from analysis.measures.reworded import ACCURACY, AGREEMENT, SCORE, Study
from analysis.measures.reworded.flips import FLIPS, mark_flipped_items_of_unit
from analysis.statistics.bounded_mean import compute_p_of_mean_at_least, compute_p_of_mean_at_most

SIZES = (30, 100, 300)
WORDINGS, SAMPLES, LOOKS = 5, 10, 50
SUSPECT = 0.02  # p of t, below which a look of a series is decided in full
KINDS = TEMPERATURE_0, SAMPLED = "temperature 0", "sampled"
MARGIN, SHARE = 0.02, 0.95
PILED = 0.1, 0.25, 0.5  # share of the items that get the same number, of kurtosis
PILOT = 2000  # items: what a small pilot misses is not what is tried here
OPTION = "option"
NOTHING, LESS_RIGHT, LESS_RIGHT_ITEMS, MORE_FLIPS, MORE_ZEROS, OTHER_OPTION = (
    "nothing", "accuracy -3 points, here and there", "accuracy -3 points, in whole items", "flips +5 points",
    "scores -6 points, by more zeros", "another favourite option in 1 of 8 items",
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
    """Test the mean over items against a limit, as `analysis.check.judged_means` does for own wordings of each item."""
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
        tested = judge_share_of_same_answers(*sides, False, rule.at_least, like_these=True, same_wordings=False)
        return make_change_outcome(rule, tested, rule.at_least)
    if rule.target == FLIPS:
        means = [1 - mark_flipped_items_of_unit(answers[ACCURACY]) for answers in (now, before)]
    else:
        means = [answers[rule.target].mean(axis=1) for answers in (now, before)]
    tested = judge_answers_not_worse_by_margin(
        means[0][:, None], means[1][:, None], False, rule.margin, like_these=True
    )
    return make_change_outcome(rule, tested, -rule.margin)


def make_change_rules(margin: float = MARGIN, share: float = SHARE) -> list[Rule]:
    """List the rules on changes of a check."""
    rules = [Rule("", m, NOT_WORSE, m, margin=margin, wordings=LIKE_THESE) for m in (ACCURACY, SCORE, FLIPS)]
    return rules + [Rule("", m, SAME_ANSWERS, m, at_least=share, wordings=LIKE_THESE) for m in (AGREEMENT, OPTION)]


def list_outcomes(now: dict, before: dict, truth: dict[str, float]) -> list[Outcome]:
    """Test all rules: two on numbers, at their true limits, and five on changes."""
    return [
        make_number_outcome(ACCURACY, now[ACCURACY].mean(axis=1), truth[ACCURACY], at_least=True),
        make_number_outcome(FLIPS, mark_flipped_items_of_unit(now[ACCURACY]), truth[FLIPS], at_least=False),
        *(judge_change(rule, now, before) for rule in make_change_rules()),
    ]


def is_suspect(now: dict, before: dict, truth: dict[str, float]) -> np.ndarray:
    """Tell of which looks a t test of any rule has a p below `SUSPECT`: answers (looks, items, wordings), (items, ...).

    A rule's values of the items speak against it where their mean is below 0.
    """

    def average_wordings(answers: dict, measure: str) -> np.ndarray:
        if measure == FLIPS:
            marks = mark_flipped_items_of_unit(answers[ACCURACY].reshape(-1, WORDINGS))
            return 1 - marks.reshape(answers[ACCURACY].shape[:-1])
        return answers[measure].mean(axis=-1)

    def find_changes(measure: str) -> np.ndarray:
        looks, items, _ = now[measure].shape
        repeated = np.tile(before[measure], (looks, 1))
        changes = estimate_change_of_each_item(now[measure].reshape(-1, WORDINGS), repeated, same_wordings=False)
        return 1 - changes.reshape(looks, items) - SHARE

    measures = (ACCURACY, SCORE, FLIPS)
    values = np.stack([
        average_wordings(now, ACCURACY) - truth[ACCURACY], average_wordings(now, FLIPS) - 1 + truth[FLIPS],
        *(average_wordings(now, measure) - average_wordings(before, measure) + MARGIN for measure in measures),
        *(find_changes(measure) for measure in (ACCURACY, OPTION)),
    ])  # fmt: skip
    means, spreads, items = values.mean(axis=2), values.std(axis=2, ddof=1), values.shape[2]
    with np.errstate(invalid="ignore", divide="ignore"):
        t = means / spreads * np.sqrt(items)
    return ((spreads < 1e-9) & (means < 0) | (stdtr(items - 1, t) < SUSPECT)).any(axis=0)


def find_truth(draw: np.random.Generator, kind: str) -> dict[str, float]:
    """Find the true numbers of very many items."""
    answers = ask(draw, draw_model(draw, 300_000), kind)
    means = {measure: float(answers[measure].mean()) for measure in (ACCURACY, SCORE)}
    return {**means, FLIPS: float(mark_flipped_items_of_unit(answers[ACCURACY]).mean())}


def simulate_alarms(studies: int, years: int, kinds: Sequence[str], sizes: Sequence[int]) -> bool:
    """Print false alarms of a check, and of 50 against one baseline; tell whether all are few enough."""
    is_fine = True
    print("model | items | alarms of a check | of 50 checks, looks = 50 | looks decided in full", flush=True)
    for kind in kinds:
        truth = find_truth(np.random.default_rng(1), kind)
        for items in sizes:
            draw = np.random.default_rng(items)
            single = np.mean([has_alarm(draw, items, kind, truth) for _ in range(studies)])
            year, in_full = np.mean([has_alarm_in_series(draw, items, kind, truth) for _ in range(years)], axis=0)
            print(f"{kind} | {items} | {single:.4f} | {year:.4f} | {in_full:.3f}", flush=True)
            for share, number in ((single, studies), (year, years)):
                is_fine &= bool(share <= 0.05 + 2 * np.sqrt(0.05 * 0.95 / number))
    return is_fine


def has_alarm(draw: np.random.Generator, items: int, kind: str, truth: dict[str, float]) -> bool:
    """Tell whether a check of an unchanged model breaks a rule."""
    model = draw_model(draw, items)
    before, now = ask(draw, model, kind), ask(draw, model, kind)
    outcomes = list_outcomes(now, before, truth)
    (suspect,) = is_suspect({name: part[None] for name, part in now.items()}, before, truth)
    assert suspect or BROKEN not in choose_decision_of_each_outcome(outcomes, LOOKS), "the screen missed a broken rule"
    return BROKEN in choose_decision_of_each_outcome(outcomes)


def has_alarm_in_series(
    draw: np.random.Generator, items: int, kind: str, truth: dict[str, float]
) -> tuple[bool, float]:  # fmt: skip
    """Tell whether any of `LOOKS` checks of an unchanged model breaks a rule, and the share of them decided in full."""
    model = draw_model(draw, items)
    before = ask(draw, model, kind)
    repeated = Model(
        *(np.concatenate([part] * LOOKS) for part in (model.right, model.level, model.zeros, model.options))
    )
    now = {name: part.reshape(LOOKS, items, WORDINGS) for name, part in ask(draw, repeated, kind).items()}
    suspects = is_suspect(now, before, truth)
    in_full = {0, *np.flatnonzero(suspects)}
    is_alarm = False
    for look in in_full:
        outcomes = list_outcomes({name: part[look] for name, part in now.items()}, before, truth)
        is_broken = BROKEN in choose_decision_of_each_outcome(outcomes, LOOKS)
        assert suspects[look] or not is_broken, "the screen missed a broken rule"
        is_alarm |= is_broken
    return is_alarm, len(in_full) / LOOKS


@dataclass(frozen=True, slots=True)
class Scenario:
    """A rule on a change, what truly changes and by how much, and what the rule is to be decided as."""

    rule: Rule
    change: str
    by: float
    decided: str = BROKEN

    @property
    def spread(self) -> str:
        """How the planning calls the way in which it changes; of flips and options there is one."""
        if self.decided == HOLDS:
            return UNCHANGED
        return IN_WHOLE_ITEMS if self.change in (LESS_RIGHT_ITEMS, OTHER_OPTION) else (
            "flip" if self.change == MORE_FLIPS else EVERYWHERE
        )  # fmt: skip


def list_scenarios() -> list[Scenario]:
    """List what is planned and simulated."""

    def not_worse(measure: str, margin: float) -> Rule:
        return Rule("", f"not worse by {margin:g} in {measure}", NOT_WORSE, measure, margin=margin, wordings=LIKE_THESE)

    same = Rule("", "same answers on 98 %", SAME_ANSWERS, OPTION, at_least=0.98, wordings=LIKE_THESE)
    less = Rule("", "same answers on 95 %", SAME_ANSWERS, AGREEMENT, at_least=0.95, wordings=LIKE_THESE)
    return [
        Scenario(not_worse(FLIPS, 0.02), MORE_FLIPS, 0.05),
        Scenario(not_worse(ACCURACY, 0.01), LESS_RIGHT, 0.03),
        Scenario(not_worse(ACCURACY, 0.01), LESS_RIGHT_ITEMS, 0.03),
        Scenario(not_worse(SCORE, 0.02), MORE_ZEROS, 0.06),
        Scenario(same, OTHER_OPTION, np.nan),
        Scenario(not_worse(FLIPS, 0.1), NOTHING, 0.2, HOLDS),
        Scenario(not_worse(ACCURACY, 0.05), NOTHING, 0.1, HOLDS),
        Scenario(not_worse(SCORE, 0.05), NOTHING, 0.1, HOLDS),
        Scenario(less, NOTHING, 0.1, HOLDS),
        Scenario(same, NOTHING, 0.04, HOLDS),
    ]


def ask_changed(
    draw: np.random.Generator, model: Model, kind: str, scenario: Scenario, truth: dict[str, float]
) -> dict[str, np.ndarray]:
    """Answer as a model that changed."""
    items = len(model.right)
    if scenario.change == OTHER_OPTION:  # every option is exchanged for another one
        moved = np.where(draw.random(items) < 1 / 8, draw.integers(1, 4, items), 0)
        places = (np.arange(4) + moved[:, None]) % 4
        model = replace(model, options=np.take_along_axis(model.options, places, axis=1))
    answers = ask(draw, model, kind)
    shape = (items, 1) if scenario.change == LESS_RIGHT_ITEMS else (items, WORDINGS)
    if scenario.change in (LESS_RIGHT, LESS_RIGHT_ITEMS):
        answers[ACCURACY] = np.where(draw.random(shape) < scenario.by / truth[ACCURACY], 0.0, answers[ACCURACY])
    elif scenario.change == MORE_ZEROS:
        answers[SCORE] = np.where(draw.random(shape) < scenario.by / truth[SCORE], 0.0, answers[SCORE])
    elif scenario.change == MORE_FLIPS:  # one wording of items that did not flip is answered in the other way
        flips = (mark_flipped_items_of_unit(answers[ACCURACY]) == 0) & (
            draw.random(items) < scenario.by / (1 - truth[FLIPS])
        )
        answers[ACCURACY][flips, 0] = 1 - answers[ACCURACY][flips, 0]
    return answers


def find_aim(scenario: Scenario, answers: dict[str, np.ndarray]) -> Aim:
    """Plan for a scenario from a pilot."""
    rule, by = scenario.rule, scenario.by
    if rule.kind == SAME_ANSWERS:
        codes = answers[OPTION if rule.target == OPTION else ACCURACY]
        if np.isnan(by):  # 1 of 8 items exchanges its options
            sums = estimate_mean_power_sums_of_option_shares(count_item_answers_by_option(codes))
            by = compute_mean_and_variance_of_item_changes(sums, 4, 1.0, WORDINGS)[0] / 8
        unit = AnsweredUnit(Answers("s", False, [("m", "c")], codes[None]), 0, sampled=False)
        aims = list_same_answers_aims_of_unit(rule, unit, by, LEVEL)
    else:
        measure = ACCURACY if rule.target == FLIPS else rule.target
        study = Study("s", measure, True, False, [("m", "c")], np.ones(1), answers[measure][None], [])
        aims = list_not_worse_aims_of_unit(rule, PilotUnit(study, 0, rule.target), by, LEVEL)
    (aim,) = (aim for aim in aims if aim.goal.startswith(scenario.spread) or scenario.spread in aim.goal)
    return aim


def simulate_changes(
    studies: int, kinds: Sequence[str], sizes: Sequence[int], change: str, rule: str
) -> bool:  # fmt: skip
    """Print powers that the planning foresees, and those that are; tell whether they agree."""
    is_fine = True
    print("\nchange | rule | decided | model | items | foreseen | found | off")
    for kind in kinds:
        truth = find_truth(np.random.default_rng(1), kind)
        for scenario in list_scenarios():
            if change not in scenario.change or rule not in scenario.rule.name:
                continue
            draw = np.random.default_rng(7)
            aim = find_aim(scenario, ask(draw, draw_model(draw, PILOT), kind))
            assert aim.compute_power is not None, aim
            for items in sizes:
                n_decided = 0
                for _ in range(studies):
                    model = draw_model(draw, items)
                    before, now = ask(draw, model, kind), ask_changed(draw, model, kind, scenario, truth)
                    outcome = judge_change(scenario.rule, now, before)
                    p = outcome.p_broken if scenario.decided == BROKEN else outcome.p_holds
                    n_decided += p < LEVEL
                is_fine &= print_power(scenario.change, scenario.rule.name, scenario.decided, kind, items,
                                       aim.compute_power(items, WORDINGS), n_decided / studies, studies)  # fmt: skip
    return is_fine


def simulate_numbers(studies: int, kinds: Sequence[str], sizes: Sequence[int]) -> bool:
    """Do the same for rules on numbers, whose limit is as far from the true number as the change is."""
    is_fine = True
    for kind in kinds:
        truth = find_truth(np.random.default_rng(1), kind)
        for measure, by, at_least in ((ACCURACY, 0.03, True), (ACCURACY, -0.1, True), (FLIPS, 0.05, False)):
            draw, limit = np.random.default_rng(8), truth[measure] + (by if at_least else -by)
            answers = ask(draw, draw_model(draw, PILOT), kind)
            study = Study("s", ACCURACY, True, False, [("m", "c")], np.ones(1), answers[ACCURACY][None], [])
            pilot = replace(make_number_outcome(measure, np.zeros(1), limit, at_least=at_least), number=truth[measure])
            (aim,) = list_aims_of_number_rule([pilot], [PilotUnit(study, 0, measure)], LEVEL)
            assert aim.compute_power is not None, aim
            decided = BROKEN if by > 0 else HOLDS
            for items in sizes:
                n_decided = 0
                for _ in range(studies):
                    right = ask(draw, draw_model(draw, items), kind)[ACCURACY]
                    values = mark_flipped_items_of_unit(right) if measure == FLIPS else right.mean(axis=1)
                    outcome = make_number_outcome(measure, values, limit, at_least=at_least)
                    n_decided += (outcome.p_broken if by > 0 else outcome.p_holds) < LEVEL
                name = f"{measure} {'at least' if at_least else 'at most'} a limit"
                is_fine &= print_power(f"{abs(by):g} from the limit", name, decided, kind, items,
                                       aim.compute_power(items, WORDINGS), n_decided / studies, studies)  # fmt: skip
    return is_fine


def simulate_kurtosis(studies: int, sizes: Sequence[int]) -> bool:
    """Print how often the rule on kurtosis is broken; tell whether it seldom is where nothing changed."""
    is_fine = True
    print("\nscores | items with the same number now | items | kurtosis before, now | broken")
    kurtosis._MOST_DRAWS = 1_000  # p is below .025 where fewer than 20 of the first 800 differ by as much
    for name, draw_levels in (
        ("even", lambda draw, items: draw.random((items, 1))),
        ("skewed", lambda draw, items: draw.beta(1, 4, (items, 1))),
    ):  # fmt: skip
        for share in (0.0, *PILED):
            for items in sizes:
                draw = np.random.default_rng(items)

                def ask_scores(levels: np.ndarray, draw: np.random.Generator = draw) -> np.ndarray:
                    return np.clip(levels + draw.normal(0, 0.1, (len(levels), WORDINGS)), 0, 1)

                is_broken, numbers = [], []
                for _ in range(studies // 4 if share else studies):  # power needs fewer
                    levels = draw_levels(draw, items)
                    before, now = ask_scores(levels), ask_scores(levels)
                    now = np.where(draw.random((items, 1)) < share, np.median(before), now)
                    is_broken.append(kurtosis.judge_change_of_kurtosis_over_items(now, before).p_broken < LEVEL)
                    numbers.append([compute_kurtosis(side.mean(axis=1)) for side in (before, now)])
                told = ", ".join(f"{value:.2f}" for value in np.mean(numbers, axis=0))
                print(f"{name} | {share:g} | {items} | {told} | {np.mean(is_broken):.4f}", flush=True)
                is_fine &= bool(share or np.mean(is_broken) <= LEVEL + 2 * np.sqrt(LEVEL * (1 - LEVEL) / studies))
    return is_fine


def print_power(
    change: str, rule: str, decided: str, kind: str, items: int, foreseen: float, power: float, studies: int
) -> bool:
    """Print one power; tell whether it was foreseen."""
    print(f"{change} | {rule} | {decided} | {kind} | {items} | {foreseen:.3f} | {power:.3f} | {power - foreseen:+.3f}",
          flush=True)  # fmt: skip
    return bool(abs(power - foreseen) <= 0.05 + 2 * np.sqrt(max(power * (1 - power), 0.01) / studies))


def main() -> int:
    """Print both tables; return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--studies", type=int, default=2000)
    parser.add_argument("--years", type=int, default=2000)
    parser.add_argument("--only", choices=("alarms", "powers", "kurtosis"), default="")
    parser.add_argument("--kind", choices=KINDS, nargs="+", default=KINDS, help="of models")
    parser.add_argument("--items", type=int, nargs="+", default=SIZES, help="how many")
    parser.add_argument("--change", default="", help="of powers: only changes that hold this text")
    parser.add_argument("--rule", default="", help="of powers: only rules whose name holds this text")
    options = parser.parse_args()
    is_fine, (studies, kinds, sizes) = True, (options.studies, options.kind, options.items)
    if options.only in ("", "alarms"):
        is_fine &= simulate_alarms(studies, options.years, kinds, sizes)
    if options.only in ("", "powers"):
        is_fine &= simulate_changes(studies, kinds, sizes, options.change, options.rule)
        is_fine &= bool(options.change or options.rule) or simulate_numbers(studies, kinds, sizes)
    if options.only in ("", "kurtosis"):
        is_fine &= simulate_kurtosis(studies, sizes)
    return 0 if is_fine else 1


if __name__ == "__main__":
    sys.exit(main())
