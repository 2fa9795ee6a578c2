"""Next tokens of an engine that tells the probabilities of the tokens it is asked for, and no others."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import torch
from torch import Tensor

from inference.engines.options import TokenIds
from inference.engines.rows import Row
from inference.engines.targets import Target


@dataclass(frozen=True, slots=True)
class Question:
    """Which log-probabilities are wanted behind which token ids, the logits divided by a temperature."""

    ids: list[int]
    tokens: TokenIds
    temperature: float = 1.0


@dataclass(frozen=True, slots=True)
class Reply:
    """The log-probabilities asked for, and, at temperature 1, the likeliest token of the whole vocabulary.

    `problem` says why there are none.
    """

    logprobs: Sequence[float] = ()
    likeliest: int = -1
    problem: str | None = None


@dataclass(slots=True)
class RequestedTokens:
    """`targets.NextTokens` from questions: all rows and temperatures of a step are asked at once.

    Attributes
    ----------
    problems
        Rows without a reply, with the reason; what is computed for them means nothing.
    """

    ask: Callable[[list[Question]], list[Reply]]
    rows: Sequence[Row]
    targets: Sequence[Target]
    temperatures: Sequence[float]
    problems: dict[int, str] = field(default_factory=dict)
    _first: dict[tuple[float, int], Reply] = field(default_factory=dict)

    def likeliest(self) -> list[int]:
        """The most probable next token of every row; the first options' tokens are asked for along with it."""
        # At temperature 1 in any case: that reply brings the likeliest token.
        asked = [(t, row) for t in dict.fromkeys((1.0, *self.temperatures)) for row in range(len(self.rows))]
        replies = self.ask(
            [Question(self.rows[row].ids, tuple(self.targets[row].tree.children), t) for t, row in asked]
        )
        self._first = dict(zip(asked, replies, strict=True))
        return [self._first[1.0, row].likeliest for row in range(len(self.rows))]

    def logprobs(
        self, rows: Sequence[int], path: TokenIds, tokens: Sequence[int], temperatures: Sequence[float]
    ) -> Tensor:
        """See `targets.NextTokens`."""
        asked = [(t, row) for t in temperatures for row in rows]
        if path:
            replies = self.ask([Question([*self.rows[row].ids, *path], tuple(tokens), t) for t, row in asked])
        else:
            replies = [self._first[key] for key in asked]
        self.problems |= {row: reply.problem for (_, row), reply in zip(asked, replies, strict=True) if reply.problem}
        nothing = [-math.inf] * len(tokens)
        return torch.tensor([nothing if reply.problem else reply.logprobs for reply in replies], dtype=torch.float64)
