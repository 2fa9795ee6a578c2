r"""Tokenise texts word by word, every word once: prompts repeat the same words millions of times.

That gives the ids of the whole text where no token reaches from a character into the blank after it. It is so for
byte-level BPE, whose texts are first cut by a pattern, and each piece is tokenised by itself (`PATTERNS`). Every
alternative of these patterns matches white space only, or begins with at most one blank and holds none after that. So a
piece always begins at a blank that stands between two other characters. Pieces do not look back; what they look ahead
to, `(?!\S)` behind white space, stands in the same word, which begins and ends with other characters than white space.

Example: "Reply yes or no.\nSay  it" has the words "Reply", " yes", " or", " no.\nSay  it".
"""

from __future__ import annotations

import json
import re
from array import array
from collections.abc import Sequence
from itertools import chain
from threading import Lock
from typing import Any

from tokenizers import Tokenizer, models

from inference.engines.exact.answer_words import Encode

_CONTRACTED, _PUNCTUATION, _SPACE = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)", r" ?[^\s\p{L}\p{N}]+[\r\n]*", r"\s+(?!\S)|\s+"
_UPPER, _LOWER = r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]", r"[\p{Ll}\p{Lm}\p{Lo}\p{M}]"
_CASED = rf"[^\r\n\p{{L}}\p{{N}}]?{_UPPER}*{_LOWER}+", rf"[^\r\n\p{{L}}\p{{N}}]?{_UPPER}+{_LOWER}*"
_MARKS = r" ?[^\s\p{L}\p{N}]+[\r\n/]*"
PATTERNS = frozenset(
    {
        # Llama 3; Qwen 2 to 3; Mistral's and OpenAI's newer ones.
        rf"{_CONTRACTED}|[^\r\n\p{{L}}\p{{N}}]?\p{{L}}+|\p{{N}}{{1,3}}|{_PUNCTUATION}|\s*[\r\n]+|{_SPACE}",
        rf"{_CONTRACTED}|[^\r\n\p{{L}}\p{{N}}]?\p{{L}}+|\p{{N}}|{_PUNCTUATION}|\s*[\r\n]+|{_SPACE}",
        rf"{_CASED[0]}|{_CASED[1]}|\p{{N}}|{_MARKS}|\s*[\r\n]+|{_SPACE}",
        rf"{_CASED[0]}{_CONTRACTED}?|{_CASED[1]}{_CONTRACTED}?|\p{{N}}{{1,3}}|{_MARKS}|\s*[\r\n]+|{_SPACE}",
    }
)
"""Patterns that cut texts as is needed here, beside GPT-2's, which has no name in a tokenizer's file. A tokenizer
with any other is given whole texts."""
# Before each blank between two characters that are no white space; Python's \s holds all of the tokenizers' \s.
_CUT = re.compile(r"(?<=\S)(?= \S)")
_MARK = "\0"  # stands where a text is cut, for a moment
_WRONG = {f"{_MARK} {_MARK} ": "  ", f" {_MARK} ": "  ", f"\n{_MARK} ": "\n ", f"{_MARK} \n": " \n"}
REMEMBERED_WORDS = 2**17
LONGEST_WORD = 64  # characters of a word that is remembered
# New words tokenised at a time, two objects each. When 700 new ones are there, Python looks for garbage, in the end
# through all that it holds.
CHUNK = 256


class WordByWord:
    """An encoder, list of texts to list of id lists, that tokenises every word once.

    Parameters
    ----------
    encode
        Tokenises whole texts; `tokenizes_words_separately` says for which tokenizers the ids are the same.
    """

    def __init__(self, encode: Encode) -> None:
        self._encode = encode
        self._known: dict[str, bytes] = {}  # the ids of a word, four bytes each
        self._in_use = Lock()  # a thread may read prompts while another one looks up answers

    def __call__(self, texts: Sequence[str]) -> list[list[int]]:
        """Tokenise texts."""
        with self._in_use:
            return self._tokenize_texts_word_by_word(texts)

    def _tokenize_texts_word_by_word(self, texts: Sequence[str]) -> list[list[int]]:
        """Tokenise texts word by word; words that were tokenised before are looked up."""
        cut = _cut_texts_into_words(texts)
        words = set(chain.from_iterable(cut))
        new = list(words.difference(self._known))
        if len(self._known) + len(new) > REMEMBERED_WORDS:
            self._known.clear()
            new = list(words)
        for start in range(0, len(new), CHUNK):
            some = new[start : start + CHUNK]
            self._known.update(
                (word, array("i", ids).tobytes()) for word, ids in zip(some, self._encode(some), strict=True)
            )
        ids_by_text = [array("i", b"".join(map(self._known.__getitem__, words))).tolist() for words in cut]
        for word in new:
            if len(word) > LONGEST_WORD:
                del self._known[word]
        return ids_by_text


def _cut_texts_into_words(texts: Sequence[str]) -> list[list[str]]:
    """Cut texts into words: put marks before all blanks, remove those next to white space, and split at the marks.

    That is ten times as fast as `_CUT`. A word shows where there is other white space than blanks and line breaks: then
    the text is cut by `_CUT`.

    Examples
    --------
    >>> _cut_texts_into_words(["Reply yes.", "Say  it", "a\\t b"])
    [['Reply', ' yes.'], ['Say  it'], ['a\\t b']]
    """
    cut = [_CUT.split(text) if _MARK in text else _insert_marks_before_word_blanks(text).split(_MARK) for text in texts]
    odd = {word for word in set(chain.from_iterable(cut)) if not (word.removeprefix(" ") == word.strip() != "")}
    if not odd:
        return cut
    return [words if odd.isdisjoint(words) else _CUT.split(text) for words, text in zip(cut, texts, strict=True)]


def _insert_marks_before_word_blanks(text: str) -> str:
    """Put a mark before every blank at which a word begins."""
    text = text.replace(" ", f"{_MARK} ")
    for wrong, right in _WRONG.items():
        text = text.replace(wrong, right)
    return text


def tokenizes_words_separately(backend: Tokenizer) -> bool:
    """Tell whether a tokenizer gives a text the ids of its words, one after the other."""
    model, normalizer = backend.model, backend.normalizer
    bpe = isinstance(model, models.BPE) and not model.dropout
    plain = normalizer is None or json.loads(normalizer.__getstate__()) == {"type": "NFC"}
    added = backend.get_added_tokens_decoder().values()
    keeps_blanks = not any(token.lstrip or token.rstrip or token.single_word or " " in token.content for token in added)
    return (
        bpe
        and plain
        and keeps_blanks
        and backend.pre_tokenizer is not None
        and _splits_by_known_pattern(backend.pre_tokenizer)
    )


def _splits_by_known_pattern(pre_tokenizer: Any) -> bool:
    """Tell whether texts are cut by one of the patterns, and then only written as bytes."""
    settings = json.loads(pre_tokenizer.__getstate__())
    *first, last = settings["pretokenizers"] if settings["type"] == "Sequence" else [settings]
    if last["type"] != "ByteLevel" or last["add_prefix_space"]:
        return False
    if last["use_regex"]:
        return not first
    cut = {"type": "Split", "behavior": "Isolated", "invert": False}
    return (
        len(first) == 1
        and {**first[0], "pattern": None} == {**cut, "pattern": None}
        and (first[0]["pattern"].get("Regex") in PATTERNS)
    )
