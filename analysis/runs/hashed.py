"""Tell baselines from other run folders: slim ones, whose texts are hashes of texts (`waver baseline save`)."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from analysis.runs.folder import Folder

BASELINE = "baseline"  # field of run.json that only a baseline has
_DIGITS = 16  # of 64: among a million texts, two share them with a probability of 3e-8


def is_baseline(folder: Folder) -> bool:
    """Tell whether a run folder is a baseline."""
    return BASELINE in folder.info


def build_text_hash_sql(column: str) -> str:
    """Write the SQL of what stands for a text in a baseline: the first digits of its SHA-256."""
    return f"left(sha256({column}), {_DIGITS})"


def build_comparable_text_sql(alias: str, folder: Folder, other: Folder) -> str:
    """Write the SQL of the texts of a folder such that those of another one are comparable.

    Parameters
    ----------
    alias
        Name of the stimuli of the folder in the query.
    folder, other
        The folders.

    Returns
    -------
    str
        The hash where only the other one is a baseline.
    """
    column = f"{alias}.text"
    return build_text_hash_sql(column) if is_baseline(other) and not is_baseline(folder) else column
