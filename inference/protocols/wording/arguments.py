"""Define the command line of `run wording`."""

from __future__ import annotations

from argparse import ArgumentParser

from ground.parser import require_file_name
from inference.arguments import (
    add_items_option,
    add_language_option,
    add_wordings_option,
    build_parser_of_shot_counts_argument,
    parse_positive,
)
from inference.protocols.wording.sources import OURS
from inference.protocols.wording.templates import MANIPULATED, list_template_banks


def add_wording_arguments(parser: ArgumentParser) -> None:
    """Define the arguments that choose texts, templates, exemplars and the sample."""
    add_items_option(
        parser,
        "texts in a .csv, .tsv, .xlsx, .json, .jsonl, .yaml or .parquet file, or one of the sets that come with "
        "Waver: " + ", ".join(OURS),
    )
    columns = parser.add_argument_group("columns of a file")
    columns.add_argument("--text-column", metavar="NAME", help="the texts")
    columns.add_argument("--gold-column", metavar="NAME", help="the right answers, or what they follow from")
    columns.add_argument("--item-column", metavar="NAME", help="ids that the draws go by (default: made from the text)")
    columns.add_argument(
        "--yes-if",
        metavar="COMPARISON",
        help="gold values that mean yes to the original question, such as '>=1' or '=positive' or '=a,b'",
    )
    columns.add_argument(
        "--no-if", metavar="COMPARISON", help="those that mean no; all others are neutral, and dropped"
    )
    columns.add_argument(
        "--where", action="append", default=[], metavar="CONDITION", help="read only rows such as 'is_short=True'"
    )
    questions = parser.add_argument_group("questions")
    questions.add_argument(
        "--templates",
        type=require_file_name,
        metavar="BANK[:TASK]",
        help=f"template bank: {', '.join(list_template_banks())}, or a file (YAML, like "
        f"inference/protocols/wording/banks)",
    )
    add_language_option(questions, "of the templates, the prompts and the answers")
    questions.add_argument(
        "--all-templates", action="store_true", help="ask every template (default: one per pattern and item, drawn)"
    )
    add_wordings_option(questions, "with --all-templates: ask K templates of every kind of rewording, drawn by --seed")
    questions.add_argument(
        "--prompt",
        type=require_file_name,
        metavar="FILE",
        help="prompts of your own (YAML, like inference/protocols/wording/prompts-en.yaml)",
    )
    questions.add_argument(
        "--shots",
        type=build_parser_of_shot_counts_argument(
            (0, len(MANIPULATED)), "0, 4 or 0,4 (four exemplars, one per pattern)"
        ),
        default=(0,),
        metavar="0,4",
        help="exemplars shown before the question, each number a condition (default: 0)",
    )
    questions.add_argument(
        "--exemplars",
        type=require_file_name,
        metavar="FILE",
        help="the four exemplars: pattern, text and gold (yes or no) of each (default: drawn from the items)",
    )
    sampling = parser.add_argument_group("sampling")
    sampling.add_argument("--sample", type=parse_positive, metavar="N", help="ask about N items, drawn by --seed")
    sampling.add_argument("--balanced", action="store_true", help="as many of gold yes as of gold no")
