"""Read sentences, negate each that can be negated, and say of each other one why it was left out."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence, Set
from dataclasses import asdict, dataclass, replace
from typing import Any

from ground.errors import InputError
from inference.negating import detect, english, japanese
from inference.negating.negation import InsertedNegation
from inference.negating.rules import read_rule_table
from inference.negating.words import JAPANESE, segment_japanese_sentence_into_words
from inference.stimuli.reading.files import expand_user_path, read_text_file, require_storable_value
from inference.stimuli.reading.records import READERS, UNREAD, Records, find_file_suffix

EMPTY = "empty line"
NEGATED = "holds a negation already"
FOREIGN = "no Japanese characters"
NO_TARGET = "no verb, adjective or adjectival verb"
NO_PLACE = "no place for a negation"
NO_FINITE = "no finite verb"
FILTERED = "the filter keeps none of its negations"
LONGEST = 2_000
"""Most characters of a sentence: a longer text would have very many negations, each as long as the text."""
LONG = f"more than {LONGEST:,} characters, so no single sentence"
NegationResult = Sequence[InsertedNegation] | str
"""The negations of a sentence, or the reason why there are none."""


@dataclass(frozen=True, slots=True)
class NegatedSentence:
    """A sentence with its place in the file ("line 3"), and its negations."""

    place: str
    source: str
    negations: tuple[InsertedNegation, ...]

    def keep_accepted_negations(self, accepted: Set[tuple[str, str]]) -> NegatedSentence:
        """Keep the negations that are among these pairs of sentence and negation, perhaps none."""
        return replace(
            self, negations=tuple(negation for negation in self.negations if (self.source, negation.text) in accepted)
        )


@dataclass(frozen=True, slots=True)
class SkippedSentence:
    """A sentence without negations: its place in the file ("line 3") and the reason."""

    place: str
    source: str
    reason: str


def read_sentences_to_negate(source: str) -> list[tuple[str, str]]:
    """Read sentences as (place, sentence): the column `text` of a table, else one sentence a line; white space is cut.

    Raises
    ------
    InputError
        The file cannot be read, has no column `text`, a NUL character, or nothing in it.
    """
    path = expand_user_path(source)
    if find_file_suffix(path) in READERS.keys() | UNREAD:
        return [(place, (record["text"] or "").strip()) for place, record in Records(path, ["text"])]
    lines = re.sub("\r\n?", "\n", read_text_file(path)).removesuffix("\n").split("\n")
    if not any(map(str.strip, lines)):
        raise InputError(f"{path}: there are no sentences in it; give one a line")
    return [
        (f"line {n}", require_storable_value(f"{path}, line {n}", line.strip()))
        for n, line in enumerate(lines, start=1)
    ]


def iterate_negations_or_reasons(
    sentences: Sequence[str], language: str, pipeline: str | None = None
) -> Iterator[NegationResult]:
    """Yield the negations of every sentence, in order.

    Parameters
    ----------
    sentences
        The sentences.
    language
        "ja", by MeCab with UniDic and the rule table; or "en", by a spaCy pipeline.
    pipeline
        Package or folder of that pipeline.

    Yields
    ------
    tuple of InsertedNegation, or str
        The negations; or the reason why there are none.

    Raises
    ------
    InputError
        The pipeline cannot be loaded.
    """
    if language == "ja":
        return map(_generate_japanese_negations_or_reason, sentences)
    return _iterate_english_negations_or_reasons(sentences, english.load_spacy_pipeline(pipeline or ""))


def _find_sentence_fault(text: str) -> str | None:
    """Say why a text is no sentence in any language."""
    return EMPTY if not text else LONG if len(text) > LONGEST else None


def _generate_japanese_negations_or_reason(sentence: str) -> NegationResult:
    """Return the negations of a Japanese sentence, or the reason why there are none."""
    if trouble := _find_sentence_fault(sentence):
        return trouble
    if not JAPANESE.search(sentence):
        return FOREIGN
    words = segment_japanese_sentence_into_words(sentence)
    if detect.has_japanese_negation(sentence, words):
        return NEGATED
    if not any(map(read_rule_table().classify_word_for_negation, words)):
        return NO_TARGET
    return tuple(japanese.generate_japanese_negations(sentence, words)) or NO_PLACE


def _iterate_english_negations_or_reasons(sentences: Sequence[str], pipeline: Any) -> Iterator[NegationResult]:
    """Yield of every English sentence its negations, or the reason why there are none."""
    docs = pipeline.pipe("" if _find_sentence_fault(sentence) else sentence for sentence in sentences)
    for sentence, doc in zip(sentences, docs, strict=True):
        if trouble := _find_sentence_fault(sentence):
            yield trouble
        elif detect.has_english_negation(sentence):
            yield NEGATED
        else:
            yield tuple(english.generate_english_negations(doc)) or NO_FINITE


def separate_skipped_sentences(
    placed_sentences: Iterable[tuple[str, str]], results: Iterable[NegationResult]
) -> tuple[list[NegatedSentence], list[SkippedSentence]]:
    """Separate the sentences that have negations from those that were left out.

    Parameters
    ----------
    placed_sentences
        Place and sentence, as `read_sentences_to_negate` reads them.
    results
        The negations of each sentence or the reason why there are none, in the same order
        (`iterate_negations_or_reasons`).

    Returns
    -------
    The sentences with their negations, and the others with their reasons.
    """
    negated_sentences: list[NegatedSentence] = []
    skipped: list[SkippedSentence] = []
    for (place, source), result in zip(placed_sentences, results, strict=True):
        if isinstance(result, str):
            skipped.append(SkippedSentence(place, source, result))
        else:
            negated_sentences.append(NegatedSentence(place, source, tuple(result)))
    return negated_sentences, skipped


def build_output_rows_of_negations(negated_sentences: Iterable[NegatedSentence]) -> Iterator[dict[str, str]]:
    """Make the rows of the output: source, text, position, target_pos, insertion."""
    return (
        {"source": sentence.source, **asdict(negation)}
        for sentence in negated_sentences
        for negation in sentence.negations
    )
