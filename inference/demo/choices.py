"""Make multiple-choice questions of the demo world, each in three wordings, two of which the models were trained on."""

from __future__ import annotations

import random

from inference.demo import SEED
from inference.demo.exercises import CHOICES
from inference.demo.wordings import capitalise
from inference.demo.world import World
from inference.stimuli.questions import GENERAL, Question
from inference.stimuli.splits import split

STEMS = ("colour_of", "place_of", "which_colour", "which_kind", "biggest")
"""Stems with two trained wordings and a held-out one, as world.yaml has them."""
EACH = 60
"""Questions per stem."""
COUNTS = (4, 5)
"""Numbers of choices, in turns."""


def choices(world: World, each: int = EACH) -> list[Question]:
    """Make different questions of every stem; two differ in what is asked for or in what may be chosen.

    The original and the first paraphrase are trained wordings, the second paraphrase is a held-out one. Words and
    choices are drawn for each question by its own name. Each stem is split by itself.

    Parameters
    ----------
    world
        The world that the questions are about.
    each
        Questions per stem.

    Returns
    -------
    The questions, stem after stem, each with its split.
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
    return [question for stem in STEMS for question in split([one for one in made if one.source == stem], SEED)]
