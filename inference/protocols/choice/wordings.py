"""Make the variants of questions: every wording with every order of the choices."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from string import ascii_uppercase

from inference.errors import InputError
from inference.protocols.choice.arguments import ORDERS
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
        A question has fewer orders, or is about a passage, which no prompt shows.
    """
    return tuple(Item(question.item, tuple(_variants(question, orders, seed))) for question in asked)


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
            "(`choice build` does)"
        )
    wordings = {ORIGINAL: question.question}
    wordings |= {f"paraphrase-{number}": text for number, text in enumerate(question.paraphrases, start=1)}
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
        if count > math.factorial(choices):
            raise InputError(
                f"--orders {count}: item '{question.item}' has {choices} choices, which have {math.factorial(choices)} "
                f"orders; say --orders {math.factorial(choices)}, or take questions with so few choices out"
            )
        return draw_orders(question.item, choices, count, seed)
    if orders is not None and orders > len(question.orders):
        raise InputError(
            f"--orders {orders}: item '{question.item}' brings {len(question.orders)} orders of its choices; ask for "
            "no more, or leave --orders out"
        )
    return question.orders[:orders]


def _line(text: str) -> str:
    return " ".join(text.split())
