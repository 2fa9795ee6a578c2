"""Bound the probability of every number of a scale, from the most probable tokens at each step of its spelling.

A number is answered where its digits are written, and what follows does not continue it (`does_text_continue_number`),
as in `inference.engines.exact.number_probabilities`. A server shows the likeliest tokens only, so the probabilities are
lower bounds: what is not shown may spell any number. The bound is narrow where the model is sure of its answer.
"""

from __future__ import annotations

import math
from collections.abc import Awaitable, Callable, Hashable, Sequence
from dataclasses import dataclass

from inference.engines.contract import Score
from inference.engines.openai.bounds import NEGLIGIBLE
from inference.stimuli.numbers import does_text_continue_number

Path = tuple[Hashable, ...]
FOLLOWED = 1e-4  # a beginning of a number below this probability costs no further request


@dataclass(frozen=True, slots=True)
class NextToken:
    """A token that a server shows: how a path continues with it, what it writes (None: not known), how probable it is.

    >>> NextToken(17, "2", 0.5).probability
    0.5
    """

    key: Hashable
    text: str | None
    probability: float


def list_beginnings_of_numbers(numbers: range) -> set[str]:
    """List what the numbers of a scale begin with, themselves among it: each may cost a request of its own.

    >>> sorted(list_beginnings_of_numbers(range(9, 11)))
    [' ', ' 1', ' 10', ' 9', '1', '10', '9']
    """
    return {
        form[:end] for number in numbers for form in _list_forms_of_number(number) for end in range(1, len(form) + 1)
    }


def _list_forms_of_number(number: int) -> tuple[str, str]:
    """List how a number may be written."""
    return str(number), f" {number}"


async def ask_and_bound_number_probabilities(
    numbers: range, ask_next: Callable[[Path], Awaitable[Sequence[NextToken]]]
) -> Score:
    """Bound the probabilities of all numbers of a scale.

    Parameters
    ----------
    numbers
        The scale.
    ask_next
        Asks for the likeliest tokens after the prompt and the tokens of a path.

    Returns
    -------
    The score; its `answer` is None where the bounds leave open which number is the likeliest.
    """
    index = {form: place for place, number in enumerate(numbers) for form in _list_forms_of_number(number)}
    beginnings = list_beginnings_of_numbers(numbers)
    probability = [0.0] * len(numbers)
    missing = 0.0
    paths: list[tuple[Path, str, float]] = [((), "", 1.0)]
    for path, spelled, likelihood in paths:  # grows
        if path and likelihood < FOLLOWED:
            missing += likelihood
            continue
        place = index.get(spelled)
        shown = 0.0
        for token in await ask_next(path):
            value = likelihood * token.probability
            shown += token.probability
            if token.text is None or (not token.text and place is None):  # an empty text ends a number; else unclear
                missing += value
            elif token.text and spelled + token.text in beginnings:
                paths.append(((*path, token.key), spelled + token.text, value))
            elif place is not None and not does_text_continue_number(token.text):
                probability[place] += value
        missing += likelihood * max(0.0, 1.0 - shown)
    mass = min(1.0, math.fsum(probability))
    highest, *others = sorted(range(len(numbers)), key=lambda place: -probability[place])
    lead = probability[highest] - (probability[others[0]] if others else 0.0)
    is_exact = missing <= NEGLIGIBLE
    answer = highest if probability[highest] and (is_exact or lead > missing) else None
    if is_exact:
        logprob = tuple(math.log(value) if value else -math.inf for value in probability)
        return Score(tuple(probability), logprob, mass, answer)
    return Score(tuple(probability), (), mass, answer, mass_upper=min(1.0, mass + missing))
