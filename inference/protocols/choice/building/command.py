"""Define and run the commands of `waver choice`."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from shlex import quote

from ground.errors import InputError
from ground.numerals import build_bounded_whole_number_type
from ground.parser import require_file_name
from inference.arguments import add_allow_failed_option, add_engine_options, parse_engine_settings, parse_positive
from inference.asking.models import Model

COMMAND = "choice"
HELP = "make a study of multiple-choice questions in several wordings"
VERBS = {"build": "make a study of multiple-choice questions: filter, reword, judge, select, split"}
MOST_ORDERS = 24  # of four choices
WRITERS = 2


def _add_build_arguments(parser: argparse.ArgumentParser) -> None:
    """Define the options of `waver choice build`."""
    parser.epilog = (
        "example: waver choice build ARC-Challenge-Test.jsonl --out study.jsonl --paraphrase-model my-model "
        "--paraphrase-model my-other-model --judge-model my-judge"
    )
    parser.add_argument(
        "files",
        type=require_file_name,
        nargs="+",
        metavar="FILE",
        help="multiple-choice questions: a table with question, choices, answer, or as ARC, CommonsenseQA, MMLU, "
        "MathQA or Unified-MCQA are published",
    )
    parser.add_argument(
        "--out", required=True, metavar="STUDY", help="a .jsonl file; what the steps make stands beside it"
    )
    paraphrase_group = parser.add_argument_group("paraphrases")
    paraphrase_group.add_argument(
        "--paraphrase-model",
        action="append",
        default=[],
        metavar="MODEL",
        help="a model that writes every question in other words; give two of them (default: the files hold two "
        "paraphrases of each question)",
    )
    paraphrase_group.add_argument(
        "--paraphrase-prompt",
        type=require_file_name,
        metavar="FILE",
        help="prompts of your own (YAML, like inference/protocols/choice/building/prompt.yaml)",
    )
    paraphrase_group.add_argument(
        "--max-tokens",
        type=parse_positive,
        default=256,
        metavar="N",
        help="length of a paraphrase, thinking included (default: %(default)s)",
    )
    judge_group = parser.add_argument_group("selection")
    judge_group.add_argument(
        "--judge-model",
        metavar="MODEL",
        help="a model that answers every wording in every order; only questions stay that it answers rightly in all "
        "orders of some wordings, and not of all (default: all questions stay)",
    )
    judge_group.add_argument(
        "--judge-max-tokens",
        type=parse_positive,
        default=512,
        metavar="N",
        help="length of its answer, thinking included (default: %(default)s)",
    )
    judge_group.add_argument(
        "--selected",
        type=require_file_name,
        metavar="LIST",
        help="what `waver select` made of a judge's run (default: STUDY.selected.jsonl where there is a judge)",
    )
    parser.add_argument(
        "--min-words",
        type=parse_positive,
        default=10,
        metavar="N",
        help="shorter questions are left out; 1 in a language without blanks (default: %(default)s)",
    )
    parser.add_argument(
        "--orders",
        type=build_bounded_whole_number_type(1, MOST_ORDERS),
        default=8,
        metavar="N",
        help="orders of the choices per question, drawn by --seed as the splits are (default: %(default)s)",
    )
    add_allow_failed_option(parser)
    add_engine_options(parser)


def _run_choice_build(options: argparse.Namespace) -> None:
    """Build a study as the options of `waver choice build` say; print the steps, and the command that comes next."""
    from inference.asking.failures import NO_FAILURES
    from inference.protocols import choice
    from inference.protocols.choice.building import rewording, steps
    from inference.protocols.choice.building.building import BuildingPlan, build_study_in_steps
    from inference.runfolder import json_lines
    from inference.stimuli.reading.files import expand_user_path

    n_writers = len(options.paraphrase_model)
    if n_writers not in (0, WRITERS):
        times = "once" if n_writers == 1 else f"{n_writers} times"
        raise InputError(f"--paraphrase-model: give it twice, for two models, or not at all, not {times}")
    if options.paraphrase_prompt and not options.paraphrase_model:
        raise InputError("--paraphrase-prompt goes with --paraphrase-model: name two models")
    rewording.read_rewording_prompts(options.paraphrase_prompt)
    judge = _find_models_named_by_argument(
        "--judge-model", [options.judge_model] if options.judge_model else [], options, choice.KINDS
    )
    plan = BuildingPlan(
        tuple(options.files),
        json_lines.require_usable_json_lines_path(options.out),
        parse_engine_settings(options),
        _find_models_named_by_argument("--paraphrase-model", options.paraphrase_model, options, ("causal",)),
        options.paraphrase_prompt,
        options.max_tokens,
        judge[0] if judge else None,
        options.judge_max_tokens,
        expand_user_path(options.selected) if options.selected else None,
        options.min_words,
        options.orders,
        options.seed or 0,
        NO_FAILURES if options.allow_failed is None else options.allow_failed,
        tuple(options.call),
    )
    for name in ("jsonl", "candidates.jsonl", "selected.jsonl"):
        json_lines.refuse_output_over_input(
            plan.name_file_beside_study(name), *options.files, *([options.selected] if name == "jsonl" else [])
        )
    built = build_study_in_steps(plan)
    print("\n".join(step.describe_questions_left_and_dropped() for step in built.steps))
    if built.done:
        print("\n".join(steps.list_lines_of_split_counts_per_subset(built.steps[-1].kept_questions)))
        study = quote(str(plan.out))
        print(f"{study}: done; next: waver run choice --items {study} --model MODEL --out RUN")
        return
    folder, chosen = (quote(str(plan.name_file_beside_study(name))) for name in ("judge", "selected.jsonl"))
    print(
        f"{folder}: the judge has answered; next: waver select {folder} --out {chosen}; then give this very command "
        "again, which goes on from there"
    )


def _find_models_named_by_argument(
    option: str, names: Sequence[str], options: argparse.Namespace, kinds: Sequence[str]
) -> tuple[Model, ...]:
    """Find the models that an option names, each once."""
    from inference.asking.models import find_requested_models

    if not names:
        return ()
    try:
        models = find_requested_models(names, kinds, options.engine)
    except InputError as error:  # it speaks of --model, as the option is called elsewhere
        raise InputError(str(error).replace("--model", option, 1)) from None
    if len(models) != len(names):
        raise InputError(f"{option} {names[0]}: this stands for {len(models)} models; name one")
    return models


COMMANDS: dict[str, tuple[Callable[[argparse.Namespace], None], Callable[[argparse.ArgumentParser], None]]] = {
    "build": (_run_choice_build, _add_build_arguments),
}
