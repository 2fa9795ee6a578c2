"""Ask vLLM for the log-probabilities of listed token ids, those of the options: it returns no others."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import torch
from torch import Tensor

from inference.engines.exact.answer_words import TokenIds
from inference.engines.exact.lattice import Paths, Places
from inference.engines.exact.targets import Target
from inference.engines.rows import Row


@dataclass(frozen=True, slots=True)
class Question:
    """A request for the log-probabilities of `tokens` after the token ids `ids`, at a temperature."""

    ids: list[int]
    tokens: TokenIds
    temperature: float = 1.0


@dataclass(frozen=True, slots=True)
class Reply:
    """The log-probabilities asked for and, at temperature 1, the most probable token of the whole vocabulary.

    `problem` says why there are none.
    """

    logprobs: Sequence[float] = ()
    likeliest: int = -1
    problem: str | None = None


@dataclass(slots=True)
class RequestedTokens:
    """Next tokens of options (`targets.NextTokens`), asked for all rows and temperatures of a step at once.

    Attributes
    ----------
    problems
        Rows without a reply, with the reason; the numbers computed for them mean nothing.
    """

    ask: Callable[[list[Question]], list[Reply]]
    rows: Sequence[Row]
    targets: Sequence[Target]
    temperatures: Sequence[float]
    problems: dict[int, str] = field(default_factory=dict)
    _first: dict[tuple[float, int], Reply] = field(default_factory=dict)

    def likeliest(self) -> list[int]:
        """Return the most probable next token of every row; the same requests ask for the options' first tokens."""
        # Temperature 1 is always asked for, because that reply brings the most probable token.
        keys = [(t, row) for t in dict.fromkeys((1.0, *self.temperatures)) for row in range(len(self.rows))]
        replies = self.ask([Question(self.rows[row].ids, tuple(self.targets[row].tree.children), t) for t, row in keys])
        self._first = dict(zip(keys, replies, strict=True))
        return [self._first[1.0, row].likeliest for row in range(len(self.rows))]

    def logprobs(
        self, rows: Sequence[int], path: TokenIds, tokens: Sequence[int], temperatures: Sequence[float]
    ) -> Tensor:
        """Return the log-probabilities of tokens after some rows and a path, asked of vLLM unless they are known.

        Parameters
        ----------
        rows, path, tokens, temperatures
            As in `targets.NextTokens`.

        Returns
        -------
        Tensor [temperatures x rows, tokens], float64; -inf in rows without a reply (`problems`).
        """
        keys = [(t, row) for t in temperatures for row in rows]
        if path:
            replies = self.ask([Question([*self.rows[row].ids, *path], tuple(tokens), t) for t, row in keys])
        else:
            replies = [self._first[key] for key in keys]
        self.problems |= {row: reply.problem for (_, row), reply in zip(keys, replies, strict=True) if reply.problem}
        nothing = [-math.inf] * len(tokens)
        return torch.tensor([nothing if reply.problem else reply.logprobs for reply in replies], dtype=torch.float64)


class RequestedPaths:
    """Next tokens of numbers (`number_probabilities.Branches`), over a small vocabulary.

    It consists of the tokens that are asked for and of one more, the last, that stands for all others together.
    Example: if the tokens 17 and 23 are asked for and have the probabilities 0.6 and 0.3, the scores are
    log 0.6, log 0.3 and log 0.1.

    Parameters
    ----------
    ask
        Gets the replies.
    rows
        The prompts.
    paths
        Token paths over the small vocabulary.
    tokens
        The ids of its tokens without the last one.
    temperature
        It divides the logits of every step; the scores are log-probabilities at this temperature.

    Attributes
    ----------
    problems
        Rows without a reply, with the reason; the numbers computed for them mean nothing.
    """

    shares_passes = False

    def __init__(
        self,
        ask: Callable[[list[Question]], list[Reply]],
        rows: Sequence[Row],
        paths: Paths,
        tokens: Sequence[int],
        temperature: float,
    ) -> None:
        self.rows = len(rows)
        self.problems: dict[int, str] = {}
        self._ask, self._prompts, self._temperature = ask, rows, temperature
        self._tokens = tuple(tokens)
        self._ids = [[tokens[token] for token in path] for path in paths.ids]

    def score_after_paths(self, path_places: Places, will_continue: bool) -> Tensor:
        """Ask for next-token log-probabilities after some paths of every row.

        Parameters
        ----------
        path_places, will_continue
            As in `number_probabilities.Branches`; `will_continue` has no effect, as nothing is kept here.

        Returns
        -------
        Float64 [rows, width, asked tokens + 1]; the last is the logarithm of what the others lack to 1.
        """
        keys = [(row, path) for row, line in enumerate(path_places.tolist()) for path in line]
        questions = [Question(self._prompts[row].ids + self._ids[path], self._tokens, self._temperature)
                     for row, path in keys]  # fmt: skip
        replies = self._ask(questions)
        self.problems |= {row: reply.problem for (row, _), reply in zip(keys, replies, strict=True) if reply.problem}
        nothing = [-math.inf] * len(self._tokens)
        logprobs = torch.tensor(
            [nothing if reply.problem else reply.logprobs for reply in replies], dtype=torch.float64
        )
        remainder = torch.log1p(-logprobs.logsumexp(-1, keepdim=True).exp().clamp(max=1.0))
        return torch.cat([logprobs, remainder], dim=-1).unflatten(0, path_places.shape)
