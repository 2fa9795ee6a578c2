"""Collect what is known of the measures of logs while their scores are read: bounds, directions, counts.

With ``--scores``, an importer of logs yields a response for every number that a log has of an answer, each under a
condition of its measure. What the call and the logs say of a measure is put together once all is read.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ground.errors import InputError, format_quantity
from inference.importers.shared.logged_responses import LoggedResponse
from inference.importers.shared.scored import (
    HIGHER,
    LOWER,
    ScoreMeasure,
    parse_score_measures_of_call,
    parse_score_range,
)
from inference.stimuli.numbers import parse_number_or_nan
from inference.stimuli.reading.files import shorten_value

SHARE = (0.0, 1.0)  # of booleans, and of the letters of Inspect
_CLOSE = 1e-9  # relative, between a mean and what is stated of it


def collect_options_for_fingerprint(args: argparse.Namespace, *names: str) -> dict[str, Any]:
    """Collect some options for a fingerprint; those of scores only with `--scores`: earlier imports stay theirs."""
    score_names = ("scores", "score_range", "lower_is_better") if args.scores else ()
    return {name: getattr(args, name) for name in (*names, *score_names)}


def refuse_measure_options_without_scores(args: argparse.Namespace, command: str) -> None:
    """Refuse options about measures without `--scores`, and `--right-or-wrong` with it.

    Parameters
    ----------
    args
        The options of the call, as `inference.arguments.add_imported_score_arguments` defines them.
    command
        Its name, for messages.

    Raises
    ------
    InputError
        Says which option to add or to leave out.
    """
    if (args.score_range or args.lower_is_better) and not args.scores:
        raise InputError(f"{command}: --score-range and --lower-is-better go with --scores; add it")
    if args.scores and getattr(args, "right_or_wrong", False):
        raise InputError(f"{command}: --scores keeps numbers, --right-or-wrong does not; give one of them")


@dataclass(slots=True)
class _Scores:
    """Count the scores of a measure, and hold its lowest and highest with their places."""

    number: int = 0
    lowest: float = math.inf
    lowest_where: str = ""
    highest: float = -math.inf
    highest_where: str = ""

    def count_scores_and_update_extremes(self, where: str, scores: tuple[float, ...]) -> None:
        """Add the scores of a response."""
        self.number += len(scores)
        low, high = min(scores), max(scores)
        if low < self.lowest:
            self.lowest, self.lowest_where = low, where
        if high > self.highest:
            self.highest, self.highest_where = high, where


class LoggedMeasures:
    """The measures of some logs, to be filled while their responses are read.

    Parameters
    ----------
    args
        The options of the call, as `inference.arguments.add_imported_score_arguments` defines them.
    command
        Its name, for messages.

    Attributes
    ----------
    notes
        What the logs hold besides scores, in lines for the user.

    Raises
    ------
    InputError
        A range that is none.
    """

    def __init__(self, args: argparse.Namespace, command: str) -> None:
        for text in args.score_range:
            parse_score_range(text.rpartition("=")[2], f"{command}, --score-range {text}")
        self.notes: list[str] = []
        self._ranges, self._lower, self._command = args.score_range, args.lower_is_better, command
        self._stated: dict[str, ScoreMeasure] = {}
        self._scores: dict[str, _Scores] = {}
        self._n_missing = 0

    def note_range_of_measure(self, name: str, ends: tuple[float, float] | None, direction: str = HIGHER) -> None:
        """Note what a log says of a measure; where logs say two things, the measure has no range.

        Parameters
        ----------
        name
            The measure.
        ends
            Lowest and highest score that there can be; None: not known.
        direction
            Which scores are better.

        Raises
        ------
        InputError
            Logs say both, and the call does not decide.
        """
        stated = self._stated.get(name)
        if stated is not None and stated.direction != direction and name not in self._lower:
            raise InputError(
                f"{self._command} --scores: by {shorten_value(name)}, higher scores are better in one log and lower "
                "ones in another; correct one, or say it by --lower-is-better"
            )
        if stated is None or stated.range != ends:
            self._stated[name] = ScoreMeasure(name, ends if stated is None else None, direction)

    def filter_responses_and_complete_conditions(
        self, responses: Iterable[LoggedResponse], conditions: dict[str, dict[str, Any]]
    ) -> Iterator[LoggedResponse]:
        """Go through responses, and complete their conditions at the end.

        Parameters
        ----------
        responses
            With `scores`.
        conditions
            condition name -> fields with `measure`, complete once `responses` have been gone through.

        Yields
        ------
        The responses; of a condition without any score, none.

        Raises
        ------
        InputError
            There is no score, one is outside its range, or an option names a measure that is not there.
        """
        waiting: dict[str, list[LoggedResponse] | None] = {}  # condition -> those before its first score
        for response in responses:
            before = waiting.setdefault(response.condition, [])
            if not response.scores:
                self._n_missing += 1
                if before is not None:
                    before.append(response)
                    continue
            else:
                measure = conditions[response.condition]["measure"]
                self._scores.setdefault(measure, _Scores()).count_scores_and_update_extremes(
                    response.where, response.scores
                )
                if before is not None:
                    waiting[response.condition] = None
                    yield from before
            yield response
        for condition in conditions.keys() - waiting.keys():
            del conditions[condition]  # of a log that was left out
        for condition, without_score in waiting.items():
            if without_score is not None:
                del conditions[condition]
                self._n_missing -= len(without_score)
                self.notes.append(f"left out: {condition}, without any score; its responses: {len(without_score):,}")
        self._add_measure_ranges_to_conditions(conditions)

    def _add_measure_ranges_to_conditions(self, conditions: Mapping[str, dict[str, Any]]) -> None:
        """Add range and direction of its measure to every condition; refuse a score outside of its range."""
        names = list(dict.fromkeys(fields["measure"] for fields in conditions.values()))
        if not names:
            raise InputError("; ".join([f"{self._command} --scores: there is no score in these logs", *self.notes[:3]]))
        measures = {}
        for measure in parse_score_measures_of_call(names, self._ranges, self._lower, self._command):
            stated = self._stated.get(measure.name, measure)
            measures[measure.name] = ScoreMeasure(
                measure.name,
                measure.range or stated.range,
                LOWER if LOWER in (measure.direction, stated.direction) else HIGHER,
            )
        for name, measure in measures.items():
            self._refuse_score_outside_range(measure, self._scores[name])
        for fields in conditions.values():
            fields |= measures[fields["measure"]].fields

    def _refuse_score_outside_range(self, measure: ScoreMeasure, scores: _Scores) -> None:
        """Refuse a measure whose lowest or highest score is outside its range."""
        ends = (scores.lowest, scores.highest)
        place = measure.find_index_of_score_outside_range(np.array(ends))
        if place is not None and measure.range is not None:
            low, high = measure.range
            raise InputError(
                f"{(scores.lowest_where, scores.highest_where)[place]}: {measure.name} is {ends[place]:g}, outside its "
                f"range {low:g}-{high:g}; correct the score, or give --score-range {measure.name}=LOW-HIGH"
            )

    def describe_score_count_and_left_out(self) -> list[str]:
        """Say how many scores there are and are not, and what was left out; once all is read."""
        number = sum(scores.number for scores in self._scores.values())
        missing = f"; responses without one: {self._n_missing:,}" if self._n_missing else ""
        by = format_quantity(len(self._scores), "measure")
        whole = "" if self.notes else ", all that the imported logs have"
        return [f"{format_quantity(number, 'score')} by {by}{whole}{missing}", *self.notes]


class ComparedMean(NamedTuple):
    """The mean of a measure, of the scores in a file and as something beside them states it."""

    file_name: str
    measure: str
    mean: float
    stated: float


def is_stated_mean(mean: float, stated: float) -> bool:
    """Tell whether a mean is the one that is stated, but for rounding."""
    return math.isclose(mean, stated, rel_tol=_CLOSE, abs_tol=_CLOSE)


def describe_number_of_stated_means(n_stated: int, n_means: int, who_states: str) -> str:
    """Say how many of some means are what something beside them states.

    >>> describe_number_of_stated_means(5, 5, "run states"), describe_number_of_stated_means(0, 1, "records state")
    ('5 of 5 means are what the run states', '0 of 1 mean is what the records state')
    """
    return f"{n_stated:,} of {format_quantity(n_means, 'mean')} {'is' if n_means == 1 else 'are'} what the {who_states}"


def describe_agreement_of_means(means: Sequence[ComparedMean], source: str) -> list[str]:
    """Say how many means are those that are stated, and which are not.

    Parameters
    ----------
    means
        The means; without any, nothing is said.
    source
        What states them, as "record".

    Returns
    -------
    Lines for the user.
    """
    if not means:
        return []
    differing = [compared for compared in means if not is_stated_mean(compared.mean, compared.stated)]
    lines = [describe_number_of_stated_means(len(means) - len(differing), len(means), f"{source}s state")]
    lines += [
        f"{compared.file_name}: the mean of {compared.measure} is {compared.mean:.6g}, the {source} states "
        f"{compared.stated:.6g}; does it take another average?"
        for compared in differing[:5]
    ]
    if len(differing) > 5:
        lines.append(f"and {format_quantity(len(differing) - 5, 'more mean')} unlike what the {source}s state")
    return lines


def describe_values_without_number(number: int) -> str:
    """Say that a measure has values that are no numbers.

    >>> describe_values_without_number(6), describe_values_without_number(1)
    ('whose 6 values are no numbers', 'whose one value is no number')
    """
    return "whose one value is no number" if number == 1 else f"whose {number:,} values are no numbers"


def parse_logged_number(where: str, name: str, value: Any) -> float | None:
    """Read a number that a log has of an answer; None where there is none: null or NaN.

    Parameters
    ----------
    where
        File and place, for messages.
    name
        What it is.
    value
        What JSON holds.

    Returns
    -------
    The number; of a boolean, 0 or 1.

    Raises
    ------
    InputError
        It is a text, or infinite.
    """
    if value is None:
        return None
    number = math.inf if isinstance(value, str) else parse_number_or_nan(value)
    if isinstance(value, bool):
        number = float(value)
    if math.isinf(number) or not isinstance(value, bool | int | float):
        raise InputError(f"{where}: {name} is {shorten_value(value)}, where a number is needed; correct it")
    return None if math.isnan(number) else number
