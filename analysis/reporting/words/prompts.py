"""Collect the prompts of some runs for a page: the prompt files, and one prompt as the models got it per condition."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from analysis.reporting.words import format_quantity, join_names, labels
from analysis.runs import Runs

MOST_PROMPTS = 12  # prompts on a page; run.json has all
MOST_NAMES = 5  # models and conditions that are named
LONGEST_PROMPT = 6_000  # characters of a text on a page


@dataclass(slots=True)
class PromptExample:
    """One prompt as some models got it under some conditions."""

    text: str
    characters: int
    item: str
    variant: str
    models: list[str] = field(default_factory=list)
    conditions: list[str] = field(default_factory=list)

    @property
    def phrase_whose_prompt_it_is(self) -> str:
        """Say whose prompt it is, in one line."""
        return f"{join_names(self.models, MOST_NAMES)}, under {join_names(self.conditions, MOST_NAMES)}"


@dataclass(slots=True)
class PromptForm:
    """One form of a prompt file: its templates as (role, text), its answer words, and prompts made of it."""

    templates: list[tuple[str, str]]
    words: list[tuple[str, list[str]]]
    examples: dict[tuple[str, str, str], PromptExample] = field(default_factory=dict)
    exemplars: bool = False


def list_prompt_forms_and_unknown_conditions(runs: Runs) -> tuple[list[PromptForm], list[str]]:
    """Return the forms of all prompts of some runs, and the conditions whose prompts the runs do not hold."""
    form_by_key: dict[str, PromptForm] = {}
    unknown = []
    for study, conditions in runs.info["conditions"].items():
        for name, settings in conditions.items():
            key = str(settings.get("prompt_hash"))
            source, entries = runs.info["prompts"].get(key), runs.info["asked"].get(study, {}).get(name, ())
            if source is None and not entries:
                unknown.append(labels.phrase_condition_name(name, settings))
                continue
            form = form_by_key.setdefault(key, _build_prompt_form_from_run_json(source or {}))
            form.exemplars |= bool(settings.get("exemplars"))
            for entry in entries:
                _merge_asked_entry_into_examples(form, name, entry)
    return list(form_by_key.values()), list(dict.fromkeys(unknown))


def _build_prompt_form_from_run_json(prompt_file: Mapping[str, Any]) -> PromptForm:
    """Build a form, still without examples, from what run.json holds of a prompt file."""
    templates = [("", prompt_file["template"])] if "template" in prompt_file else []
    templates += [(message.get("role", ""), message.get("content", "")) for message in prompt_file.get("messages", ())]
    return PromptForm(templates, list(prompt_file.get("answers", {}).items()))


def _merge_asked_entry_into_examples(form: PromptForm, condition: str, asked_entry: Mapping[str, Any]) -> None:
    """Add one entry of `asked`; models and conditions with the same prompt share an example."""
    key = asked_entry["item"], asked_entry["variant"], asked_entry["prompt"]
    text = asked_entry["prompt"][:LONGEST_PROMPT]
    example = form.examples.setdefault(
        key, PromptExample(text, asked_entry["characters"], asked_entry["item"], asked_entry["variant"])
    )
    example.models += [model for model in asked_entry["models"] if model not in example.models]
    if condition not in example.conditions:
        example.conditions.append(condition)


def build_prompts_template_values(runs: Runs) -> dict[str, Any]:
    """Return what the template `asked` shows: at most `MOST_PROMPTS` prompts, and what is left out in words."""
    prompt_forms, unknown = list_prompt_forms_and_unknown_conditions(runs)
    number = sum(len(form.examples) for form in prompt_forms)
    room = MOST_PROMPTS
    for form in prompt_forms:
        form.examples = dict(list(form.examples.items())[:room])
        room -= len(form.examples)
    left_out_note = (
        f"{format_quantity(number - MOST_PROMPTS, 'more prompt stands', 'more prompts stand')} in run.json."
        if number > MOST_PROMPTS
        else ""
    )
    return {
        "forms": [form for form in prompt_forms if form.examples or number <= MOST_PROMPTS],
        "number": number,
        "left": left_out_note,
        "unknown": join_names(unknown, MOST_NAMES),
    }
