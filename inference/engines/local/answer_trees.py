"""Follow beginnings of answers behind many prompts in passes; a pass has only the prompts that still need one.

Every beginning adds one token, its last, behind its prompt, and sees the prompt and the tokens of its own path, whose
keys and values are kept. Where they stand differs from prompt to prompt. Example: prompt 0 follows the paths (5,) and
(7,), then (5, 6); prompt 1 only (7,). The first pass has two rows: the tokens 5 and 7 stand at the places 0 and 1
behind prompt 0, and 7 at place 0 behind prompt 1. The second pass has prompt 0 alone: 6 stands at place 1, since
nothing goes on behind 7, and sees place 0.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor
from transformers import DynamicCache
from transformers.cache_utils import DynamicLayer

from inference.engines.exact.answer_words import TokenIds
from inference.engines.exact.option_tree import Node
from inference.engines.local.batching import Family, Room, partition_into_batches
from inference.engines.local.continuations import Continuations

Asked = tuple[int, Node]

# Share of the tokens of the longest row that every row of a pass has at least: the rest is padding.
LEAST_FILLED = 0.2


class KeptLayer(DynamicLayer):
    """Keys and values of one layer: those of the prompts, and apart from them those of the beginnings followed so far.

    So every prompt takes memory for its own beginnings only, however many another one has. Every beginning has a
    number from 1 on; the number 0 fills up places that nobody sees.
    """

    def __init__(self, layer: Any) -> None:
        super().__init__()
        self.lazy_initialization(layer.keys, layer.values)
        self._prompt_states = layer.keys, layer.values
        self._followed_states = [states.new_zeros(1, *states.shape[1::2]) for states in self._prompt_states]
        self._rows: Tensor | None = None
        self._shown = self._kept = torch.zeros(0)
        self._n_before = 0

    def set_visible_and_kept_places(self, rows: Tensor | None, shown: Tensor, kept: Tensor, n_before: int) -> None:
        """Say what the next pass sees, and what is kept of it.

        Parameters
        ----------
        rows
            The prompts that the pass has; None: all, in order.
        shown
            [rows, places]: the number of the beginning at each place behind a prompt. Here the tokens of the pass have
            the numbers that come next, those of the first row first.
        kept
            By these numbers, the tokens of the pass that are kept; they are renumbered without gaps.
        n_before
            Places before those of the pass: models ask for it.
        """
        self._rows, self._shown, self._kept, self._n_before = rows, shown, kept, n_before

    def get_seq_length(self) -> int:
        """Count the places before those of the pass.

        Returns
        -------
        Their number.
        """
        return self._n_before

    def update(self, key_states: Tensor, value_states: Tensor, *args: Any, **kwargs: Any) -> tuple[Tensor, Tensor]:
        """Lay side by side what a pass sees, and keep what later ones will see of it.

        Parameters
        ----------
        key_states, value_states
            Those of the pass, [rows, heads, tokens, features].

        Returns
        -------
        All keys and all values that the pass sees, [rows, heads, places, features].
        """
        seen = []
        for place, new in enumerate((key_states, value_states)):
            followed = torch.cat([self._followed_states[place], new.transpose(1, 2).flatten(0, 1)])
            prompts = self._prompt_states[place] if self._rows is None else self._prompt_states[place][self._rows]
            seen.append(torch.cat([prompts, followed[self._shown].transpose(1, 2)], dim=-2))
            self._followed_states[place] = torch.cat([self._followed_states[place], followed[self._kept]])
        return seen[0], seen[1]


class AnswerTrees:
    """The beginnings of answers that were followed behind the prompts of a batch.

    Parameters
    ----------
    continuations
        The prompts; their keys and values are kept, and the model must take trees
        (`number_tree.does_tree_pass_equal_single_passes`).
    max_tokens, max_rows
        Most tokens, padding included, and most prompts of a pass.
    """

    def __init__(self, continuations: Continuations, max_tokens: int, max_rows: int) -> None:
        self._asked = continuations
        self._max_tokens, self._max_rows = max_tokens, max_rows
        self._layers: list[KeptLayer] = []
        # By prompt and beginning: the places behind the prompt at which its tokens stand.
        self._path_places: dict[tuple[int, TokenIds], tuple[int, ...]] = {}
        # By prompt: the numbers of the beginnings at these places. Then how many there are, with the one that is none.
        self._numbers: list[list[int]] = [[] for _ in continuations.prompts]
        self._n_numbers = 1

    def iterate_beginnings_and_log_softmax_by_pass(
        self, nodes_by_prompt: Mapping[int, Sequence[Node]]
    ) -> Iterator[tuple[list[Asked], Tensor]]:
        """Yield, pass by pass, beginnings and the log-softmax behind them.

        Parameters
        ----------
        nodes_by_prompt
            Place of a prompt -> the beginnings, parents first. Those without the last token were given, or are given
            with it.

        Yields
        ------
        (asked, log_softmax)
            For every pass, place of the prompt and beginning, and the log-softmax [asked, vocabulary] behind each.
        """
        most = max(map(len, nodes_by_prompt.values()))
        for start in range(0, most, self._max_tokens):
            part = {prompt: nodes[start : start + self._max_tokens] for prompt, nodes in nodes_by_prompt.items()}
            families = [Family([prompt], len(nodes)) for prompt, nodes in part.items() if nodes]
            for prompts in partition_into_batches(families, Room(self._max_tokens, self._max_rows, LEAST_FILLED)):
                yield self._read_beginnings_and_log_softmax({prompt: part[prompt] for prompt in sorted(prompts)})

    def _read_beginnings_and_log_softmax(
        self, nodes_by_prompt: Mapping[int, Sequence[Node]]
    ) -> tuple[list[Asked], Tensor]:
        """Return the beginnings of some prompts, and the log-softmax behind them, from one pass."""
        prompts = list(nodes_by_prompt)
        # Those that others may continue come first: their places stay, those of the rest are free again after the pass.
        sorted_nodes = [
            sorted(nodes, key=lambda node: not node.has_inner_children) for nodes in nodes_by_prompt.values()
        ]
        width, n_kept = max(map(len, sorted_nodes)), np.array([len(self._numbers[prompt]) for prompt in prompts])
        ids, depths = (np.zeros((len(prompts), width), dtype=np.int64) for _ in range(2))
        new_numbers = self._n_numbers + np.arange(ids.size).reshape(ids.shape)
        shown = np.zeros((len(prompts), int(n_kept.max()) + width), dtype=np.int64)
        is_visible = np.zeros((len(prompts), *ids.shape[1:], shown.shape[1]), dtype=bool)
        # A token that fills a row up sees itself, so that no softmax is empty; nobody reads it.
        rows, new_places = np.arange(len(prompts))[:, None], n_kept[:, None] + np.arange(width)
        shown[rows, new_places] = new_numbers
        is_visible[rows, np.arange(width), new_places] = True
        asked: list[Asked] = []
        read: list[tuple[int, int]] = []
        kept: list[int] = []
        for row, (prompt, nodes) in enumerate(zip(prompts, sorted_nodes, strict=True)):
            shown[row, : n_kept[row]] = self._numbers[prompt]
            for column, node in enumerate(nodes):
                before = self._path_places.get((prompt, node.path[:-1]), ())
                ids[row, column], depths[row, column] = node.path[-1], len(before)
                is_visible[row, column, list(before)] = True
                if node.has_inner_children:
                    self._path_places[prompt, node.path] = (*before, len(self._numbers[prompt]))
                    self._numbers[prompt].append(self._n_numbers)
                    self._n_numbers += 1
                    kept.append(int(new_numbers[row, column]))
                asked.append((prompt, node))
                read.append((row, column))
        return asked, self._run_model_and_read_log_softmax(prompts, ids, depths, is_visible, shown, kept, read)

    def _run_model_and_read_log_softmax(
        self,
        prompts: Sequence[int],
        ids: np.ndarray,
        depths: np.ndarray,
        is_visible: np.ndarray,
        shown: np.ndarray,
        kept: Sequence[int],
        read: Sequence[tuple[int, int]],
    ) -> Tensor:
        """Run the model on [rows, tokens] behind prompts; `is_visible` [rows, tokens, places]: places behind them."""
        asked, model, device = self._asked, self._asked.run_model.model, self._asked.position.device
        at = torch.tensor(prompts, device=device)
        before = asked.token_mask[at]
        if not self._layers:
            assert asked.cache is not None
            self._layers = [KeptLayer(layer) for layer in asked.cache.layers]
        for layer in self._layers:
            layer.set_visible_and_kept_places(
                None if len(prompts) == len(asked.prompts) else at,
                torch.tensor(shown, device=device),
                torch.tensor(kept, dtype=torch.long, device=device),
                before.shape[1] + shown.shape[1] - ids.shape[1],
            )
        cache = DynamicCache()
        cache.layers = list(self._layers)
        visible = torch.cat(
            [before[:, None].expand(-1, ids.shape[1], -1), torch.tensor(is_visible, device=device)], dim=-1
        )
        row, column = torch.tensor(read, device=device).T
        return asked.run_model(
            column,
            row,
            input_ids=torch.tensor(ids, device=device),
            attention_mask=torch.zeros(visible.shape, dtype=model.dtype, device=device).masked_fill_(
                ~visible, torch.finfo(model.dtype).min
            )[:, None],
            position_ids=asked.position[at][:, None] + torch.tensor(depths, device=device),
            past_key_values=cache,
            use_cache=True,
        )
