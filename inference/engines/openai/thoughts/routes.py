"""Choose how a model on a server can be asked after its thoughts, by what the server shows."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from ground.errors import InputError
from inference.engines.openai.failures import RepliesUnusable, RequestFailed, ServerRefused
from inference.engines.openai.probe import Probe, probe_endpoint
from inference.engines.openai.samples import Samples
from inference.engines.openai.server import Server
from inference.engines.openai.settings import CHAT, COMPLETIONS
from inference.engines.openai.thoughts.message_route import MessageRoute
from inference.engines.openai.thoughts.template_route import TemplateRoute
from inference.engines.openai.token_text import Words

Route = TemplateRoute | MessageRoute


async def find_thought_route(server: Server, words: Words, samples: Samples, probes: dict[str, Probe]) -> Route:
    """Try completions on the rendered prompt, then a chat whose last message is continued.

    Parameters
    ----------
    server, words, samples
        Of the engine.
    probes
        What is known of the endpoints; that of completions is added.

    Returns
    -------
    The first way that the server can be asked.

    Raises
    ------
    InputError
        There is none; the message says why.
    """

    async def probe_template_route() -> Route:
        if COMPLETIONS not in probes:
            probes[COMPLETIONS] = await probe_endpoint(server, COMPLETIONS)
        return await TemplateRoute.probe_server_and_build_route(
            server, words, samples, probes[CHAT], probes[COMPLETIONS]
        )

    async def probe_message_route() -> Route:
        return await MessageRoute.probe_server_and_build_route(server, words, samples, probes[CHAT])

    ways: dict[str, Callable[[], Awaitable[Route]]] = {
        "completions of its rendered prompt": probe_template_route,
        "a chat that is continued": probe_message_route,
    }
    reasons = []
    for name, probing in ways.items():
        try:
            return await probing()
        except RequestFailed as error:
            if isinstance(error, ServerRefused) and not isinstance(error, RepliesUnusable):
                raise InputError(f"{server.model}: {error}; {error.advice}") from None
            server.doubts.forget_unusable_replies()  # replies of one kind tell nothing of others
            reasons.append(f"{name}: {error}")
    raise InputError(
        f"{server.model}: this server cannot continue after a thought ({'; '.join(reasons)}): ask for --answer text"
    )
