"""Send a request to a server and repeat it until it is answered or has failed for good."""

from __future__ import annotations

import asyncio
import json
import random
import re
import ssl
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Any, TypeVar

from ground.extras import needed
from inference.engines.openai.limits import Clock, Limits
from inference.engines.openai.settings import ApiSettings
from inference.engines.openai.usage import Usage

if TYPE_CHECKING:
    from openai import APIStatusError

T = TypeVar("T")

LONGEST_MESSAGE = 300
CONNECTING = 5.0  # seconds until a server must have taken a connection, secured where it is https
TEMPORARY = (408, 409, 425, 429)  # and every status from 500 on
NO_CREDIT = "insufficient_quota"
MOST_USELESS = 10  # replies of one kind in a row that cannot be used: each may have been paid for
SHOWN_REPLY = 120  # characters of one of them
MOST_WAIT = timedelta(days=2)


class Malformed(Exception):
    """A reply that is not what was asked for; the same request may get a better one."""

    @property
    def kind(self) -> str:
        """Return the message without its numbers: what such replies have in common."""
        return re.sub(r"\d+(\.\d+)?", "N", str(self))


class Failed(Exception):
    """No reply, and no further attempt; the message says why in one line.

    Attributes
    ----------
    status
        HTTP status where the server gave one.
    """

    def __init__(self, message: str, status: int | None = None) -> None:
        super().__init__(message)
        self.status = status


class Barred(Failed):
    """The server refuses every further request: the key is wrong or the account is empty."""

    advice = "check the key or the account"


class Unusable(Barred):
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

    def wait(self, attempt: int, asked: float | None) -> float:
        """Choose the seconds to wait after this attempt (the first is 0), given the wait that the server asked for."""
        backoff = min(self.longest, self.first * 2**attempt)
        if asked is None:
            return backoff * random.uniform(0.5, 1.0)
        return asked + min(1.0, backoff) * random.random()


class Server:
    """An OpenAI-compatible server and the model it is asked for.

    Attributes
    ----------
    usage
        What was asked so far.
    answering
        Name under which the model answered the probe; from then on a reply of any other model is malformed.
    """

    def __init__(self, model: str, settings: ApiSettings, retries: Retries, clock: Clock) -> None:
        with needed("--engine openai"):
            from openai import AsyncOpenAI, DefaultAsyncHttpxClient, Timeout

        self.model = model
        self.settings = settings
        self.retries = retries
        self.usage = Usage()
        self.answering: str | None = None
        self._clock = clock
        self._useless: list[str] = []  # kinds of the replies since the last one that could be used, all alike
        self._unusable: Unusable | None = None
        self._limits = Limits(settings.requests_per_minute, settings.tokens_per_minute, clock)
        self._key = settings.key
        # The client's own retries are off: they would not count towards the rate limits.
        self._client = AsyncOpenAI(
            api_key=self._key or "none",
            base_url=settings.address,
            max_retries=0,
            # Its timeout is off too, but for the connection: it counts the time between two bytes, so a very slow reply
            # would never end. `_post` has its own.
            timeout=Timeout(None, connect=CONNECTING),
            # A redirect would send the key to another server.
            http_client=DefaultAsyncHttpxClient(follow_redirects=False),
        )

    async def close(self) -> None:
        """Close the connections."""
        await self._client.close()

    async def ask(
        self,
        path: str,
        body: Mapping[str, Any],
        characters: int,
        read: Callable[[dict[str, Any]], T],
        attempts: int = 0,
    ) -> T:
        """Send a request until its reply can be read.

        Parameters
        ----------
        path
            Endpoint below the address.
        body
            The request; the model's name is added.
        characters
            Length of the prompt, for the token limit.
        read
            Turns the reply into the result, or raises `Malformed`.
        attempts
            Largest number of requests; 0: as `Retries` says.

        Raises
        ------
        Failed
            The server refuses this request, or did not answer it in any attempt.
        Barred
            The server refuses every request.
        """
        problem = ""
        allowed = attempts or self.retries.attempts
        expected = self.usage.tokens(characters)
        for attempt in range(allowed):
            await self._limits.admit(expected)
            self.usage.repeated += attempt > 0
            if self._unusable is not None:
                raise self._unusable
            asked, text = None, ""
            try:
                text = await self._post(path, {"model": self.model, **body})
                answer = read(self._read_reply(text, characters, expected))
                self._useless.clear()
                return answer
            except Malformed as error:
                problem = self._clean(str(error))
                self._count_useless(error.kind, problem, text)
            except _Temporary as error:
                problem, asked = str(error), error.asked
                if asked is not None and asked > self.retries.patience:
                    raise Failed(f"{problem}; it asks to wait {asked:,.0f} s") from None
                if asked is not None:
                    self._limits.pause(asked)
            if attempt + 1 < allowed:
                await self._clock.sleep(self.retries.wait(attempt, asked))
        raise Failed(f"{problem} (asked {allowed} times)")

    def _count_useless(self, kind: str, problem: str, text: str) -> None:
        """Count a reply that cannot be used; after `MOST_USELESS` of one kind in a row, no more are paid for."""
        if self._useless and self._useless[-1] != kind:
            self._useless.clear()
        self._useless.append(kind)
        if len(self._useless) >= MOST_USELESS and self.answering is not None:
            begins = self._clean(text[:SHOWN_REPLY]) or "nothing"
            self._unusable = Unusable(
                f"{MOST_USELESS} replies in a row could not be used: {problem}; the last one begins: {begins}"
            )
            raise self._unusable

    async def _post(self, path: str, body: Mapping[str, Any]) -> str:
        """Send one request and return the text of its reply."""
        import openai

        try:
            async with asyncio.timeout(self.settings.timeout):
                return str(await self._client.post(path, body=body, cast_to=str))
        except TimeoutError:
            raise _Temporary(f"no reply within {self.settings.timeout:g} s") from None
        except openai.APITimeoutError:
            message = f"no connection within {CONNECTING:g} s"
            if self.answering is None:  # it has never answered: the address may be wrong, so do not try for long
                raise Failed(f"{message}; is it the right address, http or https?") from None
            raise _Temporary(message) from None
        except openai.APIConnectionError as error:
            if isinstance(_root(error), ssl.SSLError) and self.answering is None:
                raise Failed(self._clean(f"no secure connection ({_root(error)}); is it http, not https?")) from None
            if "complete message body" in str(_root(error)):  # as h11 says it
                raise Malformed("the reply ends before it is whole") from None
            raise _Temporary(self._clean(f"the connection failed ({_worded(_root(error))})")) from None
        except openai.APIStatusError as error:
            raise self._refusal(error) from None

    def _read_reply(self, text: str, characters: int, expected: float) -> dict[str, Any]:
        """Read a reply as JSON, and count what it cost."""
        reply = _parsed(text)
        if "choices" not in reply:  # nothing was generated
            return reply
        taken = self.usage.add(reply, characters)
        if taken is not None:
            self._limits.correct(taken - expected)
        if self.answering is not None and reply.get("model") != self.answering:
            raise Malformed(f"model '{reply.get('model')}' answered instead of '{self.answering}'")
        return reply

    def _refusal(self, error: APIStatusError) -> Exception:
        message = self._clean(f"HTTP {error.status_code}: {_message(error)}")
        if error.status_code in (401, 402) or error.code == NO_CREDIT:
            return Barred(message, error.status_code)
        if error.status_code in TEMPORARY or error.status_code >= 500:
            return _Temporary(message, _retry_after(error.response.headers))
        return Failed(message, error.status_code)

    def _clean(self, text: str) -> str:
        """Shorten a server's message to one line of limited length, without the key."""
        if self._key:
            text = text.replace(self._key, "***")
        line = " ".join(storable(text).split())
        return line if len(line) <= LONGEST_MESSAGE else line[: LONGEST_MESSAGE - 3] + "..."


class _Temporary(Exception):
    """A failure that may not last, with the seconds to wait that the server asked for."""

    def __init__(self, message: str, asked: float | None = None) -> None:
        super().__init__(message)
        self.asked = asked


def storable(text: str) -> str:
    """Replace every half of a surrogate pair by U+FFFD: JSON can hold those, files cannot."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _parsed(text: str) -> dict[str, Any]:
    try:
        reply = json.loads(text)
    except (ValueError, RecursionError):
        raise Malformed("the reply is not whole JSON") from None
    if not isinstance(reply, dict):
        raise Malformed("the reply is no JSON object")
    if not reply.get("choices") and reply.get("error"):  # some gateways send errors with status 200
        raise Malformed(f"the reply is an error: {reply['error']}")
    return reply


def _message(error: APIStatusError) -> str:
    """Find the server's own message, in any of the places where servers put it."""
    body: Any = error.body
    for name in ("error", "message", "detail"):
        if isinstance(body, dict) and body.get(name):
            body = body[name]
    return str(body or error.message)


def _root(error: BaseException) -> BaseException:
    while (cause := error.__cause__ or error.__context__) is not None:
        error = cause
    return error


def _worded(error: BaseException) -> str:
    return str(error) or type(error).__name__


def _retry_after(headers: Mapping[str, str]) -> float | None:
    """Read the seconds that a reply asks to wait: `retry-after-ms`, or `Retry-After`, a number or date (RFC 9110)."""
    number = r"\s*\d+(\.\d*)?\s*"
    if re.fullmatch(number, milliseconds := headers.get("retry-after-ms", "")):
        return float(milliseconds) / 1000
    text = headers.get("retry-after", "")
    if re.fullmatch(number, text):
        return float(text) if float(text) < MOST_WAIT.total_seconds() else None
    try:
        date = parsedate_to_datetime(text)
    except ValueError:
        return None
    wait = (date if date.tzinfo else date.replace(tzinfo=UTC)) - datetime.now(UTC)
    # A wait of years is a slip of the server's, and says nothing.
    return max(0.0, wait.total_seconds()) if wait < MOST_WAIT else None
