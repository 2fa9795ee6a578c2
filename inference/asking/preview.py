"""Show what a run would do: one prompt per round, its options as tokens, and the prompts, tokens and time to come."""

from __future__ import annotations

import textwrap
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from inference.asking.models import Model
from inference.asking.one_model import Settings, release_memory, select_fitting_rounds
from inference.asking.rounds import Exact, Prompts, Questions, Way, ask_batch
from inference.engines.contract import LONGEST_THOUGHT, NO_EFFORT, Sampling, Thinking
from inference.stimuli.study import Study, Variant
from inference.stimuli.templates.prompts import Prompt

if TYPE_CHECKING:
    from inference.engines.contract import Engine, Explanation

WIDTH = 100
SHOWN_ROUNDS = 12  # of a model; the time of the others is that of these, prompt for prompt
SHOWN_NUMBERS = 3  # of a scale, the likeliest first
SHOWN_FORMS = 12  # spellings of an answer, or words that do not count
TIMED_BATCHES, TIMED_SECONDS = 3, 10.0  # the sample ends at whichever comes first
TIMED_PROMPTS = 32  # where a prompt costs money
TIMED_TOKENS = 64  # of a thought


def describe_preview(
    study: Study,
    models: Sequence[Model],
    questions: Questions,
    settings: Settings,
    load: Callable[[Model, int], Engine] | None = None,
) -> Iterator[str]:
    """Write the lines of a preview; models are loaded one by one while the lines are read.

    Parameters
    ----------
    study, models, questions, settings, load
        As for `inference.asking.execute.execute_tasks`.

    Yields
    ------
    Lines of text.

    Raises
    ------
    InputError
        If a model, form or setting does not fit.
    """
    variants = list(study.variants)
    yield f"study {study.name} ({study.protocol}): {len(study.items):,} items, {len(variants):,} variants"
    seconds = prompts = 0.0
    for model in models:
        engine = (load or settings.load_model_engine)(model, settings.seed or 0)
        form = engine.form(settings.form)
        yield from ("", f"model {model.id}: {_describe_engine(engine)}")
        fitting = select_fitting_rounds(model, engine, form, questions.rounds(form))
        model_seconds = model_prompts = 0.0
        for round_ in fitting[:SHOWN_ROUNDS]:
            chosen = [variant for variant in variants if round_.chosen(variant)]
            round_prompts = Prompts(chosen, round_.render, engine.mask_token)
            yield from ("", *(f"condition {condition.name}" for condition in round_.conditions))
            if not round_prompts:
                yield "  to come: nothing, no variant is drawn"
                continue
            yield from _describe_prompt_and_option_tokens(
                engine.explain(round_prompts[0]), chosen[0], round_.list_options(chosen[0])
            )
            tokens, ways = sum(engine.lengths(round_prompts)), [condition.way for condition in round_.conditions]
            if round_.has_way(Thinking):
                yield "  these are the probabilities without a thought; the run asks for them after each thought"
            short_ways, factor = shorten_thoughts(ways)
            estimate = estimate_seconds(engine, round_prompts, short_ways) * factor
            limit = "at most" if factor > 1 else "about"
            yield f"  to come: {len(round_prompts):,} prompts, {tokens:,} tokens, {limit} {format_duration(estimate)}"
            bill = engine.bill(*_count_billed_tokens(tokens, len(round_prompts), ways))
            if bill is not None:
                yield f"  {bill}"
            model_seconds, model_prompts = model_seconds + estimate, model_prompts + len(round_prompts)
        further = fitting[SHOWN_ROUNDS:]
        if further:
            n_further = sum(sum(map(round_.chosen, variants)) for round_ in further)
            model_seconds *= 1 + n_further / max(model_prompts, 1)
            model_prompts += n_further
            names = [condition.name for round_ in further for condition in round_.conditions]
            yield from ("", f"and {len(names):,} more conditions, {names[0]} to {names[-1]}: {n_further:,} prompts")
        seconds, prompts = seconds + model_seconds, prompts + model_prompts
        engine.close()
        del engine
        release_memory()
    yield from ("", f"in all: {prompts:,.0f} prompts, about {format_duration(seconds)} (loading the models aside)")


def estimate_seconds(engine: Engine, prompts: Sequence[Prompt], ways: Sequence[Way]) -> float:
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
        ask_batch(engine, [prompts[number] for number in sample], ways)
        return (time.perf_counter() - began) * len(prompts) / len(sample)
    batches = engine.batches(prompts)
    lengths = engine.lengths(prompts)
    # The middle of each third of the list: of 30 batches those at 5, 15 and 25.
    chosen = [batches[len(batches) * (2 * n + 1) // (2 * TIMED_BATCHES)] for n in range(TIMED_BATCHES)]
    ask_batch(engine, [prompts[number] for number in chosen[0]], ways)  # not timed: the first batch is slower
    began = time.perf_counter()
    tokens = 0
    for batch in chosen:
        ask_batch(engine, [prompts[number] for number in batch], ways)
        tokens += sum(lengths[number] for number in batch)
        if time.perf_counter() - began > TIMED_SECONDS:
            break
    return (time.perf_counter() - began) * sum(lengths) / tokens


def shorten_thoughts(ways: Sequence[Way]) -> tuple[list[Way], float]:
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


def _count_billed_tokens(prompt_tokens: int, n_prompts: int, ways: Sequence[Way]) -> tuple[int, int]:
    """Count the tokens that are read, and written at most, when prompts are asked in several ways.

    One request for one token gives all probabilities; all samples of a text take one more request.
    """
    exact = int(any(isinstance(way, Exact) for way in ways))
    written, read, read_again = exact, exact, 0
    for way in ways:
        if isinstance(way, Sampling):
            written, read = written + way.max_tokens * way.samples, read + 1
        elif isinstance(way, Thinking):  # prompt and thought are read again for the one token after each thought
            thought_tokens = way.thoughts * (way.budget or way.max_tokens or LONGEST_THOUGHT)
            written, read = written + thought_tokens + way.thoughts, read + 1 + way.thoughts
            read_again += thought_tokens
    return read * prompt_tokens + n_prompts * read_again, n_prompts * written


def format_duration(seconds: float) -> str:
    """Write a time in seconds, minutes or hours, whichever suits its length."""
    if seconds < 1:
        return "1 s or less"
    if seconds < 90:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 90 else f"{minutes // 60} h {minutes % 60} min"


def _describe_engine(engine: Engine) -> str:
    """Describe an engine in a line: model size, dtype and device, or where the server is."""
    info = engine.info
    if info["parameters"] is None:  # a model on a server
        return f"{info['engine']}, {info['revision']} at {info['base_url']}"
    return f"{info['engine']}, {info['parameters']:,} parameters, {info['dtype']} on {info['device']}"


def _describe_prompt_and_option_tokens(
    explanation: Explanation, variant: Variant, labels: Sequence[str]
) -> Iterator[str]:
    """Describe a prompt and how its options are spelled and answered, line by line."""
    yield f"  item {variant.item}, variant {variant.variant}, {explanation.n_tokens} tokens:"
    yield from (f"  | {line}" for line in explanation.text.split("\n"))
    score = explanation.score
    if score.error is not None:
        yield f"  no response: {score.error}"
    if explanation.numbers is not None:
        yield from _describe_most_probable_numbers(explanation, explanation.numbers)
        return
    for number, (label, forms) in enumerate(zip(labels, explanation.options, strict=True)):
        mass = f"{score.probability[number]:.3g}" if score.probability else "none"
        bound = "" if score.mass_upper is None else " or more"
        how = " (token ids)" if any(ids for _, ids in forms) else ""
        yield from _wrap_entries(
            f"{label}: mass {mass}{bound}; counted{how}:",
            _select_first_entries(_group_forms_with_same_token_ids(forms)),
        )
    if score.mass is not None:
        answer = "none of them" if score.answer is None else labels[score.answer]
        upper = "" if score.mass_upper is None else f" to {score.mass_upper:.3g}"
        yield f"  all options together: mass {score.mass:.3g}{upper}; the most probable answer belongs to: {answer}"
    counted = {form.casefold() for forms in explanation.options for form, _ in forms}
    for reason, left_out in _group_by_reason(explanation.dropped).items():
        # A word set of 50 words has 150 forms: where none of a word's counts, the word is enough.
        words = dict.fromkeys(form.casefold() for form in left_out if form.casefold() not in counted)
        yield from _wrap_entries(
            f"not counted, however capitalised ({reason}):", _select_first_entries([repr(word) for word in words])
        )
        yield from _wrap_entries(
            f"not counted ({reason}):", _select_first_entries([repr(f) for f in left_out if f.casefold() in counted])
        )


def _describe_most_probable_numbers(explanation: Explanation, numbers: range) -> Iterator[str]:
    """Describe the most probable numbers with their spellings, and all numbers together."""
    score = explanation.score
    likeliest = sorted(range(len(numbers)), key=lambda index: -score.probability[index] if score.probability else 0)
    for index in likeliest[:SHOWN_NUMBERS]:
        mass = f"{score.probability[index]:.3g}" if score.probability else "none"
        yield from _wrap_entries(
            f"{numbers[index]}: mass {mass}; counted (token ids):",
            _group_forms_with_same_token_ids(explanation.options[index]),
        )
    if score.mass is not None:
        yield f"  all numbers from {numbers[0]} to {numbers[-1]} together: mass {score.mass:.3g}"


def _group_forms_with_same_token_ids(forms: Sequence[tuple[str, tuple[int, ...]]]) -> list[str]:
    """Group the forms with the same token ids, because their probability counts once."""
    if not any(ids for _, ids in forms):  # a server that shows texts only
        return [repr(form) for form, _ in forms]
    same: dict[tuple[int, ...], list[str]] = {}
    for form, ids in forms:
        same.setdefault(ids, []).append(repr(form))
    return [f"{' '.join(quoted_forms)} = {'+'.join(map(str, ids))};" for ids, quoted_forms in same.items()]


def _select_first_entries(entries: Sequence[str]) -> list[str]:
    """Return as many entries as a reader looks at, and how many more there are."""
    more = len(entries) - SHOWN_FORMS
    return [*entries[:SHOWN_FORMS], *([f"and {more:,} more"] if more > 0 else [])]


def _group_by_reason(dropped_forms: Sequence[tuple[int, str, str]]) -> dict[str, list[str]]:
    """Group the forms that do not count by the reason."""
    reasons: dict[str, list[str]] = {}
    for _, form, reason in dropped_forms:
        reasons.setdefault(reason, []).append(form)
    return reasons


def _wrap_entries(title: str, entries: Sequence[str]) -> list[str]:
    """Write indented lines, broken only between entries; no lines without entries."""
    if not entries:
        return []
    text = " ".join([title, *(entry.replace(" ", "\0") for entry in entries)])
    return [
        line.replace("\0", " ") for line in textwrap.wrap(text, WIDTH, initial_indent="  ", subsequent_indent="    ")
    ]
