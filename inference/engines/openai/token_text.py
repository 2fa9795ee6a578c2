"""Find the surface forms of a prompt's options as a server can show them: token ids where it gives them, else texts."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from inference.engines.exact.answer_words import (
    Options,
    extract_prompt_end_affecting_tokens,
    list_forms_with_and_without_space,
    tokenize_answers_into_options,
)
from inference.engines.openai.bounds import Forms, build_option_forms_in_bytes, build_option_forms_in_token_ids
from inference.engines.openai.replies import MalformedReply
from inference.engines.openai.server import Server

if TYPE_CHECKING:
    from inference.stimuli.templates.prompts import Prompt

# Distinct contexts remembered; a template that ends in the item's text has as many contexts as items.
REMEMBERED_CONTEXTS = 1024


class Words:
    """Surface forms by prompt, looked up once for every context that decides how answers are tokenised."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self._known: dict[Hashable, asyncio.Task[Any]] = {}

    async def find_option_forms(self, prompt: Prompt, shows_ids: bool, text_before: str | None = None) -> Forms:
        """Find the forms of a prompt's options.

        Parameters
        ----------
        prompt
            Its context, or the end of the chat template, decides how answers are tokenised.
        shows_ids
            Whether the server shows token ids; else forms are texts.
        text_before
            All that the answer follows, where that is more than the prompt.

        Returns
        -------
        The forms.

        Raises
        ------
        InputError
            Two options have the same form, or none of an option's forms can follow the prompt.
        RequestFailed
            The server does not tokenise.
        """
        if not shows_ids:
            return build_option_forms_in_bytes(prompt.answers)
        return (await self._find_options_and_forms_as_token_ids(prompt, text_before))[1]

    async def list_kept_and_dropped_option_forms(self, prompt: Prompt, shows_ids: bool) -> tuple[Any, Any]:
        """Make `options` and `dropped` of a prompt's `Explanation`.

        Parameters
        ----------
        prompt, shows_ids
            As in `find_option_forms`.

        Returns
        -------
        `options` and `dropped`; without ids every form counts by its text, and none is dropped.

        Raises
        ------
        InputError, RequestFailed
            As in `find_option_forms`.
        """
        if shows_ids:
            options, _ = await self._find_options_and_forms_as_token_ids(prompt)
            return options.forms, options.dropped
        build_option_forms_in_bytes(prompt.answers)
        return tuple(
            tuple((form, ()) for word in words for form in list_forms_with_and_without_space(word))
            for words in prompt.answers
        ), ()

    async def _find_options_and_forms_as_token_ids(
        self, prompt: Prompt, text_before: str | None = None
    ) -> tuple[Options, Forms]:
        """Find the options of a prompt as token ids, looked up once per context."""
        before = prompt.text if text_before is None else text_before
        context = (
            extract_prompt_end_affecting_tokens(before)
            if before is not None
            else await self._find_chat_template_ending(prompt)
        )
        options_and_forms: tuple[Options, Forms] = await self._look_up_once_for_all_prompts(
            (prompt.answers, context), self._ask_and_build_options_and_forms, prompt, context
        )
        return options_and_forms

    async def _find_chat_template_ending(self, prompt: Prompt) -> str:
        """Ask for the end of a chat as the chat template writes it; it is the same for every prompt."""
        end: str = await self._look_up_once_for_all_prompts(None, self._ask_chat_template_ending, prompt)
        return end

    async def _look_up_once_for_all_prompts(
        self, key: Hashable, look_up: Callable[..., Coroutine[Any, Any, Any]], *arguments: Any
    ) -> Any:
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

    async def _ask_and_build_options_and_forms(self, prompt: Prompt, context: str) -> tuple[Options, Forms]:
        """Ask the server for the token ids of all forms in a context."""
        texts = [
            context,
            *(
                context + form
                for words in prompt.answers
                for word in words
                for form in list_forms_with_and_without_space(word)
            ),
        ]
        ids = {text: await ask_token_ids(self._server, text) for text in dict.fromkeys(texts)}

        def look_up_token_ids(texts: Sequence[str]) -> list[list[int]]:
            return [ids[text] for text in texts]

        options = tokenize_answers_into_options(context, prompt.answers, look_up_token_ids)
        return options, build_option_forms_in_token_ids(options)

    async def _ask_chat_template_ending(self, prompt: Prompt) -> str:
        """Ask the server how the chat template ends a prompt."""
        rendered = await ask_server_how_template_renders_messages(self._server, prompt.messages or ())
        return extract_prompt_end_affecting_tokens(rendered.text)


async def ask_token_ids(server: Server, text: str, attempts: int = 0) -> list[int]:
    """Ask vLLM's endpoint for the token ids of a text, without special tokens.

    Parameters
    ----------
    server
        Is asked below its address without `/v1`.
    text
        Empty: has no ids, and the server is not asked.
    attempts
        As `max_attempts` of `Server.ask`.

    Returns
    -------
    The ids.

    Raises
    ------
    RequestFailed
        The server does not tokenise.
    """
    body = {"prompt": text, "add_special_tokens": False}
    return (
        await server.ask(f"{_find_root_address(server)}/tokenize", body, 0, _parse_token_ids, attempts) if text else []
    )


@dataclass(frozen=True, slots=True)
class RenderedPrompt:
    """A chat as the server's own template writes it: as token ids, as text, and how many tokens the model can hold."""

    ids: list[int]
    text: str
    window: int | None


async def ask_server_how_template_renders_messages(
    server: Server,
    messages: Sequence[Mapping[str, str]],
    template_fields: Mapping[str, Any] | None = None,
    attempts: int = 0,
) -> RenderedPrompt:
    """Ask vLLM's endpoints how the chat template writes messages, up to where the answer begins.

    Parameters
    ----------
    server
        As in `ask_token_ids`.
    messages
        The chat.
    template_fields
        Fields of the chat template (`chat_template_kwargs`); None: its own defaults.
    attempts
        As `max_attempts` of `Server.ask`.

    Returns
    -------
    The prompt.

    Raises
    ------
    RequestFailed
        The server does not tokenise chats, or its template refuses this one.
    """
    body: dict[str, Any] = {"messages": list(messages), "add_generation_prompt": True}
    if template_fields:
        body["chat_template_kwargs"] = dict(template_fields)

    def parse_ids_and_window(reply: dict[str, Any]) -> tuple[list[int], int | None]:
        window = reply.get("max_model_len")
        return _parse_token_ids(reply), window if type(window) is int and window > 0 else None

    ids, window = await server.ask(f"{_find_root_address(server)}/tokenize", body, 0, parse_ids_and_window, attempts)
    return RenderedPrompt(ids, await ask_text_of_ids(server, ids, attempts), window)


async def ask_text_of_ids(server: Server, ids: Sequence[int], attempts: int = 0) -> str:
    """Ask vLLM's endpoint, or SGLang's, for the text that token ids write, special tokens included.

    Parameters
    ----------
    server, attempts
        As in `ask_token_ids`.
    ids
        Empty: the server is not asked.

    Returns
    -------
    The text.

    Raises
    ------
    RequestFailed
        The server does not detokenise.
    """
    body = {"tokens": list(ids), "skip_special_tokens": False}  # SGLang's would leave them out, vLLM's never does
    url = f"{_find_root_address(server)}/detokenize"
    return await server.ask(url, body, 0, _parse_detokenized_text, attempts) if ids else ""


def _find_root_address(server: Server) -> str:
    """Return the server's address without `/v1`."""
    return server.settings.address.removesuffix("/v1")


def _parse_token_ids(reply: dict[str, Any]) -> list[int]:
    """Read the token ids from a reply to `/tokenize`."""
    tokens = reply.get("tokens")
    if not isinstance(tokens, list) or not tokens or not all(type(token) is int for token in tokens):
        raise MalformedReply("the reply has no token ids")
    return tokens


def _parse_detokenized_text(reply: dict[str, Any]) -> str:
    """Read the text from a reply to `/detokenize`: vLLM's server calls it `prompt`, SGLang's `text`."""
    if not isinstance(text := reply.get("prompt", reply.get("text")), str):
        raise MalformedReply("the reply has no text")
    return text
