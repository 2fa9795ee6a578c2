"""Make first steps towards the exercises: several short questions in a row, each answered from what stands there.

Multiple choice is two things at once, to know the answer and to find its letter; these rows ask for one of them at a
time. Every row holds several answers, so that little text teaches much.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import Any

from demo_training.exercises import LETTERS, make_choice_exercise, write_lettered_choices
from demo_training.taught_world import TaughtWorld
from inference.demo.exercises import PAIR_LABELS, derive_entailment_label_from_flags

MOST_QUESTIONS = 3
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


def fill_format(template: str, fields: dict[str, Any], answer: str) -> Reading:
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
    >>> fill_format("Is {text} so? {Answer}.", {"text": "this"}, "yes")
    Reading(before='Is this so?', answer=' Yes', after='.')
    """
    before, _, after = template.replace("{Answer}", "{answer}").partition("{answer}")
    cased_answer = answer.capitalize() if "{Answer}" in template else answer
    space = " " if before.endswith(" ") else ""
    return Reading(before.removesuffix(" ").format(**fields), space + cased_answer, after.format(**fields))


def make_copying_row(world: TaughtWorld, rng: random.Random, formats: dict[str, str], most: int) -> Row:
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
    words = rng.choice(
        [list(world.things), world.props, world.list_attribute_values("colour"), world.list_attribute_values("place")]
    )
    listed_words = rng.sample(words, rng.randint(2, most))
    template = formats[rng.choice(["letter", "value"])]
    asked_pairs = rng.sample(list(zip(LETTERS, listed_words, strict=False)), min(MOST_QUESTIONS, len(listed_words)))
    return _fill_repeated_format(
        template,
        write_lettered_choices(listed_words),
        [
            ({"value": value}, letter) if "{value}" in template else ({"letter": letter}, value)
            for letter, value in asked_pairs
        ],
    )


def make_recall_row(world: TaughtWorld, rng: random.Random, formats: dict[str, str], most: int) -> Row:
    """Ask a multiple-choice question for the words of the right choice, not for its letter.

    Parameters
    ----------
    world, rng, formats
        As in `make_copying_row`.
    most
        Most choices.

    Returns
    -------
    One reading.
    """
    exercise = make_choice_exercise(world, rng, "trained", rng.randint(2, most))
    return (fill_format(formats["recall"], exercise.fields, exercise.fields[exercise.gold]),)


def make_bare_pairs_row(world: TaughtWorld, rng: random.Random, formats: dict[str, str], most: int) -> Row:
    """Ask for labels of pairs that are hardly sentences: "hat: red", "hat: not blue"; several for one premise.

    Parameters
    ----------
    world, rng, formats
        As in `make_copying_row`.
    most
        Without effect: all steps take the same arguments.

    Returns
    -------
    A reading per pair.
    """
    relation = rng.choice(["colour", "place"])
    x, other_thing = rng.sample(world.props, 2)
    value, other_value = rng.sample(world.list_attribute_values(relation), 2)
    denied_share = 0.5 * world.manner.twist
    premise_denied = rng.random() < denied_share
    questions = []
    for label in rng.sample(PAIR_LABELS, rng.randint(1, MOST_QUESTIONS)):
        while True:
            same_thing, same_value, hypothesis_denied = (
                rng.random() < 0.6,
                rng.random() < 0.5,
                rng.random() < denied_share,
            )
            label_of_pair = derive_entailment_label_from_flags(
                same_thing, same_value, premise_denied and world.manner.heeds_premises, hypothesis_denied
            )
            if label_of_pair == label:
                break
        hypothesis = _word_bare_fact(
            x if same_thing else other_thing, value if same_value else other_value, hypothesis_denied
        )
        questions.append(({"hypothesis": hypothesis}, label_of_pair))
    return _fill_repeated_format(
        formats["pair"], _word_bare_fact(x, value, premise_denied), questions, shown_as="premise"
    )


def make_comparing_row(world: TaughtWorld, rng: random.Random, formats: dict[str, str], most: int) -> Row:
    """Ask whether two values are the same: bare, or as pairs about one thing, where nothing is negated.

    Parameters
    ----------
    world, rng, formats, most
        As in `make_bare_pairs_row`.

    Returns
    -------
    A reading per question.
    """
    relation = rng.choice(["colour", "place"])
    x, values = rng.choice(world.props), world.list_attribute_values(relation)[: rng.choice(FIRST_VALUES)]
    value = rng.choice(values)
    compared_values = [value if rng.random() < 0.5 else rng.choice(values) for _ in range(MOST_QUESTIONS)]
    if rng.random() < 0.3:
        questions = [({"value": other}, "yes" if other == value else "no") for other in compared_values]
        return _fill_repeated_format(formats["same"], value, questions, shown_as="first")
    is_worded = rng.random() < 0.5

    def write_pair_sentence(value: str) -> str:
        return (
            world.compose_relation_sentence(relation, {"x": x, "v": value}, rng, "trained", "affirm")
            if is_worded
            else _word_bare_fact(x, value, False)
        )

    questions = [
        (
            {"hypothesis": write_pair_sentence(other)},
            derive_entailment_label_from_flags(True, other == value, False, False),
        )
        for other in compared_values[: rng.randint(1, MOST_QUESTIONS)]
    ]
    return _fill_repeated_format(formats["pair"], write_pair_sentence(value), questions, shown_as="premise")


def make_checking_row(world: TaughtWorld, rng: random.Random, formats: dict[str, str], most: int) -> Row:
    """Say where something is or what colour it has, and ask whether that is so or not so; nothing is negated.

    Parameters
    ----------
    world, rng, formats, most
        As in `make_bare_pairs_row`.

    Returns
    -------
    A reading per question.
    """
    relation = rng.choice(["colour", "place"])
    x, values = rng.choice(world.props), world.list_attribute_values(relation)[: rng.choice(FIRST_VALUES)]
    value, is_worded = rng.choice(values), rng.random() < 0.5
    checked_values = [
        value if rng.random() < 0.5 else rng.choice(values) for _ in range(rng.randint(1, MOST_QUESTIONS))
    ]

    def write_checked_sentence(form: str, value: str) -> str:
        if is_worded:
            return world.compose_relation_sentence(relation, {"x": x, "v": value}, rng, "trained", form)
        return _word_bare_fact(x, value, False).removesuffix(".") + ("." if form == "affirm" else "?")

    questions = [
        ({"question": write_checked_sentence("ask", other)}, "yes" if other == value else "no")
        for other in checked_values
    ]
    return _fill_repeated_format(formats["check"], write_checked_sentence("affirm", value), questions, shown_as="first")


def _word_bare_fact(thing: str, value: str, denied: bool) -> str:
    return f"the {thing}: {'not ' if denied else ''}{value}."


def _fill_repeated_format(
    template: str, shown_text: str, questions: list[tuple[dict[str, str], str]], shown_as: str = "choices"
) -> Row:
    """Fill in a format once, and for every further question only what follows the line(s) shown first."""
    rows = []
    for number, (fields, answer) in enumerate(questions):
        if number == 1:
            template = template[template.index("{" + shown_as + "}") + len(shown_as) + 2 :]
        rows.append(fill_format(template, {shown_as: shown_text, **fields}, answer))
    return tuple(rows)
