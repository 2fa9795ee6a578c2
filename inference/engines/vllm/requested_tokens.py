"""Ask vLLM for the log-probabilities of listed token ids, those of the options: it returns no others."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Any

import numpy as np
import torch
from torch import Tensor

from inference.engines.exact.answer_words import TokenIds
from inference.engines.exact.followed_paths import Beginning, Logs
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

    A beginning that cannot matter is not asked for.

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

    def find_most_probable_first_token_per_row(self) -> list[int]:
        """Return the most probable next token of every row; the same requests ask for the options' first tokens."""
        # Temperature 1 is always asked for, because that reply brings the most probable token.
        keys = [(t, row) for t in dict.fromkeys((1.0, *self.temperatures)) for row in range(len(self.rows))]
        replies = self.ask([Question(self.rows[row].ids, tuple(self.targets[row].tree.children), t) for t, row in keys])
        self._first = dict(zip(keys, replies, strict=True))
        return [self._first[1.0, row].likeliest for row in range(len(self.rows))]

    def compute_first_token_logprobs(
        self, rows: Sequence[int], tokens: Sequence[int], temperatures: Sequence[float]
    ) -> Tensor:
        """Return the log-probabilities of tokens right after some rows.

        `find_most_probable_first_token_per_row` has asked for them.

        Parameters
        ----------
        rows, tokens, temperatures
            As in `targets.NextTokens`.

        Returns
        -------
        Tensor [temperatures x rows, tokens], float64; -inf in rows without a reply (`problems`).
        """
        keys = [(t, row) for t in temperatures for row in rows]
        sizes = [len(tokens)] * len(keys)
        logprobs = self._join_logprobs_and_note_problems(
            [row for _, row in keys], [self._first[key] for key in keys], sizes
        )
        return torch.from_numpy(logprobs).unflatten(0, (len(keys), len(tokens)))

    def compute_continuation_logprobs(self, beginnings: Sequence[Beginning], temperatures: Sequence[float]) -> Logs:
        """Ask for the log-probabilities of the tokens that go on behind beginnings of answers.

        Parameters
        ----------
        beginnings, temperatures
            As in `targets.NextTokens`.

        Returns
        -------
        Array [children of all nodes]; -inf in rows without a reply (`problems`).
        """
        replies = self.ask([
            Question([*self.rows[row].ids, *node.path], tuple(node.children), temperatures[place])
            for place, row, node, _ in beginnings
        ])  # fmt: skip
        sizes = [len(node.children) for _, _, node, _ in beginnings]
        return self._join_logprobs_and_note_problems([row for _, row, _, _ in beginnings], replies, sizes)

    def _join_logprobs_and_note_problems(
        self, rows: Sequence[int], replies: Sequence[Reply], sizes: Sequence[int]
    ) -> Logs:
        """List the log-probabilities of replies one after the other, and note the rows without a reply."""
        self.problems |= {row: reply.problem for row, reply in zip(rows, replies, strict=True) if reply.problem}
        listed = (
            [-math.inf] * size if reply.problem else reply.logprobs for reply, size in zip(replies, sizes, strict=True)
        )
        return np.array(list(chain.from_iterable(listed)), dtype=np.float64)


def read_logprobs_of_tokens_per_output(outputs: Sequence[Any], tokens: Sequence[int]) -> Logs:
    """Read the log-probabilities of the same tokens from the outputs of many requests.

    Parameters
    ----------
    outputs
        Outputs of vLLM with flat log-probabilities: those of the written token and then, as a rule, of the asked ones.
    tokens
        The asked ids.

    Returns
    -------
    Array [outputs, tokens]; NaN where vLLM gave none.
    """
    # One number after the other: a list kept for every output would be work for Python's garbage collector.
    logprobs = chain.from_iterable(_iterate_token_logprobs_by_output(outputs, list(tokens)))
    shape = len(outputs), len(tokens)
    return np.fromiter(logprobs, np.float64, count=shape[0] * shape[1]).reshape(shape)


def _iterate_token_logprobs_by_output(outputs: Sequence[Any], asked_ids: list[int]) -> Iterator[Sequence[float]]:
    """Yield the log-probabilities of the asked tokens of one output after the other; NaN where vLLM gave none."""
    end = 1 + len(asked_ids)
    for output in outputs:
        flat_logprobs = output.outputs[0].logprobs
        if flat_logprobs.token_ids[1:end] == asked_ids:
            yield flat_logprobs.logprobs[1:end]
        else:
            logprob_by_token = dict(zip(flat_logprobs.token_ids, flat_logprobs.logprobs, strict=True))
            yield [logprob_by_token.get(token, math.nan) for token in asked_ids]


def describe_missing_logprobs(tokens: Sequence[int], logprobs: Sequence[float] | Logs) -> str | None:
    """Say which tokens have no finite log-probability.

    Parameters
    ----------
    tokens, logprobs
        Ids that were asked for, and what came for each.

    Returns
    -------
    A message; None where all have one.
    """
    missing = [token for token, logprob in zip(tokens, logprobs, strict=True) if not math.isfinite(logprob)]
    if not missing:
        return None
    from vllm import __version__

    missing_ids = f"{missing[0]} and {len(missing) - 1} more" if len(missing) > 1 else missing[0]
    return f"vLLM {__version__} gave no finite probability for the asked token id {missing_ids}"


class RequestedPaths:
    """Next tokens of numbers (`number_probabilities.Branches`), over a small vocabulary.

    It consists of the tokens that are asked for and of one more, the last, that stands for all others together.
    Example: if the tokens 17 and 23 are asked for and have the probabilities 0.6 and 0.3, the scores are
    log 0.6, log 0.3 and log 0.1.

    Parameters
    ----------
    ask
        Given many lists of token ids, the asked tokens and a temperature, gets the log-probabilities of these tokens
        behind each list: [lists, tokens], perhaps not finite.
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
        ask: Callable[[list[list[int]], TokenIds, float], Logs],
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

    def score_next_tokens_after_paths(self, path_places: Places, will_continue: bool) -> Tensor:
        """Ask for next-token log-probabilities after some paths of every row.

        Parameters
        ----------
        path_places, will_continue
            As in `number_probabilities.Branches.score_next_tokens_after_paths`; `will_continue` has no effect, as
            nothing is kept here.

        Returns
        -------
        Float64 [rows, width, asked tokens + 1]; the last is the logarithm of what the others lack to 1.
        """
        prompts = [
            row.ids + self._ids[path]
            for row, line in zip(self._prompts, path_places.tolist(), strict=True)
            for path in line
        ]
        asked_logprobs = self._ask(prompts, self._tokens, self._temperature)
        for place in np.flatnonzero(~np.isfinite(asked_logprobs).all(-1)).tolist():
            problem = describe_missing_logprobs(self._tokens, asked_logprobs[place])
            self.problems[place // path_places.shape[1]] = str(problem)
            asked_logprobs[place] = -math.inf
        logprobs = torch.from_numpy(asked_logprobs)
        remainder = torch.log1p(-logprobs.logsumexp(-1, keepdim=True).exp().clamp(max=1.0))
        return torch.cat([logprobs, remainder], dim=-1).unflatten(0, path_places.shape)
