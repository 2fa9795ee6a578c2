"""Ask for answers after thoughts: the options of the command line, the conditions, and the columns of a row."""

from __future__ import annotations

import math
import re
from argparse import ArgumentTypeError, Namespace, _ArgumentGroup
from collections.abc import Sequence
from itertools import product
from typing import Any

from ground.errors import InputError, shorten_text
from ground.numerals import build_bounded_number_argument_type, build_bounded_whole_number_type
from inference.engines.contract import (
    LONGEST_THOUGHT,
    MOST_SAMPLES,
    MOST_TOKENS,
    NO_EFFORT,
    THOUGHTS,
    Score,
    Thinking,
    Thoughts,
)

THOUGHT = "thought"
MAKER = "maker"
SAMPLER_OPTIONS = {"top_p": "--top-p", "top_k": "--top-k", "min_p": "--min-p"}
_LEVEL = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,39}")  # stands in names of conditions, which stand in many places


def add_thought_arguments(group: _ArgumentGroup) -> None:
    """Add the arguments that are about thoughts only."""
    group.add_argument(
        "--thoughts",
        type=build_bounded_whole_number_type(1, MOST_SAMPLES),
        metavar="M",
        help=f"thoughts per prompt, sampled as the model's maker advises unless --temperature says otherwise (default: "
        f"{THOUGHTS}; 1 at temperature 0)",
    )
    group.add_argument(
        "--budget",
        nargs="+",
        type=build_bounded_whole_number_type(1, MOST_TOKENS),
        metavar="N",
        help="close a thought by force after N tokens, each a condition (default: none; a thought has up to "
        f"{LONGEST_THOUGHT:,} tokens or what the model's window holds, and one that does not end has no answer)",
    )


def add_token_restriction_arguments(group: _ArgumentGroup) -> None:
    """Add the arguments that restrict the tokens which sampled texts and thoughts are drawn from."""
    group.add_argument(
        "--top-p",
        type=build_bounded_number_argument_type(0, 1),
        metavar="P",
        help="draw from the likeliest tokens that sum to P (default: 1, all)",
    )
    group.add_argument(
        "--top-k",
        type=build_bounded_whole_number_type(0, MOST_TOKENS),
        metavar="K",
        help="draw from the K likeliest tokens (default: 0, all)",
    )
    group.add_argument(
        "--min-p",
        type=build_bounded_number_argument_type(0, 1),
        metavar="P",
        help="draw from tokens with at least P times the probability of the likeliest (default: 0, all)",
    )


def add_effort_argument(group: _ArgumentGroup) -> None:
    """Add the argument that says how hard models think."""
    group.add_argument(
        "--effort",
        nargs="+",
        type=require_thinking_effort_name,
        metavar="LEVEL",
        help="reasoning effort, passed on to thinking models, each a condition (none: thinking is off)",
    )


def require_thinking_effort_name(text: str) -> str:
    """Return the name of a level as it is; refuse what is no word.

    Raises
    ------
    ArgumentTypeError
        It is no word.

    Examples
    --------
    >>> require_thinking_effort_name("low")
    'low'
    """
    if not _LEVEL.fullmatch(text):
        raise ArgumentTypeError(f"{shorten_text(text, 40)!r} is not a level like low, medium or high")
    return text


def read_token_restrictions_from_options(options: Namespace) -> dict[str, Any]:
    """Read the restrictions of sampled tokens that the call gives, as fields of `Sampling`."""
    return {name: value for name in SAMPLER_OPTIONS if (value := getattr(options, name)) is not None}


def parse_thinking_settings(options: Namespace) -> tuple[Thinking, ...]:
    """Read the ways of thinking: one for each temperature, effort and budget.

    Raises
    ------
    InputError
        For a value out of range, or settings that do not go together.
    """
    fields = read_token_restrictions_from_options(options)
    temperatures: list[float | None] = list(dict.fromkeys(options.temperature)) if options.temperature else [None]
    if fields and not any(temperatures):
        name = SAMPLER_OPTIONS[next(iter(fields))]
        raise InputError(f"{name} is for sampled thoughts: give a --temperature above 0, or leave it out")
    if options.thoughts is not None and options.thoughts > 1 and not all(t is None or t > 0 for t in temperatures):
        raise InputError(f"--thoughts {options.thoughts}: at temperature 0 all thoughts are the same; ask for 1")
    if options.budget and options.max_tokens is not None:
        raise InputError("--budget is the length of a thought, too: leave out --max-tokens")
    thinkings = []
    for temperature, effort, budget in product(
        temperatures, dict.fromkeys(options.effort or [None]), dict.fromkeys(options.budget or [None])
    ):
        is_off = effort == NO_EFFORT
        thinkings.append(
            Thinking(
                thoughts=1 if temperature == 0 or is_off else options.thoughts or THOUGHTS,
                temperature=0.0 if is_off else temperature,
                max_tokens=None if is_off else options.max_tokens,
                effort=effort,
                budget=None if is_off else budget,
                **(fields if temperature and not is_off else {}),
            )
        )
    return tuple(dict.fromkeys(thinkings))


def name_thought_condition(thinking: Thinking) -> str:
    """Name the condition of thoughts by what differs from the default: "thought", "thought-t0.7-low-b512"."""
    is_off = thinking.effort == NO_EFFORT
    parts = (
        None if thinking.temperature is None or is_off else f"t{thinking.temperature:g}",
        None if thinking.top_p == 1 else f"p{thinking.top_p:g}",
        None if thinking.top_k == 0 else f"k{thinking.top_k}",
        None if thinking.min_p == 0 else f"m{thinking.min_p:g}",
        thinking.effort,
        None if thinking.budget is None else f"b{thinking.budget}",
    )
    return "-".join([THOUGHT, *filter(None, parts)])


def build_thought_condition_fields(thinking: Thinking) -> dict[str, Any]:
    """Return the fields of a condition that say how a model thought."""
    is_makers = thinking.temperature is None
    return {
        "answer": THOUGHT,
        "thoughts": thinking.thoughts,
        "sampler": MAKER if is_makers else None,
        **{name: None if is_makers else getattr(thinking, name) for name in ("temperature", *SAMPLER_OPTIONS)},
        "max_tokens": thinking.max_tokens,
        "effort": thinking.effort,
        "budget": thinking.budget,
    }


def build_columns_of_thoughts(response: Thoughts, options: Sequence[str]) -> dict[str, Any]:
    """Build the columns of a row: each thought with its probabilities, and their mean.

    Parameters
    ----------
    response
        What the engine returned, without an error.
    options
        Labels of the options, or the numbers as text, in the order of the probabilities.

    Returns
    -------
    Column -> value. `probability` is the mean over the thoughts that have an answer, None where none has; `answer` the
    option that the likeliest next token begins after most of them, None where two are equally frequent or none is.
    Where thinking was off, there are no columns of thoughts.
    """
    answered = [score for score in response.scores if score is not None]
    answers = [None if score is None or score.answer is None else options[score.answer] for score in response.scores]
    if not response.thoughts:  # thinking was off: probabilities as of any model
        return {**_build_columns_of_mean_probabilities(answered), "answer": answers[0]}
    columns: dict[str, Any] = {
        "output": list(response.answers),
        "thought": list(response.thoughts),
        "thought_tokens": list(response.tokens),
        "unclosed": response.closed.count(False),
        "sample_probability": [None if score is None else list(score.probability) for score in response.scores],
        "sample_answer": answers,
    }
    return (
        columns
        | (_build_columns_of_mean_probabilities(answered) if answered else {})
        | {"answer": find_most_frequent_answer(answers, options)}
    )


def _build_columns_of_mean_probabilities(scores: Sequence[Score]) -> dict[str, Any]:
    """Average the probabilities after several thoughts; log-probabilities only where all are exact."""
    probability = [math.fsum(values) / len(scores) for values in zip(*(s.probability for s in scores), strict=True)]
    is_exact = all(score.logprob for score in scores)
    uppers = [score.mass if score.mass_upper is None else score.mass_upper for score in scores]
    return {
        "probability": probability,
        "logprob": [
            _compute_log_of_mean_probability(values) for values in zip(*(s.logprob for s in scores), strict=True)
        ]
        or None
        if is_exact
        else None,
        "mass": math.fsum(probability),
        "mass_upper": None if is_exact else math.fsum(upper or 0.0 for upper in uppers) / len(uppers),
    }


def _compute_log_of_mean_probability(logprobs: Sequence[float]) -> float:
    """Return the logarithm of the mean probability; also of those that are too small for a number of 8 bytes."""
    highest = max(logprobs)
    if len(logprobs) == 1 or highest == -math.inf:
        return highest
    return highest + math.log(math.fsum(math.exp(value - highest) for value in logprobs) / len(logprobs))


def find_most_frequent_answer(answers: Sequence[str | None], options: Sequence[str]) -> str | None:
    """Find the option that is most frequent among answers.

    Parameters
    ----------
    answers
        Those read from texts; None where none could be.
    options
        What they choose among.

    Returns
    -------
    The option; None where two are equally frequent, or there is no answer.
    """
    counts = [answers.count(option) for option in options]
    most = max(counts)
    return options[counts.index(most)] if most and counts.count(most) == 1 else None
