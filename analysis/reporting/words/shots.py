"""Say where the prompts of a study differ in their number of examples, and not in their wording.

Rule: so it is where every wording of a study that was asked is named by its number of examples ("0-shot", "5-shot", as
importers of logs name them), and there are two such names or more.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import TYPE_CHECKING

from analysis.reporting.words import join_names

if TYPE_CHECKING:
    from analysis.runs import Runs

UNKNOWN = "unknown"
_NAME = re.compile(rf"(\d+|{UNKNOWN})-shot")


def describe_varying_examples(runs: Runs) -> str:
    """Say of which studies the number of examples varied, and not the wording; once per `Runs`.

    Parameters
    ----------
    runs
        From `analysis.runs.open_runs`.

    Returns
    -------
    str
        A sentence for the first screen; empty where wordings are wordings.
    """
    return runs.compute_once("varying examples", lambda: _describe_varying_examples_of_studies(runs))


def _describe_varying_examples_of_studies(runs: Runs) -> str:
    """Say it for all studies at once where they have the same numbers, else study by study."""
    frame = runs.sql("SELECT DISTINCT study, map_extract(attributes, 'template')[1] AS template FROM stimuli")
    named = {str(study): list_example_numbers(set(part["template"])) for study, part in frame.groupby("study")}
    varying = {study: numbers for study, numbers in named.items() if numbers}
    if not varying:
        return ""
    if len(varying) == len(named) and len({tuple(numbers) for numbers in varying.values()}) == 1:
        return _phrase_example_numbers(next(iter(varying.values())), "")
    return " ".join(_phrase_example_numbers(numbers, f" of “{study}”") for study, numbers in varying.items())


def list_example_numbers(names: Collection[object]) -> list[str]:
    """List the numbers of examples that wordings are named by, the smallest first; none where they are not all.

    Parameters
    ----------
    names
        Names of the wordings that all items share.

    >>> list_example_numbers(["10-shot", "5-shot"]), list_example_numbers(["0-shot"])
    (['5', '10'], [])
    >>> list_example_numbers(["p1", "0-shot", "5-shot"])
    []
    """
    matches = [_NAME.fullmatch(name) if isinstance(name, str) else None for name in names]
    numbers = {match[1] for match in matches if match}
    if None in matches or len(numbers) < 2:
        return []
    return sorted(numbers, key=lambda number: float("inf") if number == UNKNOWN else int(number))


def _phrase_example_numbers(numbers: list[str], of_study: str) -> str:
    """Say that these numbers varied."""
    known = ["an unknown number of" if number == UNKNOWN else number for number in numbers]
    return (
        f"The wordings{of_study} are the same questions after {join_names(known, len(known))} examples: the number of "
        "examples varied, not the wording."
    )
