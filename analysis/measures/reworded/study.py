"""Hold the answers of one study by one measure as arrays (units, items, wordings)."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt
import pandas as pd

from analysis.measures.thresholds import is_validity_below_half
from analysis.runs import Runs
from analysis.statistics.reliability.components import ModelComponents, estimate_model_variance_components
from analysis.statistics.reliability.panel import Panel, estimate_panel_mean
from analysis.statistics.reliability.sampling import (
    UNKNOWN_WORTH,
    SampleSpread,
    Worth,
    estimate_counted_answers_per_exact_sample,
    estimate_sampling_variance,
)
from analysis.statistics.resampling import Array

AGREEMENT, LOGIT, ACCURACY, SCORE = "agreement", "logit", "accuracy", "score"
RIGHT = "probability of the right answer"  # of choices after thoughts, beside accuracy
CROSSED, NESTED = "shared by all items", "own wordings of each item"
ONE, ONE_EACH = "one wording, shared by all items", "one wording of each item"
ORDERS_CROSSED, ORDERS_NESTED = "orders, shared by all items", "own orders of each item"
AVERAGED = "; mean over orders"  # behind one of the others
SAMPLES, THOUGHTS = "samples", "thoughts"  # what answers are means of


@dataclass(frozen=True)
class Study:
    """Hold the answers of one study by one measure.

    Attributes
    ----------
    name, measure
        Name of the study; `AGREEMENT`; its `LOGIT`, which 0 and 1 have none of; `ACCURACY`: 1 where the answer is
        right, else 0, or of several orders of the options the share of right ones; `RIGHT`: probability of the right
        option as a share of that of all, which has a component of thoughts, as 0 and 1 have not; `SCORE` on its
        scale, from 0, the lowest number, to 1, the highest; or the name of a measure of protocol `scored`, on its
        range or without one.
    headline
        Whether sentences are about this measure of the study: accuracy where a right answer is known.
    crossed
        Whether all items share the wordings.
    units
        (model, condition) of every unit, in the order of run.json.
    validity
        Of every unit, over all wordings; the lower bound, where not all of the probability was shown.
    values
        (units, items, wordings), NaN where there is no valid answer.
    wordings
        Names of the wordings where items share them; else empty.
    samples, spread
        Laid out as `values`: valid samples that an answer is the mean of, and their variance (n - 1), NaN where it is
        none; None where all are none.
    counting
        Laid out as `values`, of samples with exact probabilities, such as thoughts: what it would add to their variance
        to draw one answer from each and count these (`analysis.measures.thoughts`); None where there are none.
    thought_conditions
        Conditions whose samples are thoughts of the model.
    orders
        Whether the wordings are orders of the options.
    averaged
        Whether the answer to a wording is the mean over several orders of the options.
    has_range
        Whether answers lie within a range, which is 0 to 1 here; no logit does.
    range_text
        The range of scores, such as "1-5"; empty for a measure without one, and for other measures.
    lower_is_better
        Whether models with lower answers rank first.
    validities
        Laid out as `values`: how far each answer is valid, as `validity`; NaN where nothing was asked, and of a unit of
        which only bounds are known. None where all are valid.
    validity_at_most
        Of every unit, the upper bound of `validity`; NaN where this is exact. None where all are exact.
    items
        Ids of the items.
    """

    name: str
    measure: str
    headline: bool
    crossed: bool
    units: list[tuple[str, str]]
    validity: Array
    values: Array
    wordings: list[str]
    samples: Array | None = None
    spread: Array | None = None
    orders: bool = False
    averaged: bool = False
    counting: Array | None = None
    thought_conditions: frozenset[str] = frozenset()
    has_range: bool = True
    range_text: str = ""
    lower_is_better: bool = False
    validities: Array | None = None
    items: tuple[str, ...] = ()
    validity_at_most: Array | None = None

    def get_validity_upper_bound(self, unit: int) -> float:
        """Return the upper bound of a unit's validity; NaN where the validity is exact."""
        return np.nan if self.validity_at_most is None else float(self.validity_at_most[unit])

    @property
    def design(self) -> str:
        """Say whether items share the wordings, and what these are."""
        if self.has_single_wording:
            design = ONE if self.crossed else ONE_EACH
        elif self.orders:
            design = ORDERS_CROSSED if self.crossed else ORDERS_NESTED
        else:
            design = CROSSED if self.crossed else NESTED
        return design + AVERAGED * self.averaged

    @property
    def bounds(self) -> tuple[float, float] | None:
        """Return what answers lie within; None where they have no bounds."""
        return (0.0, 1.0) if self.has_range and self.measure != LOGIT else None

    def clip_difference_interval_at_bounds(self, ends: tuple[float, float]) -> tuple[float, float]:
        """Cut the interval of a difference at its bounds: by `t`, it may pass them, which no difference of means can.

        Parameters
        ----------
        ends
            Of the interval; NaN where there is none.

        Returns
        -------
        tuple of float
            The ends; unchanged where answers have no bounds.
        """
        if self.bounds is None:
            return ends
        width = self.bounds[1] - self.bounds[0]
        return float(np.clip(ends[0], -width, width)), float(np.clip(ends[1], -width, width))

    @cached_property
    def has_single_wording(self) -> bool:
        """Tell whether no unit has an item in two wordings."""
        is_known = ~np.isnan(self.values)
        return int((is_known.any(axis=1).sum(axis=1) if self.crossed else is_known.sum(axis=2)).max(initial=0)) < 2

    def orient_values_so_higher_is_better(self, values: Array) -> Array:
        """Return answers, means or differences with the other sign where lower answers are better; else unchanged."""
        return -values if self.lower_is_better else values

    def list_first_units_of_answering_models(self) -> list[int]:
        """List the units that are ranked: of every model that answers its first condition in run.json."""
        first: dict[str, int] = {}
        for place, (model, _) in enumerate(self.units):
            first.setdefault(model, place)
        return [place for place in first.values() if not is_validity_below_half(float(self.validity[place]))]

    def estimate_unit_sampling_spread(self, unit: int) -> SampleSpread | None:
        """Return what sampling adds to the answers of a unit; None where nothing was sampled, or too little."""
        if self.samples is None or self.spread is None:
            return None
        return estimate_sampling_variance(self.spread[unit], self.samples[unit])

    @property
    def rescaling_text(self) -> str:
        """Say how scores were scaled: " as a share of its range 1-5"; empty where answers are what was given."""
        return f" as a share of its range {self.range_text}" if self.range_text not in ("", "0-1") else ""

    def name_kind_of_unit_samples(self, unit: int) -> str:
        """Name what the answers of a unit are means of: thoughts, or samples; empty where nothing was sampled."""
        if self.samples is None or np.isnan(self.samples[unit]).all():
            return ""
        return THOUGHTS if self.units[unit][1] in self.thought_conditions else SAMPLES

    def estimate_counted_answers_per_exact_sample(self, unit: int) -> Worth:
        """Estimate how many counted answers a sample with exact probabilities is worth."""
        if self.counting is None or self.spread is None:
            return UNKNOWN_WORTH
        return estimate_counted_answers_per_exact_sample(self.spread[unit], self.counting[unit])

    def estimate_mean_and_components(self, unit: int) -> Panel:
        """Estimate the mean of a unit's answers and its variance components over items and wordings; return a
        `Panel`."""
        return self.estimate_mean_and_components_of_answers(self.values[unit], self.estimate_unit_sampling_spread(unit))

    def estimate_mean_and_components_of_answers(
        self, answers: Array, sample_spread: SampleSpread | None = None
    ) -> Panel:
        """Estimate the mean of some answers of a unit (items, wordings), as `estimate_mean_and_components` does."""
        # Without bounds, 0 and 1 are numbers like any others: another study may have more.
        share = True if self.measure == ACCURACY else None if self.bounds else False
        return estimate_panel_mean(
            answers, self.crossed, sample_spread, is_share=share, is_bounded=self.bounds is not None,
            corrects_skewness=True,
        )  # fmt: skip

    def estimate_mean_difference(self, a: int, b: int) -> Panel:
        """Estimate the mean of unit a less that of unit b; without a range, its interval heeds how skewed items are."""
        return estimate_panel_mean(
            self.values[a] - self.values[b], self.crossed, is_share=False, corrects_skewness=not self.has_range
        )

    def select_units_of_conditions(self, conditions: Collection[str]) -> Study:
        """Keep the units of some conditions."""
        unit_places = [place for place, (_, condition) in enumerate(self.units) if condition in conditions]
        return replace(
            self, units=[self.units[place] for place in unit_places], validity=self.validity[unit_places],
            values=self.values[unit_places],
            samples=None if self.samples is None else self.samples[unit_places],
            spread=None if self.spread is None else self.spread[unit_places],
            counting=None if self.counting is None else self.counting[unit_places],
            validities=None if self.validities is None else self.validities[unit_places],
            validity_at_most=None if self.validity_at_most is None else self.validity_at_most[unit_places],
        )  # fmt: skip


def estimate_components_across_models(study: Study) -> ModelComponents | None:
    """Estimate the components over the models that are ranked; None for fewer than two."""
    ranked_units = study.list_first_units_of_answering_models()
    if len(ranked_units) < 2:
        return None
    noise = [sampling.noise_variance for sampling in map(study.estimate_unit_sampling_spread, ranked_units) if sampling]
    return estimate_model_variance_components(
        study.values[ranked_units], study.crossed, float(np.sum(noise)) / len(ranked_units)
    )


class AnswerMeans:
    """Average answers by their place in an array (units, items, wordings), given some at a time.

    Parameters
    ----------
    shape
        Number of units, items and wordings.
    """

    def __init__(self, shape: tuple[int, int, int]) -> None:
        self._shape = shape
        self._sums: Array | None = None  # made with the first answer: many studies have none by some measure
        self._numbers: npt.NDArray[np.int32] | None = None

    def add_answers(self, places: npt.NDArray[np.intp], answers: Array) -> None:
        """Add answers, NaN for none; a place of 2 units, 3 items and 4 wordings is unit * 12 + item * 4 + wording."""
        has_answer = ~np.isnan(answers)
        if not has_answer.any():
            return
        if self._sums is None or self._numbers is None:
            size = int(np.prod(self._shape))
            self._sums, self._numbers = np.zeros(size), np.zeros(size, np.int32)
        np.add.at(self._sums, places[has_answer], answers[has_answer])
        np.add.at(self._numbers, places[has_answer], 1)

    def average(self) -> Array | None:
        """Return the means (units, items, wordings), NaN where there is no answer; None without any. Called once."""
        if self._sums is None or self._numbers is None:
            return None
        with np.errstate(invalid="ignore"):
            np.divide(self._sums, self._numbers, out=self._sums)
        return self._sums.reshape(self._shape)


def average_answers_into_array(rows: pd.DataFrame, column: str, shape: tuple[int, int, int]) -> Array:
    """Lay answers out as an array.

    Parameters
    ----------
    rows
        Columns unit, item and wording: places from 0 on; and the answers.
    column
        Column of the answers.
    shape
        Number of units, items and wordings.

    Returns
    -------
    (units, items, wordings): the mean of the answers that share a place, NaN where there is none.
    """
    has_value = rows[column].notna().to_numpy()
    unit, item, wording, numbers = (rows[name].to_numpy()[has_value] for name in ("unit", "item", "wording", column))
    # Of 2 units, 3 items and 4 wordings, unit 1, item 2, wording 3 has the last place: 1 * 12 + 2 * 4 + 3 = 23.
    place: npt.NDArray[np.int64] = np.ravel_multi_index((unit, item, wording), shape)
    size = int(np.prod(shape))
    sums = np.bincount(place, numbers.astype(float), size)
    with np.errstate(invalid="ignore"):
        return np.asarray(sums / np.bincount(place, minlength=size)).reshape(shape)


def has_item_in_several_wordings(runs: Runs, study_names: list[str], *, count_original: bool = False) -> bool:
    """Tell whether an item of these studies has two wordings.

    Parameters
    ----------
    runs
        From `analysis.runs.open_runs`.
    study_names
        Names of the studies.
    count_original
        Whether the original counts as one of the wordings.

    Returns
    -------
    Whether there is such an item; orders of the choices count as wordings.
    """
    (number,) = runs.execute(
        "SELECT count(*) FROM (SELECT study, item FROM stimuli WHERE study IN (SELECT unnest(?)) "
        "AND (pattern <> 'original' OR ?) GROUP BY study, item HAVING count(*) > 1)", [study_names, count_original],
    ).fetchone()  # fmt: skip
    return bool(number)
