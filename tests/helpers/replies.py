"""Small runs with texts, and a judge that says what it is told: it reads the reply out of its prompt."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from helpers.trivial_engine import TrivialEngine, shown
from inference.engines.contract import Score
from inference.runfolder.store import Run
from inference.stimuli.study import Item, Option, Study, Variant
from inference.stimuli.templates.prompts import Prompt

LABELS = ("agree", "disagree")
_QUOTED = re.compile(r"(?m)^(=== [0-9a-f]{10} ===)\n(.*?)\n\1$", re.DOTALL)
Texts = Mapping[tuple[str, str, str], Sequence[str]]  # model, condition, item -> texts


def statement_study(items: Sequence[str], labels: Sequence[str] = LABELS, protocol: str = "agreement") -> Study:
    """A study of statements, in one wording each."""
    options = tuple(Option(label, label) for label in labels)
    made = [Item(name, (Variant(name, "original", "original", f"About {name}.", options),)) for name in items]
    return Study(protocol, "replies", tuple(made), tuple(labels), "", "made up")


def write_texts(folder: Path, texts: Texts, fields: Mapping[str, Any] | None = None, **study: Any) -> Path:
    """Write a run whose rows hold these texts; every item is one that some row has."""
    items = list(dict.fromkeys(item for _, _, item in texts))
    with Run.create_or_open(folder, statement_study(items, **study)) as run:
        for model, condition, _ in texts:
            run.add_model(model, {"engine": "import", "revision": None})
            run.add_condition(condition, {"form": "plain", "answer": "text", **(fields or {})})
        run.responses.append_rows_as_part(
            [
                {"model": model, "condition": condition, "item": item, "variant": "original", "output": list(written)}
                for (model, condition, item), written in texts.items()
            ]
        )
        run.finish()
    return folder


def quoted(prompt: Prompt) -> list[str]:
    """What a judge's prompt quotes: what was asked, and the reply."""
    return [match[2] for match in _QUOTED.finditer(shown(prompt))]


class ToldJudge(TrivialEngine):
    """A judge that gives every reply the probabilities it is told, more to the option that is shown first.

    Parameters
    ----------
    reads
        Reply -> probabilities of the options, without "none of these"; None: the question fails.
    tilt
        How much the option that is shown first gets, and the others lose.
    """

    def __init__(
        self, reads: Callable[[str], Sequence[float] | None], tilt: float = 0.0, info: dict | None = None, **more: Any
    ) -> None:
        super().__init__(info, **more)
        self._reads, self._tilt, self.asked = reads, tilt, []

    def score(self, prompts: Sequence[Prompt], temperatures: Sequence[float] = (1.0,)) -> list[list[Score]]:
        self._before_batch(self.batches_scored)
        self.batches_scored += 1
        return [[self._judge(prompt) for prompt in prompts] for _ in temperatures]

    def _judge(self, prompt: Prompt) -> Score:
        _, reply = quoted(prompt)
        self.asked.append(reply)
        told = self._reads(reply)
        if told is None:
            return Score(error="out of order")
        options = shown(prompt).partition("The options:")[2]
        places = [options.index(f"- {words[0]}") for words in prompt.answers[:-1]]
        first = places.index(min(places))
        own = [p + (self._tilt if n == first else -self._tilt / (len(told) - 1)) for n, p in enumerate(told)]
        probability = (*own, max(0.0, 1 - sum(own)))
        return Score(probability, (), 1.0, max(range(len(probability)), key=probability.__getitem__))
