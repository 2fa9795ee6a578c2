"""Find the surface forms of a prompt's options as a server can show them: token ids where it gives them, else texts."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Hashable, Sequence
from typing import TYPE_CHECKING, Any

from inference.engines.exact.answer_words import Options, continuations, spaced, tail
from inference.engines.openai.bounds import Forms, by_ids, by_text
from inference.engines.openai.replies import Malformed
from inference.engines.openai.server import Server

if TYPE_CHECKING:
    from inference.stimuli.prompts import Prompt

# Distinct contexts remembered; a template that ends in the item's text has as many contexts as items.
REMEMBERED_CONTEXTS = 1024


class Words:
    """Surface forms by prompt, looked up once for every context that decides how answers are tokenised."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self._known: dict[Hashable, asyncio.Task[Any]] = {}

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
        found: tuple[Options, Forms] = await self._once((prompt.answers, context), self._look_up, prompt, context)
        return found

    async def _end_of_chat(self, prompt: Prompt) -> str:
        """Ask for the end of a chat as the chat template writes it; it is the same for every prompt."""
        end: str = await self._once(None, self._look_up_end, prompt)
        return end

    async def _once(self, key: Hashable, look_up: Callable[..., Coroutine[Any, Any, Any]], *arguments: Any) -> Any:
        """Look something up for the first prompt that needs it; prompts asked at the same time wait for that answer."""
        if key not in self._known:
            if len(self._known) >= REMEMBERED_CONTEXTS:
                self._known.clear()
            self._known[key] = asyncio.create_task(look_up(*arguments))
        try:
            return await self._known[key]
        except BaseException:
            self._known.pop(key, None)
            raise

    async def _look_up(self, prompt: Prompt, context: str) -> tuple[Options, Forms]:
        texts = [context, *(context + form for words in prompt.answers for word in words for form in spaced(word))]
        ids = {text: await tokenize(self._server, text) for text in dict.fromkeys(texts)}

        def encode(texts: Sequence[str]) -> list[list[int]]:
            return [ids[text] for text in texts]

        options = continuations(context, prompt.answers, encode)
        return options, by_ids(options)

    async def _look_up_end(self, prompt: Prompt) -> str:
        root = _root(self._server)
        body = {"messages": list(prompt.messages or ()), "add_generation_prompt": True}
        tokens = await self._server.ask(f"{root}/tokenize", body, 0, _tokens)
        return tail(await self._server.ask(f"{root}/detokenize", {"tokens": tokens}, 0, _text))


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
