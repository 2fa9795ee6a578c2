"""The ways in which an answer can come about: option probabilities, a greedy text, sampled texts."""

from __future__ import annotations

import hashlib
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from inference.asking import Condition, Round
from inference.engines import Sampling
from inference.errors import InputError

if TYPE_CHECKING:
    from inference.prompts import Prompt
    from inference.study import Variant

PROBABILITY, TEXT = "probability", "text"


@dataclass(frozen=True, slots=True)
class AnswerWays:
    """Which answers a protocol with options asks for.

    Parameters
    ----------
    probability
        Whether the options' exact probabilities are asked for.
    texts
        Texts to generate, each a condition of its own, parsed by the rule of `answers`.
    share
        Share of the variants (0-1] for which texts are generated, drawn by the names of the stimuli.
    """

    probability: bool = True
    texts: tuple[Sampling, ...] = ()
    share: float = 1.0

    def rounds(
        self, name: str, fields: Mapping[str, Any], render: Callable[[Variant, str | None], Prompt]
    ) -> list[Round]:
        """One round for probabilities under the condition `name`, one for texts under `name/text...`."""
        rounds = [Round((Condition(name, fields),), render)] if self.probability else []
        if self.texts:
            conditions = tuple(
                Condition(f"{name}/{_text_name(way)}", {**fields, **_text_fields(way), "share": self.share}, way)
                for way in self.texts
            )
            rounds.append(Round(conditions, render, chosen=partial(drawn, share=self.share)))
        return rounds


def drawn(variant: Variant, share: float) -> bool:
    """Whether a variant is in the subsample: decided by its own name, so adding items moves no other."""
    digest = hashlib.sha256(f"{variant.item}/{variant.variant}".encode()).digest()
    return int.from_bytes(digest[:8], "big") < share * 2**64


def add_answer_arguments(parser: ArgumentParser) -> None:
    """Arguments that say how answers come about."""
    group = parser.add_argument_group("answers")
    group.add_argument(
        "--answer",
        nargs="+",
        choices=(PROBABILITY, TEXT),
        default=[PROBABILITY],
        help="option probabilities (default), generated text parsed for an option, or both",
    )
    group.add_argument(
        "--temperature",
        nargs="+",
        type=float,
        metavar="T",
        help="of generated texts, each a condition (default: 0, the likeliest token)",
    )
    group.add_argument(
        "--samples", type=int, metavar="N", help="texts per prompt at temperatures above 0 (default: 10)"
    )
    group.add_argument("--max-tokens", type=int, metavar="N", help="length of a text, thinking included (default: 32)")
    group.add_argument(
        "--text-share", type=float, metavar="P", help="generate texts for this share of the variants (default: 1)"
    )
    group.add_argument("--effort", metavar="LEVEL", help="reasoning effort, passed on to thinking models")


def answer_ways(options: Namespace) -> AnswerWays:
    """Answer ways from the command line.

    Raises
    ------
    InputError
        For a setting of texts where no text is asked for, or a value out of range.
    """
    settings = {
        "--temperature": options.temperature,
        "--samples": options.samples,
        "--max-tokens": options.max_tokens,
        "--text-share": options.text_share,
        "--effort": options.effort,
    }
    given = [name for name, value in settings.items() if value is not None]
    if TEXT not in options.answer:
        if given:
            raise InputError(f"{given[0]} is about generated texts: add --answer text, or leave it out")
        return AnswerWays()
    share = 1.0 if options.text_share is None else options.text_share
    if not 0 < share <= 1:
        raise InputError(f"--text-share {share}: give a share above 0, at most 1")
    temperatures = options.temperature or [0.0]
    if options.samples is not None and not any(temperatures):
        raise InputError("--samples is for temperatures above 0: the likeliest text is one; give a --temperature")
    texts = tuple(
        Sampling(
            samples=1 if not temperature else 10 if options.samples is None else options.samples,
            temperature=temperature,
            max_tokens=32 if options.max_tokens is None else options.max_tokens,
            effort=options.effort,
        )
        for temperature in dict.fromkeys(temperatures)
    )
    return AnswerWays(PROBABILITY in options.answer, texts, share)


def _text_name(way: Sampling) -> str:
    return TEXT if way.temperature == 0 else f"{TEXT}-t{way.temperature:g}"


def _text_fields(way: Sampling) -> dict[str, Any]:
    return {
        "answer": TEXT,
        "temperature": way.temperature,
        "samples": way.samples,
        "max_tokens": way.max_tokens,
        "effort": way.effort,
    }
