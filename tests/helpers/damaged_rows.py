"""Damage single values of a run folder, so that they break the contract of results/schema.json."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

STIMULI = "stimuli.parquet"
NAN, INF = float("nan"), float("inf")


@dataclass(frozen=True)
class Damage:
    """What is done to one value of a column; `change` gets the value and returns another, or None where it cannot."""

    name: str
    table: str
    column: str
    change: Callable[[random.Random, Any], Any]


def entry(new: Any) -> Callable[[random.Random, Any], Any]:
    """Put a value into a random place of a list."""

    def change(draw: random.Random, values: list[Any]) -> list[Any]:
        place = draw.randrange(len(values))
        return [new if number == place else value for number, value in enumerate(values)]

    return change


def to(new: Any) -> Callable[[random.Random, Any], Any]:
    return lambda draw, value: new


def longer(draw: random.Random, values: list[Any]) -> list[Any]:
    return [*values, values[-1]]


def shorter(draw: random.Random, values: list[Any]) -> list[Any]:
    return values[:-1]


RESPONSES = [
    *(Damage(f"a probability of {new}", "responses", "probability", entry(new)) for new in (-0.5, 1.5, NAN, INF, None)),
    Damage("a probability too many", "responses", "probability", longer),
    Damage("a probability too few", "responses", "probability", shorter),
    Damage("probabilities of 1 in all", "responses", "probability", lambda draw, values: [1.0] * len(values)),
    Damage("no probability where there is a mass", "responses", "probability", to(None)),
    Damage("a log-probability above 0", "responses", "logprob", entry(0.5)),
    Damage("a log-probability too few", "responses", "logprob", shorter),
    Damage("a count below 0", "responses", "count", entry(-1)),
    Damage("a count too many", "responses", "count", longer),
    Damage("invalid below 0", "responses", "invalid", to(-1)),
    Damage("clipped below 0", "responses", "clipped", to(-2)),
    *(Damage(f"a mass of {new}", "responses", "mass", to(new)) for new in (-0.1, 1.1, NAN)),
    *(Damage(f"a score of {new}", "responses", "score", to(new)) for new in (NAN, -1e9, 1e9)),
    Damage("a text that the other rule reads below 0", "responses", "read_otherwise", to(-1)),
    Damage("an answer that is none", "responses", "answer", to("no such option")),
    Damage("a thought too many", "responses", "thought", longer),
    Damage("a thought that is missing", "responses", "thought", entry(None)),
    Damage("the tokens of a thought too many", "responses", "thought_tokens", longer),
    Damage("tokens of a thought below 0", "responses", "thought_tokens", entry(-1)),
    *(Damage(f"{new} thoughts without an end", "responses", "unclosed", to(new)) for new in (-1, 1_000)),
    Damage("probabilities after a thought too many", "responses", "sample_probability", longer),
    Damage("probabilities after a thought that are missing", "responses", "sample_probability", entry(None)),
    *(
        Damage(f"{new} after a thought", "responses", "sample_probability", entry(new))
        for new in ([1.5, -0.5], [0.9, 0.9], [NAN, 0.1], [0.5, None], [0.5], [0.1, 0.2, 0.3])
    ),
    Damage(
        "a mean that is another", "responses", "sample_probability", lambda draw, values: [[0.31, 0.01]] * len(values)
    ),
    Damage("an answer after a thought too many", "responses", "sample_answer", longer),
    Damage("an answer after a thought that is none", "responses", "sample_answer", entry("no such option")),
    Damage("an item that is none", "responses", "item", to("no such item")),
    Damage("a variant that is none", "responses", "variant", to("no such variant")),
    Damage("no item", "responses", "item", to(None)),
    Damage("a model that is none", "responses", "model", to("no such model")),
    Damage("a condition that is none", "responses", "condition", to("no such condition")),
]
OF_STIMULI = [
    *(
        Damage(f"the text {new!r}", STIMULI, "text", to(new))
        for new in (None, "", " \n", "\u200b\u00a0\u2060", "\u2800\u3164\ufe0f")
    ),
    *(Damage(f"the pattern {new!r}", STIMULI, "pattern", to(new)) for new in (None, " ", "a\nb", "\x1b[31m")),
    Damage("an option that shows nothing", STIMULI, "options", entry("\u200b ")),
    Damage("an option too few", STIMULI, "options", shorter),
    Damage("no options", STIMULI, "options", to(None)),
    Damage("an option twice", STIMULI, "options", lambda draw, values: [values[0]] * len(values)),
    Damage("a meaning too many", STIMULI, "canonical", longer),
    *(Damage(f"the meaning {new!r}", STIMULI, "canonical", entry(new)) for new in ("no such meaning", None)),
    Damage("a right answer that is none", STIMULI, "gold", to("no such option")),
    Damage("a human score that is no number", STIMULI, "gold_score", to(NAN)),
    Damage("an item of no name", STIMULI, "item", to(None)),
]
ALL = [*RESPONSES, *OF_STIMULI]


def damage(folder: Path, chosen: Damage, draw: random.Random) -> bool:
    """Damage a random row that has a value in the column; tell whether there was one."""
    files = sorted(folder.glob("responses/part-*.parquet")) if chosen.table == "responses" else [folder / STIMULI]
    file = draw.choice(files)
    table = pq.read_table(file, partitioning=None)
    if chosen.column not in table.column_names:
        return False
    values = table[chosen.column].to_pylist()
    places = [place for place, value in enumerate(values) if value is not None and value != []]
    if not places:
        return False
    place = draw.choice(places)
    values[place] = chosen.change(draw, values[place])
    field = table.schema.field(chosen.column).with_nullable(True)
    column = pa.array(values, field.type)
    pq.write_table(table.set_column(table.column_names.index(chosen.column), field, column), file)
    return True
