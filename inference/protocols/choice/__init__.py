"""Ask multiple-choice questions in other words, and with their choices in other orders (Choi).

What a run folder of this protocol holds, in addition to what `results/schema.json` says of every run:

conditions
    Names like `plain/base/letters`: form, prompt, way of answering; also `texts`, `text`, `text-t0.7` and, where one
    format is asked for of all questions, `text-answer-first`. Fields: `form`; `prompt_kind` ("base", or "aware": first
    the question is to be written in other words); `way` ("letters", "texts" or "text"); `prompt`, `prompt_hash`; of
    texts also `format` ("answer first", "reasoning first" or "by subset": math reasoning first reasons, all others
    first answer), `answer` ("text"), `temperature`, `samples`, `max_tokens`, `effort`, and how a text is read:
    `reply_reading` ("letter", or "strict", then the name says `-strict`) and `reply_rule`, the version of the rules of
    `reply.py`. Names like `chat/base/letters/thought`: probabilities of the letters after thoughts; `way` is "letters",
    `answer` is "thought", and the other fields are those of `inference.asking.thoughts`.
stimuli
    An item is a question. Its variants `original/1`, `paraphrase-2/8` ... are a wording with an order of the choices
    each; patterns: `original`, `paraphrase_1` ... `text` is the question. `options` are the letters as shown,
    `canonical` those of the same choices in the order of the file, `gold` is the canonical letter of the right choice.
    Attributes: `wording` (as the pattern); `order` (the canonical letters as shown, "CABD"); `choices` (the choices as
    shown, each with its letter); `choice_A`, `choice_B` ... (their words, by canonical letter); where they are known,
    `subset`, `source` and `split`.
responses
    `answer` is a letter as shown. `letters`: the one that the likeliest next token begins, null where it begins none.
    `texts`: the choice whose words are likeliest; probabilities are those of the words of each choice. `text`: the
    letter that most of the texts choose; `count` and `invalid` as in every study; `read_otherwise`: how many of the
    texts the other reading reads otherwise.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from ground.errors import InputError, format_quantity
from ground.progress import print_progress
from inference.arguments import choose_given_or_recorded_seed
from inference.asking.answer_ways import (
    TEXT,
    build_text_condition_fields,
    build_thought_conditions,
    name_text_condition,
)
from inference.asking.personas.questions import add_personas_to_questions
from inference.asking.rounds import Condition, Round
from inference.asking.rounds import Questions as Asking
from inference.asking.thoughts import THOUGHT, parse_thinking_settings
from inference.engines.contract import Sampling, Thinking
from inference.protocols.choice import arguments, building_record, reply
from inference.protocols.choice.arguments import AWARE, BY_SUBSET, DEMO, DEMOS, LETTERS, REASONING_FIRST, TEXTS
from inference.protocols.choice.reading import (
    build_columns_of_likeliest_words,
    build_columns_of_majority_choice,
    parse_letters,
)
from inference.protocols.choice.wordings import build_question_items, refuse_unequal_wording_or_order_counts
from inference.stimuli import questions
from inference.stimuli.items import name_study_after_source
from inference.stimuli.languages import assign_language_to_texts
from inference.stimuli.questions import MATH, Question
from inference.stimuli.reading.files import expand_user_path
from inference.stimuli.study import Item, Study, Variant
from inference.stimuli.templates.prompt_forms import PERSONA, Fields
from inference.stimuli.templates.prompts import Prompt, PromptBook

NAME = "choice"
KINDS = ("causal",)
PROMPTS = Path(__file__).parent / "prompts.yaml"
DECISION_RULE = (
    "letters: the letter that the likeliest next token begins; texts: the choice whose words are likeliest; text: the "
    "letter that most texts give, as the condition's `reply_reading` reads them; null: no valid answer. A text without "
    "one counts as wrong; of probabilities, the likeliest option is taken all the same"
)
_TRIALS = tuple(
    {"question": "A question?", "choices": "A. one\nB. two", "way": way, "aware": aware, "reasoning_first": first}
    for way in (LETTERS, TEXTS, TEXT)
    for aware in (False, True)
    for first in (False, True)
    if way == TEXT or not (aware or first)
)
FIELDS = Fields(variables=frozenset({*_TRIALS[0], PERSONA}), needed=frozenset({"question", "choices"}), trials=_TRIALS)


def read_choice_prompts(path: str | Path | None = None) -> PromptBook:
    """Read a prompt file that asks for one of several choices; without one, Waver's own."""
    return PromptBook.load(path, PROMPTS, FIELDS)


def build_study_of_choice_questions(
    study_items: Sequence[Item], name: str, source: str = "", building: Sequence[dict[str, Any]] = ()
) -> Study:
    """Make a study of questions.

    Parameters
    ----------
    study_items
        The questions as items (`wordings.build_question_items`).
    name
        The name of the study.
    source
        Where the questions came from, as the user gave it.
    building
        The numbers of the steps that built the questions; empty where they were not built by Waver.

    Returns
    -------
    The study; its canonical options are the letters of all choices, sorted.
    """
    letters = sorted(
        {option.canonical for item in study_items for variant in item.variants for option in variant.options}
    )
    return Study(
        NAME,
        name,
        tuple(study_items),
        tuple(letters),
        DECISION_RULE,
        source,
        paraphrased=False,
        building=tuple(building),
    )


@dataclass(frozen=True, slots=True)
class Questions:
    """The questions of a study: every kind of prompt with every way of answering is a condition.

    Parameters
    ----------
    book
        The prompts.
    kinds
        Of prompts: "base", "aware" or both.
    ways
        Of answering: "letters", "texts", "text", "thought" or several of them.
    texts
        How texts are generated, where they are.
    thinkings
        How the model thinks before the letters are asked for, where it does.
    format
        Of texts: "answer first", "reasoning first" or "by subset".
    reasoned
        Items about which a text is to give its reasons before its answer.
    reading
        Of texts: one of `reply.READINGS`.
    """

    book: PromptBook
    kinds: tuple[str, ...] = (arguments.BASE,)
    ways: tuple[str, ...] = (LETTERS,)
    texts: tuple[Sampling, ...] = ()
    format: str = BY_SUBSET
    reasoned: frozenset[str] = frozenset()
    reading: str = reply.LETTER
    thinkings: tuple[Thinking, ...] = ()

    def rounds(self, form: str) -> list[Round]:
        """Make a round for every kind of prompt and way of answering.

        Raises
        ------
        InputError
            The prompts do not have this form, or do not ask for what was said.
        """
        self._refuse_prompt_ignoring_boolean_variables(form)
        return [self._build_round(form, kind, way) for kind in self.kinds for way in self.ways]

    def _build_round(self, form: str, prompt_kind: str, answer_way: str) -> Round:
        """Make the round of one kind of prompt and one way of answering; texts have a condition per sampling."""
        fields = {
            "form": form,
            "prompt_kind": prompt_kind,
            "way": answer_way,
            **self.book.build_prompt_name_and_hash_fields_of_form(form),
        }
        render = partial(self._render_prompt, form, prompt_kind, answer_way)
        if answer_way == TEXT:
            conditions = tuple(
                self._build_text_condition(form, prompt_kind, fields, sampling) for sampling in self.texts
            )
            return Round(conditions, render, partial(build_columns_of_majority_choice, reading=self.reading))
        if answer_way == THOUGHT:
            name = self.book.name_condition(form, f"{prompt_kind}/{LETTERS}")
            conditions = build_thought_conditions(name, {**fields, "way": LETTERS}, self.thinkings)
            return Round(conditions, partial(self._render_prompt, form, prompt_kind, LETTERS))
        condition = Condition(self.book.name_condition(form, f"{prompt_kind}/{answer_way}"), fields)
        return Round((condition,), render, parse_letters if answer_way == LETTERS else build_columns_of_likeliest_words)

    def _build_text_condition(
        self, form: str, prompt_kind: str, fields: dict[str, Any], sampling: Sampling
    ) -> Condition:
        """Make the condition of generated texts."""
        suffix = "" if self.format == BY_SUBSET else f"-{self.format.replace(' ', '-')}"
        suffix += "-strict" if self.reading == reply.STRICT else ""
        name = name_text_condition(sampling, f"{prompt_kind}/{TEXT}{suffix}")
        reading_fields = {"reply_rule": reply.VERSION, "reply_reading": self.reading}
        texts = {"format": self.format, **build_text_condition_fields(sampling), **reading_fields}
        return Condition(self.book.name_condition(form, name), fields | texts, sampling)

    def _refuse_prompt_ignoring_boolean_variables(self, form: str) -> None:
        """Refuse a prompt file that renders the same prompt whether a variable it must use is true or false."""
        values = dict(_TRIALS[-1], aware=False, reasoning_first=False)
        for is_variable_needed, name, advice in (
            (AWARE in self.kinds, "aware", "take --prompt-kind aware out"),
            (TEXT in self.ways and self.reasoned, "reasoning_first", "say --format answer-first"),
        ):
            if is_variable_needed and self.book.render(form, values) == self.book.render(form, {**values, name: True}):
                raise InputError(
                    f"--prompt {self.book.name}, form {form}: the prompt is the same whether {{{{ {name} }}}} is true "
                    f"or false; use it there, or {advice}"
                )

    def _render_prompt(
        self, form: str, prompt_kind: str, answer_way: str, variant: Variant, _mask_token: str | None
    ) -> Prompt:
        """Render the prompt of a variant; the options are answered by their words, or by their letters."""
        values = {
            "question": variant.text,
            "choices": variant.attributes["choices"],
            "way": answer_way,
            "aware": prompt_kind == AWARE,
            "reasoning_first": answer_way == TEXT and variant.item in self.reasoned,
        }
        if answer_way == TEXTS:
            words = tuple((variant.attributes[f"choice_{option.canonical}"],) for option in variant.options)
        else:
            words = tuple((option.label,) for option in variant.options)
        return replace(self.book.render(form, values), answers=words)


def add_arguments(parser: ArgumentParser) -> None:
    """Define the arguments of `run choice`."""
    arguments.add_choice_arguments(parser)


def prepare_study(options: Namespace) -> tuple[Study, Asking]:
    """Read the study and its questions from the command line; count the questions on standard error."""
    texts, book = arguments.parse_choice_samplings(options), read_choice_prompts(options.prompt)
    chosen_questions = _select_questions_by_split(options.items, _read_choice_questions(options.items), options.split)
    refuse_unequal_wording_or_order_counts(chosen_questions, options.orders)
    order = options.format.replace("-", " ")
    asking = Questions(
        book,
        tuple(dict.fromkeys(options.prompt_kind)),
        tuple(dict.fromkeys(options.answer)),
        texts,
        order,
        frozenset(
            question.item
            for question in chosen_questions
            if order == REASONING_FIRST or (order == BY_SUBSET and question.subset == MATH)
        ),
        options.reading or reply.LETTER,
        parse_thinking_settings(options) if THOUGHT in options.answer else (),
    )
    study_items = build_question_items(chosen_questions, options.orders, choose_given_or_recorded_seed(options))
    study_items = assign_language_to_texts(study_items, options.language, options.items, in_english=not options.prompt)
    is_demo = options.items in DEMOS
    default = f"{NAME}-{options.items}" if is_demo else name_study_after_source(options.items)
    name = default if options.name is None else options.name
    building_steps = [] if is_demo else building_record.read_question_counts_by_building_step(options.items)
    print_progress(_describe_question_and_prompt_counts(options.items, chosen_questions, study_items))
    study = build_study_of_choice_questions(study_items, name, options.items, building_steps)
    return study, add_personas_to_questions(asking, options)


def _read_choice_questions(source: str) -> list[Question]:
    """Read the questions of a file, or make those of a demo."""
    if source not in DEMOS:
        return questions.read_questions(expand_user_path(source))
    from inference.demo.choices import make_choice_questions
    from inference.demo.reworded import make_reworded_questions
    from inference.demo.world import World

    return make_choice_questions(World()) if source == DEMO else make_reworded_questions(World())


def _select_questions_by_split(
    source: str, all_questions: list[Question], splits: Sequence[str] | None
) -> list[Question]:
    """Take the questions of some splits; None: all."""
    if not splits:
        return all_questions
    missing = [split for split in splits if not any(question.split == split for question in all_questions)]
    if missing:
        known_splits = (
            ", ".join(dict.fromkeys(question.split for question in all_questions if question.split)) or "none at all"
        )
        raise InputError(f"--split {missing[0]}: no question of {source} is in this split; it has {known_splits}")
    return [question for question in all_questions if question.split in splits]


def _describe_question_and_prompt_counts(
    source: str, chosen_questions: Sequence[Question], study_items: Sequence[Item]
) -> str:
    """Say what is asked: questions, wordings and orders, and whether they have paraphrases."""
    prompts = sum(len(item.variants) for item in study_items)
    lonely = (
        ""
        if any(question.paraphrases for question in chosen_questions)
        else "; no paraphrases: asked in one wording only"
    )
    many = format_quantity(len(chosen_questions), "question")
    return f"{source}: {many}, {prompts:,} prompts (wordings with their choices in an order){lonely}"
