"""Define and run `waver paraphrase decoys`: sentences that look like wordings and mean something else."""

from __future__ import annotations

import argparse
from collections import Counter
from pathlib import Path

from ground.errors import InputError
from inference.arguments import add_column_options, add_items_option, parse_column_options, parse_positive, parse_seed

COMMAND = "paraphrase decoys"
HELP = "make sentences that mean something else, to mix into sheets and to test checks of meaning"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Define what `waver paraphrase decoys` takes."""
    parser.epilog = "example: waver paraphrase decoys --items items.jsonl --pipeline en_core_web_sm --out decoys.csv"
    add_items_option(parser, "as for `run`; an original for every item")
    add_column_options(parser)
    parser.add_argument(
        "--each", type=parse_positive, default=1, metavar="N", help="of each kind, per item (default: %(default)s)"
    )
    parser.add_argument("--seed", type=parse_seed, default=0, help="of what is drawn (default: %(default)s)")
    parser.add_argument(
        "--pipeline", metavar="NAME|PATH", help="English spaCy pipeline with tagger and parser; more is exchanged then"
    )
    parser.add_argument(
        "--antonyms", metavar="FILE", help="pairs of your own (YAML, like inference/meaning/decoys/antonyms-en.yaml)"
    )
    parser.add_argument(
        "--out", required=True, metavar="DECOYS", help="a .csv file that is not there yet; edit it freely"
    )


def main(options: argparse.Namespace) -> None:
    """Make decoys, write their table, and print how many there are of each kind and what is missing."""
    from inference.meaning.decoys.making import make_decoys
    from inference.paraphrase.decoys import write_decoys_csv
    from inference.stimuli import items

    out = Path(options.out)
    if out.exists():
        raise InputError(f"{out}: is there already and may be edited; choose another --out")
    decoys = make_decoys(
        items.read_and_check_items(options.items, columns=parse_column_options(options)),
        per_kind=options.each,
        seed=options.seed,
        pipeline=options.pipeline,
        antonyms=options.antonyms,
    )
    if not decoys.rows:
        raise InputError(f"{options.items}: no decoy can be made: {decoys.missing[0]}")
    write_decoys_csv(out, decoys.rows)
    counts = Counter(decoy.decoy for decoy in decoys.rows)
    print("\n".join(decoys.missing) + "\n" * bool(decoys.missing), end="")
    print(
        f"{out}: {', '.join(f'{number:,} {kind}' for kind, number in counts.items())}; read them and repair what is odd"
    )
