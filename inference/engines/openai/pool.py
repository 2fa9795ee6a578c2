"""Ask many prompts at the same time, up to a limit, and hand over the answers while others are under way."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Awaitable, Callable, Coroutine, Generator, Iterable
from typing import Any, TypeVar

from ground.signals import hold_signals_in_block

T = TypeVar("T")
R = TypeVar("R")

# Seconds after which the caller gets what has come, even nothing: so it can write rows, and a Ctrl-C waits no longer.
LONGEST_SILENCE = 0.25


def run_without_interruption(runner: asyncio.Runner, coroutine: Coroutine[Any, Any, R]) -> R:
    """Run a coroutine that soon ends; Ctrl-C and SIGTERM wait for its end, so that the event loop loses no task.

    Parameters
    ----------
    runner
        Its event loop runs the coroutine.
    coroutine
        What is run.

    Returns
    -------
    What the coroutine returned.
    """
    with hold_signals_in_block(signal.SIGINT, signal.SIGTERM):
        return runner.run(coroutine)


def ask_concurrently_and_yield_arrived_answers(
    runner: asyncio.Runner,
    concurrency: int,
    prompts: Iterable[T],
    ask: Callable[[T], Awaitable[R]],
    must_stop: Callable[[], bool],
) -> Generator[list[tuple[int, T, R]], None, None]:
    """Ask all prompts, and hand over again and again the answers that have come.

    `concurrency` workers each take the next prompt as soon as they are free. One that waits to repeat a request takes
    no other prompt: the more a server fails, the less it is asked. Requests under way are dropped when the iterator is
    closed.

    Parameters
    ----------
    runner
        Its event loop runs the workers while the caller waits for answers.
    concurrency
        Number of workers.
    prompts
        What is asked, taken one by one.
    ask
        Answers one prompt. What it raises is raised here, after the answers that came before.
    must_stop
        Whether no further prompt is to be asked; answers under way are waited for.

    Yields
    ------
    Place, prompt and answer of those that have come since the last time, in any order; perhaps none.
    """
    waiting = enumerate(prompts)
    came: list[tuple[int, T, R]] = []

    async def ask_until_none_waits() -> None:
        while not must_stop() and (taken := next(waiting, None)) is not None:
            came.append((*taken, await ask(taken[1])))

    async def start_workers() -> list[asyncio.Task[None]]:
        return [asyncio.create_task(ask_until_none_waits()) for _ in range(concurrency)]

    async def wait_for_some_workers() -> set[asyncio.Task[None]]:
        done, _ = await asyncio.wait(workers, timeout=LONGEST_SILENCE, return_when=asyncio.FIRST_EXCEPTION)
        return done

    async def cancel_workers() -> None:
        for worker in workers:
            worker.cancel()
        await asyncio.gather(*workers, return_exceptions=True)

    workers = run_without_interruption(runner, start_workers())
    try:
        done: set[asyncio.Task[None]] = set()
        while len(done) < len(workers):
            done = run_without_interruption(runner, wait_for_some_workers())
            answers = came[:]
            came.clear()
            yield answers
            for worker in done:
                worker.result()
    finally:
        run_without_interruption(runner, cancel_workers())
