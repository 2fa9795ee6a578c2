"""Run the command `waver negation DATA...`: statistics of a data set of negation pairs, without a run."""

from __future__ import annotations

import argparse
import json
import sys

from ground.errors import InputError, format_part_with_verb
from ground.parser import parse_path

COMMAND = "negation"
HELP = "count originals, negations and minimal pairs of a data set, and how far its annotators agree"
DESCRIPTION = (
    "Print one JSON object: originals and pairs with a negation, minimal pairs with an important and an unimportant "
    "negation and where it stands, Fleiss' kappa of the annotators, how many pairs they labelled and how many labels "
    "most of them give, and the majority baselines in per cent (Yoshida et al., Tables 3 and 4, appendix B)."
)
EXAMPLE = "example: waver negation train.jsonl valid.jsonl --annotations annotations"
PRINTS = True


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of the command."""
    parser.epilog = EXAMPLE
    parser.add_argument(
        "data", nargs="+", type=parse_path, metavar="DATA.jsonl",
        help="pairs of sentences with labels, as JNLI-Neg has them, or with the fields item, pattern, premise, "
        "hypothesis, label; items are counted file by file",
    )  # fmt: skip
    parser.add_argument(
        "--annotations", type=parse_path, metavar="DIR",
        help="folder with what each annotator said: JSON lines with `labels`, or sheets (CSV) with columns annotator_1 "
        "...",
    )  # fmt: skip


def main(args: argparse.Namespace) -> int:
    """Print the statistics; what must be said of them goes to standard error."""
    from analysis.pages.negation.annotations import compute_annotator_agreement_over_files
    from analysis.pages.negation.dataset import POSITIONS, count_originals_and_minimal_pairs, read_instance_groups
    from analysis.pages.negation.judgements import KINDS

    files = {file.resolve(): file for file in args.data}
    if len(files) < len(args.data):
        repeated_file = next(file for file in args.data if files[file.resolve()] is not file)
        raise InputError(f"{repeated_file}: is named twice, so its pairs would count twice; name it once")
    instance_groups = [group for file in args.data for group in read_instance_groups(file)]
    counts = count_originals_and_minimal_pairs(instance_groups)
    annotator_agreement = compute_annotator_agreement_over_files(args.annotations) if args.annotations else None
    agreement_counts = {
        name: getattr(annotator_agreement, field, None)
        for name, field in (("kappa", "kappa"), ("annotated", "n_annotated"), ("adjudicated", "n_adjudicated"))
    }
    n_unnegated = sum(len(group) == 1 for group in instance_groups)
    if n_unnegated:
        subject = format_part_with_verb(n_unnegated, len(instance_groups), "original")
        print(f"{subject} no negation: not in any minimal pair", file=sys.stderr)
    if None in (counts[f"m_{kind}_{end}"] for kind in KINDS for end in POSITIONS):
        print("where the negation stands is not known for all minimal pairs, so their number by position is null",
              file=sys.stderr)  # fmt: skip
    if annotator_agreement and annotator_agreement.why:
        print(f"{args.annotations}: {annotator_agreement.why}", file=sys.stderr)
    majorities = {name: counts.pop(name) for name in ("majority_orig", "majority_neg")}
    print(json.dumps({**counts, **agreement_counts, **majorities}, indent=1))
    return 0
