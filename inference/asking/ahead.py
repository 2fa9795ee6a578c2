"""Prepare what is asked next while a model answers: a thread renders and tokenises, so that the model need not wait."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Generator, Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

T = TypeVar("T")
R = TypeVar("R")

AHEAD = 2  # things: one is ready when it is wanted even if it took long itself, and few are kept in memory


def ahead(make: Callable[[T], R], things: Iterable[T]) -> Generator[R, None, None]:
    """Make things in another thread, each before it is wanted, and yield them in order.

    Python runs one thread at a time. The asking thread has work when it begins and when it ends a batch, and waits for
    the model in between: so a thing is begun in the middle, half the time of the last batch after it.

    What `make` raises is raised where its thing would come. A generator that is closed waits for what is under way.

    Examples
    --------
    >>> list(ahead(str.upper, ["a", "b", "c"]))
    ['A', 'B', 'C']
    """

    def made(thing: T, pause: float) -> R:
        time.sleep(pause)
        return make(thing)

    thread = ThreadPoolExecutor(1, thread_name_prefix="ahead")
    try:
        pending: deque[Future[R]] = deque()
        pause = 0.0
        for thing in things:
            pending.append(thread.submit(made, thing, pause))
            if len(pending) > AHEAD:
                began = time.monotonic()
                yield pending.popleft().result()
                pause = (time.monotonic() - began) / 2
        while pending:
            yield pending.popleft().result()
    finally:
        thread.shutdown(cancel_futures=True)
