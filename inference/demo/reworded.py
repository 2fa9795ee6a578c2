"""Make multiple-choice questions of which the demo models know one wording and have not read the other two.

They are a positive control of `waver tune choice`: a model that was trained on the original wording is right there, and
its right answers depend on the wording. A tuning on paraphrases that works must make that difference smaller.
"""

from __future__ import annotations

import random
from collections.abc import Iterator

from ground.capitals import capitalise_sentence
from inference.demo import SEED
from inference.demo.choices import NUMBERS_OF_CHOICES
from inference.demo.exercises import CHOICES
from inference.demo.world import World
from inference.stimuli.questions import GENERAL, SPLITS, Question

SIZES = dict(zip(SPLITS, (120, 24, 40), strict=True))
"""Questions per stem and split."""
SHARES = dict(zip(SPLITS, (0.5, 0.1, 0.4), strict=True))
"""Share of the facts of a stem, for each split: that a certain thing is red is asked about in one split only."""
DRAWS = 400
"""Draws by which all facts of a stem are found: each of 20 is missed with a probability of 1e-9."""

Fact = tuple[tuple[tuple[str, str], ...], str]
"""The words that fill a stem, and the right choice."""


def make_reworded_questions(world: World, division_number: int = 0) -> list[Question]:
    """Make the questions of all stems and splits: each in its trained wording and in the two kinds of `untaught`.

    Two questions differ in what is asked for, in the right choice, or in what may be chosen besides. Each fact of a
    split has equally many, as far as that is possible.

    Parameters
    ----------
    world
        The world that the questions are about.
    division_number
        Number of a division of the facts into splits: 0 is the one of `--items demo-reworded`; every other one puts
        other facts into the test.

    Returns
    -------
    The questions, stem after stem and split after split.
    """
    return [
        question
        for stem in world.untaught["turned"]
        for split, facts in _draw_facts_by_split(world, stem, division_number).items()
        for question in _make_questions_of_split(world, stem, split, facts)
    ]


def _draw_facts_by_split(world: World, stem: str, division_number: int) -> dict[str, list[Fact]]:
    """Draw the facts of each split."""
    rng = random.Random(f"{SEED} reworded {stem}{f' {division_number}' if division_number else ''}")
    draws = (CHOICES[stem](world, rng)[:2] for _ in range(DRAWS))
    facts = sorted({(tuple(sorted(words.items())), right) for words, right in draws})
    rng.shuffle(facts)
    train, validation = (round(SHARES[split] * len(facts)) for split in SPLITS[:2])
    parts = facts[:train], facts[train : train + validation], facts[train + validation :]
    return dict(zip(SPLITS, parts, strict=True))


def _make_questions_of_split(world: World, stem: str, split: str, facts: list[Fact]) -> Iterator[Question]:
    """Make the questions of one stem and split, each in three wordings."""
    wordings = [world.choices["trained"][stem][0], *(kind[stem] for kind in world.untaught.values())]
    rng = random.Random(f"{SEED} reworded {stem} {split}")
    made_keys: set[tuple[Fact, frozenset[str]]] = set()
    while len(made_keys) < SIZES[split]:
        # The facts take turns. Of 20 facts, questions 0 to 19 have 4 choices, and questions 20 to 39 have 5.
        fact = facts[len(made_keys) % len(facts)]
        words, right = dict(fact[0]), fact[1]
        wrong = _find_wrong_choices(world, stem, fact)
        shown_choices = [
            right,
            *rng.sample(wrong, NUMBERS_OF_CHOICES[len(made_keys) // len(facts) % len(NUMBERS_OF_CHOICES)] - 1),
        ]
        rng.shuffle(shown_choices)
        if (fact, frozenset(shown_choices)) in made_keys:
            continue
        made_keys.add((fact, frozenset(shown_choices)))
        original, *paraphrases = (capitalise_sentence(wording.format(**words)) for wording in wordings)
        yield Question(
            f"{stem}-{split}-{len(made_keys):03d}",
            original,
            tuple(shown_choices),
            shown_choices.index(right),
            tuple(paraphrases),
            subset=GENERAL,
            source=stem,
            split=split,
        )


def _find_wrong_choices(world: World, stem: str, fact: Fact) -> list[str]:
    """Find what is wrong for a fact: a stem's function draws its fact, so it is called until it draws this one."""
    rng = random.Random(f"{SEED} wrong {stem} {fact}")
    while True:
        words, right, wrong = CHOICES[stem](world, rng)
        if (tuple(sorted(words.items())), right) == fact:
            return wrong
