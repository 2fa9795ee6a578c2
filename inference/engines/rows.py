"""Prompts as rows of token ids, whichever engine asks them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Any, TypeVar

from inference.engines.contract import Score

if TYPE_CHECKING:
    from inference.engines.exact.answer_words import Answers
    from inference.stimuli.prompts import Prompt

R = TypeVar("R")

# Prompts tokenised at a time where only their lengths are kept: memory stays flat over millions of them.
CHUNK = 4096


@dataclass(slots=True)
class Row:
    """A prompt as the model gets it: rendered text, token ids, and the surface words of its options or its numbers."""

    text: str
    ids: list[int]
    answers: Answers
    numbers: range | None = None


class RowEngine(ABC):
    """An engine that sees its prompts as token ids.

    A subclass says how prompts become token ids (`_rows`), which it cannot take (`_problem`), how the others are cut
    into batches (`_cut`) and how a batch of them is scored (`_score_rows`).
    """

    mask_token: str | None = None
    independent_of_batch = False  # padding and the shape of a batch move the last bits
    info: dict[str, Any]

    @abstractmethod
    def _rows(self, prompts: Sequence[Prompt]) -> list[Row]:
        """Render and tokenise prompts."""

    @abstractmethod
    def _problem(self, row: Row) -> str | None:
        """Why a prompt cannot be asked, or None."""

    @abstractmethod
    def _cut(self, lengths: Sequence[int], shared: list[int]) -> list[list[int]]:
        """Batches of prompts, as indices into their lengths; `shared` are the ids that all of them begin with."""

    @abstractmethod
    def _score_rows(self, rows: Sequence[Row], temperatures: Sequence[float]) -> list[list[Score]]:
        """Score prompts that all can be asked: per prompt a score for every temperature."""

    def lengths(self, prompts: Sequence[Prompt]) -> list[int]:
        """Tokens of every prompt, special tokens included."""
        return self._measure(prompts)[0]

    def batches(self, prompts: Sequence[Prompt]) -> list[list[int]]:
        """Partition all prompts of one model and condition into batches."""
        lengths, bad, shared = self._measure(prompts)
        good = [index for index in range(len(prompts)) if index not in bad]
        cut = self._cut([lengths[index] for index in good], shared)
        # Prompts that cannot be asked come last, by themselves, so that they do not count as long ones.
        refused = sorted(bad)
        return [[good[index] for index in batch] for batch in cut] + [
            refused[start : start + CHUNK] for start in range(0, len(refused), CHUNK)
        ]

    def score(self, prompts: Sequence[Prompt], temperatures: Sequence[float] = (1.0,)) -> list[list[Score]]:
        """Score one batch; prompts that cannot be asked get an error and the others go on."""
        rows = self._rows(prompts)
        by_prompt = self._answered(
            partial(self._score_rows, temperatures=temperatures),
            rows,
            [self._problem(row) for row in rows],
            lambda problem: [Score(error=problem)] * len(temperatures),
        )
        return [list(scores) for scores in zip(*by_prompt, strict=True)]

    def _answered(
        self,
        ask: Callable[[Sequence[Row]], list[R]],
        rows: Sequence[Row],
        problems: Sequence[str | None],
        failed: Callable[[str], R],
    ) -> list[R]:
        """Ask the rows without a problem; `failed` makes what the others get."""
        good = [row for row, problem in zip(rows, problems, strict=True) if not problem]
        results = iter(self._in_memory(ask, good, failed) if good else ())
        return [failed(problem) if problem else next(results) for problem in problems]

    def _in_memory(
        self, ask: Callable[[Sequence[Row]], list[R]], rows: Sequence[Row], failed: Callable[[str], R]
    ) -> list[R]:
        """Ask rows: at once, unless an engine has to mind its memory itself."""
        return ask(rows)

    def bill(self, tokens_in: int, tokens_out: int) -> str | None:
        """Nothing: the model runs here."""
        return None

    def close(self) -> dict[str, Any]:
        """Nothing to give back that is not freed with the engine."""
        return {}

    def _measure(self, prompts: Sequence[Prompt]) -> tuple[list[int], set[int], list[int]]:
        """Lengths of all prompts, indices of those that cannot be asked, and the ids that all begin with."""
        lengths: list[int] = []
        bad: set[int] = set()
        shared: list[int] | None = None
        pending = iter(prompts)
        while chunk := list(islice(pending, CHUNK)):
            for row in self._rows(chunk):
                if self._problem(row):
                    bad.add(len(lengths))
                else:
                    # At least one token of every prompt is left to compute: its output is what is read.
                    shared = row.ids[:-1] if shared is None else common_prefix(shared, row.ids[:-1])
                lengths.append(len(row.ids))
        return lengths, bad, shared or []


def common_prefix(a: list[int], b: list[int]) -> list[int]:
    """The ids with which both lists begin."""
    if b[: len(a)] == a:
        return a
    for index, (x, y) in enumerate(zip(a, b, strict=False)):
        if x != y:
            return a[:index]
    return b
