"""Build requests to the chat and completions endpoints, and read texts from their replies."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ground.errors import InputError
from inference.engines.contract import NO_EFFORT
from inference.engines.openai.replies import MalformedReply, replace_surrogates
from inference.engines.openai.settings import CHAT
from inference.engines.openai.thoughts.parts import detect_thinking_mark_family_of_text
from inference.engines.thinking_marks import locate_answer_after_thinking_in_text

if TYPE_CHECKING:
    from inference.engines.contract import Sampling
    from inference.stimuli.templates.prompts import Prompt

BEGIN_THINKING, END_THINKING = "<think>", "</think>"
# With fewer tokens a thinking model may refuse to answer at all.
PLAIN_TOKENS = 16


@dataclass(frozen=True, slots=True)
class Shape:
    """What requests to an endpoint look like.

    Attributes
    ----------
    api
        "chat" or "completions".
    vllm
        Whether the server is vLLM's or speaks as it does (SGLang): it samples as the checkpoint says unless the request
        differs, and tokenizes texts unless a gateway before it passes on less.
    ids
        Whether it gives the token ids of the tokens that it shows.
    named
        Whether it shows the probabilities of any listed token ids.
    newer
        Whether the model is a thinking model of OpenAI: the token limit has another name, sampling is fixed.
    """

    api: str
    vllm: bool = False
    ids: bool = False
    named: bool = False
    newer: bool = False

    @property
    def path(self) -> str:
        """Endpoint below the server's address."""
        return "/chat/completions" if self.api == CHAT else "/completions"

    def convert_text_to_request_fields(self, text: str) -> dict[str, Any]:
        """Turn a text into the field of a request that holds its prompt."""
        return {"messages": [{"role": "user", "content": text}]} if self.api == CHAT else {"prompt": text}

    def convert_prompt_to_request_fields(self, prompt: Prompt) -> dict[str, Any]:
        """Turn a rendered prompt into the field of a request that holds it."""
        return {"messages": list(prompt.messages)} if prompt.messages is not None else {"prompt": prompt.text}

    def build_short_text_request(self, prompt: Mapping[str, Any]) -> dict[str, Any]:
        """Build a request for a few words of text."""
        return {**prompt, **self._build_token_limit(PLAIN_TOKENS)}

    def build_first_token_request(
        self, prompt: Mapping[str, Any], n_shown: int, token_ids: Sequence[int] = ()
    ) -> dict[str, Any]:
        """Build a request for the most probable first tokens, or for the wanted token ids and the most probable one.

        At temperature 0, so that the generated token is one of those shown. Log-probabilities are those of the model
        itself at any temperature; the probe finds servers that show others.

        Parameters
        ----------
        prompt
            As `convert_prompt_to_request_fields` or `convert_text_to_request_fields` makes it.
        n_shown
            Number of tokens to be shown.
        token_ids
            Ids of wanted tokens; empty: only the most probable ones.

        Returns
        -------
        The body of the request, without the model's name.
        """
        logprob_fields = {"logprobs": True, "top_logprobs": n_shown} if self.api == CHAT else {"logprobs": n_shown}
        body = {**prompt, **self._build_token_limit(1), "temperature": 0, **logprob_fields}
        if self.ids:
            body["return_tokens_as_token_ids"] = True
        if token_ids:
            body["logprob_token_ids"] = list(token_ids)
        return body

    def build_generation_request(
        self, prompt: Mapping[str, Any], sampling: Sampling, n_samples: int, seed: int
    ) -> dict[str, Any]:
        """Build a request for texts, drawn as the sampling says and never as the server would by itself.

        Parameters
        ----------
        prompt
            As `convert_prompt_to_request_fields` makes it.
        sampling
            How the texts are written; its number of samples does not count here.
        n_samples
            Number of texts in this request.
        seed
            As `compute_request_seed` makes it.

        Returns
        -------
        The body of the request, without the model's name.
        """
        body = {**prompt, **self._build_token_limit(sampling.max_tokens), "n": n_samples, "seed": seed}
        if not self.newer or sampling.temperature != 1:
            body["temperature"] = sampling.temperature
        if not self.newer or sampling.top_p != 1:
            body["top_p"] = sampling.top_p
        if self.vllm:
            body |= {"top_k": sampling.top_k or -1, "min_p": sampling.min_p, "repetition_penalty": 1}
        return body | self.build_effort_fields(sampling.effort)

    def build_effort_fields(self, effort: str | None) -> dict[str, Any]:
        """Build the fields of a request that say how hard a model thinks; vLLM's templates switch thinking off."""
        if effort == NO_EFFORT and self.vllm:  # templates of DeepSeek and Kimi call it `thinking`
            return {"chat_template_kwargs": {"enable_thinking": False, "thinking": False}}
        return {} if effort is None else {"reasoning_effort": effort}

    def refuse_token_restrictions_server_may_ignore(self, sampling: Sampling) -> None:
        """Refuse restrictions of the sampled tokens that this server is not known to take: it may ignore them.

        Raises
        ------
        InputError
            Naming the option.
        """
        for option, value in (("--top-k", sampling.top_k), ("--min-p", sampling.min_p)):
            if value and not self.vllm:
                raise InputError(
                    f"{option} is a field of vLLM's server, which this one does not seem to be: leave it out"
                )

    def _build_token_limit(self, max_tokens: int) -> dict[str, int]:
        """Build the field of a request that limits the tokens, under the name that the model takes."""
        return {"max_completion_tokens" if self.newer else "max_tokens": max_tokens}


@dataclass(frozen=True, slots=True)
class Text:
    """A generated text.

    Attributes
    ----------
    whole
        All of it; thoughts that the server gives apart stand between `<think>` and `</think>`.
    answer
        The part that counts: all, or what follows the thoughts. None: the thoughts did not end within the tokens.
    thoughts
        What the model wrote before the answer; empty where the model does not think.
    """

    whole: str
    answer: str | None
    thoughts: str = ""


def parse_choices(reply: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the answers in a reply, at least one.

    Raises
    ------
    MalformedReply
        There is none.
    """
    entries = reply.get("choices")
    if not isinstance(entries, list) or not entries or not all(isinstance(choice, dict) for choice in entries):
        raise MalformedReply("the reply has no answer")
    return entries


def split_choice_into_thoughts_and_answer(choice: Mapping[str, Any]) -> Text:
    """Read the text of an answer; servers give thoughts separately (`reasoning_content`, `reasoning`) or in the text.

    Raises
    ------
    MalformedReply
        There is no text.
    """
    message = choice.get("message")
    reasoning = None
    if isinstance(message, dict):
        text = message.get("content") or ""
        reasoning = message.get("reasoning_content") or message.get("reasoning")
    else:
        text = choice.get("text")
    if not isinstance(text, str) or not isinstance(reasoning, (str, type(None))):
        raise MalformedReply("the reply has no text")
    text, reasoning = replace_surrogates(text), replace_surrogates(reasoning or "")
    if reasoning:
        has_ended = bool(text) or choice.get("finish_reason") == "stop"
        if not has_ended:
            return Text(f"{BEGIN_THINKING}{reasoning}", None, reasoning)
        return Text(f"{BEGIN_THINKING}{reasoning}{END_THINKING}{text}", text, reasoning)
    marks = detect_thinking_mark_family_of_text(text)
    opens_itself = marks is not None and text.lstrip().startswith(marks.begin)
    if marks is None or not (opens_itself or marks.end in text):  # other texts may speak of a mark
        return Text(text, text)
    length = locate_answer_after_thinking_in_text("" if opens_itself else marks.begin, text, marks)
    return Text(text, None, text) if length is None else Text(text, text[length:], text[:length])


def render_prompt_text(prompt: Prompt) -> str:
    """Write a prompt as people read it; the server decides how a chat becomes one text."""
    if prompt.messages is None:
        return prompt.text or ""
    return "\n".join(f"{message['role']}: {message['content']}" for message in prompt.messages)


def count_prompt_characters(prompt: Prompt) -> int:
    """Count the characters that are sent for a prompt."""
    return len(prompt.text or "") + sum(len(message["content"]) for message in prompt.messages or ())


def compute_request_seed(seed: int, n_received: int, prompt: Prompt) -> int:
    """Compute the seed of a request for texts.

    Parameters
    ----------
    seed
        That of the engine.
    n_received
        Number of samples received so far for this prompt and sampling.
    prompt
        The prompt.

    Returns
    -------
    A number of 31 bits.
    """
    digest = hashlib.sha256(f"{seed}\0{n_received}\0{render_prompt_text(prompt)}".encode()).digest()
    return int.from_bytes(digest[:4], "big") >> 1
