"""Define and run `waver meaning`: do the wordings of a study mean the same as their originals?"""

from __future__ import annotations

import argparse

from ground.errors import InputError
from ground.parser import require_file_name
from inference.arguments import (
    add_allow_failed_option,
    add_column_options,
    add_engine_options,
    parse_column_options,
    parse_engine_settings,
    parse_positive,
)
from inference.stimuli.languages import get_main_language
from inference.stimuli.nli import LABELS

COMMAND = "meaning"
HELP = "check whether wordings mean the same as their original, and how good the checks are"
EXAMPLE = "example: waver meaning runs/first --check words entailment=my-nli-model --sheet ann=ann.csv"
LANGUAGES = ("en", "ja")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Define the options of `waver meaning`."""
    parser.epilog = EXAMPLE
    parser.add_argument(
        "source", type=require_file_name, metavar="SOURCE", help="a run folder; or items, as for `run`, and then --out"
    )
    parser.add_argument(
        "--check", nargs="+", action="extend", default=[], metavar="CHECK",
        help="words (which both share), similarity=MODEL (sentence-transformers), entailment=MODEL (both ways) or "
        "judge=MODEL; MODEL may be NAME=MODEL",
    )  # fmt: skip
    parser.add_argument(
        "--sheet", nargs="+", action="extend", default=[], metavar="NAME=FILE",
        help="filled sheets of `paraphrase sheet`, and whose they are",
    )  # fmt: skip
    parser.add_argument(
        "--out",
        type=require_file_name,
        metavar="FOLDER",
        help="of a file of items: the folder for what is said of them",
    )
    parser.add_argument("--drop", action="store_true", help="leave wordings of another meaning out of those items")
    parser.add_argument(
        "--language",
        type=get_main_language,
        choices=LANGUAGES,
        help="of the prompts (default: that of most items)",
    )
    parser.add_argument(
        "--labels", type=_parse_entailment_labels, default=(), metavar="A,B,C",
        help="what the classes of an entailment model mean, in their order, where its config.json does not name them "
        f"{', '.join(LABELS)}",
    )  # fmt: skip
    parser.add_argument(
        "--prompt",
        type=require_file_name,
        metavar="FILE",
        help="prompts of your own for judges (YAML, like inference/meaning/prompt-en.yaml)",
    )
    add_column_options(parser)
    decoys = parser.add_argument_group("decoys, sentences that surely mean something else")
    decoys.add_argument(
        "--decoys", type=parse_positive, metavar="N",
        help="of each kind, for every item (default: 1, or what an earlier call took)",
    )  # fmt: skip
    decoys.add_argument(
        "--decoys-file",
        type=require_file_name,
        metavar="FILE",
        help="a table of decoys, such as that of `paraphrase decoys`",
    )
    decoys.add_argument("--pipeline", metavar="NAME|PATH", help="English spaCy pipeline with tagger and parser")
    add_engine_options(parser)
    add_allow_failed_option(parser)


def main(options: argparse.Namespace) -> None:
    """Check the wordings, write what was said of them, and print how good the checks are.

    Raises
    ------
    InputError
        There is nothing to check, or a check, a sheet or a decoy is wrong.
    RunFailed
        Stopped, or questions failed; what was read is kept, and the same command asks the rest.
    """
    from inference.meaning.checking import MeaningCheck
    from inference.meaning.checks import parse_meaning_checks
    from inference.meaning.wordings import read_wordings_source

    if not options.check and not options.sheet:
        raise InputError("give --check, such as --check words, or --sheet NAME=FILE, or both")
    if options.decoys is not None and options.decoys_file is not None:
        raise InputError("give either --decoys N, to make them, or --decoys-file FILE, where they are made")
    checks = parse_meaning_checks(options.check, options.engine)
    source = read_wordings_source(options.source, options.out, parse_column_options(options))
    if options.drop and source.is_run:
        raise InputError("--drop is for a file of items; of a run, take the wordings with --where \"meaning = 'same'\"")
    MeaningCheck(source, checks, options, parse_engine_settings(options)).run_checks()


def _parse_entailment_labels(text: str) -> tuple[str, ...]:
    """Convert an argument to the names of classes; ArgumentTypeError where they are not the three labels."""
    names = tuple(name.strip().casefold() for name in text.split(","))
    if sorted(names) != sorted(LABELS):
        raise argparse.ArgumentTypeError(
            f"{text[:60]!r}: name {', '.join(LABELS)}, each once, in the order of the model's classes"
        )
    return names
