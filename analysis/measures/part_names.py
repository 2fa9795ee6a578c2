"""Name the parts of a whole that stand beside it in a table: tasks beside the mean over tasks."""

from __future__ import annotations

import re


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
    return f"{kind} {name}" if re.fullmatch(f"({kind} )*{total}", name) else name
