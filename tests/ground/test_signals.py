"""Signals wait for the end of a block, and come then."""

from __future__ import annotations

import signal
import threading

import pytest

from ground.signals import hold_signals_in_block


@pytest.fixture
def noted(monkeypatch):
    """The signals that a handler of the test got."""
    numbers: list[int] = []
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    for number in before:
        signal.signal(number, lambda number, frame: numbers.append(number))
    yield numbers
    for number, handler in before.items():
        signal.signal(number, handler)


def test_signals_come_after_the_block_in_their_order(noted):
    sent = [signal.SIGTERM, signal.SIGINT, signal.SIGINT]
    with hold_signals_in_block(signal.SIGINT, signal.SIGTERM):
        for number in sent:
            signal.raise_signal(number)
        assert noted == []
    assert noted == sent


def test_a_signal_that_is_not_named_comes_at_once(noted):
    with hold_signals_in_block(signal.SIGINT):
        signal.raise_signal(signal.SIGTERM)
        assert noted == [signal.SIGTERM]


def test_a_block_that_fails_keeps_no_signal_back(noted):
    def run_failing_block() -> None:
        with hold_signals_in_block(signal.SIGINT):
            signal.raise_signal(signal.SIGINT)
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        run_failing_block()
    assert noted == [signal.SIGINT]


def test_what_a_handler_raises_comes_after_the_block():
    steps: list[str] = []

    def run_interrupted_block() -> None:
        with hold_signals_in_block(signal.SIGINT):
            signal.raise_signal(signal.SIGINT)
            steps.append("reached")

    with pytest.raises(KeyboardInterrupt):
        run_interrupted_block()
    assert steps == ["reached"]
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_in_another_thread_a_block_runs_as_ever():
    steps: list[str] = []

    def run_block() -> None:
        with hold_signals_in_block(signal.SIGINT):
            steps.append("reached")

    thread = threading.Thread(target=run_block)
    thread.start()
    thread.join(10)
    assert steps == ["reached"]
