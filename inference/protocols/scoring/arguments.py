"""Define the command line of `run scoring`."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from ground.errors import InputError
from ground.numerals import build_bounded_number_argument_type, build_bounded_whole_number_type
from ground.parser import require_file_name
from inference.arguments import add_items_option, add_language_option
from inference.asking.answer_ways import PROBABILITY, TEXT
from inference.asking.thoughts import (
    SAMPLER_OPTIONS,
    THOUGHT,
    add_effort_argument,
    add_thought_arguments,
    add_token_restriction_arguments,
    parse_thinking_settings,
)
from inference.engines.contract import MOST_SAMPLES, MOST_TEMPERATURE, MOST_TOKENS, Thinking
from inference.protocols.scoring.items import GOLD_RANGE, Columns
from inference.stimuli.reading.records import refuse_column_of_two_roles

RANGE, TEMPERATURE, SAMPLES = "0-9", 0.7, 10


def add_scoring_arguments(parser: ArgumentParser) -> None:
    """Define the arguments that say which texts are scored, on which scales and how."""
    add_items_option(
        parser,
        "a .csv, .tsv, .xlsx, .json, .jsonl, .yaml or .parquet table with one text to score per row (quotation marks "
        "are text where tabs part the cells), or `demo` for retellings in the world of the demo models",
    )
    table_group = parser.add_argument_group("the table")
    table_group.add_argument("--output-column", metavar="NAME", help="the texts to score, such as translations")
    table_group.add_argument("--source-column", metavar="NAME", help="the texts that they were made from")
    table_group.add_argument("--gold-column", metavar="NAME", help="human scores")
    table_group.add_argument("--gold-range", metavar="LOW-HIGH", help="scale of the human scores (default: 0-100)")
    table_group.add_argument(
        "--item-column", metavar="NAME", help="ids of the texts (default: their number in the table)"
    )
    table_group.add_argument("--group", metavar="GROUP", help="group of all these items, such as a language pair")
    table_group.add_argument("--group-column", metavar="NAME", help="groups of the items")
    table_group.add_argument(
        "--source-language", metavar="LANGUAGE", help="as it is to be called in the prompt: English"
    )
    table_group.add_argument("--target-language", metavar="LANGUAGE")
    add_language_option(table_group, "of the texts to score")
    table_group.add_argument(
        "--language-columns",
        nargs=2,
        metavar=("SOURCE", "TARGET"),
        help="where rows have several languages: the columns with what each is to be called",
    )
    score_group = parser.add_argument_group("scores")
    score_group.add_argument(
        "--range",
        nargs="+",
        action="extend",
        metavar="LOW-HIGH",
        help=f"scales to ask for, each a condition (default: {RANGE}; below zero as --range=-5-5)",
    )
    score_group.add_argument(
        "--temperature",
        nargs="+",
        action="extend",
        type=build_bounded_number_argument_type(0, MOST_TEMPERATURE),
        metavar="T",
        help=f"each a condition (default: {TEMPERATURE:g}; of thoughts, as the model's maker advises)",
    )
    score_group.add_argument(
        "--samples",
        type=build_bounded_whole_number_type(0, MOST_SAMPLES),
        metavar="N",
        help=f"texts per prompt (default: {SAMPLES}; 0: none)",
    )
    score_group.add_argument(
        "--exact", action="store_true", help="the exact probability of every number, too, at each temperature"
    )
    score_group.add_argument(
        "--answer",
        nargs="+",
        choices=(PROBABILITY, TEXT, THOUGHT),
        help="probability: of every number, as --exact; text: sampled texts (default); thought: the probability of "
        "every number after sampled thoughts of a thinking model; or several of these",
    )
    score_group.add_argument(
        "--max-tokens",
        type=build_bounded_whole_number_type(1, MOST_TOKENS),
        metavar="N",
        help="length of a thought with the number behind it",
    )
    add_effort_argument(score_group)
    add_token_restriction_arguments(score_group)
    add_thought_arguments(score_group)
    score_group.add_argument(
        "--prompt",
        type=require_file_name,
        metavar="FILE",
        help="prompts of your own (YAML, like inference/protocols/scoring/prompts.yaml)",
    )


def parse_samples_exactness_and_thinking(options: Namespace) -> tuple[int, bool, tuple[Thinking, ...]]:
    """Read how scores are asked for.

    Parameters
    ----------
    options
        Those of `add_scoring_arguments`.

    Returns
    -------
    Texts per prompt, whether exact probabilities are asked for, and the ways of thinking.

    Raises
    ------
    InputError
        For nothing to ask, or a setting of what is not asked for.
    """
    answers = options.answer or ([] if options.samples == 0 else [TEXT])
    exact = options.exact or PROBABILITY in answers
    thought = THOUGHT in answers
    samples = (SAMPLES if options.samples is None else options.samples) if TEXT in answers else 0
    if TEXT in answers and samples == 0:
        raise InputError("--samples 0: no text; leave text out of --answer, or give 1 or more")
    if options.samples and TEXT not in answers:
        raise InputError(f"--samples {options.samples} is about sampled texts: add --answer text, or leave it out")
    if not (samples or exact or thought):
        raise InputError("--samples 0: give 1 or more, or 0 together with --exact")
    settings = {"--max-tokens": options.max_tokens, "--effort": options.effort, "--thoughts": options.thoughts}
    settings |= {"--budget": options.budget}
    settings |= {option: getattr(options, name) for name, option in SAMPLER_OPTIONS.items()}
    given_options = [name for name, value in settings.items() if value is not None]
    if given_options and not thought:
        raise InputError(f"{given_options[0]} is about thoughts: add --answer thought, or leave it out")
    return samples, exact, parse_thinking_settings(options) if thought else ()


def parse_scoring_columns(options: Namespace) -> Columns:
    """Read the columns of the table from the command line.

    Raises
    ------
    InputError
        For a missing or unneeded option.
    """
    if options.output_column is None:
        raise InputError("--items: say which column holds the texts to score: --output-column")
    if options.group is not None and options.group_column is not None:
        raise InputError("--group names one group for all items, --group-column a column: give one of the two")
    languages = {"source_language": options.source_language, "target_language": options.target_language}
    given_languages = {name: value for name, value in languages.items() if value is not None}
    if given_languages and (len(given_languages) < 2 or options.source_column is None):
        raise InputError("--source-language and --target-language go together, and with --source-column")
    source_language, target_language = options.language_columns or (None, None)
    if source_language and (given_languages or options.source_column is None):
        raise InputError("--language-columns stand for --source-language and --target-language: with --source-column")
    if options.gold_range is not None and options.gold_column is None:
        raise InputError("--gold-range is about human scores: give their --gold-column")
    refuse_column_of_two_roles(
        {
            "--output-column": options.output_column,
            "--source-column": options.source_column,
            "--gold-column": options.gold_column,
            "--group-column": options.group_column,
            "--item-column": options.item_column,
            "--language-columns (source)": source_language,
            "--language-columns (target)": target_language,
        }
    )
    return Columns(
        output=options.output_column,
        source=options.source_column,
        gold=options.gold_column,
        group=options.group_column,
        item=options.item_column,
        source_language=source_language,
        target_language=target_language,
        gold_range=options.gold_range or GOLD_RANGE,
        fields=tuple((given_languages | ({"group": options.group} if options.group is not None else {})).items()),
    )
