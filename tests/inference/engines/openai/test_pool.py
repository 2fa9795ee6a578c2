"""Many prompts are asked at the same time, and a signal in the middle leaves no task behind."""

from __future__ import annotations

import asyncio
import signal

import pytest

from inference.engines.openai.pool import ask_concurrently_and_yield_arrived_answers


@pytest.fixture
def raising_handler():
    """A handler of Ctrl-C of our own, as a run has one: with Python's, asyncio takes care itself."""

    def raise_interrupt(number: int, frame: object) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGINT, raise_interrupt)
    yield
    signal.signal(signal.SIGINT, before)


def test_an_interrupt_waits_until_the_event_loop_rests(raising_handler):
    """In the middle of a turn, it could take a task from the queue that never runs: closing waited for it for ever."""
    passed: list[int] = []

    async def ask(prompt: int) -> int:
        if prompt == 3:
            signal.raise_signal(signal.SIGINT)
        passed.append(prompt)
        await asyncio.sleep(0.001)
        return prompt

    with asyncio.Runner() as runner:
        answers = ask_concurrently_and_yield_arrived_answers(runner, 2, range(1_000_000), ask, lambda: False)
        with pytest.raises(KeyboardInterrupt):
            list(answers)
        assert not asyncio.all_tasks(runner.get_loop())
    assert 3 in passed


def test_all_answers_arrive_with_their_places():
    async def ask(prompt: str) -> str:
        await asyncio.sleep(0)
        return prompt.upper()

    with asyncio.Runner() as runner:
        arrived = [
            answer
            for answers in ask_concurrently_and_yield_arrived_answers(runner, 3, "abcdefg", ask, lambda: False)
            for answer in answers
        ]
    assert sorted(arrived) == [(place, letter, letter.upper()) for place, letter in enumerate("abcdefg")]
