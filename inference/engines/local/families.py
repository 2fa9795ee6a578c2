"""Compute what prompts share once: a family, prompts that begin alike, is one row in which a token sees its own prompt.

Example: the prompts ``a b c`` and ``a b d e`` become the row ``a b c d e``. The token ``d`` has position 2, as ``c``
has, and sees ``a``, ``b`` and itself. Prompts in alphabetical order of their ids make the shortest rows: then a row is
a tree, whatever the depth at which its prompts part, and every branch of it is computed once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from inference.engines.local.engine import pad_rows_right_and_count_lengths
from inference.engines.rows import find_common_prefix


@dataclass(frozen=True, slots=True)
class PackedRows:
    """Prompts as rows of tokens, a family a row.

    Attributes
    ----------
    ids, positions
        [families, tokens]: token ids, and how many tokens come before each in its prompt.
    ends
        [families, tokens]: the place behind the last token that sees this one. A token is seen by itself and by all
        that continue it; they stand between it and this place.
    family
        [prompts]: the row of each prompt.
    paths, lengths
        [prompts, longest]: the places of its tokens in that row, the last one repeated; [prompts]: how many there are.
    """

    ids: Tensor
    positions: Tensor
    ends: Tensor
    family: Tensor
    paths: Tensor
    lengths: Tensor

    @property
    def has_joined_prompts(self) -> bool:
        """Whether any row is more than one prompt."""
        return len(self.ids) < len(self.family)

    @property
    def last_token_places(self) -> Tensor:
        """The place of the last token of each prompt in its row, [prompts]."""
        return self.paths[torch.arange(len(self.paths), device=self.paths.device), self.lengths - 1]

    def build_attention_mask(self, visible_before: Tensor, dtype: torch.dtype) -> Tensor:
        """Build what is added to attention: a token sees its own prompt only.

        Parameters
        ----------
        visible_before
            Which of the places before its row every token of a family sees, bool [families, before].
        dtype
            That of the model.

        Returns
        -------
        Tensor [families, 1, tokens, before + tokens]: 0 where a token sees a place, else the lowest number of `dtype`.
        """
        places = torch.arange(self.ids.shape[1], device=self.ids.device)
        query_place, key_place = places[None, :, None], places[None, None, :]
        hidden = (key_place > query_place) | (query_place >= self.ends[:, None, :])
        hidden = torch.cat([~visible_before[:, None].expand(-1, len(places), -1), hidden], dim=-1)
        mask = torch.zeros(hidden.shape, dtype=dtype, device=hidden.device)
        return mask.masked_fill_(hidden, torch.finfo(dtype).min)[:, None]


def pack_prompt_families_into_rows(
    prompts: Sequence[list[int]], families: Sequence[Sequence[int]], device: torch.device
) -> PackedRows:
    """Write every family of prompts as one row of tokens.

    Parameters
    ----------
    prompts
        Token ids of each.
    families
        Places in `prompts`, every place once and in order.
    device
        Where the tensors are put.

    Returns
    -------
    The rows, the shorter ones filled up on the right.

    Examples
    --------
    The example above, and a prompt of its own:

    >>> packed = pack_prompt_families_into_rows([[1, 2, 3], [1, 2, 4, 5], [6]], [[0, 1], [2]], torch.device("cpu"))
    >>> packed.ids[0].tolist(), packed.positions[0].tolist(), packed.ends[0].tolist()
    ([1, 2, 3, 4, 5], [0, 1, 2, 2, 3], [5, 5, 3, 5, 5])
    >>> packed.family.tolist(), packed.last_token_places.tolist()
    ([0, 0, 1], [2, 4, 0])
    """
    if len(families) == len(prompts):
        return _pack_each_prompt_as_row(prompts, device)
    rows = [_pack_prompt_family_into_row([prompts[place] for place in family]) for family in families]
    ids, _ = pad_rows_right_and_count_lengths([row[0] for row in rows], device)
    positions, _ = pad_rows_right_and_count_lengths([row[1] for row in rows], device)
    ends, _ = pad_rows_right_and_count_lengths([row[2] for row in rows], device, ids.shape[1])
    paths, lengths = pad_rows_right_and_count_lengths([path for row in rows for path in row[3]], device)
    family = [number for number, members in enumerate(families) for _ in members]
    return PackedRows(ids, positions, ends, torch.tensor(family, device=device), paths, lengths)


def _pack_each_prompt_as_row(prompts: Sequence[list[int]], device: torch.device) -> PackedRows:
    """Write every prompt as a row of its own."""
    ids, lengths = pad_rows_right_and_count_lengths(prompts, device)
    places = torch.arange(ids.shape[1], device=device).expand_as(ids)
    paths = places.minimum(lengths[:, None] - 1)
    ends = torch.where(places < lengths[:, None], lengths[:, None], ids.shape[1])
    return PackedRows(ids, paths, ends, torch.arange(len(ids), device=device), paths, lengths)


def _pack_prompt_family_into_row(
    prompts: Sequence[list[int]],
) -> tuple[list[int], list[int], list[int], list[list[int]]]:
    """Write one family as a row: its ids, positions and ends, and per prompt the places of its tokens."""
    ids: list[int] = []
    positions: list[int] = []
    ends: list[int] = []
    paths: list[list[int]] = []
    before: list[int] = []
    path: list[int] = []
    for prompt in prompts:
        common = len(find_common_prefix(before, prompt))
        # Example: after "a b c" comes "a b d e", with 2 tokens in common. "c" at place 2 ends at place 3, as no later
        # token sees it; "d" and "e" get the places 3 and 4, so the path of this prompt is [0, 1, 3, 4].
        for place in path[common:]:
            ends[place] = len(ids)
        path = [*path[:common], *range(len(ids), len(ids) + len(prompt) - common)]
        ids += prompt[common:]
        positions += range(common, len(prompt))
        ends += [0] * (len(prompt) - common)
        paths.append(path)
        before = prompt
    for place in path:
        ends[place] = len(ids)
    return ids, positions, ends, paths
