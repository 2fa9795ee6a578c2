"""Say where the prompts of a study differ in their number of examples, and not in their wording.

Rule: so it is where every wording of a study that was asked is named by its number of examples ("0-shot", "5-shot", as
importers of logs name them), and there are two such names or more.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from analysis.reporting.words import join_names
from analysis.runs import Runs

UNKNOWN = "unknown"
_NAME = re.compile(rf"(\d+|{UNKNOWN})-shot")


def describe_varying_example_counts(runs: Runs) -> str:
    """Say of which studies the number of examples varied, and not the wording; once per `Runs`.

    It is a sentence for the first screen; empty where wordings are wordings.
    """
    return runs.compute_once("varying examples", lambda: _describe_varying_example_counts_of_studies(runs))


def find_studies_whose_wordings_are_example_counts(runs: Runs) -> list[str]:
    """Find the studies of which the number of examples varied, and not the wording."""
    return [study for study, numbers in _list_example_counts_by_study(runs).items() if numbers]


def phrase_verdict_note_on_example_counts(
    studies: Collection[str], judged_studies: Collection[str], other: str = ""
) -> str:
    """Say at the end of a verdict that another number of examples is no other wording.

    Parameters
    ----------
    studies
        From `find_studies_whose_wordings_are_example_counts`.
    judged_studies
        The studies that the verdict is about.
    other
        What else changed, such as "order"; empty for nothing.

    Returns
    -------
    str
        A sentence; empty where the wordings of all these studies are wordings.

    >>> phrase_verdict_note_on_example_counts(["s"], ["s"]), phrase_verdict_note_on_example_counts(["s"], ["t"])
    ('What changed is the number of examples, not the wording.', '')
    >>> phrase_verdict_note_on_example_counts(["s"], ["s", "t"], "order")
    'In “s”, what changed is the number of examples or the order, not the wording.'
    """
    judged = list(dict.fromkeys(judged_studies))
    varying = [study for study in judged if study in studies]
    if not varying:
        return ""
    changed_text = f"hat changed is the number of examples{f' or the {other}' if other else ''}, not the wording."
    if len(varying) == len(judged):
        return f"W{changed_text}"
    return f"In {join_names([f'“{study}”' for study in varying])}, w{changed_text}"


def _list_example_counts_by_study(runs: Runs) -> dict[str, list[str]]:
    """List the numbers of examples of every study; none where its wordings are wordings."""
    frame = runs.sql("SELECT DISTINCT study, map_extract(attributes, 'template')[1] AS template FROM stimuli")
    return {
        str(study): list_example_counts_in_wording_names(set(part["template"]))
        for study, part in frame.groupby("study")
    }


def _describe_varying_example_counts_of_studies(runs: Runs) -> str:
    """Say it for all studies at once where they have the same numbers, else study by study."""
    named = _list_example_counts_by_study(runs)
    varying = {study: numbers for study, numbers in named.items() if numbers}
    if not varying:
        return ""
    if len(varying) == len(named) and len({tuple(numbers) for numbers in varying.values()}) == 1:
        return _phrase_varying_example_counts(next(iter(varying.values())), "")
    return " ".join(_phrase_varying_example_counts(numbers, f" of “{study}”") for study, numbers in varying.items())


def list_example_counts_in_wording_names(names: Collection[object]) -> list[str]:
    """List the numbers of examples that wordings are named by, the smallest first; none where they are not all.

    `names`: of the wordings that all items share.

    >>> list_example_counts_in_wording_names(["10-shot", "5-shot"]), list_example_counts_in_wording_names(["0-shot"])
    (['5', '10'], [])
    >>> list_example_counts_in_wording_names(["p1", "0-shot", "5-shot"])
    []
    """
    matches = [_NAME.fullmatch(name) if isinstance(name, str) else None for name in names]
    numbers = {match[1] for match in matches if match}
    if None in matches or len(numbers) < 2:
        return []
    return sorted(numbers, key=lambda number: float("inf") if number == UNKNOWN else int(number))


def name_example_numbers(numbers: Sequence[str]) -> str:
    """Write numbers of examples before the word "examples".

    `numbers`: from `list_example_counts_in_wording_names`.

    >>> name_example_numbers(["0", "5", "unknown"])
    '0, 5 and an unknown number of'
    """
    return join_names(["an unknown number of" if number == UNKNOWN else number for number in numbers], len(numbers))


def _phrase_varying_example_counts(numbers: Sequence[str], of_study: str) -> str:
    """Say that these numbers varied."""
    return (
        f"The wordings{of_study} are the same questions after {name_example_numbers(numbers)} examples: the number of "
        "examples varied, not the wording."
    )
