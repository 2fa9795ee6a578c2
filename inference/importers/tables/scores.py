"""Import the scores of a long table: every score column is a measure, and a condition of its own."""

from __future__ import annotations

import argparse
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ground.errors import InputError
from inference.importers.shared.scored import (
    DECISION_RULE,
    ENDS,
    ScoreMeasure,
    build_score_columns,
    parse_score_measures_of_call,
    refuse_conditions_of_one_name,
)
from inference.importers.tables.long import split_pairs_into_coded_columns, split_responses_into_memory_batches
from inference.stimuli.numbers import parse_number_or_nan
from inference.stimuli.reading.files import shorten_value

if TYPE_CHECKING:
    import pyarrow as pa

    from inference.importers.tables.long_rows import LongTable

MISSING = frozenset({"", "nan", "na", "n/a", "null", "none"})  # how programs write that there is no number
WHERE = "import table"


class ScoreColumns:
    """The score columns of a call, in place of the measure that reads answers.

    Parameters
    ----------
    args
        The options of the call.

    Raises
    ------
    InputError
        Two scores of one name, a wrong range, an option that does not go with scores.
    """

    labels: tuple[str, ...] = ENDS
    decision_rule = DECISION_RULE
    recorded_fields: Mapping[str, int] = {}

    def __init__(self, args: argparse.Namespace) -> None:
        if args.gold_column is not None:
            raise InputError(f"{WHERE}: --gold-column goes with answers; a score says itself how right one is")
        self.measures = parse_score_measures_of_call(args.score_column, args.score_range, args.lower_is_better, WHERE)
        self.columns = (*args.score_column, *([] if args.output_column is None else [args.output_column]))

    def find_label_of_right_answer_or_none(self, right_answer: str) -> str | None:
        """Find no label: scores have no right answer."""
        return None

    def build_conditions(self, settings: Mapping[str, Mapping[str, Any]]) -> dict[str, dict[str, Any]]:
        """Build the conditions: name -> fields, one for every setting of the table and every measure."""
        condition_fields = [
            (measure.name_condition(setting), {**fields, **measure.fields})
            for setting, fields in settings.items()
            for measure in self.measures
        ]
        refuse_conditions_of_one_name(condition_fields, WHERE)
        return dict(condition_fields)


class TableScores:
    """The numbers of all score columns, read and checked once.

    Parameters
    ----------
    table
        The rows; its value columns are those of `score_columns`.
    score_columns
        The measures and their columns.

    Raises
    ------
    InputError
        A text that is no number, a score outside its range, a column without any score; with file and row.
    """

    def __init__(self, table: LongTable, score_columns: ScoreColumns) -> None:
        self.measures = score_columns.measures
        self._table = table
        self.scores = [
            _read_score_column(packed.array(), measure, table.place)
            for packed, measure in zip(table.values, self.measures, strict=False)
        ]
        self._has_output = len(table.values) > len(self.measures)

    def describe_missing_counts_per_measure(self) -> list[str]:
        """Say in one line for each measure how many of its cells have no score; nothing where all have one."""
        n_missing = [int(np.isnan(scores).sum()) for scores in self.scores]
        return [
            f"{measure.name}: {missing:,} of {len(self._table.place):,} cells without a score"
            for measure, missing in zip(self.measures, n_missing, strict=True)
            if missing
        ]

    def build_responses(self, response_numbers: np.ndarray, first_row_of_response: np.ndarray) -> Iterator[pa.Table]:
        """Make one row per response and measure, without `study`: some at a time.

        Parameters
        ----------
        response_numbers, first_row_of_response
            The responses, as `long.number_responses_refusing_repeats` made them.

        Yields
        ------
        Tables with columns of `results/schema.json`, one measure after the other.
        """
        import pyarrow as pa

        pairs = self._table.model_conditions
        names = {
            **split_pairs_into_coded_columns(("model", "condition"), pairs),
            **split_pairs_into_coded_columns(("item", "variant"), self._table.stimulus),
        }
        settings, codes = names.pop("condition")
        outputs = self._table.values[-1].array() if self._has_output else None
        for first_rows, rows, of in split_responses_into_memory_batches(
            self._table, response_numbers, first_row_of_response
        ):
            keys = {name: texts.take(pa.array(places[first_rows])) for name, (texts, places) in names.items()}
            texts = None if outputs is None else outputs.take(pa.array(rows))
            for measure, scores in zip(self.measures, self.scores, strict=True):
                if texts is not None:
                    keys["output"] = _group_output_texts_by_response(texts, scores[rows], of, len(first_rows))
                conditions = pa.array([measure.name_condition(setting) for setting in settings.to_pylist()])
                error = f"no score in column {measure.name}"
                columns = build_score_columns(scores[rows], of, len(first_rows), error)
                yield pa.table({**keys, **columns, "condition": conditions.take(pa.array(codes[first_rows]))})


def _read_score_column(cells: pa.Array, measure: ScoreMeasure, places: Sequence[str]) -> np.ndarray:
    """Read the numbers of a score column; NaN where a cell is empty. What is no number, or outside, is refused."""
    encoded = cells.dictionary_encode()
    # A score that comes again is read once; the code of a missing cell stands for the NaN at the end.
    numbers = np.array([*map(_parse_score_or_nan_or_inf, encoded.dictionary.to_pylist()), math.nan])
    codes = encoded.indices.fill_null(len(numbers) - 1).to_numpy(zero_copy_only=False)
    scores = numbers[codes]
    is_wrong = np.isinf(scores)
    if is_wrong.any():
        row = int(np.argmax(is_wrong))
        text = cells[row].as_py()
        point = "; write it with a point, not a comma" if "," in text else ""
        raise InputError(
            f"{places[row]}: column '{measure.name}' holds {shorten_value(text)}, which is not a number{point}"
        )
    outside = measure.find_index_of_score_outside_range(scores)
    if outside is not None and measure.range is not None:
        low, high = measure.range
        raise InputError(
            f"{places[outside]}: column '{measure.name}' holds {shorten_value(cells[outside].as_py())}, outside its "
            f"--score-range {low:g}-{high:g}; correct the score, or say --score-range {measure.name}=LOW-HIGH"
        )
    if np.isnan(scores).all():
        raise InputError(f"{WHERE}: column '{measure.name}' has no score in any row; name another --score-column")
    return scores


def _parse_score_or_nan_or_inf(text: str) -> float:
    """Read a score: NaN where a cell says that there is none, infinite where it holds no finite number."""
    if text.strip().casefold() in MISSING:
        return math.nan
    number = parse_number_or_nan(text)
    return number if math.isfinite(number) else math.inf


def _group_output_texts_by_response(texts: pa.Array, scores: np.ndarray, of: np.ndarray, n_responses: int) -> pa.Array:
    """Collect the texts of every response, one beside each score, or all where it has no score; null without any."""
    import pyarrow as pa

    from inference.importers.shared.measures import group_texts_into_lists_by_lengths

    has_text, has_score = texts.is_valid().to_numpy(zero_copy_only=False), ~np.isnan(scores)
    is_in_scored_response = np.bincount(of[has_score], minlength=n_responses)[of] > 0
    is_wanted = np.where(is_in_scored_response, has_score, has_text)
    is_taken = is_wanted & (np.bincount(of[is_wanted & has_text], minlength=n_responses)[of] > 0)
    n_texts = np.bincount(of[is_taken], minlength=n_responses)
    return group_texts_into_lists_by_lengths(texts.filter(pa.array(is_taken)).fill_null(""), n_texts)
