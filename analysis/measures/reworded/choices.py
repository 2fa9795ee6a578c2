"""Read how right models are in every wording of a question, or in every order of its options.

Where questions have several wordings, the answer to a wording is the mean over the orders of the options that it was
asked in: its share of right answers. Paraphrases belong to their question; wordings that name their template in the
attribute `template`, or are templates by their texts, are shared by all questions. Where questions have one wording,
the orders are its wordings: shared where all questions with as many options have the same ones, else drawn for each.

Accuracy is of the likeliest option, 0 or 1: how far thoughts move it is not known from the thoughts of one prompt. So
conditions in which models think are read a second time, by the probability of the right option, whose mean over
thoughts has a variance.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from analysis.measures.choices import NOT_ASKED, Choices
from analysis.measures.choices import read_choice_studies as read_choices
from analysis.measures.reworded.study import ACCURACY, RIGHT, Study, has_item_in_several_wordings
from analysis.measures.templates import count_templates_and_items_by_study
from analysis.measures.thoughts import (
    build_sample_moments_sql,
    has_probabilities_after_single_thoughts,
    list_thought_conditions,
)
from analysis.runs import Runs
from analysis.statistics.resampling import Array

has_rewordings = partial(has_item_in_several_wordings, count_original=True)  # orders are wordings, too


def read_accuracy_studies(runs: Runs, study_names: list[str]) -> Iterator[Study]:
    """Read the accuracy of studies of the protocol `choice`; what cannot be read is refused by `measures.choices`.

    Parameters
    ----------
    runs
        From `analysis.runs.open_runs`.
    study_names
        Names of the studies.

    Yields
    ------
    Every study, and once more by the probability of the right option, of the conditions in which models think.
    """
    by_text = count_templates_and_items_by_study(runs)
    for choices in read_choices(runs):
        if choices.study not in study_names or not choices.units:
            continue
        right = _mark_right_answers(choices)
        several = bool(choices.asked_mask.any(axis=2).sum(axis=1).max(initial=0) > 1)
        if several:
            values, orders = _average_over_orders(right), False
            templates = _list_templates_by_wording(runs, choices)
            crossed = bool(templates) or choices.study in by_text
            wordings = templates or list(choices.wordings)
        else:
            values, orders = np.asarray(np.fmax.reduce(right, axis=1)), True  # the one wording that a question has
            shared = _list_order_names_shared_by_questions(runs, choices)
            crossed, wordings = bool(shared) or values.shape[1] == 1, shared
        study = Study(
            choices.study, ACCURACY, True, crossed, list(choices.units), choices.validity, np.moveaxis(values, 2, 0),
            wordings if crossed else [], orders=orders, averaged=several and right.shape[2] > 1,
            items=tuple(choices.items), validity_at_most=choices.validity_at_most,
            validities=np.moveaxis(_average_validities_over_option_orders(choices, over_orders=several), 2, 0),
        )  # fmt: skip
        yield study
        if has_probabilities_after_single_thoughts(runs, choices.study):
            yield from _read_right_probability_study_after_thoughts(runs, choices, study)


def _read_right_probability_study_after_thoughts(runs: Runs, choices: Choices, accuracy: Study) -> Iterator[Study]:
    """Read the probability of the right option under the conditions that think, laid out as the accuracy is."""
    thinking = list_thought_conditions(runs.info["conditions"][choices.study])
    study = accuracy.select_units_of_conditions(thinking)
    arrays = _arrange_right_option_moments_of_thoughts(runs, choices, study.units)
    if np.isnan(arrays["ratio"]).all():
        return
    # The answer is the mean over all orders of a wording; or, of several orders of one wording, that of each.
    axis = 2 if accuracy.orders else 3
    with np.errstate(invalid="ignore", divide="ignore"):
        averaged = {name: np.nansum(array, axis=axis) / (~np.isnan(array)).sum(axis=axis)
                    for name, array in arrays.items() if name != "samples"}  # fmt: skip
        inverse = 1 / arrays["samples"]
        samples = (~np.isnan(inverse)).sum(axis=axis) ** 2 / np.nansum(inverse, axis=axis)
    yield replace(
        study, measure=RIGHT, headline=False, values=averaged["ratio"], samples=samples, spread=averaged["spread"],
        counting=averaged["counting"], thought_conditions=thinking,
    )  # fmt: skip


def _arrange_right_option_moments_of_thoughts(
    runs: Runs, choices: Choices, units: Sequence[tuple[str, str]]
) -> dict[str, Array]:
    """Arrange ratio, samples, spread and counting of thoughts as (units, questions, wordings, orders)."""
    rows_sql = (
        "SELECT r.*, [CAST(entry = s.gold AS DOUBLE) FOR entry IN s.canonical] AS option_numbers "
        "FROM responses AS r JOIN stimuli AS s USING (study, item, variant) WHERE study = $study"
    )
    rows = runs.sql(
        f"""
        SELECT m.model, m.condition, m.item, s.pattern, ratio, samples::DOUBLE AS samples, spread, counting,
               CAST(regexp_extract(m.variant, '/([0-9]{{1,4}})$', 1) AS INTEGER) AS number
        FROM ({build_sample_moments_sql(rows_sql)}) AS m JOIN stimuli AS s USING (study, item, variant)""",
        {"study": choices.study},
    )
    unit_places = {unit: place for place, unit in enumerate(units)}
    items = {item: place for place, item in enumerate(choices.items)}
    rows = rows[[unit in unit_places for unit in zip(rows["model"], rows["condition"], strict=True)]]
    place = (
        [unit_places[unit] for unit in zip(rows["model"], rows["condition"], strict=True)],
        rows["item"].map(items).to_numpy(int), rows["pattern"].map(choices.wordings.index).to_numpy(int),
        np.searchsorted(choices.orders, rows["number"]),
    )  # fmt: skip
    arrays = {}
    for name in ("ratio", "samples", "spread", "counting"):
        arrays[name] = np.full((len(units), *choices.asked_mask.shape), np.nan)
        arrays[name][place] = rows[name]
    return arrays


def _mark_right_answers(choices: Choices) -> Array:
    """Tell of every answer (questions, wordings, orders, units) whether it is right; no choice is wrong."""
    right = (choices.chosen_letter == choices.gold[:, None, None, None]).astype(float)
    return np.where(choices.chosen_letter == NOT_ASKED, np.nan, right)


def _average_over_orders(answers: Array) -> Array:
    """Average answers, such as right ones (1 or 0), over the orders of the options; NaN where none is known."""
    is_known = ~np.isnan(answers)
    n = is_known.sum(axis=2)
    return np.divide(np.where(is_known, answers, 0.0).sum(axis=2), n, out=np.full(n.shape, np.nan), where=n > 0)


def _average_validities_over_option_orders(choices: Choices, *, over_orders: bool) -> Array:
    """Average how far answers are valid over orders, or take those of the one wording that a question has."""
    if over_orders:
        return _average_over_orders(choices.validities)
    return np.asarray(np.fmax.reduce(choices.validities, axis=1))


def _list_templates_by_wording(runs: Runs, choices: Choices) -> list[str]:
    """Name the template of every wording; empty where some have none, or several."""
    rows = runs.execute(
        """
        SELECT pattern, count(DISTINCT template), any_value(template), count(*) = count(template)
        FROM (SELECT pattern, map_extract(attributes, 'template')[1] AS template FROM stimuli WHERE study = ?)
        GROUP BY pattern""",
        [choices.study],
    ).fetchall()
    template_by_pattern = {pattern: template for pattern, number, template, all_of in rows if number == 1 and all_of}
    if len(template_by_pattern) < len(rows) or len(choices.items) < 2:
        return []
    return [str(template_by_pattern[pattern]) for pattern in choices.wordings]


def _list_order_names_shared_by_questions(runs: Runs, choices: Choices) -> list[str]:
    """Name every order where questions with as many options all have the same ones; empty where they have not."""
    rows = runs.execute(
        """
        SELECT number, any_value(shown), bool_and(same) FROM (
            SELECT number, size, any_value(shown) AS shown, count(DISTINCT shown) = 1 AS same
            FROM (SELECT regexp_extract(variant, '/([0-9]{1,4})$', 1)::INTEGER AS number, len(canonical) AS size,
                         array_to_string(canonical, '') AS shown FROM stimuli WHERE study = ?)
            GROUP BY number, size)
        GROUP BY number ORDER BY number""",
        [choices.study],
    ).fetchall()
    if len(choices.items) < 2 or not all(same for _, _, same in rows):
        return []
    one_size = len(np.unique(choices.size[choices.asked_mask])) == 1
    return [letters if one_size else f"order {number}" for number, letters, _ in rows]
