"""Receive the reply to a request, within limits of size and time, and read it as JSON.

Servers are asked for replies as they are (`Accept-Encoding: identity`): those to a question are short, and a packed one
of a few kilobytes can unpack to gigabytes. Gzip and deflate, from a server that packs all the same, are unpacked piece
by piece and counted unpacked; anything else is refused, since not every library can be told to stop.
"""

from __future__ import annotations

import asyncio
import json
import re
import zlib
from collections.abc import Coroutine, Iterator
from contextlib import aclosing
from ssl import PROTOCOL_TLS_CLIENT, SSLContext
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from inference.engines.openai.failures import Temporary

if TYPE_CHECKING:
    from httpx2 import AsyncClient, Request, Response

MOST_BYTES = 16_000_000  # of a reply, unpacked
PIECE = 1 << 16  # bytes unpacked at a time
BEGINNING = 1000  # characters kept of a reply that cannot be used: more than are shown, so that no key is cut in two
PACKED = ("gzip", "x-gzip", "deflate")
AS_IT_IS = {"Accept-Encoding": "identity"}


class MalformedReply(Exception):
    """A reply that is not what was asked for; the same request may get a better one.

    Attributes
    ----------
    begins
        How the reply begins, where no text of it can be returned.
    """

    def __init__(self, message: str, begins: str = "") -> None:
        super().__init__(message)
        self.begins = begins

    @property
    def message_without_details(self) -> str:
        """Return what such replies have in common: the message without numbers, names and what the server says.

        >>> MalformedReply("model 'a-7' answered instead of 'b'").message_without_details
        'model N answered instead of N'
        >>> MalformedReply("the reply is an error: id 17").message_without_details
        'the reply is an error'
        """
        return re.sub(r"'[^']*'|\d+(\.\d+)?", "N", str(self).partition(":")[0])


class TooLarge(MalformedReply):
    """A reply of more than `MOST_BYTES`."""


class Body:
    """The bytes of a reply, unpacked as they come.

    Parameters
    ----------
    encoding
        How the reply is packed, as its header says.
    """

    def __init__(self, encoding: str) -> None:
        self._encoding = encoding.strip().lower()
        # Tells gzip from deflate by itself.
        self._packing = zlib.decompressobj(zlib.MAX_WBITS | 32) if self._encoding in PACKED else None
        self._received = 0
        self._bytes = bytearray()

    @property
    def beginning(self) -> str:
        """The first characters."""
        return self._bytes[: 4 * BEGINNING].decode(errors="replace")[:BEGINNING]

    def add(self, received: bytes) -> None:
        """Take the next bytes from the server.

        Raises
        ------
        MalformedReply
            There are too many, packed or unpacked, or they are packed in a way that cannot be unpacked here.
        """
        if self._encoding not in ("", "identity", *PACKED):
            raise MalformedReply(f"the reply is packed ('{self._encoding}'), which was not asked for")
        self._received += len(received)
        for piece in self._iterate_decompressed_pieces(received):
            self._bytes += piece
            if len(self._bytes) > MOST_BYTES:
                break
        if max(self._received, len(self._bytes)) > MOST_BYTES:
            raise TooLarge(f"the reply is larger than {MOST_BYTES / 1e6:.0f} MB", self.beginning)

    def refuse_unfinished_compressed_body(self) -> None:
        """Refuse a packed body whose end is missing.

        Raises
        ------
        MalformedReply
            What is packed has no end.
        """
        if self._packing is not None and not self._packing.eof:
            raise MalformedReply("the reply ends before it is whole", self.beginning)

    def get_all_received_bytes(self) -> bytes:
        """Return all that came."""
        return bytes(self._bytes)

    def _iterate_decompressed_pieces(self, received: bytes) -> Iterator[bytes]:
        """Yield received bytes unpacked, piece by piece."""
        if self._packing is None:
            yield received
        elif not self._packing.eof:
            try:
                while piece := self._packing.decompress(received, PIECE):
                    yield piece
                    received = self._packing.unconsumed_tail
            except zlib.error:
                raise MalformedReply("the reply cannot be unpacked", self.beginning) from None


def make_http_client(address: str, timeout_seconds: float) -> AsyncClient:
    """Make an HTTP client that returns whole replies only.

    Parameters
    ----------
    address
        Of the server: with https:// its certificate is checked.
    timeout_seconds
        Limit for each reply.

    Returns
    -------
    The client, which follows no redirects.
    """
    from openai import DefaultAsyncHttpxClient

    class Client(DefaultAsyncHttpxClient):
        async def send(self, request: Request, **options: Any) -> Response:
            return await receive_whole_reply(super().send(request, **{**options, "stream": True}), timeout_seconds)

    # A server without TLS shows no certificate. To read those of all authorities would take longer than a reply, so
    # none is trusted.
    is_plain = urlsplit(address).scheme == "http"
    # A redirect would send the key to another server.
    return Client(follow_redirects=False, verify=SSLContext(PROTOCOL_TLS_CLIENT) if is_plain else True)


async def receive_whole_reply(sending: Coroutine[Any, Any, Response], timeout_seconds: float) -> Response:
    """Wait for a reply and read it whole.

    Parameters
    ----------
    sending
        Sends the request and returns the reply, its body still to be read.
    timeout_seconds
        Limit for all of that.

    Returns
    -------
    Response
        The same with its body, as plain UTF-8. Where the status says that it is an error, the body may be incomplete.

    Raises
    ------
    Temporary
        Nothing came within the time.
    MalformedReply
        The body is too large, packed, cut, or not whole within the time.
    """
    response = None
    try:
        async with asyncio.timeout(timeout_seconds):
            response = await sending
            body = Body(response.headers.get("content-encoding", ""))
            await _read_reply_into_body(response, body)
    except TimeoutError:
        if response is None:
            raise Temporary(f"no reply within {timeout_seconds:g} s") from None
        if response.is_success:
            raise MalformedReply(f"the reply is not whole after {timeout_seconds:g} s", body.beginning) from None
    finally:
        if response is not None:
            await response.aclose()
    # Without the names of encodings: Python's own `zlib` would be taken for one of characters, and unpack.
    headers = [(name, value) for name, value in response.headers.items() if name.startswith(("retry-after", "x-"))]
    return type(response)(
        response.status_code, headers=headers, content=body.get_all_received_bytes(), request=response.request
    )


async def _read_reply_into_body(response: Response, body: Body) -> None:
    """Read the body of a reply to its end; a body that breaks off is malformed, but for a reply that is an error."""
    async with aclosing(response.aiter_raw()) as pieces:
        try:
            async for piece in pieces:
                body.add(piece)
            body.refuse_unfinished_compressed_body()
        except TooLarge:
            raise
        except Exception as error:  # among them httpx's errors of a connection, and those of TLS, which it lets through
            if isinstance(error, MalformedReply) and response.is_success:
                raise
            if response.is_success:
                raise MalformedReply("the reply ends before it is whole", body.beginning) from None


def parse_reply_as_json_object(text: str) -> dict[str, Any]:
    """Read a reply as a JSON object.

    Raises
    ------
    MalformedReply
        It is none, or an error.
    """
    try:
        reply = json.loads(text)
    except (ValueError, RecursionError):
        raise MalformedReply("the reply is not whole JSON") from None
    if not isinstance(reply, dict):
        raise MalformedReply("the reply is no JSON object")
    if not reply.get("choices") and reply.get("error"):  # some gateways send errors with status 200
        raise MalformedReply(f"the reply is an error: {reply['error']}")
    return reply


def replace_surrogates(text: str) -> str:
    """Replace every half of a surrogate pair by U+FFFD: JSON can hold those, files cannot."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
