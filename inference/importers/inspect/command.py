"""Import logs of Inspect (inspect_ai): evaluations as ``.eval`` or ``.json`` files.

An item is a sample, by its id. Its wordings are what differs between the logs of a task: arguments of the task and of
its solvers; without such a difference, the first messages that a user sends for an item are numbered as they appear.
The epochs of a sample are samples of one answer. Answers are those that the log's scorer read: of multiple choice the
letter, of all else whether it counts as right; with `--scores` the numbers that scorers gave (`scores`). Generation
settings that differ are conditions. Of several logs, those that cannot be imported are left out, with a line on each.
"""

from __future__ import annotations

import argparse

from ground.errors import InputError
from ground.parser import require_file_name
from inference.arguments import add_imported_score_arguments
from inference.importers.inspect.log import Evaluation
from inference.importers.shared import saving

COMMAND = "import inspect"
HELP = "import logs of Inspect (inspect_ai): .eval and .json files"
VERBOSE = "a line about every log"

SUFFIXES = (".eval", ".json")
EXAMPLE = "example: waver import inspect logs/*.eval --out RUN --variant-key task_args.template"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Define the options of ``waver import inspect``."""
    parser.epilog = EXAMPLE
    parser.add_argument(
        "logs",
        type=require_file_name,
        nargs="+",
        metavar="LOG",
        help=".eval or .json files, or folders of them at any depth",
    )
    parser.add_argument(
        "--item-key",
        metavar="KEY",
        default="id",
        help="what names an item: id (default), or metadata.NAME of the samples",
    )
    parser.add_argument(
        "--variant-key",
        metavar="KEY",
        help="what tells the wordings of an item apart: task_args.NAME, solver_args.NAME, SOLVER.NAME, metadata.NAME "
        "or prompt, the first message of the user (default: the arguments that differ between the logs, else prompt)",
    )
    parser.add_argument(
        "--scorer",
        metavar="NAME",
        help="whose score counts alone, where samples have several (default: each is a condition, right or wrong)",
    )
    parser.add_argument(
        "--right-or-wrong", action="store_true", help="of multiple choice, too, take only whether the answer is right"
    )
    add_imported_score_arguments(parser, "every score of a sample (C is 1, P 0.5, I and N 0)")
    saving.add_arguments(parser)


def main(args: argparse.Namespace) -> None:
    """Import logs of Inspect into a run folder.

    Raises
    ------
    InputError
        No log can be imported, a sample is damaged, or logs contradict each other; with file and sample.
    """
    from inference.importers.inspect import log
    from inference.importers.inspect.kept_logs import KeptLogs
    from inference.importers.shared import log_folders
    from inference.importers.shared.logged_scores import refuse_measure_options_without_scores

    refuse_measure_options_without_scores(args, COMMAND)
    unreadable: list[InputError] = []
    files, in_folders = log_folders.find_log_files(args.logs, SUFFIXES, unreadable)
    with KeptLogs(args.out, len(files)) as kept_logs:
        evaluations, left_out = log.read_usable_and_describe_other_logs(files, in_folders, kept_logs)
        _import_evaluations(args, evaluations, [*log_folders.describe_left_out_logs(unreadable), *left_out])


def _import_evaluations(args: argparse.Namespace, evaluations: list[Evaluation], left_out: list[str]) -> None:
    """Import logs whose facts are known; `left_out` is about the others."""
    from inference.importers.inspect.answers import InspectAnswers
    from inference.importers.inspect.names import InspectNames
    from inference.importers.inspect.scores import InspectScores
    from inference.importers.shared.log_folders import describe_left_out_logs, keep_most_telling_lines_about_logs
    from inference.importers.shared.logged_scores import LoggedMeasures
    from inference.importers.shared.logged_study import save_study_and_logged_responses

    names = InspectNames(evaluations, args.item_key, args.variant_key)
    measures = LoggedMeasures(args, COMMAND) if args.scores else None
    importer = (
        InspectAnswers(evaluations, names, scorer=args.scorer, outcomes_only=args.right_or_wrong)
        if measures is None
        else InspectScores(evaluations, names, measures, scorer=args.scorer)
    )
    lines = save_study_and_logged_responses(
        args,
        args.logs,
        importer.iterate_responses_of_all_logs(),
        importer.conditions,
        _compute_fingerprint_of_each_inspect_model(args, evaluations),
        measures=measures,
    )
    lines += keep_most_telling_lines_about_logs(importer.log_lines)
    saving.print_import_summary([*lines, *left_out, *describe_left_out_logs(importer.left_out)], args.out)


def _compute_fingerprint_of_each_inspect_model(
    args: argparse.Namespace, evaluations: list[Evaluation]
) -> dict[str, str]:
    """Compute the fingerprint of every model's logs and of the options that they are read with."""
    from inference.importers.shared.logged_scores import collect_options_for_fingerprint

    options = collect_options_for_fingerprint(args, "item_key", "variant_key", "scorer", "right_or_wrong")
    return saving.compute_fingerprints_by_key(
        [(evaluation.model, evaluation.path) for evaluation in evaluations], {"importer": "inspect", **options}
    )
