"""Calls of `waver meaning` whose models say what they are told: they read the two texts out of their prompts."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from helpers.trivial_engine import TrivialEngine, shown
from inference.__main__ import build_parser_importing_only_called_command
from inference.arguments import parse_column_options, parse_engine_settings
from inference.engines.contract import Score
from inference.meaning.checking import MeaningCheck
from inference.meaning.checks import parse_meaning_checks
from inference.meaning.wordings import read_wordings_source
from inference.stimuli.templates.prompts import Prompt

STATEMENTS: Mapping[str, Sequence[str]] = {
    "tea": ("Hot tea is good.", "A hot tea is a good thing.", "Tea that is hot is good.", "Hot tea is bad."),
    "rain": ("People stay home in the rain.", "In the rain people stay home.", "When it rains, people stay home."),
    "dogs": ("Dogs are loyal animals.", "A dog is a loyal animal.", "Loyal animals are what dogs are."),
    "walk": ("Long walks are healthy.", "It is healthy to take long walks.", "Walks that are long are healthy."),
    "snow": ("Children love snow.", "Snow is what children love.", "Every child loves snow."),
    "bread": ("Fresh bread smells nice.", "Bread that is fresh has a nice smell.", "The smell of fresh bread is nice."),
    "trains": ("Trains are often late.", "It is often that trains come late.", "Late trains are frequent."),
    "music": ("Loud music is tiring.", "Music that is loud makes people tired.", "It is tiring to hear loud music."),
    "books": ("Old books are precious.", "Books of old age are precious.", "There is much worth in old books."),
    "maths": ("Maths is hard to learn.", "Learning maths is hard.", "It is hard to learn maths."),
}
FALSE = "Hot tea is bad."
_QUOTED = re.compile(r"(?m)^(=== [0-9a-f]{10} ===)\n(.*?)\n\1$", re.DOTALL)
Says = Callable[[str, str], float | None]


def write_statements(path: Path, statements: Mapping[str, Sequence[str]] = STATEMENTS) -> Path:
    """Write a file of items: the first text of each is its original."""
    rows = [f'{item},"{text}"' for item, texts in statements.items() for text in texts]
    path.write_text("\n".join(["item,text", *rows, ""]), encoding="utf-8")
    return path


def call_meaning(source: Path, *words: str, load: Any = None) -> None:
    """Run `waver meaning` with these words; `load` makes its engines."""
    options = build_parser_importing_only_called_command(call := ["meaning", str(source), *map(str, words)]).parse_args(
        call
    )
    options.call = ["waver", *call]
    read = read_wordings_source(options.source, options.out, parse_column_options(options))
    checks = parse_meaning_checks(options.check, options.engine)
    MeaningCheck(read, checks, options, parse_engine_settings(options), load).run_checks()


def rows_of(file: Path, check: str) -> dict[tuple[str, str], dict[str, Any]]:
    """(item, variant) -> row of one check in `meaning.parquet`."""
    rows = [row for row in pq.read_table(file).to_pylist() if row["check"] == check]
    assert len({(row["item"], row["variant"]) for row in rows}) == len(rows)
    return {(row["item"], row["variant"]): row for row in rows}


def texts_of(prompt: Prompt) -> tuple[str, ...]:
    """The two texts of a prompt: of a pair, as a judge's prompt quotes them, or as premise and hypothesis."""
    quoted = tuple(match[2] for match in _QUOTED.finditer(shown(prompt)))
    named = tuple(re.findall(r"(?m)^(?:Premise|Hypothesis): (.*)$", prompt.text or ""))
    return quoted or named or tuple(message["content"] for message in prompt.messages or ())


class TellingModel(TrivialEngine):
    """A model that gives the first option the probability it is told of two texts; `asked` is what it was asked.

    Parameters
    ----------
    says
        First text and second text -> probability; None: the question fails.
    tilt
        How much the option that is shown first gets more (of a judge).
    """

    def __init__(self, says: Says, tilt: float = 0.0, info: dict | None = None, form: str = "pair", **more: Any):
        classes = {"classes": ["contradiction", "entailment", "neutral"]} if form == "pair" else {}
        super().__init__({**classes, **(info or {})}, form=form, **more)
        self._says, self._tilt, self.asked = says, tilt, []

    def score(self, prompts: Sequence[Prompt], temperatures: Sequence[float] = (1.0,)) -> list[list[Score]]:
        self._before_batch(self.batches_scored)
        self.batches_scored += 1
        return [[self._tell(prompt) for prompt in prompts] for _ in temperatures]

    def _tell(self, prompt: Prompt) -> Score:
        first, second = texts_of(prompt)
        self.asked.append((first, second))
        told = self._says(first, second)
        if told is None:
            return Score(error="out of order")
        if self._tilt:
            options = shown(prompt).rpartition("===")[2]
            is_first = options.index(prompt.answers[0][0]) < options.index(prompt.answers[1][0])
            told += self._tilt if is_first else -self._tilt
        rest = [(1 - told) / (len(prompt.answers) - 1)] * (len(prompt.answers) - 1)
        return Score((told, *rest), (), 1.0, 0)


def same_item(first: str, second: str) -> float:
    """What a good model says: .9 of two statements of one item that are true, else .1, a little more in one order."""
    true = {text: item for item, texts in STATEMENTS.items() for text in texts if text != FALSE}
    is_same = first in true and true[first] == true.get(second)
    return 0.9 + len(second) / 10_000 if is_same else 0.1
