"""Let a model on a server think in a chat, and have the server continue an assistant message that holds the thought."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from ground.errors import InputError
from inference.engines.contract import MOST_TOKENS, NO_EFFORT, Score, Thinking, Thoughts
from inference.engines.openai.failures import RequestFailed
from inference.engines.openai.first_tokens import OptionQuestion
from inference.engines.openai.probe import ATTEMPTS, QUESTION, Probe
from inference.engines.openai.replies import MalformedReply, replace_surrogates
from inference.engines.openai.requests import count_prompt_characters, parse_choices
from inference.engines.openai.returned import parse_candidates_for_first_token
from inference.engines.openai.samples import Samples
from inference.engines.openai.server import Server
from inference.engines.openai.thoughts.number_bounds import NextToken, Path, ask_and_bound_number_probabilities
from inference.engines.openai.thoughts.parts import (
    Draft,
    count_token_pieces_of_mark,
    detect_thinking_mark_family_of_text,
    join_thoughts_of_prompt,
)
from inference.engines.openai.token_text import Words
from inference.engines.openai.usage import require_number_of_prompt_tokens
from inference.engines.thinking_marks import (
    THINKING,
    ThinkingMarks,
    find_missing_closing_of_thought,
    locate_answer_after_thinking_in_text,
)

if TYPE_CHECKING:
    from inference.stimuli.templates.prompts import Prompt

CONTINUED = {"continue_final_message": True, "add_generation_prompt": False}
UNCONTINUED = {"add_generation_prompt": False}


@dataclass(frozen=True, slots=True)
class _Written:
    """What the model wrote after a prompt of so many tokens: thoughts, where the server parts them, and the text."""

    reasoning: str
    text: str
    is_cut: bool
    prompt_tokens: int


class MessageRoute:
    """Thoughts by chat: the second request ends with the thought, as a message that the server continues.

    The tokens of a thought are those that the second prompt has more than the first, as the server counts them.
    """

    def __init__(
        self, server: Server, words: Words, samples: Samples, chat: Probe, marks: ThinkingMarks, opening: str
    ) -> None:
        self._server = server
        self._words = words
        self._samples = samples
        self._shape = chat.shape
        self._parted = chat.parted
        self._marks = marks
        self._opening = opening  # what the chat template writes at the start of an answer

    @classmethod
    async def probe_server_and_build_route(
        cls, server: Server, words: Words, samples: Samples, chat: Probe
    ) -> MessageRoute:
        """Find out, from the tokens that the server counts in prompts, whether it continues a message with a thought.

        Parameters
        ----------
        server, words, samples, chat
            As in `TemplateRoute.probe_server_and_build_route`.

        Returns
        -------
        The route.

        Raises
        ------
        RequestFailed
            It cannot; the message says why.
        """
        if chat.unshown:
            raise RequestFailed(chat.unshown)

        async def count_tokens_of_messages(text: str | None, fields: Mapping[str, Any] = CONTINUED) -> int:
            messages = [{"role": "user", "content": QUESTION}]
            if text is not None:
                messages.append({"role": "assistant", "content": text})
            body = {**chat.shape.build_short_text_request({"messages": messages}), **fields}
            return await server.ask(chat.shape.path, body, 0, require_number_of_prompt_tokens, ATTEMPTS)

        plain = await count_tokens_of_messages("x")
        if not plain < await count_tokens_of_messages("x", UNCONTINUED):
            raise RequestFailed("it does not continue the last message (continue_final_message changes nothing)")
        marks = detect_thinking_mark_family_of_text(chat.written)
        for family in THINKING if marks is None else ():
            if marks is None and await count_tokens_of_messages(f"x{family.end}") - plain <= count_token_pieces_of_mark(
                family.end
            ):
                marks = family
        if marks is None:
            raise RequestFailed("neither its texts nor its tokens show the marks around a thought")
        closed = await count_tokens_of_messages(f"{marks.begin}hm{marks.end}")
        if not closed < await count_tokens_of_messages(f"{marks.begin}hm, let me think about this{marks.end}"):
            raise RequestFailed("it leaves the thoughts of a message out")
        if not closed < await count_tokens_of_messages(f"{marks.begin}hm{marks.end}{marks.opener}\n\n"):
            raise RequestFailed("it drops the line breaks at the end of a message that it continues")
        asked = await count_tokens_of_messages(None, {})
        for opening in (f"{marks.begin}\n", marks.begin, ""):
            # An answer that begins with what the template opens has the same tokens before it.
            if (await count_tokens_of_messages(opening) if opening else plain - 1) == asked:
                break
        else:
            raise RequestFailed("what its chat template writes at the start of an answer is not known")
        return cls(server, words, samples, chat, marks, opening)

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
            Thinking is to be off, which only a prompt that can be seen shows.
        RequestFailed
            The server refuses, or did not answer.
        """
        if thinking.effort == NO_EFFORT:
            raise InputError(
                f"model {self._server.model}: the server shows no rendered prompt, so it is not known whether thinking "
                "is off: leave out --effort none"
            )
        # The window is not known: the server refuses what is too long.
        sampling = thinking.build_sampling_of_thoughts(None, MOST_TOKENS)
        fields = {"messages": list(prompt.messages or ()), "skip_special_tokens": False}
        written = await self._samples.ask(self._shape, fields, prompt, sampling, _parse_thought_and_text_of_choice)
        return join_thoughts_of_prompt(
            [
                await self._split_thought_and_score_options(prompt, text, thinking, sampling.max_tokens)
                for text in written
            ]
        )

    async def _split_thought_and_score_options(
        self, prompt: Prompt, written: _Written, thinking: Thinking, most_tokens: int
    ) -> Draft:
        """Split what was written at the end of thinking, and score the options there."""
        thought, answer, is_closed = self._split_thought_and_answer(written)
        # A thought that ends with the very last token is not yet answered, even where it has been closed.
        is_cut = not is_closed or (written.is_cut and not answer)
        if not is_cut:
            score, tokens = await self._score_after_thought_and_count_tokens(prompt, thought, thinking)
            return Draft(thought, answer, tokens - written.prompt_tokens, True, score)
        n_tokens = most_tokens
        if not written.is_cut:
            n_tokens = await self._count_tokens_of_prompt_with_answer(prompt, thought, thinking) - written.prompt_tokens
        if thinking.budget is None:
            return Draft(thought, "", n_tokens, False, None)
        missing = find_missing_closing_of_thought(thought, self._marks, is_closed=is_closed)
        score, _ = await self._score_after_thought_and_count_tokens(prompt, thought + missing, thinking)
        return Draft(thought, "", n_tokens, is_closed, score)

    def _split_thought_and_answer(self, written: _Written) -> tuple[str, str, bool]:
        """Split what was written into the thought with its marks and line breaks, and the answer; whether it ended."""
        marks = self._marks
        # The server has found the end itself. Where it shows no thought although the template opens one, that is empty.
        if written.reasoning or (self._parted and self._opening):
            thought = ("" if self._opening else marks.begin) + written.reasoning
            if not written.text:  # perhaps it ended with nothing behind it: that does not show
                return thought, "", False
            behind = marks.end + written.text
            end = locate_answer_after_thinking_in_text(marks.begin, behind, marks)
            return thought + behind[:end], behind[end:], True
        length = locate_answer_after_thinking_in_text(self._opening, written.text, marks)
        return (written.text, "", False) if length is None else (written.text[:length], written.text[length:], True)

    def _build_fields_of_continued_message(self, prompt: Prompt, text: str, effort: str | None) -> dict[str, Any]:
        """Build the fields of a request whose last message is a beginning of the answer."""
        message = {"role": "assistant", "content": self._opening + text}
        return {"messages": [*(prompt.messages or ()), message], **CONTINUED, **self._shape.build_effort_fields(effort)}

    async def _count_tokens_of_prompt_with_answer(self, prompt: Prompt, text: str, thinking: Thinking) -> int:
        """Ask how many tokens a prompt has with a beginning of the answer."""
        body = self._shape.build_short_text_request(
            self._build_fields_of_continued_message(prompt, text, thinking.effort)
        )
        return await self._server.ask(
            self._shape.path, body, count_prompt_characters(prompt) + len(text), require_number_of_prompt_tokens
        )

    async def _score_after_thought_and_count_tokens(
        self, prompt: Prompt, text: str, thinking: Thinking
    ) -> tuple[Score, int]:
        """Score the options of a prompt, or its numbers, after a thought; also return the tokens of that prompt."""
        if prompt.numbers:
            tokens = await self._count_tokens_of_prompt_with_answer(prompt, text, thinking)
            return await ask_and_bound_number_probabilities(
                prompt.numbers, self._build_next_token_asker(prompt, text, thinking)
            ), tokens
        question = await OptionQuestion.prepare_option_question(
            self._words, self._server.settings, self._shape, prompt, self._opening + text
        )
        body = question.build_request(self._build_fields_of_continued_message(prompt, text, thinking.effort))
        return await self._server.ask(
            self._shape.path,
            body,
            count_prompt_characters(prompt) + len(text),
            lambda reply: (question.score_options_from_reply(reply), require_number_of_prompt_tokens(reply)),
        )

    def _build_next_token_asker(self, prompt: Prompt, text: str, thinking: Thinking) -> Any:
        """Build the function that asks for the likeliest tokens after a thought and a path of texts."""
        shape = replace(self._shape, ids=False, named=False)
        n_shown = self._server.settings.choose_n_top_tokens(shape.api)

        async def ask_next(path: Path) -> list[NextToken]:
            fields = self._build_fields_of_continued_message(prompt, text + "".join(map(str, path)), thinking.effort)
            tokens = await self._server.ask(
                shape.path,
                shape.build_first_token_request(fields, n_shown),
                count_prompt_characters(prompt) + len(text),
                lambda reply: parse_candidates_for_first_token(parse_choices(reply)[0], n_shown),
            )
            texts = [None if token.open else token.text.decode(errors="replace") for token in tokens]
            return [NextToken(text, text, math.exp(t.logprob)) for t, text in zip(tokens, texts, strict=True)]

        return ask_next


def _parse_thought_and_text_of_choice(reply: Mapping[str, Any], choice: Mapping[str, Any]) -> _Written:
    """Read from a choice of a reply what the model thought and wrote."""
    message = choice.get("message")
    message = message if isinstance(message, dict) else {}
    text, reasoning = message.get("content") or "", message.get("reasoning_content") or message.get("reasoning") or ""
    if not isinstance(text, str) or not isinstance(reasoning, str) or not (reasoning or "content" in message):
        raise MalformedReply("the reply has no text")
    is_cut = choice.get("finish_reason") == "length"
    return _Written(
        replace_surrogates(reasoning), replace_surrogates(text), is_cut, require_number_of_prompt_tokens(reply)
    )
