"""Import long tables of responses with one row per response or sample, in any format of
`inference.stimuli.reading.records`.

The command line says what the columns mean. What it does not say:

- without ``--model-column`` every file is one model, named as NAME=FILE, else by the file, or by its folder where
  several files have the same name;
- without ``--variant-column`` the distinct texts of an item are its variants;
- without ``--pattern-column`` the variant called ``original`` is the original and all others are paraphrases;
- without ``--text-column`` the id of an item stands for all of its texts, and ``--wordings`` says whether an id of a
  wording means the same in all items; if it does not say, `wordings.choose_whether_wordings_are_shared` does.

Several rows of one model, condition, item and variant are refused. With ``--repeated samples`` those of one file are
samples of one response: one row becomes ``answer``, several become ``count`` and ``invalid``; of scores, several become
``sample_score`` and their mean. Rows of probabilities or counts may not repeat, and no row may repeat one of another
file.

Scores make a study of protocol `scored` (`inference.importers.shared.scored`): every ``--score-column`` is a measure.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections import Counter
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ground.errors import InputError
from inference.arguments import add_imported_measure_arguments
from inference.importers.shared import saving
from inference.importers.tables.wordings import (
    OWN,
    SHARED,
    choose_whether_wordings_are_shared,
    describe_whether_wordings_are_shared,
)
from inference.stimuli.reading.records import refuse_column_of_two_roles

if TYPE_CHECKING:
    from inference.importers.shared.measures import Measure
    from inference.importers.tables.long_rows import Layout
    from inference.importers.tables.scores import ScoreColumns

COMMAND = "import table"
HELP = "import a long table with one row per response (CSV, Excel, JSON, YAML or Parquet)"

EXAMPLE = (
    "example: waver import table answers/*.csv --out RUN --model-column model --item-column question "
    "--variant-column wording --text-column prompt --completion-column reply "
    '--options "agree=strongly agree|agree;disagree=strongly disagree|disagree"'
)
SAMPLES = "samples"
ROLES = {
    "model": "which model answered (default: every file is one model)",
    "item": "the intended meaning, for example the number of a question",
    "variant": "id of the wording (default: the distinct texts of an item are numbered)",
    "pattern": "kind of wording (default: `original` for the variant of that name, `paraphrase` for all others)",
    "text": "the wording shown (default: the id of the item, for all of its wordings)",
    "gold": "the right answer",
    "scale": "with --ordered: the scale that the item belongs to; empty: none",
    "key": "with --ordered: 1, or -1 where agreement counts against the scale (default: 1)",
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Define the options of ``waver import table``."""
    parser.epilog = EXAMPLE
    parser.add_argument(
        "files",
        nargs="+",
        metavar="FILE",
        help=".csv, .tsv, .xlsx, .json, .jsonl, .yaml or .parquet; NAME=FILE names the model",
    )
    columns = parser.add_argument_group("what the columns are")
    for role, about in ROLES.items():
        columns.add_argument(f"--{role}-column", metavar="COLUMN", required=role == "item", help=about)
    columns.add_argument(
        "--wordings",
        choices=(SHARED, OWN),
        help="without --text-column: does an id of a wording mean the same in all items, as a template does, or has "
        "every item its own wordings (default: its own where ids are numbers or items have different ones)?",
    )
    conditions = columns.add_mutually_exclusive_group()
    conditions.add_argument(
        "--condition-column", metavar="COLUMN", action="append", default=[], help="how it was asked; may be given again"
    )
    conditions.add_argument(
        "--condition",
        metavar="NAME",
        default=saving.IMPORT_CONDITION,
        help="name of the one condition (default: %(default)s)",
    )
    values = parser.add_argument_group("what was answered, one of these").add_mutually_exclusive_group(required=True)
    values.add_argument("--completion-column", metavar="COLUMN", help="free text, which is parsed")
    values.add_argument(
        "--answer-column", metavar="COLUMN", help="answers that are wordings of --options as they stand"
    )
    values.add_argument(
        "--probability-columns", metavar="LABEL=COLUMN,...", help="for example agree=p_yes,disagree=p_no"
    )
    values.add_argument("--count-columns", metavar="LABEL=COLUMN,...", help="numbers of samples")
    values.add_argument(
        "--score-column",
        metavar="COLUMN",
        action="append",
        help="numbers, such as F1; given again, each is a measure of its own",
    )
    parser.add_argument(
        "--options",
        metavar="LABEL=WORDING|...;...",
        help="with completions and answers: both labels, what counts as each; the first is the one that agrees (with "
        "--ordered, all labels, the lowest first)",
    )
    parser.add_argument(
        "--ordered",
        action="store_true",
        default=None,
        help="the options are those of a rating scale, the lowest first, two or more (a study of protocol scale); in "
        "--options, a LABEL alone is its own wording: a questionnaire's codes are 'Disagree=1;Neither=2;Agree=3'",
    )
    parser.add_argument("--invalid-column", metavar="COLUMN", help="with --count-columns: number of invalid samples")
    parser.add_argument(
        "--repeated",
        choices=("refuse", SAMPLES),
        default="refuse",
        help="what several rows of one model, condition, item and variant in one file are: a mistake (default), or "
        "samples of one answer",
    )
    scores = parser.add_argument_group("with --score-column")
    add_imported_measure_arguments(scores)
    scores.add_argument("--output-column", metavar="COLUMN", help="the text that was scored")
    saving.add_arguments(parser)


def main(args: argparse.Namespace) -> None:
    """Import tables of responses into a run folder.

    Raises
    ------
    InputError
        In one line with file and row: an unknown column, a wrong value, two texts for one variant ...
    """
    from inference.importers.shared.scored import PROTOCOL
    from inference.importers.tables import long, long_rows, scores

    _refuse_options_contradicting_ordered(args)
    measure = _build_label_measure_of_call(args) if args.score_column is None else scores.ScoreColumns(args)
    layout = _build_table_layout(args, measure)
    files = _pair_model_names_with_files(saving.split_named_paths(args.files), by_column=args.model_column is not None)
    table = long_rows.read_long_table(files, layout)
    wordings = choose_whether_wordings_are_shared(args.wordings, table.stimuli) if args.text_column is None else None
    study = long.build_table_study(
        table,
        saving.name_imported_study_by_option_or_folder(args),
        measure,
        language=args.language,
        source=saving.describe_source_by_first_file_and_count(args.files),
        shares_wordings=wordings == SHARED,
        ordered=bool(args.ordered),
        **({"protocol": PROTOCOL} if isinstance(measure, scores.ScoreColumns) else {}),
    )
    of, first = long.number_responses_refusing_repeats(table, allows_samples=args.repeated == SAMPLES)
    notes: list[str] = []
    if isinstance(measure, scores.ScoreColumns):
        table_scores = scores.TableScores(table, measure)
        build_responses: saving.Responses = partial(table_scores.build_responses, of, first)
        conditions: dict[str, dict[str, Any]] = measure.build_conditions(table.conditions)
        notes = table_scores.describe_missing_counts_per_measure()
    else:
        build_responses = partial(long.build_table_responses, table, of, first, measure)
        conditions = {name: {**fields, **measure.recorded_fields} for name, fields in table.conditions.items()}
    lines = saving.save_imported_study_and_responses(
        args.out,
        study,
        build_responses,
        conditions,
        descriptions=args.models,
        imported=saving.compute_fingerprint_of_files(
            [path for _, path in files], _collect_options_affecting_responses(args, files)
        ),
        command=args.call,
    )
    lines += notes
    if wordings is not None:
        lines += describe_whether_wordings_are_shared(wordings, table.stimuli, is_stated=args.wordings is not None)
    saving.print_import_summary(lines, args.out)


def _refuse_options_contradicting_ordered(args: argparse.Namespace) -> None:
    """Refuse options that do not go together: of scales, of scores, of texts and of counts."""
    if args.ordered and args.gold_column is not None:
        raise InputError("import table: --gold-column goes without --ordered: an item of a scale has no right answer")
    if args.ordered and args.score_column is not None:
        raise InputError("import table: --score-column goes without --ordered: give the answers themselves")
    for option, column in (("--scale-column", args.scale_column), ("--key-column", args.key_column)):
        if column is not None and not args.ordered:
            raise InputError(f"import table: {option} is about rating scales: add --ordered, or leave it out")
    has_texts = args.completion_column is not None or args.answer_column is not None
    if has_texts != (args.options is not None):
        raise InputError("import table: --options goes with --completion-column or --answer-column, and they with it")
    if args.invalid_column is not None and args.count_columns is None:
        raise InputError("import table: --invalid-column goes with --count-columns")


def _build_table_layout(args: argparse.Namespace, measure: Measure | ScoreColumns) -> Layout:
    """Collect from the command line which column has which role; refuse a column that is named twice."""
    from inference.importers.tables.long_rows import Layout

    roles = {role: getattr(args, f"{role}_column") for role in ROLES if getattr(args, f"{role}_column") is not None}
    refuse_column_of_two_roles({f"--{role}-column": column for role, column in roles.items()})
    if args.wordings is not None and "text" in roles:
        raise InputError("import table: --wordings goes without --text-column: texts show whether items share them")
    if "variant" not in roles and "text" not in roles:
        raise InputError("import table: give --variant-column or --text-column, which tell an item's variants apart")
    used = Counter([*roles.values(), *args.condition_column, *measure.columns])
    repeated_column = next((column for column, times in used.items() if times > 1), None)
    if repeated_column is not None:
        raise InputError(
            f"import table: column '{repeated_column}' is used twice; every option needs a column of its own"
        )
    return Layout(roles, tuple(args.condition_column), args.condition, measure.columns)


def _pair_model_names_with_files(
    files: Sequence[tuple[str | None, Path]], *, by_column: bool
) -> list[tuple[str, Path]]:
    """Name the model of every file: as given, else by the file, or by its folder where files have the same name."""
    places = [os.path.realpath(path) for _, path in files]
    repeated_path = next(
        (path for (_, path), place in zip(files, places, strict=True) if places.count(place) > 1), None
    )
    if repeated_path is not None:
        raise InputError(f"{repeated_path}: this file is given twice; leave one out")
    if by_column:
        if any(name is not None for name, _ in files):
            raise InputError("import table: NAME=FILE names the model, and so does --model-column; give one of them")
        return [(path.stem, path) for _, path in files]
    stems = Counter(path.stem for name, path in files if name is None)
    same_name_paths = [path for name, path in files if name is None and stems[path.stem] > 1]
    folder = dict(zip(same_name_paths, _name_files_by_folders(same_name_paths), strict=True))
    named_files = [(name or folder.get(path, path.stem), path) for name, path in files]
    first: dict[str, int] = {}
    for number, (name, path) in enumerate(named_files):
        before = first.setdefault(name, number)
        if before != number and None in (files[before][0], files[number][0]):
            raise InputError(
                f"{path}: model '{name}' is already {named_files[before][1]}; name one of them as NAME=FILE"
            )
    if folder:
        names = ", ".join(f"{name} ({path})" for path, name in folder.items())
        print(f"several files have one name, so their folders name the models: {names}", file=sys.stderr)
    return named_files


def _name_files_by_folders(paths: Sequence[Path]) -> list[str]:
    """Name files by the end of their folder's path, as long as it takes to tell all apart; if need be with the file."""
    parts = [path.absolute().parts for path in paths]
    for depth in range(2, 1 + max(map(len, parts), default=0)):
        for end in (-1, None):  # without the file's own name, then with it
            names = [
                "/".join(path_parts[-depth:end]).removesuffix("" if end else Path(path_parts[-1]).suffix)
                for path_parts in parts
            ]
            if len(set(names)) == len(names):
                return names
    if paths:
        raise InputError(f"{paths[1]}: the same name and folder as {paths[0]}; name the models as NAME=FILE")
    return []


def _build_label_measure_of_call(args: argparse.Namespace) -> Measure:
    """Make the measure that the command line asks for, with its labels."""
    from inference.importers.shared.measures import AnswerMeasure, CountMeasure, ProbabilityMeasure

    if args.score_range or args.lower_is_better or args.output_column is not None:
        raise InputError(
            "import table: --score-range, --lower-is-better and --output-column go with --score-column; add it"
        )
    texts = args.answer_column if args.completion_column is None else args.completion_column
    if args.repeated == SAMPLES and texts is None:
        raise InputError("import table: --repeated samples goes with --completion-column or --answer-column")
    if texts is not None:
        pairs = _split_option_into_label_value_pairs(
            "--options", args.options, ";", args.ordered, may_stand_alone=bool(args.ordered)
        )
        options = {label: wordings.split("|") for label, wordings in pairs}
        try:
            return AnswerMeasure(texts, options, must_equal=args.answer_column is not None)
        except ValueError as error:
            raise InputError(f"import table, --options: {error}") from None
    if args.probability_columns is not None:
        pairs = _split_option_into_label_value_pairs(
            "--probability-columns", args.probability_columns, ",", args.ordered
        )
        return ProbabilityMeasure(dict(pairs))
    pairs = _split_option_into_label_value_pairs("--count-columns", args.count_columns, ",", args.ordered)
    return CountMeasure(dict(pairs), args.invalid_column)


def _split_option_into_label_value_pairs(
    option: str, text: str, separator: str, is_ordered: bool | None, may_stand_alone: bool = False
) -> Sequence[tuple[str, str]]:
    """Split an option into two LABEL=VALUE pairs with different labels; ordered ones may be more.

    `may_stand_alone`: a label without a value stands for itself.
    """
    parts = [part.partition("=") for part in text.split(separator) if part.strip()]
    pairs = [(label.strip(), (value if sign or not may_stand_alone else label).strip()) for label, sign, value in parts]
    n_labels = len({label.casefold() for label, _ in pairs})
    is_right_number = len(pairs) >= 2 if is_ordered else len(pairs) == 2
    if not is_right_number or n_labels != len(pairs) or not all(map(all, pairs)):
        number = "two or more different ones" if is_ordered else "two"
        more = "" if is_ordered or len(pairs) <= 2 else " (more, from the lowest to the highest, with --ordered)"
        raise InputError(f"import table, {option} '{text}': expected {number} as LABEL=...{separator}LABEL=...{more}")
    return pairs


def _collect_options_affecting_responses(
    args: argparse.Namespace, files: Sequence[tuple[str, Path]]
) -> dict[str, object]:
    """Collect the options that the responses depend on, in addition to the files' content."""
    excluded_options = (
        "files", "out", "name", "models", "language", "repeated", "wordings", "main", "call", "loudness",
    )  # fmt: skip
    chosen = {name: value for name, value in vars(args).items() if name not in excluded_options}
    # Options of scores and scales count where they are given: earlier imports, which had none, stay the same.
    scored = {"score_column", "score_range", "lower_is_better", "output_column"}
    optional = scored | {"ordered", "scale_column", "key_column"}
    chosen = {name: value for name, value in chosen.items() if value or name not in optional}
    return {"files": [path.name if name == path.stem else name for name, path in files], **chosen}
