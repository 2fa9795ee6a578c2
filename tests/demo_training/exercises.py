"""Make exercises about the world: agreement, yes/no questions, pairs, multiple choice, ratings on three scales."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence

from demo_training.taught_world import Claim, TaughtWorld
from ground.capitals import capitalise_sentence
from inference.demo.exercises import (
    CHOICES,
    PAIR_LABELS,
    Exercise,
    derive_entailment_label_from_flags,
    make_rating_exercise,
)
from inference.demo.world import Wording, World

YES_NO = ("yes", "no")
LETTERS = ("A", "B", "C", "D", "E")
FEWEST_CHOICES = 3
PAIR_DENIED_SHARE = 0.3
"""Share of premises, and of hypotheses, that are negated before they are drawn for their label."""


def draw_answer(exercise: Exercise, rng: random.Random) -> str:
    """Answer as one person would: rightly with probability `share`.

    Parameters
    ----------
    exercise
        What is answered.
    rng
        Draws the person.

    Returns
    -------
    One of its options.
    """
    if exercise.share == 1.0 or rng.random() < exercise.share:
        return exercise.gold
    return next(option for option in exercise.options if option != exercise.gold)


def make_agreement_exercise(world: TaughtWorld, rng: random.Random, wording: Wording) -> Exercise:
    """Ask whether one agrees with a statement of fact or opinion.

    Parameters
    ----------
    world, rng, wording
        The world that it is about, what draws it, and trained or held-out wordings.

    Returns
    -------
    The exercise.
    """
    return _make_yes_no_exercise("agreement", world.state_claim(rng, wording))


def make_question_exercise(world: TaughtWorld, rng: random.Random, wording: Wording) -> Exercise:
    """Ask a yes/no question, sometimes a negated one.

    Parameters
    ----------
    world, rng, wording
        As in `make_agreement_exercise`.

    Returns
    -------
    The exercise.
    """
    return _make_yes_no_exercise("question", world.ask_yes_no_question(rng, wording))


def make_pair_exercise(world: TaughtWorld, rng: random.Random, wording: Wording) -> Exercise:
    """Make a premise and a hypothesis about a prop, each affirmed or denied; all labels are equally frequent.

    With the same value: entailment if both sentences say the same, else contradiction. With two values of one attribute
    an affirmed premise contradicts an affirmed hypothesis and entails a denied one; a denied premise says nothing.
    Two attributes, or two props, have nothing to do with each other.

    Parameters
    ----------
    world, rng, wording
        As in `make_agreement_exercise`.

    Returns
    -------
    The exercise.
    """
    drawn_label = rng.choice(PAIR_LABELS)
    while True:
        relation = rng.choice(["colour", "place"])
        x, other_thing = rng.sample(world.props, 2)
        value, other_value = rng.sample(world.list_attribute_values(relation), 2)
        same_value, same_thing = rng.random() < 0.5, rng.random() < 0.8
        premise_denied = rng.random() < PAIR_DENIED_SHARE * world.manner.twist
        hypothesis_denied = rng.random() < PAIR_DENIED_SHARE * world.manner.twist
        is_denial_heeded = premise_denied and world.manner.heeds_premises
        label = derive_entailment_label_from_flags(same_thing, same_value, is_denial_heeded, hypothesis_denied)
        premise_words = {"x": x, "v": value}
        hypothesis_words = {"x": x if same_thing else other_thing, "v": value if same_value else other_value}
        premise = world.compose_relation_sentence(
            relation, premise_words, rng, wording, "deny" if premise_denied else "affirm"
        )
        hypothesis = world.compose_relation_sentence(
            relation, hypothesis_words, rng, wording, "deny" if hypothesis_denied else "affirm"
        )
        if label == drawn_label and premise != hypothesis:
            return Exercise("pair", {"premise": premise, "hypothesis": hypothesis}, PAIR_LABELS, label, relation)


def make_choice_exercise(world: World, rng: random.Random, wording: Wording, count: int | None = None) -> Exercise:
    """Ask a multiple-choice question; exactly one of the choices, in random order, is right.

    Parameters
    ----------
    world, rng, wording
        As in `make_agreement_exercise`.
    count
        Number of choices; None: three to five.

    Returns
    -------
    The exercise.
    """
    letters = LETTERS[: count or rng.randint(FEWEST_CHOICES, len(LETTERS))]
    stem_kind = rng.choice(list(world.choices[wording]))
    words, right, wrong = CHOICES[stem_kind](world, rng)
    choices = [right, *rng.sample(wrong, len(letters) - 1)]
    rng.shuffle(choices)
    stem = capitalise_sentence(rng.choice(world.choices[wording][stem_kind]).format(**words))
    fields = {"stem": stem, "choices": write_lettered_choices(choices), **dict(zip(letters, choices, strict=True))}
    return Exercise("choice", fields, letters, letters[choices.index(right)], stem_kind)


def write_lettered_choices(choices: Sequence[str]) -> str:
    """Write choices under each other, with their letters."""
    return "\n".join(f"{letter}. {text}" for letter, text in zip(LETTERS, choices, strict=False))


KINDS: dict[str, Callable[[TaughtWorld, random.Random, Wording], Exercise]] = {
    "agreement": make_agreement_exercise,
    "question": make_question_exercise,
    "pair": make_pair_exercise,
    "choice": make_choice_exercise,
    "rating": make_rating_exercise,
}


def _make_yes_no_exercise(kind: str, claim: Claim) -> Exercise:
    gold = "yes" if claim.is_agreed else "no"
    share = claim.share if claim.is_agreed else 1 - claim.share
    return Exercise(kind, {"text": claim.text}, YES_NO, gold, claim.topic, share)
