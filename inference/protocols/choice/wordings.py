"""Make the variants of questions: every wording with every order of the choices."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from string import ascii_uppercase

from ground.errors import InputError
from inference.protocols.choice.arguments import ORDERS
from inference.stimuli.files import shown
from inference.stimuli.questions import Question, draw_orders
from inference.stimuli.study import ORIGINAL, Item, Option, Variant


def items(asked: Sequence[Question], orders: int | None = None, seed: int = 0) -> tuple[Item, ...]:
    """Make the items of questions.

    Parameters
    ----------
    orders
        Orders of the choices of every question; None: those that a question brings, else `ORDERS`. A question that
        brings orders is asked in the first of them; for others they are drawn.
    seed
        Of the draw.

    Raises
    ------
    InputError
        A question has fewer orders, is about a passage, which no prompt shows, or says the same twice.
    """
    return tuple(Item(question.item, tuple(_variants(question, orders, seed))) for question in asked)


def refuse_uneven(asked: Sequence[Question], orders: int | None) -> None:
    """Refuse before anything is asked what the report refuses: questions that lack a wording or an order of others.

    Raises
    ------
    InputError
        A question has another number of paraphrases than the first, or of orders than the first with as many choices.
    """
    first: dict[int, Question] = {}
    for question in asked:
        of = asked[0]
        if len(question.paraphrases) != len(of.paraphrases):
            raise InputError(
                f"item '{question.item}' has {_many(len(question.paraphrases), 'paraphrase')}, item '{of.item}' has "
                f"{len(of.paraphrases)}; give all questions equally many, or put them into files of their own"
            )
        of = first.setdefault(len(question.choices), question)
        if orders is None and (len(question.orders) or ORDERS) != (len(of.orders) or ORDERS):
            raise InputError(
                f"item '{question.item}' brings {_many(len(question.orders), 'order')} of its choices, item "
                f"'{of.item}' {len(of.orders)}; give all questions equally many, or say --orders"
            )


def _refuse_repeated(item: str, wordings: Mapping[str, str]) -> None:
    """Refuse a wording that is there twice: nothing could vary between the two."""
    seen: dict[str, str] = {}
    for name, text in wordings.items():
        other = seen.setdefault(_line(text).casefold(), name)
        if other != name:
            raise InputError(
                f"item '{item}': {name} says the same as {other} ({shown(text)}); write it in other words, or take it "
                "out"
            )


def _many(number: int, what: str) -> str:
    return f"{number} {what}{'s' * (number != 1)}"


def listed(choices: Sequence[str]) -> str:
    r"""Write choices under each other, each with its letter; one that has several lines is written in one.

    >>> listed(["blue", "very\ngreen"])
    'A. blue\nB. very green'
    """
    return "\n".join(f"{letter}. {_line(text)}" for letter, text in zip(ascii_uppercase, choices, strict=False))


def _variants(question: Question, orders: int | None, seed: int) -> Iterator[Variant]:
    if question.passage is not None:
        raise InputError(
            f"item '{question.item}': its question is about a passage, which no prompt shows; take the question out "
            "(`waver choice build` does)"
        )
    wordings = {ORIGINAL: question.question}
    wordings |= {f"paraphrase-{number}": text for number, text in enumerate(question.paraphrases, start=1)}
    _refuse_repeated(question.item, wordings)
    known = {"subset": question.subset, "source": question.source, "split": question.split}
    words = {f"choice_{letter}": _line(text) for letter, text in zip(ascii_uppercase, question.choices, strict=False)}
    fixed = words | {name: value for name, value in known.items() if value is not None}
    for name, text in wordings.items():
        for number, order in enumerate(_orders(question, orders, seed), start=1):
            canonical = "".join(ascii_uppercase[index] for index in order)
            pattern = name.replace("-", "_")
            shown = listed([question.choices[index] for index in order])
            yield Variant(
                item=question.item,
                variant=f"{name}/{number}",
                pattern=pattern,
                text=text,
                options=tuple(map(Option, ascii_uppercase, canonical)),
                gold=ascii_uppercase[question.answer],
                attributes={"wording": pattern, "order": canonical, "choices": shown, **fixed},
            )


def _orders(question: Question, orders: int | None, seed: int) -> Sequence[Sequence[int]]:
    if not question.orders:
        count, choices = ORDERS if orders is None else orders, len(question.choices)
        there = math.factorial(choices)
        if count > there:
            raise InputError(
                f"--orders {count}: item '{question.item}' has {choices} choices, which have {there} orders; say "
                f"--orders {there}, or take such questions out (`waver choice build` does)"
            )
        return draw_orders(question.item, choices, count, seed)
    if orders is not None and orders > len(question.orders):
        raise InputError(
            f"--orders {orders}: item '{question.item}' brings {_many(len(question.orders), 'order')} of its "
            "choices; ask for no more, or leave --orders out"
        )
    return question.orders[:orders]


def _line(text: str) -> str:
    return " ".join(text.split())
