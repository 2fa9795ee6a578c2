"""What a server can do, found out with a short question before anything else is asked."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from inference.engines.api.requests import Shape, answered, written
from inference.engines.api.server import Barred, Failed, Malformed, Server
from inference.engines.api.shown import Shown, first_tokens
from inference.errors import InputError

QUESTION = "Is water wet? Reply yes or no."
# A wrong address should be told at once, a passing failure should not end the call.
ATTEMPTS = 3


@dataclass(frozen=True, slots=True)
class Probe:
    """What an endpoint answered.

    Attributes
    ----------
    shape
        How its requests have to look.
    unshown
        Why option probabilities cannot be read off its replies; None where they can.
    thinks
        Whether the model writes its thoughts before the answer.
    """

    shape: Shape
    unshown: str | None
    thinks: bool


async def probe(server: Server, shape: Shape) -> Probe:
    """Ask an endpoint for one token with its log-probabilities.

    Sets the name under which the model answers.

    Raises
    ------
    InputError
        The server cannot be reached, refuses, or answers with another model.
    """
    where = f"{server.settings.address} ({shape.api})"
    asked = server.settings.shown(shape.api)
    prompt = shape.prompt(QUESTION)

    def shown(reply: dict[str, Any]) -> tuple[dict[str, Any], tuple[Shown, ...]]:
        return reply, first_tokens(answered(reply)[0], asked)

    unshown = None
    try:
        try:
            reply, tokens = await server.ask(shape.path, shape.score(prompt, asked), len(QUESTION), shown, ATTEMPTS)
        except Barred:
            raise
        except Failed as error:
            # Perhaps it is only the log-probabilities that are refused or missing.
            reply, shape = await _ask_plainly(server, shape)
            tokens, unshown = (), f"{where} shows no {asked} log-probabilities: {error}; see --top-logprobs"
    except Barred as error:
        raise InputError(f"{where}: {error}; set {server.settings.key_variable} to a valid key") from None
    except Failed as error:
        raise InputError(f"{where} cannot be asked for model '{server.model}': {error}") from None
    server.answering = _checked_name(server.model, reply.get("model"), where)
    if shape.ids and tokens and any(token.id is None for token in tokens):
        return await probe(server, shape.without_ids())
    if tokens and all(token.logprob == float("-inf") for token in tokens[1:]) and len(tokens) > 1:
        unshown = f"{where} shows what it samples from, not the model's own probabilities: change how it is started"
    thinks = _thinks(reply, answered(reply)[0])
    if thinks:
        unshown = f"model '{server.model}' thinks before it answers, so its first token is no answer: generate its text"
    return Probe(shape, unshown, thinks)


async def _ask_plainly(server: Server, shape: Shape) -> tuple[dict[str, Any], Shape]:
    """Without log-probabilities; newer models of OpenAI have another name for the number of tokens."""

    def read(reply: dict[str, Any]) -> dict[str, Any]:
        answered(reply)
        return reply

    async def ask(shape: Shape) -> dict[str, Any]:
        return await server.ask(shape.path, shape.plain(shape.prompt(QUESTION)), len(QUESTION), read, ATTEMPTS)

    try:
        return await ask(shape), shape
    except Failed as error:
        if error.status != 400 or "max_completion_tokens" not in str(error):
            raise
        newer = shape.newer()
        return await ask(newer), newer


def _checked_name(asked: str, answering: Any, where: str) -> str:
    """The name under which the model answered: the one asked for, or that of a dated release of it."""
    if not isinstance(answering, str) or not answering:
        raise InputError(f"{where}: the reply does not say which model answered; '{asked}' was asked")
    if answering != asked and not re.fullmatch(re.escape(asked) + r"-\d[\d.-]*", answering):
        raise InputError(f"{where}: model '{' '.join(answering.split())[:100]}' answered, '{asked}' was asked; correct --model")
    return answering


def _thinks(reply: Mapping[str, Any], choice: Mapping[str, Any]) -> bool:
    details = (reply.get("usage") or {}).get("completion_tokens_details") or {}
    text = written(choice)
    return bool(text.thoughts) or text.answer is None or bool(details.get("reasoning_tokens"))


async def tokenizes(server: Server) -> bool:
    """Whether the server tells token ids (vLLM's does): then answers are matched by id, not by text."""
    try:
        return bool(await tokenize(server, QUESTION, attempts=1))
    except Failed:
        return False


async def tokenize(server: Server, text: str, attempts: int = 0) -> list[int]:
    """Token ids of a text, without special tokens."""

    def read(reply: dict[str, Any]) -> list[int]:
        tokens = reply.get("tokens")
        if not isinstance(tokens, list) or not all(type(token) is int for token in tokens):
            raise Malformed("the reply has no token ids")
        return tokens

    root = server.settings.address.removesuffix("/v1")
    body = {"prompt": text, "add_special_tokens": False}
    return await server.ask(f"{root}/tokenize", body, 0, read, attempts) if text else []
