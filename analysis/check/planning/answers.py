"""Plan for rules on the answers themselves: as many are the same as before.

In the same wordings, an item counts by its share of answers that are as before. In fresh ones, by its change d
(`analysis.check.same_answers`): with shares p of its options at both times, its variance over K wordings at each time
is

    T / (K (K - 1)) + T / K^2,    T = sum p^2 - 2 sum p^3 + (sum p^2)^2,

the trace of the squared covariance matrix of an answer: what is linear in the shares cancels out. The pilot estimates
each sum without bias, by pairs, triples and pairs of pairs of its wordings. An item that changes exchanges its options,
each for any other: with m options, its d is D = sum p^2 - (1 - sum p^2) / (m - 1), and beside the variance above has
2 F / K, with F that of what an answer moves it by: if the shares before and now do not overlap, sum p^3 - (sum p^2)^2,
and of two options, which always do, 4 v (1 - 4 v) with v = (1 - sum p^2) / 2.

The test is by t and by the binomial distribution (`judge_share_at_least`): the power is the mean over places that the
estimated share is equally likely to be at.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import ndtri, stdtr

from analysis.check.answers import Answers, read_answers
from analysis.check.judged_means import judge_share_at_least
from analysis.check.outcomes import LEVEL
from analysis.check.planning.aims import UNCHANGED, Aim, is_about
from analysis.check.planning.powers import EVERYWHERE, IN_WHOLE_ITEMS, PLACES, compute_share_power
from analysis.check.rules import LIKE_THESE, Rule
from analysis.reporting.catalogue.rewordings import read_reworded_studies
from analysis.statistics.reliability.planning import WORDINGS
from analysis.statistics.resampling import Array
from ground.errors import InputError

if TYPE_CHECKING:
    from analysis.runs import Runs

SAME = "same answers"
LEAST_WORDINGS = 4  # of an item, for two pairs that share none


@dataclass(frozen=True, slots=True)
class AnsweredUnit:
    """Hold one model and condition of a pilot by its answers, and whether these are from samples."""

    answers: Answers
    place: int
    sampled: bool

    @property
    def labels(self) -> tuple[str, str, str, str]:
        """Return study, model, condition, and what stands for the measure."""
        return self.answers.study, *self.answers.units[self.place], SAME


def list_answered_units(rule: Rule, pilot: Runs) -> list[AnsweredUnit]:
    """List the models and conditions whose answers a rule is about.

    Parameters
    ----------
    rule
        The rule.
    pilot
        The run.

    Returns
    -------
    list of AnsweredUnit

    Raises
    ------
    InputError
        There are none.
    """
    sampled_units = {
        (study.name, *study.units[unit])
        for study in read_reworded_studies(pilot)
        for unit in range(len(study.units))
        if study.name_unit_samples(unit)
    }
    units = [
        AnsweredUnit(answers, place, (answers.study, model, condition) in sampled_units)
        for answers in read_answers(pilot).values()
        for place, (model, condition) in enumerate(answers.units)
        if is_about(rule, answers.study, model, condition)
    ]
    if not units:
        raise InputError(
            f"rule {rule.name!r}: the pilot has no answers of what it is about; scores without a range are none"
        )
    return units


def list_same_answer_aims(rule: Rule, unit: AnsweredUnit, change: float | None, broken_level: float) -> Iterator[Aim]:
    """List the aims of "same answers as before": that nothing changed, and that more did than the rule allows.

    Parameters
    ----------
    rule
        The rule.
    unit
        What it is about.
    change
        Share of the answers that change; None: twice what the rule allows.
    broken_level
        One-sided level of "broken".

    Yields
    ------
    Aim
    """
    differs = 2 * (1 - rule.at_least) if change is None else change
    goals = [f"is broken, if {differs:.3g} of the answers change {spread}" for spread in (EVERYWHERE, IN_WHOLE_ITEMS)]
    if not 1 - rule.at_least < differs <= 1:
        yield Aim(rule, goals[0], *unit.labels, why_not=f"a change of {differs:.3g} is within what the rule allows")
        return
    if rule.wordings == LIKE_THESE and not unit.answers.crossed:
        yield from _aim_at_distance(rule, unit, differs, broken_level)
        return
    codes = unit.answers.codes[unit.place]
    planned = WORDINGS if int((~np.isnan(codes)).sum(axis=1).max(initial=0)) > 1 else (1,)
    if unit.sampled:
        yield Aim(rule, UNCHANGED, *unit.labels, why_not="the pilot does not tell how often samples change an answer")
    else:

        def compute_unchanged_power(items: int, _: int) -> float:
            return float(rule.at_least**items < LEVEL)

        yield Aim(rule, UNCHANGED, *unit.labels, planned, compute_unchanged_power)
    for goal, is_whole in zip(goals, (False, True), strict=True):

        def compute_change_power(items: int, wordings: int, is_whole: bool = is_whole) -> float:
            ratio = 1.0 if is_whole else 1 / wordings
            return compute_share_power(1 - differs, rule.at_least, ratio, items, broken_level)

        yield Aim(rule, goal, *unit.labels, planned, compute_change_power)


def _aim_at_distance(rule: Rule, unit: AnsweredUnit, differs: float, broken_level: float) -> Iterator[Aim]:
    """Plan for answers in fresh wordings: how far the shares of answers are apart."""
    goal = f"is broken, if {differs:.3g} of the answers change {IN_WHOLE_ITEMS}"
    # One order of the options: a wording in several is no several wordings, so this plans too many rather than too few.
    codes = unit.answers.codes[unit.place][:, :: unit.answers.n_orders]
    sums = estimate_share_sums(codes)
    if np.isnan(sums).any():
        for words in (UNCHANGED, goal):
            yield Aim(rule, words, *unit.labels, why_not="it takes two items with four wordings each to tell how far "
                      "fresh ones move answers")  # fmt: skip
        return
    n_options = max(len(np.unique(codes[~np.isnan(codes)])), 2)
    several = tuple(number for number in WORDINGS if number > 1)
    most, _ = describe_changes(sums, n_options, 1.0, 2)

    def compute_unchanged_power(items: int, wordings: int) -> float:
        return compute_change_test_power(sums, n_options, 0.0, wordings, rule.at_least, items, LEVEL)

    def compute_change_power(items: int, wordings: int) -> float:
        return compute_change_test_power(sums, n_options, differs, wordings, rule.at_least, items, broken_level)

    yield Aim(rule, UNCHANGED, *unit.labels, several, compute_unchanged_power)
    if differs < most:
        yield Aim(rule, goal, *unit.labels, several, compute_change_power)
    else:
        yield Aim(rule, goal, *unit.labels, why_not=f"items that change differ by {max(most, 0):.2g} at most")


def estimate_share_sums(codes: Array) -> tuple[float, float, float]:
    """Estimate sum p^2, sum p^3 and (sum p^2)^2 of the options of an item, as means over items, without bias.

    Parameters
    ----------
    codes
        Numbers of options (items, wordings), NaN where there is no valid answer.

    Returns
    -------
    tuple of three floats
        NaN for fewer than two items with four answers.
    """
    options = np.unique(codes[~np.isnan(codes)])
    counts = np.stack([(codes == option).sum(axis=1) for option in options], axis=-1).astype(float)
    counts = counts[counts.sum(axis=1) >= LEAST_WORDINGS]
    if len(counts) < 2:
        return np.nan, np.nan, np.nan
    n = counts.sum(axis=1)
    pairs = counts * (counts - 1)
    triples, quadruples = pairs * (counts - 2), pairs * (counts - 2) * (counts - 3)
    two = pairs.sum(axis=1)
    two_pairs = two**2 - (pairs**2).sum(axis=1) + quadruples.sum(axis=1)
    squares = two / (n * (n - 1))
    cubes = triples.sum(axis=1) / (n * (n - 1) * (n - 2))
    return (
        float(squares.mean()), float(cubes.mean()), float((two_pairs / (n * (n - 1) * (n - 2) * (n - 3))).mean())
    )  # fmt: skip


def describe_changes(
    sums: tuple[float, float, float], n_options: int, changed: float, wordings: int
) -> tuple[float, float]:
    """Describe the estimated changes of items, of which a share changes, as the module's docstring derives.

    Parameters
    ----------
    sums
        From `estimate_share_sums`.
    n_options
        Of an item.
    changed
        Share of the items that change.
    wordings
        Of each item, at each time.

    Returns
    -------
    tuple of two floats
        Mean and variance over items.
    """
    squares, cubes, squared = sums
    trace = max(squares - 2 * cubes + squared, 0.0)
    noise = trace / (wordings * (wordings - 1)) + trace / wordings**2
    others = n_options - 1
    # D = a S - b, with S = sum p^2: its mean, and the mean of its square.
    a, b = 1 + 1 / others, 1 / others
    distance, square = a * squares - b, a**2 * squared - 2 * a * b * squares + b**2
    # Of two options 4 v (1 - 4 v), with 2 v = 1 - S.
    linear = 2 * (1 - squares) - 4 * (1 - 2 * squares + squared) if n_options == 2 else cubes - squared
    mean = changed * distance
    return mean, noise + changed * (square + 2 * max(linear, 0.0) / wordings) - mean**2


def compute_change_test_power(
    sums: tuple[float, float, float], n_options: int, differs: float, wordings: int, limit: float, n_items: int,
    level: float,
) -> float:  # fmt: skip
    """Return how probable the test of changes tells a share from a limit, on the side on which it is.

    Parameters
    ----------
    sums, n_options, wordings
        As in `describe_changes`.
    differs
        The true share of answers that are other ones.
    limit
        What the share of the same answers is compared with.
    n_items
        How many items.
    level
        One-sided.

    Returns
    -------
    float
    """
    distance_of_one, _ = describe_changes(sums, n_options, 1.0, wordings)
    _, variance = describe_changes(sums, n_options, differs / distance_of_one, wordings)
    estimates = 1 - differs + np.sqrt(variance / n_items) * ndtri((np.arange(PLACES) + 0.5) / PLACES)
    n_decided = 0
    for estimate in estimates:
        # Where fewer items changed by chance, their changes vary less, too.
        changed = min(max((1 - estimate) / distance_of_one, 0.0), 1.0)
        error = float(np.sqrt(describe_changes(sums, n_options, changed, wordings)[1] / n_items))
        inside = estimate * (1 - estimate)
        effective = min(inside / error**2, n_items) if inside > 0 and error > 0 else float(n_items)
        p_broken, p_holds = judge_share_at_least(estimate, effective, limit)
        is_broken = 1 - differs < limit
        p = p_broken if is_broken else p_holds
        if error > 0:
            distance = (limit - estimate if is_broken else estimate - limit) / error
            p = max(p, float(stdtr(n_items - 1, -distance)))
        n_decided += p < level
    return n_decided / PLACES
