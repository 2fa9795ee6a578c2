"""Count replies that cannot be used, and pay for few of them: hold requests back, then stop."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from inference.engines.openai.failures import RepliesUnusable

MOST_ALIKE = 10  # replies of one kind in a row that cannot be used
# Requests whose replies cannot be used, those under way among them, once there is such a reply. The default of
# `--concurrency` is no more, so no more are sent at all.
MOST_DOUBTFUL = 16


class Doubts:
    """The gate that every request passes; it lets few pass while it is in doubt whether the server can be used.

    A reply that cannot be used throws a doubt, which only a usable reply to a request that was sent later removes:
    those under way at the time may be from before.

    Attributes
    ----------
    usable
        Replies that could be used.
    """

    def __init__(self) -> None:
        self.usable = 0
        self._sent = self._under_way = 0
        self._changed = asyncio.Event()
        self.forget_unusable_replies()

    def forget_unusable_replies(self) -> None:
        """Forget the unusable replies so far, so that requests are no longer held back or stopped."""
        self._kind, self._alike = "", 0  # of the replies in a row
        self._doubts: list[int] = []  # for each, the number of requests sent before it came up
        self._stopped = ""

    @asynccontextmanager
    async def wait_and_count_request_during_block(self) -> AsyncIterator[int]:
        """Wait until a request may be sent; it is under way until the block ends.

        Yields
        ------
        int
            Its number.

        Raises
        ------
        RepliesUnusable
            No further request is sent.
        """
        while not self._stopped and self._doubts and len(self._doubts) + self._under_way >= MOST_DOUBTFUL:
            self._changed.clear()
            await self._changed.wait()
        if self._stopped:
            raise RepliesUnusable(self._stopped)
        self._sent += 1
        self._under_way += 1
        try:
            yield self._sent
        finally:
            self._under_way -= 1
            self._changed.set()

    def note_usable_reply(self, request_number: int) -> None:
        """Count the reply to the request of this number as one that can be used."""
        self.usable += 1
        self._alike = 0
        self._doubts = [sent for sent in self._doubts if sent >= request_number]

    def note_unusable_reply(self, kind: str, problem: str) -> None:
        """Count a reply that cannot be used.

        Parameters
        ----------
        kind
            What such replies have in common.
        problem
            What is wrong with it and how it begins, for people.

        Raises
        ------
        RepliesUnusable
            There were too many, of one kind or of several.
        """
        self._alike = self._alike + 1 if kind == self._kind else 1
        self._kind = kind
        self._doubts.append(self._sent)
        if not self._stopped and self._alike >= MOST_ALIKE:
            self._stopped = f"{MOST_ALIKE} replies in a row could not be used: {problem}"
        if not self._stopped and len(self._doubts) >= MOST_DOUBTFUL:
            self._stopped = f"{MOST_DOUBTFUL} replies could not be used, and none asked for after them: {problem}"
        if self._stopped:
            raise RepliesUnusable(self._stopped)
