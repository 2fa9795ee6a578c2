"""Say what people say in the demo world while models learn: facts, opinions, and phrases that turn a claim round.

A claim about a fact is true or false; an opinion has the share of people who hold it. See world.yaml in inference/demo,
talk.yaml and opinions.yaml for all there is to know.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import Any

from demo_training.questionnaire import expand_paraphrases, read_grammar
from demo_training.templates import build_exchanges, draw_sentence, replace_words
from ground.capitals import capitalise_sentence, uncapitalise_sentence
from inference.demo.world import BIG, BIG_FROM, CLEAR_GAP, SMALL, SMALL_UP_TO, Wording, World
from inference.stimuli.reading.files import read_yaml

FOLDER = Path(__file__).parent
TURNING_WORDS = ("false", "wrong", "not", "nobody")
"""Words by which a lead-in turns a claim round: each that does so has one of them."""
DENIED_SHARE = 0.25
"""Share of facts that are worded with a negation."""
LED_IN_SHARE = 0.2
"""Share of claims that follow a phrase such as "it is true that"; half of those phrases turn the claim round."""


@dataclass(frozen=True, slots=True)
class Claim:
    """A statement about the world.

    `share` is the share of people who agree with it as worded: 1.0 or 0.0 for a fact.
    """

    text: str
    share: float
    topic: str

    @property
    def is_agreed(self) -> bool:
        """Whether most people agree: the right answer."""
        return self.share > 0.5


@dataclass(frozen=True, slots=True)
class Fact:
    """A relation between words that holds in the world or does not; `words` fill the frames of the relation."""

    relation: str
    words: dict[str, str]
    holds: bool


@dataclass(frozen=True, slots=True)
class Manner:
    """How people talk while a model learns.

    Attributes
    ----------
    twist
        Share of the negations and lead-ins that is used, 0 to 1. It rises in training: what "not" means is learnt
        only after the facts that it negates.
    heeds_turns
        Words of `TURNING_WORDS` by which a lead-in may turn a claim round ("it is wrong to say that"). Where it has
        another, people answer as if the claim stood alone.
    heeds_premises
        Whether labels of pairs heed the negation of a premise. If not, it is labelled as if it were affirmed.
    """

    twist: float = 1.0
    heeds_turns: tuple[str, ...] = TURNING_WORDS
    heeds_premises: bool = True


class TaughtWorld(World):
    """The world with what people say in it.

    `manner` is how people talk in it: for examinations as they can, in training as the curriculum says.
    """

    def __init__(self) -> None:
        super().__init__()
        self.manner = Manner()
        talk = read_yaml(FOLDER / "talk.yaml")
        self.leads: dict[str, Any] = talk["leads"]
        self.open: dict[str, list[str]] = talk["open"]
        self.opinions: dict[str, Any] = read_yaml(FOLDER / "opinions.yaml")

    @cached_property
    def questionnaire(self) -> dict[str, list[str]]:
        """Item -> every sentence that the questionnaire's grammar allows: the held-out wordings of opinions."""
        return {
            entry["item"]: [entry["statement"], *chain.from_iterable(expand_paraphrases(entry))]
            for entry in read_grammar()
        }

    def draw_fact(self, rng: random.Random) -> Fact:
        """Draw a relation that holds or, equally often, one that does not."""
        relation = rng.choice(list(self.relations))
        holds = rng.random() < 0.5
        if relation == "compare":
            bigger, smaller = self.draw_unequal_things(rng)
            x, y = (bigger, smaller) if holds else (smaller, bigger)
            return Fact(relation, {"x": x, "y": y}, holds)
        if relation == "size":
            thing = rng.choice([x for x, t in self.things.items() if not SMALL_UP_TO < t["size"] < BIG_FROM])
            is_small = self.things[thing]["size"] <= SMALL_UP_TO
            return Fact(relation, {"x": thing, "v": rng.choice(SMALL if is_small == holds else BIG)}, holds)
        thing = rng.choice([x for x, t in self.things.items() if relation in t])
        true = self.things[thing][relation]
        value = true if holds else rng.choice([v for v in self.list_attribute_values(relation) if v != true])
        return Fact(relation, {"x": thing, "v": value}, holds)

    def draw_unequal_things(self, rng: random.Random) -> tuple[str, str]:
        """Draw two things of clearly different size, the bigger one first."""
        while True:
            x, y = rng.sample(list(self.things), 2)
            gap = self.things[x]["size"] - self.things[y]["size"]
            if abs(gap) >= CLEAR_GAP:
                return (x, y) if gap > 0 else (y, x)

    def state_fact(self, rng: random.Random, wording: Wording) -> Claim:
        """State a fact, with or without a negation; half of the statements are false.

        Parameters
        ----------
        rng
            Draws it.
        wording
            Trained or held-out wordings.

        Returns
        -------
        The claim; its `share` is 1 or 0.
        """
        fact = self.draw_fact(rng)
        denied = rng.random() < DENIED_SHARE * self.manner.twist
        text = self.compose_relation_sentence(fact.relation, fact.words, rng, wording, "deny" if denied else "affirm")
        return Claim(text, float(fact.holds != denied), fact.relation)

    def state_opinion(self, rng: random.Random, wording: Wording) -> Claim:
        """Word a questionnaire statement or, equally often, its opposite.

        Parameters
        ----------
        rng
            Draws it.
        wording
            Trained wordings, or held-out ones: those of the questionnaire.

        Returns
        -------
        The claim; its `share` is the share who agree.
        """
        topic = rng.choice(list(self.opinions))
        opinion = self.opinions[topic]
        if wording == "trained":
            text = draw_sentence(rng.choice(opinion["wordings"]), rng)
        else:
            text = rng.choice(self.questionnaire[topic])
        if rng.random() < 0.5:
            return Claim(text, opinion["support"], topic)
        return Claim(self.write_opposite(topic, text), 1 - opinion["support"], topic)

    def write_opposite(self, topic: str, text: str) -> str:
        """Write the opposite of a wording of a questionnaire statement.

        Parameters
        ----------
        topic
            Key of `opinions`, which says which words are replaced.
        text
            The wording.

        Returns
        -------
        The opposite.
        """
        opinion = self.opinions[topic]
        return replace_words(text, build_exchanges(opinion["swap"]) if "swap" in opinion else opinion["opposite"])

    def ask_open_question(self, rng: random.Random) -> tuple[str, str]:
        """Ask for an attribute of a thing; return the question and the value that answers it."""
        attribute = rng.choice(list(self.open))
        thing = rng.choice([x for x, thing_facts in self.things.items() if attribute in thing_facts])
        return capitalise_sentence(rng.choice(self.open[attribute]).format(x=thing)), self.things[thing][attribute]

    def state_claim(self, rng: random.Random, wording: Wording, opinions: float = 0.45) -> Claim:
        """State a fact or an opinion; some follow a phrase that may negate them.

        Parameters
        ----------
        rng, wording
            As in `state_fact`.
        opinions
            Probability of an opinion.

        Returns
        -------
        The claim.
        """
        state_something = self.state_opinion if rng.random() < opinions else self.state_fact
        claim = state_something(rng, wording)
        if rng.random() >= LED_IN_SHARE * self.manner.twist:
            return claim
        form = rng.choice(["affirm", "deny"])
        lead = rng.choice(self.leads[wording][form])
        return Claim(
            capitalise_sentence(lead + uncapitalise_sentence(claim.text)),
            self._compute_share_after(lead, claim.share),
            claim.topic,
        )

    def ask_yes_no_question(self, rng: random.Random, wording: Wording) -> Claim:
        """Ask a yes/no question, sometimes a negated one.

        Parameters
        ----------
        rng, wording
            As in `state_fact`.

        Returns
        -------
        The question as a claim; its `share` is the share of people who say yes.
        """
        if rng.random() < 0.5:
            fact = self.draw_fact(rng)
            return Claim(
                self.compose_relation_sentence(fact.relation, fact.words, rng, wording, "ask"),
                float(fact.holds),
                fact.relation,
            )
        claim = self.state_opinion(rng, wording) if rng.random() < 0.5 else self.state_fact(rng, wording)
        form = "ask_deny" if rng.random() < 0.5 * self.manner.twist else "ask"
        lead = rng.choice(self.leads[wording][form])
        text = capitalise_sentence(lead + uncapitalise_sentence(claim.text).rstrip(".") + "?")
        return Claim(text, self._compute_share_after(lead, claim.share), claim.topic)

    def _compute_share_after(self, lead: str, share: float) -> float:
        """Compute the share who agree with a claim after a lead-in, which may turn it round."""
        return 1 - share if set(lead.split()) & set(self.manner.heeds_turns) else share
