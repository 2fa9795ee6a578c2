"""Show what a run would do: one prompt per round, its options as tokens, and the prompts, tokens and time to come.

The models are loaded one by one, while what is said of them is read: `text` writes it as lines, `records` as JSON.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeGuard

from ground.errors import InputError
from inference.asking.models import Model
from inference.asking.one_model import Settings, release_device_memory, select_answerable_rounds_or_refuse_model
from inference.asking.rounds import Exact, Prompts, Questions, Round, Way, ask_batch_in_each_way, get_thinking_effort
from inference.asking.session import print_bill
from inference.engines.contract import LONGEST_THOUGHT, NO_EFFORT, Engine, Explanation, Sampling, Score, Thinking
from inference.engines.openai.requests import PLAIN_TOKENS
from inference.engines.openai.thoughts.number_bounds import list_beginnings_of_numbers
from inference.stimuli.study import Study, Variant
from inference.stimuli.templates.prompts import Prompt

SHOWN_ROUNDS = 12  # of a model; the time of the others is that of these, prompt for prompt
TIMED_BATCHES, TIMED_SECONDS = 3, 10.0  # the sample ends at whichever comes first
TIMED_PROMPTS = 32  # where a prompt costs money
TIMED_TOKENS = 64  # of a thought


@dataclass(frozen=True, slots=True)
class Example:
    """The first prompt of a round: its wording, what its options are called, and how the engine reads it."""

    variant: Variant
    labels: Sequence[str]
    explanation: Explanation


@dataclass(frozen=True, slots=True)
class RoundPreview:
    """What is to come in one round of a model.

    Attributes
    ----------
    conditions
        Their names: each asks all prompts.
    n_prompts, n_tokens
        To come; tokens of the prompts. None: not counted, as of the rounds that are not shown one by one.
    least_seconds, seconds
        The time to come: with thoughts as short as those that were timed, and with all as long as they may be.
    bill
        What a server asks for it, in words; None: nothing is known or to be paid.
    example
        None where nothing is asked, and of the rounds that are not shown one by one.
    thinks
        Whether the run asks for the answer after thoughts, which the example has not.
    """

    conditions: Sequence[str]
    n_prompts: int = 0
    n_tokens: int | None = 0
    least_seconds: float = 0.0
    seconds: float = 0.0
    bill: str | None = None
    example: Example | None = None
    thinks: bool = False

    @property
    def is_at_most(self) -> bool:
        """Whether `seconds` is the time of the longest thoughts that there may be."""
        return self.seconds > self.least_seconds


@dataclass(frozen=True, slots=True)
class ModelPreview:
    """A loaded model: its id, what its engine says of it, and its rounds, which are timed while they are read."""

    model: str
    info: Mapping[str, Any]
    rounds: Iterator[RoundPreview]


def load_models_and_yield_previews(
    study: Study,
    models: Sequence[Model],
    questions: Questions,
    settings: Settings,
    load: Callable[[Model, int], Engine] | None = None,
) -> Generator[ModelPreview, None, None]:
    """Load the models one by one and say what each of them would be asked.

    Parameters
    ----------
    study, models, questions, settings
        As in `inference.asking.execute.Task`.
    load
        As in `inference.asking.execute.ask_tasks_and_list_tallies`.

    Yields
    ------
    A preview per model; read its rounds before the next one. Its engine is closed then, or with the generator.

    Raises
    ------
    InputError
        If a model, form or setting does not fit.
    """
    variants = list(study.variants)
    for model in models:
        engine = (load or settings.load_model_engine)(model, settings.seed or 0)
        try:
            form = engine.choose_prompt_form(settings.form)
            fitting = select_answerable_rounds_or_refuse_model(model, engine, form, questions.rounds(form))
            yield ModelPreview(
                model.id,
                engine.info,
                _yield_rounds_naming_model_in_errors(
                    model, _yield_previews_of_first_and_other_rounds(engine, fitting, variants)
                ),
            )
        finally:
            print_bill(model.id, engine.close())
            del engine
            release_device_memory()


def _yield_rounds_naming_model_in_errors(model: Model, rounds: Iterator[RoundPreview]) -> Iterator[RoundPreview]:
    """Say which of several models an error is about: the lines before it may be on another stream."""
    try:
        yield from rounds
    except InputError as error:
        raise InputError(f"{model.id}: {error}") from error


def _yield_previews_of_first_and_other_rounds(
    engine: Engine, rounds: Sequence[Round], variants: Sequence[Variant]
) -> Iterator[RoundPreview]:
    """Preview the first rounds one by one, and all others together."""
    previews = []
    for round_ in rounds[:SHOWN_ROUNDS]:
        previews.append(
            _ask_sample_and_preview_round(engine, round_, [variant for variant in variants if round_.chosen(variant)])
        )
        yield previews[-1]
    further = rounds[SHOWN_ROUNDS:]
    if further:
        n_further = sum(sum(map(round_.chosen, variants)) for round_ in further)
        names = [condition.name for round_ in further for condition in round_.conditions]
        factor = n_further / max(sum(preview.n_prompts for preview in previews), 1)
        least_seconds = sum(preview.least_seconds for preview in previews) * factor
        seconds = sum(preview.seconds for preview in previews) * factor
        yield RoundPreview(names, n_further, None, least_seconds, seconds)


def _ask_sample_and_preview_round(engine: Engine, round_: Round, chosen_variants: Sequence[Variant]) -> RoundPreview:
    """Read the first prompt of a round, count its tokens and time some of its prompts."""
    names = [condition.name for condition in round_.conditions]
    prompts = Prompts(chosen_variants, round_.render, engine.mask_token)
    if not prompts:
        return RoundPreview(names)
    variant, ways = chosen_variants[0], [condition.way for condition in round_.conditions]
    way = next((way for way in ways if _turns_thinking_off(way)), ways[0])  # the shown score is that one's
    example = Example(variant, round_.list_options(variant), _explain_prompt_as_asked(engine, prompts[0], way))
    # A template may write more for one effort than for another: the most is counted.
    n_tokens = max(sum(engine.count_prompt_tokens(prompts, effort)) for effort in set(map(get_thinking_effort, ways)))
    short_ways, factor = shorten_thoughts_and_compute_time_factor(ways)
    least_seconds = estimate_seconds_of_asking_prompts(engine, prompts, short_ways)
    return RoundPreview(
        names,
        len(prompts),
        n_tokens,
        least_seconds,
        least_seconds * factor,
        engine.describe_cost_of_tokens(
            *_count_tokens_read_and_written(n_tokens, len(prompts), ways, prompts[0].numbers)
        ),
        example,
        any(isinstance(way, Thinking) and way.effort != NO_EFFORT for way in ways),
    )


def _turns_thinking_off(way: Way) -> TypeGuard[Thinking]:
    """Tell whether a way turns thinking off."""
    return isinstance(way, Thinking) and way.effort == NO_EFFORT


def _explain_prompt_as_asked(engine: Engine, prompt: Prompt, way: Way) -> Explanation:
    """Explain a prompt with the effort of a way; the score of one that turns thinking off is its own."""
    explanation = engine.explain_and_score_prompt(prompt, get_thinking_effort(way))
    if not _turns_thinking_off(way):
        return explanation
    (response,) = engine.think([prompt], way)
    score = response.scores[0] if response.scores else None
    return replace(explanation, score=score or Score(error=response.error))


def estimate_seconds_of_asking_prompts(engine: Engine, prompts: Sequence[Prompt], ways: Sequence[Way]) -> float:
    """Estimate the time that all prompts will take.

    Batches spread over the length-sorted list are timed. If the engine is independent of the batch, a few prompts are
    timed instead: they may cost money.

    Parameters
    ----------
    engine
        The loaded model.
    prompts
        All prompts of a round.
    ways
        The ways of answering.

    Returns
    -------
    Seconds.
    """
    if engine.independent_of_batch:
        # Rounded up, so that at most so many are asked: of 100 prompts every fourth, 25 in all.
        sample = range(0, len(prompts), -(-len(prompts) // TIMED_PROMPTS))
        began = time.perf_counter()
        ask_batch_in_each_way(engine, [prompts[number] for number in sample], ways)
        return (time.perf_counter() - began) * len(prompts) / len(sample)
    batches = engine.cut_into_batches(prompts)
    lengths = engine.count_prompt_tokens(prompts)
    # The middle of each third of the list: of 30 batches those at 5, 15 and 25.
    chosen = [batches[len(batches) * (2 * n + 1) // (2 * TIMED_BATCHES)] for n in range(TIMED_BATCHES)]
    ask_batch_in_each_way(
        engine, [prompts[number] for number in chosen[0]], ways
    )  # not timed: the first batch is slower
    began = time.perf_counter()
    tokens = 0
    for batch in chosen:
        ask_batch_in_each_way(engine, [prompts[number] for number in batch], ways)
        tokens += sum(lengths[number] for number in batch)
        if time.perf_counter() - began > TIMED_SECONDS:
            break
    return (time.perf_counter() - began) * sum(lengths) / tokens


def shorten_thoughts_and_compute_time_factor(ways: Sequence[Way]) -> tuple[list[Way], float]:
    """Make thoughts short enough to be timed before a run.

    Parameters
    ----------
    ways
        The ways of answering.

    Returns
    -------
    The ways, with thoughts of at most `TIMED_TOKENS` tokens, and how many times as long the longest of them may take.
    """
    short_ways: list[Way] = []
    factor = 1.0
    for way in ways:
        longest = (way.budget or way.max_tokens or LONGEST_THOUGHT) if isinstance(way, Thinking) else 0
        if isinstance(way, Thinking) and longest > TIMED_TOKENS and way.effort != NO_EFFORT:
            short_ways.append(replace(way, budget=None, max_tokens=TIMED_TOKENS))
            factor = max(factor, longest / TIMED_TOKENS)
        else:
            short_ways.append(way)
    return short_ways, factor


def _count_tokens_read_and_written(
    prompt_tokens: int, n_prompts: int, ways: Sequence[Way], numbers: range | None
) -> tuple[int, int]:
    """Count the tokens that are read, and written, at most, when prompts are asked in several ways.

    One request for one token gives all probabilities, but after a thought the numbers of a scale may take one for every
    beginning of a number, and one that counts tokens; all samples of a text take one more request.
    """
    exact = int(any(isinstance(way, Exact) for way in ways))
    scores, counts = (1 + len(list_beginnings_of_numbers(numbers)), 1) if numbers else (1, 0)
    written, read, read_again = exact, exact, 0
    for way in ways:
        if isinstance(way, Sampling):
            written, read = written + way.max_tokens * way.samples, read + 1
        elif isinstance(way, Thinking):  # prompt and thought are read again by each request after the thought
            is_off = way.effort == NO_EFFORT
            thought_tokens = 0 if is_off else way.thoughts * (way.budget or way.max_tokens or LONGEST_THOUGHT)
            written += thought_tokens + way.thoughts * (scores + counts * PLAIN_TOKENS)
            read += (not is_off) + way.thoughts * (scores + counts)
            read_again += thought_tokens * (scores + counts)
    return read * prompt_tokens + n_prompts * read_again, n_prompts * written
