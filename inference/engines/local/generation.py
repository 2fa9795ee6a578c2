"""Writing: token after token behind a batch of prompts, many texts behind one prompt that is computed once."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
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
from inference.engines.local.engine import pad_right

# Tokens for which a text gets room at a time: long texts, of which many end early, do not take all of it at once.
ROOM = 64


@dataclass(frozen=True, slots=True, eq=False)
class Draft:
    """One text to write.

    Attributes
    ----------
    prompt
        Place of its prompt in the batch.
    temperature
        It divides the logits of every step; at 0 the likeliest token is taken.
    numbers
        A random number in [0, 1) for every token that the text may have, as many in all drafts of a batch; at
        temperature 0 only their count matters.
    """

    prompt: int
    temperature: float
    numbers: NDArray[np.float64]


def random_numbers(seed: int, text: str, sampling: Sampling) -> NDArray[np.float64]:
    """One number in [0, 1) per token, [samples, max_tokens].

    They follow from the seed, the rendered prompt and the temperature alone: neither the other prompts of a batch nor
    an interrupted run can move a sample, and asking for more samples leaves the first ones as they are.
    """
    shape = (sampling.samples, sampling.max_tokens)
    if sampling.temperature == 0:
        return np.zeros(shape)
    digest = hashlib.sha256(f"{seed}/{sampling.temperature}/{text}".encode()).digest()
    return np.random.default_rng(int.from_bytes(digest)).random(shape)


def write(asked: Continuations, drafts: Sequence[Draft], stops: AbstractSet[int], rows: int) -> list[list[int]]:
    """Write all drafts: token ids of each, without the one that ended it.

    Parameters
    ----------
    asked
        The prompts; whatever is written behind them, they are computed once.
    drafts
        Best with those of one prompt side by side.
    stops
        Ids that end a text.
    rows
        Largest number of texts in one forward pass.
    """
    return [
        ids
        for start in range(0, len(drafts), rows)
        for ids in _write_together(asked, drafts[start : start + rows], stops)
    ]


def choose(log_softmax: Tensor, temperatures: Tensor, numbers: Tensor) -> Tensor:
    """The next token of every row: by inverse cumulative probability over the whole vocabulary, or the likeliest.

    Parameters
    ----------
    log_softmax
        [rows, vocabulary], float32.
    temperatures
        [rows]; 0 takes the likeliest token.
    numbers
        [rows], float64 in [0, 1).

    Returns
    -------
    Tensor [rows] of token ids.
    """
    likeliest = log_softmax.argmax(-1)
    greedy = temperatures == 0
    if bool(greedy.all()):
        return likeliest
    highest = log_softmax.gather(-1, likeliest[:, None])
    weights = ((log_softmax - highest) / temperatures.where(~greedy, 1)[:, None]).exp()
    if weights.device.type == "mps":  # has no float64, in which alone a large vocabulary adds up exactly enough
        weights = weights.cpu()
    cumulative = weights.cumsum(-1, dtype=torch.float64)
    targets = numbers.to(cumulative.device) * cumulative[:, -1]
    # The first token whose cumulative weight exceeds the target: it has a weight of its own, so is never impossible.
    drawn = torch.searchsorted(cumulative, targets[:, None], right=True)[:, 0].clamp(max=weights.shape[-1] - 1)
    return likeliest.where(greedy, drawn.to(likeliest.device))


def _write_together(asked: Continuations, drafts: Sequence[Draft], stops: AbstractSet[int]) -> list[list[int]]:
    """Drafts in one forward pass per token; those that have ended leave it.

    Texts that read the same so far behind the same prompt are one row: whatever their temperatures, the model says
    the same of what comes next.
    """
    device = asked.run_model.model.device
    numbers = torch.from_numpy(np.stack([draft.numbers for draft in drafts]))
    longest = numbers.shape[1]
    temperatures = torch.tensor([draft.temperature for draft in drafts], device=device)
    written: list[list[int]] = [[] for _ in drafts]
    log_softmax = asked.next_token(())
    row = torch.tensor([draft.prompt for draft in drafts], device=device)  # of every draft that is going on
    going = torch.arange(len(drafts))
    texts: _Texts | None = None
    for step in range(longest):
        tokens = choose(log_softmax[row], temperatures[going], numbers[going, step])
        staying = []
        for place, (draft, token) in enumerate(zip(going.tolist(), tokens.tolist(), strict=True)):
            if token not in stops:
                written[draft].append(token)
                staying.append(place)
        if not staying or step + 1 == longest:
            break
        going = going[staying]
        vocabulary = log_softmax.shape[1]
        ways, row = (row * vocabulary + tokens)[staying].unique(return_inverse=True)
        if texts is None:
            texts = _texts_behind(asked, ways // vocabulary, min(longest, ROOM))
        else:
            texts.follow(ways // vocabulary)
        log_softmax = texts.next_token(ways % vocabulary)
    return written


class _Texts(Protocol):
    """Texts in the making, each a row."""

    def next_token(self, tokens: Tensor) -> Tensor:
        """Log-softmax [rows, vocabulary] behind one more token [rows] of every row."""

    def follow(self, rows: Tensor) -> None:
        """Go on from these rows, in this order, from each as often as it is named."""


def _texts_behind(asked: Continuations, prompts: Tensor, room: int) -> _Texts:
    return _Recomputed(asked, prompts) if asked.cache is None else _Cached(asked, asked.cache, prompts, room)


class _Cached:
    """Rows that keep keys and values; they begin with those of their prompts."""

    def __init__(self, asked: Continuations, cache: DynamicCache, prompts: Tensor, room: int) -> None:
        self._run = asked.run_model
        self._seen = asked.seen[prompts]
        self._position = asked.position[prompts]
        self._padded = not bool(self._seen.all())
        self._cache = DynamicCache()
        self._cache.layers = [Room(layer, prompts, room) for layer in cache.layers]

    def next_token(self, tokens: Tensor) -> Tensor:
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

    def follow(self, rows: Tensor) -> None:
        if torch.equal(rows, torch.arange(len(self._position), device=rows.device)):
            return
        self._seen, self._position = self._seen[rows], self._position[rows]
        self._cache.batch_select_indices(rows)


class Room(DynamicLayer):
    """Keys and values of a layer with room for the tokens to come: new ones are written, and nothing else moved."""

    def __init__(self, layer: Any, rows: Tensor | None, room: int) -> None:
        super().__init__()
        self.lazy_initialization(layer.keys, layer.values)
        self._more = room
        self._whole = [self._roomy(states) for states in (layer.keys, layer.values)]
        if rows is not None:  # room for the few prompts first, then one copy for each of their many texts
            self._whole = [whole[rows] for whole in self._whole]
        self._show(layer.keys.shape[-2])

    def update(self, key_states: Tensor, value_states: Tensor, *args: Any, **kwargs: Any) -> tuple[Tensor, Tensor]:
        seen, more = self.keys.shape[-2], key_states.shape[-2]
        while seen + more > self._whole[0].shape[-2]:
            self._whole = [self._roomy(whole) for whole in self._whole]
        for whole, new in zip(self._whole, (key_states, value_states), strict=True):
            whole[..., seen : seen + more, :] = new
        self._show(seen + more)
        return self.keys, self.values

    def batch_select_indices(self, indices: Tensor) -> None:
        self._whole = [whole[indices] for whole in self._whole]
        self._show(self.keys.shape[-2])

    def _roomy(self, states: Tensor) -> Tensor:
        return pad(states, (0, 0, 0, self._more))

    def _show(self, length: int) -> None:
        self.keys, self.values = (whole[..., :length, :] for whole in self._whole)


class _Recomputed:
    """Rows of a model whose states cannot be kept: every token is a pass over the whole text."""

    def __init__(self, asked: Continuations, prompts: Tensor) -> None:
        self._run = asked.run_model
        self._ids = [list(asked.prompts[prompt]) for prompt in prompts.tolist()]

    def next_token(self, tokens: Tensor) -> Tensor:
        for ids, token in zip(self._ids, tokens.tolist(), strict=True):
            ids.append(token)
        padded, lengths = pad_right(self._ids, tokens.device)
        return self._run(lengths - 1, input_ids=padded, use_cache=False)

    def follow(self, rows: Tensor) -> None:
        self._ids = [list(self._ids[row]) for row in rows.tolist()]
