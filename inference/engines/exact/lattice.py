"""Exact probabilities of whole numbers: every sequence of tokens that spells one, and that it ends there.

A number is spelled by its digits ("-" before them where it is negative), directly behind the prompt or behind one
space. A tokenizer may hold several tokens for that ("1" and "0", "10", " 10", a byte): all sequences count, since a
model may write any of them. The probability of a sequence is the product of its next-token probabilities, times the
probability that the token behind it does not continue the number (`numbers.continues`: it begins with a digit, or with
a point and a digit; a point by itself ends a sentence).

A wide range has many sequences that hardly any probability comes to, and each costs a pass over the model. What the
passes that are left out may change has a bound (`NEGLIGIBLE`, `UNCHECKED`), in every row and at every temperature.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from inference.engines.contract import Score
from inference.engines.exact.answer_words import TokenIds
from inference.engines.exact.option_tree import NEGLIGIBLE
from inference.errors import InputError
from inference.stimuli import numbers as rule

Logs = NDArray[np.float64]
Places = NDArray[np.intp]

# Share of the probability that a number begins which may, in all, come to paths whose end is not checked: they count
# as if no further digit followed. It is what rounding to float32 moves, too. `NEGLIGIBLE` is the share that may come
# to paths that others go on from and that are not followed: the longer numbers lose it.
UNCHECKED = 1e-5
# Numbers of a block of scores that stays in the cache of a core while it is summed at one temperature after the other.
CPU_BLOCK, ACCELERATOR_BLOCK = 2**16, 2**26


@dataclass(frozen=True, slots=True, eq=False)
class Node:
    """A path of tokens behind the prompt, the text that they come to, and the index of the number that this spells."""

    path: TokenIds
    text: str
    number: int | None
    children: list[Node] = field(default_factory=list)


class Paths:
    """Token paths, the empty one first, each behind the path without its last token.

    Attributes
    ----------
    ids
        The paths.
    lines
        The places of the paths that lead to each, from its first token to itself, filled up with -1
        [paths, tokens of the longest].
    parents, lengths, tokens
        The place of the path without the last token, the number of tokens, and the last one [paths]; -1, 0 and -1
        for the empty path.
    """

    def __init__(self, ids: Sequence[TokenIds]) -> None:
        self.ids = tuple(ids)
        place = {path: number for number, path in enumerate(self.ids)}
        self.lengths: Places = np.array([len(path) for path in self.ids])
        self.lines: Places = np.full((len(self.ids), self.lengths.max()), -1)
        for number, path in enumerate(self.ids):
            self.lines[number, : len(path)] = [place[path[:end]] for end in range(1, len(path) + 1)]
        self.parents: Places = np.array([place[path[:-1]] if path else -1 for path in self.ids])
        self.tokens: Places = np.array([path[-1] if path else -1 for path in self.ids])


class Lattice:
    """All token paths that spell a number of a range, or the beginning of one.

    Parameters
    ----------
    numbers
        The range.
    texts
        What each token of the vocabulary writes behind other text.

    Attributes
    ----------
    paths
        The paths, the shortest first.
    depth
        Tokens of the longest path.
    stems, leaves
        Places of the paths that others go on from, one array per length, and of those that nothing follows.
    begins
        Places of the paths that come to a first digit: what they are reached with adds up to the probability that
        a number begins.
    spelled, first
        Places of the paths that spell a number, the lowest number first, and where in `spelled` each number begins.
    steps, continuing
        Ids of the tokens that lead from one path to the next, in order, and of those that continue a number.

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
        self._nodes = [self._node((), "")]
        for node in self._nodes:
            self._nodes += node.children
        self._sort()

    def forms(self) -> tuple[tuple[tuple[str, TokenIds], ...], ...]:
        """Per number its spellings as text and token ids."""
        spelled: list[list[tuple[str, TokenIds]]] = [[] for _ in self.numbers]
        for node in self._nodes:
            if node.number is not None:
                spelled[node.number].append((node.text, node.path))
        return tuple(map(tuple, spelled))

    def _node(self, path: TokenIds, text: str) -> Node:
        longer = (
            self._node((*path, token), more)
            for more in self._longer[text]
            if more != text
            for token in self._tokens.get(more[len(text) :], ())
        )
        children = [node for node in longer if node.number is not None or node.children]  # no dead ends
        return Node(path, text, self._index.get(text), children)

    def _sort(self) -> None:
        """The nodes as arrays."""
        self.paths = Paths([node.path for node in self._nodes])
        self.depth = int(self.paths.lengths.max())
        numbers = np.array([len(self.numbers) if node.number is None else node.number for node in self._nodes])
        goes_on = np.array([bool(node.children) for node in self._nodes])
        self.leaves = np.flatnonzero(~goes_on)
        self.stems = [np.flatnonzero(goes_on & (self.paths.lengths == n)) for n in range(self.depth)]
        digits = np.array([bool(node.text.strip(" -")) for node in self._nodes])
        self.begins = np.flatnonzero(digits & ~digits[self.paths.parents])
        self.steps = np.unique(self.paths.tokens[1:])
        self.spelled = np.argsort(numbers, kind="stable")[: (numbers < len(self.numbers)).sum()]
        found, self.first = np.unique(numbers[self.spelled], return_index=True)
        unwritten = next((n for place, n in enumerate(self.numbers) if place not in found), None)
        if unwritten is not None:
            raise InputError(f"the tokens of this model cannot write the number {unwritten}: choose another range")


class Branches(Protocol):
    """Next-token scores behind many paths at once, of every row its own."""

    rows: int
    alike: bool  # whether a path costs a pass for all rows: then all are to ask for the same

    def after(self, chosen: Places, followed: bool) -> Tensor:
        """Float32 [rows, width, vocabulary], up to a constant per row and path their logarithms of probability.

        Parameters
        ----------
        chosen
            Which paths of the lattice, [rows, width]. Each has been preceded, in an earlier call, by the path without
            its last token, or else its scores mean nothing.
        followed
            Whether paths that go on from these will be asked for.
        """


def number_logprobs(lattice: Lattice, branches: Branches, temperatures: Sequence[float], at_once: int) -> Logs:
    """Log-probability of every number of a range.

    Behind the paths that others go on from, level by level, and then behind all others, the model says how probably a
    number ends there. Left out are the least probable paths, whose number then counts as ended (`UNCHECKED`); a number
    of which every spelling goes on from such a path has the probability 0 (`NEGLIGIBLE`).

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
    shape = (len(temperatures), branches.rows, len(lattice.paths.ids))
    reached, ended = np.full(shape, -np.inf), np.zeros(shape)
    reached[..., 0] = 0
    rows = np.arange(branches.rows)[:, None]
    stems = [(level, NEGLIGIBLE / len(lattice.stems), True) for level in lattice.stems]
    for paths, share, followed in [*stems, (lattice.leaves, UNCHECKED, False)]:
        begun = np.logaddexp.reduce(reached[..., lattice.begins], axis=-1)
        worth = paths[_worth_a_pass(begun, reached[..., paths], share, branches.alike)]
        for start in range(0, worth.shape[1], at_once):
            chosen = worth[:, start : start + at_once]
            scores = branches.after(chosen, followed)
            ending, either = _ending(scores, lattice.continuing, temperatures)
            ended[:, rows, chosen] = ending - either
            if followed:
                _reach(lattice, reached, chosen, _chosen(scores, lattice.steps, temperatures) - either[..., None])
    total: Logs = np.logaddexp.reduceat((reached + ended)[..., lattice.spelled], lattice.first, axis=-1)
    return total


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


def _worth_a_pass(begun: Logs, reached: Logs, share: float, alike: bool) -> Places:
    """The likeliest of some paths per row, best first, as [rows, width] places along the last axis of `reached`.

    Those left out come, in every row and at every temperature, to at most `share` of what is `begun`, the probability
    that a number begins. Every row gets as many as the one that needs most; `alike`: all get the same.
    """
    highest = np.maximum(np.maximum(reached.max(-1), begun), np.finfo(float).min)[..., None]
    weights = np.exp(reached - highest)
    likeliest = weights.max(axis=(0, 1) if alike else 0)
    order = np.broadcast_to(np.argsort(-likeliest, axis=-1, kind="stable"), reached.shape[1:])
    rest = np.take_along_axis(weights, order[None], -1)[..., ::-1].cumsum(-1)[..., ::-1]  # each with all behind it
    needed = (rest > share * np.exp(begun[..., None] - highest)).any(axis=(0, 1))
    return order[:, : needed.sum()]


def _reach(lattice: Lattice, reached: Logs, chosen: Places, steps: Logs) -> None:
    """Enter with what the paths are reached that go on from `chosen` [rows, width].

    `steps` has the log-probabilities of the tokens that lead on, [temperatures, rows, width, steps].
    """
    rows = np.arange(len(chosen))[:, None]
    at = np.full((len(chosen), len(lattice.paths.ids)), -1)
    at[rows, chosen] = np.arange(chosen.shape[1])
    following = np.flatnonzero(np.isin(lattice.paths.parents, chosen))
    parents = lattice.paths.parents[following]
    columns = np.searchsorted(lattice.steps, lattice.paths.tokens[following])
    found = reached[..., parents] + steps[:, rows, at[:, parents], columns]
    reached[..., following] = np.where(at[:, parents] >= 0, found, reached[..., following])


def _ending(scores: Tensor, continuing: Sequence[int], temperatures: Sequence[float]) -> tuple[Logs, Logs]:
    """Logs of the summed weights of what ends a number, and of all tokens: [temperatures, rows, width] each.

    What ends it is summed by itself: 1 minus the rest would be rounding where the rest is nearly 1.
    """
    tokens = torch.tensor(continuing, device=scores.device)
    going_on = _summed(scores.index_select(-1, tokens), temperatures, tokens[:0])
    ending = _summed(scores, temperatures, tokens)
    return ending, np.logaddexp(going_on, ending)


def _summed(scores: Tensor, temperatures: Sequence[float], without: Tensor) -> Logs:
    """log of the sum of exp(score / temperature) over the vocabulary `without` some tokens: [temperatures, ...]."""
    flat = scores.flatten(0, -2)
    sums = flat.new_empty(len(temperatures), len(flat))
    size = max(1, (CPU_BLOCK if flat.device.type == "cpu" else ACCELERATOR_BLOCK) // flat.shape[-1])
    for start in range(0, len(flat), size):
        block = flat[start : start + size].index_fill(-1, without, -torch.inf)
        highest = block.amax(-1, keepdim=True).clamp_(min=torch.finfo(block.dtype).min)
        block -= highest
        for place, temperature in enumerate(temperatures):
            weights = (block / temperature).exp_()
            sums[place, start : start + size] = weights.sum(-1).log_() + highest[:, 0] / temperature
    return sums.unflatten(-1, scores.shape[:-1]).cpu().double().numpy()


def _chosen(scores: Tensor, tokens: Places, temperatures: Sequence[float]) -> Logs:
    """Score / temperature of some tokens: [temperatures, rows, width, tokens]."""
    # Off the device first: not every accelerator has float64.
    found = scores.index_select(-1, torch.tensor(tokens, device=scores.device)).cpu().double().numpy()
    divided: Logs = found / np.asarray(temperatures)[:, None, None, None]
    return divided
