"""Run the commands of this wing: `waver run | preview | paraphrase | negate ...`, or `python -m inference ...`."""

from __future__ import annotations

import argparse
import importlib
import os
import sys
from collections.abc import Callable, Sequence
from contextlib import chdir
from dataclasses import replace
from functools import partial
from pathlib import Path
from shlex import quote
from types import ModuleType
from typing import TYPE_CHECKING, Any

from ground.command import run_command
from ground.commands import Command, add_outside_verbs, find_commands, load_outside_verb
from ground.outside_rooms import forget_rooms_in_use
from ground.parser import CommandParser, hide_secrets
from inference import arguments, protocols
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
    "status": "count the rows done and left in a run folder, or in all of a run file",
}
"""The commands of the wing as a whole; others are found by scanning (`ground.commands`)."""
IMPORTING = "import"
"""The command whose verbs other packages may add to."""
STOPPED = "stopped; saved rows stay, and the same command continues from there"
PLAN = "PLAN.toml"
PLAN_ABOUT = "ask several models, protocols and conditions as a run file says, each study in its own folder"
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
    forget_rooms_in_use()

    def run_call(options: argparse.Namespace) -> None:
        options.program = program.split()
        options.call = [*options.program, *hide_secrets(call)]
        recognition_notes.drop_notes()
        options.main(options)
        recognition_notes.print_notes()

    return run_command(
        call, program, lambda: build_call_parser(call, program), run_call, stopped_message=stopped_message
    )


def build_call_parser(call: Sequence[str], program: str = PROGRAM) -> argparse.ArgumentParser:
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
    for asking_word, action, about, add_arguments in (
        ("run", _run_protocol, ABOUT["run"], _add_run_arguments),
        ("preview", _print_preview, ABOUT["preview"], _add_preview_arguments),
    ):
        command_parser = commands.add_parser(asking_word, help=about, description=_make_sentence(about))
        protocol_parsers = command_parser.add_subparsers(title="protocols", metavar="PROTOCOL", required=True)
        for name in protocols.list_protocols():
            if list(call[:2]) == [asking_word, name]:
                _add_command(
                    protocol_parsers,
                    name,
                    protocols.read_protocol_summary(name),
                    action,
                    partial(add_arguments, protocols.load_protocol(name)),
                )
            else:
                _add_help_only_command(protocol_parsers, name, protocols.read_protocol_summary(name))
        if asking_word == "run":
            # A run file stands where a protocol would: what ends in .toml is one.
            file = call[1] if list(call[:1]) == ["run"] and call[1:] and call[1].endswith(".toml") else PLAN
            _add_command(protocol_parsers, file, PLAN_ABOUT, _run_plan, partial(_add_plan_arguments, file))
    _add_command(commands, "status", ABOUT["status"], _print_status, _add_root_argument)
    for word, command in find_commands(Path(__file__).parent).items():
        if word == IMPORTING:
            command = add_outside_verbs(command, word, "importer")
        if word not in ABOUT:
            _add_scanned_command(commands, call, word, command)
    return parser


def _add_scanned_command(commands: Any, call: Sequence[str], word: str, command: Command) -> None:
    """Add a command that was found by scanning, and its verbs; only the one that this call gives is imported."""
    if not command.verbs:
        if list(call[:1]) == [word]:
            module = importlib.import_module(command.module)
            _add_command(commands, word, command.about, module.main, module.add_arguments)
        else:
            _add_help_only_command(commands, word, command.about)
        return
    title, placeholder = command.listed
    verbs = commands.add_parser(word, help=command.about)
    verbs = verbs.add_subparsers(title=title, metavar=placeholder, required=True)
    for name, verb in command.verbs.items():
        if list(call[:2]) == [word, name] and verb.room:
            _add_command(verbs, name, verb.about, *load_outside_verb(verb.room))
        elif list(call[:2]) == [word, name]:
            module = importlib.import_module(verb.module)
            pairs = getattr(module, "COMMANDS", None) or {name: (module.main, module.add_arguments)}
            _add_command(verbs, name, verb.about, *pairs[name])
        else:
            _add_help_only_command(verbs, name, verb.about)


def _add_help_only_command(commands: Any, name: str, about: str) -> None:
    """Name a command in `--help` only. Its module is not imported, because importing all would be slow."""
    commands.add_parser(name, help=_make_list_entry(about))


def _add_command(
    commands: Any,
    name: str,
    about: str,
    action: Callable[[argparse.Namespace], None],
    add_arguments: Callable[[argparse.ArgumentParser], None],
) -> None:
    """Add a command with its arguments."""
    parser = commands.add_parser(name, help=_make_list_entry(about), description=_make_sentence(about))
    parser.set_defaults(main=action)
    add_arguments(parser)


def _make_list_entry(about: str) -> str:
    """Write a description as an entry of a list: no capital, and no per cent sign that argparse would fill in."""
    return (about[:1].lower() + about[1:]).replace("%", "%%")


def _make_sentence(about: str) -> str:
    """Write a description as a sentence: a capital, and a full stop."""
    return f"{about[:1].upper()}{about[1:]}."


def _add_run_arguments(protocol: ModuleType | OutsideProtocol, parser: argparse.ArgumentParser) -> None:
    """Define the options of `run PROTOCOL`."""
    parser.epilog = EXAMPLE.format(protocol=protocol.NAME)
    parser.add_argument(
        "--out", required=True, metavar="RUN", help="run folder: a new one, or one of the same study to continue"
    )
    _add_asking_arguments(protocol, parser)
    arguments.add_allow_failed_option(parser)
    arguments.add_cluster(parser)


def _add_plan_arguments(file: str, parser: argparse.ArgumentParser) -> None:
    """Define the options of `run FILE.toml`."""
    parser.set_defaults(file=Path(file))
    arguments.add_allow_failed_option(parser)
    arguments.add_cluster(parser)


def _add_preview_arguments(protocol: ModuleType | OutsideProtocol, parser: argparse.ArgumentParser) -> None:
    """Define the options of `preview PROTOCOL`."""
    parser.set_defaults(prints=True)
    _add_asking_arguments(protocol, parser)


def _add_root_argument(parser: argparse.ArgumentParser) -> None:
    """Define the folder that `status` looks into."""
    parser.set_defaults(prints=True)
    parser.add_argument("root", metavar="ROOT", help="a run folder, or the `out` of a run file")


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
    arguments.add_adapters(parser)
    arguments.add_models_file(parser)
    arguments.add_limit_option(parser)
    parser.add_argument("--name", metavar="STUDY", help="name of the study (default: the name of the items file)")
    arguments.add_engine(parser)


def _run_protocol(options: argparse.Namespace) -> None:
    """Ask one study as the options say, and print what can be done next."""
    ask_study(options, build_task(options))
    print(_describe_next_step(options.out))


def ask_study(
    options: argparse.Namespace, task: Task, load: Callable[[Model, int], Engine] | None = None
) -> list[Tally]:
    """Ask a study, and say which part of it was not asked because the options say so.

    Parameters
    ----------
    options
        Those of `run PROTOCOL`.
    task
        The study, as `build_task` makes it of the options.
    load
        As in `execute_tasks`.

    Returns
    -------
    A tally per model and condition.

    Raises
    ------
    RunFailed, InputError
        As `execute_tasks` does.
    """
    from inference.asking.execute import execute_tasks

    with arguments.open_cluster(options.ray, options.ray_workers) as cluster:
        tallies = execute_tasks([task], load=load, cluster=cluster)
    if options.limit is not None and options.limit < len(task.study.items):
        print(f"asked about {options.limit:,} of {len(task.study.items):,} items; without --limit the others are asked")
    if getattr(options, "wordings", None) is not None:
        print(f"asked {options.wordings:,} wordings of each item; a larger --wordings asks only the others")
    return tallies


def _run_plan(options: argparse.Namespace) -> None:
    """Run all studies of a run file, from inside its folder, because its paths are relative to it."""
    from inference.asking.execute import execute_tasks
    from inference.runfile import read_run_file

    plan = read_run_file(options.file, build_study_table_parser)
    with chdir(options.file.parent):
        tasks = plan.load_tasks(build_study_table_parser, build_task, [*options.program, "run"])
        if options.allow_failed is not None:
            tasks = [replace(task, allowed=options.allow_failed) for task in tasks]
        ray, workers = options.ray or plan.ray, options.ray_workers or plan.ray_workers
        with arguments.open_cluster(ray, workers) as cluster:
            execute_tasks(tasks, cluster=cluster)
    print(_describe_next_step(os.path.normpath(options.file.parent / plan.out)))


def _describe_next_step(out: str) -> str:
    """Say where the rows are, and what to do with them."""
    return f"{out}: done; next: waver report {quote(out)} --out {quote(str(Path(out) / 'report'))}"


def build_study_table_parser(protocol_name: str) -> argparse.ArgumentParser:
    """Make the parser of a study's table in a run file: the options of its protocol, without `--out`."""
    from inference.runfile import TableParser

    parser = TableParser(prog=PROGRAM, add_help=False)
    _add_asking_arguments(protocols.load_protocol(protocol_name), parser)
    arguments.add_allow_failed_option(parser)
    return parser


def build_python_call_parser(protocol_name: str) -> argparse.ArgumentParser:
    """Make the parser of a call from Python: the options of `run PROTOCOL`; a wrong one raises `InputError`."""
    from inference.runfile import TableParser

    parser = TableParser(prog=PROGRAM, add_help=False)
    _add_run_arguments(protocols.load_protocol(protocol_name), parser)
    return parser


def _print_status(options: argparse.Namespace) -> None:
    """Print what is done and left in the run folders below a root."""
    from inference.runfolder.status import describe_status

    for line in describe_status(options.root):
        print(line)


def build_task(options: argparse.Namespace) -> Task:
    """Turn the options of `run PROTOCOL` into a task."""
    from inference.asking.execute import Task
    from inference.asking.models import read_descriptions

    descriptions = read_descriptions(options.models) if options.models else {}
    task = Task(*_prepare_asking(options), options.out, descriptions, options.call)
    return task if options.allow_failed is None else replace(task, allowed=options.allow_failed)


def _print_preview(options: argparse.Namespace) -> None:
    """Print what a run with these options would do."""
    from inference.asking.execute import print_items_with_too_few_paraphrases
    from inference.asking.preview import describe_preview

    study, models, questions, settings = _prepare_asking(options)
    print_items_with_too_few_paraphrases(study)
    for line in describe_preview(study, models, questions, settings):
        print(line, flush=True)


def _prepare_asking(options: argparse.Namespace) -> tuple[Study, tuple[Model, ...], Questions, Settings]:
    """Read and check everything that can be checked before a model is loaded."""
    from inference.asking.adapters import add_adapter_models
    from inference.asking.answer_ways import THOUGHT
    from inference.asking.limit import limit_questions
    from inference.asking.models import find_models

    thinking = THOUGHT in (getattr(options, "answer", None) or ())
    demo_models = getattr(options.protocol, "DEMO_MODELS", None)
    models = find_models(options.model, options.protocol.KINDS, options.engine, thinking, demo_models)
    models = add_adapter_models(models, options.lora, options.engine, options.revision)
    study, questions = options.protocol.prepare_study(options)
    return study, models, limit_questions(study, questions, options.limit), arguments.parse_engine_settings(options)


if __name__ == "__main__":
    sys.exit(main())
