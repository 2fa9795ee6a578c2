"""Prompts are tokenised once between measuring and asking, within a bound; what is asked does not depend on it."""

from __future__ import annotations

import gc
from collections.abc import Callable
from typing import Any

import pytest

from helpers import tiny_models
from inference.engines import remembered
from inference.engines.loading import Checkpoint
from inference.engines.local.causal import CausalEngine
from inference.engines.remembered import PromptMemory, compute_prompt_fingerprint
from inference.engines.rows import find_common_prefix
from inference.engines.tokens import Tokens
from inference.engines.words import WordByWord
from inference.stimuli.templates.prompts import Prompt

ANSWERS = (("yes", "Yes"), ("no", "No"))
TEXTS = [f"Reply yes or no. Statement: {'warm ' * n}bread.\nReply:" for n in range(7)]
IDS = [7] * 10
PLAIN = [Prompt(text, None, ANSWERS) for text in TEXTS]
CHAT = [Prompt(None, ({"role": "user", "content": text},), ANSWERS) for text in TEXTS]


def asked(prompts, monkeypatch, room) -> tuple[list, int]:
    """Scores of all prompts in their batches, and how many texts were tokenised for that."""
    monkeypatch.setattr(remembered, "ROOM", room)
    tokenizer = tiny_models.byte_tokenizer(chat=True)
    engine = CausalEngine(Checkpoint("tiny", tiny_models.model("llama", tokenizer), tokenizer, {}))
    encode, seen = engine.tokens.encode, []
    monkeypatch.setattr(engine.tokens, "encode", lambda texts, chat: seen.extend(texts) or encode(texts, chat))
    scores = [engine.score([prompts[place] for place in batch])[0] for batch in engine.cut_into_batches(prompts)]
    return scores, len(seen)


@pytest.mark.parametrize("prompts", [PLAIN, CHAT])
def test_prompts_are_tokenised_once_where_there_is_room(prompts, monkeypatch) -> None:
    once, seen = asked(prompts, monkeypatch, 2**20)
    assert seen == len(prompts)
    again, seen = asked(prompts, monkeypatch, 0)
    assert seen == 2 * len(prompts)
    assert once == again


def test_no_more_is_remembered_than_there_is_room_for(monkeypatch) -> None:
    size = remembered.ENTRY + 4 * 10
    monkeypatch.setattr(remembered, "ROOM", 3 * size)
    known = PromptMemory()
    for number, prompt in enumerate(PLAIN):
        known.add(number, prompt, prompt.text, [number] * 10)
    assert [known.get(number, PLAIN[number]) is not None for number in range(7)] == [True] * 3 + [False] * 4
    assert known.get(2, PLAIN[2]) == (TEXTS[2], [2] * 10)
    known.clear_if_half_full()  # over half is taken
    assert known.get(2, PLAIN[2]) is None
    known.add(2, PLAIN[2], TEXTS[2], [2] * 10)
    known.clear_if_half_full()
    assert known.get(2, PLAIN[2]) is not None


def count_garbage_collections(task: Callable[[], Any]) -> int:
    """How often Python, as it is started, looks for garbage during a task that begins right after it has looked."""
    phases: list[str] = []
    thresholds = gc.get_threshold()

    def note(phase: str, info: dict[str, int]) -> None:
        phases.append(phase)

    gc.set_threshold(700, 10, 10)
    gc.collect()
    gc.callbacks.append(note)
    try:
        task()
    finally:
        gc.callbacks.remove(note)
        gc.set_threshold(*thresholds)
    return phases.count("start")


def test_what_is_remembered_is_no_work_for_the_garbage_collector() -> None:
    memory = PromptMemory()

    def add() -> None:
        for number in range(3000):
            memory.add(number, (PLAIN + CHAT)[number % 14], TEXTS[0], IDS)

    assert count_garbage_collections(add) == 0
    assert memory.get(2999, PLAIN[0]) is not None


def test_new_words_are_no_work_for_the_garbage_collector() -> None:
    text = " ".join(f"word{number}" for number in range(3000))
    tokenize = WordByWord(lambda words: [[len(word)] for word in words])
    assert count_garbage_collections(lambda: tokenize([text])) == 0
    assert len(tokenize([text])[0]) == 3000


def test_the_texts_of_a_vocabulary_are_no_work_for_the_garbage_collector(monkeypatch) -> None:
    tokens = Tokens("tiny", tiny_models.byte_tokenizer())
    monkeypatch.setattr(tokens, "tokenizer", range(3000))
    monkeypatch.setattr(tokens, "bare", lambda texts: [[5]])
    monkeypatch.setattr(tokens, "decode", lambda id_lists: ["a"] * len(id_lists))
    assert count_garbage_collections(tokens.list_vocabulary_token_texts) == 0
    assert len(tokens.list_vocabulary_token_texts()) == 3000


def test_prompts_that_are_rendered_otherwise_have_other_fingerprints() -> None:
    every = [
        compute_prompt_fingerprint(prompt, effort) for prompt in (*PLAIN, *CHAT) for effort in (None, "low", "none")
    ]
    assert len(set(every)) == len(every)
    forged = Prompt(repr((None, [[("role", "user"), ("content", TEXTS[0])]], None)), None, ANSWERS)
    assert compute_prompt_fingerprint(forged) != compute_prompt_fingerprint(CHAT[0])
    assert compute_prompt_fingerprint(Prompt("\ud800", None, ())) != compute_prompt_fingerprint(
        Prompt("", None, ())
    )  # half of a character


@pytest.mark.parametrize("length", range(6))
def test_the_common_start_is_found_wherever_two_prompts_part(length) -> None:
    a = [1, 2, 3, 4, 5]
    assert find_common_prefix(a, [*a[:length], 9, 4, 5]) == a[:length]
    assert find_common_prefix([*a[:length], 9], a) == a[:length]
    assert find_common_prefix(a[:length], a) == find_common_prefix(a, a[:length]) == a[:length]
