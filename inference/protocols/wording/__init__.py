"""Ask yes/no questions about texts, each question in several wordings (Takayama et al.).

Every item is a text, as a rule with a gold label. A template bank makes the original question about it and four
manipulations of that question. All draws (templates, sample, exemplars) depend on the seed and the item only.
"""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from ground.errors import InputError
from inference.arguments import draw_seed
from inference.asking.answer_ways import AnswerWays, add_answer_arguments, answer_ways
from inference.asking.rounds import Questions as Asking
from inference.asking.rounds import Round
from inference.asking.wordings import by_pattern, drawn
from inference.protocols.wording import arguments, exemplars, sources, templates, texts
from inference.protocols.wording.exemplars import Exemplar
from inference.protocols.wording.templates import MANIPULATED, NO, YES, Bank, Template
from inference.protocols.wording.texts import Text
from inference.stimuli.files import located
from inference.stimuli.items import default_name
from inference.stimuli.prompt_forms import OPTION_FIELDS
from inference.stimuli.prompts import Prompt, PromptBook, option_values
from inference.stimuli.study import ORIGINAL, Item, Study, Variant

NAME = "wording"
KINDS = ("causal",)
DECISION_RULE = (
    "the option that the likeliest next token begins, or that the generated text names; null: no valid answer"
)
HERE = Path(__file__).parent


def prompt_book(language: str, path: str | Path | None = None) -> PromptBook:
    """Read a prompt file that asks for yes or no.

    Parameters
    ----------
    language
        Language of Waver's own file.
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
    return PromptBook.load(path, HERE / f"prompts-{language}.yaml", OPTION_FIELDS)


def study(
    given: Iterable[Text], bank: Bank, name: str, *, seed: int = 0, all_templates: bool = False, source: str = ""
) -> Study:
    """Make a study that asks the original question about every text, and each manipulation of it.

    Parameters
    ----------
    given
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
    """
    asked = tuple(Item(text.item, tuple(_variants(text, bank, seed, all_templates))) for text in given)
    return Study(NAME, name, asked, (YES, NO), DECISION_RULE, source)


def _variants(text: Text, bank: Bank, seed: int, all_templates: bool) -> Iterable[Variant]:
    yield _variant(text, bank, bank.original, ORIGINAL)
    for pattern in MANIPULATED:
        if all_templates:
            yield from (_variant(text, bank, template, template.name) for template in bank.templates[pattern])
        else:
            yield _variant(text, bank, bank.draw(pattern, text.item, seed), pattern)


def _variant(text: Text, bank: Bank, template: Template, name: str) -> Variant:
    return Variant(
        item=text.item,
        variant=name,
        pattern=template.pattern,
        text=template.ask(text.text),
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
        Option probabilities, generated texts, or both.
    """

    book: PromptBook
    shots: tuple[int, ...] = (0,)
    exemplars: tuple[Exemplar, ...] = ()
    answers: AnswerWays = field(default_factory=AnswerWays)

    def rounds(self, form: str) -> list[Round]:
        """Make the rounds of every number of exemplars."""
        return [
            each
            for number in self.shots
            for each in self.answers.rounds(
                self.book.condition(form, f"{number}-shot"),
                self._fields(form, self.exemplars[:number]),
                partial(self._render, form, self.exemplars[:number]),
            )
        ]

    def _fields(self, form: str, shown: tuple[Exemplar, ...]) -> dict[str, Any]:
        return {
            "form": form,
            "shots": len(shown),
            "prompt": self.book.name,
            "prompt_hash": self.book.hash(form),
            "exemplars": [
                {"pattern": each.pattern, "question": each.shot.question, "answer": each.shot.label} for each in shown
            ],
            "exemplars_hash": exemplars.digest(shown) if shown else None,
        }

    def _render(self, form: str, shown: tuple[Exemplar, ...], variant: Variant, mask_token: str | None) -> Prompt:
        return self.book.render(form, option_values(variant, mask_token), shots=[each.shot for each in shown])


def add_arguments(parser: ArgumentParser) -> None:
    """Define the arguments of `run wording`."""
    arguments.add(parser)
    add_answer_arguments(parser)


def prepare(options: Namespace) -> tuple[Study, Asking]:
    """Read the study and its questions from the command line; count the items on standard error."""
    seed = draw_seed(options)
    if options.wordings is not None and not options.all_templates:
        raise InputError("--wordings draws among all templates: add --all-templates, or leave it out")
    given = sources.find(options)
    bank = templates.load(given.templates, given.language)
    book = prompt_book(bank.language, options.prompt)
    pool = given.read()
    shown: tuple[Exemplar, ...] = ()
    if any(options.shots):
        shown = (
            exemplars.read(located(options.exemplars), bank, seed)
            if options.exemplars
            else exemplars.draw(pool.texts, bank, seed)
        )
    elif options.exemplars:
        raise InputError("--exemplars is for few-shot conditions: add --shots 4 or --shots 0,4")
    shown_texts = {exemplar.text.text for exemplar in shown}
    left = tuple(text for text in pool.texts if text.text not in shown_texts)
    asked = texts.sample(left, options.sample, options.balanced, seed)
    name = _name(options.items, bank) if options.name is None else options.name
    aside = f"; {len(pool.texts) - len(left)} are exemplars" if len(left) < len(pool.texts) else ""
    print(f"{options.items}: {pool.counts()}{aside}; asked: {texts.split(asked)}", file=sys.stderr)
    print(f"gold is the right answer to: {bank.original.source}", file=sys.stderr)
    whole = study(asked, bank, name, seed=seed, all_templates=options.all_templates, source=options.items)
    questions = Questions(book, options.shots, shown, answer_ways(options))
    return whole, drawn(whole, questions, options.wordings, seed, by_pattern)


def _name(items: str, bank: Bank) -> str:
    """Name the study after its texts and its bank: the same texts may be asked about with another bank."""
    stem = default_name(items)
    return stem if stem.startswith(bank.name) else f"{stem}-{bank.name}"
