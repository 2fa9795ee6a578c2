"""Ask whether a model agrees with a statement in many wordings (Haller et al., 2024)."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

from ground.errors import InputError
from inference.arguments import add_columns, add_items, add_wordings, choose_draw_seed, parse_columns
from inference.asking.answer_ways import AnswerWays, add_answer_arguments, parse_answer_ways
from inference.asking.personas.questions import add_personas_argument, ask_as_personas
from inference.asking.rounds import Questions as Asking
from inference.asking.rounds import Round
from inference.asking.wordings import draw_wordings
from inference.stimuli import items
from inference.stimuli.study import Item, Option, Study, Variant
from inference.stimuli.templates.prompt_forms import OPTION_FIELDS, OPTION_ORDERS, PERSONA
from inference.stimuli.templates.prompts import Prompt, PromptBook, build_option_values

NAME = "agreement"
KINDS = ("causal", "masked")
PROMPTS = Path(__file__).parent / "prompts.yaml"
FIELDS = replace(OPTION_FIELDS, variables=OPTION_FIELDS.variables | {PERSONA})
CANONICAL = ("agree", "disagree")
OPTIONS = tuple(Option(label, label) for label in CANONICAL)
DECISION_RULE = "agree where p(agree) / (p(agree) + p(disagree)) >= 0.5, else disagree; so exactly 0.5, a tie, is agree"


def read_agreement_prompts(path: str | Path | None = None) -> PromptBook:
    """Read a prompt file that asks for an option; without one, Waver's own."""
    return PromptBook.load(path, PROMPTS, FIELDS)


def build_agreement_study(study_items: tuple[Item, ...], name: str, source: str = "") -> Study:
    """Make a study that asks about every variant of every item whether the model agrees.

    Parameters
    ----------
    study_items
        The items; whatever options their variants have, they get "agree" and "disagree".
    name
        The name of the study.
    source
        Where the items came from, as the user gave it.

    Returns
    -------
    The study.

    Raises
    ------
    InputError
        Where `gold` is neither `agree` nor `disagree`.
    """
    for item in study_items:
        for variant in item.variants:
            if variant.gold is not None and variant.gold not in CANONICAL:
                raise InputError(
                    f"{source or name}, item '{item.item}', variant '{variant.variant}': "
                    f"gold must be {' or '.join(CANONICAL)}, not '{variant.gold}'"
                )
    return Study(NAME, name, tuple(map(_add_agreement_options, study_items)), CANONICAL, DECISION_RULE, source)


def _add_agreement_options(item: Item) -> Item:
    """Give the options to all variants; where all have them, return the item itself: millions of copies cost memory."""
    if all(variant.options == OPTIONS for variant in item.variants):
        return item
    return Item(item.item, tuple(replace(variant, options=OPTIONS) for variant in item.variants))


@dataclass(frozen=True, slots=True)
class Questions:
    """The questions of a study: every option order is a condition, and so is every way to answer.

    Parameters
    ----------
    book
        The prompts.
    option_orders
        Orders in which the options are shown, of `prompt_forms.OPTION_ORDERS`.
    answers
        Option probabilities, generated texts, or both.
    """

    book: PromptBook
    option_orders: tuple[str, ...] = OPTION_ORDERS[:1]
    answers: AnswerWays = field(default_factory=AnswerWays)

    def rounds(self, form: str) -> list[Round]:
        """Make the rounds of every option order."""
        return [
            round_
            for order in self.option_orders
            for round_ in self.answers.rounds(
                self.book.name_condition(form, order),
                {"form": form, "option_order": order, "prompt": self.book.name, "prompt_hash": self.book.hash(form)},
                partial(self._render_prompt, form, order),
            )
        ]

    def _render_prompt(self, form: str, order: str, variant: Variant, mask_token: str | None) -> Prompt:
        """Render the prompt that asks about a variant, its options in the given order."""
        return self.book.render(form, build_option_values(variant, mask_token), option_order=order)


def add_arguments(parser: ArgumentParser) -> None:
    """Define the arguments of `run agreement`."""
    add_items(
        parser,
        "a .csv, .tsv, .json, .jsonl, .yaml or .parquet file, a Hugging Face data set (id or folder, with #SPLIT "
        "where it has several), `demo` for the questionnaire that comes with Waver, or `demo-meaning` for the same "
        "with ten paraphrases that mean something else",
    )
    add_columns(parser)
    add_wordings(parser, "ask about the originals and K paraphrases of every item, drawn by --seed")
    prompt_group = parser.add_argument_group("prompts")
    prompt_group.add_argument(
        "--option-order", nargs="+", choices=OPTION_ORDERS, default=["yes-no"], help="each order is a condition"
    )
    prompt_group.add_argument(
        "--prompt", metavar="FILE", help="prompts of your own (YAML, like inference/protocols/agreement/prompts.yaml)"
    )
    add_personas_argument(prompt_group)
    add_answer_arguments(parser)


def prepare_study(options: Namespace) -> tuple[Study, Asking]:
    """Read the study and its questions from the command line; check all that needs no model."""
    book = read_agreement_prompts(options.prompt)
    name = items.name_study(options.items) if options.name is None else options.name
    agreement_study = build_agreement_study(
        items.read_items(options.items, OPTIONS, parse_columns(options)), name, options.items
    )
    questions = ask_as_personas(
        Questions(book, tuple(dict.fromkeys(options.option_order)), parse_answer_ways(options)), options
    )
    return agreement_study, draw_wordings(agreement_study, questions, options.wordings, choose_draw_seed(options))
