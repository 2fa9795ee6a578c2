"""Test what models answered by a measure: agreement, accuracy, scores, flips, and how far answers are valid.

The measures are those that `waver compare` knows, of one unit: a model under a condition. Of a measure with a range,
numbers are a share of it, 0 to 1.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from analysis.check.limits.number import Number, get_limit_of_rule
from analysis.check.limits.panels import compute_tails_of_panel
from analysis.check.limits.tails import Tails
from analysis.check.rules import LIKE_THESE, Rule
from analysis.compare.pairs import VALIDITY, read_validities_of_unit
from analysis.measures.reworded import ACCURACY, AGREEMENT, Study
from analysis.measures.reworded.flips import FLIPS, mark_flipped_items_of_unit
from analysis.reporting.catalogue.rewordings import list_reasons_protocols_are_not_compared, read_reworded_studies
from analysis.runs import Runs
from analysis.statistics.resampling import Array
from ground.errors import InputError, format_nearest_name_hint, shorten_to_one_line

_ROUNDING = 1e-9  # of a mean of bounds


def list_numbers_of_units_for_measure_rule(rule: Rule, runs: Runs) -> list[Number]:
    """List the number of every model and condition that a rule on a measure is about.

    Parameters
    ----------
    rule
        Its target is the name of a measure.
    runs
        The run.

    Returns
    -------
    list of Number
        In the order of run.json.

    Raises
    ------
    InputError
        The run has no such measure or condition, the limit is out of its range, nothing tells of wordings like these,
        or scores are too large to be squared.
    """
    studies = [study for study in read_reworded_studies(runs) if rule.study in ("", study.name)]
    measured_studies = [measured for study in studies for measured in _iterate_own_flip_and_validity_studies(study)]
    own_studies = [pair for pair in measured_studies if pair[0].measure == rule.target]
    if not own_studies:
        names = dict.fromkeys(study.measure for study, _ in measured_studies)
        why = "; ".join(
            list_reasons_protocols_are_not_compared({of["protocol"] for of in runs.info["studies"].values()})
        )
        raise InputError(
            f"rule {shorten_to_one_line(repr(rule.name))}: the run has no measure "
            f"{shorten_to_one_line(repr(rule.target))}{format_nearest_name_hint(rule.target, names)}; it has "
            f"{', '.join(names) or 'none'}{f' ({why})' if why else ''}"
        )
    _refuse_limit_beyond_range(rule, own_studies[0][0])
    return _build_tested_numbers_of_units(rule, own_studies)


def _iterate_own_flip_and_validity_studies(study: Study) -> Iterator[tuple[Study, Array]]:
    """Yield a study by its own measure, by flips where answers are of two kinds, and by validity.

    Beside it are the answers that the measure is made of: flips are one number of each item.
    """
    yield study, study.values
    if study.headline and study.measure in (AGREEMENT, ACCURACY) and not study.has_single_wording:
        flips = np.stack([mark_flipped_items_of_unit(answers)[:, None] for answers in study.values])
        yield replace(study, measure=FLIPS, values=flips, has_range=True), study.values
    validities = [read_validities_of_unit(study, unit) for unit in range(len(study.units))]
    unknown = np.full(study.values.shape[1:], np.nan)
    values = np.stack([unknown if array is None else array for array in validities])
    yield replace(study, measure=VALIDITY, values=values, has_range=True), values


def _refuse_limit_beyond_range(rule: Rule, study: Study) -> None:
    """Refuse a limit that a measure with a range cannot have, or always keeps."""
    limit = get_limit_of_rule(rule)
    where = f"rule {shorten_to_one_line(repr(rule.name))}: {study.measure} counts as a share of its range, 0 to 1: "
    if study.bounds and not study.bounds[0] <= limit <= study.bounds[1]:
        raise InputError(
            f"{where}{limit:g} is no limit of it; give a share, or a column in its own unit (`waver table --list`)"
        )
    if study.bounds and limit == study.bounds[rule.at_most == limit]:
        raise InputError(
            f"{where}{'<=' if rule.at_most == limit else '>='} {limit:g} holds whatever it is; give a limit"
        )


def _build_tested_numbers_of_units(rule: Rule, studies: list[tuple[Study, Array]]) -> list[Number]:
    """Test every unit of some studies by the same measure once."""
    numbers: dict[tuple[str, str, str], Number] = {}
    conditions: dict[str, None] = {}
    for study, answered in studies:
        for unit, (model, condition) in enumerate(study.units):
            conditions.setdefault(condition)
            # Measures of the same answers have the same validity: it is tested once.
            if rule.is_about_unit(study.name, model, condition) and (study.name, model, condition) not in numbers:
                numbers[study.name, model, condition] = _build_tested_number_of_unit(rule, study, answered, unit)
    for name in rule.conditions:
        if name not in conditions:
            raise InputError(
                f"rule {shorten_to_one_line(repr(rule.name))}, conditions: no {rule.target} under "
                f"{shorten_to_one_line(repr(name))}{format_nearest_name_hint(name, conditions)}; there are "
                f"{', '.join(list(conditions)[:5])}"
            )
    if not numbers:
        raise InputError(f"rule {shorten_to_one_line(repr(rule.name))}: none of its models has {rule.target}")
    return list(numbers.values())


def _build_tested_number_of_unit(rule: Rule, study: Study, answered: Array, unit: int) -> Number:
    """Test the answers of one unit by the measure of a study."""
    answers: Array = study.values[unit]
    model, condition = study.units[unit]
    is_like = rule.wordings == LIKE_THESE
    is_bounded = study.measure == VALIDITY and not np.isnan(study.get_validity_upper_bound(unit))
    if is_like and not is_bounded and (why := _explain_missing_interval_over_wordings(study)):
        raise InputError(
            f"rule {shorten_to_one_line(repr(rule.name))}: study {study.name}: {rule.target} of wordings like these is "
            f'not known: {why}; say wordings = "these"'
        )
    if study.measure == VALIDITY and np.isnan(answers).all():
        return _build_number_of_bounded_validity(rule, study, unit)
    with np.errstate(over="ignore", invalid="ignore"):
        panel = study.estimate_mean_and_components_of_answers(answers)
        is_finite = panel.n_items < 2 or bool(np.isfinite([panel.mean, panel.item_mean_variance]).all())
    if not is_finite:
        raise InputError(
            f"rule {shorten_to_one_line(repr(rule.name))}: study {study.name}: scores are too large to be squared; "
            "give them in another unit"
        )
    tails = compute_tails_of_panel(
        panel, get_limit_of_rule(rule), "both" if is_like else "items", is_bounded=study.bounds is not None
    )
    counts = (~np.isnan(answered[unit])).sum(axis=1)
    n_wordings = float(counts[counts > 0].mean()) if panel.n_items else np.nan
    return Number(study.name, model, condition, study.measure, panel.mean, tails, panel.n_items, n_wordings,
                  "" if panel.n_items else "no valid answer")  # fmt: skip


def _build_number_of_bounded_validity(rule: Rule, study: Study, unit: int) -> Number:
    """Hold a validity known over all answers or within bounds: both must keep to the limit, or neither."""
    low, high, limit = float(study.validity[unit]), study.get_validity_upper_bound(unit), get_limit_of_rule(rule)
    about = (study.name, *study.units[unit], VALIDITY, low)
    if np.isnan(high):
        return Number(*about, None, 0, np.nan, "how far single answers are valid is not known")
    # A mean of bounds that are all 1 comes out as 1 - 1e-16.
    is_split = low < limit <= high + _ROUNDING if rule.at_least == limit else low - _ROUNDING <= limit < high
    is_untold = is_split or rule.wordings == LIKE_THESE  # what these wordings have does not tell of others
    tails = Tails(np.nan, np.nan, np.nan, np.nan, "bounds") if is_untold else None
    return Number(*about, tails, 0, np.nan, f"it lies between {low:.3g} and {high:.3g}: not all probability was shown")


def _explain_missing_interval_over_wordings(study: Study) -> str:
    """Say why answers do not tell of wordings like these; empty where they do."""
    if study.measure == FLIPS:
        return "all items share their wordings" if study.crossed else ""
    return "no item has two wordings" if study.has_single_wording else ""
