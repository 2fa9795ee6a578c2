"""Run the commands of this wing: `waver run | preview | paraphrase | negate ...`, or `python -m inference ...`."""

from __future__ import annotations

import argparse
import importlib
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import chdir
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from ground.capitals import capitalise_sentence, uncapitalise_sentence
from ground.command import run_command
from ground.commands import Command, build_command_with_outside_verbs, find_commands, import_functions_of_outside_verb
from ground.errors import InputError
from ground.outside_rooms import clear_rooms_in_use
from ground.parser import CommandParser, hide_values_of_secret_options, put_chosen_options_first_in_help
from ground.progress import add_loudness_options, print_warning
from ground.run_json import read_run_json
from inference import arguments, protocols
from inference.runfolder import describe_where_rows_are_and_next
from inference.stimuli.reading import recognition_notes

if TYPE_CHECKING:
    from inference.asking.execute import Task
    from inference.asking.models import Model
    from inference.asking.one_model import Settings
    from inference.asking.rounds import Questions
    from inference.asking.session import Tally
    from inference.engines.contract import Engine
    from inference.protocols import OutsideProtocol
    from inference.stimuli.study import Study

# Nothing heavy is imported up here or while the parsers are made: `--help` must answer at once.

PROGRAM = "python -m inference"
ABOUT = {
    "run": "ask models and write a run folder; the same command continues a stopped run",
    "preview": "show one rendered prompt, the tokens of its options and the time to come",
}
"""The commands of the wing as a whole; others are found by scanning (`ground.commands`)."""
IMPORTING = "import"
"""The command whose verbs other packages may add to."""
STOPPED = "stopped; saved rows stay, and the same command continues from there"
PLAN = "PLAN.toml"
PLAN_ABOUT = {
    "run": "ask several models, protocols and conditions as a run file says, each study in its own folder",
    "preview": "show that for every study of a run file, as `run PLAN.toml` would ask it",
}
VERBOSE = "a line per condition"
"""What `run --verbose` adds. The module of another command has a `VERBOSE` of its own where its option adds more."""
COMMON_TITLE = "what most calls need"
COMMON = (
    "--items", "--model", "--out", "--name", "--language", "--option-order", "--answer", "--wordings", "--limit",
    "--engine", "--json",
)  # fmt: skip
"""The options that stand first in the help of `run PROTOCOL` and `preview PROTOCOL`; a protocol may lack some."""
EXAMPLE = "example: waver run {protocol} --items items.csv --model gpt2 --out runs/gpt2"


def main(words: Sequence[str] | None = None, program: str = PROGRAM, stopped_message: str = STOPPED) -> int:
    """Run a command of this wing.

    Parameters
    ----------
    words
        The call without the program; None: that of this process.
    program
        How the user called it; usage and messages repeat that.
    stopped_message
        What is said when the user stops it.

    Returns
    -------
    The exit status: 0 done, 1 the run failed, 2 the call or an input is wrong.
    """
    call = list(sys.argv[1:] if words is None else words)
    clear_rooms_in_use()

    def run_call(options: argparse.Namespace) -> None:
        options.program = program.split()
        options.call = [*options.program, *hide_values_of_secret_options(call)]
        recognition_notes.drop_notes_on_recognised_inputs()
        options.main(options)
        recognition_notes.print_notes_on_recognised_inputs()

    return run_command(
        call,
        program,
        lambda: build_parser_importing_only_called_command(call, program),
        run_call,
        stopped_message=stopped_message,
    )


def build_parser_importing_only_called_command(call: Sequence[str], program: str = PROGRAM) -> argparse.ArgumentParser:
    """Make the parser of a call; only what this call needs is imported.

    Parameters
    ----------
    call
        The words after the program: the first two say which command and protocol get their options.
    program
        How the user called it.

    Returns
    -------
    The parser; commands and protocols that are not called are only listed in its help.
    """
    parser = CommandParser(prog=program, description="Ask language models the same question in many wordings.")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    for asking_word, action, add_arguments, plan_action, add_plan_arguments in (
        ("run", _ask_study_and_print_next_step, _add_run_arguments, _run_studies_of_run_file, _add_run_file_arguments),
        ("preview", _print_preview, _add_preview_arguments, _print_run_file_preview, _add_run_file_preview_arguments),
    ):
        about = ABOUT[asking_word]
        command_parser = commands.add_parser(asking_word, help=about, description=_format_help_sentence(about))
        protocol_parsers = command_parser.add_subparsers(title="protocols", metavar="PROTOCOL", required=True)
        for name in protocols.list_protocols():
            if list(call[:2]) == [asking_word, name]:
                _add_command(
                    protocol_parsers,
                    name,
                    protocols.read_protocol_summary(name),
                    action,
                    partial(add_arguments, protocols.load_protocol(name)),
                    VERBOSE,
                )
            else:
                _add_help_only_command(protocol_parsers, name, protocols.read_protocol_summary(name))
        # A run file stands where a protocol would: what ends in .toml is one.
        file = call[1] if list(call[:1]) == [asking_word] and call[1:] and call[1].endswith(".toml") else PLAN
        _add_command(
            protocol_parsers,
            file,
            PLAN_ABOUT[asking_word],
            plan_action,
            partial(add_plan_arguments, file),
            VERBOSE if asking_word == "run" else "",
        )
    for word, command in find_commands(Path(__file__).parent).items():
        if word == IMPORTING:
            command = build_command_with_outside_verbs(command, word, "importer")
        if word not in ABOUT:
            _add_scanned_command(commands, call, word, command)
    return parser


def _add_scanned_command(commands: Any, call: Sequence[str], word: str, command: Command) -> None:
    """Add a command that was found by scanning, and its verbs; only the one that this call gives is imported."""
    if not command.verbs:
        if list(call[:1]) == [word]:
            module = importlib.import_module(command.module)
            more = getattr(module, "VERBOSE", "")
            _add_command(commands, word, command.about, module.main, module.add_arguments, more)
        else:
            _add_help_only_command(commands, word, command.about)
        return
    title, placeholder = command.listed
    verbs = commands.add_parser(word, help=command.about)
    verbs = verbs.add_subparsers(title=title, metavar=placeholder, required=True)
    for name, verb in command.verbs.items():
        if list(call[:2]) == [word, name] and verb.room:
            _add_command(verbs, name, verb.about, *import_functions_of_outside_verb(verb.room))
        elif list(call[:2]) == [word, name]:
            module = importlib.import_module(verb.module)
            pairs = getattr(module, "COMMANDS", None) or {name: (module.main, module.add_arguments)}
            action, add_arguments = pairs[name]
            _add_command(verbs, name, verb.about, action, add_arguments, getattr(module, "VERBOSE", ""))
        else:
            _add_help_only_command(verbs, name, verb.about)


def _add_help_only_command(commands: Any, name: str, about: str) -> None:
    """Name a command in `--help` only. Its module is not imported, because importing all would be slow."""
    commands.add_parser(name, help=_format_help_list_entry(about), add_help=False)


def _add_command(
    commands: Any,
    name: str,
    about: str,
    action: Callable[[argparse.Namespace], None],
    add_arguments: Callable[[argparse.ArgumentParser], None],
    more: str = "",
) -> None:
    """Add a command with its arguments; `more`: what `--verbose` adds. One that only prints says nothing else."""
    parser = commands.add_parser(name, help=_format_help_list_entry(about), description=_format_help_sentence(about))
    parser.set_defaults(main=action)
    add_arguments(parser)
    if not parser.get_default("prints"):
        add_loudness_options(parser, more)
    if parser.get_default("protocol"):
        put_chosen_options_first_in_help(parser, COMMON_TITLE, COMMON)


def _format_help_list_entry(about: str) -> str:
    """Write a description as an entry of a list: no capital, and no per cent sign that argparse would fill in."""
    return uncapitalise_sentence(about).replace("%", "%%")


def _format_help_sentence(about: str) -> str:
    """Write a description as a sentence: a capital, and a full stop."""
    return f"{capitalise_sentence(about)}."


def _add_run_arguments(protocol: ModuleType | OutsideProtocol, parser: argparse.ArgumentParser) -> None:
    """Define the options of `run PROTOCOL`."""
    parser.epilog = EXAMPLE.format(protocol=protocol.NAME)
    parser.add_argument(
        "--out",
        type=arguments.parse_folder_path,
        required=True,
        metavar="RUN",
        help="run folder: a new one, or one of the same study to continue",
    )
    _add_asking_arguments(protocol, parser)
    arguments.add_allow_failed_option(parser)
    arguments.add_cluster_options(parser)


def _add_run_file_arguments(file: str, parser: argparse.ArgumentParser) -> None:
    """Define the options of `run FILE.toml`."""
    parser.set_defaults(file=Path(file))
    arguments.add_allow_failed_option(parser)
    arguments.add_cluster_options(parser)


def _add_run_file_preview_arguments(file: str, parser: argparse.ArgumentParser) -> None:
    """Define the options of `preview FILE.toml`."""
    parser.set_defaults(file=Path(file), prints=True)
    parser.add_argument(
        "--study",
        nargs="+",
        action="extend",
        metavar="FOLDER",
        help="only these studies, by their folders (default: all)",
    )


def _add_preview_arguments(protocol: ModuleType | OutsideProtocol, parser: argparse.ArgumentParser) -> None:
    """Define the options of `preview PROTOCOL`."""
    parser.set_defaults(prints=True)
    parser.add_argument(
        "--json", action="store_true", help="print JSON, as inference/asking/preview/schema.json explains it"
    )
    _add_asking_arguments(protocol, parser)


def _add_asking_arguments(protocol: ModuleType | OutsideProtocol, parser: argparse.ArgumentParser) -> None:
    """Define what is asked, which models and how: the arguments of `run` and `preview`."""
    parser.set_defaults(protocol=protocol)
    protocol.add_arguments(parser)
    parser.add_argument(
        "--model",
        required=True,
        nargs="+",
        action="extend",
        metavar="MODEL",
        help="hub id or local folder (NAME=... chooses its name in the run), or `demo` for the small models that come "
        "with Waver, those that the engine can ask",
    )
    arguments.add_adapter_option(parser)
    arguments.add_models_file_option(parser)
    arguments.add_limit_option(parser)
    parser.add_argument("--name", metavar="STUDY", help="name of the study (default: the name of the items file)")
    arguments.add_engine_options(parser)


def _ask_study_and_print_next_step(options: argparse.Namespace) -> None:
    """Ask one study as the options say, and print what can be done next."""
    ask_study(options, build_task_from_options(options))
    print(describe_where_rows_are_and_next(options.out))


def ask_study(
    options: argparse.Namespace, task: Task, load: Callable[[Model, int], Engine] | None = None
) -> list[Tally]:
    """Ask a study; say which part of it was not asked because the options say so, and which models hardly answer.

    Parameters
    ----------
    options
        Those of `run PROTOCOL`.
    task
        The study, as `build_task_from_options` makes it of the options.
    load
        As in `ask_tasks_and_list_tallies`.

    Returns
    -------
    A tally per model and condition.

    Raises
    ------
    RunFailed, InputError
        As `ask_tasks_and_list_tallies` does.
    """
    from inference.asking.execute import ask_tasks_and_list_tallies
    from inference.asking.failures import describe_conditions_of_low_option_mass

    with arguments.open_ray_cluster(options.ray, options.ray_workers) as cluster:
        tallies = ask_tasks_and_list_tallies([task], load=load, cluster=cluster)
    for line in describe_conditions_of_low_option_mass(tallies):
        print_warning(line)
    for line in _describe_parts_left_for_later(task, tallies):
        print(line)
    return tallies


def _describe_parts_left_for_later(task: Task, tallies: Sequence[Tally]) -> Iterator[str]:
    """Say which items and wordings of a study were not asked because its options say so."""
    from inference.runfolder.status import describe_number_of_drawn_wordings

    if task.limit is not None and task.limit < len(task.study.items):
        yield (
            f"this call was about the first {task.limit:,} of {len(task.study.items):,} items; without --limit, "
            "what is left of the others is asked"
        )
        if getattr(task.questions, "draw", None) is None:
            return  # what is recorded as drawn is from an earlier call, and of the other items
    draws_by_model = read_run_json(Path(task.out)).get("drawn", {})
    draws = [draws_by_model.get(tally.model, {}).get(tally.condition) for tally in tallies]
    if drawn := describe_number_of_drawn_wordings(list(filter(None, draws))):
        yield f"asked so far with {drawn}; a larger number asks only the others"


def _run_studies_of_run_file(options: argparse.Namespace) -> None:
    """Run all studies of a run file, from inside its folder, because its paths are relative to it."""
    from inference.asking.execute import ask_tasks_and_list_tallies
    from inference.asking.failures import describe_conditions_of_low_option_mass
    from inference.runfile import read_run_file

    plan = read_run_file(options.file, build_parser_of_run_file_study)
    with chdir(options.file.parent):
        tasks = plan.load_tasks_of_run_file(
            build_parser_of_run_file_study, build_task_from_options, [*options.program, "run"]
        )
        if options.allow_failed is not None:
            tasks = [replace(task, allowed=options.allow_failed) for task in tasks]
        ray, workers = plan.ray if options.ray is None else options.ray, options.ray_workers or plan.ray_workers
        with arguments.open_ray_cluster(ray, workers) as cluster:
            tallies = ask_tasks_and_list_tallies(tasks, cluster=cluster)
        for line in describe_conditions_of_low_option_mass(tallies, with_study=len(tasks) > 1):
            print_warning(line)
        for task in tasks:
            for line in _describe_parts_left_for_later(task, [t for t in tallies if t.study == task.study.name]):
                print(f"{Path(task.out).name}: {line}" if len(tasks) > 1 else line)  # two may have one name
    print(describe_where_rows_are_and_next(os.path.normpath(options.file.parent / plan.out)))


def build_parser_of_run_file_study(protocol_name: str) -> argparse.ArgumentParser:
    """Make the parser of a study's table in a run file: the options of its protocol, without `--out`."""
    from inference.runfile import TableParser

    parser = TableParser(prog=PROGRAM, add_help=False)
    _add_asking_arguments(protocols.load_protocol(protocol_name), parser)
    arguments.add_allow_failed_option(parser)
    return parser


def build_argument_parser_for_python_calls(protocol_name: str) -> argparse.ArgumentParser:
    """Make the parser of a call from Python: the options of `run PROTOCOL`; a wrong one raises `InputError`."""
    from inference.runfile import TableParser

    parser = TableParser(prog=PROGRAM, add_help=False)
    _add_run_arguments(protocols.load_protocol(protocol_name), parser)
    return parser


def build_task_from_options(options: argparse.Namespace) -> Task:
    """Turn the options of `run PROTOCOL` into a task.

    Raises
    ------
    InputError
        A file that the options name, a model or an adapter cannot be used.
    """
    from inference.asking.execute import Task

    descriptions = _read_model_descriptions(options)
    task = Task(
        *_read_study_models_questions_and_settings(options), options.out, descriptions, options.call,
        limit=options.limit,
    )  # fmt: skip
    return task if options.allow_failed is None else replace(task, allowed=options.allow_failed)


def _read_model_descriptions(options: argparse.Namespace) -> dict[str, dict[str, Any]]:
    """Read the file that describes the models; nothing where none is given."""
    from inference.asking.models import read_model_fields_from_yaml

    return {} if options.models is None else read_model_fields_from_yaml(options.models)


def _print_preview(options: argparse.Namespace) -> None:
    """Print what a run with these options would do."""
    _read_model_descriptions(options)
    _print_study_preview(*_read_study_models_questions_and_settings(options), as_json=options.json)


def _print_run_file_preview(options: argparse.Namespace) -> None:
    """Print what a run file would do, study by study, from inside its folder."""
    from inference.runfile import read_run_file

    plan = read_run_file(options.file, build_parser_of_run_file_study)
    with chdir(options.file.parent):
        tasks = {
            Path(task.out).name: task
            for task in plan.load_tasks_of_run_file(
                build_parser_of_run_file_study, build_task_from_options, [*options.program, "run"]
            )
        }
        for name in options.study or ():
            if name not in tasks:
                raise InputError(f"--study {name}: {options.file} has no such study; it has {', '.join(tasks)}")
        for task in tasks.values() if options.study is None else [tasks[name] for name in options.study]:
            _print_study_preview(task.study, task.models, task.questions, task.settings)


def _print_study_preview(
    study: Study, models: Sequence[Model], questions: Questions, settings: Settings, as_json: bool = False
) -> None:
    """Print what a run of one study would do."""
    from inference.asking.execute import print_items_with_too_few_paraphrases
    from inference.asking.preview import load_models_and_yield_previews
    from inference.asking.preview.records import render_preview_json_and_list_errors
    from inference.asking.preview.text import describe_preview

    print_items_with_too_few_paraphrases(study)
    if as_json:
        previews_by_model = {
            model.id: load_models_and_yield_previews(study, [model], questions, settings) for model in models
        }
        text, errors = render_preview_json_and_list_errors(study, previews_by_model)
        print(text, end="", flush=True)
        if errors:
            raise InputError("; ".join(errors))
        return
    model_previews = load_models_and_yield_previews(study, models, questions, settings)
    for line in describe_preview(study, model_previews):
        print(line, flush=True)


def _read_study_models_questions_and_settings(
    options: argparse.Namespace,
) -> tuple[Study, tuple[Model, ...], Questions, Settings]:
    """Read and check everything that can be checked before a model is loaded."""
    from inference.asking.adapters import add_adapter_models
    from inference.asking.answer_ways import THOUGHT
    from inference.asking.limit import limit_questions_to_first_items
    from inference.asking.models import find_requested_models

    thinking = THOUGHT in (getattr(options, "answer", None) or ())
    demo_models = getattr(options.protocol, "DEMO_MODELS", None)
    models = find_requested_models(options.model, options.protocol.KINDS, options.engine, thinking, demo_models)
    models = add_adapter_models(models, options.lora, options.engine, options.revision)
    study, questions = options.protocol.prepare_study(options)
    return (
        study,
        models,
        limit_questions_to_first_items(study, questions, options.limit),
        arguments.parse_engine_settings(options),
    )


if __name__ == "__main__":
    sys.exit(main())
