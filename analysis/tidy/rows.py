"""Join responses with their wordings, and turn columns of lists into arrays."""

from __future__ import annotations

from collections.abc import Sequence
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
        Columns of `wordings`.

    Returns
    -------
    DataFrame
        The responses in their order, with these columns.
    """
    rows = responses.drop(columns=[name for name in columns if name in responses])
    return rows.merge(wordings[[*WORDING, *columns]], on=list(WORDING), how="left", validate="many_to_one")


def stack_lists(column: pd.Series, length: int, kind: type[Any] = float) -> npt.NDArray[Any]:
    """Turn a column of lists into an array.

    Parameters
    ----------
    column
        Lists of the same length, or nothing.
    length
        Of the lists.
    kind
        float or object.

    Returns
    -------
    array (rows, length)
        NaN (None in an array of objects) where a row has no list.
    """
    rows = np.full((len(column), length), np.nan if kind is float else None, kind)
    has_list = column.notna().to_numpy()
    if has_list.any():
        rows[has_list] = np.array(column[has_list].tolist(), kind)
    return rows
