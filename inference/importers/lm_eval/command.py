"""Import what lm-evaluation-harness logged with ``--log_samples``: `samples_*.jsonl` with `results_*.json` beside them.

An item is a document, by its hash. What varies between the files of a model and a task is the wording: the number of
examples, the ending of the task's name, a folder; `--variant-key` says it where that is not seen. All else is the
condition. Which files hold what is told by `files` and `wordings`, what a row says by `rows`, or by `scores` where
every metric is wanted as a number.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from ground.errors import InputError, format_quantity
from inference.arguments import add_imported_score_arguments
from inference.importers.lm_eval.rows import LmEvalRows
from inference.importers.lm_eval.wordings import WordedFile
from inference.importers.shared import saving
from inference.importers.shared.logged_responses import LoggedResponse

COMMAND = "import lm-eval"
HELP = "import what lm-evaluation-harness logged with --log_samples (samples_*.jsonl and results_*.json)"
VERBOSE = "a line about every file that is left out"

EXAMPLE = "example: waver import lm-eval results/0shot results/5shot --out RUN --language en"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Define the options of ``waver import lm-eval``."""
    parser.epilog = EXAMPLE
    parser.add_argument(
        "paths",
        nargs="+",
        metavar="PATH",
        help="samples_TASK_DATE.jsonl files or folders of them, each with its results_DATE.json; NAME=PATH names the "
        "model",
    )
    parser.add_argument(
        "--item-key", metavar="KEY", help="what tells the items apart: doc_hash (default), doc_id or doc.FIELD"
    )
    parser.add_argument(
        "--variant-key",
        metavar="KEY",
        nargs="+",
        default=[],
        help="what tells the wordings apart: shots, task (the ending of its name), folder, doc.FIELD, or several "
        "(default: what varies between the files of a model and a task)",
    )
    parser.add_argument(
        "--right-or-wrong",
        action="store_true",
        help="keep of a choice only whether it is right; so choices and texts are one study",
    )
    add_imported_score_arguments(parser, "every metric of a sample")
    saving.add_arguments(parser)


def main(args: argparse.Namespace) -> None:
    """Import logs of lm-eval into a run folder.

    Raises
    ------
    InputError
        In one line with file and row: a damaged row, no results file, two runs of one task ...
    """
    from inference.importers.lm_eval import files
    from inference.importers.lm_eval.judgements import find_zero_one_metrics_by_task
    from inference.importers.lm_eval.rows import LmEvalRows
    from inference.importers.lm_eval.scores import LmEvalScores, describe_left_out_metrics
    from inference.importers.lm_eval.wordings import assign_wordings_to_files
    from inference.importers.shared.log_folders import describe_left_out_logs, read_responses_of_undamaged_logs
    from inference.importers.shared.logged_scores import (
        LoggedMeasures,
        describe_agreement_of_means,
        refuse_measure_options_without_scores,
    )
    from inference.importers.shared.logged_study import save_study_and_logged_responses

    refuse_measure_options_without_scores(args, COMMAND)
    measures = LoggedMeasures(args, COMMAND) if args.scores else None
    left_out: list[InputError] = []
    worded_files = assign_wordings_to_files(files.find_sample_files(args.paths, left_out), args.variant_key)
    conditions: dict[str, dict[str, Any]] = {}
    imported = _compute_fingerprint_of_each_lm_eval_model(worded_files, args)
    about = {worded_file.file.model: worded_file.file.about for worded_file in worded_files}
    can_be_left_out = _build_skippable_damaged_file_predicate(args.paths, worded_files)
    readers: list[Any]
    if measures is not None:
        readers = [LmEvalScores(worded_file, args.item_key, conditions, measures) for worded_file in worded_files]
    else:
        judging = find_zero_one_metrics_by_task(worded_files)
        readers = [
            LmEvalRows(worded_file, args.item_key, args.right_or_wrong, conditions, judging.get(worded_file.base, ()))
            for worded_file in worded_files
        ]

    def read_responses_and_note_left_out_metrics() -> Iterator[LoggedResponse]:
        yield from read_responses_of_undamaged_logs(readers, can_be_left_out, left_out)
        if measures is not None:
            measures.notes += describe_left_out_metrics(readers)

    lines = save_study_and_logged_responses(
        args, args.paths, read_responses_and_note_left_out_metrics(), conditions, imported, about, measures
    )
    means = [] if measures is None else [mean for reader in readers for mean in reader.list_computed_and_stated_means()]
    lines += [*_describe_metrics_not_imported(readers), *describe_agreement_of_means(means, "results file")]
    lines += [*_describe_incomplete_files(readers), *describe_left_out_logs(left_out)]
    saving.print_import_summary(lines, args.out)


def _build_skippable_damaged_file_predicate(
    paths: Sequence[str], worded_files: Sequence[WordedFile]
) -> Callable[[Any], bool]:
    """Make the function that tells whether a damaged file may be left out: it is one of many, in a folder."""
    named_paths = {path.resolve() for _, path in saving.split_named_paths(paths)}

    def can_file_be_left_out(reader: LmEvalRows) -> bool:
        return len(worded_files) > 1 and reader.worded_file.file.path.resolve() not in named_paths

    return can_file_be_left_out


def _compute_fingerprint_of_each_lm_eval_model(
    worded_files: Sequence[WordedFile], args: argparse.Namespace
) -> dict[str, str]:
    """Compute the fingerprint of every model's files, and of how they are read."""
    from inference.importers.shared.logged_scores import collect_options_for_fingerprint

    settings = {"importer": "lm-eval", "item_key": args.item_key, "outcomes": args.right_or_wrong}
    settings |= collect_options_for_fingerprint(args)
    files: dict[str, list[WordedFile]] = {}
    for worded_file in worded_files:
        files.setdefault(worded_file.file.model, []).append(worded_file)
    return {
        model: saving.compute_fingerprint_of_files(
            [model_file.file.path for model_file in model_files],
            {**settings, "wordings": [(model_file.wording, model_file.condition) for model_file in model_files]},
        )
        for model, model_files in files.items()
    }


def _describe_metrics_not_imported(file_readers: Sequence[LmEvalRows]) -> list[str]:
    """Say which metrics were not imported, and what imports them; nothing where all were."""
    names = dict.fromkeys(metric for file_reader in file_readers for metric in file_reader.other_metrics)
    return [f"not imported: {', '.join(names)}; --scores imports every metric as a number"] if names else []


def _describe_incomplete_files(file_readers: Sequence[LmEvalRows]) -> list[str]:
    """Say which files do not hold all that they should."""
    short = [
        file_reader
        for file_reader in file_readers
        if file_reader.worded_file.file.samples not in (None, file_reader.docs)
    ]
    notes = [
        f"{file_reader.worded_file.file.path.name}: {format_quantity(file_reader.docs, 'sample')}, where its results "
        f"file counts {file_reader.worded_file.file.samples:,}"
        for file_reader in short[:5]
    ]
    if len(short) > 5:
        more_files = format_quantity(len(short) - 5, "more file")
        notes.append(f"and {more_files} with another number of samples than the results file counts")
    return notes
