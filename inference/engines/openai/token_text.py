"""Find the surface forms of a prompt's options as a server can show them: token ids where it gives them, else texts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from inference.engines.exact.answer_words import Answers, Options, continuations, spaced, tail
from inference.engines.openai.bounds import Forms, by_ids, by_text
from inference.engines.openai.server import Malformed, Server

if TYPE_CHECKING:
    from inference.stimuli.prompts import Prompt

# Distinct contexts remembered; a template that ends in the item's text has as many contexts as items.
REMEMBERED_CONTEXTS = 1024


class Words:
    """Surface forms by prompt, looked up once for every context that decides how answers are tokenised."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self._chat_end: str | None = None
        self._known: dict[tuple[Answers, str], tuple[Options, Forms]] = {}

    async def forms(self, prompt: Prompt, ids: bool) -> Forms:
        """Find the forms of a prompt's options.

        Raises
        ------
        InputError
            Two options have the same form, or none of an option's forms can follow the prompt.
        Failed
            The server does not tokenise.
        """
        return (await self._resolved(prompt))[1] if ids else by_text(prompt.answers)

    async def explained(self, prompt: Prompt, ids: bool) -> tuple[Any, Any]:
        """Make `options` and `dropped` of a prompt's `Explanation`; without ids every form counts by its text."""
        if ids:
            options, _ = await self._resolved(prompt)
            return options.forms, options.dropped
        by_text(prompt.answers)
        return tuple(tuple((form, ()) for word in words for form in spaced(word)) for words in prompt.answers), ()

    async def _resolved(self, prompt: Prompt) -> tuple[Options, Forms]:
        context = tail(prompt.text) if prompt.text is not None else await self._end_of_chat(prompt)
        key = (prompt.answers, context)
        if key not in self._known:
            texts = [context, *(context + form for words in prompt.answers for word in words for form in spaced(word))]
            ids = {text: await tokenize(self._server, text) for text in dict.fromkeys(texts)}

            def encode(texts: Sequence[str]) -> list[list[int]]:
                return [ids[text] for text in texts]

            options = continuations(context, prompt.answers, encode)
            if len(self._known) >= REMEMBERED_CONTEXTS:
                self._known.clear()
            self._known[key] = (options, by_ids(options))
        return self._known[key]

    async def _end_of_chat(self, prompt: Prompt) -> str:
        """Ask for the end of a chat as the chat template writes it; it is the same for every prompt."""
        if self._chat_end is None:
            root = _root(self._server)
            body = {"messages": list(prompt.messages or ()), "add_generation_prompt": True}
            tokens = await self._server.ask(f"{root}/tokenize", body, 0, _tokens)
            text = await self._server.ask(f"{root}/detokenize", {"tokens": tokens}, 0, _text)
            self._chat_end = tail(text)
        return self._chat_end


async def tokenize(server: Server, text: str, attempts: int = 0) -> list[int]:
    """Ask vLLM's endpoint for the token ids of a text, without special tokens.

    Raises
    ------
    Failed
        The server does not tokenise.
    """
    body = {"prompt": text, "add_special_tokens": False}
    return await server.ask(f"{_root(server)}/tokenize", body, 0, _tokens, attempts) if text else []


def _root(server: Server) -> str:
    return server.settings.address.removesuffix("/v1")


def _tokens(reply: dict[str, Any]) -> list[int]:
    tokens = reply.get("tokens")
    if not isinstance(tokens, list) or not tokens or not all(type(token) is int for token in tokens):
        raise Malformed("the reply has no token ids")
    return tokens


def _text(reply: dict[str, Any]) -> str:
    if not isinstance(text := reply.get("prompt"), str):
        raise Malformed("the reply has no text")
    return text
