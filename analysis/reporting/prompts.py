"""Collect the prompts of some runs for a page: the prompt files, and one prompt as the models got it per condition."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from analysis.reporting.words import count, listing

if TYPE_CHECKING:
    from analysis.runs import Runs

MOST = 12  # prompts on a page; run.json has all
NAMED = 5  # models and conditions that are named
LONGEST = 6_000  # characters of a text on a page


@dataclass(slots=True)
class Example:
    """One prompt as some models got it under some conditions."""

    text: str
    characters: int
    item: str
    variant: str
    models: list[str] = field(default_factory=list)
    conditions: list[str] = field(default_factory=list)

    @property
    def whose(self) -> str:
        """Say whose prompt it is, in one line."""
        return f"{listing(self.models, NAMED)}, under {listing(self.conditions, NAMED)}"


@dataclass(slots=True)
class Form:
    """One form of a prompt file: its templates as (role, text), its answer words, and prompts made of it."""

    templates: list[tuple[str, str]]
    words: list[tuple[str, list[str]]]
    examples: dict[tuple[str, str, str], Example] = field(default_factory=dict)
    exemplars: bool = False


def forms(runs: Runs) -> tuple[list[Form], list[str]]:
    """Return the forms of all prompts of some runs, and the conditions whose prompts the runs do not hold."""
    found: dict[str, Form] = {}
    unknown = []
    for study, conditions in runs.info["conditions"].items():
        for name, settings in conditions.items():
            key = str(settings.get("prompt_hash"))
            source, entries = runs.info["prompts"].get(key), runs.info["asked"].get(study, {}).get(name, ())
            if source is None and not entries:
                unknown.append(name)
                continue
            form = found.setdefault(key, _form(source or {}))
            form.exemplars |= bool(settings.get("exemplars"))
            for entry in entries:
                _add(form, name, entry)
    return list(found.values()), list(dict.fromkeys(unknown))


def _form(source: Mapping[str, Any]) -> Form:
    templates = [("", source["template"])] if "template" in source else []
    templates += [(message.get("role", ""), message.get("content", "")) for message in source.get("messages", ())]
    return Form(templates, list(source.get("answers", {}).items()))


def _add(form: Form, condition: str, entry: Mapping[str, Any]) -> None:
    """Add one entry of `asked`; models and conditions with the same prompt share an example."""
    key = entry["item"], entry["variant"], entry["prompt"]
    text = entry["prompt"][:LONGEST]
    example = form.examples.setdefault(key, Example(text, entry["characters"], entry["item"], entry["variant"]))
    example.models += [model for model in entry["models"] if model not in example.models]
    if condition not in example.conditions:
        example.conditions.append(condition)


def shown(runs: Runs) -> dict[str, Any]:
    """Return what the template `asked` shows: at most `MOST` prompts, and what is left out in words."""
    found, unknown = forms(runs)
    number = sum(len(form.examples) for form in found)
    room = MOST
    for form in found:
        form.examples = dict(list(form.examples.items())[:room])
        room -= len(form.examples)
    left = f"{count(number - MOST, 'more prompt stands', 'more prompts stand')} in run.json." if number > MOST else ""
    return {
        "forms": [form for form in found if form.examples or number <= MOST],
        "number": number,
        "left": left,
        "unknown": listing(unknown, NAMED),
    }
