"""Ask which number a model gives a text, or a text made from another, on a scale (Sato et al.).

What a run folder of this protocol holds, in addition to what `results/schema.json` says of every run:

conditions
    Names like `plain/0-9/t0.7` (sampled), `plain/0-9/t0.7/exact` and `chat/0-9/thought` (after thoughts). Fields:
    `form`; `range` ([low, high], whole numbers, low < high); `temperature`; `samples` (of texts; else null); `method`
    ("sampled", "exact" or "thought"); `max_tokens` (of texts and thoughts; else null); `prompt`, `prompt_hash`; after
    thoughts also the fields of `inference.asking.thoughts`.
stimuli
    One variant `original` per item. `text` is what is scored, `gold_score` the human score as given. `options` and
    `canonical` are the two ends of the scale, `lowest` and `highest`, whatever ranges are asked. Attributes: `group`
    (such as a language pair; optional), `gold_range` (such as 0-100; needed together with a `gold_score`), `source`
    (the text it was made from; optional), `source_language` and `target_language` (optional).
responses, sampled
    `output`, `invalid` (samples without a number), `clipped`, `score`; `probability`, `logprob`, `count` and `mass` are
    null.
responses, exact
    `probability` and `logprob` hold one value per whole number of the condition's range in increasing order, not per
    option of the stimulus. `mass` is the sum of `probability`, `answer` the likeliest number as text, and
    `score` = sum(number * probability) / mass.
responses, thought
    As exact: `probability` is the mean over the thoughts that have an answer, `sample_probability` that after each.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from operator import mul
from pathlib import Path
from statistics import fmean
from typing import Any

from ground.errors import InputError
from ground.numerals import parse_first_number
from inference.asking.answer_ways import build_thought_conditions
from inference.asking.rounds import Condition, Exact, Round
from inference.asking.thoughts import THOUGHT, build_columns_of_thoughts
from inference.engines.contract import Generation, Sampling, Score, Thinking, Thoughts
from inference.protocols.scoring import arguments, items
from inference.protocols.scoring.arguments import RANGE, SAMPLES, TEMPERATURE
from inference.stimuli.items import name_study_after_source
from inference.stimuli.languages import assign_language_to_texts
from inference.stimuli.numbers import parse_scale_range
from inference.stimuli.study import Study, Variant
from inference.stimuli.templates.prompt_forms import CLOZE, Fields
from inference.stimuli.templates.prompts import Prompt, PromptBook

NAME = "scoring"
KINDS = ("causal",)
PROMPTS = Path(__file__).parent / "prompts.yaml"
MAX_TOKENS = 5
"""Sato et al., section 4: longer answers than this are no numbers."""
LARGEST = 1001
"""Most numbers that a scale may have if the probability of each is asked for."""
DECISION_RULE = (
    "sampled: the mean of the first numbers of the texts, those outside the scale moved to its nearer end, texts "
    "without a number dropped; exact: the expected number, given that one of the scale is answered; thought: the same, "
    "of the mean probabilities over all thoughts"
)
VARIABLES = ("low", "high", "output", "source", "source_language", "target_language")
_TRIAL = dict.fromkeys(VARIABLES, "text") | {"low": 0, "high": 9}
FIELDS = Fields(
    variables=frozenset(VARIABLES),
    needed=frozenset(VARIABLES[:3]),
    # With everything given, without languages, and without a source.
    trials=tuple(_TRIAL | dict.fromkeys(absent) for absent in ((), VARIABLES[4:], VARIABLES[3:])),
)


def read_scoring_prompts(path: str | Path | None = None) -> PromptBook:
    """Read a prompt file that asks for scores; without one, Waver's own."""
    return PromptBook.load(path, PROMPTS, FIELDS)


@dataclass(frozen=True, slots=True)
class Questions:
    """The questions of a study: a round for every scale, in which every temperature and method is a condition.

    Parameters
    ----------
    book
        The prompts.
    ranges, temperatures
        Scales to ask for, and temperatures.
    samples
        Texts per prompt at temperatures above 0; at temperature 0 there is one, the likeliest. 0: none.
    exact
        Whether the probability of every number of the scales is asked for.
    thinkings
        How the model thinks before that probability is asked for, where it does.
    """

    book: PromptBook
    ranges: tuple[range, ...] = (parse_scale_range(RANGE),)
    temperatures: tuple[float, ...] = (TEMPERATURE,)
    samples: int = SAMPLES
    exact: bool = False
    thinkings: tuple[Thinking, ...] = ()

    def rounds(self, form: str) -> list[Round]:
        """Make the rounds of every scale.

        Raises
        ------
        InputError
            For a mask: it has no room for a number.
        """
        if form == CLOZE:
            raise InputError("a model that fills a mask has no room for a number: leave it out, or ask it another way")
        return [self._build_round_of_scale(form, numbers) for numbers in self.ranges]

    def _build_round_of_scale(self, form: str, scale_numbers: range) -> Round:
        """Make the round of one scale: a condition per temperature and method."""
        conditions = []
        if self.samples:
            ways = (Sampling(self.samples if t else 1, t, MAX_TOKENS) for t in self.temperatures)
            conditions += [self._build_scoring_condition(form, scale_numbers, way) for way in ways]
        if self.exact:
            conditions += [self._build_scoring_condition(form, scale_numbers, Exact(t)) for t in self.temperatures]
        stem = self.book.name_condition(form, f"{scale_numbers[0]}-{scale_numbers[-1]}")
        fields = {**self._build_fields_of_scale(form, scale_numbers), "method": THOUGHT}
        conditions += build_thought_conditions(stem, fields, self.thinkings)
        return Round(
            tuple(conditions),
            partial(self._render_prompt, form, scale_numbers),
            partial(build_columns_of_score_response, scale_numbers),
        )

    def _build_scoring_condition(self, form: str, scale_numbers: range, method: Exact | Sampling) -> Condition:
        """Make the condition of one scale, sampled or exact, at one temperature."""
        sampled = isinstance(method, Sampling)
        setting = f"{scale_numbers[0]}-{scale_numbers[-1]}/t{method.temperature:g}" + ("" if sampled else "/exact")
        fields = {
            **self._build_fields_of_scale(form, scale_numbers),
            "temperature": method.temperature,
            "samples": method.samples if isinstance(method, Sampling) else None,
            "method": "sampled" if sampled else "exact",
            "max_tokens": method.max_tokens if isinstance(method, Sampling) else None,
        }
        return Condition(self.book.name_condition(form, setting), fields, method)

    def _build_fields_of_scale(self, form: str, scale_numbers: range) -> dict[str, Any]:
        """Make the fields that all conditions of one scale have."""
        return {
            "form": form,
            "range": [scale_numbers[0], scale_numbers[-1]],
            **self.book.build_prompt_name_and_hash_fields_of_form(form),
        }

    def _render_prompt(self, form: str, scale_numbers: range, variant: Variant, _mask_token: str | None) -> Prompt:
        """Render the prompt that asks for a score of a text on one scale."""
        values: dict[str, Any] = {name: variant.attributes.get(name) for name in VARIABLES}
        values |= {"low": scale_numbers[0], "high": scale_numbers[-1], "output": variant.text}
        scale = scale_numbers if len(scale_numbers) <= LARGEST else None
        return self.book.render(form, values, numbers=scale)


def build_columns_of_score_response(
    numbers: range, variant: Variant, prompt: Prompt, response: Score | Generation | Thoughts
) -> dict[str, Any]:
    """Turn a response into the columns of a response row.

    Parameters
    ----------
    numbers
        The numbers of the scale.
    variant
        The text that was scored; not used.
    prompt
        What was asked; not used.
    response
        Probabilities of the numbers, also after thoughts, or samples.

    Returns
    -------
    Name -> value. `score` is the mean over the numbers, weighted by probability, or over valid samples, each brought
    into the scale; None where there is none.
    """
    if isinstance(response, Generation):
        return _build_columns_of_generated_scores(numbers, response)
    if isinstance(response, Thoughts):
        columns = build_columns_of_thoughts(response, list(map(str, numbers)))
        probability = columns.get("probability")
        likeliest = None if probability is None else str(numbers[probability.index(max(probability))])
        return {**columns, "answer": likeliest, "score": _compute_expected_number(numbers, probability or ())}
    return {
        "probability": response.probability,
        "logprob": response.logprob,
        "mass": response.mass,
        "answer": None if response.answer is None else str(numbers[response.answer]),
        "score": _compute_expected_number(numbers, response.probability),
    }


def _compute_expected_number(numbers: range, probability: Sequence[float]) -> float | None:
    """Compute the expected number, given that one of the scale is answered; None where none has a probability."""
    mass = sum(probability)
    return sum(map(mul, numbers, probability)) / mass if mass else None


def _build_columns_of_generated_scores(scale_numbers: range, generation: Generation) -> dict[str, Any]:
    """Read the first number of every text, brought into the scale; return texts, counts and their mean by column."""
    stated = [None if text is None else parse_first_number(text) for text in generation.answers]
    valid = [number for number in stated if number is not None]
    clipped_numbers = [min(max(number, scale_numbers[0]), scale_numbers[-1]) for number in valid]
    return {
        "output": list(generation.texts),
        "invalid": len(stated) - len(valid),
        "clipped": sum(number != moved for number, moved in zip(valid, clipped_numbers, strict=True)),
        "score": fmean(clipped_numbers) if clipped_numbers else None,
    }


def add_arguments(parser: ArgumentParser) -> None:
    """Define the arguments of `run scoring`."""
    arguments.add_scoring_arguments(parser)


def prepare_study(options: Namespace) -> tuple[Study, Questions]:
    """Read the study and its questions from the command line; check all that needs no model."""
    questions = _build_questions_from_options(options)
    if options.items == items.DEMO:
        scored_items, name = items.build_demo_scoring_items(), f"{NAME}-demo" if options.name is None else options.name
    else:
        scored_items = items.read_scoring_items(options.items, arguments.parse_scoring_columns(options))
        name = name_study_after_source(options.items) if options.name is None else options.name
    scored_items = assign_language_to_texts(
        scored_items, options.language, options.items, in_english=not options.prompt
    )
    study = Study(NAME, name, scored_items, items.CANONICAL, DECISION_RULE, options.items, paraphrased=False)
    return study, questions


def _build_questions_from_options(options: Namespace) -> Questions:
    """Read scales, temperatures and methods from the command line, and check that they go together."""
    ranges = tuple(dict.fromkeys(map(parse_scale_range, options.range or [RANGE])))
    samples, exact, thinkings = arguments.parse_samples_exactness_and_thinking(options)
    temperatures = tuple(dict.fromkeys(options.temperature or [TEMPERATURE]))
    for temperature in temperatures:
        Sampling(1, temperature, MAX_TOKENS)  # refuses an impossible temperature before a model is loaded
    if exact or thinkings:
        large = next((numbers for numbers in ranges if len(numbers) > LARGEST), None)
        if large is not None:
            asking = "--exact" if exact else "--answer thought"
            raise InputError(f"--range {large[0]}-{large[-1]}: {asking} takes scales of up to {LARGEST:,} numbers")
    if exact and min(temperatures) <= 0:
        raise InputError(f"--temperature {min(temperatures):g}: with --exact, give temperatures above 0")
    return Questions(read_scoring_prompts(options.prompt), ranges, temperatures, samples, exact, thinkings)
