"""Turn answer words into token ids, in the context that they follow."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ground.errors import InputError

TokenIds = tuple[int, ...]
Answers = tuple[tuple[str, ...], ...]
Encode = Callable[[Sequence[str]], list[list[int]]]

# The tokenisation of an answer can depend on the last word of the prompt and the white space after it. In scripts
# without spaces that "word" is the whole statement, so its length is limited.
CONTEXT_CHARACTERS = 32


@dataclass(frozen=True, slots=True)
class Options:
    """The options of a prompt as token ids.

    Attributes
    ----------
    forms
        Per option, every surface form that counts, with its token ids.
    sequences
        Per option, the distinct ones of these ids.
    dropped
        (option index, form, reason) of the forms that do not count.
    """

    forms: tuple[tuple[tuple[str, TokenIds], ...], ...]
    sequences: tuple[tuple[TokenIds, ...], ...]
    dropped: tuple[tuple[int, str, str], ...]

    @property
    def options_by_first_token(self) -> dict[int, tuple[int, ...]]:
        """Map every first token to the options that it may begin: token id -> option indices."""
        owners: dict[int, list[int]] = {}
        for option, sequences in enumerate(self.sequences):
            for token in dict.fromkeys(sequence[0] for sequence in sequences):
                owners.setdefault(token, []).append(option)
        return {token: tuple(indices) for token, indices in owners.items()}


def extract_prompt_end_affecting_tokens(text: str) -> str:
    """Cut out the end of a prompt that decides how an answer after it is tokenised."""
    end = text[-CONTEXT_CHARACTERS:]
    before = end.rstrip()
    (word,) = before.rsplit(None, 1)[-1:] or [""]
    return end[len(before) - len(word) :]


def extract_first_word(text: str) -> str:
    """Cut out the start of what follows a mask: the white space there and the first word."""
    match = re.match(r"\s*\S*", text[:CONTEXT_CHARACTERS])
    return match.group() if match else ""


def tokenize_answers_into_options(prompt_text: str, answers: Answers, encode: Encode) -> Options:
    """Tokenise every answer word after a prompt, with and without a space before it.

    If the tokenizer joins a form with the end of the prompt, the form's ids do not continue those of the prompt. It can
    then never be read from the next token: it is dropped and reported.

    Parameters
    ----------
    prompt_text
        The rendered prompt.
    answers
        Surface words per option.
    encode
        Texts to token ids, without special tokens.

    Returns
    -------
    The options as token ids.

    Raises
    ------
    InputError
        No form of an option is left, or two options have the same token ids.
    """
    forms = [
        (option, form)
        for option, words in enumerate(answers)
        for word in words
        for form in list_forms_with_and_without_space(word)
    ]
    prompt, *encoded = encode([prompt_text, *(prompt_text + form for _, form in forms)])
    counted_forms: list[tuple[int, str, TokenIds]] = []
    dropped: list[tuple[int, str, str]] = []
    for (option, form), ids in zip(forms, encoded, strict=True):
        if ids[: len(prompt)] != prompt:
            dropped.append((option, form, "joins with the end of the prompt into other tokens"))
        elif len(ids) == len(prompt):
            dropped.append((option, form, "has no tokens"))
        else:
            counted_forms.append((option, form, tuple(ids[len(prompt) :])))
    return build_options_from_forms(answers, counted_forms, dropped)


def build_options_from_forms(
    answers: Answers,
    counted_forms: Sequence[tuple[int, str, TokenIds]],
    dropped_forms: Sequence[tuple[int, str, str]],
) -> Options:
    """Group the forms of answers by option, each distinct id sequence once.

    Parameters
    ----------
    answers
        Surface words per option.
    counted_forms
        (option index, form, token ids) of the forms that count.
    dropped_forms
        (option index, form, reason) of the others.

    Returns
    -------
    The options as token ids.

    Raises
    ------
    InputError
        No form of an option is left, or two options have the same token ids.
    """
    owner: dict[TokenIds, tuple[int, str]] = {}
    for option, form, ids in counted_forms:
        other, other_form = owner.setdefault(ids, (option, form))
        if other != option:
            raise InputError(
                f"answers '{other_form}' of option {other + 1} and '{form}' of option {option + 1} are the same token"
                " ids to this model: choose other answer words"
            )
    for option, words in enumerate(answers):
        if not any(index == option for index, *_ in counted_forms):
            reasons = "; ".join(sorted({reason for index, _, reason in dropped_forms if index == option}))
            raise InputError(
                f"none of the answers of option {option + 1} ({', '.join(words)}) can be scored after this prompt"
                f" ({reasons or 'no answers given'}): change the answers or how the prompt ends"
            )
    return Options(
        forms=tuple(
            tuple((form, ids) for index, form, ids in counted_forms if index == option)
            for option in range(len(answers))
        ),
        sequences=tuple(
            tuple(ids for ids, (index, _) in owner.items() if index == option) for option in range(len(answers))
        ),
        dropped=tuple(dropped_forms),
    )


def list_forms_with_and_without_space(word: str) -> tuple[str, ...]:
    """Write a word as it may follow a prompt: directly, and after a space."""
    bare = word.lstrip(" ")
    return (bare, " " + bare)
