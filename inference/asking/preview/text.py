"""Write a preview as lines of text."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ground.errors import format_quantity
from inference.asking.preview import ModelPreview, RoundPreview
from inference.engines.contract import Explanation, format_token_count
from inference.stimuli.study import Study, Variant

WIDTH = 100
SHOWN_NUMBERS = 3  # of a scale, the likeliest first
SHOWN_FORMS = 12  # spellings of an answer, or words that do not count


def describe_preview(study: Study, model_previews: Iterator[ModelPreview]) -> Iterator[str]:
    """Write the lines of a preview.

    Parameters
    ----------
    study
        What is to be asked.
    model_previews
        From `load_models_and_yield_previews`; a model is loaded while the lines before it are read.

    Yields
    ------
    Lines of text.

    Raises
    ------
    InputError
        As `load_models_and_yield_previews` does.
    """
    yield (
        f"study {study.name} ({study.protocol}): {format_quantity(len(study.items), 'item')}, "
        f"{format_quantity(len(list(study.variants)), 'variant')}"
    )
    least_seconds = seconds = 0.0
    n_prompts = 0
    for model_preview in model_previews:
        yield from ("", f"model {model_preview.model}: {_describe_engine(model_preview.info)}")
        for round_preview in model_preview.rounds:
            yield from _describe_round(round_preview)
            least_seconds, seconds = least_seconds + round_preview.least_seconds, seconds + round_preview.seconds
            n_prompts += round_preview.n_prompts
    duration = _format_shortest_and_longest_duration(least_seconds, seconds)
    yield from ("", f"in all: {format_quantity(n_prompts, 'prompt')}, {duration} (loading the models aside)")


def _describe_round(round_preview: RoundPreview) -> Iterator[str]:
    """Describe the conditions of a round, its first prompt and what is to come."""
    names, example = round_preview.conditions, round_preview.example
    if round_preview.n_tokens is None:
        yield from ("", f"and {len(names):,} more conditions, {names[0]} to {names[-1]}: "
                        f"{format_quantity(round_preview.n_prompts, 'prompt')}")  # fmt: skip
        return
    yield from ("", *(f"condition {name}" for name in names))
    if example is None:
        yield "  to come: nothing, no variant is drawn"
        return
    yield from _describe_prompt_and_option_masses(example.explanation, example.variant, example.labels)
    if round_preview.thinks:
        yield "  these are the probabilities without a thought; the run asks for them after each thought"
    duration = _format_shortest_and_longest_duration(round_preview.least_seconds, round_preview.seconds)
    yield (
        f"  to come: {format_quantity(round_preview.n_prompts, 'prompt')}, "
        # Of a server, which alone can count them, the tokens are an estimate.
        f"{format_token_count(round_preview.n_tokens, is_estimate=round_preview.bill is not None)}, {duration}"
        f"{', by how long the thoughts are' if round_preview.is_at_most else ''}"
    )
    if round_preview.bill is not None:
        numbers = " and all numbers to be likely" if example.explanation.numbers is not None else ""
        assumed = f"; this takes all thoughts to be as long as they may be{numbers}" if round_preview.thinks else ""
        yield f"  {round_preview.bill}{assumed}"


def _format_shortest_and_longest_duration(least_seconds: float, seconds: float) -> str:
    """Write a time that depends on the length of thoughts; one that does not has two equal ends."""
    durations = dict.fromkeys(map(format_duration, (least_seconds, seconds)))
    return f"about {' to '.join(durations)}"


def format_duration(seconds: float) -> str:
    """Write a time in seconds, minutes or hours, whichever suits its length."""
    if seconds < 1:
        return "1 s or less"
    if seconds < 90:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 90 else f"{minutes // 60} h {minutes % 60} min"


def _describe_engine(info: Mapping[str, Any]) -> str:
    """Describe an engine in a line: model size, dtype and device, or where the server is."""
    if info["parameters"] is None:  # a model on a server
        return f"{info['engine']}, {info['revision']} at {info['base_url']}"
    return f"{info['engine']}, {info['parameters']:,} parameters, {info['dtype']} on {info['device']}"


def _describe_prompt_and_option_masses(
    explanation: Explanation, variant: Variant, labels: Sequence[str]
) -> Iterator[str]:
    """Describe a prompt and how its options are spelled and answered, line by line."""
    n_tokens = format_token_count(explanation.n_tokens, explanation.is_length_estimated)
    estimated = " (an estimate: the server counted none)" if explanation.is_length_estimated else ""
    yield f"  item {variant.item}, variant {variant.variant}, {n_tokens}{estimated}:"
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
            _shorten_entries_with_count_of_rest(_list_forms_grouped_by_token_ids(forms)),
        )
    if score.mass is not None:
        answer = "none of them" if score.answer is None else labels[score.answer]
        upper = "" if score.mass_upper is None else f" to {score.mass_upper:.3g}"
        yield f"  all options together: mass {score.mass:.3g}{upper}; the most probable answer belongs to: {answer}"
    counted = {form.casefold() for forms in explanation.options for form, _ in forms}
    for reason, left_out in _group_dropped_forms_by_reason(explanation.dropped).items():
        # A word set of 50 words has 150 forms: where none of a word's counts, the word is enough.
        words = dict.fromkeys(form.casefold() for form in left_out if form.casefold() not in counted)
        yield from _wrap_entries(
            f"not counted, however capitalised ({reason}):",
            _shorten_entries_with_count_of_rest([repr(word) for word in words]),
        )
        yield from _wrap_entries(
            f"not counted ({reason}):",
            _shorten_entries_with_count_of_rest([repr(f) for f in left_out if f.casefold() in counted]),
        )


def _describe_most_probable_numbers(explanation: Explanation, numbers: range) -> Iterator[str]:
    """Describe the most probable numbers with their spellings, and all numbers together."""
    score = explanation.score
    likeliest = sorted(range(len(numbers)), key=lambda index: -score.probability[index] if score.probability else 0)
    for index in likeliest[:SHOWN_NUMBERS]:
        mass = f"{score.probability[index]:.3g}" if score.probability else "none"
        yield from _wrap_entries(
            f"{numbers[index]}: mass {mass}; counted (token ids):",
            _list_forms_grouped_by_token_ids(explanation.options[index]),
        )
    if score.mass is not None:
        yield f"  all numbers from {numbers[0]} to {numbers[-1]} together: mass {score.mass:.3g}"


def _list_forms_grouped_by_token_ids(forms: Sequence[tuple[str, tuple[int, ...]]]) -> list[str]:
    """Group the forms with the same token ids, because their probability counts once."""
    if not any(ids for _, ids in forms):  # a server that shows texts only
        return [repr(form) for form, _ in forms]
    same: dict[tuple[int, ...], list[str]] = {}
    for form, ids in forms:
        same.setdefault(ids, []).append(repr(form))
    return [f"{' '.join(quoted_forms)} = {'+'.join(map(str, ids))};" for ids, quoted_forms in same.items()]


def _shorten_entries_with_count_of_rest(entries: Sequence[str]) -> list[str]:
    """Return as many entries as a reader looks at, and how many more there are."""
    more = len(entries) - SHOWN_FORMS
    return [*entries[:SHOWN_FORMS], *([f"and {more:,} more"] if more > 0 else [])]


def _group_dropped_forms_by_reason(dropped_forms: Sequence[tuple[int, str, str]]) -> dict[str, list[str]]:
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
