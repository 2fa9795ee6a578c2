"""State facts of the demo world as clauses, true and false ones, for yes/no questions about them."""

from __future__ import annotations

import random
from dataclasses import dataclass

from ground.capitals import uncapitalise_sentence
from inference.demo import SEED
from inference.demo.world import BIG, BIG_FROM, CLEAR_GAP, SMALL, SMALL_UP_TO, World

ATTRIBUTES = ("colour", "place", "kind", "likes")


@dataclass(frozen=True, slots=True)
class StatedFact:
    """A clause in a held-out wording, without its full stop, and whether it is true."""

    item: str
    text: str
    holds: bool


def list_true_and_false_statements(world: World) -> list[StatedFact]:
    """State every known thing and relation twice, as one true and one false clause.

    The false value, the synonym of a size and the wording are drawn for each clause by its own name.
    """
    stated_facts = []
    for thing, about in world.things.items():
        for attribute in ATTRIBUTES:
            if attribute in about:
                true = about[attribute]
                false = [value for value in world.list_attribute_values(attribute) if value != true]
                stated_facts += _state_true_and_false_clause(world, attribute, thing, {"x": thing}, "v", [true], false)
        if not SMALL_UP_TO < about["size"] < BIG_FROM:
            right, wrong = (SMALL, BIG) if about["size"] <= SMALL_UP_TO else (BIG, SMALL)
            stated_facts += _state_true_and_false_clause(
                world, "size", thing, {"x": thing}, "v", list(right), list(wrong)
            )
        smaller, bigger = _find_smaller_and_bigger_things(world, about["size"])
        if smaller and bigger:
            stated_facts += _state_true_and_false_clause(world, "compare", thing, {"x": thing}, "y", smaller, bigger)
    return stated_facts


def _state_true_and_false_clause(
    world: World, relation: str, thing: str, words: dict[str, str], blank: str, right: list[str], wrong: list[str]
) -> list[StatedFact]:
    """State a relation of a thing with the blank filled rightly, and with it filled wrongly."""
    stated_facts = []
    for holds, values in ((True, right), (False, wrong)):
        item = f"{thing}-{relation}-{'so' if holds else 'otherwise'}"
        rng = random.Random(f"{SEED} facts {item}")
        sentence = world.compose_relation_sentence(
            relation, {**words, blank: rng.choice(values)}, rng, "heldout", "affirm"
        )
        stated_facts.append(StatedFact(item, uncapitalise_sentence(sentence).removesuffix("."), holds))
    return stated_facts


def _find_smaller_and_bigger_things(world: World, size: int) -> tuple[list[str], list[str]]:
    """Find the things that are clearly smaller, and those clearly bigger, than this size."""
    sizes = {thing: about["size"] for thing, about in world.things.items()}
    smaller = [thing for thing, thing_size in sizes.items() if size - thing_size >= CLEAR_GAP]
    bigger = [thing for thing, thing_size in sizes.items() if thing_size - size >= CLEAR_GAP]
    return smaller, bigger
