"""Tell whether looks were asked in the same wordings, or each in others."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from analysis.runs.folder import quote_sql_literal
from analysis.statistics.resampling import Array

if TYPE_CHECKING:
    import duckdb

KEPT = "kept_stimuli"  # the table of a look with the wordings of the common items
SAME, FRESH, MIXED = "the same each time", "fresh each time", "some times the same, others fresh"
ALIKE = 0.9  # share of the wordings of two looks in common, from which on they count as the same


def list_hashes_of_asked_wordings(con: duckdb.DuckDBPyConnection, unit: tuple[str, str]) -> Array:
    """List hashes of the wordings that a unit was asked, sorted.

    Parameters
    ----------
    con
        Of a look, with its kept stimuli.
    unit
        (model, condition).

    Returns
    -------
    array
    """
    model, condition = map(quote_sql_literal, unit)
    rows = con.execute(
        f"SELECT hash(item, text, options) AS wording FROM {KEPT} SEMI JOIN responses AS r ON "
        f"r.item = {KEPT}.item AND r.variant = {KEPT}.variant AND r.model = {model} AND r.condition = {condition} "
        "ORDER BY wording"
    )
    return np.asarray(rows.fetchnumpy()["wording"])


def classify_sharing_of_asked_wordings(wordings_by_look: Sequence[Array]) -> str:
    """Say whether looks were asked in the same wordings, or each in others.

    Parameters
    ----------
    wordings_by_look
        From `list_hashes_of_asked_wordings`.

    Returns
    -------
    str
        `SAME`, `FRESH` or `MIXED`.
    """
    pairs = [
        len(np.intersect1d(a, b)) >= ALIKE * max(len(a), len(b), 1)
        for place, a in enumerate(wordings_by_look)
        for b in wordings_by_look[:place]
    ]
    return SAME if all(pairs) else MIXED if any(pairs) else FRESH
