"""Turn a table's value columns into response columns: answers, probabilities or counts.

A measure knows the columns it reads, and turns their cells, ordered by response, into columns of `results/schema.json`.
Several rows of one response are its samples; only answers can be sampled.
"""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import pyarrow as pa

from ground.errors import InputError
from inference.asking import text_answers
from inference.stimuli.records import EXACT

SLACK = 1e-6  # sums of float32 probabilities may exceed 1 by this much
Columns = dict[str, pa.Array]


@dataclass(frozen=True, slots=True)
class Rows:
    """Some rows of a table, ordered by response.

    Attributes
    ----------
    place
        File and row of every row of the table, for messages.
    number
        The number of each of these rows in the table.
    of
        The number of the response that each belongs to, among the responses of these rows.
    responses
        How many responses there are; each has at least one row.
    """

    place: Sequence[str]
    number: np.ndarray
    of: np.ndarray
    responses: int


class Measure(Protocol):
    """One kind of value columns."""

    labels: tuple[str, ...]
    columns: tuple[str, ...]
    decision_rule: str
    recorded: Mapping[str, int]  # fields of the conditions that say how the columns are read

    def label(self, wording: str) -> str | None:
        """Find the label that a right answer stands for; None if it is no label."""
        ...

    def responses(self, cells: Sequence[pa.Array], rows: Rows) -> Columns:
        """Make the response columns.

        Parameters
        ----------
        cells
            Cells of every value column, ordered by response.
        rows
            The rows that they are from.

        Returns
        -------
        Name -> column, with one entry per response.

        Raises
        ------
        InputError
            A value is not what this measure reads.
        """
        ...


class Answers:
    """One column of answers: free texts to parse, or answers that must equal a wording.

    Parameters
    ----------
    column
        The column.
    options
        label -> the wordings that mean it.
    given
        Whether an answer must equal a wording (case and surrounding blanks aside); otherwise it is free text.
    """

    def __init__(self, column: str, options: Mapping[str, Sequence[str]], *, given: bool) -> None:
        self.labels = tuple(options)
        self.columns: tuple[str, ...] = (column,)
        text_answers.parse("", options)  # refuses wordings that cannot be told apart, before a long file is read
        self._match = _matcher({label: [label, *wordings] for label, wordings in options.items()})
        self._read: Callable[[str], str | None] = (
            _matcher(options) if given else lambda text: text_answers.parse(text, options)
        )
        wordings = "; ".join(f"{label} = {' | '.join(wordings)}" for label, wordings in options.items())
        self.recorded: Mapping[str, int] = {} if given else {"text_rule": text_answers.VERSION}
        how = "an answer equals one of the wordings" if given else "a text is parsed for one of the wordings"
        self.decision_rule = (
            f"{how} ({wordings}); anything else is invalid; of several samples, {_majority(self.labels)}"
        )

    def label(self, wording: str) -> str | None:
        """Find the label that this is, or that has this among its wordings."""
        return self._match(wording)

    def responses(self, cells: Sequence[pa.Array], rows: Rows) -> Columns:
        """Make `answer` for responses with one sample, `count` and `invalid` for several, and `output` for all.

        Parameters
        ----------
        cells
            Cells of the answer column, ordered by response; null: no answer.
        rows
            The rows that they are from.

        Returns
        -------
        Name -> column; a response without any answer has an `error`.
        """
        answered = cells[0].is_valid().to_numpy(zero_copy_only=False)
        of, texts = rows.of[answered], cells[0].drop_null()
        found = texts.dictionary_encode()
        place = {label: code for code, label in enumerate(self.labels)}
        read = [place.get(self._read(text) or "", -1) for text in found.dictionary.to_pylist()]
        codes = np.array(read, dtype=np.int64)[found.indices.to_numpy()]

        samples = np.bincount(of, minlength=rows.responses)
        counts = np.zeros((rows.responses, len(self.labels) + 1), dtype=np.int64)  # the last column: invalid (code -1)
        np.add.at(counts, (of, codes), 1)  # of two labels, a sample that is neither has the code -1: counts[of, 2]
        names = np.array([*self.labels, None], dtype=object)
        single = np.full(rows.responses, -1)
        single[of] = codes
        one, several = samples == 1, samples > 1
        return {
            "answer": pa.array(names[single], pa.string(), mask=~one),
            "count": _lists(counts[:, :-1], several, pa.int64()),
            "invalid": pa.array(counts[:, -1], pa.int64(), mask=~several),
            "output": _ragged(texts, samples),
            "error": _no_response(samples == 0, self.columns),
        }


class _Numbers:
    """What probabilities and counts share: their labels have no other wordings."""

    labels: tuple[str, ...]
    recorded: Mapping[str, int] = {}

    def label(self, wording: str) -> str | None:
        """Find the label that this is."""
        return _matcher({label: [label] for label in self.labels})(wording)


class Probabilities(_Numbers):
    """One column per option with its probability."""

    def __init__(self, columns: Mapping[str, str]) -> None:
        self.labels = tuple(columns)
        self.columns = tuple(columns.values())
        self.decision_rule = f"by probability: {_majority(self.labels)}"

    def responses(self, cells: Sequence[pa.Array], rows: Rows) -> Columns:
        """Make `probability`, `logprob` and `mass`.

        Parameters
        ----------
        cells
            Cells of every column of probabilities, ordered by response.
        rows
            The rows that they are from.

        Returns
        -------
        Name -> column; a response without probabilities has an `error`.

        Raises
        ------
        InputError
            One is no number or negative, they add up to more than 1, or some of a response are missing.
        """
        values = _numbers(cells, self.columns, rows)
        missing = _missing(values, self.columns, rows)
        _refuse(values.min(axis=1) < 0, rows, f"a probability in {', '.join(self.columns)} is negative")
        _refuse(
            values.sum(axis=1) > 1 + SLACK, rows, f"the probabilities {', '.join(self.columns)} add up to more than 1"
        )
        errors = _no_response(missing, self.columns)
        return probability_columns(values, errors.to_pylist())


class Counts(_Numbers):
    """One column per option with the number of samples that chose it, and if wanted one for invalid samples."""

    def __init__(self, columns: Mapping[str, str], invalid: str | None) -> None:
        self.labels = tuple(columns)
        self.columns = (*columns.values(), *([invalid] if invalid else []))
        self._has_invalid = invalid is not None
        self.decision_rule = f"by count of samples: {_majority(self.labels)}"

    def responses(self, cells: Sequence[pa.Array], rows: Rows) -> Columns:
        """Make `count` and `invalid` (0 where the table has no such column).

        Parameters
        ----------
        cells
            Cells of every column of counts, ordered by response.
        rows
            The rows that they are from.

        Returns
        -------
        Name -> column; a response without counts has an `error`.

        Raises
        ------
        InputError
            One is no whole number from 0 on, together they are too many, or some of a response are missing.
        """
        values = _numbers(cells, self.columns, rows)
        missing = _missing(values, self.columns, rows)
        wrong = (values < 0).any(axis=1) | ((values % 1 != 0) & ~np.isnan(values)).any(axis=1)
        _refuse(wrong, rows, f"a count in {', '.join(self.columns)} is negative or not a whole number")
        beyond = np.nansum(values, axis=1) >= EXACT  # beyond, floats leave out whole numbers
        _refuse(beyond, rows, f"the counts in {', '.join(self.columns)} are more than can be counted exactly")
        whole = np.where(np.isnan(values), 0, values).astype(np.int64)
        invalid = whole[:, -1] if self._has_invalid else np.zeros(len(whole), dtype=np.int64)
        return {
            "count": _lists(whole[:, : len(self.labels)], ~missing, pa.int64()),
            "invalid": pa.array(invalid, pa.int64(), mask=missing),
            "error": _no_response(missing, self.columns),
        }


def probability_columns(values: np.ndarray, errors: Sequence[str | None]) -> Columns:
    """Make the response columns of probabilities.

    Parameters
    ----------
    values
        (responses, options) probabilities; anything where there is an error.
    errors
        Why there is no response; None where there is one.

    Returns
    -------
    `probability` and `logprob` (log 0 is -inf), `mass`: the sum of the probabilities, and `error`.
    """
    there = np.array([error is None for error in errors], dtype=bool)
    with np.errstate(divide="ignore"):  # log 0 = -inf is what is meant
        logarithms = np.log(values)
    return {
        "probability": _lists(values, there, pa.float64()),
        "logprob": _lists(logarithms, there, pa.float64()),
        "mass": pa.array(values.sum(axis=1), pa.float64(), mask=~there),
        "error": pa.array(errors, pa.string()),
    }


def _matcher(options: Mapping[str, Sequence[str]]) -> Callable[[str], str | None]:
    """Make a function from an answer to the label with an equal wording, or None."""
    label = {_folded(wording): name for name, wordings in options.items() for wording in wordings}
    return lambda answer: label.get(_folded(answer))


def _folded(text: str) -> str:
    return unicodedata.normalize("NFKC", text).casefold().strip()


def _majority(labels: Sequence[str]) -> str:
    first, second = labels[:2]
    return f"{first} where {first} / ({first} + {second}) >= 0.5, else {second}; so exactly 0.5, a tie, is {first}"


def _numbers(cells: Sequence[pa.Array], columns: Sequence[str], rows: Rows) -> np.ndarray:
    """Convert cells to an array (rows, columns) of numbers; an empty cell is NaN."""
    values = np.empty((rows.responses, len(columns)))
    for j, (column, texts) in enumerate(zip(columns, cells, strict=True)):
        values[:, j] = [_number(text) for text in texts.to_pylist()]
        wrong = np.flatnonzero(np.isinf(values[:, j]))
        if len(wrong):
            place, text = rows.place[rows.number[wrong[0]]], texts[wrong[0]].as_py()
            raise InputError(f"{place}: column '{column}' holds '{text:.40}', which is not a number")
    return values


def _number(text: str | None) -> float:
    """Read a number: NaN where there is none, infinite where the text is no finite number."""
    if text is None or not text.strip():
        return math.nan
    try:
        number = float(text)
    except ValueError:
        return math.inf
    return number if math.isfinite(number) else math.inf


def _missing(values: np.ndarray, columns: Sequence[str], rows: Rows) -> np.ndarray:
    """Find the rows in which all cells are empty; refuse rows in which only some are."""
    empty = np.isnan(values)
    _refuse(empty.any(axis=1) & ~empty.all(axis=1), rows, f"some of {', '.join(columns)} are empty, others are not")
    missing: np.ndarray = empty.all(axis=1)
    return missing


def _refuse(wrong: np.ndarray, rows: Rows, trouble: str) -> None:
    if wrong.any():
        raise InputError(f"{rows.place[rows.number[np.argmax(wrong)]]}: {trouble}")


def _no_response(missing: np.ndarray, columns: Sequence[str]) -> pa.Array:
    """Make the `error` of responses that have a row in the table, but no value."""
    nothing = [f"no value in column {', '.join(columns)}" if gone else None for gone in missing]
    return pa.array(nothing, pa.string())


def _lists(values: np.ndarray, there: np.ndarray, kind: Any) -> pa.Array:
    """Convert (n, k) numbers to n lists of k, null where not there."""
    offsets = np.arange(0, values.size + 1, values.shape[1], dtype=np.int32)
    return pa.ListArray.from_arrays(pa.array(offsets), pa.array(values.ravel(), kind), mask=pa.array(~there))


def _ragged(texts: pa.Array, lengths: np.ndarray) -> pa.Array:
    """Cut texts in order into lists of the given lengths, null where the length is 0."""
    offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)
    return pa.ListArray.from_arrays(pa.array(offsets), texts.cast(pa.string()), mask=pa.array(lengths == 0))
