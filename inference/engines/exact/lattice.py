"""List the token paths that spell the whole numbers of a range, for every way in which a tokenizer can write them.

A number is spelled by its digits ("-" before them where it is negative), right after the prompt or after one space. A
tokenizer may have several tokens for that ("1" and "0", "10", " 10", a byte): all paths count, since a model may write
any of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from ground.errors import InputError
from inference.engines.exact.answer_words import TokenIds
from inference.stimuli.numbers import does_text_continue_number

Places = NDArray[np.intp]


@dataclass(frozen=True, slots=True, eq=False)
class Node:
    """A path of tokens after the prompt, the text that it writes, and the index of the number that this text spells."""

    path: TokenIds
    text: str
    number: int | None
    children: list[Node] = field(default_factory=list)


class Paths:
    """Token paths in arrays: the empty path first, and every path after the path without its last token.

    Attributes
    ----------
    ids
        The paths. The index of a path in this tuple is its place; the arrays hold places.
    lines
        [paths, tokens of the longest]: the places of the paths that lead to each path, from its first token to itself,
        filled up with -1.
    parents, lengths, tokens
        [paths]: the place of the path without its last token, the number of tokens, and the last token; -1, 0 and -1
        for the empty path.

    Examples
    --------
    The path (1, 0) has place 2. The path (1,) at place 1 leads to it:

    >>> paths = Paths([(), (1,), (1, 0)])
    >>> paths.lines.tolist()
    [[-1, -1], [1, -1], [1, 2]]
    >>> paths.parents.tolist(), paths.lengths.tolist(), paths.tokens.tolist()
    ([-1, 0, 1], [0, 1, 2], [-1, 1, 0])
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
        What each token of the vocabulary writes after other text.

    Attributes
    ----------
    paths
        The paths, the shortest first.
    depth
        Tokens of the longest path.
    stems, leaves
        Places of the paths that other paths continue, one array per length, and of all other paths.
    begins
        Places of the paths whose last token writes the first digit. The sum of their probabilities is the probability
        that a number begins.
    spelled, first
        Places of the paths that spell a number, the lowest number first, and where in `spelled` each number begins.
    steps, continuing
        Ids of the tokens that lead from one path to the next, in order, and of those that continue a number.

    Raises
    ------
    InputError
        The tokenizer cannot write a number of the range.

    Examples
    --------
    Tokens 0 to 9 write their own digit and token 10 writes "10". These paths spell 9, 10 and 11, or begin to:

    >>> lattice = Lattice(range(9, 12), [*"0123456789", "10"])
    >>> lattice.paths.ids
    ((), (1,), (10,), (9,), (1, 0), (1, 1))

    Place 3 spells 9; places 2 and 4 spell 10; place 5 spells 11:

    >>> lattice.spelled.tolist(), lattice.first.tolist()
    ([3, 2, 4, 5], [0, 1, 3])

    Other paths continue the empty path and "1". A number begins with "1", "10" or "9":

    >>> [stems.tolist() for stems in lattice.stems], lattice.leaves.tolist(), lattice.begins.tolist()
    ([[0], [1]], [2, 3, 4, 5], [1, 2, 3])
    """

    def __init__(self, numbers: range, texts: Sequence[str]) -> None:
        self.numbers = numbers
        self.continuing = [token for token, text in enumerate(texts) if does_text_continue_number(text)]
        indices = {str(number): index for index, number in enumerate(numbers)}
        self._index = indices | {f" {text}": index for text, index in indices.items()}
        beginnings = {text[:end] for text in self._index for end in range(1, len(text) + 1)}
        parts = {text[start:] for text in beginnings for start in range(len(text))}
        self._tokens: dict[str, list[int]] = {}
        for token, text in enumerate(texts):
            if text in parts:
                self._tokens.setdefault(text, []).append(token)
        # Sorted, because the order of a set of texts differs from one process to the next.
        ordered = sorted(beginnings)
        self._longer = {text: [more for more in ordered if more.startswith(text)] for text in ("", *ordered)}
        self._nodes = [self._build_node_with_descendants((), "")]
        for node in self._nodes:
            self._nodes += node.children
        self._put_nodes_into_arrays()

    def list_number_spellings(self) -> tuple[tuple[tuple[str, TokenIds], ...], ...]:
        """List the spellings of every number, as text and token ids."""
        spelled: list[list[tuple[str, TokenIds]]] = [[] for _ in self.numbers]
        for node in self._nodes:
            if node.number is not None:
                spelled[node.number].append((node.text, node.path))
        return tuple(map(tuple, spelled))

    def _build_node_with_descendants(self, path: TokenIds, text: str) -> Node:
        """Build the node of a path with all nodes below it that lead to a number."""
        longer = (
            self._build_node_with_descendants((*path, token), more)
            for more in self._longer[text]
            if more != text
            for token in self._tokens.get(more[len(text) :], ())
        )
        children = [node for node in longer if node.number is not None or node.children]  # no dead ends
        return Node(path, text, self._index.get(text), children)

    def _put_nodes_into_arrays(self) -> None:
        """Put the nodes into arrays of places."""
        self.paths = Paths([node.path for node in self._nodes])
        self.depth = int(self.paths.lengths.max())
        numbers = np.array([len(self.numbers) if node.number is None else node.number for node in self._nodes])
        goes_on = np.array([bool(node.children) for node in self._nodes])
        self.leaves = np.flatnonzero(~goes_on)
        self.stems = [np.flatnonzero(goes_on & (self.paths.lengths == n)) for n in range(self.depth)]
        # A path begins a number if its text has a digit and its parent's has none: " -1" after " -".
        digits = np.array([bool(node.text.strip(" -")) for node in self._nodes])
        self.begins = np.flatnonzero(digits & ~digits[self.paths.parents])
        self.steps = np.unique(self.paths.tokens[1:])
        # In the example of the class, `numbers` is [3, 3, 1, 0, 1, 2] (3: spells none). Sorted, the places are 3, 2, 4,
        # 5, 0, 1, and the first four of them spell 9, 10, 10 and 11: each number begins at 0, 1 and 3.
        self.spelled = np.argsort(numbers, kind="stable")[: (numbers < len(self.numbers)).sum()]
        spelled_numbers, self.first = np.unique(numbers[self.spelled], return_index=True)
        unwritten = next((n for place, n in enumerate(self.numbers) if place not in spelled_numbers), None)
        if unwritten is not None:
            raise InputError(f"the tokens of this model cannot write the number {unwritten}: choose another range")
