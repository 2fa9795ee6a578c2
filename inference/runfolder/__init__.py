"""Write the run folder: Parquet parts that appear whole or not at all, locks, status."""

from __future__ import annotations

from pathlib import Path
from shlex import quote


def describe_where_rows_are_and_next(out: str) -> str:
    """Say where the rows of a run are, and what to do with them.

    >>> describe_where_rows_are_and_next("runs/my first")
    "runs/my first: done; next: waver report 'runs/my first' --out 'runs/my first/report'"
    """
    return f"{out}: done; next: waver report {quote(out)} --out {quote(str(Path(out) / 'report'))}"
