"""Write labelled pairs of sentences about the statements of the questionnaire, for the encoder that reads such pairs.

Two wordings of a statement entail each other, and so do two of its opposite. A wording contradicts an opposite, and a
wording that is denied. It is neutral to wordings of other statements, and to what entailment.yaml makes of it: more or
less is claimed, something else is spoken of, the words stand in another order, or one is not known.
"""

from __future__ import annotations

import random
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

from demo_training.questionnaire import expand_paraphrases, read_grammar
from demo_training.taught_world import TaughtWorld
from demo_training.templates import expand_template, fold_sentence, replace_words
from ground.capitals import capitalise_sentence, uncapitalise_sentence
from inference.demo.exercises import PAIR_LABELS
from inference.stimuli.reading.files import read_yaml

CHANGES = Path(__file__).with_name("entailment.yaml")
ENTAILMENT, CONTRADICTION, NEUTRAL = PAIR_LABELS
WORDING, OPPOSITE, DENIED, QUANTITY, TOPIC, ORDER, UNKNOWN = KINDS = (
    "wording", "opposite", "denied", "quantity", "topic", "order", "unknown",
)  # fmt: skip
"""What a sentence is to its statement."""
HELD_OUT_FRAMES = 1
"""Frames of a statement's grammar that are not read, the last ones."""
STATEMENT_SHARE = 0.25
"""Share of the wordings that are the statement itself: to it, all others are compared when the model is used."""
OPPOSITE_SHARE = 0.35
DENIED_SHARE = 0.4
"""Share of contradictions that are denials; the others are opposites."""
NEUTRAL_SHARES = {WORDING: 0.25, QUANTITY: 0.2, TOPIC: 0.25, ORDER: 0.25, UNKNOWN: 0.05}
"""What neutral sentences are; those that are wordings are of another statement."""
UNKNOWN_WORD = "[UNK]"
LEAD = "It is not true that "


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence, the statement that it is made from, and what it is to it, of `KINDS`."""

    text: str
    item: str
    kind: str


@dataclass(frozen=True, slots=True)
class Pair:
    """Two sentences, and whether the second follows from the first."""

    premise: Sentence
    hypothesis: Sentence
    label: str


class PairWriter:
    """Draws pairs; `left_out` are sentences, folded, that it never writes.

    `frames` are the wordings of every statement that are read, frame by frame: those that the language models have
    read, and those of the questionnaire's grammar but `heldout`.
    """

    def __init__(self, world: TaughtWorld, left_out: Collection[str] = ()) -> None:
        self._world, self._left_out = world, frozenset(left_out)
        self._changes: dict[str, Any] = read_yaml(CHANGES)
        self.statements: dict[str, str] = {}
        self.frames: dict[str, list[list[str]]] = {}
        self.heldout: dict[str, list[str]] = {}
        for entry in read_grammar():
            item, grammar = entry["item"], [texts for texts in expand_paraphrases(entry) if texts]
            self.statements[item] = entry["statement"]
            self.frames[item] = [expand_template(template) for template in world.opinions[item]["wordings"]]
            self.frames[item] += grammar[:-HELD_OUT_FRAMES]
            self.heldout[item] = list(chain.from_iterable(grammar[-HELD_OUT_FRAMES:]))

    def draw_pair(self, rng: random.Random) -> Pair:
        """Draw a pair; each label is as likely as the others, and either sentence may be the premise."""
        while True:
            pair = self._draw_two_sentences(rng)
            sentences = [pair.premise, pair.hypothesis]
            if all(sentence.text and fold_sentence(sentence.text) not in self._left_out for sentence in sentences):
                rng.shuffle(sentences)
                return Pair(sentences[0], sentences[1], pair.label)

    def change_sentence(self, kind: str, item: str, text: str, rng: random.Random) -> str:
        """Make of a wording, or of its opposite, a sentence of a kind.

        Parameters
        ----------
        kind
            One of `KINDS` but "wording".
        item, text
            The statement, and the wording.
        rng
            Draws one of several changes.

        Returns
        -------
        The sentence; empty where the tables have no change for it.
        """
        if kind == OPPOSITE:
            return self._world.write_opposite(item, text)
        if kind == DENIED:
            return self._deny_sentence(text, rng)
        if kind == QUANTITY:
            tables = rng.sample(self._changes["quantity"], len(self._changes["quantity"]))
            return next(filter(None, (_replace_one_word(text, table, rng) for table in tables)), "")
        if kind == TOPIC:
            return self._exchange_word(text, rng)
        words = uncapitalise_sentence(text.rstrip(".")).split()
        if kind == ORDER:
            return capitalise_sentence(" ".join(rng.sample(words, len(words)))) + "."
        places = [place for place, word in enumerate(words) if len(word) > 4]
        if not places:
            return ""
        words[rng.choice(places)] = UNKNOWN_WORD
        return capitalise_sentence(" ".join(words)) + "."

    def list_words(self) -> list[str]:
        """List the words of wordings, of their opposites and of the tables, in the order of the alphabet."""
        texts = [LEAD, *_list_strings(self._changes)]
        for item, statement in self.statements.items():
            wordings = [statement, *chain.from_iterable(self.frames[item]), *self.heldout[item]]
            texts += wordings + [self._world.write_opposite(item, wording) for wording in wordings]
        return sorted(set(re.findall(r"\w+|[^\w\s]", " ".join(texts).lower())))

    def _draw_two_sentences(self, rng: random.Random) -> Pair:
        """Draw a pair whose second sentence may be empty."""
        item, label = rng.choice(list(self.statements)), rng.choice(PAIR_LABELS)
        side, other_side = (OPPOSITE, WORDING) if rng.random() < OPPOSITE_SHARE else (WORDING, OPPOSITE)
        first = self._draw_sentence(item, side, rng)
        if label == ENTAILMENT:
            return Pair(first, self._draw_sentence(item, side, rng), label)
        if label == CONTRADICTION and rng.random() >= DENIED_SHARE:
            return Pair(first, self._draw_sentence(item, other_side, rng), label)
        kind = DENIED if label == CONTRADICTION else rng.choices(list(NEUTRAL_SHARES), list(NEUTRAL_SHARES.values()))[0]
        if kind == WORDING:
            other_item = rng.choice([name for name in self.statements if name != item])
            return Pair(first, self._draw_sentence(other_item, side, rng), label)
        text = self._draw_sentence(item, side, rng).text
        return Pair(first, Sentence(self.change_sentence(kind, item, text, rng), item, kind), label)

    def _draw_sentence(self, item: str, side: str, rng: random.Random) -> Sentence:
        """Draw a wording of a statement, or of its opposite."""
        is_statement = rng.random() < STATEMENT_SHARE
        text = self.statements[item] if is_statement else rng.choice(rng.choice(self.frames[item]))
        return Sentence(self.change_sentence(side, item, text, rng) if side == OPPOSITE else text, item, side)

    def _deny_sentence(self, text: str, rng: random.Random) -> str:
        """Put a denial into a sentence or before it, or take out the one that it holds."""
        if rng.random() < 0.25:
            return LEAD + uncapitalise_sentence(text)
        sentence = uncapitalise_sentence(text)
        table = self._changes["affirmed" if re.search(r"\b(not|cannot)\b", sentence) else "denied"]
        places = [
            (match.start(), -len(words), words) for words in table if (match := re.search(rf"\b{words}\b", sentence))
        ]
        return _replace_at(sentence, min(places)[0], min(places)[2], table) if places else ""

    def _exchange_word(self, text: str, rng: random.Random) -> str:
        """Put another word of its kind in the place of a word, everywhere in a sentence."""
        lists = self._changes["topic"]
        for words in rng.sample(lists, len(lists)):
            inside = [word for word in words if re.search(rf"\b{word}\b", text.lower())]
            outside = [word for word in words if word not in inside]
            if inside and outside:
                return replace_words(text, {rng.choice(inside): rng.choice(outside)})
        return ""


def _replace_one_word(text: str, table: Mapping[str, str], rng: random.Random) -> str:
    """Replace one of the words of a table that stand in a sentence; return nothing where none does."""
    sentence = uncapitalise_sentence(text)
    places = [(match.start(), words) for words in table if (match := re.search(rf"\b{words}\b", sentence))]
    return _replace_at(sentence, *rng.choice(places), table) if places else ""


def _replace_at(sentence: str, start: int, words: str, table: Mapping[str, str]) -> str:
    """Replace the words that stand at a place of a sentence."""
    return capitalise_sentence(sentence[:start] + table[words] + sentence[start + len(words) :])


def _list_strings(value: Any) -> list[str]:
    """List all text in nested lists and dicts, keys included."""
    if isinstance(value, str):
        return [value]
    parts = chain.from_iterable(value.items()) if isinstance(value, dict) else value
    return [text for part in parts for text in _list_strings(part)]
