"""Define and run the commands of `waver paraphrase`."""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable
from pathlib import Path

from ground.errors import InputError
from inference.arguments import add_columns, add_engine, columns, engine_settings, positive, seed
from inference.stimuli import items

TOKENS_EACH = 50  # allowed for one paraphrase with its list marker, unless --max-tokens is given

COMMAND = "paraphrase"
HELP = "make paraphrases of items, check them by hand, combine sources"
VERBS = {
    "make": "ask a model for paraphrases of every item's original; the same call continues a stopped one",
    "sheet": "draw some paraphrases of every item into a table, to be checked by hand",
    "checked": "write the match proportion of a filled sheet into the items",
    "combine": "put paraphrases from several sources into one items file",
}


def _make_arguments(parser: argparse.ArgumentParser) -> None:
    parser.epilog = "example: waver paraphrase make --items statements.csv --model my-model --out reworded"
    _items_argument(parser)
    parser.add_argument(
        "--model", required=True, metavar="MODEL", help="the model that writes them (NAME=... chooses its name)"
    )
    parser.add_argument("--out", required=True, metavar="FOLDER", help="a new folder, or one to continue")
    asked = parser.add_argument_group("calls")
    asked.add_argument("--calls", type=positive, default=30, metavar="N", help="per item (default: %(default)s)")
    asked.add_argument(
        "--per-call", type=positive, default=20, metavar="N", help="paraphrases asked for (default: %(default)s)"
    )
    asked.add_argument("--max-tokens", type=positive, metavar="N", help="per answer (default: 50 a paraphrase)")
    asked.add_argument(
        "--prompt", metavar="FILE", help="prompts of your own (YAML, like inference/paraphrase/prompt.yaml)"
    )
    chosen = parser.add_argument_group("choice")
    chosen.add_argument(
        "--keep", type=positive, default=500, metavar="K", help="paraphrases sampled per item (default: %(default)s)"
    )
    chosen.add_argument(
        "--meaning-check",
        metavar="MODEL",
        help="sentence-transformers model; the cosine with the original becomes the attribute `similarity`",
    )
    chosen.add_argument(
        "--meaning-threshold", type=_cosine, metavar="X", help="drop what is less similar than this (-1 to 1)"
    )
    add_engine(parser)


def _make(options: argparse.Namespace) -> None:
    from inference.asking.models import resolve
    from inference.paraphrase.making import Wanted, make
    from inference.paraphrase.questions import Calls, prompt_book, study

    if options.meaning_threshold is not None and options.meaning_check is None:
        raise InputError("--meaning-threshold goes with --meaning-check: name the model that compares")
    models = resolve([options.model], engine=options.engine)
    if len(models) != 1:
        raise InputError(f"--model {options.model}: these are {len(models)} models; a folder has one source, name one")
    tokens = options.max_tokens or TOKENS_EACH * options.per_call
    choices = make(
        study(items.load(options.items, columns=columns(options)), items.default_name(options.items), options.items),
        models[0],
        Calls(prompt_book(options.prompt), options.calls, options.per_call, tokens),
        engine_settings(options),
        Wanted(options.keep, options.meaning_check, options.meaning_threshold),
        Path(options.out),
        command=options.call,
    )
    kept = sum(len(choice.kept) for choice in choices)
    print(f"{kept:,} paraphrases of {len(choices):,} items: {Path(options.out) / 'items.jsonl'}")


def _sheet_arguments(parser: argparse.ArgumentParser) -> None:
    _items_argument(parser)
    parser.add_argument(
        "--each", type=positive, default=15, metavar="M", help="per item and source (default: %(default)s)"
    )
    parser.add_argument("--seed", type=seed, default=0, help="of the draw (default: %(default)s)")
    parser.add_argument("--out", required=True, metavar="SHEET", help="a .csv file that is not there yet")


def _sheet(options: argparse.Namespace) -> None:
    from inference.paraphrase.sheet import write_sheet

    rows = write_sheet(
        Path(options.out), items.load(options.items, columns=columns(options)), options.each, options.seed
    )
    print(f"{options.out}: {rows:,} paraphrases; write yes or no into the column match")


def _checked_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("sheet", metavar="SHEET", help="made by `paraphrase sheet`, every match filled with yes or no")
    _items_argument(parser)
    parser.add_argument("--out", required=True, metavar="ITEMS", help="a .jsonl file; it may be that of --items")
    parser.add_argument("--drop", action="store_true", help="leave out the paraphrases that are marked with no")


def _checked(options: argparse.Namespace) -> None:
    from inference.paraphrase import itemsfile
    from inference.paraphrase.sheet import checked
    from inference.runfolder import json_lines

    out = json_lines.output(options.out)
    given = items.load(options.items, columns=columns(options))
    found = checked(Path(options.sheet), given, drop=options.drop)
    if not found.items:
        raise InputError(f"{options.sheet}: with --drop no wording is left; every one is marked with no")
    itemsfile.write(out, found.items)
    if found.refused:
        print(
            f"{len(found.refused):,} paraphrases are marked with no: "
            + ("left out" if options.drop else "they stay; --drop leaves them out")
        )
    gone = sorted({item.item for item in given} - {item.item for item in found.items})
    if gone:
        print(f"no wording is left of {', '.join(gone[:20])}{' ...' * (len(gone) > 20)}")
    print(f"{out}: match_proportion is among the attributes; run this file")


def _combine_arguments(parser: argparse.ArgumentParser) -> None:
    parser.epilog = "example: waver paraphrase combine gpt=one.json claude=other.json --out both.jsonl"
    parser.add_argument(
        "files",
        nargs="+",
        metavar="SOURCE=ITEMS",
        help="files of items; SOURCE= names the source where their attributes do not",
    )
    parser.add_argument("--out", required=True, metavar="ITEMS", help="a .jsonl file")


def _combine(options: argparse.Namespace) -> None:
    from inference.importers.saving import named
    from inference.paraphrase import itemsfile
    from inference.paraphrase.combining import combine, summary
    from inference.runfolder import json_lines

    out, files = json_lines.output(options.out), named(options.files)
    if out.resolve() in {path.resolve() for _, path in files}:
        raise InputError(f"--out {options.out}: this is one of the files to combine; choose another name")
    combined = combine(files)
    itemsfile.write(out, combined)
    print("\n".join([*summary(combined), str(out)]))


def _items_argument(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--items", required=True, metavar="SOURCE", help="as for `run`; an original for every item")
    add_columns(parser)


def _cosine(text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not -1 <= number <= 1:
        raise argparse.ArgumentTypeError(f"{text} is not between -1 and 1")
    return number


COMMANDS: dict[str, tuple[Callable[[argparse.Namespace], None], Callable[[argparse.ArgumentParser], None]]] = {
    "make": (_make, _make_arguments),
    "sheet": (_sheet, _sheet_arguments),
    "checked": (_checked, _checked_arguments),
    "combine": (_combine, _combine_arguments),
}
