"""Find out what a server can do, with a short question before anything else is asked."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from ground.errors import InputError
from inference.engines.contract import Sampling
from inference.engines.openai.failures import RequestFailed
from inference.engines.openai.requests import Shape, parse_choices, split_choice_into_thoughts_and_answer
from inference.engines.openai.returned import ShownToken, parse_candidates_for_first_token
from inference.engines.openai.server import Server
from inference.engines.openai.settings import CHAT
from inference.engines.openai.thoughts.parts import detect_thinking_mark_family_of_text
from inference.engines.openai.token_text import ask_server_how_template_renders_messages, ask_token_ids
from inference.engines.thinking_marks import THINKING

QUESTION = "Is water wet? Reply yes or no."
STOP_FIELDS = {"stop_reason", "matched_stop"}  # of a choice: vLLM's and SGLang's, also null
# Few, so that a wrong address is reported soon; more than one, so that a short failure does not end the call.
ATTEMPTS = 3


@dataclass(frozen=True, slots=True)
class Probe:
    """What a test question showed about an endpoint.

    Attributes
    ----------
    shape
        What its requests must look like.
    unshown
        Why option probabilities cannot be read from its replies; None where they can.
    thinks
        Whether the model writes its thoughts before the answer.
    parted
        Whether the server gives thoughts apart from texts.
    written
        What the model wrote, with the marks of its thoughts; empty where they are parted: then no marks are shown.
    """

    shape: Shape
    unshown: str | None
    thinks: bool
    parted: bool = False
    written: str = ""


async def probe_endpoint(server: Server, api: str) -> Probe:
    """Ask an endpoint for a few words, then for one token with its log-probabilities.

    Sets the name under which the model answers.

    Parameters
    ----------
    server
        Which is asked.
    api
        "chat" or "completions".

    Returns
    -------
    What the endpoint can do.

    Raises
    ------
    RequestFailed
        The server cannot be reached or refuses.
    InputError
        Another model answers, or the reply does not say which one did.
    """
    reply, shape = await _ask_question_and_find_request_shape(server, Shape(api))
    server.answering = _require_name_of_asked_model(
        server.model, reply.get("model"), f"{server.settings.address} ({api})"
    )
    choice = parse_choices(reply)[0]
    tokens = await _ask_token_ids_of_question(server)
    shape = replace(shape, vllm=bool(tokens) or await _ask_whether_vllm_fields_are_accepted(server, shape, choice))
    thinks = _does_reply_show_thinking(reply, choice) or (
        bool(tokens) and api == CHAT and await _does_chat_template_open_thought(server)
    )
    parted = _are_thoughts_apart_from_text(choice)
    written = "" if parted else split_choice_into_thoughts_and_answer(choice).whole
    shapes = [replace(shape, ids=True, named=True), replace(shape, ids=True)] if tokens else []
    problem = ""
    for candidate in (*shapes, shape):
        problem = await _ask_first_tokens_and_explain_if_unreadable(server, candidate, tokens)
        if not problem:
            return Probe(candidate, None, thinks, parted, written)
    n_shown = server.settings.choose_n_top_tokens(api)
    where = f"{server.settings.address} ({api}) does not show the {n_shown} most probable tokens of '{server.model}'"
    return Probe(
        shape, f"{where}: {problem}; change --top-logprobs, or how the server is started", thinks, parted, written
    )


async def _ask_question_and_find_request_shape(server: Server, shape: Shape) -> tuple[dict[str, Any], Shape]:
    """Ask without log-probabilities, and find the name of the token limit that the model takes."""

    def require_reply_with_answer_text(reply: dict[str, Any]) -> dict[str, Any]:
        split_choice_into_thoughts_and_answer(parse_choices(reply)[0])
        return reply

    async def ask_question(shape: Shape) -> dict[str, Any]:
        return await server.ask(
            shape.path,
            shape.build_short_text_request(shape.convert_text_to_request_fields(QUESTION)),
            0,
            require_reply_with_answer_text,
            ATTEMPTS,
        )

    try:
        return await ask_question(shape), shape
    except RequestFailed as error:
        if error.status != 400 or "max_completion_tokens" not in str(error):
            raise
        newer = replace(shape, newer=True)
        return await ask_question(newer), newer


async def _ask_token_ids_of_question(server: Server) -> list[int]:
    """Ask for the token ids of the question; none where the server does not give them (vLLM's does)."""
    try:
        return await ask_token_ids(server, QUESTION, ATTEMPTS)
    except RequestFailed:
        return []


async def _ask_whether_vllm_fields_are_accepted(server: Server, shape: Shape, choice: Mapping[str, Any]) -> bool:
    """Tell whether vLLM or SGLang answers behind a gateway that passes `/v1` on only: they say why a text stopped.

    A few other servers say so, too, and would refuse every request that has the fields of vLLM.
    """
    if not STOP_FIELDS & choice.keys():
        return False
    prompt = shape.convert_text_to_request_fields(QUESTION)
    body = replace(shape, vllm=True).build_generation_request(prompt, Sampling(), 1, 0)
    try:
        await server.ask(shape.path, body, 0, parse_choices, ATTEMPTS)
    except RequestFailed:
        server.doubts.forget_unusable_replies()  # replies to these fields tell nothing of others
        return False
    return True


async def _ask_first_tokens_and_explain_if_unreadable(server: Server, shape: Shape, question_ids: list[int]) -> str:
    """Say why the first tokens cannot be read from replies to requests of this shape; empty where they can."""
    n_shown = server.settings.choose_n_top_tokens(shape.api)
    token_ids = tuple(sorted(set(question_ids))) if shape.named else ()

    def parse_tokens(reply: dict[str, Any]) -> tuple[ShownToken, ...]:
        return parse_candidates_for_first_token(parse_choices(reply)[0], n_shown, token_ids)

    body = shape.build_first_token_request(shape.convert_text_to_request_fields(QUESTION), n_shown, token_ids)
    try:
        tokens = await server.ask(shape.path, body, 0, parse_tokens, ATTEMPTS)
    except RequestFailed as error:
        server.doubts.forget_unusable_replies()  # replies of this shape tell nothing of others
        return str(error)
    if shape.ids and any(token.id is None for token in tokens):
        return "it gives no token ids"
    if len(tokens) > 1 and all(token.logprob == float("-inf") for token in tokens[1:]):
        return "it shows what it samples from instead"
    return ""


def _require_name_of_asked_model(model: str, answering_name: Any, where: str) -> str:
    """Check the name under which the model answered: the one asked for, or that of a dated release of it."""
    if not isinstance(answering_name, str) or not answering_name:
        raise InputError(f"{where}: the reply does not say which model answered; '{model}' was asked")
    if answering_name != model and not re.fullmatch(re.escape(model) + r"-\d[\d.-]*", answering_name):
        other = " ".join(answering_name.split())[:100]
        raise InputError(f"{where}: model '{other}' answered where '{model}' was asked; correct --model")
    return answering_name


def _does_reply_show_thinking(reply: Mapping[str, Any], choice: Mapping[str, Any]) -> bool:
    """Tell whether a reply shows that the model thinks: thoughts, no answer yet, or counted reasoning tokens."""
    details: Any = reply
    for name in ("usage", "completion_tokens_details", "reasoning_tokens"):
        details = details.get(name) if isinstance(details, Mapping) else None
    text = split_choice_into_thoughts_and_answer(choice)
    return (
        bool(text.thoughts)
        or text.answer is None
        or bool(details)
        or detect_thinking_mark_family_of_text(text.whole) is not None
    )


def _are_thoughts_apart_from_text(choice: Mapping[str, Any]) -> bool:
    """Tell whether the server gives the thoughts of a reply apart from its text."""
    message = choice.get("message")
    return isinstance(message, dict) and bool(message.get("reasoning_content") or message.get("reasoning"))


async def _does_chat_template_open_thought(server: Server) -> bool:
    """Tell whether the server's chat template opens a thought, which the reply then does not show."""
    try:
        rendered = await ask_server_how_template_renders_messages(
            server, ({"role": "user", "content": QUESTION},), attempts=ATTEMPTS
        )
    except RequestFailed:
        return False
    return any(marks.does_prompt_open_thought(rendered.text) for marks in THINKING)
