"""Compute many token paths after every prompt in one forward pass: a tree, in which a token sees its own path only."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor
from transformers import DynamicCache

from inference.engines.exact.answer_words import TokenIds
from inference.engines.exact.lattice import Paths, Places
from inference.engines.local.continuations import Continuations, Prefix
from inference.engines.local.generation import GrowingLayer
from inference.engines.local.last_position import OnePosition, are_log_probabilities_nearly_equal


class NumberTree:
    """Next-token scores after token paths; every row has its own paths, and the prompts are computed once.

    Parameters
    ----------
    continuations
        The prompts.
    paths
        The paths that may be asked for.
    room
        Number of paths to reserve memory for after the prompts; more is reserved when it is used up.
    trees
        Whether this model takes trees (`does_tree_pass_equal_single_passes`) and keeps the keys and values of the
        prompts. If not, every path is a pass of its own.

    Notes
    -----
    A path adds one token, its last one, to the cache of its row; the other tokens of the path must be there already.
    Which place of the cache holds which path differs from row to row. Example with the paths ``1: (1,)``,
    ``2: (10,)`` and ``4: (1, 0)``; places are counted from the end of the prompt:

    1. ``score_next_tokens_after_paths([[1, 2], [2, 1]], will_continue=True)``: row 0 keeps path 1 at place 0 and path 2
       at place 1, row 1 the other way round. Each of the two tokens sees the prompt and itself.
    2. ``score_next_tokens_after_paths([[4], [4]], will_continue=False)``: the token 0 of path 4 stands at place 2 of
       both rows. It must see the token 1 of its own path, so in row 0 it sees the places 0 and 2, and in row 1 the
       places 1 and 2. Its position is the one after that token, as in a pass over this path alone. As nothing will
       follow, place 2 is freed again.
    """

    def __init__(self, continuations: Continuations, paths: Paths, room: int, trees: bool) -> None:
        self.rows, self.shares_passes = len(continuations.prompts), not trees
        self._asked = continuations
        self._paths = paths
        self._room = room
        self._cache: DynamicCache | None = None
        # [rows, paths + 1]: the place of each path in the cache of each row, -1 if it is not kept. `Paths.lines` is
        # filled up with -1, which here reads the last column: no path stands there, so that is -1 too.
        self._kept = np.full((self.rows, len(paths.ids) + 1), -1)
        self._length = 0

    def score_next_tokens_after_paths(self, path_places: Places, will_continue: bool) -> Tensor:
        """Compute next-token scores after some paths of every row.

        Parameters
        ----------
        path_places, will_continue
            As in `number_probabilities.Branches.score_next_tokens_after_paths`.

        Returns
        -------
        Float32 [rows, width, vocabulary].
        """
        if not path_places.any():
            return self._asked.compute_next_logprobs(())[:, None]
        if self.shares_passes:
            return self._score_paths_one_by_one(path_places)
        device, width = self._asked.position.device, path_places.shape[1]
        if self._cache is None:
            self._cache = DynamicCache()
            self._cache.layers = [GrowingLayer(layer, None, self._room) for layer in self._asked.cache.layers]  # type: ignore[union-attr]
        scores = self._asked.run_model.compute_logits_at_every_position(
            input_ids=torch.tensor(self._paths.tokens[path_places], device=device),
            attention_mask=self._build_attention_mask_of_paths(path_places),
            position_ids=self._asked.position[:, None]
            + torch.tensor(self._paths.lengths[path_places] - 1, device=device),
            past_key_values=self._cache,
            use_cache=True,
        )
        if will_continue:
            np.put_along_axis(self._kept, path_places, np.arange(self._length, self._length + width)[None], axis=1)
            self._length += width
        else:
            self._cache.crop(-width)
        return scores

    def _score_paths_one_by_one(self, path_places: Places) -> Tensor:
        """Compute the scores with a pass for every path that any row asks for."""
        scores: Tensor | None = None
        for path in np.unique(path_places).tolist():
            log_softmax = self._asked.compute_next_logprobs(self._paths.ids[path])
            if scores is None:
                scores = log_softmax.new_empty(*path_places.shape, log_softmax.shape[-1])
            rows, places = (
                torch.from_numpy(indices).to(log_softmax.device) for indices in np.nonzero(path_places == path)
            )
            scores[rows, places] = log_softmax[rows]
        assert scores is not None
        return scores

    def _build_attention_mask_of_paths(self, path_places: Places) -> Tensor:
        """Build what is added to attention, [rows, 1, width, places]: a path sees its prompt and its own tokens."""
        token_mask, model = self._asked.token_mask, self._asked.run_model.model
        width = path_places.shape[1]
        kept_places = self._kept[np.arange(self.rows)[:, None, None], self._paths.lines[path_places]]
        # The place -1 ("not kept") is the last one: one more than needed, and cut off below.
        own_places = np.zeros((*path_places.shape, self._length + width + 1), dtype=bool)
        np.put_along_axis(own_places, kept_places, True, axis=-1)
        own_places[:, np.arange(width), self._length + np.arange(width)] = True
        visible = torch.cat(
            [token_mask[:, None].expand(-1, width, -1), torch.from_numpy(own_places[..., :-1]).to(token_mask.device)],
            -1,
        )
        hidden = torch.finfo(model.dtype).min
        return torch.zeros(visible.shape, dtype=model.dtype, device=token_mask.device).masked_fill(~visible, hidden)[
            :, None
        ]


@torch.inference_mode()
def does_tree_pass_equal_single_passes(run_model: OnePosition) -> bool:
    """Tell whether a model that may keep keys and values gives for a tree the probabilities of single passes."""
    ids = torch.linspace(1, run_model.model.config.get_text_config().vocab_size - 1, 9).long().tolist()
    prompts = [ids[:4], [*ids[:2], *ids[4:8]]]
    a, b, c, d = ids[5:]
    paths: list[TokenIds] = [(), (d,), (c,), (d, b), (c, a), (c, b), (a,)]
    steps = [[[0], [0]], [[1, 2], [2, 1]], [[4, 3, 5], [3, 4, 5]], [[6, 5], [4, 6]]]
    results = []
    for trees in (True, False):
        tree = NumberTree(Continuations(run_model, prompts, Prefix([]), cached=True), Paths(paths), 4, trees)
        try:
            scores = [
                tree.score_next_tokens_after_paths(np.array(chosen), will_continue=len(chosen[0]) < 3)
                for chosen in steps
            ]
            results.append(torch.cat([step.log_softmax(-1) for step in scores], dim=1))
        except (RuntimeError, ValueError, TypeError, IndexError):
            return False  # this model makes its attention mask itself
    return are_log_probabilities_nearly_equal(results[0], results[1], run_model.model.dtype)
