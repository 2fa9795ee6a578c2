"""Define the command line of `run choice`."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from ground.errors import InputError
from ground.numerals import build_bounded_whole_number_type
from ground.parser import require_file_name
from inference.arguments import add_items_option, add_language_option
from inference.asking.answer_ways import (
    TEXT,
    add_text_generation_arguments,
    parse_text_samplings,
    refuse_text_settings_without_texts,
)
from inference.asking.personas.questions import add_personas_argument
from inference.asking.thoughts import THOUGHT, add_thought_arguments
from inference.engines.contract import Sampling
from inference.protocols.choice.reply import READINGS
from inference.stimuli.questions import SPLITS

DEMOS = DEMO, REWORDED = "demo", "demo-reworded"
"""Questions in the world of the demo models: in words that they have read, and in others."""
BASE, AWARE = "base", "aware"
LETTERS, TEXTS = "letters", "texts"
BY_SUBSET, ANSWER_FIRST, REASONING_FIRST = "by subset", "answer first", "reasoning first"
FORMATS = tuple(name.replace(" ", "-") for name in (BY_SUBSET, ANSWER_FIRST, REASONING_FIRST))
ORDERS, MOST_ORDERS = 8, 40_320
"""Orders of the choices in Choi, section 4.2; and as many as eight choices have."""
MAX_TOKENS = 512


def add_choice_arguments(parser: ArgumentParser) -> None:
    """Define the arguments that choose the questions, the prompts and the ways of answering."""
    add_items_option(
        parser,
        "multiple-choice questions: a table with question, paraphrases, choices, answer (also what `choice build` "
        "writes, or as ARC, CommonsenseQA, MMLU, MathQA or Unified-MCQA are published); or `demo` for questions in the "
        "world of the demo models, `demo-reworded` for some in words that they have not read",
    )
    question_group = parser.add_argument_group("questions")
    question_group.add_argument(
        "--orders",
        type=build_bounded_whole_number_type(1, MOST_ORDERS),
        metavar="N",
        help=f"orders of the choices of every question (default: those of the file, else {ORDERS}, drawn by --seed)",
    )
    question_group.add_argument(
        "--split", nargs="+", choices=SPLITS, metavar="SPLIT", help=f"only questions of {', '.join(SPLITS)}"
    )
    add_language_option(question_group, "of the questions")
    prompt_group = parser.add_argument_group("prompts")
    prompt_group.add_argument(
        "--prompt-kind",
        nargs="+",
        choices=(BASE, AWARE),
        default=[BASE],
        help="base (default), or aware: the model is to write the question in other words first; or both",
    )
    prompt_group.add_argument(
        "--prompt",
        type=require_file_name,
        metavar="FILE",
        help="prompts of your own (YAML, like inference/protocols/choice/prompts.yaml)",
    )
    add_personas_argument(prompt_group)
    answer_group = parser.add_argument_group("answers")
    answer_group.add_argument(
        "--answer",
        nargs="+",
        choices=(LETTERS, TEXTS, TEXT, THOUGHT),
        default=[LETTERS],
        help="letters: the exact probability of each (default); texts: that of the words of each choice; text: "
        "generated, and read by --reading; thought: the exact probability of each letter after sampled thoughts of a "
        "thinking model; or several of these",
    )
    answer_group.add_argument(
        "--format",
        choices=FORMATS,
        default=FORMATS[0],
        help="of generated texts (default: by-subset, where math reasoning first reasons and all others first answer)",
    )
    answer_group.add_argument(
        "--reading",
        choices=READINGS,
        help="of generated texts: letter (default) also takes a reply that is only the letter of a choice; strict, as "
        "in the paper, only `Answer: ` with the letter",
    )
    add_text_generation_arguments(
        answer_group,
        f"length of a text, its thinking included (default: {MAX_TOKENS}), or of a thought with the answer behind it",
    )
    add_thought_arguments(answer_group)


def parse_choice_samplings(options: Namespace) -> tuple[Sampling, ...]:
    """Read how texts are generated; nothing where none are asked for.

    Raises
    ------
    InputError
        For a setting of texts although none is asked for, or a paraphrase-aware prompt without texts.
    """
    if AWARE in options.prompt_kind and set(options.answer) != {TEXT}:
        raise InputError(
            "--prompt-kind aware: the paraphrase is written before the answer, so only a text can be asked for; give "
            "--answer text, and ask for anything else with --prompt-kind base in a second call"
        )
    refuse_text_settings_without_texts(options, text=TEXT in options.answer, thought=THOUGHT in options.answer)
    if TEXT not in options.answer:
        settings = {"--format": None if options.format == FORMATS[0] else options.format, "--reading": options.reading}
        given_options = [name for name, value in settings.items() if value is not None]
        if given_options:
            raise InputError(f"{given_options[0]} is about generated texts: add --answer text, or leave it out")
        return ()
    return parse_text_samplings(options, {"max_tokens": options.max_tokens or MAX_TOKENS})
