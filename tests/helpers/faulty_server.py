"""An OpenAI-compatible server whose model is a hash, and which fails as it is told.

Its answers depend on the prompt alone, so a lost, doubled or mixed-up answer shows in the rows.
`python -m helpers.faulty_server PORT`, in `tests/`, serves without faults.
"""

from __future__ import annotations

import asyncio
import functools
import hashlib
import json
import math
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from helpers.broken_replies import BROKEN, SLOW, write_head

MODEL = "hash-1"
WORDS = (" Yes", " No", "Yes", "No", " yes", " no", "yes", "no", " YES", " NO", "Y", " N", "Maybe", "It", "The", "I",
         " I", "As", "To", "\n", " the", "This", "Well", "Of")  # fmt: skip
HIDDEN = 0.05  # probability that no shown token has


@dataclass(frozen=True)
class Fault:
    """What goes wrong with one request.

    kind: drop (no reply), late (the whole reply, after nothing for long), hang (never a reply), status (an HTTP error),
    bare (no log-probabilities), few (fewer than asked), other (another model), nan and positive (log-probabilities that
    are none), none (no error), and those of `broken_replies.BROKEN`.
    """

    kind: str
    status: int = 0
    message: str = "out of order"
    headers: dict[str, str] = field(default_factory=dict)
    code: str | None = None


@functools.cache
def distribution(text: str) -> list[tuple[str, float]]:
    """Words and their probabilities behind a prompt, the likeliest first."""
    weights = [hashlib.sha256(f"{word}{text}".encode()).digest()[0] + 1 for word in WORDS]
    total = sum(weights) / (1 - HIDDEN)
    return sorted(((word, weight / total) for word, weight in zip(WORDS, weights, strict=True)), key=lambda p: -p[1])


def text_of(body: dict[str, Any]) -> str:
    """The prompt of a request."""
    return str(body["prompt"]) if "prompt" in body else "\n".join(message["content"] for message in body["messages"])


class FaultyServer:
    """A context manager; serves on loopback from a thread of its own.

    Parameters
    ----------
    fault
        From the number of the request (the probe's are among them), its prompt and how often that came before: what
        goes wrong.
    thoughts
        What the model thinks before it answers.
    choice_fields
        Further fields of every choice.
    """

    def __init__(
        self,
        fault: Callable[[int, str, int], Fault | None] = lambda number, text, before: None,
        *,
        model: str = MODEL,
        thoughts: str = "",
        most: int = 20,
        delay: float = 0.0,
        choice_fields: Mapping[str, Any] = MappingProxyType({}),
    ) -> None:
        self.fault, self.model, self.thoughts, self.most, self.delay = fault, model, thoughts, most, delay
        self.choice_fields = choice_fields
        self.requests: list[tuple[str, dict[str, Any]]] = []  # path, body
        self.served: list[tuple[float, str]] = []  # when a whole reply was sent, and to which prompt
        self.keys: set[str] = set()
        self.under_way = self.most_under_way = 0
        self._seen: Counter[str] = Counter()

    def __enter__(self) -> FaultyServer:
        self._loop = asyncio.new_event_loop()
        self._server = self._loop.run_until_complete(asyncio.start_server(self._serve, "127.0.0.1", 0))
        self.port = self._server.sockets[0].getsockname()[1]
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        async def stop() -> None:
            self._server.close()
            for task in asyncio.all_tasks() - {asyncio.current_task()}:
                task.cancel()

        asyncio.run_coroutine_threadsafe(stop(), self._loop).result()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    def asked(self, text: str) -> int:
        """How often a prompt that contains a text was asked for."""
        return sum(text in text_of(body) for _, body in self.requests)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while await self._answer(reader, writer):
                pass
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass
        finally:
            writer.close()

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        """Answer one request; whether the connection may go on."""
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
        path = head.split(" ")[1]
        headers = dict(line.lower().split(": ", 1) for line in head.split("\r\n")[1:] if ": " in line)
        raw = await reader.readexactly(int(headers.get("content-length", 0)))
        if not path.endswith("completions"):
            return await self._send(writer, *await self._answer_other(path, json.loads(raw or b"{}")))
        body = json.loads(raw)
        text = text_of(body)
        number, before = len(self.requests), self._seen[text]
        self.requests.append((path, body))
        self.keys.add(headers.get("authorization", ""))
        self._seen[text] += 1
        self.under_way += 1
        self.most_under_way = max(self.most_under_way, self.under_way)
        if self.delay:
            await asyncio.sleep(self.delay)
        self.under_way -= 1
        return await self._reply(writer, body, self.fault(number, text, before) or Fault("none"), headers)

    async def _answer_other(self, path: str, body: dict[str, Any]) -> tuple[int, Any]:
        """Status and content of the answer to what is no completion."""
        return 404, {"error": {"message": f"no {path} here"}}

    async def _reply(
        self, writer: asyncio.StreamWriter, body: dict[str, Any], fault: Fault, headers: dict[str, str]
    ) -> bool:
        if fault.kind == "drop":
            return False
        if fault.kind == "status":
            message = fault.message.replace("KEY", headers.get("authorization", ""))
            error = {"error": {"message": message, "code": fault.code}}
            return await self._send(writer, fault.status, error, fault.headers)
        reply = self._reply_to(body, fault)
        if fault.kind in BROKEN:
            return await BROKEN[fault.kind](writer, json.dumps(reply).encode())
        if fault.kind == "hang":
            await asyncio.sleep(3600)
        if fault.kind == "late":
            await asyncio.sleep(SLOW)
        await self._send(writer, 200, reply)
        self.served.append((time.monotonic(), text_of(body)))
        return True

    async def _send(
        self, writer: asyncio.StreamWriter, status: int, content: Any, headers: dict[str, str] | None = None
    ) -> bool:
        payload = json.dumps(content).encode()
        writer.write(write_head(len(payload), status, **(headers or {})) + payload)
        await writer.drain()
        return True

    def _reply_to(self, body: dict[str, Any], fault: Fault) -> dict[str, Any]:
        text, chat = text_of(body), "messages" in body
        asked = body.get("top_logprobs") if chat else body.get("logprobs")
        shown = distribution(text)[: min(asked or 0, self.most) // (2 if fault.kind == "few" else 1)]
        texts = [self._write(text, body, sample) for sample in range(body.get("n") or 1)]
        choices = []
        for index, written in enumerate(texts):
            choice: dict[str, Any] = {"index": index, "finish_reason": "stop", "logprobs": None, **self.choice_fields}
            if chat:
                choice["message"] = {
                    "role": "assistant",
                    "content": written,
                    "reasoning_content": self.thoughts or None,
                }
            else:
                choice["text"] = written
            if fault.kind in ("nan", "positive"):  # JSON as Python writes it: NaN
                shown = [(word, math.nan if fault.kind == "nan" else 2.0) for word, _ in shown]
            if asked and fault.kind != "bare":
                choice["logprobs"] = _chat_logprobs(shown) if chat else _completion_logprobs(shown)
            choices.append(choice)
        model = "another-model" if fault.kind == "other" else self.model
        usage = {"prompt_tokens": len(text.split()) + 3, "completion_tokens": len(texts)}
        return {"id": "1", "model": model, "choices": choices, "usage": usage | {"total_tokens": 0}}

    def _write(self, text: str, body: dict[str, Any], sample: int) -> str:
        """The likeliest word, or one drawn with the seed."""
        words = distribution(text)
        if not body.get("temperature"):
            return words[0][0]
        digest = hashlib.sha256(f"{body.get('seed')}{sample}{body['temperature']}{text}".encode()).digest()
        return words[digest[0] % len(words)][0]


def _chat_logprobs(shown: list[tuple[str, float]]) -> dict[str, Any]:
    entries = [{"token": w, "logprob": math.log(p), "bytes": list(w.encode())} for w, p in shown]
    return {"content": [{**entries[0], "top_logprobs": entries}]}


def _completion_logprobs(shown: list[tuple[str, float]]) -> dict[str, Any]:
    top = {word: math.log(p) for word, p in shown}
    return {
        "tokens": [shown[0][0]],
        "token_logprobs": [math.log(shown[0][1])],
        "top_logprobs": [top],
        "text_offset": [0],
    }


async def _forever(port: int) -> None:
    server = FaultyServer()
    async with await asyncio.start_server(server._serve, "127.0.0.1", port) as listening:
        await listening.serve_forever()


if __name__ == "__main__":
    asyncio.run(_forever(int(sys.argv[1])))
