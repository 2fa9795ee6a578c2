"""Read the command line options that say how models answer: probabilities, text, or thinking first."""

from __future__ import annotations

import hashlib
from argparse import ArgumentParser, Namespace, _ArgumentGroup
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from ground.errors import InputError
from ground.numerals import build_bounded_number_argument_type, build_bounded_whole_number_type
from inference.asking import text_answers
from inference.asking.rounds import Condition, Round
from inference.asking.thoughts import (
    SAMPLER_OPTIONS,
    THOUGHT,
    add_effort_argument,
    add_thought_arguments,
    add_token_restriction_arguments,
    build_thought_condition_fields,
    name_thought_condition,
    parse_thinking_settings,
    read_token_restrictions_from_options,
)
from inference.engines.contract import MOST_SAMPLES, MOST_TEMPERATURE, MOST_TOKENS, Sampling, Thinking
from inference.stimuli.study import Variant
from inference.stimuli.templates.prompts import Prompt

PROBABILITY, TEXT = "probability", "text"
SAMPLES = 10


@dataclass(frozen=True, slots=True)
class AnswerWays:
    """The ways of answering that a protocol with options asks for.

    Parameters
    ----------
    probability
        Whether the options' exact probabilities are asked for.
    texts
        Texts to generate, each a condition of its own, parsed for an option (module `text_answers`).
    thinkings
        Ways of thinking after which the options' exact probabilities are asked for, each a condition of its own.
    share
        Share of the variants (0-1] for which texts or thinking are generated, chosen by the names of the stimuli.
    """

    probability: bool = True
    texts: tuple[Sampling, ...] = ()
    thinkings: tuple[Thinking, ...] = ()
    share: float = 1.0

    def rounds(
        self, condition_name: str, fields: Mapping[str, Any], render: Callable[[Variant, str | None], Prompt]
    ) -> list[Round]:
        """Make the rounds of all ways.

        Parameters
        ----------
        condition_name
            Condition of the probabilities; texts are `name/text...`, thoughts are `name/thought...`.
        fields
            What run.json records of all these conditions.
        render
            As in `Round`.

        Returns
        -------
        At most one round for each of probabilities, texts and thinking.
        """
        rounds = [Round((Condition(condition_name, fields),), render)] if self.probability else []
        texts = tuple(
            Condition(
                f"{condition_name}/{name_text_condition(way)}",
                {**fields, **build_text_condition_fields(way), "text_rule": text_answers.VERSION},
                way,
            )
            for way in self.texts
        )
        thoughts = build_thought_conditions(condition_name, fields, self.thinkings)
        for conditions in (texts, thoughts):
            if conditions:
                shared = tuple(
                    replace(condition, fields={**condition.fields, "share": self.share}) for condition in conditions
                )
                rounds.append(Round(shared, render, chosen=partial(is_variant_in_subsample, share=self.share)))
        return rounds


def is_variant_in_subsample(variant: Variant, share: float) -> bool:
    """Tell whether a variant is in the subsample: its own name decides, so further items change nothing for it.

    Parameters
    ----------
    variant
        Any variant.
    share
        Share of the variants that are drawn, 0 to 1.

    Returns
    -------
    Whether the hash of its name, as a number from 0 to 1, is below the share.
    """
    digest = hashlib.sha256(f"{variant.item}/{variant.variant}".encode()).digest()
    return int.from_bytes(digest[:8], "big") < share * 2**64


def add_answer_arguments(parser: ArgumentParser) -> None:
    """Add the arguments that say how models answer."""
    group = parser.add_argument_group("answers")
    group.add_argument(
        "--answer",
        nargs="+",
        choices=(PROBABILITY, TEXT, THOUGHT),
        default=[PROBABILITY],
        help="probability: of the options (default); text: generated and parsed for an option; thought: probabilities "
        "of the options after the thinking of a thinking model; or several of these",
    )
    add_text_generation_arguments(
        group,
        "length of a text, its own thinking included (default: 32), or of a thought with the answer behind it",
    )
    add_thought_arguments(group)
    group.add_argument(
        "--text-share",
        type=build_bounded_number_argument_type(0, 1),
        metavar="P",
        help="generate texts and thinking for this share of the variants (default: 1)",
    )


def add_text_generation_arguments(group: _ArgumentGroup, length_help: str) -> None:
    """Add the arguments that say how texts are generated.

    Parameters
    ----------
    group
        Where they are added.
    length_help
        The help of `--max-tokens`.
    """
    group.add_argument(
        "--temperature",
        nargs="+",
        type=build_bounded_number_argument_type(0, MOST_TEMPERATURE),
        metavar="T",
        help="of texts and thoughts, each a condition (default: of texts 0, always the most probable token; of "
        "thoughts, as the model's maker advises)",
    )
    group.add_argument(
        "--samples",
        type=build_bounded_whole_number_type(1, MOST_SAMPLES),
        metavar="N",
        help=f"texts per prompt at temperatures above 0 (default: {SAMPLES})",
    )
    group.add_argument(
        "--max-tokens", type=build_bounded_whole_number_type(1, MOST_TOKENS), metavar="N", help=length_help
    )
    add_effort_argument(group)
    add_token_restriction_arguments(group)


def parse_answer_ways(options: Namespace) -> AnswerWays:
    """Read the ways of answering from the command line.

    Raises
    ------
    InputError
        For a setting of texts or thoughts although none is asked for, settings that do not go together, or a value out
        of range.
    """
    text, thought = TEXT in options.answer, THOUGHT in options.answer
    refuse_text_settings_without_texts(options, text=text, thought=thought)
    share = 1.0 if options.text_share is None else options.text_share
    if not 0 < share <= 1:
        raise InputError(f"--text-share {share}: give a share above 0, at most 1")
    length = {} if options.max_tokens is None else {"max_tokens": options.max_tokens}
    texts = parse_text_samplings(options, length) if text else ()
    return AnswerWays(PROBABILITY in options.answer, texts, parse_thinking_settings(options) if thought else (), share)


def refuse_text_settings_without_texts(options: Namespace, *, text: bool, thought: bool) -> None:
    """Refuse a setting of texts or thoughts where the call asks for none.

    Parameters
    ----------
    options
        Those of `add_text_generation_arguments` and `add_thought_arguments`.
    text, thought
        Whether texts, and whether thoughts are asked for.

    Raises
    ------
    InputError
        Naming the setting.
    """
    of_thoughts = {"--thoughts": options.thoughts, "--budget": options.budget}
    of_both = {
        "--temperature": options.temperature,
        "--max-tokens": options.max_tokens,
        "--text-share": getattr(options, "text_share", None),
        "--effort": options.effort,
        **{option: getattr(options, name) for name, option in SAMPLER_OPTIONS.items()},
    }
    for settings, is_asked, advice in (
        ({"--samples": options.samples}, text, f"generated texts: add --answer {TEXT}"),
        (of_thoughts, thought, f"thoughts: add --answer {THOUGHT}"),
        (of_both, text or thought, f"generated texts and thoughts: add --answer {TEXT} or {THOUGHT}"),
    ):
        given_options = [name for name, value in settings.items() if value is not None]
        if given_options and not is_asked:
            raise InputError(f"{given_options[0]} is about {advice}, or leave it out")


def build_thought_conditions(
    condition_name: str, fields: Mapping[str, Any], thinkings: Sequence[Thinking]
) -> tuple[Condition, ...]:
    """Make a condition of every way of thinking.

    Parameters
    ----------
    condition_name
        What their names begin with.
    fields
        What run.json records of all of them.
    thinkings
        The ways of thinking.

    Returns
    -------
    The conditions, in order.
    """
    return tuple(
        Condition(
            f"{condition_name}/{name_thought_condition(thinking)}",
            {**fields, **build_thought_condition_fields(thinking)},
            thinking,
        )
        for thinking in thinkings
    )


def parse_text_samplings(options: Namespace, length_field: Mapping[str, int]) -> tuple[Sampling, ...]:
    """Read how texts are generated.

    Parameters
    ----------
    options
        Those of `add_text_generation_arguments`.
    length_field
        Field `max_tokens` of `Sampling`; empty: its default, which is short.

    Returns
    -------
    One way for each temperature.

    Raises
    ------
    InputError
        For `--samples`, `--top-p`, `--top-k` or `--min-p` where no temperature is above 0, or a value out of range.
    """
    temperatures = options.temperature or [0.0]
    if options.samples is not None and not any(temperatures):
        raise InputError("--samples is for temperatures above 0: at 0 all texts are the same; give a --temperature")
    restrictions = read_token_restrictions_from_options(options)
    if restrictions and not any(temperatures):
        name = SAMPLER_OPTIONS[next(iter(restrictions))]
        raise InputError(f"{name} is for temperatures above 0: at 0 the likeliest token is taken; give a --temperature")
    return tuple(
        Sampling(
            samples=1 if not temperature else SAMPLES if options.samples is None else options.samples,
            temperature=temperature,
            effort=effort,
            **length_field,
            **(restrictions if temperature else {}),
        )
        for temperature in dict.fromkeys(temperatures)
        for effort in dict.fromkeys(options.effort or [None])
    )


def name_text_condition(sampling: Sampling, stem: str = TEXT) -> str:
    """Name the condition of generated texts by their temperature and effort: "text", "text-t0.7-low".

    Parameters
    ----------
    sampling
        How the texts are written.
    stem
        What the name begins with.

    Returns
    -------
    The name.
    """
    parts = (
        None if sampling.temperature == 0 else f"t{sampling.temperature:g}",
        None if sampling.top_p == 1 else f"p{sampling.top_p:g}",
        None if sampling.top_k == 0 else f"k{sampling.top_k}",
        None if sampling.min_p == 0 else f"m{sampling.min_p:g}",
        sampling.effort,
    )
    return "-".join([stem, *filter(None, parts)])


def build_text_condition_fields(sampling: Sampling) -> dict[str, Any]:
    """Return the fields of a condition that say how its texts were generated; no restriction is no field."""
    restrictions = {"top_p": (sampling.top_p, 1), "top_k": (sampling.top_k, 0), "min_p": (sampling.min_p, 0)}
    return {
        "answer": TEXT,
        "temperature": sampling.temperature,
        "samples": sampling.samples,
        "max_tokens": sampling.max_tokens,
        "effort": sampling.effort,
        **{name: value for name, (value, neutral) in restrictions.items() if value != neutral},
    }
