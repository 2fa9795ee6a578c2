"""Delay requests: so many requests and tokens per minute, and a pause when the server asks for one."""

from __future__ import annotations

import asyncio
import time


class Clock:
    """The clock of limits and retries; tests use a faster one."""

    def now(self) -> float:
        """Return seconds of a clock that never goes back."""
        return time.monotonic()

    async def sleep(self, seconds: float) -> None:
        """Wait."""
        await asyncio.sleep(seconds)


class Pace:
    """So many units per minute, evenly spread: some providers count by the second and would refuse a burst."""

    def __init__(self, per_minute: float | None) -> None:
        self._seconds_each = 60 / per_minute if per_minute else 0.0
        self._free_at = float("-inf")

    def reserve_units_and_compute_start_time(self, units: float, now: float) -> float:
        """Book units.

        Parameters
        ----------
        units
            Number of requests or tokens.
        now
            Seconds on the clock of `Clock.now`.

        Returns
        -------
        The time on that clock from which they may be used. Example: at 60 units a minute, the first booking of 5 units
        starts at once, the next one 5 seconds later.
        """
        start = max(now, self._free_at)
        self._free_at = start + units * self._seconds_each
        return start

    def adjust_reserved_units(self, excess_units: float) -> None:
        """Book so many more (or fewer) units than estimated before."""
        self._free_at += excess_units * self._seconds_each


class Limits:
    """The gate that every request passes, repeated ones too."""

    def __init__(self, requests_per_minute: float | None, tokens_per_minute: float | None, clock: Clock) -> None:
        self._requests, self._tokens = Pace(requests_per_minute), Pace(tokens_per_minute)
        self._clock = clock
        self._paused_until = float("-inf")

    async def wait_for_limits(self, n_tokens: float) -> None:
        """Wait until a request of about so many tokens may be sent."""
        now = self._clock.now()
        start = max(
            self._requests.reserve_units_and_compute_start_time(1, now),
            self._tokens.reserve_units_and_compute_start_time(n_tokens, now),
        )
        # A pause may begin, or grow, while this one waits.
        while (wait := max(start, self._paused_until) - self._clock.now()) > 0:
            await self._clock.sleep(wait)

    def adjust_reserved_tokens(self, excess_tokens: float) -> None:
        """Book the tokens that a request took beyond the estimate (or gave back)."""
        self._tokens.adjust_reserved_units(excess_tokens)

    def pause(self, seconds: float) -> None:
        """Send nothing for a while: a pause that the server asks of one request holds for all."""
        self._paused_until = max(self._paused_until, self._clock.now() + seconds)
