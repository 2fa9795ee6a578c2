"""Turn prompts into token ids: with the chat template, with at most one BOS and without a trailing EOS."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from transformers.utils import chat_template_utils

from ground.errors import InputError, shorten_to_one_line
from inference.engines.contract import build_template_fields_of_thinking_effort
from inference.engines.exact.answer_words import Encode
from inference.engines.thinking_marks import (
    THINKING,
    ThinkingMarks,
    run_answer_search_with_decoder,
    search_thinking_length,
)
from inference.engines.words import WordByWord, tokenizes_words_separately
from inference.stimuli.templates.prompts import Prompt
from inference.stimuli.templates.sandbox import Sandbox

# The environment in which transformers compiles chat templates: with this one they cannot loop for ever or fill memory.
chat_template_utils.ImmutableSandboxedEnvironment = Sandbox

# Some chat templates write today's date unless they get one; the same run would then ask another prompt tomorrow.
CHAT_DATE = "26 Jul 2024"
QUESTION, ANSWER = "Question", "Answer"
LONGEST_REASON = 300  # characters of what a template says when it refuses
# Tokens decoded at a time, a list each. When 700 new lists are there, Python looks for garbage, in the end through all
# that it holds.
CHUNK = 512


class Tokens:
    """A tokenizer with what engines of next-token models need: prompts as ids, thinking found, texts decoded."""

    def __init__(self, name: str, tokenizer: Any) -> None:
        self.name = name
        self.tokenizer = tokenizer
        self.bare: Encode = build_encoder_without_truncation_or_padding(tokenizer)
        self._leading = _find_leading_special_ids(tokenizer)
        self.marks = self._find_thinking_marks()
        self.ends = self._find_end_ids()

    @property
    def chat_template(self) -> str | None:
        """The chat template in use; None for a tokenizer without one."""
        return self.tokenizer.get_chat_template() if self.tokenizer.chat_template else None

    @property
    def thinks(self) -> bool:
        """Whether the chat template opens room for thinking before the answer."""
        return self.marks is not None

    def count_thinking_tokens(self, prompt_text: str, ids: Sequence[int]) -> int | None:
        """Count how many of the tokens that a model wrote after a rendered prompt are thinking.

        Parameters
        ----------
        prompt_text
            The rendered prompt; it may open the thinking itself.
        ids
            The tokens that the model wrote.

        Returns
        -------
        The number of tokens up to the end of thinking, with the line breaks after it; 0 where there is no thinking;
        None where it does not end.
        """
        marks = self.marks
        if marks is None:
            return 0
        return run_answer_search_with_decoder(
            search_thinking_length(prompt_text, ids, marks), self.decode_one_text_with_special_tokens
        )

    def does_prompt_close_thinking(self, prompt_text: str) -> bool:
        """Tell whether a rendered prompt closes the thinking before the model writes anything."""
        return self.marks is not None and self.marks.does_prompt_close_thought(prompt_text)

    def _find_thinking_marks(self) -> ThinkingMarks | None:
        """Find the marks around thinking that the chat template or the vocabulary shows; None: it does not think."""
        template = self.chat_template or ""
        families = [marks for marks in THINKING if marks.begin in template or marks.end in template]
        if not families and "enable_thinking" in template:
            added_tokens = self.tokenizer.get_added_vocab()
            families = [*(marks for marks in THINKING if added_tokens.keys() & {marks.begin, marks.end}), THINKING[0]]
        return families[0] if families else None

    def render(self, prompt: Prompt, effort: str | None = None) -> str:
        """Write the prompt out as the text that is tokenised.

        Parameters
        ----------
        prompt
            The prompt.
        effort
            How hard a thinking model thinks, for chat templates that take this setting; "none": not at all; None: the
            template decides.

        Returns
        -------
        Its own text, or what the chat template makes of its messages. A persona stands in the system message, or, where
        the template refuses or leaves out such a message, at the beginning of what the user says.

        Raises
        ------
        InputError
            The chat template refuses the messages (for example a system message, which some models do not take).
        """
        if prompt.messages is None:
            return prompt.text or ""
        thinking = build_template_fields_of_thinking_effort(effort)
        choices = prompt.list_alternative_message_lists()
        for messages in choices:
            try:
                text = self._apply_chat_template_at_fixed_date(messages, add_generation_prompt=True, **thinking)
            except Exception as error:  # a template can fail as any program can
                if messages is choices[-1]:
                    reason = shorten_to_one_line(str(error) or type(error).__name__, LONGEST_REASON)
                    raise InputError(
                        f"model {self.name}: its chat template refuses these messages ({reason})"
                    ) from error
                continue
            if messages is choices[-1] or messages[0]["content"].strip() in text:
                return text
        raise AssertionError("the last choice is returned or refused")

    def refuse_template_hiding_messages(self) -> None:
        """Refuse a chat template that never shows what a user says: all prompts would be the same.

        Raises
        ------
        InputError
            It shows nothing of a user's message.
        """
        try:
            rendered = self.render(Prompt(None, ({"role": "user", "content": QUESTION},), ()))
        except InputError:  # it may want a system message: the prompts themselves will show
            return
        if QUESTION not in rendered:
            raise InputError(
                f"model {self.name}: its chat template never shows the text of a message; correct it, or ask the model "
                "with --form plain"
            )

    def _apply_chat_template_at_fixed_date(self, messages: Sequence[dict[str, str]], **variables: Any) -> str:
        """Write messages out with the chat template, at a fixed date."""
        text: str = self.tokenizer.apply_chat_template(
            list(messages), tokenize=False, date_string=CHAT_DATE, **variables
        )
        return text

    def _find_end_ids(self) -> frozenset[int]:
        """Find the ids that end an answer: EOS, and the special token that the chat template writes after an answer."""
        ends = {self.tokenizer.eos_token_id} - {None}
        if self.chat_template:
            messages = ({"role": "user", "content": QUESTION}, {"role": "assistant", "content": ANSWER})
            try:
                behind = self._apply_chat_template_at_fixed_date(messages).rpartition(ANSWER)[2].lstrip()
            except Exception:  # this template takes no assistant message, or wants a system message
                behind = ""
            special = self.tokenizer.added_tokens_decoder
            ends.update(first for first in self.bare([behind])[0][:1] if first in special and special[first].special)
        return frozenset(ends)

    def encode(self, texts: Sequence[str], from_template: Sequence[bool]) -> list[list[int]]:
        """Turn rendered prompts into token ids.

        Parameters
        ----------
        texts
            Rendered prompts.
        from_template
            For each, whether a chat template wrote it: that writes its own BOS, other texts get the tokenizer's.

        Returns
        -------
        A list of ids per text.
        """
        lead = self._leading
        return [
            ids if is_chat or ids[: len(lead)] == lead else lead + ids
            for is_chat, ids in zip(from_template, self.bare(texts), strict=True)
        ]

    def decode_one_text_with_special_tokens(self, ids: Sequence[int]) -> str:
        """Decode a text as written, special tokens included."""
        text: str = self.tokenizer.decode(list(ids), skip_special_tokens=False, clean_up_tokenization_spaces=False)
        return text

    def list_vocabulary_token_texts(self) -> list[str]:
        """Find what each token of the vocabulary writes after other text; special tokens write nothing."""
        anchor = self.bare(["a"])[0]
        (before,) = self.decode([anchor])
        tokens = range(len(self.tokenizer))
        return [
            text[len(before) :]
            for start in range(0, len(tokens), CHUNK)
            for text in self.decode([[*anchor, token] for token in tokens[start : start + CHUNK]])
        ]

    def decode(self, id_lists: Sequence[Sequence[int]]) -> list[str]:
        """Decode texts as written, special tokens left out."""
        decoded: list[str] = (
            # What `batch_decode` calls text by text, in a quarter of its time: a vocabulary has 128,000 texts.
            self.tokenizer.backend_tokenizer.decode_batch(id_lists, skip_special_tokens=True)
            if self.tokenizer.is_fast
            else self.tokenizer.batch_decode(
                [list(ids) for ids in id_lists], skip_special_tokens=True, clean_up_tokenization_spaces=False
            )
        )
        return decoded


def build_encoder_without_truncation_or_padding(tokenizer: Any, add_special_tokens: bool = False) -> Encode:
    """Make an encoder that does not truncate, pad, or warn about long texts.

    Parameters
    ----------
    tokenizer
        Tokenizer of transformers; the truncation and padding in its file are switched off.
    add_special_tokens
        Whether the tokenizer adds its special tokens ([CLS] ... [SEP]).

    Returns
    -------
    A function from a list of texts to a list of id lists.
    """
    if tokenizer.is_fast:
        backend = tokenizer.backend_tokenizer
        backend.no_truncation()  # tokenizer files may carry either setting from training
        backend.no_padding()

        def encode_texts(texts: Sequence[str]) -> list[list[int]]:
            encodings = backend.encode_batch_fast(list(texts), add_special_tokens=add_special_tokens)
            return [encoding.ids for encoding in encodings]

        return (
            WordByWord(encode_texts) if not add_special_tokens and tokenizes_words_separately(backend) else encode_texts
        )
    return lambda texts: (
        tokenizer(list(texts), add_special_tokens=add_special_tokens, verbose=False)["input_ids"] if texts else []
    )


def _find_leading_special_ids(tokenizer: Any) -> list[int]:
    """Find the ids that the tokenizer puts before a text (BOS, if it has one), not those that it puts after."""
    bare = build_encoder_without_truncation_or_padding(tokenizer)(["a"])[0]
    full = build_encoder_without_truncation_or_padding(tokenizer, add_special_tokens=True)(["a"])[0]
    for start in range(len(full) - len(bare) + 1):
        if full[start : start + len(bare)] == bare:
            return full[:start]
    return []
