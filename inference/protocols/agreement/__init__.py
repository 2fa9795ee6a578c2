"""Ask whether a model agrees with a statement in many wordings (Haller et al., 2024)."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

from ground import run_json
from ground.errors import InputError
from ground.parser import require_file_name
from inference.arguments import (
    add_column_options,
    add_items_option,
    add_language_option,
    add_wordings_option,
    choose_given_or_recorded_seed,
    parse_column_options,
)
from inference.asking.answer_ways import AnswerWays, add_answer_arguments, parse_answer_ways
from inference.asking.personas.questions import add_personas_argument, add_personas_to_questions
from inference.asking.rounds import Questions as Asking
from inference.asking.rounds import Round
from inference.asking.wordings import limit_questions_to_sampled_wordings
from inference.stimuli import items, languages
from inference.stimuli.study import Item, Option, Study, Variant
from inference.stimuli.templates.prompt_forms import OPTION_FIELDS, OPTION_ORDERS, PERSONA
from inference.stimuli.templates.prompts import Prompt, PromptBook, build_template_values_of_options

NAME = "agreement"
KINDS = ("causal", "masked")
FOLDER = Path(__file__).parent
FIELDS = replace(OPTION_FIELDS, variables=OPTION_FIELDS.variables | {PERSONA})
CANONICAL = ("agree", "disagree")
OPTIONS = tuple(Option(label, label) for label in CANONICAL)
DECISION_RULE = "agree where p(agree) / (p(agree) + p(disagree)) >= 0.5, else disagree; so exactly 0.5, a tie, is agree"


def read_agreement_prompts(path: str | Path | None = None, language: str = languages.ENGLISH) -> PromptBook:
    """Read a prompt file that asks for an option.

    Parameters
    ----------
    path
        The user's file; None: Waver's own.
    language
        Language of Waver's own file.

    Returns
    -------
    The prompts.

    Raises
    ------
    InputError
        As for `PromptBook.load`, and where Waver has no prompts in this language.
    """
    return PromptBook.load(path, languages.find_prompt_file(FOLDER, language) if path is None else FOLDER, FIELDS)


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
    return Study(
        NAME, name, tuple(map(_add_options_to_variants_of_item, study_items)), CANONICAL, DECISION_RULE, source
    )


def _add_options_to_variants_of_item(item: Item) -> Item:
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
        Option probabilities, generated texts, probabilities after thoughts, or several of these.
    language
        The language of the prompts, recorded with the condition; None: English about English texts, or the user's own.
    is_own_language
        Whether the texts are in the language of the prompts.
    """

    book: PromptBook
    option_orders: tuple[str, ...] = OPTION_ORDERS[:1]
    answers: AnswerWays = field(default_factory=AnswerWays)
    language: str | None = None
    is_own_language: bool = True

    def rounds(self, form: str) -> list[Round]:
        """Make the rounds of every option order.

        Raises
        ------
        InputError
            The prompts do not have this form.
        """
        foreign = "" if self.is_own_language else f"/{self.language}"
        language_field = {} if self.language is None else {"language": self.language}
        return [
            round_
            for order in self.option_orders
            for round_ in self.answers.rounds(
                self.book.name_condition(form, f"{order}{foreign}"),
                {
                    "form": form,
                    "option_order": order,
                    **language_field,
                    **self.book.build_prompt_name_and_hash_fields_of_form(form),
                },
                partial(self._render_prompt, form, order),
            )
        ]

    def _render_prompt(self, form: str, order: str, variant: Variant, mask_token: str | None) -> Prompt:
        """Render the prompt that asks about a variant, its options in the given order."""
        return self.book.render(form, build_template_values_of_options(variant, mask_token), option_order=order)


def add_arguments(parser: ArgumentParser) -> None:
    """Define the arguments of `run agreement`."""
    add_items_option(
        parser,
        "a .csv, .tsv, .xlsx, .json, .jsonl, .yaml or .parquet file, a Hugging Face data set (id or folder, with "
        "#SPLIT where it has several), `demo` for the questionnaire that comes with Waver, or `demo-meaning` for the "
        "same with ten paraphrases that mean something else",
    )
    add_column_options(parser)
    add_wordings_option(parser, "ask about the originals and K paraphrases of every item, drawn by --seed")
    prompt_group = parser.add_argument_group("prompts")
    prompt_group.add_argument(
        "--option-order", nargs="+", choices=OPTION_ORDERS, default=["yes-no"], help="each order is a condition"
    )
    add_language_option(prompt_group, "of the prompts, and of texts that name none")
    prompt_group.add_argument(
        "--prompt",
        type=require_file_name,
        metavar="FILE",
        help="prompts of your own (YAML, like inference/protocols/agreement/prompts-en.yaml)",
    )
    add_personas_argument(prompt_group)
    add_answer_arguments(parser)


def prepare_study(options: Namespace) -> tuple[Study, Asking]:
    """Read the study and its questions from the command line; check all that needs no model."""
    book = read_agreement_prompts(options.prompt, options.language or languages.ENGLISH)
    name = items.name_study_after_source(options.items) if options.name is None else options.name
    study_items = languages.assign_language_to_texts(
        items.read_and_check_items(options.items, OPTIONS, parse_column_options(options)),
        options.language,
        options.items,
        in_english=False,
    )
    agreement_study = build_agreement_study(study_items, name, options.items)
    own_questions = Questions(book, tuple(dict.fromkeys(options.option_order)), parse_answer_ways(options))
    if options.prompt is None:
        own_questions = _build_questions_in_chosen_prompt_language(
            own_questions, options, languages.find_shared_language(study_items)
        )
    questions = add_personas_to_questions(own_questions, options)
    return agreement_study, limit_questions_to_sampled_wordings(
        agreement_study, questions, options.wordings, choose_given_or_recorded_seed(options)
    )


def _build_questions_in_chosen_prompt_language(
    questions: Questions, options: Namespace, text_language: str | None
) -> Questions:
    """Ask with Waver's prompts in the language that the user gave, else in that of all texts; else they are English."""
    if options.language is not None:
        language = languages.get_main_language(options.language)
        is_own_language = language == (text_language or languages.ENGLISH)
        if language == languages.ENGLISH and is_own_language:
            return questions  # as where no language is given at all
        return replace(questions, language=language, is_own_language=is_own_language)
    if text_language in (None, languages.ENGLISH):
        return questions
    if text_language not in languages.map_languages_to_prompt_files(FOLDER):
        languages.warn_of_prompts_in_other_language(options.items, text_language)
        return questions
    if _was_folder_asked_in_english(questions.book, options):
        languages.warn_of_prompts_in_other_language(options.items, text_language)
        return questions
    return replace(questions, book=read_agreement_prompts(language=text_language), language=text_language)


def _was_folder_asked_in_english(book: PromptBook, options: Namespace) -> bool:
    """Tell whether the folder that is resumed holds answers to the English prompts, as an earlier version asked."""
    out = getattr(options, "out", None)
    if out is None or not (Path(out) / "run.json").exists():
        return False
    hashes = {book.compute_hash_of_prompt_form(form) for form in book.forms}
    conditions = run_json.read_run_json(Path(out))["conditions"].values()
    return any(fields.get("prompt_hash") in hashes and "language" not in fields for fields in conditions)
