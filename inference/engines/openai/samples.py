"""Ask for all samples of a prompt: as many at once as the server gives, the rest with further requests."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from inference.engines.openai.failures import RequestFailed
from inference.engines.openai.requests import Shape, compute_request_seed, count_prompt_characters, parse_choices
from inference.engines.openai.server import Server

if TYPE_CHECKING:
    from inference.engines.contract import Sampling
    from inference.stimuli.templates.prompts import Prompt

T = TypeVar("T")
REFUSED = (400, 422)


class Samples:
    """What is known of a server that gives several texts for a prompt, or one at a time.

    Parameters
    ----------
    server
        Which is asked.
    seed
        Seed of the texts.
    """

    def __init__(self, server: Server, seed: int) -> None:
        self._server = server
        self._seed = seed
        self._one_by_one = False

    async def ask(
        self,
        shape: Shape,
        fields: Mapping[str, Any],
        prompt: Prompt,
        sampling: Sampling,
        parse_choice: Callable[[Mapping[str, Any], Mapping[str, Any]], T],
    ) -> list[T]:
        """Ask for all samples of a prompt.

        Parameters
        ----------
        shape
            What requests look like.
        fields
            Of every request: its prompt, and more.
        prompt
            Decides the seeds.
        sampling
            How many there are, and how they are written.
        parse_choice
            Makes a sample of a reply and one of its choices, or raises `MalformedReply`.

        Returns
        -------
        The samples.

        Raises
        ------
        RequestFailed
            The server refuses, or did not answer.
        """

        def parse_samples(reply: Mapping[str, Any]) -> list[T]:
            return [parse_choice(reply, choice) for choice in parse_choices(reply)]

        async def ask_for_some_samples(n_asked: int, seed: int) -> list[T]:
            """Ask for so many samples with one request."""
            body = {**shape.build_generation_request({}, sampling, n_asked, seed), **fields}
            return await self._server.ask(shape.path, body, count_prompt_characters(prompt), parse_samples)

        samples: list[T] = []
        while len(samples) < sampling.samples:
            n_asked = 1 if self._one_by_one else sampling.samples - len(samples)
            seed = compute_request_seed(self._seed, len(samples), prompt)
            try:
                samples += await ask_for_some_samples(n_asked, seed)
            except RequestFailed as error:
                # Some servers give one text at a time and refuse a request for more.
                if error.status not in REFUSED or n_asked == 1:
                    raise
                samples += await ask_for_some_samples(1, seed)
                self._one_by_one = True
        return samples[: sampling.samples]
