"""A server like vLLM's whose model thinks: it tokenises, takes token ids, and continues messages; or it does not.

The model's thought depends on the prompt and the seed, its next token on all the text before it: a lost or mixed-up
thought shows in the probabilities. `next_tokens` is the whole distribution, for the reference.
"""

from __future__ import annotations

import asyncio
import functools
import hashlib
import math
import re
from collections.abc import Sequence
from typing import Any

from helpers.faulty_server import Fault, FaultyServer
from inference.engines.thinking_marks import THINKING, ThinkingMarks

END = "<|end|>"
WORDS = ("yes", "no", "Yes", "No", "entailment", "contradiction", "neutral", "positive", "negative", "good", "bad",
         *"ABCDE", *"0123456789", "Maybe")  # fmt: skip
# After "<think>\n", which the chat template writes.
WRITES = (
    "Hm, it is so.\n</think>\n\n",
    "Answer: A, or is it no?\n</think>\n",
    "</think>\n\n",
    "One <think>in another</think> one</think>\n\n",
    "First.</think>\n<think>Second.</think>\n\n",
    "It may be, " * 40,
)
WINDOW = 2048


def write_in_family(text: str, marks: ThinkingMarks) -> str:
    """A text with the marks of another family, and what follows its last closing mark."""
    if marks.opener:
        text = re.sub(r"</think>\s*$", "</think>" + marks.opener, text)
    return text.replace("</think>", marks.end).replace("<think>", marks.begin)


@functools.cache
def next_tokens(text: str) -> dict[str, float]:
    """What follows a text: a word with or without a space, or the end; after a digit the end, nearly always."""
    if text[-1:].isdigit():
        return {END: 0.96, ".": 0.02, "0": 0.015, "5": 0.005} | {f" {word}": 1e-12 for word in WORDS}
    forms = [END, *(space + word for word in WORDS for space in ("", " "))]
    weights = [hashlib.sha256(f"{form}{text}".encode()).digest()[0] ** 2 + 1 for form in forms]
    return {form: weight / sum(weights) for form, weight in zip(forms, weights, strict=True)}


class ThinkingServer(FaultyServer):
    """A context manager, as `FaultyServer`.

    Parameters
    ----------
    kind
        "ids": as vLLM's. "no ids": as an older one, which returns no token ids. "chat": it has chat only. So have:
        "ignoring" knows no fields that continue a message, "unended" ends it, "forgetting" leaves thoughts out of it,
        "trimming" drops line breaks at the end, "refusing" answers 400, "uncounted" counts no tokens.
    parted
        Whether thoughts come apart from texts, as `reasoning_content`.
    writes
        What the model may think, one of them for each sample.
    switches
        Whether the chat template can switch thinking off.
    one_by_one
        Whether it refuses several texts for one request.
    marks
        Those of the model's family.
    """

    def __init__(
        self,
        kind: str = "ids",
        *,
        parted: bool = False,
        writes: Sequence[str] = WRITES,
        switches: bool = True,
        one_by_one: bool = False,
        marks: ThinkingMarks = THINKING[0],
        **more: Any,
    ) -> None:
        super().__init__(**more)
        self.kind, self.parted, self.marks = kind, parted, marks
        self.writes = [write_in_family(text, marks) for text in writes]
        self.switches, self.one_by_one = switches, one_by_one
        self.vocabulary: list[str] = []
        self._ids: dict[str, int] = {}
        special = re.findall(r"<\|.+?\|>|<(?!\|).+?>|\[.+?\]", "".join(marks))  # one token each, in this family only
        specials = "|".join(map(re.escape, {*special, END, "<|user|>", "<|assistant|>", "<|system|>"}))
        self._pieces = re.compile(rf"{specials}|\n+| ?[A-Za-z]+| ?[0-9]|.", re.DOTALL)

    def encode(self, text: str) -> list[int]:
        """Token ids, a new one for every new piece."""
        pieces = self._pieces.findall(text)
        for piece in pieces:
            if piece not in self._ids:
                self._ids[piece] = len(self.vocabulary)
                self.vocabulary.append(piece)
        return [self._ids[piece] for piece in pieces]

    def decode(self, ids: Sequence[int]) -> str:
        return "".join(self.vocabulary[token] for token in ids)

    def render(self, body: dict[str, Any]) -> str:
        """What the chat template writes."""
        fields, messages = body.get("chat_template_kwargs") or {}, list(body["messages"])
        effort = body.get("reasoning_effort") or fields.get("reasoning_effort")
        continues = bool(body.get("continue_final_message")) and self.kind not in ("ignoring", "unended")
        last = messages.pop()["content"] if continues else None
        text = f"Effort: {effort}.\n" if effort and effort != "none" else ""
        text += "".join(f"<|{message['role']}|>\n{message['content']}{END}\n" for message in messages)
        if last is not None:
            if self.kind == "forgetting":
                last = last.rpartition(self.marks.end)[2]
            return f"{text}<|assistant|>\n{last.rstrip() if self.kind == 'trimming' else last}"
        if body.get("add_generation_prompt", True) or self.kind == "ignoring":
            text += f"<|assistant|>\n{self.marks.begin}\n"
            if fields.get("enable_thinking") is False and self.switches:
                text += write_in_family("\n</think>\n\n", self.marks)
        return text

    async def _answer_other(self, path: str, body: dict[str, Any]) -> tuple[int, Any]:
        if self.kind not in ("ids", "no ids"):
            return await super()._answer_other(path, body)
        if path == "/tokenize":
            ids = self.encode(self.render(body) if "messages" in body else body["prompt"])
            return 200, {"tokens": ids, "count": len(ids), "max_model_len": WINDOW}
        return 200, {"prompt": self.decode(body["tokens"])}

    async def _reply(
        self, writer: asyncio.StreamWriter, body: dict[str, Any], fault: Fault, headers: dict[str, str]
    ) -> bool:
        only_chat = self.kind not in ("ids", "no ids")
        refused = self.kind == "refusing" and "continue_final_message" in body
        if fault.kind == "none" and (only_chat and "prompt" in body):
            return await self._send(writer, 404, {"error": {"message": "no completions here"}})
        if fault.kind == "none" and (refused or (self.one_by_one and body.get("n", 1) > 1)):
            return await self._send(writer, 400, {"error": {"message": "unknown field"}})
        return await super()._reply(writer, body, fault, headers)

    def _reply_to(self, body: dict[str, Any], fault: Fault) -> dict[str, Any]:
        chat = "messages" in body
        prompt = self.render(body) if chat else body["prompt"]
        prompt = self.decode(prompt) if isinstance(prompt, list) else prompt
        choices, written_tokens = [], 0
        for sample in range(body.get("n") or 1):
            text = self._write(prompt, body, sample)
            ids = [*self.encode(text), *self.encode(END)][: body.get("max_tokens")]
            written_tokens += len(ids)
            stopped = ids[-1] == self.encode(END)[0]
            shown = self.decode(ids[:-1] if stopped else ids)
            choice: dict[str, Any] = {"index": sample, "finish_reason": "stop" if stopped else "length"}
            if body.get("return_token_ids") and self.kind == "ids":
                choice["token_ids"] = ids
            choice |= {"message": self._part(shown, prompt)} if chat else {"text": shown}
            asked = body.get("top_logprobs") if chat else body.get("logprobs")
            choice["logprobs"] = self._show(prompt, body, asked, chat) if asked else None
            choices.append(choice)
        usage = {"prompt_tokens": len(self.encode(prompt)), "completion_tokens": written_tokens}
        counted = {} if self.kind == "uncounted" else {"usage": usage}
        return {"id": "1", "model": self.model, "choices": choices, **counted}

    def _write(self, prompt: str, body: dict[str, Any], sample: int) -> str:
        """A thought, where the prompt opens one, and the likeliest word."""
        thought = ""
        if prompt.endswith(f"{self.marks.begin}\n"):
            # The likeliest is the first; the probe gets it.
            digest = hashlib.sha256(f"{body.get('seed')}{sample}{body.get('temperature')}{prompt}".encode()).digest()
            thought = self.writes[digest[0] % len(self.writes) if body.get("temperature") else 0]
            if self.marks.end not in thought:
                return thought
        after = next_tokens(prompt + thought)
        word = max(after, key=lambda form: after[form])
        return thought if word == END else thought + word

    def _part(self, text: str, prompt: str) -> dict[str, Any]:
        message: dict[str, Any] = {"role": "assistant", "content": text}
        if self.parted and prompt.endswith(f"{self.marks.begin}\n"):
            end = self.marks.end
            thought, _, answer = text.rpartition(end) if end in text else (text, "", "")
            message |= {"content": answer or None, "reasoning_content": thought}
        return message

    def _show(self, prompt: str, body: dict[str, Any], asked: int, chat: bool) -> dict[str, Any]:
        """The likeliest tokens, or the wanted ones and the likeliest; by id where that is wanted."""
        after = sorted(next_tokens(prompt).items(), key=lambda entry: -entry[1])
        named = body.get("logprob_token_ids")
        known = dict(after)
        kept = (
            [after[0], *((form, known.get(form, 0.0)) for form in map(self.vocabulary.__getitem__, named))]
            if named
            else after[:asked]
        )
        by_id = body.get("return_tokens_as_token_ids")
        entries = {
            f"token_id:{self.encode(form)[0]}" if by_id else form: math.log(p) if p else -9999.0 for form, p in kept
        }
        if chat:
            top = [{"token": token, "logprob": value} for token, value in entries.items()]
            return {"content": [{**top[0], "top_logprobs": top}]}
        return {"top_logprobs": [entries]}
