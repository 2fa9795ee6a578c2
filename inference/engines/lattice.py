"""Exact probabilities of whole numbers: every sequence of tokens that spells one, and that it ends there.

A number is spelled by its digits ("-" before them where it is negative), directly behind the prompt or behind one
space. A tokenizer may hold several tokens for that ("1" and "0", "10", " 10", a byte): all sequences count, since a
model may write any of them. The probability of a sequence is the product of its next-token probabilities, times the
probability that the token behind it does not continue the number (`numbers.continues`: it begins with a digit, or with
a point and a digit; a point by itself ends a sentence).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from inference import numbers as rule
from inference.engines import Score
from inference.engines.options import TokenIds
from inference.engines.trie import NEGLIGIBLE
from inference.errors import InputError

Logs = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Node:
    """A path of tokens behind the prompt, the text that they come to, and the index of the number that this spells."""

    path: TokenIds
    text: str
    number: int | None
    children: list[Node] = field(default_factory=list)


class Lattice:
    """All token paths that spell a number of a range.

    Parameters
    ----------
    numbers
        The range.
    texts
        What each token of the vocabulary writes behind other text.

    Attributes
    ----------
    root
        The empty path.
    continuing
        Ids of the tokens that continue a number.
    depth, size
        Tokens of the longest path, and paths in all.

    Raises
    ------
    InputError
        The tokenizer cannot write a number of the range.
    """

    def __init__(self, numbers: range, texts: Sequence[str]) -> None:
        self.numbers = numbers
        self.continuing = [token for token, text in enumerate(texts) if rule.continues(text)]
        indices = {str(number): index for index, number in enumerate(numbers)}
        self._index = indices | {f" {text}": index for text, index in indices.items()}
        beginnings = {text[:end] for text in self._index for end in range(1, len(text) + 1)}
        parts = {text[start:] for text in beginnings for start in range(len(text))}
        self._tokens: dict[str, list[int]] = {}
        for token, text in enumerate(texts):
            if text in parts:
                self._tokens.setdefault(text, []).append(token)
        self._longer = {text: [more for more in beginnings if more.startswith(text)] for text in ("", *beginnings)}
        self.depth = self.size = 0
        self.root = self._node((), "")
        spelled = {node.number for node in self.nodes()}
        unwritten = next((number for index, number in enumerate(numbers) if index not in spelled), None)
        if unwritten is not None:
            raise InputError(f"the tokens of this model cannot write the number {unwritten}: choose another range")

    def nodes(self) -> list[Node]:
        """Every path, the shortest first."""
        found = [self.root]
        for node in found:
            found += node.children
        return found

    def forms(self) -> tuple[tuple[tuple[str, TokenIds], ...], ...]:
        """Per number its spellings as text and token ids."""
        spelled: list[list[tuple[str, TokenIds]]] = [[] for _ in self.numbers]
        for node in self.nodes():
            if node.number is not None:
                spelled[node.number].append((node.text, node.path))
        return tuple(map(tuple, spelled))

    def _node(self, path: TokenIds, text: str) -> Node:
        self.depth, self.size = max(self.depth, len(path)), self.size + 1
        children = [
            self._node((*path, token), longer)
            for longer in self._longer[text]
            if longer != text
            for token in self._tokens.get(longer[len(text) :], ())
        ]
        return Node(path, text, self._index.get(text), children)


class Branches(Protocol):
    """Next-token scores behind many paths at once."""

    def after(self, paths: Sequence[TokenIds]) -> Tensor:
        """Float32 [rows, paths, vocabulary], up to a constant per row and path their logarithms of probability.

        Every path but the empty one has been preceded, in an earlier call, by the path without its last token.
        """


def number_logprobs(lattice: Lattice, branches: Branches, temperatures: Sequence[float], at_once: int) -> Logs:
    """Log-probability of every number of a range.

    Parameters
    ----------
    temperatures
        They divide the logits of every step, over the full vocabulary.
    at_once
        Paths in one forward pass.

    Returns
    -------
    Array [temperatures, rows, numbers], float64.
    """
    total: Logs | None = None
    level, reached = [lattice.root], np.zeros((1, 1, 1))
    continuing = torch.tensor(lattice.continuing)
    likeliest = np.full((1, 1), -np.inf)
    while level:
        following: list[Node] = []
        arrived: list[Logs] = []
        for start in range(0, len(level), at_once):
            part = level[start : start + at_once]
            scores = branches.after([node.path for node in part])
            before = reached[start : start + at_once]
            # What ends the number is summed by itself: 1 minus the rest would be rounding where the rest is nearly 1.
            going_on = np.logaddexp.reduce(_chosen(scores, lattice.continuing, temperatures), axis=-1)
            ending = _summed(scores.index_fill(-1, continuing.to(scores.device), -torch.inf), temperatures)
            normaliser = np.logaddexp(going_on, ending)
            ended = before + ending - normaliser
            if total is None:
                total = np.full((len(lattice.numbers), *ended.shape[1:]), -np.inf)
            whole = [(place, node.number) for place, node in enumerate(part) if node.number is not None]
            if whole:
                places, owners = map(list, zip(*whole, strict=True))
                np.logaddexp.at(total, owners, ended[places])
            for place, node in enumerate(part):
                if node.children:
                    one = slice(place, place + 1)
                    tokens = [child.path[-1] for child in node.children]
                    step = (_chosen(scores[:, one], tokens, temperatures) - normaliser[one, ..., None])[0]
                    following += node.children
                    arrived.append(before[place] + np.moveaxis(step, -1, 0))
        level, reached, likeliest = _worth_following(following, arrived, likeliest)
    assert total is not None
    return np.moveaxis(total, 0, -1)


def scores_of(logprobs: Logs) -> list[list[Score]]:
    """Scores of [temperatures, rows, numbers]: per row one for every temperature; `answer` is the likeliest number."""
    probabilities = np.exp(logprobs)
    # Float32 softmax terms may sum to some 1e-8 more than everything.
    masses = np.minimum(probabilities.sum(-1), 1.0)
    best = logprobs.argmax(-1)
    return [
        [
            Score(tuple(probabilities[t, row].tolist()), tuple(logprobs[t, row].tolist()), float(masses[t, row]),
                  int(best[t, row]))
            for t in range(logprobs.shape[0])
        ]
        for row in range(logprobs.shape[1])
    ]  # fmt: skip


def _summed(scores: Tensor, temperatures: Sequence[float]) -> Logs:
    """log of the sum over the vocabulary of exp(score / temperature): [paths, temperatures, rows]."""
    sums = [(scores if t == 1 else scores / t).logsumexp(-1) for t in temperatures]
    return np.moveaxis(torch.stack(sums).cpu().double().numpy(), -1, 0)


def _chosen(scores: Tensor, tokens: Sequence[int], temperatures: Sequence[float]) -> Logs:
    """Score / temperature of some tokens behind every path: [paths, temperatures, rows, tokens]."""
    # Off the device first: not every accelerator has float64.
    found = np.moveaxis(scores[..., tokens].cpu().double().numpy(), 1, 0)[:, None]
    divided: Logs = found / np.asarray(temperatures)[:, None, None]
    return divided


def _worth_following(nodes: Sequence[Node], arrived: Sequence[Logs], likeliest: Logs) -> tuple[list[Node], Logs, Logs]:
    """Paths of the next level, with the log-probability of coming there [paths, temperatures, rows].

    Left out are those with less than NEGLIGIBLE of the probability of the likeliest digits so far, in every row. Their
    numbers come out too small by less than that; 0 where no spelling is worth following.
    """
    if not nodes:
        return [], np.zeros((0, 1, 1)), likeliest
    reached = np.concatenate(arrived)
    digits = [place for place, node in enumerate(nodes) if node.text.strip(" -")]
    likeliest = np.maximum(likeliest, reached[digits].max(axis=0, initial=-np.inf))
    kept = np.flatnonzero((reached >= likeliest + np.log(NEGLIGIBLE)).any(axis=(1, 2))).tolist()
    return [nodes[place] for place in kept], reached[kept], likeliest
