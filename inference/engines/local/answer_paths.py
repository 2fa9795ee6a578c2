"""Compute next-token probabilities along the answers of every prompt in few passes; each prompt has answers of its own.

An answer of several tokens is read token by token: behind each of its beginnings the model tells how probable the next
token is. The beginnings that can matter (`followed_paths`) follow their prompts in a few passes (`answer_trees`). A
model that cannot keep their keys and values gets all of what goes on behind a beginning at once: as a tree, in which a
token sees its prompt and its own beginning only (`families`), or, if it takes no trees, each branch as its own row.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby, zip_longest

import numpy as np
import torch
from torch import Tensor

from inference.engines.exact.answer_words import TokenIds
from inference.engines.exact.followed_paths import Beginning, Logs
from inference.engines.exact.option_tree import Node
from inference.engines.exact.targets import WholeVocabulary, rescale_to_temperature
from inference.engines.local.answer_trees import AnswerTrees, Asked
from inference.engines.local.batching import Family, Room, partition_into_batches
from inference.engines.local.continuations import Continuations
from inference.engines.local.families import pack_prompt_families_into_rows

# If the beginnings to be read and those behind them are at most so many for each one to be read, one pass reads all.
FEW = 2
# A pass reads all weights, however few tokens it has. This one reads all that is left and, as a rule, is the last.
LAST_PASS = 4


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
    kept
        Whether keys and values of beginnings may be kept behind those of their prompts.
    """

    tokens: int
    branches: int
    tree: int
    kept: bool = False


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


def list_answer_branches(prompt_place: int, tree: Node) -> list[Branch]:
    """List the branches behind a prompt in alphabetical order of their ids, which shares most of a row.

    Parameters
    ----------
    prompt_place
        Place of the prompt in the batch.
    tree
        The token sequences of its answers (`option_tree.build_option_tree`), or a node of them.

    Returns
    -------
    One branch for every beginning that no other one continues.

    Examples
    --------
    The answers have the ids 1 2 3, 1 4 5 and 6. Their beginnings are 1, 1 2 and 1 4; behind 6 nothing is read:

    >>> from inference.engines.exact.option_tree import build_option_tree
    >>> [[node.path for node in branch.nodes] for branch in list_answer_branches(0,
    ...     build_option_tree([[(1, 2, 3)], [(1, 4, 5)], [(6,)]]))]
    [[(1,), (1, 2)], [(1, 4)]]
    """
    nodes = sorted((node for node in tree.iterate_nodes_with_children() if node.path), key=lambda node: node.path)
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
    trees
        The token sequences of the answers of each.
    temperatures
        They divide the logits of every step.
    budget
        How much may be computed in one pass.
    """

    def __init__(
        self, continuations: Continuations, trees: Sequence[Node], temperatures: Sequence[float], budget: Budget
    ) -> None:
        self._asked, self._answers, self._temperatures, self._budget = continuations, trees, temperatures, budget
        self._first = WholeVocabulary(continuations.compute_next_logprobs)
        self._trees = AnswerTrees(continuations, budget.tokens, budget.branches) if budget.kept else None
        self._n_passes = 0
        # Log-probabilities [temperatures, tokens that go on], by prompt and beginning.
        self._logprobs: dict[tuple[int, TokenIds], Logs] = {}

    def find_most_probable_first_token_per_row(self) -> list[int]:
        """See `NextTokens`."""
        return self._first.find_most_probable_first_token_per_row()

    def compute_first_token_logprobs(
        self, rows: Sequence[int], tokens: Sequence[int], temperatures: Sequence[float]
    ) -> Tensor:
        """See `NextTokens`."""
        return self._first.compute_first_token_logprobs(rows, tokens, temperatures)

    def compute_continuation_logprobs(self, beginnings: Sequence[Beginning], temperatures: Sequence[float]) -> Logs:
        """Compute log-probabilities behind beginnings of answers, with few passes for all rows and temperatures.

        Parameters
        ----------
        beginnings, temperatures
            As in `NextTokens.compute_continuation_logprobs`.

        Returns
        -------
        Array [children of all nodes].
        """
        new = [beginning for beginning in beginnings if (beginning.row, beginning.node.path) not in self._logprobs]
        if new and self._trees is None:
            self._compute_and_store_logprobs_after_nodes({(row, node.path): node for _, row, node, _ in new})
        elif new and self._trees is not None:
            for asked, log_softmax in self._trees.iterate_beginnings_and_log_softmax_by_pass(
                self._choose_nodes_to_read_by_prompt(new)
            ):
                self._store_logprobs_after_beginnings(asked, log_softmax)
        return np.concatenate([self._logprobs[row, node.path][place] for place, row, node, _ in beginnings])

    def _choose_nodes_to_read_by_prompt(self, new: Sequence[Beginning]) -> dict[int, list[Node]]:
        """Add to beginnings some that later calls will ask for: place of a prompt -> beginnings, parents first.

        Most paths that do not matter fall off with their second token. So the first pass reads one token of each but
        for those that are likely to matter, and later passes read on to the ends.
        """
        self._n_passes += 1
        if self._n_passes == LAST_PASS:
            return {
                row: [node for node in self._answers[row].iterate_nodes_with_children()
                      if node.path and (row, node.path) not in self._logprobs]
                for row in dict.fromkeys(beginning.row for beginning in new)
            }  # fmt: skip
        few = sum(node.n_inner for _, _, node, _ in new) <= FEW * len(new)
        nodes_by_prompt: dict[int, dict[TokenIds, Node]] = {}
        for _, row, node, is_likely in new:
            whole = few or is_likely or self._n_passes > 1
            nodes = node.iterate_nodes_with_children() if whole else (node,)
            nodes_by_prompt.setdefault(row, {}).update((ahead.path, ahead) for ahead in nodes)
        return {row: list(nodes.values()) for row, nodes in nodes_by_prompt.items()}

    def _compute_and_store_logprobs_after_nodes(self, nodes: Mapping[tuple[int, TokenIds], Node]) -> None:
        """Compute all that goes on behind some beginnings, in as few passes as the budget allows."""
        all_branches = [branch for (prompt, _), node in nodes.items() for branch in list_answer_branches(prompt, node)]
        families = _group_branches_into_families(all_branches, self._budget.tree)
        family_of = {place: number for number, family in enumerate(families) for place in family.members}
        for part in partition_into_batches(families, Room(self._budget.tokens, self._budget.branches)):
            self._run_pass_and_store_branch_logprobs(
                [[all_branches[place] for place in family] for _, family in groupby(part, family_of.__getitem__)]
            )

    def _run_pass_and_store_branch_logprobs(self, branch_rows: Sequence[Sequence[Branch]]) -> None:
        """Compute the branches of some rows in one pass, and keep the log-probabilities of the tokens that go on."""
        all_branches = [branch for row in branch_rows for branch in row]
        numbers = iter(range(len(all_branches)))
        packed = pack_prompt_families_into_rows([branch.ids for branch in all_branches],
                               [[next(numbers) for _ in row] for row in branch_rows],
                      self._asked.run_model.model.device)  # fmt: skip
        read = [(number, branch.prompt, node) for number, branch in enumerate(all_branches) for node in branch.nodes]
        log_softmax = self._asked.compute_log_softmax_of_branches(
            packed,
            [row[0].prompt for row in branch_rows],
            [(number, len(node.path) - 1) for number, _, node in read],
            trees=self._budget.tree > 0,
        )
        self._store_logprobs_after_beginnings([(prompt, node) for _, prompt, node in read], log_softmax)

    def _store_logprobs_after_beginnings(self, asked: Sequence[Asked], log_softmax: Tensor) -> None:
        """Keep the log-probabilities of the tokens that go on behind beginnings, of all that `log_softmax` holds."""
        # A beginning may go on with several tokens. Example: if the first one read goes on with the tokens 7 and 9 and
        # the second with 4, `at` is [0, 0, 1] and `tokens` [7, 9, 4].
        sizes = [len(node.children) for _, node in asked]
        at = torch.arange(len(asked)).repeat_interleave(torch.tensor(sizes)).to(log_softmax.device)
        tokens = torch.tensor([token for _, node in asked for token in node.children], device=log_softmax.device)
        logprobs = torch.stack([rescale_to_temperature(log_softmax, t)[at, tokens] for t in self._temperatures])
        # Off the device first: not every accelerator has float64.
        parts = np.split(logprobs.cpu().double().numpy(), np.cumsum(sizes)[:-1], axis=1)
        self._logprobs |= {(prompt, node.path): part for (prompt, node), part in zip(asked, parts, strict=True)}


def _group_branches_into_families(all_branches: Sequence[Branch], max_tokens: int) -> list[Family]:
    """Join the branches behind each prompt in rows of at most `max_tokens` tokens; a branch alone may exceed it."""
    families: list[Family] = []
    for place, branch in enumerate(all_branches):
        joins = (
            place
            and all_branches[place - 1].prompt == branch.prompt
            and families[-1].tokens + len(branch.nodes) <= max_tokens
        )
        if joins:
            families[-1].members.append(place)
            families[-1].tokens += len(branch.nodes)
        else:
            families.append(Family([place], len(branch.ids)))
    return families
