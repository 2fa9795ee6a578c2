"""Define and run the commands of `waver paraphrase`."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path

from ground.errors import InputError, format_quantity, join_first_names
from ground.numerals import build_bounded_number_argument_type
from ground.parser import require_file_name
from ground.progress import print_result_line_even_if_quiet
from inference.arguments import (
    add_column_options,
    add_engine_options,
    add_items_option,
    parse_column_options,
    parse_engine_settings,
    parse_folder_path,
    parse_positive,
    parse_seed,
)
from inference.stimuli import items

TOKENS_EACH = 50  # allowed for one paraphrase with its list marker, unless --max-tokens is given

COMMAND = "paraphrase"
HELP = "make paraphrases of items, check them by hand, combine sources"
VERBS = {
    "make": "ask a model for paraphrases of every item's original; the same call continues a stopped one",
    "sheet": "draw some paraphrases of every item into a table, to be checked by hand",
    "checked": "write the match proportion of filled sheets into the items",
    "combine": "put paraphrases from several sources into one items file",
}


def _add_paraphrase_make_arguments(parser: argparse.ArgumentParser) -> None:
    """Define the options of `waver paraphrase make`."""
    parser.epilog = "example: waver paraphrase make --items statements.csv --model my-model --out reworded"
    _add_items_argument(parser)
    parser.add_argument(
        "--model", required=True, metavar="MODEL", help="the model that writes them (NAME=... chooses its name)"
    )
    parser.add_argument(
        "--out", type=parse_folder_path, required=True, metavar="FOLDER", help="a new folder, or one to continue"
    )
    calls_group = parser.add_argument_group("calls")
    calls_group.add_argument(
        "--calls", type=parse_positive, default=30, metavar="N", help="per item (default: %(default)s)"
    )
    calls_group.add_argument(
        "--per-call", type=parse_positive, default=20, metavar="N", help="paraphrases asked for (default: %(default)s)"
    )
    calls_group.add_argument(
        "--max-tokens", type=parse_positive, metavar="N", help="per answer (default: 50 a paraphrase)"
    )
    calls_group.add_argument(
        "--prompt",
        type=require_file_name,
        metavar="FILE",
        help="prompts of your own (YAML, like inference/paraphrase/prompt.yaml)",
    )
    choice_group = parser.add_argument_group("choice")
    choice_group.add_argument(
        "--keep",
        type=parse_positive,
        default=500,
        metavar="K",
        help="paraphrases sampled per item (default: %(default)s)",
    )
    choice_group.add_argument(
        "--meaning-check",
        metavar="MODEL",
        help="sentence-transformers model; the cosine with the original becomes the attribute `similarity`",
    )
    choice_group.add_argument(
        "--meaning-threshold",
        type=build_bounded_number_argument_type(-1, 1),
        metavar="X",
        help="drop what is less similar than this (-1 to 1)",
    )
    add_engine_options(parser)


def _run_paraphrase_make(options: argparse.Namespace) -> None:
    """Make paraphrases of items with a model, and print how many were kept."""
    from inference.asking.models import find_requested_models
    from inference.paraphrase.making import ChoiceSettings, make_paraphrase_folder
    from inference.paraphrase.questions import Calls, build_study_of_originals_to_paraphrase, read_paraphrase_prompts

    if options.meaning_threshold is not None and options.meaning_check is None:
        raise InputError("--meaning-threshold goes with --meaning-check: name the model that compares")
    models = find_requested_models([options.model], engine=options.engine)
    if len(models) != 1:
        raise InputError(f"--model {options.model}: these are {len(models)} models; a folder has one source, name one")
    tokens = options.max_tokens or TOKENS_EACH * options.per_call
    choices = make_paraphrase_folder(
        build_study_of_originals_to_paraphrase(
            items.read_and_check_items(options.items, columns=parse_column_options(options)),
            items.name_study_after_source(options.items),
            options.items,
        ),
        models[0],
        Calls(read_paraphrase_prompts(options.prompt), options.calls, options.per_call, tokens),
        parse_engine_settings(options),
        ChoiceSettings(options.keep, options.meaning_check, options.meaning_threshold),
        Path(options.out),
        command=options.call,
    )
    n_kept = sum(len(choice.kept_wordings) for choice in choices)
    counts = f"{format_quantity(n_kept, 'paraphrase')} of {format_quantity(len(choices), 'item')}"
    print(f"{counts}: {Path(options.out) / 'items.jsonl'}")


def _add_paraphrase_sheet_arguments(parser: argparse.ArgumentParser) -> None:
    """Define the options of `waver paraphrase sheet`."""
    _add_items_argument(parser)
    parser.add_argument(
        "--each", type=parse_positive, default=15, metavar="M", help="per item and source (default: %(default)s)"
    )
    parser.add_argument("--seed", type=parse_seed, default=0, help="of the draw (default: %(default)s)")
    parser.add_argument("--out", required=True, metavar="SHEET", help="a .csv file that is not there yet")
    parser.add_argument(
        "--annotators", nargs="+", default=[], metavar="NAME", help="a sheet for each: the same rows in another order"
    )
    parser.add_argument(
        "--decoys",
        type=require_file_name,
        metavar="FILE",
        help="mix in sentences that mean something else, unseen, from a table that `paraphrase decoys` writes",
    )
    parser.add_argument(
        "--decoys-each",
        type=parse_positive,
        metavar="N",
        help="per item (default: one for five wordings, at least one)",
    )


def _write_sheets_of_sampled_paraphrases(options: argparse.Namespace) -> None:
    """Write sheets of drawn paraphrases on which people mark whether the meaning matches."""
    from inference.paraphrase.decoys import read_decoys_csv
    from inference.paraphrase.sheet import write_match_sheets

    if options.decoys_each is not None and options.decoys is None:
        raise InputError("--decoys-each goes with --decoys: name the table of decoys")
    sheet_items = items.read_and_check_items(options.items, columns=parse_column_options(options))
    if not any(item.paraphrases for item in sheet_items):
        raise InputError(
            f"{options.items}: there are no paraphrases to check; let `waver paraphrase make` write some, or name "
            "items that have them"
        )
    decoys = read_decoys_csv(Path(options.decoys), sheet_items) if options.decoys else []
    sheets = write_match_sheets(
        Path(options.out),
        sheet_items,
        options.each,
        options.seed,
        decoys=decoys,
        n_decoys_each=options.decoys_each,
        annotators=options.annotators,
    )
    rows = format_quantity(sheets.n_wordings, "paraphrase")
    rows += f" and {format_quantity(sheets.n_decoys, 'decoy')}" if decoys else ""
    for path in sheets.paths:
        print(f"{path}: {rows}; write yes or no into the column match")
    if sheets.items_without_decoy:
        print_result_line_even_if_quiet(f"no decoy for {join_first_names(sheets.items_without_decoy)}")


def _add_arguments_of_paraphrase_checked(parser: argparse.ArgumentParser) -> None:
    """Define the options of `waver paraphrase checked`."""
    parser.add_argument(
        "sheets",
        nargs="+",
        metavar="SHEET",
        help="made by `paraphrase sheet`, every match filled with yes or no; of several, the majority counts "
        "(NAME=SHEET names the annotator)",
    )
    _add_items_argument(parser)
    parser.add_argument(
        "--decoys", type=require_file_name, metavar="FILE", help="the table of the decoys on the sheets"
    )
    parser.add_argument("--out", required=True, metavar="ITEMS", help="a .jsonl file; it may be that of --items")
    parser.add_argument("--drop", action="store_true", help="leave out the paraphrases that are marked with no")


def _write_items_with_match_attributes(options: argparse.Namespace) -> None:
    """Write the items with the match attributes of filled sheets; print what was refused or lost."""
    from inference.paraphrase import itemsfile
    from inference.paraphrase.decoys import read_decoys_csv
    from inference.paraphrase.match import add_share_of_matching_paraphrases
    from inference.paraphrase.votes import (
        describe_accepted_decoys_by_annotator,
        parse_sheet_path_of_each_annotator,
        read_votes_of_sheets,
    )
    from inference.runfolder import json_lines

    out = json_lines.require_usable_json_lines_path(options.out)
    sheet_items = items.read_and_check_items(options.items, columns=parse_column_options(options))
    decoys = read_decoys_csv(Path(options.decoys), sheet_items) if options.decoys else []
    votes = read_votes_of_sheets(parse_sheet_path_of_each_annotator(options.sheets), sheet_items, decoys)
    checked_items = add_share_of_matching_paraphrases(votes, sheet_items, drop_refused=options.drop)
    if not checked_items.items:
        raise InputError(f"{options.sheets[0]}: with --drop no wording is left; every one is marked with no")
    itemsfile.write_items_file(out, checked_items.items)
    for line in (*votes.notes, *describe_accepted_decoys_by_annotator(votes)):
        print_result_line_even_if_quiet(line)
    if checked_items.refused_keys:
        refused = format_quantity(len(checked_items.refused_keys), "paraphrase")
        print(
            f"marked with no and left out: {refused}"
            if options.drop
            else f"marked with no: {refused}; --drop leaves such out"
        )
    if checked_items.tied_keys:
        tied = format_quantity(len(checked_items.tied_keys), "paraphrase")
        print(f"as many yes as no, so neither: {tied}, not left out")
    lost_items = sorted({item.item for item in sheet_items} - {item.item for item in checked_items.items})
    if lost_items:
        print_result_line_even_if_quiet(f"no wording is left of {join_first_names(lost_items)}")
    print(f"{out}: match_proportion is among the attributes; run this file")


def _add_paraphrase_combine_arguments(parser: argparse.ArgumentParser) -> None:
    """Define the options of `waver paraphrase combine`."""
    parser.epilog = "example: waver paraphrase combine gpt=one.json claude=other.json --out both.jsonl"
    parser.add_argument(
        "files",
        nargs="+",
        metavar="SOURCE=ITEMS",
        help="files of items; SOURCE= names the source where their attributes do not",
    )
    parser.add_argument("--out", required=True, metavar="ITEMS", help="a .jsonl file")


def _run_paraphrase_combine(options: argparse.Namespace) -> None:
    """Combine several files of paraphrases into one, and print the number per source."""
    from inference.importers.shared.saving import split_named_paths
    from inference.paraphrase import itemsfile
    from inference.paraphrase.combining import combine_paraphrases, describe_paraphrase_counts_by_source
    from inference.runfolder import json_lines

    out, files = json_lines.require_usable_json_lines_path(options.out), split_named_paths(options.files)
    if out.resolve() in {path.resolve() for _, path in files}:
        raise InputError(f"--out {options.out}: this is one of the files to combine; choose another name")
    combined = combine_paraphrases(files)
    itemsfile.write_items_file(out, combined)
    print("\n".join([*describe_paraphrase_counts_by_source(combined), str(out)]))


def _add_items_argument(parser: argparse.ArgumentParser) -> None:
    """Define `--items` and the options that name its columns."""
    add_items_option(parser, "as for `run`; an original for every item")
    add_column_options(parser)


COMMANDS: dict[str, tuple[Callable[[argparse.Namespace], None], Callable[[argparse.ArgumentParser], None]]] = {
    "make": (_run_paraphrase_make, _add_paraphrase_make_arguments),
    "sheet": (_write_sheets_of_sampled_paraphrases, _add_paraphrase_sheet_arguments),
    "checked": (_write_items_with_match_attributes, _add_arguments_of_paraphrase_checked),
    "combine": (_run_paraphrase_combine, _add_paraphrase_combine_arguments),
}
