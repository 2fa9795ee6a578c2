"""Read sentences, negate each that can be negated, and say of each other one why it was left out."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence, Set
from dataclasses import asdict, dataclass, replace
from typing import Any

from ground.errors import InputError
from inference.protocols.negation.negate import detect, english, japanese
from inference.protocols.negation.negate.negation import Negation
from inference.protocols.negation.negate.rules import table
from inference.protocols.negation.negate.words import analysed
from inference.stimuli.files import checked, located, text_of
from inference.stimuli.records import READERS, UNREAD, Records, kind

JAPANESE = re.compile(r"[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uff66-\uff9f々〆]")
EMPTY = "empty line"
NEGATED = "holds a negation already"
FOREIGN = "no Japanese characters"
NO_TARGET = "no verb, adjective or adjectival verb"
NO_PLACE = "no place for a negation"
NO_FINITE = "no finite verb"
FILTERED = "the filter keeps none of its negations"
LONGEST = 2_000
"""Characters of a sentence: of a longer text, the negations would be as many times as long."""
LONG = f"more than {LONGEST:,} characters, so no single sentence"
Negated = Sequence[Negation] | str
"""The negations of a sentence, or the reason why there are none."""


@dataclass(frozen=True, slots=True)
class Made:
    """A sentence with its place in the file ("line 3"), and its negations."""

    place: str
    source: str
    negations: tuple[Negation, ...]

    def only(self, accepted: Set[tuple[str, str]]) -> Made:
        """Keep the negations that are among these pairs of sentence and negation, perhaps none."""
        return replace(self, negations=tuple(one for one in self.negations if (self.source, one.text) in accepted))


@dataclass(frozen=True, slots=True)
class Skipped:
    """A sentence without negations: its place in the file ("line 3") and the reason."""

    place: str
    source: str
    reason: str


def read(source: str) -> list[tuple[str, str]]:
    """Read sentences as (place, sentence): the column `text` of a table, else one sentence a line; white space is cut.

    Raises
    ------
    InputError
        The file cannot be read, has no column `text`, a NUL character, or nothing in it.
    """
    path = located(source)
    if kind(path) in READERS.keys() | UNREAD:
        return [(place, (record["text"] or "").strip()) for place, record in Records(path, ["text"])]
    lines = re.sub("\r\n?", "\n", text_of(path)).removesuffix("\n").split("\n")
    if not any(map(str.strip, lines)):
        raise InputError(f"{path}: there are no sentences in it; give one a line")
    return [(f"line {n}", checked(f"{path}, line {n}", line.strip())) for n, line in enumerate(lines, start=1)]


def negated(sentences: Sequence[str], language: str, pipeline: str | None = None) -> Iterator[Negated]:
    """Negate every sentence, in order.

    Parameters
    ----------
    language
        "ja", by MeCab with UniDic and the rule table; or "en", by a spaCy pipeline.
    pipeline
        Package or folder of that pipeline.

    Yields
    ------
    tuple of Negation, or str
        The negations; or the reason why there are none.
    """
    if language == "ja":
        return map(_japanese, sentences)
    return _english(sentences, english.pipeline(pipeline or ""))


def _no_sentence(text: str) -> str | None:
    """Say why a text is no sentence in any language."""
    return EMPTY if not text else LONG if len(text) > LONGEST else None


def _japanese(sentence: str) -> Negated:
    if trouble := _no_sentence(sentence):
        return trouble
    if not JAPANESE.search(sentence):
        return FOREIGN
    words = analysed(sentence)
    if detect.japanese(sentence, words):
        return NEGATED
    if not any(map(table().target, words)):
        return NO_TARGET
    return tuple(japanese.negations(sentence, words)) or NO_PLACE


def _english(sentences: Sequence[str], pipeline: Any) -> Iterator[Negated]:
    docs = pipeline.pipe("" if _no_sentence(sentence) else sentence for sentence in sentences)
    for sentence, doc in zip(sentences, docs, strict=True):
        if trouble := _no_sentence(sentence):
            yield trouble
        elif detect.english(sentence):
            yield NEGATED
        else:
            yield tuple(english.negations(doc)) or NO_FINITE


def sorted_out(places: Iterable[tuple[str, str]], results: Iterable[Negated]) -> tuple[list[Made], list[Skipped]]:
    """Part the sentences that have negations from those that were left out."""
    made: list[Made] = []
    skipped: list[Skipped] = []
    for (place, source), found in zip(places, results, strict=True):
        if isinstance(found, str):
            skipped.append(Skipped(place, source, found))
        else:
            made.append(Made(place, source, tuple(found)))
    return made, skipped


def rows(made: Iterable[Made]) -> Iterator[dict[str, str]]:
    """Make the rows of the output: source, text, position, target_pos, insertion."""
    return ({"source": each.source, **asdict(negation)} for each in made for negation in each.negations)
