"""Join responses with their wordings, turn columns of lists into arrays, and read what was answered."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from itertools import chain
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

WORDING = ("study", "item", "variant")


def attach_wordings(responses: pd.DataFrame, wordings: pd.DataFrame, columns: Sequence[str]) -> pd.DataFrame:
    """Attach columns of the wordings to every response.

    Parameters
    ----------
    responses, wordings
        `Run.responses` and `Run.wordings`; rows belong together by study, item and variant.
    columns
        Columns of `wordings`; one that it does not have is empty, as attributes may be.

    Returns
    -------
    DataFrame
        The responses in their order, with these columns.
    """
    rows = responses.drop(columns=[name for name in columns if name in responses])
    attached = wordings.reindex(columns=[*WORDING, *columns])
    return rows.merge(attached, on=list(WORDING), how="left", validate="many_to_one")


def stack_lists_into_array(column: pd.Series, kind: type[Any] = float) -> npt.NDArray[Any]:
    """Turn a column of lists into an array with a row per list; the end of a shorter list is empty.

    Parameters
    ----------
    column
        Lists, or nothing.
    kind
        float or object.

    Returns
    -------
    array (rows, length of the longest list, at least 2)
        NaN (None in an array of objects) where a list has no such entry.

    Examples
    --------
    >>> stack_lists_into_array(pd.Series([[1, 2, 3], None, [4, 5]])).tolist()
    [[1.0, 2.0, 3.0], [nan, nan, nan], [4.0, 5.0, nan]]
    """
    lists = [() if value is None or value is pd.NA or isinstance(value, float) else value for value in column]
    lengths = np.array([len(values) for values in lists], int)
    rows = np.full((len(lists), max(2, lengths.max(initial=0))), np.nan if kind is float else None, kind)
    is_filled = np.arange(rows.shape[1]) < lengths[:, None]
    rows[is_filled] = np.fromiter(chain.from_iterable(lists), kind, lengths.sum())
    return rows


def find_place_of_largest_score(scores: npt.NDArray[np.float64]) -> npt.NDArray[np.int64]:
    """Find the place of the largest score in every row; -1 where there is none, or two are the largest.

    >>> find_place_of_largest_score(np.array([[0.1, 0.7, 0.2], [0.4, 0.4, 0.2], [np.nan, np.nan, np.nan]])).tolist()
    [1, -1, -1]
    """
    filled = np.where(np.isnan(scores), -np.inf, scores)
    is_largest = (filled == filled.max(axis=1, keepdims=True)) & ~np.isnan(scores)
    return np.where(is_largest.sum(axis=1) == 1, is_largest.argmax(axis=1), -1)


def pick_entry_at_place_per_row(lists: npt.NDArray[Any], places: npt.NDArray[np.int64]) -> npt.NDArray[Any]:
    """Pick the entry at a place of every row; None where the place is -1."""
    entries = lists[np.arange(len(lists)), places].astype(object)
    entries[places < 0] = None
    return entries


def stack_row_options_and_canonical_labels(
    rows: pd.DataFrame,
) -> tuple[npt.NDArray[np.object_], npt.NDArray[np.object_]]:
    """Stack the options of every row, and the canonical label of each: twice (rows, options)."""
    return stack_lists_into_array(rows["options"], object), stack_lists_into_array(rows["canonical"], object)


def find_answer_or_modal_sample_answer(rows: pd.DataFrame) -> npt.NDArray[np.object_]:
    """Find what every row says: its answer, or the option that most of its samples give; None for a tie or neither.

    Of several thoughts, it is the likeliest option of their mean. `rows`: answer, count, options, and perhaps
    probability and thought_tokens; responses with the options of their wording.
    """
    if "thought_tokens" in rows and rows["thought_tokens"].notna().any():
        options, is_thought = stack_lists_into_array(rows["options"], object), rows["thought_tokens"].notna()
        likeliest = pick_entry_at_place_per_row(
            options, find_place_of_largest_score(stack_lists_into_array(rows["probability"]))
        )
        return np.where(is_thought, likeliest, find_answer_or_modal_sample_answer(rows.drop(columns="thought_tokens")))
    most = pick_entry_at_place_per_row(
        stack_lists_into_array(rows["options"], object),
        find_place_of_largest_score(stack_lists_into_array(rows["count"])),
    )
    return np.where(rows["answer"].notna(), rows["answer"].to_numpy(object), most)


def compute_by_group(
    frame: pd.DataFrame,
    by: Sequence[str],
    name: str,
    function: Callable[..., Any],
    columns: Sequence[str],
    **options: Any,
) -> pd.DataFrame:
    """Compute a number for every group of rows by a function of another package, such as `scipy.stats.kendalltau`.

    Parameters
    ----------
    frame
        The rows.
    by
        Columns that name a group.
    name
        Column of the result.
    function
        Called with the columns as arrays, of the rows that have all of them; returns a number, or a result whose
        statistic is one.
    columns
        Its arguments.
    **options
        Passed on.

    Returns
    -------
    DataFrame
        The columns of `by`, and `name`: NaN without such rows.

    Examples
    --------
    >>> rows = pd.DataFrame({"model": ["a", "a", "b"], "score": [1.0, 3.0, None]})
    >>> compute_by_group(rows, ["model"], "mean", np.mean, ["score"])["mean"].tolist()
    [2.0, nan]
    """
    groups = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # of constant values, whose result is NaN
        for keys, rows in frame.groupby(list(by), sort=False):
            complete = rows[list(columns)].dropna().to_numpy(float)
            result = function(*complete.T, **options) if len(complete) else np.nan
            groups.append((*keys, float(getattr(result, "statistic", result))))
    return pd.DataFrame(groups, columns=[*by, name])
