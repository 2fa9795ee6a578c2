"""Many token paths behind every prompt in one forward pass: a tree, in which a token sees its own path only."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor
from transformers import DynamicCache

from inference.engines.continuations import Continuations, Prefix
from inference.engines.generation import Room
from inference.engines.options import TokenIds
from inference.engines.positions import OnePosition, agree


class Tree:
    """Next-token scores behind paths of one length at a time, the prompts' keys and values being computed once.

    Parameters
    ----------
    asked
        The prompts. Where it keeps no keys and values, every path is a pass of its own.
    room
        Paths that will be asked for in all.
    trees
        Whether this model takes trees (`sees_trees`). Without, every path is a pass of its own.
    """

    def __init__(self, asked: Continuations, room: int, trees: bool) -> None:
        self._asked = asked
        self._room = room
        self._trees = trees
        self._cache: DynamicCache | None = None
        self._place: dict[TokenIds, int] = {(): -1}

    def after(self, paths: Sequence[TokenIds]) -> Tensor:
        """Scores [rows, paths, vocabulary]; see `lattice.Branches`."""
        if paths[0] == ():
            return self._asked.next_token(())[:, None]
        if not self._trees or self._asked.cache is None:
            return torch.stack([self._asked.next_token(path) for path in paths], dim=1)
        if self._cache is None:
            every = torch.arange(len(self._asked.prompts), device=self._asked.position.device)
            self._cache = DynamicCache()
            self._cache.layers = [Room(layer, every, self._room) for layer in self._asked.cache.layers]
        self._place |= {path: len(self._place) - 1 + number for number, path in enumerate(paths)}
        rows, device = len(self._asked.prompts), self._asked.position.device
        positions = self._asked.position + len(paths[0]) - 1
        return self._asked.run_model.everywhere(
            input_ids=torch.tensor([path[-1] for path in paths], device=device).expand(rows, -1),
            attention_mask=self._mask(paths),
            position_ids=positions[:, None].expand(-1, len(paths)),
            past_key_values=self._cache,
            use_cache=True,
        )

    def _mask(self, paths: Sequence[TokenIds]) -> Tensor:
        """What is added to attention, [rows, 1, paths, places]: every path sees its prompt and its own tokens."""
        seen, model = self._asked.seen, self._asked.run_model.model
        own = torch.zeros(len(paths), len(self._place) - 1, dtype=torch.bool)
        for number, path in enumerate(paths):
            own[number, [self._place[path[:end]] for end in range(1, len(path) + 1)]] = True
        size = (len(seen), len(paths))
        shown = torch.cat([seen[:, None].expand(*size, -1), own.to(seen.device).expand(len(seen), -1, -1)], dim=-1)
        hidden = torch.finfo(model.dtype).min
        return torch.zeros(shown.shape, dtype=model.dtype, device=seen.device).masked_fill(~shown, hidden)[:, None]


@torch.inference_mode()
def sees_trees(run_model: OnePosition) -> bool:
    """Whether a model whose keys and values may be kept gives the probabilities of single passes for trees, too."""
    ids = torch.linspace(1, run_model.model.config.get_text_config().vocab_size - 1, 9).long().tolist()
    prompts = [ids[:4], [*ids[:2], *ids[4:8]]]
    a, b, c, d = ids[5:]
    levels: list[list[TokenIds]] = [[()], [(d,), (c,)], [(d, b), (c, a), (c, b)]]
    results = []
    for trees in (True, False):
        tree = Tree(Continuations(run_model, prompts, Prefix([]), cached=True), 5, trees)
        try:
            results.append(torch.cat([tree.after(level).log_softmax(-1) for level in levels], dim=1))
        except (RuntimeError, ValueError, TypeError, IndexError):
            return False  # it makes its attention mask by itself
    return agree(results[0], results[1], run_model.model.dtype)
