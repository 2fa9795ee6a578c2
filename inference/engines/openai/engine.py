"""Engine `openai`: ask a model on any server that speaks OpenAI's chat or completions protocol."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Collection, Generator, Iterable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from ground.errors import InputError, RunFailed
from inference.engines.contract import (
    LONGEST_THOUGHT,
    NO_EFFORT,
    NO_NUMBERS,
    Explanation,
    Generation,
    Sampling,
    Score,
    Thinking,
    Thoughts,
    format_token_count,
)
from inference.engines.exact.answer_words import list_forms_with_and_without_space
from inference.engines.openai import requests
from inference.engines.openai.failures import RepliesUnusable, RequestFailed, Retries, ServerRefused
from inference.engines.openai.first_tokens import OptionQuestion
from inference.engines.openai.limits import Clock
from inference.engines.openai.pool import ask_concurrently_and_yield_arrived_answers
from inference.engines.openai.probe import Probe, probe_endpoint
from inference.engines.openai.samples import Samples
from inference.engines.openai.server import Server
from inference.engines.openai.settings import CHAT, COMPLETIONS, ApiSettings
from inference.engines.openai.thoughts.routes import Route, find_thought_route
from inference.engines.openai.token_text import Words
from inference.engines.openai.usage import compute_cost

if TYPE_CHECKING:
    from inference.stimuli.templates.prompts import Prompt

R = TypeVar("R")
API_OF = {"chat": CHAT, "plain": COMPLETIONS}
FORM_OF = {api: form for form, api in API_OF.items()}
NO_ENDPOINT = (400, 404, 405, 422, 501)


class OpenAIEngine:
    """An engine that asks a model on a server, with many requests at once.

    Option probabilities are read from the most probable first tokens that the server shows: exact where these are
    enough, bounds otherwise (`bounds`).

    Parameters
    ----------
    model
        Its name on the server.
    settings
        Where the server is and what may be asked of it.
    seed
        Seed of generated texts.
    batch_size
        Prompts that a worker on a cluster asks before it returns their answers; None chooses.
    retries, clock
        How often and when failed requests are repeated.

    Raises
    ------
    InputError
        The server cannot be reached, refuses, or answers with another model.
    """

    mask_token: str | None = None
    independent_of_batch = True

    def __init__(
        self,
        model: str,
        settings: ApiSettings | None = None,
        *,
        seed: int = 0,
        batch_size: int | None = None,
        retries: Retries | None = None,
        clock: Clock | None = None,
    ) -> None:
        self.settings = settings = settings or ApiSettings()
        self._batch_size = batch_size or settings.prompts_per_batch
        self._server = Server(model, settings, retries or Retries(), clock or Clock())
        self._runner = asyncio.Runner()
        self._probes: dict[str, Probe] = {}
        self._barred: ServerRefused | None = None  # why no further request is sent
        self._words = Words(self._server)
        self._samples = Samples(self._server, seed)
        self._route: Route | None = None  # how the model is asked after its thoughts
        self.info: dict[str, Any] = {}
        try:
            self.info = self._probe_server_and_build_model_info()
        except BaseException:
            self.close()
            raise

    def choose_prompt_form(self, requested: str) -> str:
        """Choose the prompt form; "auto" is chat where the server has a chat endpoint for the model.

        Raises
        ------
        InputError
            The server cannot be asked in the requested form; cloze is never possible.
        """
        name = self._server.model
        if requested == "cloze":
            raise InputError(f"model {name} predicts the next word, not a mask: ask it with --form plain or chat")
        api = next(iter(self._probes)) if requested == "auto" else API_OF[requested]
        if self.settings.api not in ("auto", api):
            raise InputError(f"--form {requested} needs --api {api}, not {self.settings.api}")
        if api not in self._probes:
            self._probes[api] = self._probe_endpoint(api)
        endpoint = self._probes[api]
        self.info |= {"thinks": endpoint.thinks, "unshown": endpoint.unshown}
        return FORM_OF[api]

    def count_prompt_tokens(self, prompts: Sequence[Prompt], effort: str | None = None) -> list[int]:
        """Estimate the tokens of every prompt, see `Usage.estimate_prompt_tokens`: only the server can count them."""
        return [
            round(self._server.usage.estimate_prompt_tokens(requests.count_prompt_characters(prompt)))
            for prompt in prompts
        ]

    def cut_into_batches(self, prompts: Sequence[Prompt]) -> list[list[int]]:
        """Cut the prompts into batches of one size, in their order."""
        size = self._batch_size
        return [list(range(start, min(start + size, len(prompts)))) for start in range(0, len(prompts), size)]

    def tokenize_ahead(self, prompts: Sequence[Prompt], efforts: Collection[str | None] = (None,)) -> list[Prompt]:
        """Leave the prompts as they are: the server reads them.

        Parameters
        ----------
        prompts, efforts
            As in `Engine.tokenize_ahead`.

        Returns
        -------
        The prompts.
        """
        return list(prompts)

    def score(self, prompts: Sequence[Prompt], temperatures: Sequence[float] = (1.0,)) -> list[list[Score]]:
        """Compute the option probabilities of one batch, or bounds.

        Parameters
        ----------
        prompts, temperatures
            As in `Engine.score`.

        Returns
        -------
        Per temperature a list with one score per prompt; a prompt that failed for good gets an error.

        Raises
        ------
        InputError
            A temperature other than 1, numbers of a scale, or a server that shows no probabilities.
        RunFailed
            The server no longer accepts the key, or the account is empty.
        """
        answers = self._ask_all_prompts(prompts, temperatures, ())
        return [[responses[place] for responses in answers] for place in range(len(temperatures))]

    def generate(self, prompts: Sequence[Prompt], samplings: Sequence[Sampling]) -> list[list[Generation]]:
        """Let the model write texts after the prompts of one batch.

        Parameters
        ----------
        prompts, samplings
            As in `Engine.generate`.

        Returns
        -------
        Per sampling a list with one generation per prompt; a prompt that failed for good gets an error.

        Raises
        ------
        InputError
            A restriction of tokens that the server may ignore.
        RunFailed
            The server no longer accepts the key, or the account is empty.
        """
        answers = self._ask_all_prompts(prompts, (), samplings)
        return [[responses[place] for responses in answers] for place in range(len(samplings))]

    def ask_prompts_and_yield_arrived_answers(
        self,
        prompts: Iterable[Prompt],
        temperatures: Sequence[float],
        samplings: Sequence[Sampling],
        thinkings: Sequence[Thinking] = (),
    ) -> Generator[list[tuple[int, Prompt, list[Score | Generation | Thoughts]]], None, None]:
        """Ask all prompts in all ways.

        Parameters
        ----------
        prompts, temperatures, samplings, thinkings
            As in `StreamingEngine.ask_prompts_and_yield_arrived_answers`.

        Yields
        ------
        From time to time what has come, as `StreamingEngine.ask_prompts_and_yield_arrived_answers` does.

        Raises
        ------
        InputError
            A temperature other than 1, numbers of a scale, a server that shows no probabilities, a restriction of
            tokens that it may ignore, or thoughts that it cannot continue after.
        RunFailed
            The server accepts the key no longer, or gives no usable replies; the answers under way come before.
        """
        if any(temperature != 1 for temperature in temperatures):
            raise InputError("engine openai sees probabilities at temperature 1 only: leave other temperatures out")

        shape = next(iter(self._probes.values())).shape
        for sampling in samplings:
            shape.refuse_token_restrictions_server_may_ignore(sampling)
        route = self._find_thought_route(thinkings) if thinkings else None

        async def ask_prompt(prompt: Prompt) -> list[Score | Generation | Thoughts]:
            scores = [await self._await_answer(self._score_prompt(prompt), Score) for _ in temperatures]
            return [
                *scores,
                *[
                    await self._await_answer(self._generate_samples(prompt, sampling), Generation)
                    for sampling in samplings
                ],
                *[await self._await_answer(route.think(prompt, thinking), Thoughts) for thinking in thinkings if route],
            ]

        waiting, before = iter(prompts), self._server.doubts.usable
        yield from ask_concurrently_and_yield_arrived_answers(
            self._runner, self.settings.concurrency, waiting, ask_prompt, lambda: self._barred is not None
        )
        if isinstance(self._barred, RepliesUnusable) and next(waiting, None) is None:
            if self._server.doubts.usable > before:  # the last prompts may get none of a server that answers all others
                self._barred = None
                self._server.doubts.forget_unusable_replies()
        elif (error := self._barred) is not None:
            raise RunFailed(f"{self._server.model}: {error}; {error.advice}, then give the same command again to go on")

    def think(self, prompts: Sequence[Prompt], thinking: Thinking) -> list[Thoughts]:
        """Let the model think after the prompts of one batch, several times, and score the options after each thought.

        Parameters
        ----------
        prompts, thinking
            As in `Engine.think`.

        Returns
        -------
        One response per prompt; a prompt that failed for good gets an error.

        Raises
        ------
        InputError
            The server cannot continue after a thought, or no sampler is given.
        RunFailed
            The server no longer accepts the key, or the account is empty.
        """
        return [responses[0] for responses in self._ask_all_prompts(prompts, (), (), (thinking,))]

    def render(self, prompt: Prompt, effort: str | None = None) -> str:
        """Write a prompt out as it is sent.

        Parameters
        ----------
        prompt
            Any prompt.
        effort
            Changes nothing here: it is a field of the request.

        Returns
        -------
        The text. Every message is a line that begins with its role: the server decides how they become one text.
        """
        return requests.render_prompt_text(prompt)

    def explain_and_score_prompt(self, prompt: Prompt, effort: str | None = None) -> Explanation:
        """Show how one prompt is asked and answered.

        Parameters
        ----------
        prompt, effort
            As in `contract.Engine`.

        Returns
        -------
        Explanation
        """
        probe = self._get_probe_for_prompt(prompt)
        before = self._server.usage.tokens_in
        unshown = NO_NUMBERS if prompt.numbers else probe.unshown
        score = Score(error=unshown) if unshown else self.score([prompt])[0][0]
        counted = self._server.usage.tokens_in - before
        text, n_tokens = requests.render_prompt_text(prompt), counted or self.count_prompt_tokens([prompt])[0]
        if prompt.numbers:
            spelled = tuple(
                tuple((form, ()) for form in list_forms_with_and_without_space(str(n))) for n in prompt.numbers
            )
            return Explanation(text, n_tokens, spelled, (), score, prompt.numbers, not counted)
        options, dropped = self._runner.run(self._words.list_kept_and_dropped_option_forms(prompt, probe.shape.ids))
        return Explanation(text, n_tokens, options, dropped, score, is_length_estimated=not counted)

    def describe_cost_of_tokens(self, tokens_in: int, tokens_out: int) -> str:
        """Say what it costs to have so many tokens read and written, and how the tokens were estimated.

        Parameters
        ----------
        tokens_in, tokens_out
            Tokens of the prompts, and the most that may be written.

        Returns
        -------
        A text for people.
        """
        settings, usage = self.settings, self._server.usage
        money = compute_cost(tokens_in, tokens_out, settings.price_in, settings.price_out)
        price = f"cost at most {money:,.4f}" if money is not None else "cost unknown (--price-in, --price-out)"
        tokens = f"at most {format_token_count(tokens_in)} in and {tokens_out:,} out"
        return f"{tokens}, {price}; estimated with {usage.estimation_rule}"

    def close(self) -> dict[str, Any]:
        """Close the connections.

        Returns
        -------
        dict
            What was asked: replies, repeated requests, tokens, cost; `shown` says the same in one line.
        """
        self._runner.run(self._server.close())
        self._runner.close()
        prices = self.settings.price_in, self.settings.price_out
        usage = self._server.usage
        return {**usage.build_usage_record(*prices), "shown": usage.describe_usage(*prices)}

    def _probe_server_and_build_model_info(self) -> dict[str, Any]:
        """Find out what the server can do; return what run.json records of it."""
        first, *fallbacks = (CHAT, COMPLETIONS) if self.settings.api == "auto" else (self.settings.api,)
        try:
            self._probes[first] = self._probe_endpoint(first)
        except _NoEndpoint:
            if not fallbacks:
                raise
            self._probes[fallbacks[0]] = self._probe_endpoint(fallbacks[0])
        return {
            "engine": "openai",
            "revision": self._server.answering,
            "dtype": None,
            "device": None,
            "parameters": None,
            "base_url": self.settings.address,
            "top_logprobs": self.settings.top_logprobs,
        }

    def _probe_endpoint(self, api: str) -> Probe:
        """Ask a test question of an endpoint; refuse a server that cannot be asked there."""
        try:
            return self._runner.run(probe_endpoint(self._server, api))
        except RequestFailed as error:
            advice = f"; put a valid key into {self.settings.key_variable}" if error.status in (401, 403) else ""
            kind = _NoEndpoint if error.status in NO_ENDPOINT else InputError
            where = f"{self.settings.address} ({api})"
            raise kind(f"{where} cannot be asked for model '{self._server.model}': {error}{advice}") from None

    def _get_probe_for_prompt(self, prompt: Prompt) -> Probe:
        """Return what is known of the endpoint that a prompt is sent to."""
        return self._probes[COMPLETIONS if prompt.messages is None else CHAT]

    def _ask_all_prompts(
        self,
        prompts: Sequence[Prompt],
        temperatures: Sequence[float],
        samplings: Sequence[Sampling],
        thinkings: Sequence[Thinking] = (),
    ) -> list[list[Any]]:
        """Ask all prompts and return their answers in order."""
        answers = {
            place: responses
            for batch in self.ask_prompts_and_yield_arrived_answers(prompts, temperatures, samplings, thinkings)
            for place, _, responses in batch
        }
        return [answers[place] for place in range(len(prompts))]

    async def _await_answer(self, answer: Awaitable[R], build_failure: Callable[..., R]) -> R:
        """Wait for an answer; if the request failed for good, return an answer that holds the message as its error."""
        try:
            return await answer
        except RequestFailed as error:
            if isinstance(error, ServerRefused):
                self._barred = error
            return build_failure(error=str(error))

    async def _score_prompt(self, prompt: Prompt) -> Score:
        """Ask for the first tokens after a prompt, and score its options from them."""
        if prompt.numbers:
            raise InputError(NO_NUMBERS)
        probe = self._get_probe_for_prompt(prompt)
        if probe.unshown:
            raise InputError(probe.unshown)
        shape = probe.shape
        question = await OptionQuestion.prepare_option_question(self._words, self.settings, shape, prompt)
        body = question.build_request(shape.convert_prompt_to_request_fields(prompt))
        return await self._server.ask(
            shape.path, body, requests.count_prompt_characters(prompt), question.score_options_from_reply
        )

    async def _generate_samples(self, prompt: Prompt, sampling: Sampling) -> Generation:
        """Ask for all samples of a prompt."""
        shape = self._get_probe_for_prompt(prompt).shape
        samples = await self._samples.ask(
            shape,
            shape.convert_prompt_to_request_fields(prompt),
            prompt,
            sampling,
            lambda reply, choice: requests.split_choice_into_thoughts_and_answer(choice),
        )
        return Generation(tuple(text.whole for text in samples), tuple(text.answer for text in samples))

    def _find_thought_route(self, thinkings: Sequence[Thinking]) -> Route:
        """Find out, once, how the model can be asked after its thoughts; refuse a sampler that the server cannot do."""
        for thinking in thinkings:
            if thinking.effort != NO_EFFORT:
                self._probes[CHAT].shape.refuse_token_restrictions_server_may_ignore(
                    thinking.build_sampling_of_thoughts(None, LONGEST_THOUGHT)
                )
        if self._route is None:
            self._route = self._runner.run(find_thought_route(self._server, self._words, self._samples, self._probes))
        return self._route


class _NoEndpoint(InputError):
    """The server does not have this endpoint, or the model cannot be asked through it (no chat template)."""
