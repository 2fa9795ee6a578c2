"""Ask many prompts at the same time, up to a limit."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import TypeVar

from inference.engines.openai.server import Barred, Failed
from inference.errors import InputError

T = TypeVar("T")
R = TypeVar("R")


class Pool:
    """Workers that each take the next prompt as soon as they are free.

    A worker that waits to repeat a request takes no other prompt: the more a server fails, the less it is asked.

    Attributes
    ----------
    barred
        Why the server refuses every further request; None as long as it answers.
    """

    def __init__(self, concurrency: int) -> None:
        self.concurrency = concurrency
        self.barred: str | None = None

    async def each(self, prompts: Sequence[T], ask: Callable[[T], Awaitable[R]], failed: Callable[[str], R]) -> list[R]:
        """Ask all prompts and return their answers in order.

        Parameters
        ----------
        ask
            Answers one prompt or raises `Failed`.
        failed
            Makes the answer of a prompt that failed, from the message.

        Raises
        ------
        InputError
            From `ask`, as it is.
        """
        answers: dict[int, R] = {}
        waiting = iter(enumerate(prompts))

        async def work() -> None:
            for number, prompt in waiting:
                if self.barred is not None:
                    answers[number] = failed(self.barred)
                    continue
                try:
                    answers[number] = await ask(prompt)
                except Barred as error:
                    # The answers of requests under way are kept; no new request is sent.
                    self.barred = str(error)
                    answers[number] = failed(self.barred)
                except Failed as error:
                    answers[number] = failed(str(error))

        try:
            async with asyncio.TaskGroup() as group:
                for _ in range(min(self.concurrency, len(prompts))):
                    group.create_task(work())
        except ExceptionGroup as errors:
            wrong = errors.subgroup(InputError)
            if wrong is None:
                raise
            raise wrong.exceptions[0] from None
        return [answers[number] for number in range(len(prompts))]
