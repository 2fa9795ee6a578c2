"""Write texts token by token after a batch of prompts; a prompt with many texts is computed once."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn.functional import pad
from transformers import DynamicCache
from transformers.cache_utils import DynamicLayer

from inference.engines.contract import Sampling
from inference.engines.local.continuations import Continuations
from inference.engines.local.engine import pad_rows_right_and_count_lengths

# Tokens for which a text gets memory at a time: many long texts end early and never need memory for all tokens.
ROOM = 64


@dataclass(frozen=True, slots=True, eq=False)
class Draft:
    """One text to write.

    Attributes
    ----------
    prompt
        Place of its prompt in the batch.
    sampling
        How its tokens are chosen; at temperature 0 the likeliest is taken.
    numbers
        A random number in [0, 1) for every token that the text may have; at temperature 0 only their count matters.
    """

    prompt: int
    sampling: Sampling
    numbers: NDArray[np.float64]


def draw_random_numbers(seed: int, prompt_text: str, sampling: Sampling) -> NDArray[np.float64]:
    """Draw the random numbers with which the texts after one prompt are written.

    They depend on the seed, the rendered prompt and the temperature only. So neither the other prompts of a batch nor
    an interruption changes a sample, and asking for more samples leaves the first ones as they are.

    Parameters
    ----------
    seed
        Seed of the engine.
    prompt_text
        The rendered prompt.
    sampling
        How many texts are written, how long, and at which temperature.

    Returns
    -------
    Array [samples, max_tokens] of numbers in [0, 1), one per token; zeros at temperature 0.
    """
    shape = (sampling.samples, sampling.max_tokens)
    if sampling.temperature == 0:
        return np.zeros(shape)
    digest = hashlib.sha256(f"{seed}/{sampling.temperature}/{prompt_text}".encode()).digest()
    return np.random.default_rng(int.from_bytes(digest)).random(shape)


def generate_token_ids_of_drafts(
    continuations: Continuations, drafts: Sequence[Draft], end_ids: AbstractSet[int], max_rows: int
) -> list[list[int] | None]:
    """Write all drafts.

    Parameters
    ----------
    continuations
        The prompts; they are computed once for all texts.
    drafts
        It is fastest if those of one prompt are next to each other.
    end_ids
        Ids that end a text.
    max_rows
        Largest number of texts in one forward pass.

    Returns
    -------
    The token ids of each draft, without the one that ended it; None where a probability is not finite.
    """
    return [
        ids
        for start in range(0, len(drafts), max_rows)
        for ids in _generate_drafts_together(continuations, drafts[start : start + max_rows], end_ids)
    ]


def choose_next_tokens(
    log_softmax: Tensor, draft_rows: Tensor, samplings: Sequence[Sampling], kinds: Tensor, random_numbers: Tensor
) -> Tensor:
    """Choose the next token of every draft: by inverse cumulative probability over all tokens, or the top one.

    Example: three tokens have the weights 0.2, 0.5 and 0.3. The number 0.6 chooses the second one, because the
    cumulative weights are 0.2, 0.7 and 1.0. Drafts of one row and sampling have the same weights, summed once.

    Parameters
    ----------
    log_softmax
        [rows, vocabulary], float32.
    draft_rows
        [drafts]: the row that each draft continues.
    samplings
        How tokens are chosen.
    kinds
        [drafts]: the place in `samplings` of each draft's.
    random_numbers
        [drafts], float64 in [0, 1).

    Returns
    -------
    Tensor [drafts] of token ids.
    """
    likeliest = log_softmax.argmax(-1)
    temperatures = torch.tensor([sampling.temperature for sampling in samplings], device=log_softmax.device)
    greedy = temperatures[kinds] == 0
    if bool(greedy.all()):
        return likeliest[draft_rows]
    # Example: the drafts have the rows [0, 0, 1] and the kinds [1, 0, 1] of two samplings. The three pairs are numbered
    # row * 2 + kind = [1, 0, 3], so `ways` is [0, 1, 3] and `way` is [1, 0, 2]. Way 3 is row 3 // 2 = 1 with the kind
    # 3 % 2 = 1.
    ways, way = (draft_rows * len(samplings) + kinds).unique(return_inverse=True)
    row, kind = ways // len(samplings), ways % len(samplings)
    divisor = temperatures.where(temperatures > 0, 1)[kind]
    highest = log_softmax[row].gather(-1, likeliest[row, None])
    weights = ((log_softmax[row] - highest) / divisor[:, None]).exp()
    for place, sampling in enumerate(samplings):
        if sampling.temperature and not sampling.draws_from_all_tokens:
            weights[kind == place] = zero_weights_of_unlikely_tokens(weights[kind == place], sampling)
    if weights.device.type == "mps":  # has no float64, and float32 sums over a large vocabulary are too inexact
        weights = weights.cpu()
    cumulative = weights.cumsum(-1, dtype=torch.float64)[way.to(weights.device)]
    targets = random_numbers.to(cumulative.device) * cumulative[:, -1]
    # The first token whose cumulative weight exceeds the target has a weight above 0, so it is never an impossible one.
    drawn = torch.searchsorted(cumulative, targets[:, None], right=True)[:, 0].clamp(max=weights.shape[-1] - 1)
    return likeliest[draft_rows].where(greedy, drawn.to(likeliest.device))


def zero_weights_of_unlikely_tokens(weights: Tensor, sampling: Sampling) -> Tensor:
    """Set the weights of the tokens that a sampling does not draw from to 0, as transformers does.

    Example: of the weights 0.5, 0.3, 0.15 and 0.05, `top_k` 3 leaves the first three. They sum to 0.95, and `top_p` 0.8
    leaves two: before the third one, (0.5 + 0.3) / 0.95 = 0.84 of them is reached already.

    Parameters
    ----------
    weights
        [rows, vocabulary], proportional to the probabilities, 0 or more.
    sampling
        Gives `top_k`, `top_p` and `min_p`.

    Returns
    -------
    Tensor of the same shape.
    """
    n_kept = weights.shape[-1]
    if 0 < sampling.top_k < n_kept:
        lowest = weights.topk(sampling.top_k).values[:, -1:]  # equals of the last one stay
        weights = weights.where(weights >= lowest, 0)
        n_kept = int((weights > 0).sum(-1).max())
    if sampling.top_p < 1:
        largest, places = weights.topk(n_kept)
        cumulative = largest.cumsum(-1, dtype=torch.float64 if weights.device.type != "mps" else torch.float32)
        is_reached = cumulative - largest >= sampling.top_p * cumulative[:, -1:]
        weights = torch.zeros_like(weights).scatter(-1, places, largest.where(~is_reached, 0))
    if sampling.min_p:
        weights = weights.where(weights >= sampling.min_p * weights.amax(-1, keepdim=True), 0)
    return weights


def _generate_drafts_together(
    continuations: Continuations, drafts: Sequence[Draft], end_ids: AbstractSet[int]
) -> list[list[int] | None]:
    """Write drafts together, one forward pass per token; drafts that have ended leave the batch.

    Texts after the same prompt that are equal so far are one row, whatever their temperatures: the model's next-token
    scores are the same. Example: 4 drafts of prompt 0 choose the tokens 7, 7, 9, 7. The next pass has two rows, prompt
    0 with 7 and prompt 0 with 9, and `row` is [0, 0, 1, 0].
    """
    device = continuations.run_model.model.device
    limits = [len(draft.numbers) for draft in drafts]
    longest = max(limits)
    numbers = torch.zeros(len(drafts), longest, dtype=torch.float64)
    for place, draft in enumerate(drafts):
        numbers[place, : limits[place]] = torch.from_numpy(draft.numbers)
    rules = [replace(draft.sampling, samples=1, max_tokens=1, effort=None) for draft in drafts]
    samplings = list(dict.fromkeys(rules))
    kinds = torch.tensor([samplings.index(rule) for rule in rules], device=device)
    written: list[list[int] | None] = [[] for _ in drafts]
    log_softmax = continuations.compute_next_logprobs(())
    row = torch.tensor([draft.prompt for draft in drafts], device=device)  # of every draft that has not ended
    going = torch.arange(len(drafts))  # the drafts that have not ended
    texts: _Texts | None = None
    for step in range(longest):
        tokens = choose_next_tokens(log_softmax, row, samplings, kinds[going], numbers[going, step])
        broken = log_softmax[:, 0].isnan()[row]  # one score that is no number makes all probabilities of its row so
        staying = []
        for place, (draft, token, failed) in enumerate(
            zip(going.tolist(), tokens.tolist(), broken.tolist(), strict=True)
        ):
            text = written[draft]
            if failed or text is None:
                written[draft] = None
            elif token not in end_ids:
                text.append(token)
                if len(text) < limits[draft]:
                    staying.append(place)
        if not staying:
            break
        going = going[staying]
        vocabulary = log_softmax.shape[1]
        # A row and its next token as one number: with 100 tokens, token 7 after row 0 is 7, token 9 after row 2 is 209.
        ways, row = (row * vocabulary + tokens)[staying].unique(return_inverse=True)
        if texts is None:
            texts = _build_unfinished_texts(continuations, ways // vocabulary, min(longest, ROOM))
        else:
            texts.reorder_or_repeat_text_rows(ways // vocabulary)
        log_softmax = texts.append_token_and_score_next(ways % vocabulary)
    return written


class _Texts(Protocol):
    """Unfinished texts, each a row."""

    def append_token_and_score_next(self, tokens: Tensor) -> Tensor:
        """Add one token [rows] to every row and compute the log-softmax [rows, vocabulary] of the next one."""

    def reorder_or_repeat_text_rows(self, rows: Tensor) -> None:
        """Replace the rows by these, in this order; a row may be named several times or not at all."""


def _build_unfinished_texts(continuations: Continuations, prompt_places: Tensor, reserved_tokens: int) -> _Texts:
    """Build the texts after prompts, with a cache if the prompts have one."""
    return (
        _RecomputedTexts(continuations, prompt_places)
        if continuations.cache is None
        else _CachedTexts(continuations, continuations.cache, prompt_places, reserved_tokens)
    )


class _CachedTexts:
    """Texts whose keys and values are kept; they begin as copies of those of their prompts."""

    def __init__(self, continuations: Continuations, cache: DynamicCache, prompts: Tensor, room: int) -> None:
        self._run = continuations.run_model
        self._seen = continuations.token_mask[prompts]
        self._position = continuations.position[prompts]
        self._padded = not bool(self._seen.all())
        self._cache = DynamicCache()
        self._cache.layers = [GrowingLayer(layer, prompts, room) for layer in cache.layers]

    def append_token_and_score_next(self, tokens: Tensor) -> Tensor:
        """Add one token to every row and compute the log-softmax of the next one from the cache."""
        rows = len(tokens)
        self._seen = torch.cat([self._seen, self._seen.new_ones(rows, 1)], dim=1)
        result = self._run(
            torch.zeros_like(tokens),
            input_ids=tokens[:, None],
            attention_mask=self._seen.long() if self._padded else None,
            position_ids=self._position[:, None],
            past_key_values=self._cache,
            use_cache=True,
        )
        self._position = self._position + 1
        return result

    def reorder_or_repeat_text_rows(self, rows: Tensor) -> None:
        """Replace the rows by these, in this order."""
        if torch.equal(rows, torch.arange(len(self._position), device=rows.device)):
            return
        self._seen, self._position = self._seen[rows], self._position[rows]
        self._cache.batch_select_indices(rows)


class GrowingLayer(DynamicLayer):
    """Keys and values of one layer with memory for later tokens: new ones are written without copying the others."""

    def __init__(self, layer: Any, rows: Tensor | None, room: int) -> None:
        super().__init__()
        self.lazy_initialization(layer.keys, layer.values)
        self._more = room
        self._whole = [self._enlarge_states_by_zeros(states) for states in (layer.keys, layer.values)]
        if rows is not None:  # first enlarged for the few prompts, then copied once for each of their many texts
            self._whole = [whole[rows] for whole in self._whole]
        self._set_keys_and_values_to_first_places(layer.keys.shape[-2])

    def update(self, key_states: Tensor, value_states: Tensor, *args: Any, **kwargs: Any) -> tuple[Tensor, Tensor]:
        """Write the keys and values of a pass behind those before it; memory is enlarged when it is used up.

        Parameters
        ----------
        key_states, value_states
            Those of the pass, [rows, heads, tokens, features].

        Returns
        -------
        All keys and all values, [rows, heads, places, features].
        """
        length, more = self.keys.shape[-2], key_states.shape[-2]
        while length + more > self._whole[0].shape[-2]:
            self._whole = [self._enlarge_states_by_zeros(whole) for whole in self._whole]
        for whole, new in zip(self._whole, (key_states, value_states), strict=True):
            whole[..., length : length + more, :] = new
        self._set_keys_and_values_to_first_places(length + more)
        return self.keys, self.values

    def batch_select_indices(self, indices: Tensor) -> None:
        """Replace the rows by these, in this order."""
        self._whole = [whole[indices] for whole in self._whole]
        self._set_keys_and_values_to_first_places(self.keys.shape[-2])

    def _enlarge_states_by_zeros(self, states: Tensor) -> Tensor:
        """Enlarge keys or values by zeros for later tokens."""
        return pad(states, (0, 0, 0, self._more))

    def _set_keys_and_values_to_first_places(self, length: int) -> None:
        """Let keys and values be views of the first places of the memory."""
        self.keys, self.values = (whole[..., :length, :] for whole in self._whole)


class _RecomputedTexts:
    """Texts of a model whose states cannot be kept: every token costs a pass over the whole text."""

    def __init__(self, continuations: Continuations, prompts: Tensor) -> None:
        self._run = continuations.run_model
        self._ids = [list(continuations.prompts[prompt]) for prompt in prompts.tolist()]

    def append_token_and_score_next(self, tokens: Tensor) -> Tensor:
        """Add one token to every row and compute the log-softmax of the next one anew."""
        for ids, token in zip(self._ids, tokens.tolist(), strict=True):
            ids.append(token)
        padded, lengths = pad_rows_right_and_count_lengths(self._ids, tokens.device)
        return self._run(lengths - 1, input_ids=padded, use_cache=False)

    def reorder_or_repeat_text_rows(self, rows: Tensor) -> None:
        """Replace the rows by these, in this order."""
        self._ids = [list(self._ids[row]) for row in rows.tolist()]
