"""Ask how far a statement applies, on a scale of ordered options (Dominguez-Olmedo et al., 2024).

What a run folder of this protocol holds, in addition to what `results/schema.json` says of every run:

conditions
    Names like `plain/numbers-up`: form, labels and order of the options; `/no-middle` where the middle is left out,
    `/persona-NAME` with a persona, and then the way of answering, as in protocol agreement. Fields: `form`; `labels`
    ("numbers", "letters" or "words", what the model replies with); `option_order` ("up": the lowest option is shown
    first, or "down"); `without_middle` (true, or absent); `persona` and `persona_text` (absent without one); `prompt`,
    `prompt_hash`; of texts also `label_rule`, the version of the rule of `reading.py`.
    Numbers and letters belong to the place shown: the first is 1 or A, so in order down 1 is the highest option.
    Where all options of an item are whole numbers themselves, these are the numbers, and each stays with its option.
stimuli
    `options` are the words of the item's options from the lowest to the highest, `canonical` their ranks "1" ... "K";
    `gold` and `gold_score` are null. Attributes: `scale` (name of the scale; absent where the item counts by itself),
    `key` ("1", or "-1" where agreement counts against the scale), `question` (the instruction; optional).
responses
    `probability`, `logprob`, `count` and `sample_probability` go from the lowest option to the highest, whatever order
    was shown. Without the middle they have K - 1 values, where K is odd: that of rank (K + 1) / 2 is left out. `answer`
    is the words of an option, `score` is null.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import product
from pathlib import Path

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
from inference.demo import BATTERY, RATERS
from inference.engines.contract import Sampling
from inference.protocols.scale.items import (
    COLUMNS,
    NAME,
    QUESTION,
    build_scale_study,
    split_list_of_options,
)
from inference.protocols.scale.reading import VERSION, build_columns_of_scale_response, list_words_of_shown_options
from inference.protocols.scale.shown import (
    LABELS,
    NUMBERS,
    ORDER_OF_BOOK,
    ORDERS,
    UP,
    WORDS,
    Showing,
    choose_shown_options,
)
from inference.stimuli import items, languages
from inference.stimuli.study import Study, Variant
from inference.stimuli.templates.prompt_forms import CLOZE, FORMS, PERSONA, Fields, list_spellings_in_all_cases
from inference.stimuli.templates.prompts import Prompt, PromptBook

__all__ = ["KINDS", "NAME", "Questions", "add_arguments", "build_scale_study", "prepare_study", "read_scale_prompts"]

KINDS = ("causal", "masked")
DEMO_MODELS = RATERS
DEMO = "demo"
PROMPTS = Path(__file__).parent / "prompts.yaml"
_EXAMPLE = {"Disagree": ("1",), "Agree": ("2",)}
FIELDS = Fields(
    variables=frozenset({"text", "question", "options", "labels", PERSONA}),
    needed=frozenset({"text", "options"}),
    trials=tuple(
        {"text": "A statement.", "question": question, "labels": labels}
        for labels in LABELS
        for question in ("", "How far do you agree?")
    ),
    forms=FORMS,
    example_words=_EXAMPLE,
)


def read_scale_prompts(path: str | Path | None = None) -> PromptBook:
    """Read a prompt file that asks for one of several ordered options; without one, Waver's own."""
    return PromptBook.load(path, PROMPTS, FIELDS)


@dataclass(frozen=True, slots=True)
class Questions:
    """The questions of a study: every way to show the options is a condition, and so is every way to answer.

    Parameters
    ----------
    book
        The prompts.
    showings
        How the options are shown.
    answers
        Option probabilities, generated texts, probabilities after thoughts, or several of these.
    """

    book: PromptBook
    showings: tuple[Showing, ...] = (Showing(),)
    answers: AnswerWays = field(default_factory=AnswerWays)

    def rounds(self, form: str) -> list[Round]:
        """Make the rounds of every way to show the options.

        Raises
        ------
        InputError
            The prompts do not have this form.
        """
        return [
            _let_round_read_shown_options(round_, showing)
            for showing in self.showings
            for round_ in self.answers.rounds(
                self.book.name_condition(form, showing.name_part_of_condition),
                {
                    "form": form,
                    **showing.condition_fields,
                    **self.book.build_prompt_name_and_hash_fields_of_form(form),
                },
                partial(self._render_prompt, form, showing),
            )
        ]

    def _render_prompt(self, form: str, showing: Showing, variant: Variant, mask_token: str | None) -> Prompt:
        """Render the prompt that asks about a variant, its options shown in the given way."""
        shown = choose_shown_options(tuple(option.label for option in variant.options), showing)
        if form == CLOZE and shown.numbers is not None:
            raise InputError(
                "a model that fills a mask has no room for a number of two digits: leave it out, or give "
                "--labels letters"
            )
        words: dict[str, tuple[str, ...]] = {
            option: (answer,) for option, answer in zip(shown.options, shown.answers, strict=True)
        }
        if showing.labels == WORDS and shown.numbers is None:
            of_file = self.book.get_answer_words_of_form(form)
            words = {option: list_spellings_in_all_cases(words[option]) for option in words if option not in of_file}
        values = {
            "text": variant.text,
            "question": variant.attributes.get(QUESTION, ""),
            "options": shown.options,
            "labels": showing.labels,
            "mask": mask_token,
        }
        prompt = self.book.render(form, values, option_order=ORDER_OF_BOOK[showing.order], words=words)
        return prompt if shown.numbers is None else replace(prompt, numbers=shown.numbers)


def _let_round_read_shown_options(round_: Round, showing: Showing) -> Round:
    """Let a round read responses as the options were shown, and record which version of the rule reads its texts."""
    conditions = round_.conditions
    if round_.has_condition_answered_in_way(Sampling):  # by words, too: of whole numbers, these are numbers
        conditions = tuple(replace(c, fields={**c.fields, "label_rule": VERSION}) for c in conditions)
    return replace(
        round_,
        conditions=conditions,
        read=partial(build_columns_of_scale_response, showing),
        list_options=partial(list_words_of_shown_options, showing),
    )


def add_arguments(parser: ArgumentParser) -> None:
    """Define the arguments of `run scale`."""
    add_items_option(
        parser,
        "a table with item, text, and if wanted scale, key (1 or -1), options and question (.csv, .tsv, .xlsx, .json, "
        ".jsonl, .yaml or .parquet), a Hugging Face data set (id or folder, with #SPLIT where it has several), or "
        "`demo` for a battery in the world of the demo models",
    )
    add_column_options(parser)
    add_language_option(parser, "of texts that name none")
    add_wordings_option(parser, "ask about the originals and K paraphrases of every item, drawn by --seed")
    option_group = parser.add_argument_group("options")
    option_group.add_argument(
        "--options",
        metavar='"LOWEST; ...; HIGHEST"',
        help="the ordered options, with a semicolon between them, of all items without `options` of their own",
    )
    option_group.add_argument(
        "--labels",
        nargs="+",
        choices=LABELS,
        default=[NUMBERS],
        help="what the model replies with, each a condition: numbers (default; where the options are whole numbers, "
        "these), letters, or the words of an option",
    )
    option_group.add_argument(
        "--option-order",
        nargs="+",
        choices=ORDERS,
        default=[UP],
        help="up: the lowest option is shown first (default); down; each a condition",
    )
    option_group.add_argument(
        "--without-middle",
        action="store_true",
        help="ask everything once more without the middle option, where an item has one: further conditions",
    )
    prompt_group = parser.add_argument_group("prompts")
    prompt_group.add_argument(
        "--prompt",
        type=require_file_name,
        metavar="FILE",
        help="prompts of your own (YAML, like inference/protocols/scale/prompts.yaml)",
    )
    add_personas_argument(prompt_group)
    add_answer_arguments(parser)


def prepare_study(options: Namespace) -> tuple[Study, Asking]:
    """Read the study and its questions from the command line; check all that needs no model."""
    book = read_scale_prompts(options.prompt)
    shared_options = None if options.options is None else split_list_of_options("--options", options.options)
    is_demo = options.items == DEMO
    default = f"{NAME}-{DEMO}" if is_demo else items.name_study_after_source(options.items)
    name = default if options.name is None else options.name
    source = str(BATTERY) if is_demo else options.items
    study_items = languages.assign_language_to_texts(
        items.read_and_check_items(source, (), parse_column_options(options), COLUMNS),
        options.language,
        options.items,
        in_english=not options.prompt,
    )
    study = build_scale_study(study_items, name, shared_options, options.items)
    showings = tuple(
        Showing(labels, order, without_middle)
        for without_middle in ((False, True) if options.without_middle else (False,))
        for labels, order in product(dict.fromkeys(options.labels), dict.fromkeys(options.option_order))
    )
    _refuse_surplus_options_or_missing_middle(study, showings)
    questions = add_personas_to_questions(Questions(book, showings, parse_answer_ways(options)), options)
    return study, limit_questions_to_sampled_wordings(
        study, questions, options.wordings, choose_given_or_recorded_seed(options)
    )


def _refuse_surplus_options_or_missing_middle(study: Study, showings: tuple[Showing, ...]) -> None:
    """Refuse more options than letters, and leaving out a middle that no item has."""
    option_lists = dict.fromkeys(tuple(option.label for option in variant.options) for variant in study.variants)
    for showing in showings:
        for labels in option_lists:
            choose_shown_options(labels, showing)
    leaves_out = any(showing.without_middle for showing in showings)
    if leaves_out and all(len(labels) % 2 == 0 for labels in option_lists):
        raise InputError("--without-middle: every item has an even number of options, so none has a middle")
