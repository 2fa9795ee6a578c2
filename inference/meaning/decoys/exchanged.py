"""Exchange a part of a sentence: the sides of a comparison, a number, a quantity, a name, or who does what to whom."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from inference.meaning.decoys import exchanged_english, exchanged_japanese
from inference.meaning.decoys.sentences import (
    ENGLISH,
    JAPANESE_NAME,
    Candidate,
    Sentence,
    explain_language_without_rules,
)
from inference.meaning.decoys.spelling import copy_initial_capital, replace_span_and_fix_article
from inference.stimuli.random_order import compute_sort_key_for_random_order
from inference.stimuli.reading.files import read_yaml

QUANTITIES = Path(__file__).parent / "quantities.yaml"
NOTHING = "no comparison, number, quantity or name is in them"
_DIGITS = re.compile(r"\d+(?:[,，]\d{3})*(?:\.\d+)?")


class Exchange:
    """Exchanges parts of the sentences of a study; names are taken from its other items.

    Parameters
    ----------
    sentences
        The originals of the study.
    seed
        Of what is drawn.
    """

    def __init__(self, sentences: Iterable[Sentence], seed: int) -> None:
        self._seed = seed
        sentences = list(sentences)
        self._nouns = {
            (tag, sentence.text[start:end].lower()): sentence.item.item
            for sentence in sentences
            for start, end, tag in exchanged_english.find_noun_spans_with_tags(sentence)
        }
        self._names = {
            (sentence.language, name): sentence.item.item
            for sentence in sentences
            for _, _, name in _list_sentence_names_with_spans(sentence)
        }

    def list_exchanged_sentences_or_reason(self, sentence: Sentence) -> list[Candidate] | str:
        """Exchange parts of a sentence: first the sides of a comparison, then numbers, quantities, names and nouns.

        Parameters
        ----------
        sentence
            The sentence.

        Returns
        -------
        Sentences with one exchange each; or why there is none.
        """
        if sentence.language not in (ENGLISH, JAPANESE_NAME):
            return explain_language_without_rules(sentence.language)
        rules = exchanged_english if sentence.language == ENGLISH else exchanged_japanese
        ways: Sequence[Callable[[Sentence], Iterator[Candidate]]] = (
            rules.swap_sides_of_comparison,
            self._exchange_numbers,
            self._exchange_quantities,
            self._swap_names_or_take_one_of_other_item,
            rules.swap_nouns,
            self._exchange_noun_with_other_item,
        )
        return [candidate for exchange in ways for candidate in exchange(sentence)] or NOTHING

    def _order_choices_by_seed(self, sentence: Sentence, what: str, choices: Iterable[str]) -> list[str]:
        """Put choices into an order that depends on the seed, the item and what they stand for."""
        name = sentence.item.item
        return sorted(
            choices, key=lambda choice: compute_sort_key_for_random_order(self._seed, "exchanged", name, what, choice)
        )

    def _exchange_numbers(self, sentence: Sentence) -> Iterator[Candidate]:
        """Exchange a number in digits or words for another."""
        text = sentence.text
        for match in _DIGITS.finditer(text):
            is_share = text[match.end() :].lstrip().startswith(("%", "％", "percent", "per cent", "パーセント"))
            number = self._order_choices_by_seed(
                sentence, match[0], _list_distant_numbers(match[0], 100 if is_share else None)
            )[0]
            yield Candidate(_replace_span_keeping_capital(text, match.span(), number), f"{match[0]} -> {number}")
        words = _read_quantity_and_number_word_table()["numbers"][sentence.language]
        for start, end in _iterate_number_word_spans(sentence, words):
            number = self._order_choices_by_seed(
                sentence, text[start:end], [word for word in words if word != text[start:end].lower()]
            )[0]
            yield Candidate(_replace_span_keeping_capital(text, (start, end), number), f"{text[start:end]} -> {number}")

    def _exchange_quantities(self, sentence: Sentence) -> Iterator[Candidate]:
        """Exchange a word that names a quantity for another: all -> some."""
        border = r"\b" if sentence.language == ENGLISH else ""
        for pattern, quantity in _read_quantity_and_number_word_table()[sentence.language]:
            for match in re.finditer(rf"{border}(?:{pattern}){border}(?!-)", sentence.text, re.IGNORECASE):
                yield Candidate(
                    _replace_span_keeping_capital(sentence.text, match.span(), quantity), f"{match[0]} -> {quantity}"
                )

    def _swap_names_or_take_one_of_other_item(self, sentence: Sentence) -> Iterator[Candidate]:
        """Exchange two names of a sentence, or one for a name of another item."""
        text, places = sentence.text, _list_sentence_names_with_spans(sentence)
        for number, (start, end, name) in enumerate(places):
            for other_start, other_end, other in places[number + 1 :]:
                if other != name:
                    changed = text[:start] + other + text[end:other_start] + name + text[other_end:]
                    yield Candidate(changed, f"{name} <-> {other}")
        own_names = {name for _, _, name in places}
        others = [name for language, name in self._names if language == sentence.language and name not in own_names]
        for start, end, name in places:
            for other in self._order_choices_by_seed(sentence, name, others)[:1]:
                source = f"{name} -> {other} of item {self._names[sentence.language, other]}"
                yield Candidate(_replace_span_keeping_capital(text, (start, end), other), source)

    def _exchange_noun_with_other_item(self, sentence: Sentence) -> Iterator[Candidate]:
        """Exchange a noun for one of another item with the same tag; a synonym would be in a wording of this item."""
        places = exchanged_english.find_noun_spans_with_tags(sentence)
        written_words = {
            word for variant in sentence.item.variants for word in re.findall(r"\w+", variant.text.lower())
        }
        for number in self._order_choices_by_seed(sentence, "place", map(str, range(len(places)))):
            start, end, tag = places[int(number)]
            others = [noun for other_tag, noun in self._nouns if other_tag == tag and noun not in written_words]
            for noun in self._order_choices_by_seed(sentence, sentence.text[start:end], others)[:1]:
                source = f"{sentence.text[start:end]} -> {noun} of item {self._nouns[tag, noun]}"
                yield Candidate(_replace_span_keeping_capital(sentence.text, (start, end), noun), source)


def _replace_span_keeping_capital(text: str, span: tuple[int, int], new_part: str) -> str:
    """Replace a part of a text; the new one begins with a capital where the old one does."""
    return replace_span_and_fix_article(text, span, copy_initial_capital(text[span[0]], new_part))


def _list_sentence_names_with_spans(sentence: Sentence) -> list[tuple[int, int, str]]:
    """List the names in a sentence with their places."""
    if sentence.language == ENGLISH:
        return exchanged_english.list_proper_names_with_spans(sentence)
    return exchanged_japanese.list_proper_names_with_spans(sentence) if sentence.language == JAPANESE_NAME else []


def _list_distant_numbers(written: str, most: int | None) -> list[str]:
    """List numbers far from a given one, written alike: 30 -> 15, 60, 90; 1,000 -> 500 ...; 1984 -> 1944, 1964 ..."""
    digits = written.replace(",", "").replace("，", "")
    if "." in digits:
        places = len(digits.partition(".")[2])
        values = [f"{float(digits) * factor:.{places}f}" for factor in (0.5, 2, 3)]
        bounded = [
            value for value in values if float(value) != float(digits) and (most is None or float(value) <= most)
        ]
        return bounded or [str(int(float(digits)) + 1)]
    number = int(digits)
    is_year = len(digits) == 4 and digits == written and 1500 <= number <= 2100
    numbers = [number - 40, number - 20, number + 20] if is_year else [number // 2, number * 2, number * 3]
    bounded_numbers = [other for other in numbers if other != number and (most is None or other <= most)]
    separator = "," if "," in written else ""
    return [f"{other:{separator}}" for other in bounded_numbers] or [str(number + 7)]


def _iterate_number_word_spans(sentence: Sentence, words: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Yield the places of number words; of Japanese, where the analysis says that a word is a number."""
    if sentence.language == JAPANESE_NAME:
        yield from (
            (word.start, word.end)
            for word in sentence.words
            if word.pos.startswith("名詞-数詞") and word.written in words
        )
        return
    pattern = rf"(?<![\w-])(?:{'|'.join(words)})(?![\w-])"
    yield from (match.span() for match in re.finditer(pattern, sentence.text, re.IGNORECASE))


@functools.cache
def _read_quantity_and_number_word_table() -> Any:
    """Read the table of quantities and number words."""
    return read_yaml(QUANTITIES)
