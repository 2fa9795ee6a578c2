"""Make the variants of questions: every wording with every order of the choices."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from string import ascii_uppercase

from ground.errors import InputError, format_quantity
from inference.protocols.choice.arguments import ORDERS
from inference.stimuli.questions import Question, draw_choice_orders
from inference.stimuli.reading.files import shorten_value
from inference.stimuli.study import ORIGINAL, Item, Option, Variant


def build_question_items(questions: Sequence[Question], n_orders: int | None = None, seed: int = 0) -> tuple[Item, ...]:
    """Make the items of questions: a variant is a wording with an order of the choices.

    Parameters
    ----------
    questions
        The questions with their paraphrases.
    n_orders
        Orders of the choices of every question; None: those that a question brings, else `ORDERS`. A question that
        brings orders is asked in the first of them; for others they are drawn.
    seed
        Of the draw.

    Returns
    -------
    An item per question.

    Raises
    ------
    InputError
        A question has fewer orders, is about a passage, which no prompt shows, or says the same twice.
    """
    return tuple(
        Item(question.item, tuple(_build_question_variants(question, n_orders, seed))) for question in questions
    )


def refuse_unequal_wording_or_order_counts(questions: Sequence[Question], n_orders: int | None) -> None:
    """Refuse, before anything is asked, questions that lack a wording or an order that others have: the report would.

    Parameters
    ----------
    questions
        The questions of a study.
    n_orders
        Orders of the choices that are asked for; None: those that the questions bring, which must be equally many.

    Raises
    ------
    InputError
        A question has another number of paraphrases than the first, or of orders than the first with as many choices.
    """
    first: dict[int, Question] = {}
    for question in questions:
        reference = questions[0]
        if len(question.paraphrases) != len(reference.paraphrases):
            raise InputError(
                f"item '{question.item}' has {format_quantity(len(question.paraphrases), 'paraphrase')}, item "
                f"'{reference.item}' has {len(reference.paraphrases)}; give all questions equally many, or put them "
                "into files of their own"
            )
        reference = first.setdefault(len(question.choices), question)
        if n_orders is None and (len(question.orders) or ORDERS) != (len(reference.orders) or ORDERS):
            raise InputError(
                f"item '{question.item}' brings {format_quantity(len(question.orders), 'order')} of its "
                f"choices, item '{reference.item}' {len(reference.orders)}; give all questions equally many, or say "
                "--orders"
            )


def _refuse_repeated_wordings_of_item(item: str, wordings: Mapping[str, str]) -> None:
    """Refuse a wording that is there twice: nothing could vary between the two."""
    name_by_wording: dict[str, str] = {}
    for name, text in wordings.items():
        other = name_by_wording.setdefault(_join_into_one_line(text).casefold(), name)
        if other != name:
            raise InputError(
                f"item '{item}': {name} says the same as {other} ({shorten_value(text)}); write it in other words, or "
                "take it out"
            )


def format_lettered_choices(choices: Sequence[str]) -> str:
    r"""Write choices under each other, each with its letter; one that has several lines is written in one.

    >>> format_lettered_choices(["blue", "very\ngreen"])
    'A. blue\nB. very green'
    """
    return "\n".join(
        f"{letter}. {_join_into_one_line(text)}" for letter, text in zip(ascii_uppercase, choices, strict=False)
    )


def _build_question_variants(question: Question, n_orders: int | None, seed: int) -> Iterator[Variant]:
    """Make a variant of every wording in every order of the choices; refuse a question about a passage."""
    if question.passage is not None:
        raise InputError(
            f"item '{question.item}': its question is about a passage, which no prompt shows; take the question out "
            "(`waver choice build` does)"
        )
    wordings = {ORIGINAL: question.question}
    wordings |= {f"paraphrase-{number}": text for number, text in enumerate(question.paraphrases, start=1)}
    _refuse_repeated_wordings_of_item(question.item, wordings)
    question_fields = {"subset": question.subset, "source": question.source, "split": question.split}
    words = {
        f"choice_{letter}": _join_into_one_line(text)
        for letter, text in zip(ascii_uppercase, question.choices, strict=False)
    }
    fixed = words | {name: value for name, value in question_fields.items() if value is not None}
    for name, text in wordings.items():
        for number, order in enumerate(_take_or_draw_choice_orders(question, n_orders, seed), start=1):
            canonical = "".join(ascii_uppercase[index] for index in order)
            pattern = name.replace("-", "_")
            joined_choices = format_lettered_choices([question.choices[index] for index in order])
            yield Variant(
                item=question.item,
                variant=f"{name}/{number}",
                pattern=pattern,
                text=text,
                options=tuple(map(Option, ascii_uppercase, canonical)),
                gold=ascii_uppercase[question.answer],
                attributes={"wording": pattern, "order": canonical, "choices": joined_choices, **fixed},
            )


def _take_or_draw_choice_orders(question: Question, n_orders: int | None, seed: int) -> Sequence[Sequence[int]]:
    """Take the orders that a question brings, else draw some."""
    if not question.orders:
        count, choices = ORDERS if n_orders is None else n_orders, len(question.choices)
        order_count = math.factorial(choices)
        if count > order_count:
            raise InputError(
                f"--orders {count}: item '{question.item}' has {choices} choices, which have {order_count} orders; say "
                f"--orders {order_count}, or take such questions out (`waver choice build` does)"
            )
        return draw_choice_orders(question.item, choices, count, seed)
    if n_orders is not None and n_orders > len(question.orders):
        raise InputError(
            f"--orders {n_orders}: item '{question.item}' brings "
            f"{format_quantity(len(question.orders), 'order')} of its choices; ask for no more, or leave "
            "--orders out"
        )
    return question.orders[:n_orders]


def _join_into_one_line(text: str) -> str:
    """Write a text in one line, its white space as single blanks."""
    return " ".join(text.split())
