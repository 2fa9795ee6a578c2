"""Send a request to a server and repeat it until it is answered or has failed for good."""

from __future__ import annotations

import ssl
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from ground.extras import convert_import_errors_to_install_advice
from inference.engines.openai.doubts import Doubts
from inference.engines.openai.failures import (
    RequestFailed,
    Retries,
    ServerRefused,
    Temporary,
    find_original_cause_of_error,
    get_message_or_name_of_error,
    read_retry_after,
)
from inference.engines.openai.limits import Clock, Limits
from inference.engines.openai.replies import (
    AS_IT_IS,
    MalformedReply,
    make_http_client,
    parse_reply_as_json_object,
    replace_surrogates,
)
from inference.engines.openai.settings import ApiSettings
from inference.engines.openai.usage import Usage

if TYPE_CHECKING:
    from openai import APIConnectionError, APIStatusError

T = TypeVar("T")

LONGEST_MESSAGE = 300
CONNECTING = 5.0  # seconds until a server must have taken a connection, secured where it is https
TEMPORARY = (408, 409, 425, 429)  # and every status from 500 on
NO_CREDIT = "insufficient_quota"
SHOWN_REPLY = 120  # characters of a reply that cannot be used


class Server:
    """An OpenAI-compatible server and the model it is asked for.

    Attributes
    ----------
    usage
        What was asked so far.
    answering
        Name under which the model answered the probe; from then on a reply of any other model is malformed.
    doubts
        Whether the server still gives replies that can be used.
    """

    def __init__(self, model: str, settings: ApiSettings, retries: Retries, clock: Clock) -> None:
        with convert_import_errors_to_install_advice("--engine openai"):
            from openai import AsyncOpenAI, Timeout

        self.model = model
        self.settings = settings
        self.retries = retries
        self.usage = Usage()
        self.answering: str | None = None
        self.doubts = Doubts()
        self._clock = clock
        self._limits = Limits(settings.requests_per_minute, settings.tokens_per_minute, clock)
        self._key = settings.key
        # The client's own retries are off: they would not count towards the rate limits.
        self._client = AsyncOpenAI(
            api_key=self._key or "none",
            base_url=settings.address,
            max_retries=0,
            # Its timeout is off too, but for the connection: it counts the time between two bytes, so a very slow reply
            # would never end.
            timeout=Timeout(None, connect=CONNECTING),
            default_headers=AS_IT_IS,
            http_client=make_http_client(settings.address, settings.timeout),
        )

    async def close(self) -> None:
        """Close the connections."""
        await self._client.close()

    async def ask(
        self,
        path: str,
        body: Mapping[str, Any],
        n_characters: int,
        read_reply: Callable[[dict[str, Any]], T],
        max_attempts: int = 0,
    ) -> T:
        """Send a request until its reply can be read.

        Parameters
        ----------
        path
            Endpoint below the address.
        body
            The request; the model's name is added.
        n_characters
            Length of the prompt, for the token limit; 0: it is no prompt of the study, and counts as a trial.
        read_reply
            Turns the reply into the result, or raises `MalformedReply`.
        max_attempts
            Largest number of requests; 0: as `Retries` says.

        Returns
        -------
        What `read_reply` makes of the reply.

        Raises
        ------
        RequestFailed
            The server refuses this request, or did not answer it in any attempt.
        ServerRefused
            The server refuses every request.
        """
        problem = ""
        allowed = max_attempts or self.retries.attempts
        expected = self.usage.estimate_prompt_tokens(n_characters)
        for attempt in range(allowed):
            await self._limits.wait_for_limits(expected)
            async with self.doubts.wait_and_count_request_during_block() as number:
                if attempt:
                    self.usage.note_repeated_request(problem)
                kind, requested_wait, text = "", None, ""
                try:
                    text = await self._post_request_for_reply_text(path, {"model": self.model, **body})
                    answer = read_reply(self._parse_and_count_reply(text, n_characters, expected))
                    self.doubts.note_usable_reply(number)
                    return answer
                except MalformedReply as error:
                    kind, problem = error.message_without_details, self._shorten_server_message(str(error))
                    begins = self._shorten_server_message(error.begins or text)[:SHOWN_REPLY] or "nothing"
                except Temporary as error:
                    problem, requested_wait = str(error), error.requested_wait
                if kind:  # not raised above, where the error would keep the whole reply
                    self.doubts.note_unusable_reply(kind, f"{problem}; the last one begins: {begins}")
                self._pause_requests_or_fail_beyond_patience(problem, requested_wait)
            if attempt + 1 < allowed:
                await self._clock.sleep(self.retries.draw_seconds_before_retry(attempt, requested_wait))
        raise RequestFailed(f"{problem} (asked {allowed} times)")

    def _pause_requests_or_fail_beyond_patience(self, problem: str, requested_wait: float | None) -> None:
        """Let all requests wait as long as the server asked one to, within patience."""
        if requested_wait is not None and requested_wait > self.retries.patience:
            raise RequestFailed(f"{problem}; it asks to wait {requested_wait:,.0f} s") from None
        if requested_wait is not None:
            self._limits.pause(requested_wait)

    async def _post_request_for_reply_text(self, path: str, body: Mapping[str, Any]) -> str:
        """Send one request and return the text of its reply."""
        import openai

        try:
            return str(await self._client.post(path, body=body, cast_to=str))
        except openai.APITimeoutError:
            message = f"no connection within {CONNECTING:g} s"
            if self.answering is None:  # it has never answered: the address may be wrong, so do not try for long
                raise RequestFailed(f"{message}; is it the right address, http or https?") from None
            raise Temporary(message) from None
        except openai.APIConnectionError as error:
            raise self._build_connection_error(error) from None
        except openai.APIStatusError as error:
            raise self._build_status_error(error) from None

    def _build_connection_error(self, error: APIConnectionError) -> Exception:
        """Build the error of a failed connection: temporary, or for good where the server has never answered."""
        if isinstance(
            error.__cause__, (MalformedReply, Temporary)
        ):  # older clients wrap what `receive_whole_reply` raises
            return error.__cause__
        root = find_original_cause_of_error(error)
        if isinstance(root, ssl.SSLError) and self.answering is None:
            return RequestFailed(self._shorten_server_message(f"no secure connection ({root}); is it http, not https?"))
        return Temporary(self._shorten_server_message(f"the connection failed ({get_message_or_name_of_error(root)})"))

    def _parse_and_count_reply(self, text: str, n_characters: int, expected_tokens: float) -> dict[str, Any]:
        """Read a reply as JSON, and count what it cost."""
        reply = parse_reply_as_json_object(text)
        if "choices" not in reply:  # nothing was generated
            return reply
        n_tokens = self.usage.count_reply_and_return_tokens(reply, n_characters)
        if n_tokens is not None:
            self._limits.adjust_reserved_tokens(n_tokens - expected_tokens)
        if self.answering is not None and reply.get("model") != self.answering:
            raise MalformedReply(f"model '{reply.get('model')}' answered instead of '{self.answering}'")
        return reply

    def _build_status_error(self, error: APIStatusError) -> Exception:
        """Build the error of a reply with an error status: temporary, for this request, or for all."""
        message = self._shorten_server_message(f"HTTP {error.status_code}: {_find_server_message(error)}")
        if error.status_code in (401, 402) or error.code == NO_CREDIT:
            return ServerRefused(message, error.status_code)
        if error.status_code in TEMPORARY or error.status_code >= 500:
            return Temporary(message, read_retry_after(error.response.headers))
        return RequestFailed(message, error.status_code)

    def _shorten_server_message(self, text: str) -> str:
        """Shorten a server's message to one line of limited length, without the key."""
        if self._key:
            text = text.replace(self._key, "***")
        line = " ".join(replace_surrogates(text).split())
        return line if len(line) <= LONGEST_MESSAGE else line[: LONGEST_MESSAGE - 3] + "..."


def _find_server_message(error: APIStatusError) -> str:
    """Find the server's own message, in any of the places where servers put it."""
    body: Any = error.body
    for name in ("error", "message", "detail"):
        if isinstance(body, dict) and body.get(name):
            body = body[name]
    return str(body or error.message)
