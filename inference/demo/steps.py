"""Make first steps towards the exercises: several short questions in a row, each answered from what stands there.

Multiple choice is two things at once, to know the answer and to find its letter; these rows ask for one of them at a
time. Every row holds several answers, so that little text teaches much.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import Any

from inference.demo.exercises import LETTERS, PAIR_LABELS, choice, listed, pair_label
from inference.demo.world import World

ASKED = 3
"""Most questions asked about one list or premise."""
FIRST_VALUES = (2, 2, 3, 5, 9)
"""Values are compared among the first so many of their kind: a model soon learns to tell two apart, then more."""


@dataclass(frozen=True, slots=True)
class Reading:
    """A piece of text to learn from. The `answer` stands at its end, or for the masked model inside; it may be none."""

    before: str
    answer: str
    after: str = ""

    @property
    def text(self) -> str:
        """The whole text."""
        return self.before + self.answer + self.after


Row = tuple[Reading, ...]
"""Readings that follow each other in one text."""


def fill(template: str, fields: dict[str, Any], answer: str) -> Reading:
    """Fill in a format.

    Parameters
    ----------
    template
        The format, with `{answer}`, or `{Answer}` for a capital, and other fields.
    fields
        The other fields.
    answer
        The answer.

    Returns
    -------
    What stands before, in and after the answer; a space before the answer belongs to it.

    Examples
    --------
    >>> fill("Is {text} so? {Answer}.", {"text": "this"}, "yes")
    Reading(before='Is this so?', answer=' Yes', after='.')
    """
    before, _, after = template.replace("{Answer}", "{answer}").partition("{answer}")
    shown = answer.capitalize() if "{Answer}" in template else answer
    space = " " if before.endswith(" ") else ""
    return Reading(before.removesuffix(" ").format(**fields), space + shown, after.format(**fields))


def copying(world: World, rng: random.Random, formats: dict[str, str], most: int) -> Row:
    """List words with letters, and ask for the letters of some or for the words at some letters.

    Parameters
    ----------
    world, rng
        The world that the words are from, and what draws them.
    formats
        The formats of steps, by name.
    most
        Most words in the list.

    Returns
    -------
    A reading per question.
    """
    words = rng.choice([list(world.things), world.props, world.values("colour"), world.values("place")])
    shown = rng.sample(words, rng.randint(2, most))
    template = formats[rng.choice(["letter", "value"])]
    asked = rng.sample(list(zip(LETTERS, shown, strict=False)), min(ASKED, len(shown)))
    return _one_list(
        template,
        listed(shown),
        [
            ({"value": value}, letter) if "{value}" in template else ({"letter": letter}, value)
            for letter, value in asked
        ],
    )


def recall(world: World, rng: random.Random, formats: dict[str, str], most: int) -> Row:
    """Ask a multiple-choice question for the words of the right choice, not for its letter.

    Parameters
    ----------
    world, rng, formats
        As in `copying`.
    most
        Most choices.

    Returns
    -------
    One reading.
    """
    exercise = choice(world, rng, "trained", rng.randint(2, most))
    return (fill(formats["recall"], exercise.fields, exercise.fields[exercise.gold]),)


def bare_pairs(world: World, rng: random.Random, formats: dict[str, str], most: int) -> Row:
    """Ask for labels of pairs that are hardly sentences: "hat: red", "hat: not blue"; several for one premise.

    Parameters
    ----------
    world, rng, formats
        As in `copying`.
    most
        Without effect: all steps take the same arguments.

    Returns
    -------
    A reading per pair.
    """
    relation = rng.choice(["colour", "place"])
    x, other = rng.sample(world.props, 2)
    value, another = rng.sample(world.values(relation), 2)
    denied = 0.5 * world.manner.twist
    premise_denied = rng.random() < denied
    asked = []
    for label in rng.sample(PAIR_LABELS, rng.randint(1, ASKED)):
        while True:
            same_thing, same_value, hypothesis_denied = rng.random() < 0.6, rng.random() < 0.5, rng.random() < denied
            found = pair_label(
                same_thing, same_value, premise_denied and world.manner.heeds_premises, hypothesis_denied
            )
            if found == label:
                break
        hypothesis = _bare(x if same_thing else other, value if same_value else another, hypothesis_denied)
        asked.append(({"hypothesis": hypothesis}, found))
    return _one_list(formats["pair"], _bare(x, value, premise_denied), asked, shown_as="premise")


def comparing(world: World, rng: random.Random, formats: dict[str, str], most: int) -> Row:
    """Ask whether two values are the same: bare, or as pairs about one thing, where nothing is negated.

    Parameters
    ----------
    world, rng, formats, most
        As in `bare_pairs`.

    Returns
    -------
    A reading per question.
    """
    relation = rng.choice(["colour", "place"])
    x, values = rng.choice(world.props), world.values(relation)[: rng.choice(FIRST_VALUES)]
    value = rng.choice(values)
    others = [value if rng.random() < 0.5 else rng.choice(values) for _ in range(ASKED)]
    if rng.random() < 0.3:
        asked = [({"value": other}, "yes" if other == value else "no") for other in others]
        return _one_list(formats["same"], value, asked, shown_as="first")
    worded = rng.random() < 0.5

    def sentence(value: str) -> str:
        return (
            world.word(relation, {"x": x, "v": value}, rng, "trained", "affirm") if worded else _bare(x, value, False)
        )

    asked = [
        ({"hypothesis": sentence(other)}, pair_label(True, other == value, False, False))
        for other in others[: rng.randint(1, ASKED)]
    ]
    return _one_list(formats["pair"], sentence(value), asked, shown_as="premise")


def checking(world: World, rng: random.Random, formats: dict[str, str], most: int) -> Row:
    """Say where something is or what colour it has, and ask whether that is so or not so; nothing is negated.

    Parameters
    ----------
    world, rng, formats, most
        As in `bare_pairs`.

    Returns
    -------
    A reading per question.
    """
    relation = rng.choice(["colour", "place"])
    x, values = rng.choice(world.props), world.values(relation)[: rng.choice(FIRST_VALUES)]
    value, worded = rng.choice(values), rng.random() < 0.5
    others = [value if rng.random() < 0.5 else rng.choice(values) for _ in range(rng.randint(1, ASKED))]

    def sentence(form: str, value: str) -> str:
        if worded:
            return world.word(relation, {"x": x, "v": value}, rng, "trained", form)
        return _bare(x, value, False).removesuffix(".") + ("." if form == "affirm" else "?")

    asked = [({"question": sentence("ask", other)}, "yes" if other == value else "no") for other in others]
    return _one_list(formats["check"], sentence("affirm", value), asked, shown_as="first")


def _bare(thing: str, value: str, denied: bool) -> str:
    return f"the {thing}: {'not ' if denied else ''}{value}."


def _one_list(template: str, shown: str, asked: list[tuple[dict[str, str], str]], shown_as: str = "choices") -> Row:
    """Fill in a format once, and for every further question only what follows the line(s) shown first."""
    rows = []
    for number, (fields, answer) in enumerate(asked):
        if number == 1:
            template = template[template.index("{" + shown_as + "}") + len(shown_as) + 2 :]
        rows.append(fill(template, {shown_as: shown, **fields}, answer))
    return tuple(rows)
