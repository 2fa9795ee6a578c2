"""Name the parts of a whole that stand beside it, or beside the rest, in a table: tasks beside the mean over tasks."""

from __future__ import annotations

import re

import pandas as pd


def name_part_beside_total(name: str, total: str, kind: str) -> str:
    """Put what it is before the name of a part that is called as the total is, or as such a part is then.

    Parameters
    ----------
    name
        Of the part.
    total
        What the total is called.
    kind
        What a part is, such as "task".

    Returns
    -------
    The name; no two parts get the same one.

    >>> [name_part_beside_total(name, "all", "task") for name in ("reading", "all", "task all")]
    ['reading', 'task all', 'task task all']
    """
    return f"{kind} {name}" if re.fullmatch(f"({kind} )*{re.escape(total)}", name) else name


def name_parts_beside_rest(names: pd.Series, rest: str, kind: str) -> pd.Series:
    """Name the part of every row: the rows without one are the rest, and no part is called as it is.

    Parameters
    ----------
    names
        Of the parts; missing where a row is in none.
    rest
        What rows without a part are called.
    kind
        What a part is, such as "group".

    Returns
    -------
    Series
        No name is missing.

    >>> name_parts_beside_rest(pd.Series(["En-De", None, "all"]), "all", "group").tolist()
    ['En-De', 'all', 'group all']
    """
    new_names = {name: name_part_beside_total(str(name), rest, kind) for name in names.dropna().unique()}
    return names.map(new_names).astype(object).fillna(rest)


def name_tasks_of_study(tasks: pd.Series, study: str) -> pd.Series:
    """Name the task of every row of a study: a row without one is called like the study, and no other task is then.

    >>> name_tasks_of_study(pd.Series(["facts", None]), "facts").tolist()
    ['task facts', 'facts']
    >>> name_tasks_of_study(pd.Series(["facts", "other"]), "facts").tolist()
    ['facts', 'other']
    """
    return name_parts_beside_rest(tasks, study, "task") if tasks.isna().any() else tasks
