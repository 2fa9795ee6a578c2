"""Tokenised word by word, a text has the ids that the tokenizer gives it whole."""

from __future__ import annotations

import random
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest
from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, trainers

from helpers import tiny_models
from inference.engines import words
from inference.engines.tokens import build_encoder_without_truncation_or_padding
from inference.engines.words import PATTERNS, WordByWord, tokenizes_words_separately

pytestmark = pytest.mark.slow

PIECES = [
    " ", "  ", "\0", "\0 ", "\n", "\n\n", " \n", "\n ", "\t", "\r\n", "\u00a0", "\u3000", "\x1c", "\u2028", "a",
    "yes", "Yes", "NO",
    "don't", "WE'LL", "'s", "'", ".", "?!", "...", ":\n", "/", "//\n", "1", "12345", "x1", "é", "e\u0301", "\u0301",
    "日本語",
    "ไทย", "_", "-", "—", "(a)", "<|end|>", "<|endoftext|>", "😀", "\u200d", "\ufe0f", "ß", "ſ", "İ",
]  # fmt: skip


def tokenizer(pattern: str | None, normalizer=None) -> Tokenizer:
    """A small byte-level BPE whose texts are cut by a pattern; None: by GPT-2's."""
    made = Tokenizer(models.BPE())
    byte_level = pre_tokenizers.ByteLevel(False, use_regex=pattern is None)
    split = [] if pattern is None else [pre_tokenizers.Split(Regex(pattern), "isolated")]
    made.pre_tokenizer = pre_tokenizers.Sequence([*split, byte_level]) if split else byte_level
    made.decoder = decoders.ByteLevel()
    if normalizer:
        made.normalizer = normalizer
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(
        vocab_size=700, show_progress=False, special_tokens=["<|end|>"], initial_alphabet=alphabet
    )
    made.train_from_iterator([*tiny_models.SENTENCES, *texts(300, seed=1)], trainer)
    return made


def texts(count: int, seed: int = 0) -> list[str]:
    draw = random.Random(seed)
    return ["".join(draw.choices(PIECES + [" "] * 20, k=draw.randint(0, 30))) for _ in range(count)]


@pytest.mark.parametrize("normalizer", [None, normalizers.NFC()])
@pytest.mark.parametrize("pattern", [None, *sorted(PATTERNS)])
def test_words_have_the_ids_of_the_whole_text(pattern, normalizer) -> None:
    made = tokenizer(pattern, normalizer)
    assert tokenizes_words_separately(made)
    every = texts(2000)  # two pieces follow each other six times in the mean: one pair in 500 never does
    asked: list[str] = []

    def whole(some):
        asked.extend(some)
        return [encoding.ids for encoding in made.encode_batch_fast(list(some), add_special_tokens=False)]

    encode = WordByWord(whole)
    found = [ids for start in range(0, len(every), 500) for ids in encode(every[start : start + 500])]
    assert len(asked) > 1.5 * len(every)  # words, not texts
    assert found == whole(every)


def test_a_word_is_tokenised_once_as_long_as_there_is_room(monkeypatch) -> None:
    monkeypatch.setattr(words, "REMEMBERED_WORDS", 3)
    monkeypatch.setattr(words, "LONGEST_WORD", 5)
    asked = []
    encode = WordByWord(lambda some: asked.append(sorted(some)) or [[len(word)] for word in some])
    assert encode(["a bc a"]) == [[1, 3, 2]]
    assert encode(["a a", "bc a"]) == [[1, 2], [2, 2]]  # there is no more room: the others are forgotten
    assert encode(["bc", "longer"]) == [[2], [6]]  # a long word is not remembered
    assert encode(["longer"]) == [[6]]
    assert asked == [[" a", " bc", "a"], [" a", "a", "bc"], ["bc", "longer"], ["longer"]]


def test_two_threads_may_tokenise_at_once(monkeypatch) -> None:
    monkeypatch.setattr(words, "REMEMBERED_WORDS", 7)  # nearly every call forgets what another may be about to use
    encode = WordByWord(lambda some: [[len(word)] for word in some])
    every = [" ".join("abcdefghijklmnop"[: n % 9 + 1]) for n in range(3000)]

    def tokenised(start: int) -> bool:
        return all(encode([text]) == [[len(word) + (n > 0) for n, word in enumerate(text.split())]]
                   for text in every[start:] + every[:start])  # fmt: skip

    switching = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(4) as threads:
            assert all(threads.map(tokenised, range(0, 2000, 500)))
    finally:
        sys.setswitchinterval(switching)


def split(pattern: str, behaviour: str) -> pre_tokenizers.PreTokenizer:
    return pre_tokenizers.Sequence(
        [pre_tokenizers.Split(Regex(pattern), behaviour), pre_tokenizers.ByteLevel(False, use_regex=False)]
    )


CHANGES = {
    "another pattern": lambda made: setattr(made, "pre_tokenizer", split(r".+", "isolated")),
    "cut away": lambda made: setattr(made, "pre_tokenizer", split(min(PATTERNS), "removed")),
    "a token of two words": lambda made: made.add_tokens([AddedToken("two words")]),
    "a token that takes the blank": lambda made: made.add_tokens([AddedToken("<mask>", lstrip=True)]),
    "a normalizer": lambda made: setattr(made, "normalizer", normalizers.Lowercase()),
    "a blank is added": lambda made: setattr(made, "pre_tokenizer", pre_tokenizers.ByteLevel(True)),
}


@pytest.mark.parametrize("name", CHANGES)
def test_a_tokenizer_that_is_otherwise_in_one_thing_is_given_whole_texts(name: str) -> None:
    made = tiny_models.byte_tokenizer().backend_tokenizer
    assert tokenizes_words_separately(made)
    CHANGES[name](made)
    assert not tokenizes_words_separately(made)


def test_other_kinds_of_tokenizers_are_given_whole_texts() -> None:
    assert not tokenizes_words_separately(tiny_models.metaspace_tokenizer().backend_tokenizer)
    assert not tokenizes_words_separately(tiny_models.wordpiece_tokenizer().backend_tokenizer)


def test_the_encoder_of_a_model_works_word_by_word_where_it_may() -> None:
    byte, metaspace = tiny_models.byte_tokenizer(), tiny_models.metaspace_tokenizer()
    assert isinstance(build_encoder_without_truncation_or_padding(byte), WordByWord)
    assert not isinstance(build_encoder_without_truncation_or_padding(byte, add_special_tokens=True), WordByWord)
    assert not isinstance(build_encoder_without_truncation_or_padding(metaspace), WordByWord)


def test_few_words_are_tokenised_at_a_time(monkeypatch) -> None:
    monkeypatch.setattr(words, "CHUNK", 3)
    sizes: list[int] = []

    def encode(some):
        sizes.append(len(some))
        return [[len(word)] for word in some]

    assert WordByWord(encode)(["a bb ccc dddd", "a bb eeeee"]) == [[1, 3, 4, 5], [1, 3, 6]]
    assert sizes == [3, 2]
