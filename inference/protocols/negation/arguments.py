"""Define the command line of `run negation`."""

from __future__ import annotations

from argparse import ArgumentParser

from ground.parser import require_file_name
from inference.arguments import add_items_option, add_language_option, build_parser_of_shot_counts_argument
from inference.stimuli.nli import LABELS

MOST_SHOTS = 30


def add_negation_arguments(parser: ArgumentParser) -> None:
    """Define the arguments that choose the pairs, the prompts and the exemplars."""
    add_items_option(
        parser,
        "pairs of sentences as JNLI-Neg or JNLI have them, or a table with premise, hypothesis, label, item, pattern "
        "(original, p_neg, h_neg, p_neg_h_neg); or `demo` for pairs in the world of the demo models",
    )
    prompt_group = parser.add_argument_group("prompts")
    add_language_option(prompt_group, "of the prompts (default: ja where the sentences have Japanese script, else en)")
    prompt_group.add_argument(
        "--prompt",
        type=require_file_name,
        metavar="FILE",
        help="prompts of your own (YAML, like inference/stimuli/entailment/prompts-en.yaml)",
    )
    prompt_group.add_argument(
        "--shots",
        type=build_parser_of_shot_counts_argument(
            range(0, MOST_SHOTS + 1, len(LABELS)), f"0, 3, 6 ... {MOST_SHOTS}, or several as 0,3 (as many per label)"
        ),
        default=(0,),
        metavar="0,3",
        help="exemplars shown before the question, as many of each label, each number a condition (default: 0)",
    )
    prompt_group.add_argument(
        "--exemplars",
        type=require_file_name,
        metavar="FILE",
        help="labelled pairs to draw exemplars from (default: the items; the originals drawn are then not asked)",
    )
