"""Turn rows of text into batches: rows packed into blocks, none of which sees its neighbours."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain

import torch
from torch.nn.functional import cross_entropy
from transformers import PreTrainedModel, PreTrainedTokenizerBase

from demo_training.steps import Row

OPEN_BLOCKS = 24
"""Blocks that are filled at a time: a row goes into the first that has room."""
OTHER_SHARE, OTHER_WEIGHT = 0.1, 0.1
"""Share of the tokens that are no answer that a causal model learns from, and what they count next to an answer."""
ANSWER_HIDDEN = 0.9
"""How often the masked model must guess the answer of a row, and not one of its other tokens."""

EncodedRow = tuple[list[int], list[bool]]
"""Token ids of a row, and which of them are an answer or the end that follows it."""


@dataclass(frozen=True, slots=True)
class Batch:
    """Blocks of rows. `ids`, `positions` (from 0 in every row) and `answers` are (blocks, length).

    `sees` is (blocks, 1, length, length): whether a place may look at another, that is, at one of its row, for causal
    models an earlier one.
    """

    ids: torch.Tensor
    positions: torch.Tensor
    answers: torch.Tensor
    sees: torch.Tensor


def encode_rows(tokenizer: PreTrainedTokenizerBase, rows: Sequence[Row]) -> list[EncodedRow]:
    """Turn rows into token ids, begun and ended as texts are.

    Parameters
    ----------
    tokenizer
        A fast tokenizer; one with a mask token writes [CLS] and [SEP] as begin and end.
    rows
        Rows of text.

    Returns
    -------
    Per row its token ids, and which of them are an answer or the end that follows it.
    """
    texts = [text for row in rows for reading in row for text in (reading.before, reading.answer, reading.after)]
    begin, end = _find_begin_and_end(tokenizer)
    # Much faster than asking the tokenizer itself, which wraps what this returns.
    fast = tokenizer.backend_tokenizer
    fast.no_padding()  # which whoever asked the tokenizer itself may have left on
    pieces = iter(piece.ids for piece in fast.encode_batch_fast(texts, add_special_tokens=False))
    encoded = []
    for row in rows:
        ids, answers = [begin], [False]
        for _ in row:
            before, answer, after = next(pieces), next(pieces), next(pieces)
            ids += before + answer + after
            answers += [False] * len(before) + [True] * len(answer) + [False] * len(after)
        encoded.append(([*ids, end], [*answers, answers[-1]]))
    return encoded


def _find_begin_and_end(tokenizer: PreTrainedTokenizerBase) -> tuple[int, int]:
    """Find the ids with which texts begin and end, which are named otherwise for a masked model."""
    if tokenizer.mask_token_id is None:
        return tokenizer.bos_token_id, tokenizer.eos_token_id
    return tokenizer.cls_token_id, tokenizer.sep_token_id


def pack_rows(rows: Iterable[EncodedRow], length: int) -> Iterator[list[EncodedRow]]:
    """Put rows together into blocks.

    Parameters
    ----------
    rows
        Encoded rows, perhaps without end; those longer than a block are left out.
    length
        Most tokens of a block.

    Yields
    ------
    Blocks. Where `OPEN_BLOCKS` are begun and none has room for a row, the fullest comes.
    """
    blocks: list[list[EncodedRow]] = []
    room: list[int] = []
    for row in rows:
        size = len(row[0])
        if size > length:
            continue
        place = next((i for i, free in enumerate(room) if free >= size), None)
        if place is None:
            if len(blocks) == OPEN_BLOCKS:
                fullest = room.index(min(room))
                room.pop(fullest)
                yield blocks.pop(fullest)
            blocks.append([])
            room.append(length)
            place = len(blocks) - 1
        blocks[place].append(row)
        room[place] -= size
    yield from blocks


def build_batch(blocks: Sequence[list[EncodedRow]], length: int, pad: int, *, causal: bool = True) -> Batch:
    """Lay blocks out as tensors. Padding sees itself only and is no answer.

    Parameters
    ----------
    blocks
        As `pack_rows` yields them.
    length
        Tokens of a block, padding included.
    pad
        Token id of padding.
    causal
        Whether a place sees only itself and earlier ones.

    Returns
    -------
    The tensors.
    """
    ids, positions, answers, texts = [], [], [], []
    for block in blocks:
        gap = length - sum(len(row) for row, _ in block)
        ids.append([*chain.from_iterable(row for row, _ in block), *[pad] * gap])
        answers.append([*chain.from_iterable(marks for _, marks in block), *[False] * gap])
        positions.append([*chain.from_iterable(range(len(row)) for row, _ in block), *[0] * gap])
        # Every place has the number of its row, and padding has numbers of its own, each once. Example: rows of 2 and 3
        # tokens in a block of 7 give [0, 0, 1, 1, 1, -2, -1]. Places with equal numbers see each other.
        numbered = chain.from_iterable([number] * len(row) for number, (row, _) in enumerate(block))
        texts.append([*numbered, *range(-gap, 0)])
    text = torch.tensor(texts)
    sees = text[:, None, :, None] == text[:, None, None, :]
    return Batch(torch.tensor(ids), torch.tensor(positions), torch.tensor(answers), sees.tril() if causal else sees)


def compute_causal_loss(model: PreTrainedModel, packed_batch: Batch) -> torch.Tensor:
    """Compute the loss of a causal model on a batch: all answers, and lightly a random share of the other tokens.

    Parameters
    ----------
    model
        A model with `model` and `lm_head`, as Llama has them.
    packed_batch
        What it reads.

    Returns
    -------
    Weighted mean of the cross-entropies, in nats: an answer counts 1, another token `OTHER_WEIGHT`.
    """
    target_ids, answers = packed_batch.ids[:, 1:], packed_batch.answers[:, 1:]
    # The head costs a small model as much as its layers, so most of the other tokens are left out.
    other = (torch.rand(target_ids.shape) < OTHER_SHARE) & (packed_batch.positions[:, 1:] > 0)
    learnt = answers | other
    hidden = model.model(
        input_ids=packed_batch.ids,
        attention_mask=packed_batch.sees,
        position_ids=packed_batch.positions,
        use_cache=False,
    ).last_hidden_state[:, :-1]
    token_losses = cross_entropy(model.lm_head(hidden[learnt]), target_ids[learnt], reduction="none")
    weights = torch.where(answers[learnt], 1.0, OTHER_WEIGHT)
    return (token_losses * weights).sum() / weights.sum()


def mark_hidden_tokens(row: EncodedRow, rng: random.Random) -> EncodedRow:
    """Mark what the masked model must guess: the answer of a row in most cases, else one of its other tokens.

    Parameters
    ----------
    row
        An encoded row.
    rng
        Draws the case and the token.

    Returns
    -------
    The same ids, and which of them are to be guessed.
    """
    ids, answers = row
    hidden = [*answers[:-1], False]
    if not any(hidden) or rng.random() >= ANSWER_HIDDEN:
        chosen = rng.randrange(1, len(ids) - 1)
        hidden = [place == chosen for place in range(len(ids))]
    return ids, hidden


def compute_masked_loss(model: PreTrainedModel, packed_batch: Batch, mask: int) -> torch.Tensor:
    """Compute the loss of a masked model on a batch: what is marked as an answer is hidden, and guessed.

    Parameters
    ----------
    model
        A model with `model`, `head` and `decoder`, as ModernBERT has them.
    packed_batch
        What it reads; marked by `mark_hidden_tokens`.
    mask
        Token id of the mask.

    Returns
    -------
    Mean of the cross-entropies, in nats.
    """
    sees = dict.fromkeys(model.config.layer_types, packed_batch.sees)
    masked_ids = packed_batch.ids.masked_fill(packed_batch.answers, mask)
    hidden = model.model(
        input_ids=masked_ids, attention_mask=sees, position_ids=packed_batch.positions
    ).last_hidden_state
    return cross_entropy(
        model.decoder(model.head(hidden[packed_batch.answers])), packed_batch.ids[packed_batch.answers]
    )
