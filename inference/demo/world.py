"""Define a small world in which questions have right answers: things, looks, and places.

Sentences about it come in trained and held-out wordings that share no frame. See world.yaml for all there is to know.
"""

from __future__ import annotations

import random
from typing import Any, Literal

from ground.capitals import capitalise_sentence
from inference.demo import DEMO
from inference.stimuli.reading.files import read_yaml

Wording = Literal["trained", "heldout"]

SMALL, BIG = ("small", "little", "tiny"), ("big", "large", "huge")
SMALL_UP_TO, BIG_FROM = 2, 6
"""Things in between are neither small nor big: nothing is said of them."""
CLEAR_GAP = 2
"""Things whose sizes are closer than this are not compared."""


class World:
    """Everything that is true in the world; methods that draw take the random generator to draw from."""

    def __init__(self) -> None:
        data = read_yaml(DEMO / "world.yaml")
        self.things: dict[str, dict[str, Any]] = data["things"]
        self.props: list[str] = data["props"]
        self.relations: dict[str, Any] = data["relations"]
        self.choices: dict[str, Any] = data["choices"]
        self.untaught: dict[str, dict[str, str]] = data["untaught"]
        self.ratings: dict[str, Any] = data["ratings"]

    def list_attribute_values(self, attribute: str) -> list[str]:
        """List all values of an attribute (`colour`, `place`, `kind`, `likes`), in the order of the things."""
        return list(dict.fromkeys(thing[attribute] for thing in self.things.values() if attribute in thing))

    def compose_relation_sentence(
        self, relation: str, words: dict[str, str], rng: random.Random, wording: Wording, form: str
    ) -> str:
        """Write one sentence of a relation.

        Parameters
        ----------
        relation, words
            Key of `relations`, and the words that fill its frames.
        rng
            Draws the frame.
        wording
            Trained or held-out frames.
        form
            "affirm", "deny" or "ask".

        Returns
        -------
        The sentence.
        """
        return capitalise_sentence(rng.choice(self.relations[relation][wording][form]).format(**words))
