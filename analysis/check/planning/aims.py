"""Say for every number of a rule what it may be decided as, and the power with which more items and wordings do it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from analysis.check.rules import Rule
from analysis.compare.pairs import VALIDITY
from analysis.measures.reworded import ACCURACY, AGREEMENT, Study
from analysis.measures.reworded.flips import FLIPS
from analysis.reporting.catalogue.rewordings import read_reworded_studies
from analysis.runs import Runs
from analysis.statistics.reliability.forecast import MeanForecast, build_mean_error_forecast
from analysis.statistics.reliability.planning import WORDINGS
from analysis.statistics.resampling import Array
from ground.errors import InputError, format_nearest_name_hint

UNCHANGED = "holds, if nothing changed"
Power = Callable[[int, int], float]  # from items and wordings


@dataclass(frozen=True, slots=True)
class Aim:
    """Say what one number of a rule is to be decided as, and with what power that many items and wordings do.

    Attributes
    ----------
    rule
        The rule.
    goal
        In words: what is decided, if what is true.
    study, model, condition, measure
        What the number is of.
    wordings
        Numbers of wordings of each item that the pilot tells of; 0: as many as it has.
    compute_power
        The power; None where the pilot does not tell.
    why_not
        Why it does not.
    """

    rule: Rule
    goal: str
    study: str
    model: str
    condition: str
    measure: str
    wordings: tuple[int, ...] = ()
    compute_power: Power | None = None
    why_not: str = ""


@dataclass(frozen=True, slots=True)
class PilotUnit:
    """Hold one model and condition of a pilot by one measure.

    Attributes
    ----------
    study, unit
        The answers, and the place of the unit in them.
    measure
        Its name; `FLIPS` or `VALIDITY` beside the study's own.
    """

    study: Study
    unit: int
    measure: str

    @property
    def study_model_condition_and_measure(self) -> tuple[str, str, str, str]:
        """Return study, model, condition and measure."""
        return self.study.name, *self.study.units[self.unit], self.measure

    @property
    def answers_with_worst_at_zero(self) -> Array:
        """Return the answers, turned so that 0 is the worst where they have a range."""
        answers = self.study.values[self.unit]
        if not self.study.lower_is_better:
            return answers
        return 1 - answers if self.study.bounds else -answers

    @property
    def plannable_wording_counts(self) -> tuple[int, ...]:
        """Return the numbers of wordings that can be planned: one where the pilot has one."""
        if self.study.has_single_wording or not np.isfinite(self.build_forecast_of_mean_error().inner):
            return (1,)
        return WORDINGS

    def build_forecast_of_mean_error(self) -> MeanForecast:
        """Foresee the error of the mean of the turned answers."""
        return build_mean_error_forecast(
            self.answers_with_worst_at_zero, self.study.crossed, self.study.estimate_unit_sampling_spread(self.unit)
        )


def list_all_pilot_units(pilot: Runs) -> list[PilotUnit]:
    """List every model and condition of a pilot by every measure of wordings that it has."""
    units = []
    for study in read_reworded_studies(pilot):
        has_flips = study.headline and study.measure in (AGREEMENT, ACCURACY) and not study.has_single_wording
        for measure in (study.measure, *((FLIPS,) if has_flips else ())):
            units += [PilotUnit(study, place, measure) for place in range(len(study.units))]
    return units


def list_pilot_units_of_rule(rule: Rule, pilot: Runs) -> list[PilotUnit]:
    """List the models and conditions that a rule is about, by its measure.

    Parameters
    ----------
    rule
        On a change: by the measure that it names, else by the headline of each study.
    pilot
        The run.

    Returns
    -------
    list of PilotUnit

    Raises
    ------
    InputError
        There are none.
    """
    units = list_all_pilot_units(pilot)
    if rule.target == VALIDITY:
        units = [replace(unit, measure=VALIDITY) for unit in units if unit.study.headline and unit.measure != FLIPS]
    kept_units = [
        unit
        for unit in units
        if rule.is_about_unit(*unit.study_model_condition_and_measure[:3])
        and (unit.measure == rule.target if rule.target else unit.study.headline and unit.measure != FLIPS)
    ]
    if not kept_units:
        measures = dict.fromkeys(unit.measure for unit in units)
        raise InputError(
            f"rule {rule.name!r}: the pilot has nothing that it is about"
            f"{format_nearest_name_hint(rule.target, measures) if rule.target else ''}; measures here: "
            f"{', '.join(measures) or 'none'}"
        )
    return kept_units
