"""Prepare what is asked next while a model answers: a thread renders and tokenises, so that the model need not wait."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Generator, Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from threading import Event
from typing import TypeVar

T = TypeVar("T")
R = TypeVar("R")

AHEAD = 2  # things: one is ready when it is wanted even if it took long itself, and few are kept in memory


def map_ahead_in_thread(function: Callable[[T], R], inputs: Iterable[T]) -> Generator[R, None, None]:
    """Make things in another thread, each before it is needed.

    Python runs one thread at a time. The asking thread has work when it begins and when it ends a batch, and waits for
    the model in between. So the making of a thing begins in the middle of a batch: after half the time that the batch
    before took. It begins at once where making is slow, so that the next thing is not ready yet, and when it is needed.

    Parameters
    ----------
    function
        Makes one thing. What it raises is raised where its thing would come.
    inputs
        What it is given.

    Yields
    ------
    What was made, in order. A generator that is closed waits for what is under way.

    Examples
    --------
    >>> list(map_ahead_in_thread(str.upper, ["a", "b", "c"]))
    ['A', 'B', 'C']
    """

    def apply_function_when_due(thing: T, is_due: Event, pause: float) -> R:
        is_due.wait(pause)
        return function(thing)

    def take_next_result() -> R:
        is_due, future = pending.popleft()
        is_due.set()
        return future.result()

    pending: deque[tuple[Event, Future[R]]] = deque()
    thread = ThreadPoolExecutor(1, thread_name_prefix="ahead")
    try:
        pause = 0.0
        for thing in inputs:
            is_due = Event()
            pending.append((is_due, thread.submit(apply_function_when_due, thing, is_due, pause)))
            if len(pending) > AHEAD:
                result = take_next_result()
                began = time.monotonic()
                yield result
                ready = pending[0][1].done()
                pause = (time.monotonic() - began) / 2 if ready else 0.0
        while pending:
            yield take_next_result()
    finally:
        for is_due, _ in pending:
            is_due.set()
        thread.shutdown(cancel_futures=True)
