"""Ask yes/no questions about texts, each question in several wordings (Takayama et al.).

Every item is a text, as a rule with a gold label. A template bank makes the original question about it and four
manipulations of that question. All draws (templates, sample, exemplars) depend on the seed and the item only.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from ground.errors import InputError, format_quantity
from ground.progress import print_progress
from inference.arguments import choose_given_or_recorded_seed
from inference.asking.answer_ways import AnswerWays, add_answer_arguments, parse_answer_ways
from inference.asking.rounds import Questions as Asking
from inference.asking.rounds import Round
from inference.asking.wordings import build_group_key_of_item_and_pattern, limit_questions_to_sampled_wordings
from inference.protocols.wording import arguments, exemplars, sources, templates, texts
from inference.protocols.wording.exemplars import Exemplar
from inference.protocols.wording.templates import MANIPULATED, NO, YES, Bank, Template
from inference.protocols.wording.texts import Text
from inference.stimuli.items import name_study_after_source
from inference.stimuli.languages import find_prompt_file, warn_of_texts_in_other_language
from inference.stimuli.reading.files import expand_user_path
from inference.stimuli.study import ORIGINAL, Item, Study, Variant
from inference.stimuli.templates.prompt_forms import OPTION_FIELDS
from inference.stimuli.templates.prompts import Prompt, PromptBook, build_template_values_of_options

NAME = "wording"
KINDS = ("causal",)
DECISION_RULE = (
    "the option that the likeliest next token begins, or that the generated text names; null: no valid answer"
)
FOLDER = Path(__file__).parent


def read_yes_no_prompt_file(language: str, path: str | Path | None = None) -> PromptBook:
    """Read a prompt file that asks for yes or no.

    Parameters
    ----------
    language
        Language of Waver's own file; where Waver has none in it, `path` is needed.
    path
        The user's file; None: Waver's own.

    Returns
    -------
    The prompts.

    Raises
    ------
    InputError
        As for `PromptBook.load`.
    """
    return PromptBook.load(path, find_prompt_file(FOLDER, language) if path is None else FOLDER, OPTION_FIELDS)


def build_wording_study(
    study_texts: Iterable[Text], bank: Bank, name: str, *, seed: int = 0, all_templates: bool = False, source: str = ""
) -> Study:
    """Make a study that asks the original question about every text, and each manipulation of it.

    Parameters
    ----------
    study_texts
        The texts that are asked about.
    bank
        The templates.
    name
        Name of the study.
    seed
        Decides which template of a pattern an item gets.
    all_templates
        Ask every template, as variants `synonym-01`, `synonym-02` ..., instead of drawing one.
    source
        Where the texts are from.

    Returns
    -------
    The study, with an item per text.

    Raises
    ------
    InputError
        A template fails.
    """
    study_items = tuple(
        Item(text.item, tuple(_build_text_variants(text, bank, seed, all_templates))) for text in study_texts
    )
    return Study(NAME, name, study_items, (YES, NO), DECISION_RULE, source)


def _build_text_variants(text: Text, bank: Bank, seed: int, all_templates: bool) -> Iterable[Variant]:
    """Make the original question about a text, then one of every manipulation, or all of them."""
    yield _build_variant_of_text_by_template(text, bank, bank.original, ORIGINAL)
    for pattern in MANIPULATED:
        if all_templates:
            yield from (
                _build_variant_of_text_by_template(text, bank, template, template.name)
                for template in bank.templates[pattern]
            )
        else:
            yield _build_variant_of_text_by_template(text, bank, bank.draw_template(pattern, text.item, seed), pattern)


def _build_variant_of_text_by_template(text: Text, bank: Bank, template: Template, name: str) -> Variant:
    """Make the variant of a text that asks about it by one template."""
    return Variant(
        item=text.item,
        variant=name,
        pattern=template.pattern,
        text=template.render_question(text.text),
        options=template.options,
        language=bank.language,
        gold=text.gold,
        attributes={"task": bank.task, "template": template.name},
    )


@dataclass(frozen=True, slots=True)
class Questions:
    """The questions of a study: every number of exemplars is a condition, and so is every way to answer.

    Parameters
    ----------
    book
        The prompts, in the language of the questions.
    shots
        Numbers of exemplars shown, such as (0, 4).
    exemplars
        In the order in which they are shown.
    answers
        Option probabilities, generated texts, probabilities after thoughts, or several of these.
    """

    book: PromptBook
    shots: tuple[int, ...] = (0,)
    exemplars: tuple[Exemplar, ...] = ()
    answers: AnswerWays = field(default_factory=AnswerWays)

    def rounds(self, form: str) -> list[Round]:
        """Make the rounds of every number of exemplars.

        Raises
        ------
        InputError
            The prompts do not have this form.
        """
        return [
            round_
            for number in self.shots
            for round_ in self.answers.rounds(
                self.book.name_condition(form, f"{number}-shot"),
                self._build_condition_fields(form, self.exemplars[:number]),
                partial(self._render_prompt, form, self.exemplars[:number]),
            )
        ]

    def _build_condition_fields(self, form: str, shown_exemplars: tuple[Exemplar, ...]) -> dict[str, Any]:
        """Make the fields of a condition, with the exemplars shown and their hash."""
        return {
            "form": form,
            "shots": len(shown_exemplars),
            **self.book.build_prompt_name_and_hash_fields_of_form(form),
            "exemplars": [
                {"pattern": exemplar.pattern, "question": exemplar.shot.question, "answer": exemplar.shot.label}
                for exemplar in shown_exemplars
            ],
            "exemplars_hash": exemplars.compute_wording_exemplars_hash(shown_exemplars) if shown_exemplars else None,
        }

    def _render_prompt(
        self, form: str, shown_exemplars: tuple[Exemplar, ...], variant: Variant, mask_token: str | None
    ) -> Prompt:
        """Render the prompt of a variant, with the exemplars before it."""
        return self.book.render(
            form,
            build_template_values_of_options(variant, mask_token),
            shots=[exemplar.shot for exemplar in shown_exemplars],
        )


def add_arguments(parser: ArgumentParser) -> None:
    """Define the arguments of `run wording`."""
    arguments.add_wording_arguments(parser)
    add_answer_arguments(parser)


def prepare_study(options: Namespace) -> tuple[Study, Asking]:
    """Read the study and its questions from the command line; count the items on standard error.

    Raises
    ------
    InputError
        A file cannot be read, options do not go together, or there are too few texts.
    """
    seed = choose_given_or_recorded_seed(options)
    if options.wordings is not None and not options.all_templates:
        raise InputError("--wordings draws among all templates: add --all-templates, or leave it out")
    source = sources.build_source_from_options(options)
    bank = templates.read_template_bank(source.templates, source.language)
    book = read_yes_no_prompt_file(bank.language, options.prompt)
    pool = source.read()
    shown_exemplars: tuple[Exemplar, ...] = ()
    if any(options.shots):
        shown_exemplars = (
            exemplars.read_exemplars(expand_user_path(options.exemplars), bank, seed)
            if options.exemplars
            else exemplars.draw_wording_exemplars(pool.texts, bank, seed)
        )
    elif options.exemplars:
        raise InputError("--exemplars is for few-shot conditions: add --shots 4 or --shots 0,4")
    shown_texts = {exemplar.text.text for exemplar in shown_exemplars}
    free_texts = tuple(text for text in pool.texts if text.text not in shown_texts)
    asked_texts = texts.sample_texts_by_seed(free_texts, options.sample, options.balanced, seed)
    name = _name_study_after_items_and_bank(options.items, bank) if options.name is None else options.name
    n_aside = len(pool.texts) - len(free_texts)
    aside = f"; {format_quantity(n_aside, 'is an exemplar', 'are exemplars')}" if n_aside else ""
    print_progress(
        f"{options.items}: {pool.describe_rows_read_and_kept()}{aside}; "
        f"asked: {texts.describe_gold_counts(asked_texts)}"
    )
    print_progress(f"gold is the right answer to: {bank.original.source}")
    warn_of_texts_in_other_language(options.items, {text.item: [text.text] for text in asked_texts}, bank.language)
    wording_study = build_wording_study(
        asked_texts, bank, name, seed=seed, all_templates=options.all_templates, source=options.items
    )
    questions = Questions(book, options.shots, shown_exemplars, parse_answer_ways(options))
    return wording_study, limit_questions_to_sampled_wordings(
        wording_study, questions, options.wordings, seed, build_group_key_of_item_and_pattern
    )


def _name_study_after_items_and_bank(items: str, bank: Bank) -> str:
    """Name the study after its texts and its bank: the same texts may be asked about with another bank."""
    stem = name_study_after_source(items)
    return stem if stem.startswith(bank.name) else f"{stem}-{bank.name}"
