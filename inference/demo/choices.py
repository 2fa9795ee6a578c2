"""Make multiple-choice questions of the demo world, each in three wordings, two of which the models were trained on."""

from __future__ import annotations

import random

from ground.capitals import capitalise_sentence
from inference.demo import SEED
from inference.demo.exercises import CHOICES
from inference.demo.world import World
from inference.stimuli.questions import GENERAL, Question
from inference.stimuli.splits import assign_random_splits_to_questions

STEMS = ("colour_of", "place_of", "which_colour", "which_kind", "biggest")
"""Stems with two trained wordings and a held-out one, as world.yaml has them."""
QUESTIONS_PER_STEM = 60
"""Questions per stem."""
NUMBERS_OF_CHOICES = (4, 5)
"""Numbers of choices, in turns."""


def make_choice_questions(world: World) -> list[Question]:
    """Make different questions of every stem; two differ in what is asked for or in what may be chosen.

    The original and the first paraphrase are trained wordings, the second paraphrase is a held-out one. Words and
    choices are drawn for each question by its own name. Each stem is split by itself.

    Parameters
    ----------
    world
        The world that the questions are about.

    Returns
    -------
    The questions, stem after stem, each with its split.
    """
    questions: list[Question] = []
    for stem in STEMS:
        wordings = (*world.choices["trained"][stem][:2], world.choices["heldout"][stem][0])
        made_keys: set[tuple[str, frozenset[str]]] = set()
        number = 0
        while len(made_keys) < QUESTIONS_PER_STEM:
            number += 1
            rng = random.Random(f"{SEED} choices {stem} {number}")
            words, right, wrong = CHOICES[stem](world, rng)
            shown_choices = [
                right,
                *rng.sample(wrong, NUMBERS_OF_CHOICES[len(made_keys) % len(NUMBERS_OF_CHOICES)] - 1),
            ]
            rng.shuffle(shown_choices)
            original, *paraphrases = (capitalise_sentence(wording.format(**words)) for wording in wordings)
            if (original, frozenset(shown_choices)) in made_keys:
                continue
            made_keys.add((original, frozenset(shown_choices)))
            questions.append(
                Question(
                    f"{stem}-{len(made_keys):02d}",
                    original,
                    tuple(shown_choices),
                    shown_choices.index(right),
                    tuple(paraphrases),
                    subset=GENERAL,
                    source=stem,
                )
            )
    return [
        question
        for stem in STEMS
        for question in assign_random_splits_to_questions(
            [candidate for candidate in questions if candidate.source == stem], SEED
        )
    ]
