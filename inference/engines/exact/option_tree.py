"""Compute the exact probability of options that are sets of token sequences.

All sequences of all options form one tree. A sequence's probability is the product of the next-token probabilities
along its path, each under the full-vocabulary softmax. If a sequence ends at a node where another option goes on ("1"
and "10"), it counts only as far as the answer ends there: it is multiplied by 1 minus the sum of the probabilities of
the node's children.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

import torch

from inference.engines.exact.answer_words import TokenIds

# Log-probabilities [rows, tokens] of some tokens after the prompts and a path, under the full-vocabulary softmax.
NextToken = Callable[[TokenIds, Sequence[int]], torch.Tensor]

# A subtree is left out of a batch only if its whole probability is below this share of every option it could add to.
NEGLIGIBLE = 1e-9


@dataclass(slots=True)
class Node:
    """A path of tokens after the prompt: `owner` is the option that ends here, `options` are those here and below."""

    path: TokenIds = ()
    owner: int | None = None
    options: set[int] = field(default_factory=set)
    children: dict[int, Node] = field(default_factory=dict)

    def list_inner_nodes(self) -> Iterator[Node]:
        """List this node and those below it that have children: behind each, next-token probabilities are read."""
        if self.children:
            yield self
            for child in self.children.values():
                yield from child.list_inner_nodes()


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
    _prune_redundant_children(root)
    return root


def compute_option_logprobs(root: Node, n_options: int, read_next_logprobs: NextToken) -> torch.Tensor:
    """Compute the log-probability of every option in every row of a batch.

    Parameters
    ----------
    root
        The tree of `build_option_tree`.
    n_options
        Number of options.
    read_next_logprobs
        Called once for every inner node with the tokens of its children, parents before children.

    Returns
    -------
    Tensor [rows, n_options], float64, on the CPU; NaN in rows where a log-probability on the way is no number.
    """
    first = read_next_logprobs((), list(root.children))
    total = torch.full((first.shape[0], n_options), -math.inf, dtype=torch.float64)
    broken = torch.zeros(first.shape[0], dtype=torch.bool)
    threshold = math.log(NEGLIGIBLE / max(1, sum(1 for _ in root.list_inner_nodes())))

    def add_option_logprob(option: int, logprob: torch.Tensor) -> None:
        total[:, option] = torch.logaddexp(total[:, option], logprob)

    def visit_node(node: Node, reached: torch.Tensor, conditional: torch.Tensor) -> None:
        # Off the device first: not every accelerator has float64.
        conditional = conditional.cpu().double()
        broken.logical_or_(conditional.isnan().any(-1))
        if node.owner is not None:
            add_option_logprob(node.owner, reached + _compute_log_complement(conditional))
        inner = []
        for column, child in enumerate(node.children.values()):
            logprob = reached + conditional[:, column]
            if child.children:
                inner.append((child, logprob))
            elif child.owner is not None:
                add_option_logprob(child.owner, logprob)
        # The most probable first, so that what it adds can make the others negligible.
        for child, logprob in sorted(inner, key=lambda pair: -float(pair[1].max())):
            if (logprob[:, None] > threshold + total[:, sorted(child.options)]).any():
                visit_node(child, logprob, read_next_logprobs(child.path, list(child.children)))

    visit_node(root, torch.zeros(first.shape[0], dtype=torch.float64), first)
    total[broken] = math.nan
    return total


def _prune_redundant_children(node: Node) -> None:
    """Remove sequences that begin with a shorter one of the same option: the shorter one counts them already.

    They stay if another option continues the shorter one, too: then the place where an answer ends matters.
    """
    if node.owner is not None and node.options == {node.owner}:
        node.children.clear()
    for child in node.children.values():
        _prune_redundant_children(child)


def _compute_log_complement(logprobs: torch.Tensor) -> torch.Tensor:
    """Compute log(1 - sum of probabilities) along the last axis."""
    return torch.log1p(-logprobs.logsumexp(-1).exp().clamp(max=1.0))
