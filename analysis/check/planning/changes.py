"""Plan for rules on a change: it holds if nothing changed, and is broken if answers are worse by more than allowed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from analysis.check.outcomes import LEVEL
from analysis.check.planning.aims import UNCHANGED, Aim, PilotUnit
from analysis.check.planning.powers import (
    EVERYWHERE,
    IN_WHOLE_ITEMS,
    compute_difference_power_in_shared_wordings,
    compute_power_of_mean_test,
    forecast_difference_of_degraded_model,
    forecast_mean_change_of_unchanged_model,
)
from analysis.check.rules import LIKE_THESE, Rule
from analysis.measures.reworded.flips import FLIP, FLIPS
from analysis.statistics.reliability.flips import build_flip_share_error_forecast
from analysis.statistics.reliability.forecast import MeanForecast
from analysis.statistics.reliability.panel import estimate_panel_mean
from analysis.statistics.reliability.planning import WORDINGS
from ground.errors import InputError


def list_not_worse_aims_of_unit(
    rule: Rule, unit: PilotUnit, change: float | None, broken_level: float
) -> Iterator[Aim]:
    """List the aims of "not worse by a margin": that nothing changed, and that answers are worse by a change.

    Parameters
    ----------
    rule
        The rule.
    unit
        What it is about.
    change
        The true change to find; None: twice the margin.
    broken_level
        One-sided level of "broken".

    Yields
    ------
    Aim
        One, and one for each way in which a change may spread.

    Raises
    ------
    InputError
        The measure has no range and the rule no margin, or the margin is all of the range, or the change is within it.
    """
    has_range = unit.measure == FLIPS or unit.study.bounds is not None
    margin = rule.choose_margin_of_measure(unit.measure, has_range=has_range)
    worse_by = 2 * margin if change is None else change
    if not worse_by > margin:
        raise InputError(
            f"--change {worse_by:g} is within the margin {margin:g} of rule {rule.name!r}: give a larger one"
        )
    fresh, labels = rule.wordings == LIKE_THESE and not unit.study.crossed, unit.study_model_condition_and_measure
    if fresh and unit.study.has_single_wording:
        why = "a pilot in one wording does not tell how far fresh ones move answers"
        yield Aim(rule, UNCHANGED, *labels, why_not=why)
        return
    if unit.measure == FLIPS:
        yield from _list_aims_of_flip_change(rule, unit, margin, worse_by, broken_level)
        return
    answers, crossed = unit.build_forecast_of_mean_error(), unit.study.crossed and rule.wordings == LIKE_THESE
    unchanged = forecast_mean_change_of_unchanged_model(answers, fresh=fresh)
    mean = float(estimate_panel_mean(unit.answers_with_worst_at_zero, unit.study.crossed).mean)

    def compute_power_if_unchanged(items: int, wordings: int) -> float:
        n_fewer = min(items, wordings) if crossed else items
        if not unchanged.inner > 0:  # all items are answered as before
            return float((1 - margin) ** n_fewer < LEVEL)
        if crossed and has_range:
            return compute_difference_power_in_shared_wordings(unchanged, 0.0, -margin, items, wordings, LEVEL)
        return compute_power_of_mean_test(unchanged, margin, items, wordings, LEVEL, crossed=False)

    if unchanged.inner > 0 or has_range:
        yield Aim(rule, UNCHANGED, *labels, unit.plannable_wording_counts, compute_power_if_unchanged)
    else:
        yield Aim(rule, UNCHANGED, *labels, why_not="without a range, the same answers to all items are no proof")
    for spread in (EVERYWHERE, IN_WHOLE_ITEMS):
        goal = f"is broken, if {unit.measure} is worse by {worse_by:g} {spread}"
        if has_range and mean <= worse_by:
            yield Aim(rule, goal, *labels, why_not=f"it cannot be worse by {worse_by:g}")
        elif not has_range and (spread == IN_WHOLE_ITEMS or not unchanged.inner > 0):
            if spread == EVERYWHERE:
                yield Aim(rule, goal, *labels, why_not="the pilot does not tell how differently items would change")
        else:

            def compute_power_if_changed(items: int, wordings: int, spread: str = spread) -> float:
                forecast = unchanged
                if has_range:
                    forecast = forecast_difference_of_degraded_model(
                        answers, mean, worse_by, wordings, fresh=fresh, spread=spread
                    )
                if crossed and has_range:
                    return compute_difference_power_in_shared_wordings(
                        forecast, -worse_by, -margin, items, wordings, broken_level
                    )
                if not crossed:
                    forecast = replace(forecast, shared=0.0)
                return compute_power_of_mean_test(
                    forecast, worse_by - margin, items, wordings, broken_level, crossed=crossed
                )

            yield Aim(rule, goal, *labels, unit.plannable_wording_counts, compute_power_if_changed)


def _list_aims_of_flip_change(
    rule: Rule, unit: PilotUnit, margin: float, worse_by: float, broken_level: float
) -> Iterator[Aim]:
    """Plan for a change of the share of items that flip, in fresh wordings or in the same."""
    labels = unit.study_model_condition_and_measure
    flips = build_flip_share_error_forecast(unit.study.values[unit.unit], FLIP)
    goal = f"is broken, if {worse_by:g} more of the items flip"
    if flips is None or unit.study.crossed:
        why = "no item of the pilot flips, or all do" if flips is None else "items share the wordings"
        for words in (UNCHANGED, goal):
            yield Aim(rule, words, *labels, why_not=f"{why}: it does not tell how far flips move")
        return
    fresh = rule.wordings == LIKE_THESE

    def forecast_flip_difference(wordings: int, more: float) -> MeanForecast:
        """Foresee the difference: items that did not flip do so by the same chance."""
        chances = flips.compute_flip_probabilities_on_share_grid(wordings)
        share = float(flips.weights @ chances)
        lost = more / (1 - share)
        now = chances + lost * (1 - chances)
        if not fresh:
            return MeanForecast(more - more**2, 0.0, 0.0)
        within = chances * (1 - chances) + now * (1 - now)
        between = float(flips.weights @ (1 - chances) ** 2) - (1 - share) ** 2
        return MeanForecast(float(flips.weights @ within) + lost**2 * between, 0.0, 0.0)

    def compute_power_if_unchanged(items: int, wordings: int) -> float:
        if not fresh:
            return float((1 - margin) ** items < LEVEL)
        return compute_power_of_mean_test(
            forecast_flip_difference(wordings, 0.0), margin, items, wordings, LEVEL, crossed=False
        )

    def compute_power_if_changed(items: int, wordings: int) -> float:
        if worse_by >= 1 - flips.predict_share_of_flipping_items(wordings):
            return 0.0
        forecast = forecast_flip_difference(wordings, worse_by)
        return compute_power_of_mean_test(forecast, worse_by - margin, items, wordings, broken_level, crossed=False)

    several = tuple(number for number in WORDINGS if number > 1)
    yield Aim(rule, UNCHANGED, *labels, several, compute_power_if_unchanged)
    yield Aim(rule, goal, *labels, several, compute_power_if_changed)
