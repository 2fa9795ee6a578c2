"""Build the tree of options that are sets of token sequences.

All sequences of all options form one tree. A sequence's probability is the product of the next-token probabilities
along its path, each under the full-vocabulary softmax. If a sequence ends at a node where another option goes on ("1"
and "10"), it counts only as far as the answer ends there: it is multiplied by 1 minus the sum of the probabilities of
the node's children. `followed_paths` computes these probabilities.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from inference.engines.exact.answer_words import TokenIds

Indices = NDArray[np.intp]


@dataclass(slots=True, eq=False)
class Node:
    """A path of tokens after the prompt: `owner` is the option that ends here, `options` are those here and below.

    `n_inner` counts the nodes with children, here and below.
    """

    path: TokenIds = ()
    owner: int | None = None
    options: set[int] = field(default_factory=set)
    children: dict[int, Node] = field(default_factory=dict)
    n_inner: int = 0

    @property
    def has_inner_children(self) -> bool:
        """Whether next-token probabilities may be read behind a path that continues this one."""
        return any(child.children for child in self.children.values())

    def iterate_nodes_with_children(self) -> Iterator[Node]:
        """List this node and those below it that have children: behind each, next-token probabilities are read."""
        if self.children:
            yield self
            for child in self.children.values():
                yield from child.iterate_nodes_with_children()


class TreeTable:
    """The inner nodes of a tree in arrays, the root first, parents before children.

    Attributes
    ----------
    nodes
        The nodes; their places here are their numbers.
    owners
        [nodes]: the option that ends at a node while others go on; -1: none.
    sizes, inner, ends
        [nodes]: how many children each has; [children], those of node 0 first: the number of the child, -1 for one
        behind which nothing is read, and the option that ends at such a child, -1 for the others.
    n_served, served
        [nodes]: to how many options a node leads; their indices, those of node 0 first.

    Examples
    --------
    The token 1 spells option 0; the tokens 1, 0 or the token 7 spell option 1. Nodes are the empty path and "1":

    >>> table = TreeTable(build_option_tree([[(1,)], [(1, 0), (7,)]]))
    >>> table.owners.tolist(), table.sizes.tolist(), table.inner.tolist(), table.ends.tolist()
    ([-1, 0], [2, 1], [1, -1, -1], [-1, 1, 1])
    >>> table.n_served.tolist(), table.served.tolist()
    ([2, 2], [0, 1, 0, 1])
    """

    def __init__(self, root: Node) -> None:
        self.nodes = list(root.iterate_nodes_with_children())
        number = {id(node): place for place, node in enumerate(self.nodes)}
        children = [child for node in self.nodes for child in node.children.values()]
        self.owners = _build_array_of_optional_indices(node.owner for node in self.nodes)
        self.sizes = _build_array_of_optional_indices(len(node.children) for node in self.nodes)
        self.inner = _build_array_of_optional_indices(number.get(id(child)) for child in children)
        self.ends = _build_array_of_optional_indices(None if child.children else child.owner for child in children)
        self.n_served = _build_array_of_optional_indices(len(node.options) for node in self.nodes)
        self.served = _build_array_of_optional_indices(option for node in self.nodes for option in sorted(node.options))


def build_option_tree(sequences: Sequence[Sequence[TokenIds]]) -> Node:
    """Build the tree of all options' token sequences; no sequence may belong to two options.

    Examples
    --------
    The token 1 spells option 0; the tokens 1, 0 or the token 7 spell option 1. Option 0 ends where option 1 goes on:

    >>> root = build_option_tree([[(1,)], [(1, 0), (7,)]])
    >>> [(node.path, node.owner, sorted(node.options)) for node in (root, *root.children.values())]
    [((), None, [0, 1]), ((1,), 0, [0, 1]), ((7,), 1, [1])]
    """
    root = Node()
    for option, paths in enumerate(sequences):
        for path in paths:
            node = root
            node.options.add(option)
            for token in path:
                node = node.children.setdefault(token, Node(path=(*node.path, token)))
                node.options.add(option)
            node.owner = option
    _prune_extensions_of_same_option(root)
    _count_and_store_inner_nodes(root)
    return root


def _prune_extensions_of_same_option(node: Node) -> None:
    """Remove sequences that begin with a shorter one of the same option: the shorter one counts them already.

    They stay if another option continues the shorter one, too: then the place where an answer ends matters.
    """
    if node.owner is not None and node.options == {node.owner}:
        node.children.clear()
    for child in node.children.values():
        _prune_extensions_of_same_option(child)


def _count_and_store_inner_nodes(node: Node) -> int:
    """Count the nodes with children, of a node and of all below it."""
    node.n_inner = sum(map(_count_and_store_inner_nodes, node.children.values())) + bool(node.children)
    return node.n_inner


def _build_array_of_optional_indices(numbers: Iterable[int | None]) -> Indices:
    """Make an array of indices, -1 for None."""
    return np.array([-1 if number is None else number for number in numbers], dtype=np.intp)
