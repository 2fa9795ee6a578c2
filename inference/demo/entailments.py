"""Make pairs of sentences of the demo world, each with and without negations, for questions about entailment."""

from __future__ import annotations

import random

from ground.capitals import capitalise_sentence
from inference.demo import SEED
from inference.demo.exercises import PAIR_LABELS, derive_entailment_label_from_flags
from inference.demo.world import Wording, World
from inference.stimuli.nli import BOTH, HYPOTHESIS, PREMISE, Instance, Negation
from inference.stimuli.study import ORIGINAL

RELATIONS = {"colour": Negation("mid", "copula"), "place": Negation("mid", "verb")}
"""Relation -> where its held-out denials have the negation, as `waver negate` says it: is not grey, do not see."""
ORIGINALS_PER_LABEL = 15
"""Originals per relation and label."""
DENIALS_BY_PATTERN = {ORIGINAL: (False, False), PREMISE: (True, False), HYPOTHESIS: (False, True), BOTH: (True, True)}
"""Pattern -> whether its premise is denied, and its hypothesis."""


def make_entailment_pairs(
    world: World, n_per_label: int = ORIGINALS_PER_LABEL, wording: Wording = "heldout", name: str = "entailments"
) -> list[Instance]:
    """Make originals of every label, and from each the three pairs with one or both sentences denied.

    Words and wordings are drawn for each original by its own name. Every sentence is denied in one way.

    Parameters
    ----------
    world
        The world that the pairs are about.
    n_per_label
        Originals per relation and label.
    wording
        Wordings that the models were trained on, or held-out ones.
    name
        Name of the draw: another one draws other originals.

    Returns
    -------
    Four pairs of each original, one per pattern, next to each other.
    """
    instances = []
    for relation in RELATIONS:
        for label in PAIR_LABELS:
            made_texts: set[str] = set()
            number = 0
            while len(made_texts) < n_per_label:
                number += 1
                rng = random.Random(f"{SEED} {name} {relation} {label} {number}")
                group = _draw_original_and_denied_pairs(
                    world, wording, relation, label, f"{relation}-{label}-{len(made_texts) + 1:02d}", rng
                )
                # Two sentences that are the same, or were asked about before, are no new pair.
                if group[0].premise != group[0].hypothesis and group[0].text not in made_texts:
                    made_texts.add(group[0].text)
                    instances += group
    return instances


def _draw_original_and_denied_pairs(
    world: World, wording: Wording, relation: str, label: str, item: str, rng: random.Random
) -> list[Instance]:
    """Draw an original of a label, and deny its sentences in every combination."""
    x, other_thing = rng.sample(world.props, 2)
    value, other_value = rng.sample(world.list_attribute_values(relation), 2)
    same_thing = label != "neutral"
    same_value = label == "entailment" or (label == "neutral" and rng.random() < 0.5)
    premise = _compose_sentence_and_denial(world, wording, relation, {"x": x, "v": value}, rng)
    hypothesis = _compose_sentence_and_denial(
        world,
        wording,
        relation,
        {"x": x if same_thing else other_thing, "v": value if same_value else other_value},
        rng,
    )
    # Trained wordings are denied in several ways, which are not recorded.
    negation = RELATIONS[relation] if wording == "heldout" else Negation()
    return [
        Instance(
            item, pattern, premise[p], hypothesis[h], derive_entailment_label_from_flags(same_thing, same_value, p, h),
            negation if p else None, negation if h else None,
        )
        for pattern, (p, h) in DENIALS_BY_PATTERN.items()
    ]  # fmt: skip


def _compose_sentence_and_denial(
    world: World, wording: Wording, relation: str, words: dict[str, str], rng: random.Random
) -> tuple[str, str]:
    """Write a sentence and its denial in one frame: those that stand at the same place of world.yaml."""
    frames = world.relations[relation][wording]
    affirm, deny = rng.choice(list(zip(frames["affirm"], frames["deny"], strict=False)))
    return capitalise_sentence(affirm.format(**words)), capitalise_sentence(deny.format(**words))
