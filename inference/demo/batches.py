"""Turn rows of text into batches for a causal model: rows packed into blocks, none of which sees its neighbours."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain

import torch
from torch.nn.functional import cross_entropy
from transformers import PreTrainedModel, PreTrainedTokenizerBase

from inference.demo.steps import Reading, Row

OPEN_BLOCKS = 24
"""Blocks that are filled at a time: a row goes into the first that has room."""
OTHER_SHARE, OTHER_WEIGHT = 0.1, 0.1
"""Share of the tokens that are no answer that a causal model learns from, and what they count next to an answer."""
ANSWER_MASKED, MASKED_SHARE = 0.8, 0.15
"""How often the masked model must guess the answer, and the share of words that it must guess otherwise."""

Encoded = tuple[list[int], list[bool]]
"""Token ids of a row, and which of them are an answer or the end that follows it."""
Masked = tuple[list[int], dict[int, int]]
"""Token ids with masks; and for every masked position the id that stood there."""


@dataclass(frozen=True, slots=True)
class Batch:
    """Blocks of rows. `ids`, `positions` (from 0 in every row) and `answers` are (blocks, length).

    `sees` is (blocks, 1, length, length): whether a place may look at another, that is, at an earlier one of its row.
    """

    ids: torch.Tensor
    positions: torch.Tensor
    answers: torch.Tensor
    sees: torch.Tensor


def encode(tokenizer: PreTrainedTokenizerBase, rows: Sequence[Row]) -> list[Encoded]:
    """Turn rows into token ids, begun and ended as texts are."""
    texts = [text for row in rows for reading in row for text in (reading.before, reading.answer)]
    # Much faster than asking the tokenizer itself, which wraps what this returns.
    fast = tokenizer.backend_tokenizer.encode_batch_fast(texts, add_special_tokens=False)
    pieces = iter(piece.ids for piece in fast)
    encoded = []
    for row in rows:
        ids, answers = [tokenizer.bos_token_id], [False]
        for _ in row:
            before, answer = next(pieces), next(pieces)
            ids += before + answer
            answers += [False] * len(before) + [True] * len(answer)
        encoded.append(([*ids, tokenizer.eos_token_id], [*answers, answers[-1]]))
    return encoded


def pack(rows: Iterable[Encoded], length: int) -> Iterator[list[Encoded]]:
    """Put rows together into blocks of at most `length` tokens; longer rows are left out."""
    blocks: list[list[Encoded]] = []
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


def batch(blocks: Sequence[list[Encoded]], length: int, pad: int) -> Batch:
    """Lay blocks out as tensors. Padding sees itself only and is no answer."""
    ids, positions, answers, texts = [], [], [], []
    for block in blocks:
        gap = length - sum(len(row) for row, _ in block)
        ids.append([*chain.from_iterable(row for row, _ in block), *[pad] * gap])
        answers.append([*chain.from_iterable(marks for _, marks in block), *[False] * gap])
        positions.append([*chain.from_iterable(range(len(row)) for row, _ in block), *[0] * gap])
        numbered = chain.from_iterable([number] * len(row) for number, (row, _) in enumerate(block))
        texts.append([*numbered, *range(-gap, 0)])
    text = torch.tensor(texts)
    sees = (text[:, None, :, None] == text[:, None, None, :]).tril()
    return Batch(torch.tensor(ids), torch.tensor(positions), torch.tensor(answers), sees)


def causal_loss(model: PreTrainedModel, read: Batch) -> torch.Tensor:
    """Compute the loss of a causal model on a batch: all answers, and lightly a random share of the other tokens."""
    wanted, answers = read.ids[:, 1:], read.answers[:, 1:]
    # The head costs a small model as much as its layers, so most of the other tokens are left out.
    other = (torch.rand(wanted.shape) < OTHER_SHARE) & (read.positions[:, 1:] > 0)
    learnt = answers | other
    hidden = model.model(
        input_ids=read.ids, attention_mask=read.sees, position_ids=read.positions, use_cache=False
    ).last_hidden_state[:, :-1]
    each = cross_entropy(model.lm_head(hidden[learnt]), wanted[learnt], reduction="none")
    weights = torch.where(answers[learnt], 1.0, OTHER_WEIGHT)
    return (each * weights).sum() / weights.sum()


def mask_some(tokenizer: PreTrainedTokenizerBase, reading: Reading, rng: random.Random) -> Masked:
    """Mask the answer of a text in most cases, else some of its words."""
    before = tokenizer(reading.before, add_special_tokens=False)["input_ids"]
    answer = tokenizer(reading.answer, add_special_tokens=False)["input_ids"]
    after = tokenizer(reading.after, add_special_tokens=False)["input_ids"]
    ids = [tokenizer.cls_token_id, *before, *answer, *after, tokenizer.sep_token_id]
    if answer and rng.random() < ANSWER_MASKED:
        positions = list(range(1 + len(before), 1 + len(before) + len(answer)))
    else:
        positions = [i for i in range(1, len(ids) - 1) if rng.random() < MASKED_SHARE] or [1]
    wanted = {position: ids[position] for position in positions}
    return [tokenizer.mask_token_id if i in wanted else token for i, token in enumerate(ids)], wanted


def masked_loss(model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase, rows: Sequence[Masked]) -> torch.Tensor:
    """Compute the loss of a masked model on what is masked in some texts."""
    shown = tokenizer.pad({"input_ids": [ids for ids, _ in rows]}, return_tensors="pt")
    labels = torch.full_like(shown["input_ids"], -100)
    for row, (_, wanted) in enumerate(rows):
        for position, token in wanted.items():
            labels[row, position] = token
    hidden = model.bert(**shown).last_hidden_state
    return cross_entropy(model.cls(hidden[labels != -100]), labels[labels != -100])
