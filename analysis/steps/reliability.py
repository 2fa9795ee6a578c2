"""Compute how far wordings tell items apart step by step: mean squares, variance components, intraclass correlations.

::

    answers = list_answers_of_first_balanced_unit_per_study(studies)
    squares = compute_mean_squares(answers)
    coefficients = compute_intraclass_correlations(squares)
    theirs = recompute_intraclass_correlations(answers, pingouin.intraclass_corr)

These are the formulas for complete answers, where every item has as many wordings. Of items with wordings of their own
they are ICC(1,1) and ICC(1,k) of a one-way design; of items that share the wordings, ICC(A,1) and ICC(A,k), also called
ICC(2,1) and ICC(2,k), of a two-way design. The tables have the same for other numbers of wordings.

References
----------
McGraw, K. O. and Wong, S. P. (1996). Forming inferences about some intraclass correlation coefficients. Psychological
Methods 1, 30-46 (Table 4).
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import pandas as pd

if TYPE_CHECKING:
    from analysis.measures.reworded import Study

ROW = ["study", "model", "condition", "measure"]  # what a coefficient is computed for
LEAST_ANSWERS = 5  # of a unit; pingouin refuses fewer
_ONE, _MEAN = (0, 1), (3, 4)  # places of pingouin's coefficients: of one wording, of their mean; by nested, crossed


def list_answers_of_first_balanced_unit_per_study(studies: Sequence[Study]) -> pd.DataFrame:
    """List the answers of the first model and condition of every study whose items have the same number of wordings.

    `studies`: from `read_reworded_studies`; only their headline measures are read.

    Returns
    -------
    DataFrame
        study, model, condition, measure; shared: whether all items have the same wordings; item, wording: numbered from
        0, in each item where they are its own; value: the answer. A unit counts that has two items, two wordings and
        `LEAST_ANSWERS` answers or more, none missing and not all the same; left out are studies without one.
    """
    parts = [pd.DataFrame(columns=[*ROW, "shared", "item", "wording", "value"])]
    for study in studies:
        complete = (
            (unit, _drop_empty_items_and_wordings(study.values[unit], study.crossed))
            for unit in range(len(study.units))
        )
        found = next(
            (
                (unit, values)
                for unit, values in complete
                if study.headline and _are_answers_complete_and_varied(values)
            ),
            None,
        )
        if found is None:
            continue
        unit, values = found
        item, wording = np.indices(values.shape)
        model, condition = study.units[unit]
        parts.append(
            pd.DataFrame({
                "study": study.name, "model": model, "condition": condition, "measure": study.measure,
                "shared": study.crossed, "item": item.ravel(), "wording": wording.ravel(), "value": values.ravel(),
            })
        )  # fmt: skip
    return pd.concat(parts[1:] or parts, ignore_index=True)


def _drop_empty_items_and_wordings(values: npt.NDArray[np.float64], is_shared: bool) -> npt.NDArray[np.float64]:
    """Drop items without an answer, and wordings: those that no item has, or the empty places of an item's own."""
    has_answer = ~np.isnan(values)
    values, has_answer = values[has_answer.any(axis=1)], has_answer[has_answer.any(axis=1)]
    if not is_shared and len(values):  # the columns mean nothing: the answers of an item move to the front
        values = np.take_along_axis(values, np.argsort(~has_answer, axis=1, kind="stable"), axis=1)
    return values[:, (~np.isnan(values)).any(axis=0)]


def _are_answers_complete_and_varied(values: npt.NDArray[np.float64]) -> bool:
    """Tell whether there are several items and wordings, no answer is missing, and the answers differ."""
    is_complete = min(values.shape) > 1 and values.size >= LEAST_ANSWERS and not np.isnan(values).any()
    return bool(is_complete and np.ptp(values) > 0)


def compute_mean_squares(answers: pd.DataFrame) -> pd.DataFrame:
    """Compute the mean squares of the analysis of variance of complete answers.

    `answers`: from `list_answers_of_first_balanced_unit_per_study`.

    Returns
    -------
    DataFrame
        study, model, condition, measure; n_items, n_wordings; between: mean square of the items; wordings: of the
        wordings, NaN where items have their own; rest: of what is left.
    """
    rows = []
    for keys, part in answers.groupby(ROW, sort=False):
        values = part.pivot(index="item", columns="wording", values="value").to_numpy(float)
        n_items, n_wordings = values.shape
        of_items = n_wordings * values.mean(axis=1).var(ddof=1)
        of_wordings = n_items * values.mean(axis=0).var(ddof=1) if part["shared"].all() else np.nan
        known = [(of_items, n_items - 1), *([(of_wordings, n_wordings - 1)] if part["shared"].all() else [])]
        left = values.size - 1 - sum(freedom for _, freedom in known)
        rest = (values.var() * values.size - sum(square * freedom for square, freedom in known)) / left
        rows.append((*keys, n_items, n_wordings, of_items, of_wordings, rest))
    return pd.DataFrame(rows, columns=[*ROW, "n_items", "n_wordings", "between", "wordings", "rest"])


def compute_intraclass_correlations(squares: pd.DataFrame) -> pd.DataFrame:
    """Compute variance components and intraclass correlations.

    `squares`: from `compute_mean_squares`.

    Returns
    -------
    DataFrame
        study, model, condition, measure; item, wording (NaN where items have their own): variance components; icc,
        icc_mean: share of the variance between items in that of one wording, and in that of the mean of an item's.
    """
    item = (squares["between"] - squares["rest"]) / squares["n_wordings"]
    wording = (squares["wordings"] - squares["rest"]) / squares["n_items"]
    error = wording.fillna(0) + squares["rest"]
    return squares[ROW].assign(
        item=item, wording=wording, icc=item / (item + error), icc_mean=item / (item + error / squares["n_wordings"])
    )


def recompute_intraclass_correlations(
    answers: pd.DataFrame, intraclass_corr: Callable[..., pd.DataFrame]
) -> pd.DataFrame:
    """Compute intraclass correlations by the function of pingouin.

    Parameters
    ----------
    answers
        From `list_answers_of_first_balanced_unit_per_study`.
    intraclass_corr
        `pingouin.intraclass_corr`.

    Returns
    -------
    DataFrame
        study, model, condition, measure; icc, icc_mean: ICC(1,1) and ICC(1,k) of items with wordings of their own,
        ICC(A,1) and ICC(A,k) of items that share them.
    """
    rows = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # of a rest of 0, in the tests that are not used
        for keys, part in answers.groupby(ROW, sort=False):
            found = intraclass_corr(part, targets="item", raters="wording", ratings="value")["ICC"].to_numpy()
            place = int(part["shared"].all())
            rows.append((*keys, found[_ONE[place]], found[_MEAN[place]]))
    return pd.DataFrame(rows, columns=[*ROW, "icc", "icc_mean"])


def select_variance_components_of_answers(table: pd.DataFrame, answers: pd.DataFrame) -> pd.DataFrame:
    """Select the rows of table `variance_components` that are about these answers.

    Parameters
    ----------
    table
        Without any row it has no columns either.
    answers
        From `list_answers_of_first_balanced_unit_per_study`.

    Returns
    -------
    DataFrame
        study, model, condition, measure, icc, icc_mean.
    """
    return table.reindex(columns=[*ROW, "icc", "icc_mean"]).astype(dict.fromkeys(ROW, object)).merge(
        answers[ROW].drop_duplicates(), on=ROW
    )  # fmt: skip
