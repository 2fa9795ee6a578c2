"""python -m inference run | preview | import"""

from __future__ import annotations

import argparse
import importlib
import sys
from collections.abc import Callable, Sequence
from functools import partial
from types import ModuleType
from typing import TYPE_CHECKING, Any, NoReturn

from inference.errors import InputError, RunFailed
from inference.protocols import PROTOCOLS, protocol

if TYPE_CHECKING:
    from inference.asking import Questions
    from inference.models import Model
    from inference.run import Settings
    from inference.study import Study

# Nothing heavy is imported up here or while the parsers are made: `--help` must answer at once.

PROGRAM = "python -m inference"
IMPORTERS = {
    "haller": "responses as Haller et al. (2024) published them (JSON)",
    "table": "a long table with one row per response (CSV, JSON lines or Parquet)",
}
EXAMPLE = "example: python -m inference run agreement --items statements.csv --model gpt2 --out runs/gpt2"


class Parser(argparse.ArgumentParser):
    """Takes options in full only, and reports a wrong call in one line."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**{**settings, "allow_abbrev": False})

    def error(self, message: str) -> NoReturn:
        """Print the message and where to find help; exit status 2."""
        self.exit(2, f"{self.prog}: {' '.join(message.split())} (see {self.prog} --help)\n")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command and return its exit status: 0 done, 1 the run failed, 2 the call or an input is wrong."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    options = _parser(given).parse_args(given)
    options.call = [*PROGRAM.split(), *_without_secrets(given)]
    try:
        options.main(options)
    except InputError as error:
        return _fail(2, str(error))
    except RunFailed as error:
        return _fail(1, str(error))
    except KeyboardInterrupt:
        return _fail(1, "stopped; what was saved stays, and the same command goes on from there")
    return 0


def _fail(status: int, message: str) -> int:
    print(f"{PROGRAM}: {' '.join(message.split())}", file=sys.stderr)
    return status


def _parser(given: Sequence[str]) -> argparse.ArgumentParser:
    parser = Parser(prog=PROGRAM, description="Ask language models the same question in many wordings.")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    for command, action, about, add_arguments in (
        ("run", _run, "ask models and write a run folder; a stopped run goes on where it was", _run_arguments),
        ("preview", _preview, "show one rendered prompt, the tokens of its options and the time to come", _asking),
    ):
        asking = commands.add_parser(command, help=about, description=about[:1].upper() + about[1:] + ".")
        protocols = asking.add_subparsers(title="protocols", metavar="PROTOCOL", required=True)
        for name, what in PROTOCOLS.items():
            # Only the protocol that is called for is imported.
            if list(given[:2]) == [command, name]:
                _add(protocols, name, action, what, partial(add_arguments, protocol(name)))
            else:
                protocols.add_parser(name, help=what)
    imports = commands.add_parser("import", help="make a run folder from other people's files")
    kinds = imports.add_subparsers(title="kinds of file", metavar="KIND", required=True)
    for name, about in IMPORTERS.items():
        # Only the importer that is called for is imported.
        if list(given[:2]) == ["import", name]:
            importer = importlib.import_module(f"inference.importers.{name}")
            _add(kinds, name, importer.main, about, importer.add_arguments)
        else:
            kinds.add_parser(name, help=about)
    return parser


def _add(
    commands: Any,
    name: str,
    action: Callable[[argparse.Namespace], None],
    about: str,
    add_arguments: Callable[[argparse.ArgumentParser], None],
) -> None:
    parser = commands.add_parser(name, help=about, description=about[:1].upper() + about[1:] + ".")
    parser.set_defaults(main=action)
    add_arguments(parser)


def _run_arguments(asked: ModuleType, parser: argparse.ArgumentParser) -> None:
    parser.epilog = EXAMPLE
    parser.add_argument(
        "--out", required=True, metavar="RUN", help="run folder: new, or one of the same study to go on with"
    )
    _asking(asked, parser)


def _asking(asked: ModuleType, parser: argparse.ArgumentParser) -> None:
    """What is asked, of whom and how: the arguments of `run` and `preview`."""
    parser.set_defaults(protocol=asked)
    asked.add_arguments(parser)
    parser.add_argument(
        "--model",
        required=True,
        nargs="+",
        action="extend",
        metavar="MODEL",
        help="hub id or local folder (NAME=... chooses its name in the run), or `demo` for the family of small models "
        "that comes with Waver",
    )
    parser.add_argument(
        "--models", metavar="FILE", help="YAML: model id -> series, stage, family, parameters, revision"
    )
    parser.add_argument("--name", metavar="STUDY", help="name of the study (default: the name of the items file)")
    parser.add_argument(
        "--form",
        choices=("auto", "plain", "chat"),
        default="auto",
        help="auto: chat where the model has a chat template, else plain; a masked model always fills a mask",
    )
    engine = parser.add_argument_group("engine")
    engine.add_argument("--engine", choices=("auto", "causal", "masked"), default="auto")
    engine.add_argument("--dtype", choices=("auto", "float32", "bfloat16", "float16"), default="auto")
    engine.add_argument("--device", default="auto", help="cpu, cuda, cuda:1, mps ... (default: the best there is)")
    engine.add_argument("--revision", help="branch, tag or commit of hub models")
    engine.add_argument("--seed", type=int, help="default: 0, or what the run folder records")
    engine.add_argument(
        "--batch-size", type=_positive, metavar="N", help="prompts per forward pass (default: automatic)"
    )


def _positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"{text} is not a positive number")
    return number


def _run(options: argparse.Namespace) -> None:
    from inference.models import read_descriptions
    from inference.run import execute

    descriptions = read_descriptions(options.models) if options.models else None
    study, models, questions, settings = _prepare(options)
    execute(study, models, questions, settings, options.out, descriptions=descriptions, command=options.call)


def _preview(options: argparse.Namespace) -> None:
    from inference.preview import preview
    from inference.run import list_unstable

    study, models, questions, settings = _prepare(options)
    list_unstable(study)
    for line in preview(study, models, questions, settings):
        print(line, flush=True)


def _prepare(options: argparse.Namespace) -> tuple[Study, tuple[Model, ...], Questions, Settings]:
    """Everything that can be checked before a model is loaded."""
    from inference.models import resolve
    from inference.run import Settings

    models = resolve(options.model, options.protocol.FAMILIES)
    study, questions = options.protocol.prepare(options)
    settings = Settings(
        form=options.form,
        engine=options.engine,
        dtype=options.dtype,
        device=options.device,
        revision=options.revision,
        seed=options.seed,
        batch_size=options.batch_size,
    )
    return study, models, questions, settings


def _without_secrets(arguments: Sequence[str]) -> list[str]:
    """The call as it may be shown to others: the value of any option named like a secret is left out."""
    shown: list[str] = []
    hide = False
    for argument in arguments:
        option, equals, _ = argument.partition("=")
        secret = option.startswith("--") and option.endswith(("key", "token", "secret", "password"))
        shown.append("***" if hide else f"{option}=***" if secret and equals else argument)
        hide = secret and not equals
    return shown


if __name__ == "__main__":
    sys.exit(main())
