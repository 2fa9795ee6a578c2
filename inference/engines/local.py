"""What the engines that run a transformers model on this machine have in common."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

import torch

from inference.engines import Score
from inference.engines.batching import halving, partition, token_budget
from inference.engines.positions import OnePosition
from inference.engines.rows import Row, RowEngine

if TYPE_CHECKING:
    from inference.engines.loading import Checkpoint

R = TypeVar("R")


class LocalEngine(RowEngine):
    """A transformers model that is asked in length-sorted batches.

    A subclass says how a batch that fits in memory is scored (`_score_rows`).
    """

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
    def _score_rows(self, rows: Sequence[Row], temperatures: Sequence[float]) -> list[list[Score]]:
        """Score prompts that all can be asked, in one forward pass: per prompt a score for every temperature."""

    def _cut(self, lengths: Sequence[int], shared: list[int]) -> list[list[int]]:
        longest = max(lengths, default=1)
        tokens, rows = token_budget(self.model, longest)
        if self._batch_size is not None:
            tokens, rows = self._batch_size * longest, self._batch_size
        computed_once = len(self._share(shared))
        return partition([length - computed_once for length in lengths], tokens, rows)

    @torch.inference_mode()
    def _score_askable(self, rows: list[Row], temperatures: Sequence[float]) -> list[list[Score]]:
        alone = [Score(error=self._out_of_memory)] * len(temperatures)
        return self._in_memory(partial(self._score_rows, temperatures=temperatures), rows, alone)

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
