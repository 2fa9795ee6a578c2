"""Import accuracies that somebody else computed: a table with one row per model, task and template, no answers.

An item of such a study is a task, a variant one of its templates. Nothing is known of single answers: a row has the
accuracy as `score`, and as `n` the number of answers that it was computed from.

Per cent and shares are never guessed: a sign (`54.3 %`) says per cent, and so does a number above 1 where no other is
above 0 and at most 1. Where both are there, as .9 beside 54.3, the table is refused until `--scale` says what it holds.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ground.errors import InputError, format_quantity, shorten_text
from ground.numerals import LARGEST_EXACT
from inference.importers.shared import saving
from inference.stimuli.numbers import parse_number_or_nan
from inference.stimuli.reading import records
from inference.stimuli.reading.files import is_missing_or_infinite_number_text, shorten_value

if TYPE_CHECKING:
    import pyarrow as pa

    from inference.stimuli.study import Study

COMMAND = "import accuracies"
HELP = "import a table of accuracies by model, task and template, without answers"

EXAMPLE = "example: waver import accuracies results.csv --out RUN --condition-column shots"
NAME_COLUMNS = {
    "model": "which model answered",
    "task": "what it was asked: a benchmark or a part of one",
    "template": "the wording that all questions of the task were asked in",
}
NUMBER_COLUMNS = {
    "accuracy": "share of right answers, 0 to 1, or per cent",
    "n": "number of answers that the accuracy was computed from",
}
SHARE, PERCENT = "share", "percent"
PROTOCOL = "accuracies"
RIGHT, WRONG = "right", "wrong"
TEMPLATE = "template"  # pattern of every variant
Key = tuple[str, str, str, str]  # model, condition, task, template


@dataclass(frozen=True, slots=True)
class AccuracyRow:
    """One accuracy, as the table has it: `number` may be per cent, and `signed` where it was written with the sign."""

    place: str
    number: float
    signed: bool
    n: int


@dataclass(frozen=True, slots=True)
class AccuracyRows:
    """What the tables hold: the rows by what they are about, and the fields of every condition."""

    rows: Mapping[Key, AccuracyRow]
    conditions: Mapping[str, Mapping[str, str]]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Define the options of ``waver import accuracies``."""
    parser.epilog = EXAMPLE
    parser.add_argument("files", nargs="+", metavar="FILE", help=f"tables: {', '.join(records.READERS)}")
    columns = parser.add_argument_group("what the columns are")
    for role, about in {**NAME_COLUMNS, **NUMBER_COLUMNS}.items():
        columns.add_argument(f"--{role}-column", metavar="COLUMN", default=role, help=f"{about} (default: {role})")
    columns.add_argument(
        "--condition-column", metavar="COLUMN", action="append", default=[],
        help="how it was asked, for example the number of shots; may be given again",
    )  # fmt: skip
    parser.add_argument(
        "--scale",
        choices=(SHARE, PERCENT),
        help="what the accuracies are, where numbers above and below 1 leave it open",
    )
    saving.add_arguments(parser)


def main(args: argparse.Namespace) -> None:
    """Import tables of accuracies into a run folder.

    Raises
    ------
    InputError
        In one line with file and row: an unknown column, a wrong number, two accuracies for one template ...
    """
    paths = [Path(file) for file in args.files]
    columns = {role: getattr(args, f"{role}_column") for role in (*NAME_COLUMNS, *NUMBER_COLUMNS)}
    column_by_option = {f"--{role}-column": column for role, column in columns.items()}
    records.refuse_column_of_two_roles(
        {**column_by_option, **{f"--condition-column {column}": column for column in args.condition_column}}
    )
    accuracy_rows = _read_accuracy_rows(paths, columns, args.condition_column)
    scale, scale_sentence = _detect_accuracy_scale_and_describe_it(accuracy_rows, args.scale)
    divisor = 100 if scale == PERCENT else 1
    accuracies = {key: row.number / divisor for key, row in accuracy_rows.rows.items()}
    settings = {"importer": PROTOCOL, "columns": columns, "conditions": args.condition_column}
    settings |= {"scale": scale}
    lines = saving.save_imported_study_and_responses(
        args.out,
        _build_accuracy_study(accuracy_rows, saving.name_imported_study_by_option_or_folder(args), args),
        lambda: [_build_table_of_accuracies_and_n(accuracy_rows, accuracies)],
        accuracy_rows.conditions,
        descriptions=args.models,
        imported=saving.compute_fingerprint_of_files(paths, settings),
        command=args.call,
        is_complete=True,
    )
    saving.print_import_summary(
        [*lines, scale_sentence, *_describe_accuracies_without_whole_answer_counts(accuracy_rows, accuracies)], args.out
    )


def _read_accuracy_rows(paths: Sequence[Path], columns: Mapping[str, str], conditions: Sequence[str]) -> AccuracyRows:
    """Read all rows of all tables."""
    rows: dict[Key, AccuracyRow] = {}
    fields: dict[str, dict[str, str]] = {}
    for path in paths:
        for place, record in records.Records(path, [*columns.values(), *conditions]):
            where = f"{path}, {place}"
            model, task, template = (
                _require_nonempty_name_cell(where, columns[role], record[columns[role]]) for role in NAME_COLUMNS
            )
            values = [_require_nonempty_name_cell(where, column, record[column]) for column in conditions]
            condition = (
                "/".join(map(_add_column_name_if_value_is_number, conditions, values)) or saving.IMPORT_CONDITION
            )
            condition_fields = {"form": saving.IMPORT_FORM, **dict(zip(conditions, values, strict=True))}
            if fields.setdefault(condition, condition_fields) != condition_fields:
                raise InputError(f"{where}: two different conditions would both be called '{condition}'; rename them")
            key = (model, condition, task, template)
            if key in rows:
                raise InputError(
                    _describe_repeated_row(path, where, key, rows[key].place, {*columns.values(), *conditions})
                )
            value, signed = _parse_accuracy_and_percent_sign(where, columns["accuracy"], record[columns["accuracy"]])
            rows[key] = AccuracyRow(where, value, signed, _require_n_answers(where, columns["n"], record[columns["n"]]))
    return AccuracyRows(rows, fields)


def _require_nonempty_name_cell(where: str, column: str, cell: str | None) -> str:
    """Return a cell that names a model, task, template or condition; refuse an empty one."""
    name = (cell or "").strip()
    if not name or is_missing_or_infinite_number_text(name):
        raise InputError(
            f"{where}: column '{column}' holds {shorten_value(cell or None)}; every accuracy needs a name there"
        )
    return name


def _add_column_name_if_value_is_number(column: str, value: str) -> str:
    """Name a condition by its value, and a number by its column, too: "shots 0"."""
    return f"{column} {value}" if value.isdecimal() else value


def _describe_repeated_row(path: Path, where: str, key: Key, first_place: str, used_columns: set[str]) -> str:
    """Say that a row repeats another one, and which columns may tell the two apart."""
    unused_columns = [name for name in records.Records(path).list_column_names() if name not in used_columns]
    unused_hint = (
        f"; the columns that are left are {shorten_text(', '.join(unused_columns), 200)}" if unused_columns else ""
    )
    return (
        f"{where}: the same model, condition, task and template as in {first_place} ({', '.join(map(repr, key))}); "
        f"tell them apart by --condition-column{unused_hint}"
    )


def _parse_accuracy_and_percent_sign(where: str, column: str, cell: str | None) -> tuple[float, bool]:
    """Read an accuracy, and whether it is written with the sign of per cent."""
    text = (cell or "").strip()
    value = parse_number_or_nan(text.removesuffix("%"))
    if not 0 <= value <= 100:
        point = "; write it with a point, not a comma" if "," in text else ""
        raise InputError(
            f"{where}: column '{column}' holds {shorten_value(cell or None)}, not an accuracy from 0 to 1 or 0 to 100 "
            f"%{point}"
        )
    return value, text.endswith("%")


def _require_n_answers(where: str, column: str, cell: str | None) -> int:
    """Return how many answers an accuracy was computed from."""
    value = parse_number_or_nan((cell or "").strip())
    if not math.isfinite(value) or value < 1 or not value.is_integer() or value > LARGEST_EXACT:
        raise InputError(
            f"{where}: column '{column}' holds {shorten_value(cell or None)}, not a number of answers, from 1 on"
        )
    return int(value)


def _detect_accuracy_scale_and_describe_it(accuracy_rows: AccuracyRows, stated: str | None) -> tuple[str, str]:
    """Tell whether the accuracies are shares or per cent, and say so in one line; refuse where it is open."""
    rows = list(accuracy_rows.rows.values())
    signs = [row for row in rows if row.signed]
    bare = next((row for row in rows if not row.signed), None)
    above = next((row for row in rows if row.number > 1), None)
    below = next((row for row in rows if 0 < row.number <= 1), None)
    if signs and bare:
        raise InputError(f"{bare.place}: an accuracy without the sign % that {signs[0].place} has; write all alike")
    if stated == SHARE and (signs or above):
        wrong = signs[0] if signs else above
        raise InputError(f"{wrong.place if wrong else ''}: an accuracy in per cent or above 1, and --scale says share")
    if stated is None and not signs and above and below:
        raise InputError(
            f"{below.place}: an accuracy of {below.number:g} beside one of {above.number:g} in {above.place}: per cent "
            f"or a share? Add --scale {PERCENT} if all are per cent, else correct them"
        )
    scale = stated or (PERCENT if signs or above else SHARE)
    low, high = (end(row.number for row in rows) for end in (min, max))
    how = "as --scale says" if stated else "by their sign" if signs else "recognised by their size"
    scale_words = f"per cent, {how}: divided by 100" if scale == PERCENT else f"shares, {how}"
    return scale, f"accuracies from {low:g} to {high:g} are {scale_words}"


def _describe_accuracies_without_whole_answer_counts(
    accuracy_rows: AccuracyRows, accuracies: Mapping[Key, float]
) -> list[str]:
    """Say how many accuracies are no whole number of n answers, as averages over classes are."""
    uneven_rows = [
        row for key, row in accuracy_rows.rows.items() if not _is_whole_number_of_answers(accuracies[key], row.n)
    ]
    if not uneven_rows:
        return []
    first = uneven_rows[0]
    return [
        f"no whole number of n answers: {len(uneven_rows):,} of "
        f"{format_quantity(len(accuracy_rows.rows), 'accuracy', 'accuracies')}, the first in {first.place}: "
        f"{first.number:g} of {first.n:,}. Intervals take them for shares of n answers"
    ]


def _is_whole_number_of_answers(accuracy: float, n: int) -> bool:
    """Tell whether some whole number of right answers gives an accuracy, as far as it was rounded.

    0.548 of 900 may be 493 right answers (0.5478); 0.543 of 10 is none.
    """
    decimals = len(f"{accuracy:.12f}".rstrip("0").partition(".")[2])
    return abs(accuracy - round(accuracy * n) / n) <= 0.5 * 10.0**-decimals + 1e-12


def _build_accuracy_study(accuracy_rows: AccuracyRows, name: str, args: argparse.Namespace) -> Study:
    """Make the study: tasks and their templates in order of appearance."""
    from inference.stimuli.study import Item, Option, Study, Variant

    options = (Option(RIGHT, RIGHT), Option(WRONG, WRONG))
    templates: dict[str, dict[str, None]] = {}
    for _, _, task, template in accuracy_rows.rows:
        templates.setdefault(task, {})[template] = None
    return Study(
        protocol=PROTOCOL,
        name=name,
        items=tuple(
            Item(task, tuple(
                Variant(task, template_name, TEMPLATE, f"{task} {template_name}", options, language=args.language,
                        gold=RIGHT)
                for template_name in template_names
            ))
            for task, template_names in templates.items()
        ),
        canonical=(RIGHT, WRONG),
        decision_rule="none: these are accuracies that were computed elsewhere",
        source=saving.describe_source_by_first_file_and_count(args.files),
    )  # fmt: skip


def _build_table_of_accuracies_and_n(accuracy_rows: AccuracyRows, accuracies: Mapping[Key, float]) -> pa.Table:
    """Make a row per model, condition, task and template."""
    import pyarrow as pa

    keys = list(accuracy_rows.rows)
    names = dict(zip(("model", "condition", "item", "variant"), zip(*keys, strict=True), strict=True))
    return pa.table({
        **{name: pa.array(values, pa.string()) for name, values in names.items()},
        "score": pa.array([accuracies[key] for key in keys], pa.float64()),
        "n": pa.array([accuracy_rows.rows[key].n for key in keys], pa.int64()),
    })  # fmt: skip
