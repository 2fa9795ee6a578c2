"""python -m inference run | preview | import | paraphrase | status"""

from __future__ import annotations

import argparse
import importlib
import sys
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, chdir, nullcontext
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, NoReturn

from inference.engines import ENGINES, VllmSettings
from inference.engines.openai import settings
from inference.errors import InputError, RunFailed
from inference.protocols import PROTOCOLS, protocol

if TYPE_CHECKING:
    from inference.asking.cluster import Cluster
    from inference.asking.execute import Task
    from inference.asking.models import Model
    from inference.asking.one_model import Settings
    from inference.asking.rounds import Questions
    from inference.stimuli.study import Study

# Nothing heavy is imported up here or while the parsers are made: `--help` must answer at once.

PROGRAM = "python -m inference"
IMPORTERS = {
    "haller": "responses as Haller et al. (2024) published them (JSON)",
    "table": "a long table with one row per response (CSV, JSON lines or Parquet)",
}
PLAN = "PLAN.toml"
PLAN_ABOUT = "several models, protocols and conditions from one run file, each study in a folder of its own"
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
        if command == "run":
            # A run file stands where a protocol would: what ends in .toml is one.
            file = given[1] if list(given[:1]) == ["run"] and given[1:] and given[1].endswith(".toml") else PLAN
            _add(protocols, file, _run_plan, PLAN_ABOUT, partial(_plan_arguments, file))
    imports = commands.add_parser("import", help="make a run folder from other people's files")
    kinds = imports.add_subparsers(title="kinds of file", metavar="KIND", required=True)
    for name, about in IMPORTERS.items():
        # Only the importer that is called for is imported.
        if list(given[:2]) == ["import", name]:
            importer = importlib.import_module(f"inference.importers.{name}")
            _add(kinds, name, importer.main, about, importer.add_arguments)
        else:
            kinds.add_parser(name, help=about)
    _add(commands, "status", _status, "say what is done and left in a run folder, or in all of a run file", _root)
    _add_paraphrase(commands, given)
    return parser


def _add_paraphrase(commands: Any, given: Sequence[str]) -> None:
    from inference.paraphrase import VERBS

    parser = commands.add_parser("paraphrase", help="make paraphrases of items, check them by hand, combine sources")
    verbs = parser.add_subparsers(title="what to do", metavar="VERB", required=True)
    for name, about in VERBS.items():
        if list(given[:2]) != ["paraphrase", name]:
            verbs.add_parser(name, help=about)
            continue
        command = importlib.import_module("inference.paraphrase.command")
        action, add_arguments = command.COMMANDS[name]
        _add(verbs, name, partial(action, settings=_settings), about, partial(add_arguments, engine=_engine))


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
    _ray_arguments(parser)


def _plan_arguments(file: str, parser: argparse.ArgumentParser) -> None:
    parser.set_defaults(file=Path(file))
    _ray_arguments(parser)


def _ray_arguments(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("cluster")
    group.add_argument(
        "--ray", metavar="ADDRESS", help="ask on a Ray cluster: its address, `auto`, or `local` for one on this machine"
    )
    group.add_argument(
        "--ray-workers", type=_positive, metavar="N", help="engines at work (default: one per GPU, else one per CPU)"
    )


def _root(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("root", metavar="ROOT", help="a run folder, or the `out` of a run file")


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
        help="hub id or local folder (NAME=... chooses its name in the run), or `demo` for the small models that come "
        "with Waver, as far as the engine can ask them",
    )
    parser.add_argument(
        "--models", metavar="FILE", help="YAML: model id -> series, stage, family, parameters, revision"
    )
    parser.add_argument("--name", metavar="STUDY", help="name of the study (default: the name of the items file)")
    _engine(parser)


def _engine(parser: argparse.ArgumentParser) -> None:
    """How a model is asked, whatever it is asked: arguments that `_settings` reads."""
    parser.add_argument(
        "--form",
        choices=("auto", "plain", "chat"),
        default="auto",
        help="auto: chat where the model has a chat template, else plain; a masked model always fills a mask",
    )
    engine = parser.add_argument_group("engine")
    engine.add_argument("--engine", choices=("auto", *ENGINES), default="auto")
    engine.add_argument("--dtype", choices=("auto", "float32", "bfloat16", "float16"), default="auto")
    engine.add_argument("--device", default="auto", help="cpu, cuda, cuda:1, mps ... (default: the best there is)")
    engine.add_argument("--revision", help="branch, tag or commit of hub models")
    engine.add_argument("--seed", type=int, help="default: 0, or what the run folder records")
    engine.add_argument(
        "--batch-size", type=_positive, metavar="N", help="prompts per forward pass (default: automatic)"
    )
    vllm = parser.add_argument_group("engine vllm")
    vllm.add_argument("--lora", metavar="FOLDER", help="LoRA adapter to ask the model with, as peft writes it")
    vllm.add_argument("--tensor-parallel-size", type=_positive, metavar="N", help="GPUs to spread a model over")
    vllm.add_argument("--quantization", metavar="METHOD", help="as vLLM calls it (default: what the checkpoint says)")
    vllm.add_argument(
        "--gpu-memory-utilization", type=_share, metavar="P", help="share of a GPU's memory to take (default: 0.9)"
    )
    settings.add_arguments(parser)


def _positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"{text} is not a positive number")
    return number


def _share(text: str) -> float:
    number = float(text)
    if not 0 < number <= 1:
        raise argparse.ArgumentTypeError(f"{text} is not a share above 0, at most 1")
    return number


def _run(options: argparse.Namespace) -> None:
    from inference.asking.execute import execute

    with _cluster(options.ray, options.ray_workers) as cluster:
        execute([_task(options)], cluster=cluster)


def _run_plan(options: argparse.Namespace) -> None:
    """Carry a run file out in its own folder, which its paths are relative to."""
    from inference.asking.execute import execute
    from inference.runfile import read

    plan = read(options.file, _table_parser)
    with chdir(options.file.parent):
        tasks = plan.tasks(_table_parser, _task, [*PROGRAM.split(), "run"])
        ray, workers = options.ray or plan.ray, options.ray_workers or plan.ray_workers
        with _cluster(ray, workers) as cluster:
            execute(tasks, cluster=cluster)


def _table_parser(name: str) -> argparse.ArgumentParser:
    """The options of a protocol as a run file may give them: without --out, which is the file's own."""
    from inference.runfile import TableParser

    parser = TableParser(prog=PROGRAM, add_help=False, allow_abbrev=False)
    _asking(protocol(name), parser)
    return parser


def _cluster(address: str | None, workers: int | None) -> AbstractContextManager[Cluster | None]:
    if address is None:
        if workers is not None:
            raise InputError("--ray-workers is for asking on a cluster: add --ray, or leave it out")
        return nullcontext()
    from inference.asking.cluster import Cluster

    return Cluster(address, workers)


def _status(options: argparse.Namespace) -> None:
    from inference.runfolder.status import status

    for line in status(options.root):
        print(line)


def _task(options: argparse.Namespace) -> Task:
    """What the options of `run PROTOCOL` ask for."""
    from inference.asking.execute import Task
    from inference.asking.models import read_descriptions

    descriptions = read_descriptions(options.models) if options.models else {}
    return Task(*_prepare(options), options.out, descriptions, options.call)


def _preview(options: argparse.Namespace) -> None:
    from inference.asking.execute import list_unstable
    from inference.asking.preview import preview

    study, models, questions, settings = _prepare(options)
    list_unstable(study)
    for line in preview(study, models, questions, settings):
        print(line, flush=True)


def _prepare(options: argparse.Namespace) -> tuple[Study, tuple[Model, ...], Questions, Settings]:
    """Everything that can be checked before a model is loaded."""
    from inference.asking.models import resolve

    models = resolve(options.model, options.protocol.FAMILIES, options.engine)
    study, questions = options.protocol.prepare(options)
    return study, models, questions, _settings(options)


def _settings(options: argparse.Namespace) -> Settings:
    from inference.asking.one_model import Settings

    return Settings(
        form=options.form,
        engine=options.engine,
        dtype=options.dtype,
        device=options.device,
        revision=options.revision,
        seed=options.seed,
        batch_size=options.batch_size,
        vllm=_vllm_settings(options),
        api=settings.from_options(options),
    )


def _vllm_settings(options: argparse.Namespace) -> VllmSettings | None:
    names = ("lora", "tensor_parallel_size", "quantization", "gpu_memory_utilization")
    given = {name: value for name in names if (value := getattr(options, name)) is not None}
    if given and options.engine != "vllm":
        raise InputError(f"--{next(iter(given)).replace('_', '-')} is for --engine vllm: say so, or leave it out")
    return VllmSettings(**given) if given else None


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
