"""Compute next-token probabilities along the answers of every prompt in few passes; each prompt has answers of its own.

An answer of several tokens is read token by token: behind each of its beginnings the model tells how probable the next
token is. All beginnings of a prompt's answers follow it as a tree, in which a token sees its prompt and its own
beginning only (`families`). A model that takes no trees gets each branch of it as a row of its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby, zip_longest

import torch
from torch import Tensor

from inference.engines.exact.answer_words import TokenIds
from inference.engines.exact.option_tree import Node
from inference.engines.exact.targets import Target, WholeVocabulary, rescale_to_temperature
from inference.engines.local.batching import Family, Room, partition_into_batches
from inference.engines.local.continuations import Continuations
from inference.engines.local.families import pack_families


@dataclass(frozen=True, slots=True)
class Budget:
    """How much may be computed in one pass.

    Attributes
    ----------
    tokens
        Tokens of all branches together, padding included.
    branches
        Branches.
    tree
        Tokens of one tree; 0: every branch is a row of its own.
    """

    tokens: int
    branches: int
    tree: int


@dataclass(frozen=True, slots=True)
class Branch:
    """A beginning of answers behind a prompt that no other one continues.

    Attributes
    ----------
    prompt
        Place of the prompt in the batch.
    nodes
        The beginnings that lie on this branch and on none before it, the whole branch last.
    """

    prompt: int
    nodes: tuple[Node, ...]

    @property
    def ids(self) -> list[int]:
        """The token ids of the whole branch."""
        return list(self.nodes[-1].path)


def list_branches(prompt_place: int, tree: Node) -> list[Branch]:
    """List the branches behind a prompt in alphabetical order of their ids, which shares most of a row.

    Parameters
    ----------
    prompt_place
        Place of the prompt in the batch.
    tree
        The token sequences of its answers (`option_tree.build_option_tree`).

    Returns
    -------
    One branch for every beginning that no other one continues.

    Examples
    --------
    The answers have the ids 1 2 3, 1 4 5 and 6. Their beginnings are 1, 1 2 and 1 4; behind 6 nothing is read:

    >>> from inference.engines.exact.option_tree import build_option_tree
    >>> [[node.path for node in branch.nodes] for branch in list_branches(0,
    ...     build_option_tree([[(1, 2, 3)], [(1, 4, 5)], [(6,)]]))]
    [[(1,), (1, 2)], [(1, 4)]]
    """
    nodes = sorted((node for node in tree.list_inner_nodes() if node.path), key=lambda node: node.path)
    leaf_branches: list[Branch] = []
    before: list[Node] = []
    for node, following in zip_longest(nodes, nodes[1:]):
        before.append(node)
        if following is None or following.path[: len(node.path)] != node.path:
            leaf_branches.append(Branch(prompt_place, tuple(before)))
            before = []
    return leaf_branches


class AnswerPaths:
    """The tokens that follow the prompts of a batch and the beginnings of their answers (`targets.NextTokens`).

    Parameters
    ----------
    continuations
        The prompts.
    targets
        The answers of each.
    temperatures
        They divide the logits of every step.
    budget
        How much may be computed in one pass.
    """

    def __init__(
        self, continuations: Continuations, targets: Sequence[Target], temperatures: Sequence[float], budget: Budget
    ) -> None:
        self._asked, self._targets, self._temperatures, self._budget = continuations, targets, temperatures, budget
        self._first = WholeVocabulary(continuations.compute_next_logprobs)
        # Log-probabilities [temperatures, tokens that go on], by prompt and beginning.
        self._found: dict[tuple[int, TokenIds], Tensor] = {}

    def likeliest(self) -> list[int]:
        """See `NextTokens`."""
        return self._first.likeliest()

    def logprobs(
        self, rows: Sequence[int], path: TokenIds, tokens: Sequence[int], temperatures: Sequence[float]
    ) -> Tensor:
        """Compute log-probabilities after a beginning of answers; the first call with a beginning computes all of them.

        Parameters
        ----------
        rows, path, tokens, temperatures
            As in `NextTokens.logprobs`; behind a beginning, `tokens` are those that go on there.

        Returns
        -------
        Tensor [temperatures x rows, tokens].
        """
        if not path:
            return self._first.logprobs(rows, path, tokens, temperatures)
        if not self._found:
            self._compute_branches()
        # [temperatures, rows, tokens], so that all rows at the first temperature come first.
        return torch.stack([self._found[row, path] for row in rows], dim=1).flatten(0, 1)

    def _compute_branches(self) -> None:
        """Compute the log-probabilities along the answers of all prompts, in as few passes as the budget allows."""
        all_branches = [
            branch for prompt, target in enumerate(self._targets) for branch in list_branches(prompt, target.tree)
        ]
        rows = _join_branches(all_branches, self._budget.tree)
        row_of = {place: number for number, row in enumerate(rows) for place in row.members}
        for part in partition_into_batches(rows, Room(self._budget.tokens, self._budget.branches)):
            self._run_pass([[all_branches[place] for place in row] for _, row in groupby(part, row_of.__getitem__)])

    def _run_pass(self, branch_rows: Sequence[Sequence[Branch]]) -> None:
        """Compute the branches of some rows in one pass, and keep the log-probabilities of the tokens that go on."""
        all_branches = [branch for row in branch_rows for branch in row]
        numbers = iter(range(len(all_branches)))
        packed = pack_families([branch.ids for branch in all_branches],
                               [[next(numbers) for _ in row] for row in branch_rows],
                      self._asked.run_model.model.device)  # fmt: skip
        read = [(number, branch.prompt, node) for number, branch in enumerate(all_branches) for node in branch.nodes]
        log_softmax = self._asked.run_branches(
            packed,
            [row[0].prompt for row in branch_rows],
            [(number, len(node.path) - 1) for number, _, node in read],
            trees=self._budget.tree > 0,
        )
        # A beginning may go on with several tokens. Example: if the first one read goes on with the tokens 7 and 9 and
        # the second with 4, `at` is [0, 0, 1] and `tokens` [7, 9, 4].
        sizes = [len(node.children) for _, _, node in read]
        at = torch.arange(len(read)).repeat_interleave(torch.tensor(sizes)).to(log_softmax.device)
        tokens = torch.tensor([token for _, _, node in read for token in node.children], device=log_softmax.device)
        logprobs = torch.stack([rescale_to_temperature(log_softmax, t)[at, tokens] for t in self._temperatures]).cpu()
        for (_, prompt, node), part in zip(read, logprobs.split(sizes, dim=1), strict=True):
            self._found[prompt, node.path] = part


def _join_branches(all_branches: Sequence[Branch], max_tokens: int) -> list[Family]:
    """Join the branches behind each prompt in rows of at most `max_tokens` tokens; a branch alone may exceed it."""
    rows: list[Family] = []
    for place, branch in enumerate(all_branches):
        joins = (
            place
            and all_branches[place - 1].prompt == branch.prompt
            and rows[-1].tokens + len(branch.nodes) <= max_tokens
        )
        if joins:
            rows[-1].members.append(place)
            rows[-1].tokens += len(branch.nodes)
        else:
            rows.append(Family([place], len(branch.ids)))
    return rows
