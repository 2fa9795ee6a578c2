"""Turn responses into the columns of a response row: every answer is a letter as shown, not a canonical one."""

from __future__ import annotations

from typing import Any

from inference.asking import rounds
from inference.engines.contract import Generation, Score
from inference.protocols.choice import reply
from inference.stimuli.study import Variant
from inference.stimuli.templates.prompts import Prompt

_OTHER_READING = {reply.LETTER: reply.STRICT, reply.STRICT: reply.LETTER}
parse_letters = rounds.build_columns_of_response
"""Letters are options like any others."""


def build_columns_of_likeliest_words(variant: Variant, prompt: Prompt, score: Score) -> dict[str, Any]:
    """Answer with the choice whose words are likeliest, whatever the likeliest first token is.

    Parameters
    ----------
    variant, prompt
        What was asked.
    score
        Probabilities of the words of each choice, in the order shown; log-probabilities decide where there are some.

    Returns
    -------
    Column -> value, as `rounds.build_columns_of_response` makes them; `answer` is a letter as shown.
    """
    most = max(range(len(score.probability)), key=(score.logprob or score.probability).__getitem__)
    return rounds.build_columns_of_response(variant, prompt, score) | {"answer": variant.options[most].label}


def build_columns_of_majority_choice(
    variant: Variant, prompt: Prompt, generation: Generation, reading: str = reply.LETTER
) -> dict[str, Any]:
    """Answer with the letter that most of the generated texts choose.

    Parameters
    ----------
    variant, prompt
        What was asked.
    generation
        The texts.
    reading
        How a letter is found in them: one of `reply.READINGS`.

    Returns
    -------
    Column -> value: `output`; `count` of each letter as shown; `invalid`, the texts without one; `read_otherwise`, the
    texts that the other reading reads as another letter, or as none; `answer`, None where the two most frequent letters
    are equally frequent, or there is none; `sample_answer` and `sample_answer_otherwise`, the letter of every text by
    this reading and by the other one.
    """
    choices = {option.label: variant.attributes.get(f"choice_{option.canonical}", "") for option in variant.options}

    def find_letters_of_replies(reading: str) -> list[str | None]:
        return [
            None if text is None else reply.find_chosen_letter(text, choices, prompt.text or "", reading)
            for text in generation.answers
        ]

    letters_by_reading = {name: find_letters_of_replies(name) for name in reply.READINGS}
    letters, otherwise = letters_by_reading[reading], letters_by_reading[_OTHER_READING[reading]]
    count = [letters.count(label) for label in choices]
    most = max(count)
    return {
        "output": list(generation.texts),
        "count": count,
        "invalid": letters.count(None),
        "read_otherwise": sum(letter != other_letter for letter, other_letter in zip(letters, otherwise, strict=True)),
        "answer": list(choices)[count.index(most)] if most and count.count(most) == 1 else None,
        "sample_answer": letters,
        "sample_answer_otherwise": otherwise,
    }
