"""When the next request may go out: so many requests and tokens per minute, and no sooner than the server said."""

from __future__ import annotations

import asyncio
import time


class Clock:
    """Time as the limits and retries see it; tests put a faster one in its place."""

    def now(self) -> float:
        """Seconds on a clock that never goes back."""
        return time.monotonic()

    async def sleep(self, seconds: float) -> None:
        """Wait."""
        await asyncio.sleep(seconds)


class Pace:
    """So many units per minute, evenly spread: a provider that counts by the second is not overrun either."""

    def __init__(self, per_minute: float | None) -> None:
        self._seconds_each = 60 / per_minute if per_minute else 0.0
        self._free_at = float("-inf")

    def book(self, units: float, now: float) -> float:
        """Take units and return the time from which they may be used."""
        start = max(now, self._free_at)
        self._free_at = start + units * self._seconds_each
        return start

    def correct(self, units: float) -> None:
        """Book so many more (or fewer) units than was thought."""
        self._free_at += units * self._seconds_each


class Limits:
    """The gate that every request passes, repeated ones too."""

    def __init__(self, requests_per_minute: float | None, tokens_per_minute: float | None, clock: Clock) -> None:
        self._requests, self._tokens = Pace(requests_per_minute), Pace(tokens_per_minute)
        self._clock = clock
        self._paused_until = float("-inf")

    async def admit(self, tokens: float) -> None:
        """Wait until a request of about so many tokens may go out."""
        now = self._clock.now()
        start = max(self._requests.book(1, now), self._tokens.book(tokens, now))
        # A pause may begin, or grow, while this one waits.
        while (wait := max(start, self._paused_until) - self._clock.now()) > 0:
            await self._clock.sleep(wait)

    def correct(self, tokens: float) -> None:
        """Tell how many more tokens a request took than was thought."""
        self._tokens.correct(tokens)

    def pause(self, seconds: float) -> None:
        """Let nothing out for a while: what the server asks of one request holds for all."""
        self._paused_until = max(self._paused_until, self._clock.now() + seconds)
