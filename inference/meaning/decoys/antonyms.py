"""Replace one word of a sentence by its antonym, by a list of our own or a user's."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ground.errors import InputError, format_nearest_name_hint
from inference.meaning.decoys.sentences import (
    ENGLISH,
    JAPANESE_NAME,
    Candidate,
    Sentence,
    explain_language_without_rules,
)
from inference.meaning.decoys.spelling import copy_initial_capital, replace_span_and_fix_article
from inference.negating.words import Word, segment_japanese_sentence_into_words
from inference.stimuli.random_order import compute_sort_key_for_random_order
from inference.stimuli.reading.files import read_yaml

FOLDER = Path(__file__).parent
VERBS, ONLY_TAGGED, VERB_FORMS = "verbs", "only with tags", "verb forms"
LAST_GROUP = "words"  # with -> without is seldom good English
# Group of the table -> how the tags of its words begin. Japanese: parts of speech of UniDic.
ENGLISH_TAGS = {
    "comparatives": ("JJ", "RB"),
    "adjectives": ("JJ", "VBN", "VBG"),
    "adverbs": ("RB",),
    VERBS: ("VB",),
    "nouns": ("NN",),
    LAST_GROUP: ("",),
}
JAPANESE_TAGS = {
    "adjectives": ("形容詞",),
    "adjectival nouns": ("形状詞", "名詞"),
    "adverbs": ("副詞", "名詞", "形状詞", "形容詞"),
    VERBS: ("動詞", "名詞-普通名詞-サ変可能"),
    "nouns": ("名詞",),
}
NO_WORD = "no word of the list of antonyms is in them"
_COPULAS = ("な", "に", "だ", "で", "です", "だっ", "でし", "なら", "さ")
_WORD = re.compile(r"[A-Za-z]+(?:['’][A-Za-z]+)?")
_MORE = re.compile(r"\b(?:more|most|less|least) $", re.IGNORECASE)
_BE_OR_HAVE = re.compile(
    r"\b(?:is|are|was|were|be|been|being|am|has|have|had|get|gets|got)(?:n't| not)?(?: \w+ly)? $", re.I
)


@dataclass(frozen=True, slots=True)
class Antonym:
    """What a word may be replaced by, the group that says so, and the place of the form among those of a verb."""

    word: str
    group: str
    form: int = 0


AntonymTable = Mapping[str, list[Antonym]]


def list_antonym_sentences_or_reason(
    sentence: Sentence, seed: int, own_table: str | None = None
) -> list[Candidate] | str:
    """Replace one word by its antonym: in English of the same form, in Japanese where both inflect alike.

    Parameters
    ----------
    sentence
        The sentence.
    seed
        Of the order in which words are tried.
    own_table
        A user's table, which takes the place of ours for the language.

    Returns
    -------
    Sentences with another word; or why there is none.
    """
    if sentence.language not in (ENGLISH, JAPANESE_NAME):
        return explain_language_without_rules(sentence.language)
    table, needs_tags = read_antonym_table_and_ambiguous_words(sentence.language, own_table)
    changes = (
        _iterate_english_candidates_with_group(sentence, table, needs_tags)
        if sentence.language == ENGLISH
        else _iterate_japanese_candidates_with_group(sentence, table)
    )
    ordered = sorted(
        changes,
        key=lambda change: (
            change[0] == LAST_GROUP,
            compute_sort_key_for_random_order(seed, "antonym", sentence.item.item, change[1].source),
        ),
    )
    return [candidate for _, candidate in ordered] or NO_WORD


@functools.cache
def read_antonym_table_and_ambiguous_words(
    language: str, own_table: str | None = None
) -> tuple[AntonymTable, frozenset[str]]:
    """Read a table of antonyms.

    Parameters
    ----------
    language
        "en" or "ja".
    own_table
        A user's file, or None for ours.

    Returns
    -------
    Word -> its antonyms, and the words that are replaced only where a tag confirms what they are.

    Raises
    ------
    InputError
        The file is not of the shape that `antonyms-en.yaml` shows.
    """
    path = Path(own_table) if own_table else FOLDER / f"antonyms-{language}.yaml"
    content = read_yaml(path)
    groups = ENGLISH_TAGS if language == ENGLISH else JAPANESE_TAGS
    if not isinstance(content, dict) or not content:
        raise InputError(f"{path}: expected groups of pairs, such as 'adjectives: [[hot, cold]]'")
    table: dict[str, list[Antonym]] = {}
    forms = _require_valid_verb_form_table(path, content.get(VERB_FORMS) or {})
    for group, pairs in content.items():
        if group in (ONLY_TAGGED, VERB_FORMS):
            continue
        if group not in groups:
            raise InputError(
                f"{path}: '{group}' is no group{format_nearest_name_hint(str(group), groups)}; use {', '.join(groups)}"
            )
        for number, pair in enumerate(pairs if isinstance(pairs, list) else [pairs], start=1):
            if not (isinstance(pair, list) and len(pair) == 2 and all(isinstance(w, str) and w.strip() for w in pair)):
                raise InputError(
                    f"{path}, {group}, pair {number}: expected two words in brackets, such as [hot, cold]; "
                    "true, false, yes and no in quotation marks"
                )
            inflect = group == VERBS and language == ENGLISH
            rows = zip(*(_list_verb_forms(word, forms) if inflect else (word,) for word in pair), strict=True)
            for place, (word, antonym) in enumerate(rows):
                table.setdefault(word.casefold(), []).append(Antonym(antonym, group, place))
                table.setdefault(antonym.casefold(), []).append(Antonym(word, group, place))
    needs_tags = content.get(ONLY_TAGGED) or []
    if not isinstance(needs_tags, list):
        raise InputError(f"{path}, {ONLY_TAGGED}: expected a list of words, such as [light, right]")
    return table, frozenset(map(str, needs_tags))


def _require_valid_verb_form_table(path: Path, content: Any) -> dict[str, list[str]]:
    """Check the table of verb forms: four words for each verb."""
    if not isinstance(content, dict):
        raise InputError(f"{path}, {VERB_FORMS}: expected verbs with their forms, such as 'buy: [buys, bought, ...]'")
    for verb, forms in content.items():
        if not (isinstance(forms, list) and len(forms) == 4 and all(isinstance(form, str) for form in forms)):
            raise InputError(f"{path}, {VERB_FORMS}, {verb}: expected four forms: [buys, bought, bought, buying]")
    return content


def _list_verb_forms(verb: str, forms: Mapping[str, list[str]]) -> tuple[str, ...]:
    """List base form, third person, past, participle and -ing of a verb; of several words, the first one inflects.

    Example: rule out, rules out, ruled out, ruled out, ruling out.
    """
    base, blank, rest = verb.partition(" ")
    if base in forms:
        inflected = (base, *forms[base])
    elif base.endswith("e"):
        inflected = (base, f"{base}s", f"{base}d", f"{base}d", f"{base[:-1]}ing")
    elif base.endswith("y") and base[-2:-1] not in "aeiou":
        inflected = (base, f"{base[:-1]}ies", f"{base[:-1]}ied", f"{base[:-1]}ied", f"{base}ing")
    else:
        third = f"{base}es" if base.endswith(("s", "sh", "ch", "x", "z", "o")) else f"{base}s"
        inflected = (base, third, f"{base}ed", f"{base}ed", f"{base}ing")
    return tuple(f"{form}{blank}{rest}" for form in inflected)


def _iterate_english_candidates_with_group(
    sentence: Sentence, table: AntonymTable, needs_tags: frozenset[str]
) -> Iterator[tuple[str, Candidate]]:
    """Replace English words, one at a time, those of several senses by their tag; yield the group, too."""
    text = sentence.text.strip()
    tags = {token.idx: token.tag_ for token in sentence.doc} if sentence.doc is not None else {}
    offset = sentence.text.index(text)
    for match in _WORD.finditer(text):
        word = match[0].casefold()
        tag = tags.get(match.start() + offset, "")
        is_part = text[match.end() :].startswith("-") or text[: match.start()].endswith("-")
        if is_part or tag.startswith("NNP"):
            continue
        antonyms = table.get(word, [])
        if word in needs_tags:
            antonyms = [antonym for antonym in antonyms if tag and tag.startswith(ENGLISH_TAGS[antonym.group])]
        for antonym in _select_antonyms_of_right_verb_form(antonyms, tag, text[: match.start()]):
            is_worse = antonym.word.startswith(("un", "in", "im")) and _MORE.search(text[: match.start()])
            if is_worse or _does_sentence_join_word_and_antonym(text, match[0], antonym.word):
                continue
            changed = replace_span_and_fix_article(text, match.span(), copy_initial_capital(match[0], antonym.word))
            yield antonym.group, Candidate(changed, f"{match[0]} -> {antonym.word}")


def _select_antonyms_of_right_verb_form(antonyms: list[Antonym], tag: str, text_before: str) -> list[Antonym]:
    """Take the antonyms that are the right form of a verb, where a word may be several: past or participle."""
    if {antonym.form for antonym in antonyms} >= {2, 3}:
        wanted = 3 if tag == "VBN" or (not tag and _BE_OR_HAVE.search(text_before)) else 2
        return [antonym for antonym in antonyms if antonym.form not in (2, 3) or antonym.form == wanted]
    return antonyms


def _does_sentence_join_word_and_antonym(text: str, word: str, antonym: str) -> bool:
    """Tell whether a sentence joins a word and its antonym: right or wrong would become wrong or wrong."""
    pair = f"{re.escape(word)}|{re.escape(antonym)}"
    return (
        re.search(rf"\b(?:{pair})\b.{{0,20}}\b(?:and|or|nor|than|to)\b.{{0,20}}\b(?:{pair})\b", text, re.I) is not None
    )


def _iterate_japanese_candidates_with_group(sentence: Sentence, table: AntonymTable) -> Iterator[tuple[str, Candidate]]:
    """Replace Japanese words, one at a time, in the form in which they stand."""
    words = sentence.words
    for place, word in enumerate(words):
        # UniDic parts 常に and まれに into two words.
        for n_words in (2, 1):
            written = "".join(part.written for part in words[place : place + n_words])
            for antonym in table.get(written, ()) if n_words == 2 else table.get(word.base, ()):
                new_word = antonym.word if n_words == 2 else _inflect_antonym_like_word(word, antonym.word)
                follower = words[place + n_words].written if place + n_words < len(words) else ""
                fits = word.pos.startswith(JAPANESE_TAGS[antonym.group])
                if antonym.group == "adjectival nouns":
                    fits = fits and follower.startswith(_COPULAS)
                if fits and new_word and new_word not in sentence.text:
                    end = words[min(place + n_words, len(words)) - 1].end
                    changed = sentence.text[: word.start] + new_word + sentence.text[end:]
                    yield antonym.group, Candidate(changed.strip(), f"{sentence.text[word.start : end]} -> {new_word}")


def _inflect_antonym_like_word(word: Word, antonym: str) -> str:
    """Write an antonym in the form in which a word stands; empty where both do not inflect alike."""
    if word.written == word.base:
        return antonym
    (new_word, *others) = segment_japanese_sentence_into_words(antonym)
    stem = word.base[:-1]
    if others or new_word.inflection != word.inflection or not word.written.startswith(stem):
        return ""
    return antonym[:-1] + word.written[len(stem) :]
