"""Make multiple-choice questions of the demo world, each in three wordings, two of which the models were trained on."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace

from inference.demo import SEED
from inference.demo.exercises import CHOICES
from inference.demo.wordings import capitalise
from inference.demo.world import World
from inference.stimuli.questions import GENERAL, SPLITS, Question
from inference.stimuli.random_order import place

STEMS = ("colour_of", "place_of", "which_colour", "which_kind", "biggest")
"""Stems with two trained wordings and a held-out one, as world.yaml has them."""
EACH = 60
"""Questions per stem."""
COUNTS = (4, 5)
"""Numbers of choices, in turns."""
SHARES = (0.70, 0.15)
"""Of the questions, those for training and for validation; the others are for the test."""


def choices(world: World, each: int = EACH) -> list[Question]:
    """Make different questions of every stem; two differ in what is asked for or in what may be chosen.

    The original and the first paraphrase are trained wordings, the second paraphrase is a held-out one. Words and
    choices are drawn for each question by its own name, and so is its split.

    Parameters
    ----------
    each
        Questions per stem.
    """
    made: list[Question] = []
    for stem in STEMS:
        wordings = (*world.choices["trained"][stem][:2], world.choices["heldout"][stem][0])
        seen: set[tuple[str, frozenset[str]]] = set()
        number = 0
        while len(seen) < each:
            number += 1
            rng = random.Random(f"{SEED} choices {stem} {number}")
            words, right, wrong = CHOICES[stem](world, rng)
            shown = [right, *rng.sample(wrong, COUNTS[len(seen) % len(COUNTS)] - 1)]
            rng.shuffle(shown)
            original, *paraphrases = (capitalise(wording.format(**words)) for wording in wordings)
            if (original, frozenset(shown)) in seen:
                continue
            seen.add((original, frozenset(shown)))
            made.append(
                Question(
                    f"{stem}-{len(seen):02d}",
                    original,
                    tuple(shown),
                    shown.index(right),
                    tuple(paraphrases),
                    subset=GENERAL,
                    source=stem,
                )
            )
    split = _splits([question.item for question in made])
    return [replace(question, split=split[question.item]) for question in made]


def _splits(items: Sequence[str]) -> dict[str, str]:
    """Split items at random by their own names."""
    drawn = sorted(items, key=lambda item: place(SEED, "split", item))
    train, validation = (round(share * len(items)) for share in SHARES)
    return {item: SPLITS[(number >= train) + (number >= train + validation)] for number, item in enumerate(drawn)}
