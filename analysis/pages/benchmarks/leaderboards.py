"""Read scores of models on benchmarks from a file: plain CSV or YAML, or one of two public leaderboards."""

from __future__ import annotations

import csv
import math
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd

from analysis.pages.benchmarks.repeated import join_repeated_rows_of_models
from analysis.reporting.words import format_quantity
from analysis.runs import reading
from ground.errors import InputError, shorten_to_one_line

NAMES = ("model", "model_name", "name", "id")
SIZES = ("parameters", "params", "params_billions")
DATE = "date"
BILLION = 1e9
OPEN_LLM = "evaluations_ifeval_value"  # only the export of the Open LLM Leaderboard has this column
OPEN_LLM_DATE = "metadata_submission_date"
ALL_COLUMNS = "all"
MISSING = frozenset({"", "~", "null", "none", "na", "n/a", "nan", "-"})  # what stands for no score, in any case
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?", re.ASCII | re.IGNORECASE)
_INFINITE = re.compile(r"[+-]?\.?inf(inity)?", re.IGNORECASE)


@dataclass(frozen=True)
class Scores:
    """Hold scores by model.

    Attributes
    ----------
    frame
        One row per model, with its name as index; one column per benchmark, NaN without a score.
    parameters
        Size of each model, NaN if unknown.
    rows
        How many rows of the file each model has.
    rule
        What made one row of several: best, mean or newest; empty where every model has one.
    source
        The file and its format.
    ignored
        Columns that are no benchmarks here.
    """

    frame: pd.DataFrame
    parameters: pd.Series
    rows: pd.Series
    rule: str
    source: str
    ignored: tuple[str, ...] = ()

    @property
    def joined_row_count_sentence(self) -> str:
        """Say how many rows of the file became how many models, and by which rule."""
        repeated_rows, models_text = self.rows[self.rows > 1], format_quantity(len(self.rows), "model")
        if repeated_rows.empty:
            return f"{models_text}, one row{' each' if len(self.rows) > 1 else ''}"
        return (
            f"{int(self.rows.sum()):,} rows of {models_text}; {int(repeated_rows.sum()):,} rows of "
            f"{format_quantity(len(repeated_rows), 'model')} were joined ({self.rule})"
        )


@dataclass(frozen=True)
class _Table:
    """Hold a file as it is: the text of every row's cells, and what the format says about them."""

    file: Path
    kind: str
    where: list[str]  # of every row, how a message names it
    models: list[str]
    cells: Sequence[Mapping[str, str | None]]  # of every row: benchmark, or what may be one -> text
    names: list[str]  # what may be a benchmark, in order
    sizes: list[float] = field(default_factory=list)
    dates: list[str | None] = field(default_factory=list)
    knows_benchmarks: bool = False  # the format says which columns are benchmarks
    least: float = -math.inf  # scores below it are none


def read_benchmark_scores(path: str | os.PathLike[str], columns: str = "", join_rule: str = "") -> Scores:
    """Read a file of scores.

    Four formats are known: CSV with one row per model, named in the first of the columns model, model_name, name, id;
    YAML that maps a model's name to its scores; the export of the Open LLM Leaderboard (CSV, `huggingface_v2.csv`); the
    data file of the Swallow LLM Leaderboard (YAML), where -0.01 means no score. A column parameters, params or
    params_billions (the latter two in billions) is the size; 0 or less means unknown.

    Parameters
    ----------
    path
        The file.
    columns
        Names of the benchmarks, separated by commas, or "all": every column that holds nothing but numbers. A plain
        file needs it: a seed, a rank and a temperature are numbers, too. A leaderboard knows its benchmarks.
    join_rule
        What becomes of a model with several rows (precisions, seeds, dates): "best", the row with the highest mean over
        its benchmarks; "mean", of every benchmark; "newest", by the column date (of the Open LLM Leaderboard,
        metadata_submission_date).

    Returns
    -------
    Scores
        One row per model; NaN without a score.

    Raises
    ------
    InputError
        For a file that is missing, unreadable or without scores, a score that is no finite number, a column that is not
        there, or a model with several rows and no rule; the line says what is needed.
    """
    file = Path(path)
    ending = file.suffix.casefold()
    if ending not in (".csv", ".yml", ".yaml"):
        raise InputError(f"{file}: scores are read from .csv, .yaml or .yml")
    table = _read_csv_scores(file) if ending == ".csv" else _read_yaml_scores(file)
    benchmarks = _list_chosen_benchmark_names(table, columns)
    frame = pd.DataFrame(
        {name: [_parse_benchmark_score(table, at, name) for at in range(len(table.models))] for name in benchmarks}
    )
    for name in benchmarks:
        if frame[name].isna().all():
            raise InputError(f"{file}: column {name!r} has no score")
    dates = pd.Series(table.dates or [None] * len(frame), dtype=object)
    joined_rows = join_repeated_rows_of_models(
        file, frame, pd.Series(table.sizes, dtype=float), dates, table.models, table.where, join_rule
    )
    used_rule = join_rule if (joined_rows.rows > 1).any() else ""
    ignored = tuple(name for name in table.names if name not in benchmarks)
    return Scores(
        joined_rows.frame, joined_rows.sizes, joined_rows.rows, used_rule, f"{file} ({table.kind})", ignored
    )  # fmt: skip


def _list_chosen_benchmark_names(table: _Table, columns: str) -> list[str]:
    """Return the benchmarks: those named, or those that the format knows."""
    column_names = split_column_names(columns)
    if not columns and table.knows_benchmarks:
        return table.names
    if columns and column_names != [ALL_COLUMNS]:
        for place, name in enumerate(column_names):
            is_repeated = name in column_names[:place]
            if is_repeated or name not in table.names:
                listed = shorten_to_one_line(", ".join(table.names), 200) or "none"
                problem = "named twice" if is_repeated else f"not there; there are {listed}"
                raise InputError(f"{table.file}: column {shorten_to_one_line(repr(name))} is {problem}")
        return column_names
    numeric_names = [name for name in table.names if _is_numeric_column(table, name)]
    if not numeric_names:
        raise InputError(f"{table.file}: no column of scores, only columns without numbers")
    if not columns:
        raise InputError(
            f"{table.file}: say which columns are benchmarks, as in -p "
            f"score_columns={shorten_to_one_line(','.join(numeric_names), 200)} (these hold numbers; a seed, a rank or "
            "a temperature is no benchmark)"
        )
    return numeric_names


def split_column_names(columns: str) -> list[str]:
    """Split the option `score_columns` at its commas; names that hold one stand in quotes; an InputError for others."""
    try:
        return [name.strip() for name in next(csv.reader([columns], skipinitialspace=True), [])]
    except csv.Error as error:
        raise InputError(
            f"score_columns = {shorten_to_one_line(repr(columns))}: write the names in one line, with commas between "
            "them; put a name that holds a line break into quotes"
        ) from error


def _is_numeric_column(table: _Table, name: str) -> bool:
    """Tell whether a column holds numbers, infinite ones included, and nothing else but missing values."""
    texts = [
        text for cells in table.cells if (text := cells.get(name)) is not None and not _is_missing_score_text(text)
    ]
    # Infinity is refused as a score, and not passed over as a word.
    return bool(texts) and all(_NUMBER.fullmatch(text) or _INFINITE.fullmatch(text) for text in texts)


def _is_missing_score_text(text: str | None) -> bool:
    """Tell whether a text stands for no score."""
    return text is None or text.casefold() in MISSING


def _parse_benchmark_score(table: _Table, row_number: int, benchmark: str) -> float:
    """Read one score: NaN where there is none, refused where it is no finite number."""
    score = _parse_finite_number_or_nan(
        table.cells[row_number].get(benchmark), f"{table.file}: {table.where[row_number]}: {benchmark}"
    )
    return score if not score < table.least else math.nan


def _parse_finite_number_or_nan(text: str | None, where: str) -> float:
    """Read a number: digits, with or without a point, a sign and an exponent; NaN where the text stands for none."""
    if _is_missing_score_text(text):
        return math.nan
    value = float(text) if text and _NUMBER.fullmatch(text) else math.inf
    if math.isinf(value):
        raise InputError(
            f"{where}: {shorten_to_one_line(repr(text))} is not a finite number such as 0.75; leave it empty for none"
        )
    return value


def _parse_model_size(text: str | None, unit: float, where: str) -> float:
    """Read the size of a model; 0 or less means unknown."""
    size = _parse_finite_number_or_nan(text, where) * unit
    return size if size > 0 else math.nan


def _read_csv_scores(file: Path) -> _Table:
    """Read a CSV file of scores: the export of the Open LLM Leaderboard, or a plain one."""
    lines = reading.read_csv_file(file)
    if not lines:
        raise InputError(f"{file}: no model in it, only a line of names; write a row per model below it")
    if OPEN_LLM in lines[0][1]:
        return _parse_open_llm_scores(file, lines)
    return _parse_plain_scores(file, "CSV", [(f"line {line}", dict(cells)) for line, cells in lines])


def _read_yaml_scores(file: Path) -> _Table:
    """Read a YAML file of scores: the data of the Swallow LLM Leaderboard, or a plain mapping."""
    content = reading.read_yaml_file(file)
    if isinstance(content, list) and content and all(isinstance(entry, dict) and "id" in entry for entry in content):
        return _parse_swallow_scores(file, content)
    if isinstance(content, dict) and content:
        entries = []
        for model, fields in content.items():
            if not isinstance(fields, dict):
                raise InputError(
                    f"{file}: {shorten_to_one_line(repr(model))}: {_describe_yaml_value_type(fields)} where its scores "
                    "belong, by benchmark"
                )
            for name, score in fields.items():
                _refuse_list_or_mapping(score, f"{file}: {shorten_to_one_line(repr(model))}: {name}", "score")
            entries.append((f"model {shorten_to_one_line(repr(model))}", {NAMES[0]: model, **fields}))
        return _parse_plain_scores(file, "YAML", entries)
    raise InputError(f"{file}: YAML of scores maps model names to benchmarks, or lists entries with id and results")


def _refuse_list_or_mapping(value: object, where: str, noun: str) -> None:
    """Refuse a value from YAML that is no text, and not nothing."""
    if not isinstance(value, str | None):
        raise InputError(f"{where}: {_describe_yaml_value_type(value)} where one {noun} belongs")


def _describe_yaml_value_type(value: object) -> str:
    """Say for a message what a value from YAML is: a list, a mapping, a text, or nothing."""
    kinds = {"list": "a list", "dict": "a mapping", "NoneType": "nothing"}
    return kinds.get(type(value).__name__) or f"the text {shorten_to_one_line(repr(value))}"


def _parse_plain_scores(file: Path, kind: str, entries: Sequence[tuple[str, dict[str, str | None]]]) -> _Table:
    """Parse entries with one cell per column, of which one names the model and others may be benchmarks."""
    names = list(dict.fromkeys(name for _, cells in entries for name in cells))
    model = next((name for name in NAMES if name in names), None)
    if model is None:
        raise InputError(f"{file}: no column with the model's name; call it {' or '.join(NAMES)}")
    for where, cells in entries:
        if not cells.get(model):
            raise InputError(f"{file}: {where}: column {model!r} is empty")
    size = next((name for name in SIZES if name in names), "")
    unit = 1 if size == SIZES[0] else BILLION
    return _Table(
        file, kind, [where for where, _ in entries], [str(cells[model]) for _, cells in entries],
        [cells for _, cells in entries], [name for name in names if name not in (model, size, DATE)],
        [_parse_model_size(cells.get(size), unit, f"{file}: {where}: {size}") for where, cells in entries],
        [cells.get(DATE) for _, cells in entries],
    )  # fmt: skip


def _parse_open_llm_scores(file: Path, lines: Sequence[reading.Row]) -> _Table:
    """Parse the lines of the export of the Open LLM Leaderboard."""
    header = lines[0][1]
    values = [name for name in header if name.startswith("evaluations_") and name.endswith("_value")]
    needed = ["model_name", "model_average_score", "metadata_params_billions",
              *(name.replace("_value", "_name") for name in values)]  # fmt: skip
    if missing := [name for name in needed if name not in header]:
        raise InputError(f"{file}: line 1: column {missing[0]!r} of the Open LLM Leaderboard is missing")
    titles = {header[name.replace("_value", "_name")] or name: name for name in values}
    titles["Average"] = "model_average_score"
    for line, cells in lines:
        if not cells["model_name"]:
            raise InputError(f"{file}: line {line}: column 'model_name' is empty")
    return _Table(
        file, "Open LLM Leaderboard", [f"line {line}" for line, _ in lines], [c["model_name"] for _, c in lines],
        [{title: cells[name] for title, name in titles.items()} for _, cells in lines], list(titles),
        [_parse_model_size(c["metadata_params_billions"], BILLION, f"{file}: line {line}: metadata_params_billions")
         for line, c in lines],
        [c.get(OPEN_LLM_DATE) for _, c in lines], knows_benchmarks=True,
    )  # fmt: skip


def _parse_swallow_scores(file: Path, entries: Sequence[Mapping[str, Any]]) -> _Table:
    """Parse the entries of the data file of the Swallow LLM Leaderboard."""
    where, flat = [], []
    for place, entry in enumerate(entries, start=1):
        if not isinstance(entry["id"], str) or not entry["id"]:
            raise InputError(
                f"{file}: entry {place}: {_describe_yaml_value_type(entry['id'])} where the id of a model belongs"
            )
        where.append(f"entry {shorten_to_one_line(entry['id'])}")
        flat.append(_flatten_entry_scores(f"{file}: {where[-1]}", entry))
        for name in ("params", DATE):
            _refuse_list_or_mapping(entry.get(name), f"{file}: {where[-1]}: {name}", "value")
    return _Table(
        file, "Swallow LLM Leaderboard", where, [entry["id"] for entry in entries], flat,
        list(dict.fromkeys(name for scores in flat for name in scores)),
        [_parse_model_size(entry.get("params"), BILLION, f"{file}: {at}: params")
         for at, entry in zip(where, entries, strict=True)],
        [entry.get(DATE) for entry in entries], knows_benchmarks=True, least=0.0,
    )  # fmt: skip


def _flatten_entry_scores(where: str, entry: Mapping[str, Any]) -> dict[str, str | None]:
    """Name every score of an entry by group and benchmark, since groups share benchmarks (`ja_post/GPQA`)."""
    if "results" not in entry:
        raise InputError(f"{where}: field 'results' is missing")
    flat = {}
    for group, results in _require_score_mapping(entry["results"], f"{where}: results").items():
        place = f"{where}: {shorten_to_one_line(group)}"
        for name, score in _require_score_mapping(results, place).items():
            _refuse_list_or_mapping(score, f"{place}: {shorten_to_one_line(name)}", "score")
            flat[f"{group}/{name}"] = score
    return flat


def _require_score_mapping(value: Any, where: str) -> Mapping[str, Any]:
    """Return a mapping as it is, and nothing as an empty one; refuse any other value."""
    if value is not None and not isinstance(value, dict):
        raise InputError(f"{where}: {_describe_yaml_value_type(value)} where a mapping of names to scores belongs")
    return value or {}
