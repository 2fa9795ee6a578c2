"""What is asked next is prepared while the model answers; what is asked, and in which order, does not change."""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from functools import cache
from itertools import chain, repeat
from types import SimpleNamespace

import pytest

from ground.errors import InputError
from helpers import tiny_models
from inference.asking import prefetch as module
from inference.asking.prefetch import AHEAD, map_ahead_in_thread
from inference.asking.rounds import Exact, PendingRound, ask_rounds
from inference.engines.contract import Sampling, Thinking
from inference.engines.loading import Checkpoint
from inference.engines.local.causal import CausalEngine
from inference.engines.local.masked import MaskedEngine
from inference.stimuli.templates.prompts import Prompt

ANSWERS = (("yes", "Yes"), ("no", "No"))
WORDS = ("warm", "bread", "rain", "a", "the", "snow")
TEXTS = [f"Reply yes or no. Statement: {' '.join(WORDS[: n % 6 + 1])} {n}.\nReply:" for n in range(40)]
PLAIN = [Prompt(text, None, ANSWERS) for text in TEXTS]
CHAT = [Prompt(None, ({"role": "user", "content": text},), ANSWERS) for text in TEXTS]
CLOZE = [Prompt(f"{text} [MASK]", None, ANSWERS) for text in TEXTS]


def test_a_thing_is_made_while_the_one_before_is_used() -> None:
    made: list[int] = []
    seen = threading.Condition()

    def make(thing: int) -> int:
        with seen:
            made.append(thing)
            seen.notify()
        return thing

    things = map_ahead_in_thread(make, range(6))
    for number in range(6):
        assert next(things) == number
        with seen:  # while this one is in use, those that come next are made
            assert seen.wait_for(lambda number=number: len(made) == min(6, number + 1 + AHEAD), timeout=20)
    assert made == list(range(6))
    assert list(things) == []


def test_what_fails_is_told_in_its_turn() -> None:
    def make(thing: int) -> int:
        if thing == 2:
            raise InputError("the third")
        return thing

    things = map_ahead_in_thread(make, range(9))
    assert [next(things), next(things)] == [0, 1]
    with pytest.raises(InputError, match="the third"):
        next(things)


def test_nothing_is_made_after_the_end() -> None:
    before = threading.active_count()
    made: list[int] = []
    things = map_ahead_in_thread(made.append, range(1000))
    next(things)
    things.close()
    assert len(made) <= 1 + AHEAD
    assert threading.active_count() == before


def test_nobody_waits_for_a_pause_after_a_long_batch(monkeypatch) -> None:
    """Things are begun half a batch later; where batches become short, or the run stops, at once."""
    clock = chain([0.0], repeat(3600.0))  # the first batch takes an hour
    monkeypatch.setattr(module, "time", SimpleNamespace(monotonic=lambda: next(clock)))
    began = time.perf_counter()
    things = map_ahead_in_thread(str, range(9))
    assert [next(things) for _ in range(5)] == ["0", "1", "2", "3", "4"]  # 3 would be begun half an hour later
    assert time.perf_counter() - began < 20
    clock = chain([0.0], repeat(3600.0))
    things = map_ahead_in_thread(str, range(9))
    assert [next(things), next(things)] == ["0", "1"]
    things.close()
    assert time.perf_counter() - began < 20


@pytest.mark.slow
def test_nothing_pauses_where_making_takes_longer_than_a_batch(monkeypatch) -> None:
    clock = chain([0.0], repeat(3600.0))
    monkeypatch.setattr(module, "time", SimpleNamespace(monotonic=lambda: next(clock)))
    gate, last = threading.Event(), threading.Event()

    def make(thing: int) -> int:
        assert thing != 1 or gate.wait(20)
        if thing == 3:
            last.set()
        return thing

    things = map_ahead_in_thread(make, range(9))
    assert next(things) == 0
    threading.Timer(0.2, gate.set).start()
    assert next(things) == 1  # it was not ready, so 3 is begun without a pause
    assert last.wait(20)
    things.close()


class Whole(list):
    """Prompts that count how often each is rendered, and in which thread."""

    def __init__(self, prompts: Sequence[Prompt]) -> None:
        super().__init__(prompts)
        self.by_thread: dict[bool, int] = {True: 0, False: 0}

    def __getitem__(self, index):
        self.by_thread[threading.current_thread() is threading.main_thread()] += 1
        return super().__getitem__(index)


@cache  # a tokenizer that is trained again may give its words other ids
def tokenizer(kind: str):
    return tiny_models.wordpiece_tokenizer() if kind == "masked" else tiny_models.byte_tokenizer(chat=True)


def engine(kind: str):
    make, architecture = (MaskedEngine, "bert") if kind == "masked" else (CausalEngine, "llama")
    known = tokenizer(kind)
    return make(Checkpoint("tiny", tiny_models.model(architecture, known), known, {}), 8)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "prompts", "ways"),
    [
        ("causal", PLAIN, [Exact(), Exact(0.5)]),
        ("causal", CHAT, [Exact(), Sampling(max_tokens=3), Sampling(max_tokens=3, effort="low")]),
        ("causal", CHAT, [Thinking(2, 0.8, max_tokens=4, effort="low")]),
        ("masked", CLOZE, [Exact()]),
    ],
)
def test_batches_read_ahead_get_the_answers_of_prompts_read_when_asked(kind, prompts, ways) -> None:
    whole = Whole(prompts)
    found = list(ask_rounds(engine(kind), [PendingRound(whole, ways, lambda _: True)]))
    assert whole.by_thread == {True: 0, False: len(prompts)}  # rendered in the other thread only, each once
    assert [prompt for _, batch, read, _ in found for prompt in read] == [
        prompts[place] for _, batch, _, _ in found for place in batch
    ]
    plain = engine(kind)
    plain.cut_into_batches(prompts)
    for _, batch, _, columns in found:
        asked = [prompts[place] for place in batch]
        exact = [way.temperature for way in ways if isinstance(way, Exact)]
        sampled = [way for way in ways if isinstance(way, Sampling)]
        expected = [*(plain.score(asked, exact) if exact else []), *(plain.generate(asked, sampled) if sampled else [])]
        expected += [plain.think(asked, way) for way in ways if isinstance(way, Thinking)]
        assert columns == expected


def test_a_batch_that_was_read_is_not_read_again(monkeypatch) -> None:
    asked = engine("causal")
    batch = asked.tokenize_ahead(CHAT, {None, "low"})
    assert list(batch) == CHAT
    monkeypatch.setattr(asked, "_tokenize_prompts_to_rows", None)  # would fail
    assert asked.score(batch)[0][0].mass is not None
    assert len(asked.generate(batch, [Sampling(max_tokens=2, effort="low")])[0]) == len(CHAT)
