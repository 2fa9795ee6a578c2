"""Define and run the commands of `waver pairs`."""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Callable
from pathlib import Path

from inference.numerals import whole
from inference.stimuli import nli
from inference.stimuli.files import located

COMMAND = "pairs"
HELP = "make pairs of sentences with negations, and label them by hand"
VERBS = {
    "sheet": "combine labelled pairs with negations of their sentences into a table, to be labelled by hand",
    "label": "turn a filled table into items with the labels that most annotators gave",
}


def _sheet_arguments(parser: argparse.ArgumentParser) -> None:
    parser.epilog = "example: waver pairs sheet jnli.jsonl --negations negations.jsonl --out sheet.csv"
    _originals(parser)
    parser.add_argument(
        "--negations", required=True, metavar="NEGATIONS", help="what `waver negate` wrote: source, text, position ..."
    )
    parser.add_argument("--annotators", type=whole(1, 100), default=3, metavar="N", help="default: %(default)s")
    parser.add_argument("--out", required=True, metavar="SHEET", help="a .csv file that is not there yet")


def _sheet(options: argparse.Namespace) -> None:
    from inference.protocols.negation.pairs import making, sheet

    originals = nli.groups(nli.read(located(options.originals)))
    known = making.negations(located(options.negations))
    made, skipped = making.negated(originals, known)
    sheet.write(Path(options.out), made, options.annotators)
    counts = Counter(instance.pattern for instance in made)
    print(f"{options.out}: {len(made):,} pairs ({', '.join(f'{counts[name]:,} {name}' for name in nli.PATTERNS[1:])})")
    for reason, number in Counter(skipped.values()).most_common():
        print(f"  {number:,} of {len(originals):,} originals left out: {reason}")
    sentences = {
        side.strip() for original, *_ in originals.values() for side in (original.premise, original.hypothesis)
    }
    if strange := known.keys() - sentences:
        print(f"  {len(strange):,} of {len(known):,} negated sentences left out: in no original")


def _label_arguments(parser: argparse.ArgumentParser) -> None:
    parser.epilog = "example: waver pairs label sheet.csv --originals jnli.jsonl --out items.jsonl"
    parser.add_argument(
        "sheet", metavar="SHEET", help="made by `pairs sheet`, with labels in the columns annotator_1 ..."
    )
    parser.add_argument("--originals", required=True, metavar="PAIRS", help="the labelled pairs that it was made from")
    parser.add_argument("--out", required=True, metavar="ITEMS", help="a .jsonl file, for `run negation --items`")


def _label(options: argparse.Namespace) -> None:
    from inference.protocols.negation.pairs import sheet
    from inference.runfolder import json_lines

    out = json_lines.output(options.out)
    json_lines.refuse_inputs(out, options.sheet, options.originals)
    found = sheet.read(located(options.sheet), nli.groups(nli.read(located(options.originals))))
    kept = sheet.save(out, found)
    originals = len({row.instance.item for row in found if row.label})
    print(f"{out}: {originals:,} originals and {kept:,} of {len(found):,} pairs with a negation")
    if kept < len(found):
        print(f"  {len(found) - kept:,} left out: no label of most annotators, and of two at least")


def _originals(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("originals", metavar="PAIRS", help="labelled pairs of sentences, as JNLI has them, or plain")


COMMANDS: dict[str, tuple[Callable[[argparse.Namespace], None], Callable[[argparse.ArgumentParser], None]]] = {
    "sheet": (_sheet, _sheet_arguments),
    "label": (_label, _label_arguments),
}
