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

from analysis.reporting.reworded.study import ACCURACY, Study, has_several_wordings
from analysis.runs.choices import NOT_ASKED, Choices
from analysis.runs.choices import studies as read_choices
from analysis.runs.templates import shared_templates
from analysis.statistics.resampling import Array

if TYPE_CHECKING:
    from analysis.runs import Runs


def read(runs: Runs, names: list[str]) -> Iterator[Study]:
    """Read the accuracy of studies of the protocol `choice`; what cannot be read is refused by `runs.choices`.

    Parameters
    ----------
    runs
        From `analysis.runs.open`.
    names
        Names of the studies.

    Yields
    ------
    Every study.
    """
    by_text = shared_templates(runs)
    for found in read_choices(runs):
        if found.study not in names or not found.units:
            continue
        right = _right(found)
        several = bool(found.asked.any(axis=2).sum(axis=1).max(initial=0) > 1)
        if several:
            values, orders = _mean(right), False
            templates = _templates(runs, found)
            crossed = bool(templates) or found.study in by_text
            wordings = templates or list(found.wordings)
        else:
            values, orders = np.asarray(np.fmax.reduce(right, axis=1)), True  # the one wording that a question has
            shared = _orders(runs, found)
            crossed, wordings = bool(shared) or values.shape[1] == 1, shared
        yield Study(
            found.study, ACCURACY, True, crossed, list(found.units), found.validity, np.moveaxis(values, 2, 0),
            wordings if crossed else [], orders=orders, averaged=several and right.shape[2] > 1,
        )  # fmt: skip


def has_rewordings(runs: Runs, names: list[str]) -> bool:
    """Tell whether a question of these studies was asked in two wordings or orders."""
    return has_several_wordings(runs, names, original=True)


def _right(found: Choices) -> Array:
    """Tell of every answer (questions, wordings, orders, units) whether it is right; no choice is wrong."""
    right = (found.chosen == found.gold[:, None, None, None]).astype(float)
    return np.where(found.chosen == NOT_ASKED, np.nan, right)


def _mean(right: Array) -> Array:
    """Average over the orders."""
    known = ~np.isnan(right)
    n = known.sum(axis=2)
    return np.divide(np.where(known, right, 0.0).sum(axis=2), n, out=np.full(n.shape, np.nan), where=n > 0)


def _templates(runs: Runs, found: Choices) -> list[str]:
    """Name the template of every wording; empty where some have none, or several."""
    rows = runs.execute(
        """
        SELECT pattern, count(DISTINCT template), any_value(template), count(*) = count(template)
        FROM (SELECT pattern, map_extract(attributes, 'template')[1] AS template FROM stimuli WHERE study = ?)
        GROUP BY pattern""",
        [found.study],
    ).fetchall()
    named = {pattern: template for pattern, number, template, all_of in rows if number == 1 and all_of}
    if len(named) < len(rows) or len(found.items) < 2:
        return []
    return [str(named[pattern]) for pattern in found.wordings]


def _orders(runs: Runs, found: Choices) -> list[str]:
    """Name every order where questions with as many options all have the same ones; empty where they have not."""
    rows = runs.execute(
        """
        SELECT number, any_value(shown), bool_and(same) FROM (
            SELECT number, size, any_value(shown) AS shown, count(DISTINCT shown) = 1 AS same
            FROM (SELECT regexp_extract(variant, '/([0-9]{1,4})$', 1)::INTEGER AS number, len(canonical) AS size,
                         array_to_string(canonical, '') AS shown FROM stimuli WHERE study = ?)
            GROUP BY number, size)
        GROUP BY number ORDER BY number""",
        [found.study],
    ).fetchall()
    if len(found.items) < 2 or not all(same for _, _, same in rows):
        return []
    one_size = len(np.unique(found.size[found.asked])) == 1
    return [shown if one_size else f"order {number}" for number, shown, _ in rows]
