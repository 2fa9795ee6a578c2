"""Turn responses into the columns of a response row: every answer is the letter that was shown, none of it mapped."""

from __future__ import annotations

from typing import Any

from inference.asking import rounds
from inference.engines.contract import Generation, Score
from inference.protocols.choice import reply
from inference.stimuli.prompts import Prompt
from inference.stimuli.study import Variant

read_letters = rounds.read
"""Letters are options like any others."""


def read_texts(variant: Variant, prompt: Prompt, score: Score) -> dict[str, Any]:
    """Answer with the choice whose words are likeliest, whatever the likeliest first token is."""
    most = max(range(len(score.probability)), key=(score.logprob or score.probability).__getitem__)
    return rounds.read(variant, prompt, score) | {"answer": variant.options[most].label}


def read_replies(variant: Variant, prompt: Prompt, generation: Generation) -> dict[str, Any]:
    """Answer with the letter that most of the texts choose; with none if two are equal."""
    letters = [option.label for option in variant.options]
    found = [None if text is None else reply.chosen(text, letters, prompt.text or "") for text in generation.answers]
    count = [found.count(letter) for letter in letters]
    most = max(count)
    answer = letters[count.index(most)] if most and count.count(most) == 1 else None
    return {"output": list(generation.texts), "count": count, "invalid": found.count(None), "answer": answer}
