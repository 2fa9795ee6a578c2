"""Let a model on a server think by completions on the prompt that its own chat template writes, as token ids."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from ground.errors import InputError
from inference.engines.contract import (
    MOST_TOKENS,
    NO_EFFORT,
    PAST_WINDOW,
    Score,
    Thinking,
    Thoughts,
    build_template_fields_of_thinking_effort,
)
from inference.engines.openai.failures import RequestFailed
from inference.engines.openai.first_tokens import OptionQuestion
from inference.engines.openai.probe import ATTEMPTS, QUESTION, Probe
from inference.engines.openai.replies import MalformedReply, replace_surrogates
from inference.engines.openai.requests import Shape, parse_choices
from inference.engines.openai.returned import UNKNOWN, parse_candidates_for_first_token
from inference.engines.openai.samples import Samples
from inference.engines.openai.server import Server
from inference.engines.openai.thoughts.number_bounds import NextToken, Path, ask_and_bound_number_probabilities
from inference.engines.openai.thoughts.parts import (
    Draft,
    count_token_pieces_of_mark,
    detect_thinking_mark_family_of_text,
    join_thoughts_of_prompt,
)
from inference.engines.openai.token_text import (
    RenderedPrompt,
    Words,
    ask_server_how_template_renders_messages,
    ask_text_of_ids,
    ask_token_ids,
)
from inference.engines.openai.usage import require_number_of_prompt_tokens
from inference.engines.thinking_marks import (
    THINKING,
    ThinkingMarks,
    find_missing_closing_of_thought,
    search_thinking_length,
)

if TYPE_CHECKING:
    from inference.stimuli.templates.prompts import Prompt

ANSWER_TOKENS = 8  # kept free for an answer behind a thought
AS_WRITTEN = {"skip_special_tokens": False, "spaces_between_special_tokens": False, "return_token_ids": True}
REMEMBERED_TOKENS, FEW = 2**16, 4  # texts of so few tokens are remembered
ANCHOR = "a"  # some tokenizers drop a space at the start of a text, so tokens are written after this


@dataclass(frozen=True, slots=True)
class _Written:
    """A text that the model wrote, and its tokens without the one that ended it; None where the server gives none."""

    text: str
    ids: list[int] | None
    has_stopped: bool


class TemplateRoute:
    """Thoughts by completions: what was written is followed token by token, so that nothing is rendered twice."""

    def __init__(self, server: Server, words: Words, samples: Samples, shape: Shape, marks: ThinkingMarks) -> None:
        self._server = server
        self._words = words
        self._samples = samples
        self._shape = shape
        self._marks = marks
        self._end_id: int | None = None
        self._closing_ids: list[int] = []
        self._anchor_ids: list[int] = []
        self._texts: dict[tuple[int, ...], str] = {}

    @classmethod
    async def probe_server_and_build_route(
        cls, server: Server, words: Words, samples: Samples, chat: Probe, completions: Probe
    ) -> TemplateRoute:
        """Find out whether the server can be asked this way.

        Parameters
        ----------
        server, words, samples
            Of the engine.
        chat, completions
            What is known of its endpoints.

        Returns
        -------
        The route.

        Raises
        ------
        RequestFailed
            It cannot; the message says why.
        """
        if completions.unshown:
            raise RequestFailed(completions.unshown)
        if not completions.shape.ids:
            raise RequestFailed("the server takes and shows no token ids")
        rendered = await ask_server_how_template_renders_messages(
            server, ({"role": "user", "content": QUESTION},), attempts=ATTEMPTS
        )
        if QUESTION not in rendered.text:
            raise RequestFailed("the prompt that its chat template writes does not hold the question")
        body = {**completions.shape.build_short_text_request({"prompt": rendered.ids}), **AS_WRITTEN}
        reply_tokens = await server.ask(completions.shape.path, body, 0, require_number_of_prompt_tokens, ATTEMPTS)
        if reply_tokens != len(rendered.ids):
            raise RequestFailed(f"a prompt of {len(rendered.ids)} token ids is read as {reply_tokens} tokens")
        marks = await _find_thinking_marks_in_text_or_ask_server(server, f"{rendered.text}{chat.written}")
        route = cls(server, words, samples, completions.shape, marks)
        end_ids = await ask_token_ids(server, marks.end, ATTEMPTS)
        route._end_id = end_ids[0] if len(end_ids) == 1 else None
        route._closing_ids = await ask_token_ids(server, marks.closing, ATTEMPTS)
        route._anchor_ids = await ask_token_ids(server, ANCHOR, ATTEMPTS)
        return route

    async def think(self, prompt: Prompt, thinking: Thinking) -> Thoughts:
        """Let the model think after one prompt, and score its options after each thought.

        Parameters
        ----------
        prompt
            One of `prompts` of `Engine.think`.
        thinking
            As in `Engine.think`.

        Returns
        -------
        The thoughts.

        Raises
        ------
        InputError
            The chat template cannot switch thinking off, or the options cannot be scored after a thought.
        RequestFailed
            The server refuses, or did not answer.
        """
        rendered = await ask_server_how_template_renders_messages(
            self._server, prompt.messages or (), build_template_fields_of_thinking_effort(thinking.effort)
        )
        if thinking.effort == NO_EFFORT:
            if not self._marks.does_prompt_close_thought(rendered.text):
                raise InputError(
                    f"model {self._server.model}: its chat template cannot switch thinking off: leave out --effort none"
                )
            score = await self._score_options_after_tokens(prompt, rendered.ids, rendered.text)
            return Thoughts(error=score.error, scores=(score,))
        behind = ANSWER_TOKENS + (len(self._closing_ids) if thinking.budget else 0)
        room = MOST_TOKENS if rendered.window is None else rendered.window - len(rendered.ids) - behind
        least = thinking.budget or thinking.max_tokens or 1
        if room < least:
            needed = f"{len(rendered.ids)} tokens and {least + behind} for the answer"
            return Thoughts(error=f"{needed} {PAST_WINDOW} of {rendered.window}")
        sampling = thinking.build_sampling_of_thoughts(None, room)
        written = await self._samples.ask(
            self._shape,
            {"prompt": rendered.ids, **AS_WRITTEN},
            prompt,
            replace(sampling, effort=None),  # the rendered prompt has it
            _parse_text_and_tokens_of_choice,
        )
        return join_thoughts_of_prompt(
            [
                await self._split_thought_and_score_options(prompt, rendered, text, thinking.budget is not None)
                for text in written
            ]
        )

    async def _split_thought_and_score_options(
        self, prompt: Prompt, rendered: RenderedPrompt, written: _Written, closes_by_force: bool
    ) -> Draft:
        """Split what was written at the end of thinking, and score the options there.

        A thought that ends with the very last token is not yet answered (`find_missing_closing_of_thought`).
        """
        ids = await self._find_written_token_ids_without_stop(written)
        length = await self._locate_answer_after_thinking(rendered.text, written.text, ids)
        is_cut = length is None or (length == len(ids) and not written.has_stopped)
        if is_cut and not closes_by_force:
            return Draft(written.text, "", len(ids), False, None)
        before = ids[:length]
        thought, answer = written.text, ""
        if length is not None and length < len(ids):
            thought = await self._ask_text_of_tokens(before)
            answer = (
                written.text[len(thought) :]
                if written.text.startswith(thought)
                else await self._ask_text_of_tokens(ids[length:])
            )
        missing = find_missing_closing_of_thought(thought, self._marks, is_closed=length is not None) if is_cut else ""
        missing_ids = self._closing_ids if length is None else await ask_token_ids(self._server, missing)
        score = await self._score_options_after_tokens(
            prompt, [*rendered.ids, *before, *missing_ids], rendered.text + thought + missing
        )
        return Draft(thought, answer, len(before), length is not None, score)

    async def _find_written_token_ids_without_stop(self, written: _Written) -> list[int]:
        """Find the tokens of a text without the one that ended it; where the server gives none, the text's own."""
        if written.ids is None:
            return await ask_token_ids(self._server, written.text)
        if written.has_stopped and written.ids:
            last = await self._ask_text_of_tokens(written.ids[-1:])
            if not last or not written.text.endswith(last):
                return written.ids[:-1]
        return written.ids

    async def _locate_answer_after_thinking(self, prompt_text: str, written: str, ids: Sequence[int]) -> int | None:
        """Count the tokens of thinking (`search_thinking_length`); the text of all tokens is known."""
        search = search_thinking_length(prompt_text, ids, self._marks, self._end_id)
        try:
            next(search)
            text = written
            while True:
                text = await self._ask_text_of_tokens(search.send(text))
        except StopIteration as end:
            length: int | None = end.value
            return length

    async def _ask_text_of_tokens(self, ids: Sequence[int]) -> str:
        """Ask for the text of tokens; that of few tokens is remembered."""
        if len(ids) > FEW:
            return replace_surrogates(await ask_text_of_ids(self._server, ids))
        key = tuple(ids)
        if key not in self._texts:
            if len(self._texts) >= REMEMBERED_TOKENS:
                self._texts.clear()
            # Written after other text, as a space at the start of a text may be dropped.
            anchored = await ask_text_of_ids(self._server, [*self._anchor_ids, *ids])
            self._texts[key] = anchored.removeprefix(ANCHOR)
        return self._texts[key]

    async def _score_options_after_tokens(self, prompt: Prompt, ids: list[int], text: str) -> Score:
        """Score the options of a prompt, or its numbers, after token ids that write a text."""
        if prompt.numbers:
            return await ask_and_bound_number_probabilities(
                prompt.numbers, self._build_next_token_asker(ids, len(text))
            )
        question = await OptionQuestion.prepare_option_question(
            self._words, self._server.settings, self._shape, prompt, text
        )
        body = question.build_request({"prompt": ids})
        return await self._server.ask(self._shape.path, body, len(text), question.score_options_from_reply)

    def _build_next_token_asker(self, ids: list[int], n_characters: int) -> Any:
        """Build the function that asks for the likeliest tokens after token ids and a path."""
        n_shown = self._server.settings.choose_n_top_tokens(self._shape.api)

        async def ask_next(path: Path) -> list[NextToken]:
            body = self._shape.build_first_token_request({"prompt": [*ids, *path]}, n_shown)
            tokens = await self._server.ask(
                self._shape.path,
                body,
                n_characters,
                lambda reply: parse_candidates_for_first_token(parse_choices(reply)[0], n_shown),
            )
            texts = [
                await self._ask_text_of_tokens([token.id]) if token.id is not None else UNKNOWN for token in tokens
            ]
            return [
                NextToken(token.id, None if UNKNOWN in text else text, math.exp(token.logprob))
                for token, text in zip(tokens, texts, strict=True)
            ]

        return ask_next


async def _find_thinking_marks_in_text_or_ask_server(server: Server, shown: str) -> ThinkingMarks:
    """Find the marks of the model's family: in a text that shows them, else in the vocabulary of the server."""
    if (shown_marks := detect_thinking_mark_family_of_text(shown)) is not None:
        return shown_marks
    for marks in THINKING:
        if len(await ask_token_ids(server, marks.end, ATTEMPTS)) <= count_token_pieces_of_mark(marks.end):
            return marks
    raise RequestFailed("neither its prompts nor its tokens show the marks around a thought")


def _parse_text_and_tokens_of_choice(reply: Mapping[str, Any], choice: Mapping[str, Any]) -> _Written:
    """Read a text and its tokens from a choice of a reply."""
    text, ids = choice.get("text"), choice.get("token_ids")
    if not isinstance(text, str):
        raise MalformedReply("the reply has no text")
    is_list = isinstance(ids, list) and all(type(token) is int for token in ids)
    return _Written(replace_surrogates(text), ids if is_list else None, choice.get("finish_reason") == "stop")
