"""Define and run the commands of `waver pairs`."""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Callable
from pathlib import Path

from ground.errors import format_quantity
from ground.numerals import build_bounded_whole_number_type
from inference.stimuli import nli
from inference.stimuli.reading.files import expand_user_path

COMMAND = "pairs"
HELP = "make pairs of sentences with negations, and label them by hand"
VERBS = {
    "sheet": "combine labelled pairs with negations of their sentences into a table, to be labelled by hand",
    "label": "turn a filled table into items with the labels that most annotators gave",
}


def _add_pairs_sheet_arguments(parser: argparse.ArgumentParser) -> None:
    parser.epilog = "example: waver pairs sheet jnli.jsonl --negations negations.jsonl --out sheet.csv"
    parser.add_argument("originals", metavar="PAIRS", help="labelled pairs of sentences, as JNLI has them, or plain")
    parser.add_argument(
        "--negations", required=True, metavar="NEGATIONS", help="what `waver negate` wrote: source, text, position ..."
    )
    parser.add_argument(
        "--annotators",
        type=build_bounded_whole_number_type(1, 100),
        default=3,
        metavar="N",
        help="default: %(default)s",
    )
    parser.add_argument("--out", required=True, metavar="SHEET", help="a .csv file that is not there yet")


def _write_sheet_of_negated_pairs(options: argparse.Namespace) -> None:
    """Make the pairs with negations, write them as a sheet to label, and print the counts."""
    from inference.protocols.negation.pairs import making, sheet

    originals = nli.group_pairs_by_original(nli.read_sentence_pairs_of_nli(expand_user_path(options.originals)))
    negations_by_sentence = making.read_negations_by_sentence(expand_user_path(options.negations))
    pairs, skipped = making.make_negated_pairs_and_skip_reasons(originals, negations_by_sentence)
    sheet.write_pairs_sheet(Path(options.out), pairs, options.annotators)
    counts = Counter(instance.pattern for instance in pairs)
    print(
        f"{options.out}: {format_quantity(len(pairs), 'pair')} "
        f"({', '.join(f'{counts[name]:,} {name}' for name in nli.PATTERNS[1:])})"
    )
    for reason, number in Counter(skipped.values()).most_common():
        print(f"  {number:,} of {format_quantity(len(originals), 'original')} left out: {reason}")
    sentences = {
        side.strip() for original, *_ in originals.values() for side in (original.premise, original.hypothesis)
    }
    if unused_sentences := negations_by_sentence.keys() - sentences:
        print(
            f"  {len(unused_sentences):,} of {len(negations_by_sentence):,} negated sentences left out: in no original"
        )


def _add_arguments_of_label_command(parser: argparse.ArgumentParser) -> None:
    parser.epilog = "example: waver pairs label sheet.csv --originals jnli.jsonl --out items.jsonl"
    parser.add_argument(
        "sheet", metavar="SHEET", help="made by `pairs sheet`, with labels in the columns annotator_1 ..."
    )
    parser.add_argument("--originals", required=True, metavar="PAIRS", help="the labelled pairs that it was made from")
    parser.add_argument("--out", required=True, metavar="ITEMS", help="a .jsonl file, for `run negation --items`")


def _write_pairs_with_majority_label(options: argparse.Namespace) -> None:
    """Read a filled sheet, write the originals and the pairs with a majority label, and print the counts."""
    from inference.protocols.negation.pairs import sheet
    from inference.runfolder import json_lines

    out = json_lines.require_usable_json_lines_path(options.out)
    json_lines.refuse_output_over_input(out, options.sheet, options.originals)
    labelled_pairs = sheet.read_labelled_sheet(
        expand_user_path(options.sheet),
        nli.group_pairs_by_original(nli.read_sentence_pairs_of_nli(expand_user_path(options.originals))),
    )
    n_kept = sheet.write_labelled_items_and_count_pairs(out, labelled_pairs)
    originals = len({row.instance.item for row in labelled_pairs if row.label})
    print(
        f"{out}: {format_quantity(originals, 'original')} and {n_kept:,} of "
        f"{format_quantity(len(labelled_pairs), 'pair')} with a negation"
    )
    if n_kept < len(labelled_pairs):
        print(f"  {len(labelled_pairs) - n_kept:,} left out: no label of most annotators, and of two at least")


COMMANDS: dict[str, tuple[Callable[[argparse.Namespace], None], Callable[[argparse.ArgumentParser], None]]] = {
    "sheet": (_write_sheet_of_negated_pairs, _add_pairs_sheet_arguments),
    "label": (_write_pairs_with_majority_label, _add_arguments_of_label_command),
}
