"""Say why a request was not answered: for now, for good, or like every further one; and how long to wait."""

from __future__ import annotations

import random
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime

# A longer wait is a mistake of the server, and says nothing.
MOST_WAIT = timedelta(days=2)
NUMBER = re.compile(r"\s*[0-9]+(\.[0-9]*)?\s*")


class Temporary(Exception):
    """A failure that may not last.

    Attributes
    ----------
    requested_wait
        Seconds to wait that the server asked for; None where it said nothing.
    """

    def __init__(self, message: str, requested_wait: float | None = None) -> None:
        super().__init__(message)
        self.requested_wait = requested_wait


class RequestFailed(Exception):
    """No reply, and no further attempt; the message says why in one line.

    Attributes
    ----------
    status
        HTTP status where the server gave one.
    """

    def __init__(self, message: str, status: int | None = None) -> None:
        super().__init__(message)
        self.status = status


class ServerRefused(RequestFailed):
    """The server refuses every further request: the key is wrong or the account is empty."""

    advice = "check the key or the account"


class RepliesUnusable(ServerRefused):
    """The server has stopped giving replies that can be used; every request may cost money."""

    advice = "check the server"


@dataclass(frozen=True, slots=True)
class Retries:
    """How often and when a request is repeated.

    Attributes
    ----------
    attempts
        Requests per prompt at most.
    first, longest
        Seconds: the wait doubles from `first` to `longest`. Each wait is drawn from the upper half of that, so that
        clients that failed at the same time do not all return at the same time.
    patience
        Seconds: if a server asks for a longer wait than this, the request fails.
    """

    attempts: int = 8
    first: float = 0.5
    longest: float = 60.0
    patience: float = 300.0

    def draw_seconds_before_retry(self, attempt: int, requested_wait: float | None) -> float:
        """Choose the wait after an attempt.

        Parameters
        ----------
        attempt
            The first is 0.
        requested_wait
            Seconds that the server asked for; None: it did not.

        Returns
        -------
        Seconds. Example with the defaults, after attempt 2 (0.5 * 2 ** 2 = 2): 1 to 2 where the server did not ask,
        10 to 11 where it asked for 10.
        """
        backoff = min(self.longest, self.first * 2**attempt)
        if requested_wait is None:
            return backoff * random.uniform(0.5, 1.0)
        return requested_wait + min(1.0, backoff) * random.random()


def read_retry_after(headers: Mapping[str, str]) -> float | None:
    """Read the seconds that a reply asks to wait: `retry-after-ms`, or `Retry-After`, a number or date (RFC 9110).

    Returns
    -------
    float or None
        None where the reply says nothing usable: no number, one below 0, `MOST_WAIT` or longer, a date that has passed.

    Examples
    --------
    >>> read_retry_after({"retry-after": "1.5"}), read_retry_after({"retry-after": "nan"})
    (1.5, None)
    """
    for name, per_second in (("retry-after-ms", 1000), ("retry-after", 1)):
        if NUMBER.fullmatch(text := headers.get(name, "")):
            seconds = float(text) / per_second
            return seconds if seconds < MOST_WAIT.total_seconds() else None
    try:
        date = parsedate_to_datetime(headers.get("retry-after", ""))
        wait = (date if date.tzinfo else date.replace(tzinfo=UTC)) - datetime.now(UTC)
    except (ValueError, OverflowError):
        return None
    return wait.total_seconds() if timedelta() < wait < MOST_WAIT else None


def find_original_cause_of_error(error: BaseException) -> BaseException:
    """Find the error that the others were made from."""
    while (cause := error.__cause__ or error.__context__) is not None:
        error = cause
    return error


def get_message_or_name_of_error(error: BaseException) -> str:
    """Return an error's message, or its name where it has none."""
    return str(error) or type(error).__name__
