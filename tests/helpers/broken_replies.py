"""Replies that no client should take as they are: cut, dripping, endless, or far larger unpacked than packed."""

from __future__ import annotations

import asyncio
import functools
import gzip
import math
import zlib
from asyncio import StreamWriter
from collections.abc import Awaitable, Callable
from http import HTTPStatus

# Seconds until a slow reply is complete, and between two pieces of one that drips.
SLOW, PAUSE = 4.0, 0.04
BOMB = 100_000_000  # bytes of a bomb, unpacked
PAGE = b"<html><title>Sign in</title>\x1b[31m</html>"


def write_head(length: int | None, status: int = 200, **headers: str) -> bytes:
    """Write the head of a reply; without a length, its body comes in chunks."""
    body = "transfer-encoding: chunked" if length is None else f"content-length: {length}"
    lines = [f"HTTP/1.1 {status} {HTTPStatus(status).phrase}", body]
    lines += [
        f"{name.replace('_', '-')}: {value}" for name, value in ({"content_type": "application/json"} | headers).items()
    ]
    return ("\r\n".join(lines) + "\r\n\r\n").encode()


async def send_payload(writer: StreamWriter, payload: bytes, **headers: str) -> bool:
    writer.write(write_head(len(payload), **headers) + payload)
    await writer.drain()
    return True


async def _drip(writer: StreamWriter, content: bytes, size: int) -> bool:
    for start in range(0, len(content), size):
        writer.write(content[start : start + size])
        await writer.drain()
        await asyncio.sleep(PAUSE)
    return True


async def _end_within(writer: StreamWriter, payload: bytes) -> bool:
    writer.write(write_head(len(payload)) + payload[: len(payload) // 2])
    await writer.drain()
    return False


async def _drip_pieces(writer: StreamWriter, payload: bytes) -> bool:
    writer.write(write_head(len(payload)))
    return await _drip(writer, payload, math.ceil(len(payload) * PAUSE / SLOW))


async def _drip_bytes(writer: StreamWriter, payload: bytes) -> bool:
    writer.write(write_head(len(payload)))
    return await _drip(writer, payload, 1)


async def _drip_head(writer: StreamWriter, payload: bytes) -> bool:
    return await _drip(writer, write_head(len(payload), server="slow" * 50) + payload, 1)


async def _go_on_for_ever(writer: StreamWriter, payload: bytes, status: int = 200) -> bool:
    writer.write(write_head(None, status) + b'd\r\n{"choices": "\r\n')
    piece = b" " * 65536
    while True:
        writer.write(b"%x\r\n%b\r\n" % (len(piece), piece))
        await writer.drain()


@functools.cache
def make_bomb(bits: int) -> bytes:
    """Pack a reply of `BOMB` bytes, as zlib does with these `wbits`."""
    packer, piece = zlib.compressobj(9, zlib.DEFLATED, bits), b" " * 1_000_000
    return b"".join(
        [
            packer.compress(b'{"choices": "'),
            *(packer.compress(piece) for _ in range(BOMB // len(piece))),
            packer.flush(),
        ]
    )


def _bomb(encoding: str, bits: int = zlib.MAX_WBITS | 16) -> Callable[[StreamWriter, bytes], Awaitable[bool]]:
    return lambda writer, payload: send_payload(writer, make_bomb(bits), content_encoding=encoding)


BROKEN: dict[str, Callable[[StreamWriter, bytes], Awaitable[bool]]] = {
    "half": _end_within,
    "cut": lambda writer, payload: send_payload(writer, payload[:-40]),
    "login": lambda writer, payload: send_payload(writer, PAGE),
    "drip": _drip_pieces,
    "drip bytes": _drip_bytes,
    "drip head": _drip_head,
    "endless": _go_on_for_ever,
    "endless error": lambda writer, payload: _go_on_for_ever(writer, payload, 500),
    "packed": lambda writer, payload: send_payload(writer, gzip.compress(payload), content_encoding="gzip"),
    "packed half": lambda writer, payload: send_payload(writer, gzip.compress(payload)[:-20], content_encoding="gzip"),
    "gzip": _bomb("gzip"),
    "deflate": _bomb("deflate", zlib.MAX_WBITS),
    "twice": lambda writer, payload: send_payload(writer, gzip.compress(make_bomb(31)), content_encoding="gzip, gzip"),
    "br": _bomb("br"),  # no client that was not asked for it would unpack it
    "zstd": _bomb("zstd"),
    "charset": lambda writer, payload: send_payload(
        writer, make_bomb(zlib.MAX_WBITS), content_type="text/html; charset=zlib"
    ),
    "large": lambda writer, payload: send_payload(writer, payload[:-1] + b" " * 10_000_000 + b"}"),
}
"""What goes wrong -> writes such a reply in the place of a good one; whether the connection may go on."""
