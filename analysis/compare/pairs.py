"""Pair what two sides have in common: measures, models and conditions, and their answers to the same wordings.

Beside the measures of the studies there are two more. *Flips*, where items have several wordings: whether more than
`FLIP` of an item's wordings are answered in the other way than the rest. *Validity*: how far answers are valid, of all
that was asked; by the other measures, only answers count that are valid on both sides. Where all are valid it is no
measure: there is nothing to find, and Holm's correction is not to pay for it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from analysis.compare.pairing import PairedRuns, find_side_of_model, read_model_and_condition_without_side
from analysis.compare.settings import describe_differing_settings, map_differing_settings_to_values
from analysis.measures.reworded import ACCURACY, AGREEMENT, LOGIT, Study
from analysis.measures.reworded.flips import FLIPS, mark_flipped_items_of_unit
from analysis.reporting.catalogue.rewordings import list_reasons_protocols_are_not_compared, read_reworded_studies
from analysis.reporting.words.doubts import READING, WRONG, Caution
from analysis.statistics.resampling import Array
from analysis.statistics.significance import ROUNDING
from ground.errors import InputError, format_nearest_name_hint, join_first_names

VALIDITY = "validity"
ARITHMETIC = {LOGIT: 1e-4}
"""Differences up to these, of other answers from 0 to 1 up to 1e-5, are none: float32 differs by as much by batch."""


@dataclass(frozen=True, slots=True)
class Chosen:
    """Hold what the call asks for; empty where it leaves it open."""

    measures: Sequence[str] = ()
    models: tuple[str, str] = ("", "")
    conditions: tuple[str, str] = ("", "")
    margin: float | None = None


@dataclass(frozen=True, slots=True)
class Pair:
    """Hold the answers of two units to the same items by one measure.

    Attributes
    ----------
    studies, units
        Of A and of B: the answers, and the place of the unit in them.
    measure
        Name of the measure.
    answers
        Of A and of B: (items, wordings), NaN where either has no valid answer.
    crossed
        Whether the wordings in these places are shared by all items.
    knows_wordings
        Whether the answers tell how far other wordings would move the difference.
    """

    studies: tuple[Study, Study]
    units: tuple[int, int]
    measure: str
    answers: tuple[Array, Array]
    crossed: bool
    knows_wordings: bool

    @property
    def unit_names(self) -> list[tuple[str, str]]:
        """Return model and condition of A and of B, as run.json of their side has them."""
        units = [study.units[unit] for study, unit in zip(self.studies, self.units, strict=True)]
        return list(map(read_model_and_condition_without_side, units))


def iterate_unit_pairs_to_compare(paired: PairedRuns, chosen: Chosen) -> Iterator[Pair]:
    """List what is compared.

    Parameters
    ----------
    paired
        From `pairing.pair_studies_of_two_run_sets`; what is not shared is added to its notes.
    chosen
        What the call asks for; its measures are not looked at.

    Yields
    ------
    Pair
        A pair for every measure of every pair of models and conditions.

    Raises
    ------
    InputError
        A model or condition that the call asks for is not there.
    """
    matched_studies = [list(_iterate_studies_of_same_measure(*runs, paired)) for runs in paired.pairs]
    _refuse_unknown_names([pair for studies in matched_studies for pair in studies], chosen)
    for (runs_a, runs_b), studies in zip(paired.pairs, matched_studies, strict=True):
        protocols = {fields["protocol"] for fields in runs_a.info["studies"].values()}
        paired.notes.extend(
            note for note in list_reasons_protocols_are_not_compared(protocols) if note not in paired.notes
        )
        validity_pairs: dict[object, list[Pair]] = {}  # of each two units once: measures are of the same answers
        for study_a, study_b in studies:
            for unit_a, unit_b in _iterate_unit_places_to_compare(study_a, study_b, chosen, paired):
                _note_differing_settings(
                    (runs_a, runs_b), study_a, study_b.units[unit_b], study_a.units[unit_a], paired
                )
                _note_rescaling_of_measure(study_a, chosen, paired)
                yield from _yield_pair_by_measure_and_flips(study_a, study_b, unit_a, unit_b)
                units = study_a.name, study_a.units[unit_a], study_b.units[unit_b]
                if units not in validity_pairs:
                    validity_pairs[units] = list(_iterate_validity_pair(study_a, study_b, unit_a, unit_b))
        for pairs in validity_pairs.values():
            yield from pairs


def _refuse_unknown_names(matched_studies: Sequence[tuple[Study, Study]], chosen: Chosen) -> None:
    """Raise InputError where the call asks for a model or condition that no measure of its side has."""
    for noun, place, wanted in (("model", 0, chosen.models), ("condition", 1, chosen.conditions)):
        for side, name, studies in zip("ab", wanted, zip(*matched_studies, strict=True), strict=False):
            units = [unit for study in studies for unit in map_side_units_to_study_places(study, side.upper())]
            names = list(dict.fromkeys(unit[place] for unit in units))
            if name and name not in names:
                raise InputError(
                    f"--{noun}-{side} {name!r}{format_nearest_name_hint(name, names)}; known: "
                    f"{', '.join(names) or 'none'}"
                )


def _note_differing_settings(
    runs: tuple[Any, Any], study: Study, unit_b: tuple[str, str], unit_a: tuple[str, str], paired: PairedRuns
) -> None:
    """Note settings that differ, of what has the same name on both sides: by other names, they are expected to."""
    settings = map_differing_settings_to_values(*runs, (unit_a, unit_b), study.name)
    model, condition = read_model_and_condition_without_side(unit_a)
    if settings and (model, condition) == read_model_and_condition_without_side(unit_b):
        line = f"{model} ({condition}) in {study.name}: {describe_differing_settings(settings, paired.side_names)}"
        paired.notes.extend([Caution(line, WRONG)] if line not in paired.notes else [])


def _note_rescaling_of_measure(study: Study, chosen: Chosen, paired: PairedRuns) -> None:
    """Note once that a measure counts as a share of its range, where the call asks for it."""
    line = f"study {study.name}: {study.measure} counts{study.rescaling_text}"
    if study.rescaling_text and study.measure in (chosen.measures or [study.measure]) and line not in paired.notes:
        paired.notes.append(Caution(line, READING))


def _iterate_studies_of_same_measure(runs_a: Any, runs_b: Any, paired: PairedRuns) -> Iterator[tuple[Study, Study]]:
    """Yield the studies of both sides by the same measure; note a measure that one side lacks."""
    studies_a, studies_b = (
        {(study.name, study.measure): study for study in read_reworded_studies(runs)} for runs in (runs_a, runs_b)
    )
    for name, measure in dict.fromkeys([*studies_a, *studies_b]):
        study, other = studies_a.get((name, measure)), studies_b.get((name, measure))
        if study is None or other is None:
            paired.notes.append(f"study {name}: only {paired.side_names[study is None]} has the measure {measure}")
        elif study.lower_is_better == other.lower_is_better and study.has_range == other.has_range:
            yield study, other
        else:
            sides = " and ".join(paired.side_names)
            paired.notes.append(f"study {name}: measure {measure} is not the same in {sides}: not compared")


def map_side_units_to_study_places(study: Study, side: str) -> dict[tuple[str, str], int]:
    """Find the units of one side: (model, condition), without the side -> its place in the study.

    Parameters
    ----------
    study
        Of both sides.
    side
        One of `SIDES`.

    Returns
    -------
    dict
        (model, condition) -> index into `study.units`.
    """
    return {
        read_model_and_condition_without_side(unit): place
        for place, unit in enumerate(study.units)
        if find_side_of_model(unit[0]) == side
    }


def _iterate_unit_places_to_compare(
    study_a: Study, study_b: Study, chosen: Chosen, paired: PairedRuns
) -> Iterator[tuple[int, int]]:
    """Yield the places of units that are compared: models and conditions that the call or their names pair."""
    places = [map_side_units_to_study_places(study_a, "A"), map_side_units_to_study_places(study_b, "B")]
    for place, label in enumerate(paired.side_names):
        if not places[1 - place]:
            paired.notes.append(f"study {study_a.name}: only {label} has the measure {study_a.measure}")
            return
    names = [list(dict.fromkeys(model for model, _ in side)) for side in places]
    for model_a, model_b in _pair_names_of_both_sides(names, chosen.models, "model", paired):
        conditions = [
            [condition for name, condition in side if name == model]
            for side, model in zip(places, (model_a, model_b), strict=True)
        ]
        for pair in _pair_names_of_both_sides(conditions, chosen.conditions, "condition", paired):
            yield places[0][model_a, pair[0]], places[1][model_b, pair[1]]


def _pair_names_of_both_sides(
    names: Sequence[Sequence[str]], wanted: tuple[str, str], noun: str, paired: PairedRuns
) -> list[tuple[str, str]]:
    """Pair the names of both sides: the only one of each, else equal ones; or those that the call asks for."""
    if any(name and name not in side_names for name, side_names in zip(wanted, names, strict=True)):
        return []  # another measure has it
    kept = [[name] if name else list(side_names) for name, side_names in zip(wanted, names, strict=True)]
    if len(kept[0]) == len(kept[1]) == 1:
        return [(kept[0][0], kept[1][0])]
    for place, label in enumerate(paired.side_names):
        alone = [name for name in kept[place] if name not in kept[1 - place]]
        if alone:
            line = f"only {label} has the {noun} {join_first_names(alone, 3)}"
            paired.notes.extend([line] if line not in paired.notes else [])
    return [(name, name) for name in kept[0] if name in kept[1]]


def _yield_pair_by_measure_and_flips(study_a: Study, study_b: Study, unit_a: int, unit_b: int) -> Iterator[Pair]:
    """Yield a pair by its own measure, and the headline measure of answers of two kinds by flips, too."""
    pair = _build_pair_of_units(
        study_a, study_b, unit_a, unit_b, study_a.values[unit_a], study_b.values[unit_b],
        has_same_wordings=study_a is study_b,
    )  # fmt: skip
    yield pair
    if not (study_a.headline and study_a.measure in (AGREEMENT, ACCURACY)):
        return
    a, b = pair.answers
    if study_a is not study_b:  # an item of which one side has more wordings flips more easily there
        a, b = study_a.values[unit_a], study_b.values[unit_b]
        has_as_many = (~np.isnan(a)).sum(axis=1, keepdims=True) == (~np.isnan(b)).sum(axis=1, keepdims=True)
        a, b = np.where(has_as_many, a, np.nan), np.where(has_as_many, b, np.nan)
    flips = mark_flipped_items_of_unit(a)[:, None], mark_flipped_items_of_unit(b)[:, None]
    if not np.isnan(flips[0]).all():
        yield Pair(pair.studies, pair.units, FLIPS, _keep_common_answers(*flips), False, not study_a.crossed)


def _build_pair_of_units(
    study_a: Study, study_b: Study, unit_a: int, unit_b: int, a: Array, b: Array, *, has_same_wordings: bool
) -> Pair:
    """Pair the answers of two units (items, wordings) by the measure of their studies."""
    studies, units = (study_a, study_b), (unit_a, unit_b)
    if not has_same_wordings:
        means = _average_answers_over_wordings(a)[:, None], _average_answers_over_wordings(b)[:, None]
        common_means = remove_arithmetic_differences(study_a, *_keep_common_answers(*means))
        return Pair(studies, units, study_a.measure, common_means, False, not study_a.crossed)
    a, b = remove_arithmetic_differences(study_a, *_keep_common_answers(a, b))
    has_several = int((~np.isnan(a)).sum(axis=1).max(initial=0)) > 1
    return Pair(studies, units, study_a.measure, (a, b), study_a.crossed, has_several)


def _iterate_validity_pair(study_a: Study, study_b: Study, unit_a: int, unit_b: int) -> Iterator[Pair]:
    """Yield how far the answers of two units are valid; nothing where all are, or where that is not known."""
    a, b = read_validities_of_unit(study_a, unit_a), read_validities_of_unit(study_b, unit_b)
    if a is None or b is None:
        return
    about_a, about_b = (
        replace(study, measure=VALIDITY, headline=False, has_range=True, lower_is_better=False)
        for study in (study_a, study_b)
    )
    pair = _build_pair_of_units(about_a, about_b, unit_a, unit_b, a, b, has_same_wordings=study_a is study_b)
    if any((side < 1 - ROUNDING).any() for side in pair.answers):
        yield pair


def read_validities_of_unit(study: Study, unit: int) -> Array | None:
    """Return how far the answers of a unit are valid.

    Parameters
    ----------
    study
        The answers.
    unit
        Its place in them.

    Returns
    -------
    array or None
        (items, wordings); None where that is not known.
    """
    if study.validities is not None:
        return study.validities[unit]
    return np.where(np.isnan(study.values[unit]), np.nan, 1.0) if study.validity[unit] == 1 else None


def _keep_common_answers(a: Array, b: Array) -> tuple[Array, Array]:
    """Keep the answers in places where both sides have one; NaN elsewhere."""
    is_common = ~np.isnan(a) & ~np.isnan(b)
    return np.where(is_common, a, np.nan), np.where(is_common, b, np.nan)


def remove_arithmetic_differences(study: Study, a: Array, b: Array) -> tuple[Array, Array]:
    """Return the answers of A and of B, those of B as A has them where arithmetic alone may part them.

    Parameters
    ----------
    study
        What the answers measure: of scores without a range, or on another one than 0 to 1, all differences count.
    a, b
        Answers in the same places, NaN where there is none.

    Returns
    -------
    Answers of A, and of B.
    """
    largest = ARITHMETIC.get(study.measure, 1e-5 if study.bounds and not study.rescaling_text else 0.0)
    return a, np.where(np.abs(a - b) <= largest, a, b)


def _average_answers_over_wordings(answers: Array) -> Array:
    """Average the answers (items, wordings) of every item; NaN where it has none."""
    numbers = (~np.isnan(answers)).sum(axis=1)
    return np.divide(np.nansum(answers, axis=1), numbers, out=np.full(len(answers), np.nan), where=numbers > 0)
