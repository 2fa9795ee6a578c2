"""Read the command line options that say how models answer: probabilities, text, or thinking first."""

from __future__ import annotations

import hashlib
from argparse import ArgumentParser, Namespace, _ArgumentGroup
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from ground.errors import InputError
from inference.asking import text_answers
from inference.asking.rounds import Condition, Round, Thinking
from inference.engines.contract import MOST_SAMPLES, MOST_TEMPERATURE, MOST_TOKENS, Sampling
from inference.numerals import build_decimal_converter, build_whole_number_converter

if TYPE_CHECKING:
    from inference.stimuli.study import Variant
    from inference.stimuli.templates.prompts import Prompt

PROBABILITY, TEXT, THOUGHT = "probability", "text", "thought"
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
    thinking
        Thinking after which the options' exact probabilities are asked for; None: not asked for.
    share
        Share of the variants (0-1] for which texts or thinking are generated, chosen by the names of the stimuli.
    """

    probability: bool = True
    texts: tuple[Sampling, ...] = ()
    thinking: Thinking | None = None
    share: float = 1.0

    def rounds(
        self, condition_name: str, fields: Mapping[str, Any], render: Callable[[Variant, str | None], Prompt]
    ) -> list[Round]:
        """Make the rounds of all ways.

        Parameters
        ----------
        condition_name
            Condition of the probabilities; texts are `name/text...`, thinking is `name/thought`.
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
                f"{condition_name}/{_name_text_condition(way)}",
                {**fields, **build_text_condition_fields(way), "text_rule": text_answers.VERSION},
                way,
            )
            for way in self.texts
        )
        thoughts = (
            (
                Condition(
                    f"{condition_name}/{THOUGHT}",
                    {**fields, **_build_thought_condition_fields(self.thinking)},
                    self.thinking,
                ),
            )
            if self.thinking
            else ()
        )
        for conditions in (texts, thoughts):
            if conditions:
                shared = tuple(
                    replace(condition, fields={**condition.fields, "share": self.share}) for condition in conditions
                )
                rounds.append(Round(shared, render, chosen=partial(is_in_subsample, share=self.share)))
        return rounds


def is_in_subsample(variant: Variant, share: float) -> bool:
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
    add_text_arguments(group, "length of a text or of thinking, a text's own thinking included (default: 32 and 1024)")
    group.add_argument(
        "--text-share",
        type=build_decimal_converter(0, 1),
        metavar="P",
        help="generate texts and thinking for this share of the variants (default: 1)",
    )


def add_text_arguments(group: _ArgumentGroup, length_help: str) -> None:
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
        type=build_decimal_converter(0, MOST_TEMPERATURE),
        metavar="T",
        help="of generated texts, each a condition (default: 0, always the most probable token)",
    )
    group.add_argument(
        "--samples",
        type=build_whole_number_converter(1, MOST_SAMPLES),
        metavar="N",
        help=f"texts per prompt at temperatures above 0 (default: {SAMPLES})",
    )
    group.add_argument("--max-tokens", type=build_whole_number_converter(1, MOST_TOKENS), metavar="N", help=length_help)
    group.add_argument("--effort", metavar="LEVEL", help="reasoning effort, passed on to thinking models")


def parse_answer_ways(options: Namespace) -> AnswerWays:
    """Read the ways of answering from the command line.

    Raises
    ------
    InputError
        For a setting of texts although no text is asked for, or a value out of range.
    """
    settings = {
        "--temperature": options.temperature,
        "--samples": options.samples,
        "--max-tokens": options.max_tokens,
        "--text-share": options.text_share,
        "--effort": options.effort,
    }
    text, thought = TEXT in options.answer, THOUGHT in options.answer
    given_options = [name for name, value in settings.items() if value is not None]
    alien = (
        given_options
        if not (text or thought)
        else [name for name in ("--temperature", "--samples") if name in given_options]
    )
    if alien and not text:
        raise InputError(f"{alien[0]} is about generated texts: add --answer text, or leave it out")
    share = 1.0 if options.text_share is None else options.text_share
    if not 0 < share <= 1:
        raise InputError(f"--text-share {share}: give a share above 0, at most 1")
    length = {} if options.max_tokens is None else {"max_tokens": options.max_tokens}
    texts = parse_samplings(options, length) if text else ()
    thinking = Thinking(**length, effort=options.effort) if thought else None
    return AnswerWays(PROBABILITY in options.answer, texts, thinking, share)


def parse_samplings(options: Namespace, length_field: Mapping[str, int]) -> tuple[Sampling, ...]:
    """Read how texts are generated.

    Parameters
    ----------
    options
        Those of `add_text_arguments`.
    length_field
        Field `max_tokens` of `Sampling`; empty: its default, which is short.

    Returns
    -------
    One way for each temperature.

    Raises
    ------
    InputError
        For several samples at temperature 0, or a value out of range.
    """
    temperatures = options.temperature or [0.0]
    if options.samples is not None and not any(temperatures):
        raise InputError("--samples is for temperatures above 0: at 0 all texts are the same; give a --temperature")
    return tuple(
        Sampling(
            samples=1 if not temperature else SAMPLES if options.samples is None else options.samples,
            temperature=temperature,
            effort=options.effort,
            **length_field,
        )
        for temperature in dict.fromkeys(temperatures)
    )


def _name_text_condition(sampling: Sampling) -> str:
    """Name the condition of generated texts by their temperature."""
    return TEXT if sampling.temperature == 0 else f"{TEXT}-t{sampling.temperature:g}"


def build_text_condition_fields(sampling: Sampling) -> dict[str, Any]:
    """Return the fields of a condition that say how its texts were generated."""
    return {
        "answer": TEXT,
        "temperature": sampling.temperature,
        "samples": sampling.samples,
        "max_tokens": sampling.max_tokens,
        "effort": sampling.effort,
    }


def _build_thought_condition_fields(thinking: Thinking) -> dict[str, Any]:
    """Return the fields of a condition that say how the model thought."""
    return {"answer": THOUGHT, "max_tokens": thinking.max_tokens, "effort": thinking.effort}
