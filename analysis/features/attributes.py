"""Read attributes of wordings as predictors: columns of the items or wordings table that only its author knows.

A run folder keeps them as texts. They are numbers where every wording that has a value has a number; else categories,
coded as in R: a 0-1 column per level, compared with the level that is sorted first. The term of such a column names
both: `attributes.tone[rude vs plain]`.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from typing import TYPE_CHECKING, Any

from ground.errors import InputError, format_nearest_name_hint, format_part_with_verb, shorten_to_one_line

if TYPE_CHECKING:
    import pandas as pd

    from analysis.runs import Runs

PREFIX = "attributes."
# A column of more levels is mostly an id or a free text: a coefficient for each of them would say nothing.
MOST_LEVELS = 10
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d{1,3})?", re.ASCII | re.IGNORECASE)
_LEVEL = re.compile(rf"({re.escape(PREFIX)}[\w.]+)\[(.*)\]", re.DOTALL)


def list_attribute_columns(runs: Runs) -> list[str]:
    """List the attributes that wordings have, sorted, each with its prefix: "attributes.tone"."""
    query = "SELECT DISTINCT unnest(map_keys(attributes)) AS name FROM stimuli ORDER BY name"
    return runs.compute_once(
        "names of attributes", lambda: [f"{PREFIX}{name}" for (name,) in runs.execute(query).fetchall()]
    )


def find_predictor_column_or_none(name: str, columns: Collection[str], runs: Runs) -> str | None:
    """Find the column that a name in a formula means.

    Parameters
    ----------
    name
        As a user wrote it.
    columns
        The columns that are no attributes, which come first.
    runs
        From `analysis.runs.open_runs`.

    Returns
    -------
    str or None
        The name itself, or that of an attribute with its prefix; None where there is no such column.

    Raises
    ------
    InputError
        For an attribute whose name cannot stand in a formula.
    """
    if name in columns:
        return name
    attribute = name if name.startswith(PREFIX) else f"{PREFIX}{name}"
    if attribute not in list_attribute_columns(runs):
        return None
    from analysis.statistics.mixed.formula import is_column_name  # with NumPy, which `--help` must not wait for

    if not is_column_name(attribute):
        raise InputError(
            f"attribute {shorten_to_one_line(repr(attribute.removeprefix(PREFIX)))} cannot stand in a formula; name "
            "the column of the items with letters, digits and _ only"
        )
    return attribute


def suggest_nearest_column(name: str, columns: Iterable[str], runs: Runs) -> str:
    """Return a hint with the column or attribute that is most like an unknown name, with a space before it.

    Parameters
    ----------
    name, columns, runs
        As in `find_predictor_column_or_none`.
    """
    attributes = list_attribute_columns(runs)
    hint = format_nearest_name_hint(name, [*columns, *attributes])
    return hint or format_nearest_name_hint(f"{PREFIX}{name}", attributes)


def read_attribute_column(runs: Runs, column: str) -> pd.Series[Any]:
    """Read an attribute of every wording, once per `Runs`.

    Parameters
    ----------
    runs
        From `analysis.runs.open_runs`.
    column
        One of `list_attribute_columns`.

    Returns
    -------
    Series
        By study and place in it, as in `frames.read_or_compute_features`: floats, or categories (sorted); NaN where it
        is absent or empty.

    Raises
    ------
    InputError
        For more than `MOST_LEVELS` levels, and where no wording has a value.
    """
    return runs.compute_once(("attribute", column), lambda: _read_attribute_as_numbers_or_categories(runs, column))


def _read_attribute_as_numbers_or_categories(runs: Runs, column: str) -> pd.Series[Any]:
    """Turn the texts of an attribute into numbers or categories."""
    import pandas as pd

    query = "SELECT nullif(trim(map_extract(attributes, ?)[1]), '') FROM stimuli ORDER BY study, position"
    rows = runs.execute(query, [column.removeprefix(PREFIX)]).fetchall()
    values = pd.Series([row[0] for row in rows], dtype=object, name=column)
    levels = sorted(values.dropna().unique())
    if not levels:
        raise InputError(f"predictor {column!r} has no values: the attribute is empty for every wording")
    words = [level for level in levels if not _NUMBER.fullmatch(level)]
    if not words:
        return values.astype(float)
    if len(levels) > MOST_LEVELS:
        raise InputError(
            f"predictor {column!r} is neither a number (as {shorten_to_one_line(repr(words[0]))} is none) nor a "
            f"category: it has {len(levels):,} different values, and {MOST_LEVELS} at most are compared; group them in "
            "the items"
        )
    return values.astype(pd.CategoricalDtype(levels))


def add_reference_to_level_names_in_rows(rows: pd.DataFrame, columns: Sequence[str]) -> pd.DataFrame:
    """Name the levels of categories by what they are compared with, among the rows of one fit.

    Parameters
    ----------
    rows
        The rows of one fit.
    columns
        Columns that the formula names; a row that lacks one of them does not count, as it is left out of the fit.

    Returns
    -------
    DataFrame
        The frame; the levels of an attribute are "[rude vs plain]", with the first level that occurs as the reference.
        A category with one level is 0 for all rows: the fit says that it is constant.
    """
    import pandas as pd

    categories = [
        name for name in columns if is_attribute_column(name) and isinstance(rows[name].dtype, pd.CategoricalDtype)
    ]
    if not categories:
        return rows
    complete = rows[list(columns)].notna().all(axis=1)
    renamed = {}
    for name in categories:
        levels = list(rows.loc[complete, name].cat.remove_unused_categories().cat.categories)
        texts = rows[name].cat.set_categories(levels)
        names = [f"[{level} vs {levels[0]}]" for level in levels]
        renamed[name] = texts.cat.rename_categories(names) if len(levels) > 1 else texts.notna() * 0.0
    return rows.assign(**renamed)


def describe_attribute_as_predictor(runs: Runs, column: str) -> str:
    """Say what an attribute is as a predictor: a number or a category, and how many wordings have it.

    Parameters
    ----------
    runs, column
        As in `read_attribute_column`.
    """
    import pandas as pd

    values = read_attribute_column(runs, column)
    kind = "a number"
    if isinstance(values.dtype, pd.CategoricalDtype):
        first, *others = values.cat.categories
        kind = f"a category: {', '.join(others) or 'nothing else'} compared with {first}"
    return f"{column}: {kind}; {format_part_with_verb(int(values.notna().sum()), len(values), 'wording')} a value"


def is_attribute_column(term: str) -> bool:
    """Tell whether a column or term is an attribute of the wordings."""
    return term.startswith(PREFIX)


def split_term_into_column_and_level(term: str) -> tuple[str, str]:
    """Split the term of a category into its column and its levels; of another term, the second part is empty.

    >>> (split_term_into_column_and_level("attributes.tone[rude vs plain]"),
    ...  split_term_into_column_and_level("attributes.hedged"))
    (('attributes.tone', 'rude vs plain'), ('attributes.hedged', ''))
    """
    match = _LEVEL.fullmatch(term)
    return (match[1], match[2]) if match else (term, "")
