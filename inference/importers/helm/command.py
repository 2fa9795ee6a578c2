"""Import runs of HELM: the folders with ``scenario_state.json`` below ``benchmark_output/runs/SUITE``.

An item is an instance. Its wordings are its perturbations, the instance itself being `original`, and what differs
between the prompts of several runs of one model. Answers are the letters of multiple choice, or whether HELM counts
the answer as right; with `--scores` every metric of an instance (`scores`). Log-probabilities are not taken: some of
HELM's clients record those of the sampling at temperature 0, by which every token that is taken has the probability 1.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from ground.errors import InputError
from ground.parser import require_file_name
from inference.arguments import add_imported_score_arguments
from inference.importers.helm.run import EXACT_MATCH, HelmRun
from inference.importers.shared import saving

COMMAND = "import helm"
HELP = "import runs of HELM: folders with scenario_state.json"

EXAMPLE = "example: waver import helm benchmark_output/runs/SUITE --out RUN"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Define the options of ``waver import helm``."""
    parser.epilog = EXAMPLE
    parser.add_argument(
        "folders", type=require_file_name, nargs="+", metavar="FOLDER", help="folders of runs, or one that holds them"
    )
    parser.add_argument(
        "--variant-key",
        metavar="NAME",
        help="the field of adapter_spec that tells wordings apart, besides perturbations (default: those that differ "
        "between runs of one model)",
    )
    parser.add_argument(
        "--metric",
        metavar="NAME",
        help="the metric of every instance that tells right from wrong; with --scores, the one that comes first "
        f"(default: {EXACT_MATCH})",
    )
    parser.add_argument(
        "--right-or-wrong", action="store_true", help="of multiple choice, too, take only whether the answer is right"
    )
    add_imported_score_arguments(parser, "every metric of an instance")
    saving.add_arguments(parser)


def main(args: argparse.Namespace) -> None:
    """Import HELM runs into a run folder.

    Raises
    ------
    InputError
        A folder is not whole, or a request has no score; with file and request.
    """
    from inference.importers.helm import answers as helm_answers
    from inference.importers.helm import run
    from inference.importers.helm.scores import HelmScores
    from inference.importers.shared.logged_scores import LoggedMeasures, refuse_measure_options_without_scores
    from inference.importers.shared.logged_study import save_study_and_logged_responses

    refuse_measure_options_without_scores(args, COMMAND)
    measures = LoggedMeasures(args, COMMAND) if args.scores else None
    runs = [run.read_facts_of_helm_run(path) for path in _list_run_folders(args.folders)]
    is_metric_chosen = args.metric is not None
    args.metric = args.metric if is_metric_chosen else EXACT_MATCH
    answers = helm_answers.HelmAnswers(
        runs, args.metric, variant_key=args.variant_key, outcomes_only=args.right_or_wrong
    )
    responses = (
        answers.read_helm_responses()
        if measures is None
        else HelmScores(answers, measures, must_have_metric=is_metric_chosen).read_helm_responses()
    )
    lines = save_study_and_logged_responses(
        args,
        args.folders,
        responses,
        answers.conditions,
        _compute_fingerprint_of_each_helm_model(args, runs),
        measures=measures,
    )
    saving.print_import_summary([*lines, *answers.run_lines], args.out)


def _list_run_folders(folder_names: list[str]) -> list[Path]:
    """List the folders of runs; of a folder without a run of its own, those in it that have one."""
    folder_by_path: dict[Path, Path] = {}
    for path in map(Path, folder_names):
        if not path.is_dir():
            raise InputError(f"{path}: no folder; give folders of HELM runs, as in benchmark_output/runs/SUITE")
        is_run_folder = (path / "scenario_state.json").exists() or (path / "run_spec.json").exists()
        inside = (
            [path] if is_run_folder else sorted(state_file.parent for state_file in path.glob("*/scenario_state.json"))
        )
        if not inside:
            raise InputError(
                f"{path}: neither the folder of a HELM run nor one that holds some: no scenario_state.json"
            )
        for folder in inside:
            if folder_by_path.setdefault(folder.resolve(), folder) is not folder:
                raise InputError(f"{folder}: this run is given twice; leave one out")
    return list(folder_by_path.values())


def _compute_fingerprint_of_each_helm_model(args: argparse.Namespace, runs: list[HelmRun]) -> dict[str, str]:
    """Compute the fingerprint of every model's runs and of the options that they are read with."""
    from inference.importers.helm.run import SPEC, STATE, STATS
    from inference.importers.shared.logged_scores import collect_options_for_fingerprint

    options = collect_options_for_fingerprint(args, "variant_key", "metric", "right_or_wrong")
    return saving.compute_fingerprints_by_key(
        [(run.model, run.path / name) for run in runs for name in (SPEC, STATE, STATS)], {"importer": "helm", **options}
    )
