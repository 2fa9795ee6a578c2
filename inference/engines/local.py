"""What the engines that run a transformers model on this machine have in common."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Any, TypeVar

import torch

from inference.engines import Score
from inference.engines.batching import halving, partition, token_budget
from inference.engines.positions import OnePosition

if TYPE_CHECKING:
    from inference.engines.loading import Checkpoint
    from inference.engines.options import Answers
    from inference.prompts import Prompt

# Prompts tokenised at a time where only their lengths are kept: memory stays flat over millions of them.
CHUNK = 4096

R = TypeVar("R")


@dataclass(slots=True)
class Row:
    """A prompt as the model gets it: rendered text, token ids, and the surface words of its options or its numbers."""

    text: str
    ids: list[int]
    answers: Answers
    numbers: range | None = None


class LocalEngine(ABC):
    """A transformers model that is asked in length-sorted batches.

    A subclass says how prompts become token ids (`_rows`), which it cannot take (`_problem`) and how a batch of the
    others is scored (`_score_rows`).
    """

    mask_token: str | None = None

    def __init__(self, checkpoint: Checkpoint, batch_size: int | None = None) -> None:
        self.name = checkpoint.name
        self.model = checkpoint.model
        self.tokenizer = checkpoint.tokenizer
        self.run_model = OnePosition(self.model)
        self.info: dict[str, Any] = dict(checkpoint.info)
        self._seed = checkpoint.seed
        self._batch_size = batch_size
        self._rows_that_fit: int | None = None

    @abstractmethod
    def _rows(self, prompts: Sequence[Prompt]) -> list[Row]:
        """Render and tokenise prompts."""

    @abstractmethod
    def _problem(self, row: Row) -> str | None:
        """Why a prompt cannot be asked, or None."""

    @abstractmethod
    def _score_rows(self, rows: Sequence[Row], temperatures: Sequence[float]) -> list[list[Score]]:
        """Score prompts that all can be asked, in one forward pass: per prompt a score for every temperature."""

    def lengths(self, prompts: Sequence[Prompt]) -> list[int]:
        """Tokens of every prompt, special tokens included."""
        return self._measure(prompts)[0]

    def batches(self, prompts: Sequence[Prompt]) -> list[list[int]]:
        """Partition all prompts of one model and condition into forward batches."""
        lengths, bad, shared = self._measure(prompts)
        good = [index for index in range(len(prompts)) if index not in bad]
        longest = max((lengths[index] for index in good), default=1)
        tokens, rows = token_budget(self.model, longest)
        if self._batch_size is not None:
            tokens, rows = self._batch_size * longest, self._batch_size
        computed_once = len(self._share(shared))
        cut = partition([lengths[index] - computed_once for index in good], tokens, rows)
        # Prompts that cannot be asked come last, by themselves, so that they do not count as long ones.
        refused = sorted(bad)
        return [[good[index] for index in batch] for batch in cut] + [
            refused[start : start + CHUNK] for start in range(0, len(refused), CHUNK)
        ]

    @torch.inference_mode()
    def score(self, prompts: Sequence[Prompt], temperatures: Sequence[float] = (1.0,)) -> list[list[Score]]:
        """Score one batch; prompts that cannot be asked get an error and the others go on."""
        rows = self._rows(prompts)
        problems = [self._problem(row) for row in rows]
        good = [row for row, problem in zip(rows, problems, strict=True) if not problem]
        alone = [Score(error=self._out_of_memory)] * len(temperatures)
        scored = iter(self._in_memory(partial(self._score_rows, temperatures=temperatures), good, alone))
        by_prompt = [[Score(error=problem)] * len(temperatures) if problem else next(scored) for problem in problems]
        return [list(scores) for scores in zip(*by_prompt, strict=True)]

    @property
    def _out_of_memory(self) -> str:
        return f"out of memory on {self.model.device} with this prompt alone"

    def _in_memory(self, ask: Callable[[Sequence[Row]], list[R]], rows: Sequence[Row], alone: R) -> list[R]:
        """Ask as many rows at a time as memory takes; a row that does not fit by itself comes to `alone`."""
        results: list[R] = []
        for part, size in halving(ask, rows, self._rows_that_fit or max(1, len(rows))):
            if size < len(rows):
                self._rows_that_fit = size
            results += part or [alone]
        return results

    def _share(self, prefix: list[int]) -> list[int]:
        """Ids at the start of all prompts that will be computed once only: none, unless an engine can."""
        return []

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


def pad_right(
    rows: Sequence[Sequence[int]], device: torch.device, fill: int | None = None
) -> tuple[torch.Tensor, torch.Tensor]:
    """Rows of ids as one tensor [rows, longest], with their lengths [rows].

    Without `fill`, each row is filled up with its own last id: where nobody looks, any id will do.
    """
    lengths = [len(row) for row in rows]
    width = max(lengths)
    padded = [[*row, *([row[-1] if fill is None else fill] * (width - len(row)))] for row in rows]
    return torch.tensor(padded, device=device), torch.tensor(lengths, device=device)
