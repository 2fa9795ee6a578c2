"""Read how right models are in every wording of a question, or in every order of its options.

Where questions have several wordings, the answer to a wording is the mean over the orders of the options that it was
asked in: its share of right answers. Paraphrases belong to their question; wordings that name their template in the
attribute `template`, or are templates by their texts, are shared by all questions. Where questions have one wording,
the orders are its wordings: shared where all questions with as many options have the same ones, else drawn for each.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from analysis.measures.choices import NOT_ASKED, Choices
from analysis.measures.choices import read_choice_studies as read_choices
from analysis.measures.reworded.study import ACCURACY, Study, has_several_wordings
from analysis.measures.templates import count_templates_by_study
from analysis.statistics.resampling import Array

if TYPE_CHECKING:
    from analysis.runs import Runs


def read_accuracy_studies(runs: Runs, study_names: list[str]) -> Iterator[Study]:
    """Read the accuracy of studies of the protocol `choice`; what cannot be read is refused by `runs.choices`.

    Parameters
    ----------
    runs
        From `analysis.runs.open_runs`.
    study_names
        Names of the studies.

    Yields
    ------
    Every study.
    """
    by_text = count_templates_by_study(runs)
    for choices in read_choices(runs):
        if choices.study not in study_names or not choices.units:
            continue
        right = _mark_right_answers(choices)
        several = bool(choices.asked_mask.any(axis=2).sum(axis=1).max(initial=0) > 1)
        if several:
            values, orders = _average_accuracy_over_orders(right), False
            templates = _list_templates_by_wording(runs, choices)
            crossed = bool(templates) or choices.study in by_text
            wordings = templates or list(choices.wordings)
        else:
            values, orders = np.asarray(np.fmax.reduce(right, axis=1)), True  # the one wording that a question has
            shared = _list_shared_order_names(runs, choices)
            crossed, wordings = bool(shared) or values.shape[1] == 1, shared
        yield Study(
            choices.study, ACCURACY, True, crossed, list(choices.units), choices.validity, np.moveaxis(values, 2, 0),
            wordings if crossed else [], orders=orders, averaged=several and right.shape[2] > 1,
        )  # fmt: skip


def has_rewordings(runs: Runs, study_names: list[str]) -> bool:
    """Tell whether these studies can be compared over wordings or orders.

    Parameters
    ----------
    runs
        From `analysis.runs.open_runs`.
    study_names
        Names of the studies.

    Returns
    -------
    Whether a question of one of them was asked in two wordings or orders, the original counted.
    """
    return has_several_wordings(runs, study_names, count_original=True)


def _mark_right_answers(choices: Choices) -> Array:
    """Tell of every answer (questions, wordings, orders, units) whether it is right; no choice is wrong."""
    right = (choices.chosen_letter == choices.gold[:, None, None, None]).astype(float)
    return np.where(choices.chosen_letter == NOT_ASKED, np.nan, right)


def _average_accuracy_over_orders(right: Array) -> Array:
    """Average right answers (1 or 0) over the orders of the options; NaN where none is known."""
    is_known = ~np.isnan(right)
    n = is_known.sum(axis=2)
    return np.divide(np.where(is_known, right, 0.0).sum(axis=2), n, out=np.full(n.shape, np.nan), where=n > 0)


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


def _list_shared_order_names(runs: Runs, choices: Choices) -> list[str]:
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
