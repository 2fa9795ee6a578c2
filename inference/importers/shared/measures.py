"""Turn a table's value columns into response columns: answers, probabilities or counts.

A measure knows the columns it reads, and turns their cells, ordered by response, into columns of `results/schema.json`.
Several rows of one response are its samples; only answers can be sampled.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import pyarrow as pa

from ground.errors import InputError
from ground.numerals import LARGEST_EXACT
from inference.asking import text_answers
from inference.asking.reading.strict_answers import find_option_equal_to_text
from inference.stimuli.numbers import parse_number_or_nan

_POINT = re.compile(r"^(-?\d+)\.0+$")  # of codes: spreadsheets and pandas write 3 as 3.0 beside empty cells
SLACK = 1e-6  # sums of float32 probabilities may exceed 1 by this much
ResponseColumns = dict[str, pa.Array]


@dataclass(frozen=True, slots=True)
class ResponseRows:
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


class Labels(Protocol):
    """What a study says of its answers: their labels, and how they are read."""

    labels: tuple[str, ...]
    columns: tuple[str, ...]
    decision_rule: str
    recorded_fields: Mapping[str, int]  # fields of the conditions that say how the columns are read

    def find_label_of_right_answer_or_none(self, right_answer: str) -> str | None:
        """Find the label that a right answer stands for; None if it is no label."""
        ...


class Measure(Labels, Protocol):
    """One kind of value columns."""

    def build_response_columns(self, cells: Sequence[pa.Array], rows: ResponseRows) -> ResponseColumns:
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


class AnswerMeasure:
    """One column of answers: free texts to parse, or answers that must equal a wording.

    Parameters
    ----------
    column
        The column.
    options
        label -> the wordings that mean it.
    must_equal
        Whether an answer must equal a wording (case and surrounding blanks aside); otherwise it is free text.
    """

    def __init__(self, column: str, options: Mapping[str, Sequence[str]], *, must_equal: bool) -> None:
        self.labels = tuple(options)
        self.columns: tuple[str, ...] = (column,)
        text_answers.parse_answer("", options)  # refuses wordings that cannot be told apart, before a long file is read
        self._match_label = _build_function_from_answer_to_label(
            {label: [label, *wordings] for label, wordings in options.items()}
        )
        self._read_label: Callable[[str], str | None] = (
            _build_function_from_answer_to_label(options)
            if must_equal
            else lambda text: text_answers.parse_answer(text, options)
        )
        # Answers that must equal a wording are no texts: there is one way to read them.
        self._read_otherwise = None if must_equal else lambda text: find_option_equal_to_text(text, options)
        wordings = "; ".join(f"{label} = {' | '.join(wordings)}" for label, wordings in options.items())
        self.recorded_fields: Mapping[str, int] = {} if must_equal else {"text_rule": text_answers.VERSION}
        how = "an answer equals one of the wordings" if must_equal else "a text is parsed for one of the wordings"
        choice_among_samples = _describe_which_label_is_answer(self.labels)
        self.decision_rule = f"{how} ({wordings}); anything else is invalid; of several samples, {choice_among_samples}"

    def find_label_of_right_answer_or_none(self, right_answer: str) -> str | None:
        """Find the label that is the right answer or has it among its wordings; None if it is no label."""
        return self._match_label(right_answer)

    def build_response_columns(self, cells: Sequence[pa.Array], rows: ResponseRows) -> ResponseColumns:
        """Make `answer` for responses with one sample, `count` and `invalid` for several, and `output` for all.

        Of free texts, there are `sample_answer` and `sample_answer_otherwise`, too: how each was read.

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
        is_answered = cells[0].is_valid().to_numpy(zero_copy_only=False)
        of, texts = rows.of[is_answered], cells[0].drop_null()
        encoded_texts = texts.dictionary_encode()
        codes = self._match_texts_to_label_numbers(encoded_texts, self._read_label)

        samples = np.bincount(of, minlength=rows.responses)
        counts = np.zeros((rows.responses, len(self.labels) + 1), dtype=np.int64)  # the last column: invalid (code -1)
        np.add.at(counts, (of, codes), 1)  # of two labels, a sample that is neither has the code -1: counts[of, 2]
        names = np.array([*self.labels, None], dtype=object)
        single = np.full(rows.responses, -1)
        single[of] = codes
        is_single, is_sampled = samples == 1, samples > 1
        sample_answers = {}
        if self._read_otherwise is not None:
            other_codes = self._match_texts_to_label_numbers(encoded_texts, self._read_otherwise)
            sample_answers = {
                "sample_answer": group_texts_into_lists_by_lengths(pa.array(names[codes], pa.string()), samples),
                "sample_answer_otherwise": group_texts_into_lists_by_lengths(
                    pa.array(names[other_codes], pa.string()), samples
                ),
            }
        return {
            **sample_answers,
            "answer": pa.array(names[single], pa.string(), mask=~is_single),
            "count": _convert_matrix_rows_to_list_array(counts[:, :-1], is_sampled, pa.int64()),
            "invalid": pa.array(counts[:, -1], pa.int64(), mask=~is_sampled),
            "output": group_texts_into_lists_by_lengths(texts, samples),
            "error": _build_errors_of_empty_rows(samples == 0, self.columns),
        }

    def _match_texts_to_label_numbers(self, encoded_texts: Any, read_label: Callable[[str], str | None]) -> np.ndarray:
        """Read dictionary-encoded texts by a rule; return the place of each one's label, -1 for none."""
        code_by_label = {label: code for code, label in enumerate(self.labels)}
        distinct_codes = [
            code_by_label.get(read_label(text) or "", -1) for text in encoded_texts.dictionary.to_pylist()
        ]
        return np.array(distinct_codes, dtype=np.int64)[encoded_texts.indices.to_numpy()]


class _NumberMeasure:
    """What probabilities and counts share: their labels have no other wordings."""

    labels: tuple[str, ...]
    recorded_fields: Mapping[str, int] = {}

    def find_label_of_right_answer_or_none(self, right_answer: str) -> str | None:
        """Find the label that equals a right answer, apart from case and blanks; None if it is no label."""
        return _build_function_from_answer_to_label({label: [label] for label in self.labels})(right_answer)


class ProbabilityMeasure(_NumberMeasure):
    """One column per option with its probability."""

    def __init__(self, columns: Mapping[str, str]) -> None:
        self.labels = tuple(columns)
        self.columns = tuple(columns.values())
        self.decision_rule = f"by probability: {_describe_which_label_is_answer(self.labels)}"

    def build_response_columns(self, cells: Sequence[pa.Array], rows: ResponseRows) -> ResponseColumns:
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
        values = _convert_cells_to_numbers(cells, self.columns, rows)
        missing = _find_empty_and_refuse_partial_rows(values, self.columns, rows)
        _refuse_rows_marked_as_wrong(
            values.min(axis=1) < 0, rows, f"a probability in {', '.join(self.columns)} is negative"
        )
        sums = values.sum(axis=1)
        is_above_one = sums > 1 + SLACK
        first_sum = sums[np.argmax(is_above_one)] if len(sums) else 0.0
        _refuse_rows_marked_as_wrong(
            is_above_one, rows, f"the probabilities {', '.join(self.columns)} add up to {first_sum:.4g}, more than 1"
        )
        errors = _build_errors_of_empty_rows(missing, self.columns)
        return build_probability_columns(values, errors.to_pylist())


class CountMeasure(_NumberMeasure):
    """One column per option with the number of samples that chose it, and if wanted one for invalid samples."""

    def __init__(self, columns: Mapping[str, str], invalid: str | None) -> None:
        self.labels = tuple(columns)
        self.columns = (*columns.values(), *([] if invalid is None else [invalid]))
        self._has_invalid = invalid is not None
        self.decision_rule = f"by count of samples: {_describe_which_label_is_answer(self.labels)}"

    def build_response_columns(self, cells: Sequence[pa.Array], rows: ResponseRows) -> ResponseColumns:
        """Make `count` and `invalid` (0 where the table has no such column).

        Parameters
        ----------
        cells
            Cells of every column of counts, ordered by response.
        rows
            The rows that they are from.

        Returns
        -------
        Name -> column; a response without counts, or with zeros alone, has an `error`.

        Raises
        ------
        InputError
            One is no whole number from 0 on, together they are too many, or some of a response are missing.
        """
        values = _convert_cells_to_numbers(cells, self.columns, rows)
        missing = _find_empty_and_refuse_partial_rows(values, self.columns, rows)
        wrong = (values < 0).any(axis=1) | ((values % 1 != 0) & ~np.isnan(values)).any(axis=1)
        _refuse_rows_marked_as_wrong(
            wrong, rows, f"a count in {', '.join(self.columns)} is negative or not a whole number"
        )
        beyond = np.nansum(values, axis=1) >= LARGEST_EXACT  # beyond, floats leave out whole numbers
        _refuse_rows_marked_as_wrong(
            beyond, rows, f"the counts in {', '.join(self.columns)} are more than can be counted exactly"
        )
        whole = np.where(np.isnan(values), 0, values).astype(np.int64)
        missing |= whole.sum(axis=1) == 0  # nobody answered: no run folder holds a response without samples
        invalid = whole[:, -1] if self._has_invalid else np.zeros(len(whole), dtype=np.int64)
        return {
            "count": _convert_matrix_rows_to_list_array(whole[:, : len(self.labels)], ~missing, pa.int64()),
            "invalid": pa.array(invalid, pa.int64(), mask=missing),
            "error": _build_errors_of_empty_rows(missing, self.columns, "no sample"),
        }


def build_probability_columns(values: np.ndarray, errors: Sequence[str | None]) -> ResponseColumns:
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
    has_response = np.array([error is None for error in errors], dtype=bool)
    with np.errstate(divide="ignore"):  # log 0 = -inf is what is meant
        logarithms = np.log(values)
    return {
        "probability": _convert_matrix_rows_to_list_array(values, has_response, pa.float64()),
        "logprob": _convert_matrix_rows_to_list_array(logarithms, has_response, pa.float64()),
        "mass": pa.array(values.sum(axis=1), pa.float64(), mask=~has_response),
        "error": pa.array(errors, pa.string()),
    }


def _build_function_from_answer_to_label(options: Mapping[str, Sequence[str]]) -> Callable[[str], str | None]:
    """Make a function from an answer to the label with an equal wording, or None."""
    label = {_fold_answer(wording): name for name, wordings in options.items() for wording in wordings}

    def match_answer_to_label(answer: str) -> str | None:
        folded = _fold_answer(answer)
        return label.get(folded, label.get(_POINT.sub(r"\1", folded)))

    return match_answer_to_label


def _fold_answer(text: str) -> str:
    """Remove case, surrounding blanks and variants of characters from an answer."""
    return unicodedata.normalize("NFKC", text).casefold().strip()


def _describe_which_label_is_answer(labels: Sequence[str]) -> str:
    """Say which label is the answer: of two, the first from one half on; of more, the largest."""
    if len(labels) > 2:
        return "the option that has most; of equal ones none"
    first, second = labels
    return f"{first} where {first} / ({first} + {second}) >= 0.5, else {second}; so exactly 0.5, a tie, is {first}"


def _convert_cells_to_numbers(cells: Sequence[pa.Array], columns: Sequence[str], rows: ResponseRows) -> np.ndarray:
    """Convert cells to an array (responses, columns) of numbers; an empty cell is NaN."""
    values = np.empty((rows.responses, len(columns)))
    for j, (column, texts) in enumerate(zip(columns, cells, strict=True)):
        values[:, j] = [_parse_number_or_nan_or_inf(text) for text in texts.to_pylist()]
        wrong = np.flatnonzero(np.isinf(values[:, j]))
        if len(wrong):
            place, text = rows.place[rows.number[wrong[0]]], texts[wrong[0]].as_py()
            point = "; write it with a point, not a comma" if "," in text else ""
            raise InputError(f"{place}: column '{column}' holds '{text:.40}', which is not a number{point}")
    return values


def _parse_number_or_nan_or_inf(text: str | None) -> float:
    """Read a number: NaN where there is none, infinite where the text is no finite number."""
    if text is None or not text.strip():
        return math.nan
    number = parse_number_or_nan(text)
    return number if math.isfinite(number) else math.inf


def _find_empty_and_refuse_partial_rows(values: np.ndarray, columns: Sequence[str], rows: ResponseRows) -> np.ndarray:
    """Find the rows in which all cells are empty; refuse rows in which only some are."""
    empty = np.isnan(values)
    _refuse_rows_marked_as_wrong(
        empty.any(axis=1) & ~empty.all(axis=1), rows, f"some of {', '.join(columns)} are empty, others are not"
    )
    missing: np.ndarray = empty.all(axis=1)
    return missing


def _refuse_rows_marked_as_wrong(wrong: np.ndarray, rows: ResponseRows, trouble: str) -> None:
    """Refuse rows that are marked as wrong; the first one is named."""
    if wrong.any():
        raise InputError(f"{rows.place[rows.number[np.argmax(wrong)]]}: {trouble}")


def _build_errors_of_empty_rows(missing: np.ndarray, columns: Sequence[str], what: str = "no value") -> pa.Array:
    """Make the `error` of responses that have a row in the table, but no value."""
    errors = [f"{what} in column {', '.join(columns)}" if is_missing else None for is_missing in missing]
    return pa.array(errors, pa.string())


def _convert_matrix_rows_to_list_array(values: np.ndarray, has_list: np.ndarray, kind: Any) -> pa.Array:
    """Convert (n, k) numbers to n lists of k, null where not there."""
    offsets = np.arange(0, values.size + 1, values.shape[1], dtype=np.int32)
    return pa.ListArray.from_arrays(pa.array(offsets), pa.array(values.ravel(), kind), mask=pa.array(~has_list))


def group_texts_into_lists_by_lengths(texts: pa.Array, lengths: np.ndarray) -> pa.Array:
    """Cut texts in order into lists of the given lengths, null where the length is 0."""
    offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)
    return pa.ListArray.from_arrays(pa.array(offsets), texts.cast(pa.string()), mask=pa.array(lengths == 0))
