"""Define command line options that several commands share: the engine, the cluster, positive numbers."""

from __future__ import annotations

from argparse import ArgumentParser, ArgumentTypeError, Namespace, _ArgumentGroup
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager, nullcontext
from os.path import expanduser
from pathlib import Path
from typing import TYPE_CHECKING

from ground.errors import InputError, shorten_text
from ground.numerals import build_bounded_number_argument_type, build_bounded_whole_number_type
from ground.parser import require_file_name
from inference.asking.failures import AllowedFailures
from inference.engines import (
    collect_engine_entries,
    list_engines_taking_adapters,
    list_entries_of_engines_with_options,
    record_use_of_engine_if_outside,
)
from inference.stimuli.languages import explain_invalid_language_code, lowercase_language_part_of_code
from inference.stimuli.reading.shapes import Columns

if TYPE_CHECKING:
    from inference.asking.cluster import Cluster
    from inference.asking.one_model import Settings

# Nothing heavy is imported up here: `--help` must answer at once.


parse_positive = build_bounded_whole_number_type(1, 1_000_000)
parse_seed = build_bounded_whole_number_type(0, 2**63 - 1)


def parse_allowed_failures(text: str) -> AllowedFailures:
    """Convert an argument `N` or `P%` to the number or share of rows that may be without a response.

    Raises
    ------
    ArgumentTypeError
        It is neither.
    """
    try:
        return (
            AllowedFailures(share=build_bounded_number_argument_type(0, 100)(text[:-1]) / 100)
            if text.endswith("%")
            else AllowedFailures(build_bounded_whole_number_type(0, 10**12)(text))
        )
    except ArgumentTypeError:
        raise ArgumentTypeError(
            f"{shorten_text(text, 40)} is neither a number of rows nor a share as 2% or 0.5%"
        ) from None


def parse_folder_path(text: str) -> str:
    """Convert an argument to the path of a folder; the `~` of a call from Python is not the shell's.

    Raises
    ------
    ArgumentTypeError
        It is empty, which would be the working folder.
    """
    if not text.strip():
        raise ArgumentTypeError("is empty; give the name of a folder")
    return expanduser(text)


def parse_language(text: str) -> str:
    """Convert an argument `CODE` to a language.

    Raises
    ------
    ArgumentTypeError
        It is no code of ISO 639-1, with a region or without.
    """
    code = lowercase_language_part_of_code(text)
    if trouble := explain_invalid_language_code(code):
        raise ArgumentTypeError(trouble)
    return code


def build_parser_of_shot_counts_argument(shot_counts: Iterable[int], advice: str) -> Callable[[str], tuple[int, ...]]:
    """Make the type of `--shots 0,4`: numbers of exemplars, each a condition.

    Parameters
    ----------
    shot_counts
        The numbers that may be given.
    advice
        What to give instead of anything else, as the message says it.

    Returns
    -------
    The function that converts an argument to its numbers, each once: "0,4" to (0, 4); ArgumentTypeError for any other.
    """
    number_by_text = {str(number): number for number in shot_counts}

    def parse_shots(text: str) -> tuple[int, ...]:
        parts = [part.strip() for part in text.split(",")]
        if any(part not in number_by_text for part in parts):
            raise ArgumentTypeError(f"{shorten_text(text, 40)!r}: give {advice}")
        return tuple(dict.fromkeys(number_by_text[part] for part in parts))

    return parse_shots


def add_items_option(parser: ArgumentParser, about: str) -> None:
    """Define `--items`: what is asked about.

    Parameters
    ----------
    parser
        The parser of the protocol's command.
    about
        The help: what the protocol takes.
    """
    parser.add_argument("--items", type=require_file_name, required=True, metavar="SOURCE", help=about)


def add_column_options(parser: ArgumentParser) -> None:
    """Define the options that say what the columns of `--items` are; `parse_column_options` reads them."""
    group = parser.add_argument_group("columns of a table, where they are not called item, text and pattern")
    group.add_argument("--item-column", metavar="NAME", help="ids of the items")
    group.add_argument(
        "--text-column",
        nargs="+",
        default=[],
        metavar="NAME",
        help="the wordings; several columns: one row per item, the first holds the originals",
    )
    group.add_argument("--pattern-column", metavar="NAME", help="which wording is the original, which a paraphrase")


def parse_column_options(options: Namespace) -> Columns:
    """Read the options that `add_column_options` defines."""
    return Columns(options.item_column, tuple(options.text_column), options.pattern_column)


def add_limit_option(parser: ArgumentParser) -> None:
    """Define `--limit`: ask about the first items only (`inference.asking.limit`)."""
    parser.add_argument(
        "--limit", type=parse_positive, metavar="N", help="ask about the first N items; more can be asked later"
    )


def add_language_option(parser: ArgumentParser | _ArgumentGroup, about: str) -> None:
    """Define `--language`: in which language texts are (`inference.stimuli.languages`).

    Parameters
    ----------
    parser
        The parser of the protocol's command, or one of its groups.
    about
        The help: what is in the language.
    """
    parser.add_argument("--language", type=parse_language, metavar="CODE", help=f"{about}, such as de (ISO 639-1)")


def add_wordings_option(parser: ArgumentParser | _ArgumentGroup, about: str) -> None:
    """Define `--wordings`: ask some wordings of every item (`inference.asking.wordings`).

    Parameters
    ----------
    parser
        The parser of the protocol's command, or one of its groups.
    about
        The help: which wordings are drawn.
    """
    parser.add_argument("--wordings", type=parse_positive, metavar="K", help=f"{about}; more can be asked later")


def add_models_file_option(parser: ArgumentParser) -> None:
    """Define `--models`: a YAML file that describes the models (`models.read_model_fields_from_yaml` reads it)."""
    parser.add_argument(
        "--models",
        type=require_file_name,
        metavar="FILE",
        help="YAML: model id -> series, stage, family, parameters, revision",
    )


def add_imported_measure_arguments(parser: ArgumentParser | _ArgumentGroup) -> None:
    """Define what is said of measures that are imported: their range and direction."""
    parser.add_argument(
        "--score-range", metavar="LOW-HIGH", action="append", default=[],
        help="lowest and highest score, such as 0-1; NAME=0-1 for one of several; may be given again (default: no "
        "bounds)",
    )  # fmt: skip
    parser.add_argument(
        "--lower-is-better", metavar="NAME", action="append", default=[],
        help="a score of which less is better, such as latency; may be given again",
    )  # fmt: skip


def add_imported_score_arguments(parser: ArgumentParser, about: str) -> None:
    """Define `--scores` of an importer of logs, and what goes with it.

    Parameters
    ----------
    parser
        That of the importer.
    about
        Which numbers a log has, as in "every metric of a sample".
    """
    scores = parser.add_argument_group("scores of any kind")
    scores.add_argument(
        "--scores",
        action="store_true",
        help=f"import {about} as a number, each a condition of its own, instead of what was chosen, or right or wrong",
    )
    add_imported_measure_arguments(scores)


def add_adapter_option(parser: ArgumentParser) -> None:
    """Define `--lora`: adapters to ask, too (`inference.asking.adapters`)."""
    parser.add_argument(
        "--lora",
        type=require_file_name,
        action="append",
        default=[],
        metavar="FOLDER",
        help="a LoRA adapter as peft writes it: adds a model, which is that of --model it was made from with the "
        f"adapter (engines {' and '.join(list_engines_taking_adapters())}; may be repeated)",
    )


def add_engine_options(parser: ArgumentParser) -> None:
    """Define the options that say how any model is asked; `parse_engine_settings` reads them."""
    parser.add_argument(
        "--form",
        choices=("auto", "plain", "chat"),
        default="auto",
        help="auto: chat where the model has a chat template, else plain; a masked model always fills a mask",
    )
    engine = parser.add_argument_group("engine")
    engine.add_argument(
        "--engine", choices=("auto", *collect_engine_entries()), default="auto",
        help="what runs the model (default: auto, on this machine as its files say)",
    )  # fmt: skip
    engine.add_argument("--dtype", choices=("auto", "float32", "bfloat16", "float16"), default="auto")
    engine.add_argument(
        "--device", default="auto", help="cpu, cuda, cuda:1, mps ... (default: cuda if there is one, else cpu)"
    )
    engine.add_argument("--revision", help="branch, tag or commit of hub models")
    engine.add_argument("--seed", type=parse_seed, help="default: 0, or what the run folder records")
    engine.add_argument(
        "--batch-size", type=parse_positive, metavar="N", help="prompts per forward pass (default: automatic)"
    )
    for entry in list_entries_of_engines_with_options():
        entry.import_settings_module().add_arguments(parser)


def parse_engine_settings(options: Namespace) -> Settings:
    """Read the options that `add_engine_options` defines.

    Raises
    ------
    InputError
        For an option of one engine together with another engine, or an impossible value.
    """
    from inference.asking.one_model import Settings

    record_use_of_engine_if_outside(options.engine)
    return Settings(
        form=options.form,
        engine=options.engine,
        dtype=options.dtype,
        device=options.device,
        revision=options.revision,
        seed=options.seed,
        batch_size=options.batch_size,
        engine_settings={
            entry.keyword: entry.import_settings_module().parse_settings(options)
            for entry in list_entries_of_engines_with_options()
        },
    )


def choose_given_or_recorded_seed(options: Namespace) -> int:
    """Choose the seed of a protocol's draws: the one given, else that of the run folder that is resumed, else 0.

    Raises
    ------
    InputError
        The run.json of that folder cannot be read.
    """
    from ground import run_json

    if options.seed is not None:
        return int(options.seed)
    out = getattr(options, "out", None)
    if out is None or not (Path(out) / "run.json").exists():
        return 0
    return int(run_json.read_run_json(Path(out))["seed"])


def add_allow_failed_option(parser: ArgumentParser) -> None:
    """Define `--allow-failed`: how many rows may end without a response (`failures.AllowedFailures`)."""
    parser.add_argument(
        "--allow-failed",
        type=parse_allowed_failures,
        metavar="N",
        help="rows of a study that may end without a response, as 20 or 2%% (default: 0; more end with exit status 1)",
    )


def add_cluster_options(parser: ArgumentParser) -> None:
    """Define the options of a Ray cluster; `open_ray_cluster` takes their values."""
    group = parser.add_argument_group("cluster")
    group.add_argument(
        "--ray", metavar="ADDRESS", help="ask on a Ray cluster: its address, `auto`, or `local` for one on this machine"
    )
    group.add_argument(
        "--ray-workers",
        type=parse_positive,
        metavar="N",
        help="number of engines (default: one per GPU, else one per CPU)",
    )


def open_ray_cluster(address: str | None, workers: int | None) -> AbstractContextManager[Cluster | None]:
    """Open the Ray cluster at an address, for a `with` block.

    Parameters
    ----------
    address
        As `Cluster` takes it; None: no cluster.
    workers
        Number of engines; None: as many as `Cluster` chooses.

    Returns
    -------
    The cluster as a context manager; without an address, one that gives None to the block.

    Raises
    ------
    InputError
        For a number of workers without an address, and where Ray is not installed. What else `Cluster` refuses, it
        refuses at the beginning of the block.
    """
    if address is None:
        if workers is not None:
            raise InputError("--ray-workers is for asking on a cluster: add --ray, or leave it out")
        return nullcontext()
    from inference.asking.cluster import Cluster

    return Cluster(address, workers)
