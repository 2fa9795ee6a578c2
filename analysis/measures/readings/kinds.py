"""Say which conditions ask the same prompts, and in which ways their answers are read."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

Conditions = Mapping[str, Mapping[str, Any]]

PROBABILITY, LETTERS, WORDS, STRICT, LENIENT, THOUGHT = (
    "probability", "letters", "words", "strict rule", "lenient rule", "thought",
)  # fmt: skip
JUDGE = "judge"
NO_EFFORT, THINKING_OFF = "none", "thinking off"
# Fields that say how a model answers and how that is read. Where all others agree, the prompts are the same.
READING_FIELDS = frozenset({
    "answer", "way", "temperature", "samples", "max_tokens", "effort", "text_rule", "share", "thoughts", "sampler",
    "top_p", "top_k", "min_p", "budget", "reads", "judge", "reply_rule", "reply_reading", "format", "method", "filter",
    "metric", "reading", "prompt_hash",
})  # fmt: skip
# Fields that say how one log of texts was read: two conditions that differ in nothing else read the same texts.
OF_LOG = frozenset({"filter", "metric", "reading", "reply_rule", "reply_reading", "text_rule"})
ORDER = (PROBABILITY, LETTERS, WORDS, STRICT, LENIENT, JUDGE, THOUGHT)


@dataclass(frozen=True, slots=True)
class ReadingKind:
    """Describe one reading of the answers under one setting.

    Attributes
    ----------
    name
        "probability", "letters", "words", "strict rule", "lenient rule", "judge J", "thought", "thought (low)". Where
        thinking was off, "thinking off" stands there.
    condition
        Whose rows hold it.
    column
        Of the rows: "probability" (exact), "sample_answer", "sample_answer_otherwise" or "sample_probability".
    source
        What it reads: two readings of the same texts have the same source.
    temperature
        Of the samples; None where it is unknown.
    judge
        The model that judged; empty for none.
    prompt
        Where prompts are wordings, which one; empty elsewhere.
    """

    name: str
    condition: str
    column: str
    source: str
    temperature: float | None = None
    judge: str = ""
    prompt: str = ""

    @property
    def is_sampled(self) -> bool:
        """Tell whether the reading is of texts or thoughts that were sampled."""
        return self.column != "probability"


def list_readings_by_setting(
    conditions: Conditions, other_fields: frozenset[str] = frozenset()
) -> dict[str, list[ReadingKind]]:
    """List the readings of every setting: of all conditions that ask the same prompts.

    Parameters
    ----------
    conditions
        Name -> fields, as run.json has them.
    other_fields
        Further fields that may differ, such as the prompt where prompts are the wordings.

    Returns
    -------
    dict
        Name of the setting -> its readings, in the order probability, letters, words, rules, judges, thoughts.

    >>> fields = {"form": "plain"}
    >>> of_text = {**fields, "answer": "text", "temperature": 1.0}
    >>> kinds = list_readings_by_setting({"plain": fields, "plain/text": of_text})
    >>> [kind.name for kind in kinds["plain"]]
    ['probability', 'strict rule', 'lenient rule']
    """
    names_by_prompt: dict[frozenset[tuple[str, str]], list[str]] = {}
    for name, fields in conditions.items():
        prompt_fields = {key: value for key, value in fields.items() if key not in READING_FIELDS | other_fields}
        key = frozenset((field, repr(value)) for field, value in prompt_fields.items() if value is not None)
        names_by_prompt.setdefault(key, []).append(name)
    settings: dict[str, list[ReadingKind]] = {}
    for names in names_by_prompt.values():
        kinds = [kind for name in names for kind in _list_reading_kinds_of_condition(name, conditions)]
        if "prompt" in other_fields:
            kinds = [replace(kind, prompt=str(conditions[kind.condition].get("prompt") or "")) for kind in kinds]
        kinds.sort(key=lambda kind: next(place for place, start in enumerate(ORDER) if kind.name.startswith(start)))
        setting = _name_setting_by_common_prefix(names)
        settings[setting if setting not in settings else names[0]] = _name_samples_apart_by_temperature(kinds)
    return settings


def _list_reading_kinds_of_condition(name: str, conditions: Conditions) -> list[ReadingKind]:
    """List the readings that the rows of a condition hold."""
    fields = conditions[name]
    temperature = _parse_temperature(fields)
    if fields.get("judge"):
        judge = str(fields["judge"])
        source = _find_first_condition_of_same_log(str(fields.get("reads") or name), conditions)
        return [ReadingKind(f"{JUDGE} {judge}", name, "sample_probability", source, temperature, judge)]
    effort = [str(fields[key]) for key in ("effort", "budget") if fields.get(key) is not None]
    effort = [THINKING_OFF if value == NO_EFFORT else value for value in effort]
    if fields.get("answer") == THOUGHT and THINKING_OFF in effort:  # right after the prompt: there is no thought
        return [ReadingKind(_append_details_in_brackets(PROBABILITY, effort), name, "probability", name, 0.0)]
    if fields.get("answer") == THOUGHT:
        return [
            ReadingKind(_append_details_in_brackets(THOUGHT, effort), name, "sample_probability", name, temperature)
        ]
    source = _find_first_condition_of_same_log(name, conditions)
    log = [str(fields[key]) for key in ("reading", "filter", "metric") if fields.get(key)]
    if _is_read_from_texts(fields):
        main = fields.get("reply_reading", STRICT if "reply_rule" in fields else LENIENT)
        rules = (STRICT, LENIENT) if str(main).startswith("strict") else (LENIENT, STRICT)
        columns = ("sample_answer", "sample_answer_otherwise")
        return [
            ReadingKind(_append_details_in_brackets(rule, [*effort, *log]), name, column, source, temperature)
            for rule, column in zip(rules, columns, strict=True)
        ]
    way = {"letters": LETTERS, "texts": WORDS}.get(str(fields.get("way")), PROBABILITY)
    return [ReadingKind(_append_details_in_brackets(way, log), name, "probability", name, 0.0)]


def _append_details_in_brackets(name: str, details: Sequence[str]) -> str:
    """Write a name with what tells it apart, in brackets: sentences list names, with commas between them.

    >>> _append_details_in_brackets("thought", ["low", "64"]), _append_details_in_brackets("thought (low)", ["t1"])
    ('thought (low, 64)', 'thought (low, t1)')
    >>> _append_details_in_brackets("words", [])
    'words'
    """
    if not details:
        return name
    start = f"{name[:-1]}, " if name.endswith(")") else f"{name} ("
    return f"{start}{', '.join(details)})"


def _is_read_from_texts(fields: Mapping[str, Any]) -> bool:
    """Tell whether a condition's answers are read from texts: asked for so, or imported as texts."""
    asked = "text" in (fields.get("answer"), fields.get("way")) or fields.get("method") == "sampled"
    return asked or fields.get("text_rule") is not None


def _find_first_condition_of_same_log(name: str, conditions: Conditions) -> str:
    """Find the first condition that reads the same log as another one; itself where there is none."""
    fields = {key: value for key, value in conditions.get(name, {}).items() if key not in OF_LOG}
    twins = (
        twin
        for twin, twin_fields in conditions.items()
        if {key: value for key, value in twin_fields.items() if key not in OF_LOG} == fields
    )
    return next(twins, name)


def _parse_temperature(fields: Mapping[str, Any]) -> float | None:
    """Return the temperature of the samples; None where it is not a number: the maker's, or unknown."""
    temperature = fields.get("temperature")
    if fields.get("answer") == THOUGHT and "thoughts" not in fields:
        return 0.0  # one thought, the likeliest
    return float(temperature) if isinstance(temperature, int | float) else None


def _name_setting_by_common_prefix(names: Sequence[str]) -> str:
    """Name a setting by the beginning that the names of its conditions share; else by the first of them."""
    common = os.path.commonpath([f"/{name.strip('/')}" for name in names]).strip("/")
    return common or names[0]


def _name_samples_apart_by_temperature(kinds: Sequence[ReadingKind]) -> list[ReadingKind]:
    """Add the temperature to the names of samples that are called the same; keep the first of exact ones."""
    by_name: dict[tuple[str, str], list[ReadingKind]] = {}
    for kind in kinds:
        by_name.setdefault((kind.name, kind.prompt), []).append(kind)
    chosen = []
    for kind in kinds:
        namesakes = by_name[kind.name, kind.prompt]
        if len(namesakes) == 1 or (not kind.is_sampled and kind is namesakes[0]):
            chosen.append(kind)
        elif kind.is_sampled:
            temperatures = [namesake.temperature for namesake in namesakes]
            told_apart = None not in temperatures and len(set(temperatures)) == len(temperatures)
            apart = f"t{kind.temperature:g}" if told_apart else kind.condition
            chosen.append(replace(kind, name=_append_details_in_brackets(kind.name, [apart])))
    return chosen
