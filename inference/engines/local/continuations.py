"""Compute next-token probabilities after a batch of prompts, and after answer tokens that are forced to follow them."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Any

import torch
from torch import Tensor
from transformers import DynamicCache
from transformers.cache_utils import DynamicLayer, DynamicSlidingWindowLayer

from inference.engines.exact.answer_words import TokenIds
from inference.engines.local.batching import ALONE, Joining, join_prompts_beginning_alike
from inference.engines.local.engine import pad_rows_right_and_count_lengths
from inference.engines.local.families import PackedRows, pack_prompt_families_into_rows
from inference.engines.local.last_position import OnePosition, are_log_probabilities_nearly_equal
from inference.engines.rows import find_common_prefix

UNLIMITED = 2**31


class Prefix:
    """The token ids that all prompts begin with; their keys and values are computed once, in the first batch."""

    def __init__(self, ids: list[int]) -> None:
        self.ids = ids
        self._layers: list[tuple[Tensor, Tensor]] = []

    def build_batch_cache(self, model: Any, n_rows: int, layer_class: type[DynamicLayer]) -> DynamicCache:
        """Make a cache for a batch that holds the prefix: views of one copy, so nothing is copied here.

        Parameters
        ----------
        model
            The model, which computes the prefix the first time.
        n_rows
            Rows of the batch.
        layer_class
            Class of the layers of the cache.

        Returns
        -------
        The cache; without layers where the prefix is empty.
        """
        if self.ids and not self._layers:
            self._layers = self._compute_keys_and_values(model)
        return _build_key_value_cache(
            layer_class,
            ((keys.expand(n_rows, -1, -1, -1), values.expand(n_rows, -1, -1, -1)) for keys, values in self._layers),
        )

    def _compute_keys_and_values(self, model: Any) -> list[tuple[Tensor, Tensor]]:
        """Compute the keys and values of the prefix, per layer."""
        cache = DynamicCache()
        model.base_model(input_ids=torch.tensor([self.ids], device=model.device), past_key_values=cache, use_cache=True)
        return [(layer.keys, layer.values) for layer in cache.layers]


class NonStoringCacheLayer(DynamicLayer):
    """Keys and values of one layer for a pass that nothing follows: those that the pass computes are not kept.

    The next layer is given the same memory, which is then still in the cache of the processor core.
    """

    def update(self, key_states: Tensor, value_states: Tensor, *args: Any, **kwargs: Any) -> tuple[Tensor, Tensor]:
        """Join the keys and values of a pass to those before it, without keeping them.

        Parameters
        ----------
        key_states, value_states
            Those of the pass, [rows, heads, tokens, features].

        Returns
        -------
        All keys and all values, [rows, heads, places, features].
        """
        return torch.cat([self.keys, key_states], dim=-2), torch.cat([self.values, value_states], dim=-2)


class Continuations:
    """Next-token distributions (log-softmax) after every prompt of a batch, and after forced tokens.

    Prompts that begin alike are computed as one row (`join_prompts_beginning_alike`), and each is then given its own
    keys and values.

    Right padding without an attention mask is exact for a causal model: no token sees a later one. Forced tokens stand
    after the padding, which an attention mask then hides; their position ids continue those of each prompt. Example:
    prompts of 3 and 5 tokens are padded to 5. A forced token stands at place 5 of both rows; in the first row it has
    position 3 and does not see the places 3 and 4.

    Parameters
    ----------
    run_model
        The model.
    prompts
        Token ids per row.
    prefix
        Shared start of all rows; empty ids where nothing is shared.
    cached
        Whether keys and values may be kept between passes (`find_longest_sequence_cacheable_by_model`). Without, every
        pass computes the prompts anew.
    forced
        Whether further tokens will follow; if not, nothing is kept.
    joining
        How prompts that begin alike are joined in one row; by default every prompt is a row.

    Attributes
    ----------
    cache, token_mask, position
        The keys and values of the prompts; which places there hold a token, bool [rows, places]; the position of the
        next token, [rows]. If nothing is kept, `cache` is None and the others do not exist.
    """

    token_mask: Tensor
    position: Tensor

    def __init__(
        self,
        run_model: OnePosition,
        prompts: Sequence[list[int]],
        prefix: Prefix,
        cached: bool,
        forced: bool = True,
        joining: Joining = ALONE,
    ) -> None:
        self.run_model = run_model
        self.prompts = prompts
        self.cache: DynamicCache | None = None
        self._device = run_model.model.device
        self._prefix = prefix
        self._cached, self._forced = cached, forced
        self._joining = joining if cached else ALONE
        self._path: TokenIds = ()
        self._first: Tensor | None = None

    def compute_next_logprobs(self, path: TokenIds) -> Tensor:
        """Compute the log-softmax [rows, vocabulary] of the token after the prompts and the forced tokens `path`."""
        if not path:
            if self._first is None:
                self._first = self._compute_log_softmax_after_prompts()
            return self._first
        if self.cache is None:
            ids, lengths = pad_rows_right_and_count_lengths([[*prompt, *path] for prompt in self.prompts], self._device)
            return self.run_model(lengths - 1, input_ids=ids, use_cache=False)
        return self._rewind_cache_and_run_path(path)

    def compute_log_softmax_of_branches(
        self, branches: PackedRows, prompt_places: Sequence[int], read_places: Sequence[tuple[int, int]], trees: bool
    ) -> Tensor:
        """Compute the log-softmax behind beginnings of answers, in one pass.

        Parameters
        ----------
        branches
            Token ids that follow prompts, those of a family the same prompt.
        prompt_places
            The place of each family's prompt.
        read_places
            (branch, token): behind which tokens of which branches. Token 1 of branch 0 is its second one.
        trees
            Whether a family may be several branches; the model must take trees then.

        Returns
        -------
        Tensor [read, vocabulary].
        """
        number, token = torch.tensor(read_places, device=self._device).T
        family = branches.family[number]
        if self.cache is None:
            starts = [self.prompts[place] for place in prompt_places]
            branch_rows = zip(starts, branches.ids.tolist(), branches.lengths.tolist(), strict=True)
            ids, _ = pad_rows_right_and_count_lengths(
                [[*start, *more[:length]] for start, more, length in branch_rows], self._device
            )
            before = torch.tensor([len(start) for start in starts], device=self._device)
            return self.run_model(before[family] + token, family, input_ids=ids, use_cache=False)
        rows = torch.tensor(prompt_places, device=self._device)
        token_mask = self.token_mask[rows]
        mask = (
            branches.build_attention_mask(token_mask, self.run_model.model.dtype)
            if trees
            else torch.cat([token_mask, token_mask.new_ones(branches.ids.shape)], dim=1).long()
        )
        every = list(prompt_places) == list(range(len(self.prompts)))
        return self.run_model(
            branches.paths[number, token],
            family,
            input_ids=branches.ids,
            attention_mask=mask,
            position_ids=self.position[rows][:, None] + branches.positions,
            past_key_values=_build_key_value_cache(
                NonStoringCacheLayer,
                (
                    (layer.keys, layer.values) if every else (layer.keys[rows], layer.values[rows])
                    for layer in self.cache.layers
                ),
            ),
            use_cache=True,
        )

    def _compute_log_softmax_after_prompts(self) -> Tensor:
        """Compute the log-softmax of the token after every prompt; keep the cache where tokens will follow."""
        shared = len(self._prefix.ids)
        packed = self._pack_prompts([prompt[shared:] for prompt in self.prompts])
        inputs: dict[str, Any] = {"input_ids": packed.ids, "use_cache": False}
        if packed.has_joined_prompts:
            everything = torch.ones(len(packed.ids), shared, dtype=torch.bool, device=self._device)
            inputs["attention_mask"] = packed.build_attention_mask(everything, self.run_model.model.dtype)
            inputs["position_ids"] = packed.positions + shared
        if self._cached and (shared or self._forced):
            kind = DynamicLayer if self._forced else NonStoringCacheLayer
            cache = self._prefix.build_batch_cache(self.run_model.model, len(packed.ids), kind)
            inputs |= {"past_key_values": cache, "use_cache": True}
        result = self.run_model(
            packed.last_token_places, packed.family if packed.has_joined_prompts else None, **inputs
        )
        if self._cached and self._forced:
            self._store_cache_per_prompt(cache, packed, shared)
        return result

    def _pack_prompts(self, rests: Sequence[list[int]]) -> PackedRows:
        """Pack what follows the shared prefix in each prompt into rows; prompts that begin alike share a row."""
        common = [0, *(len(find_common_prefix(before, remainder)) for before, remainder in pairwise(rests))]
        joined_families = join_prompts_beginning_alike(
            [len(remainder) for remainder in rests], common, self._joining, len(rests)
        )
        return pack_prompt_families_into_rows(rests, [family.members for family in joined_families], self._device)

    def _store_cache_per_prompt(self, cache: DynamicCache, packed: PackedRows, shared: int) -> None:
        """Keep the cache, in which every prompt gets the keys and values of its own tokens, in their order."""
        if packed.has_joined_prompts:
            start = torch.arange(shared, device=self._device).expand(len(self.prompts), -1)
            places = torch.cat([start, packed.paths + shared], dim=1)
            for layer in cache.layers:
                layer.keys, layer.values = (
                    _select_keys_or_values(states, packed.family, places) for states in (layer.keys, layer.values)
                )
        self.cache = cache
        real = torch.arange(packed.paths.shape[1], device=self._device) < packed.lengths[:, None]
        self.token_mask = torch.cat([real.new_ones(len(real), shared), real], dim=1)
        self.position = shared + packed.lengths

    def _rewind_cache_and_run_path(self, path: TokenIds) -> Tensor:
        """Cut the cache back to what `path` shares with the path before it, then add the rest of `path`.

        Example: after the path (5, 6, 7) follows (5, 8, 9). The cache is cut back by 2 tokens, and 8 and 9 are added.
        The last token of a path is always added anew, because its output is read.
        """
        shared_path = find_common_prefix(list(self._path), list(path[:-1]))
        rows = len(self.prompts)
        back = len(self._path) - len(shared_path)
        if back:
            self.cache.crop(-back)  # type: ignore[union-attr]
        new = torch.tensor(path[len(shared_path) :], device=self._device).expand(rows, -1)
        start = self.position + len(shared_path)
        result = self.run_model(
            torch.full((rows,), new.shape[1] - 1, device=self._device),
            input_ids=new,
            attention_mask=torch.cat([self.token_mask, self.token_mask.new_ones(rows, len(path))], dim=1).long(),
            position_ids=start[:, None] + torch.arange(new.shape[1], device=self._device),
            past_key_values=self.cache,
            use_cache=True,
        )
        self._path = path
        return result


def _build_key_value_cache(
    layer_class: type[DynamicLayer], layer_states: Iterable[tuple[Tensor, Tensor]]
) -> DynamicCache:
    """Make a cache of the keys and values of every layer.

    Views are safe: a forward pass replaces a layer's tensors and never writes into them.
    """
    cache = DynamicCache()
    for keys, values in layer_states:
        layer = layer_class()
        layer.lazy_initialization(keys, values)
        layer.keys, layer.values = keys, values
        cache.layers.append(layer)
    return cache


def _select_keys_or_values(states: Tensor, rows: Tensor, places: Tensor) -> Tensor:
    """Take some places of some rows: from [rows, heads, places, features] `rows` [n] and `places` [n, m] of each."""
    # One index over rows, heads and places. Example: of 2 rows with 2 heads and 3 places, place 2 of head 0 of row 1 is
    # line (1 * 2 + 0) * 3 + 2 = 8 of 12.
    heads = torch.arange(states.shape[1], device=states.device)[:, None]
    at = (rows[:, None, None] * len(heads) + heads) * states.shape[2] + places[:, None]
    return states.flatten(0, 2).index_select(0, at.flatten()).view(*at.shape, -1)


def find_longest_sequence_cacheable_by_model(run_model: OnePosition) -> int:
    """Find the longest sequence, in tokens, up to which keys and values of this model may be kept and shared.

    Three things are needed: all layers attend over the full sequence, or over a window that is not yet full; the model
    takes position ids; and a trial on a few ids gives the probabilities of a pass without cache. Any other model (state
    spaces, linear attention) gets 0 and is asked without sharing.
    """
    model = run_model.model
    config = model.config.get_text_config()
    parameters = inspect.signature(model.forward).parameters
    if "past_key_values" not in parameters or "position_ids" not in parameters:
        return 0
    try:
        layers = DynamicCache(config=config).layers
    except (KeyError, AttributeError):  # kinds of layers that this transformers has no cache for
        return 0
    if any(type(layer) not in (DynamicLayer, DynamicSlidingWindowLayer) for layer in layers):
        return 0
    windows = [layer.sliding_window for layer in layers if isinstance(layer, DynamicSlidingWindowLayer)]
    if getattr(config, "attention_types", None):  # GPT-Neo: every other layer is local
        windows.append(config.window_size)
    rope = getattr(config, "rope_parameters", None) or {}
    if rope.get("rope_type") in ("dynamic", "longrope"):  # other keys as soon as a sequence outgrows this length
        windows.append(rope.get("original_max_position_embeddings") or config.max_position_embeddings)
    return min(windows, default=UNLIMITED) if _is_cache_exact(run_model) else 0


@torch.inference_mode()
def _is_cache_exact(run_model: OnePosition) -> bool:
    """Tell whether a cache gives the probabilities of passes without one, tried on a few ids."""
    ids = torch.linspace(1, run_model.model.config.get_text_config().vocab_size - 1, 9).long().tolist()
    prompts = [ids[:4], [*ids[:2], *ids[4:8]]]
    results = []
    for prefix, cached, forced in ((ids[:2], True, True), (ids[:2], True, False), ([], False, False)):
        continuations = Continuations(run_model, prompts, Prefix(prefix), cached, forced)
        try:
            results.append(
                torch.stack([continuations.compute_next_logprobs(()), continuations.compute_next_logprobs((ids[8],))])
            )
        except (RuntimeError, ValueError, TypeError, IndexError, AttributeError):
            return False  # this model needs a cache of another kind
    return all(are_log_probabilities_nearly_equal(result, results[-1], run_model.model.dtype) for result in results)
