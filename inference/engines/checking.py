"""Refuse a checkpoint that cannot be right: sizes beyond its weights, weights of NaN, tokens of another model."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch

from ground.errors import InputError, shorten_to_one_line

# Each layer, expert or head is an object that is built before a weight is read. The deepest models have some 200.
MOST_PARTS = 10_000
PARTS = re.compile(r"(n|num)_(\w+_)?(layers?|experts|blocks|stacks|groups)|(encoder|decoder)_layers")
# No way of storing weights takes less than a bit each; buffers such as masks are not stored.
PER_BYTE, UNSTORED = 8, 10**8


def refuse_unreadable_or_oversized_config(name: str, file: Path) -> None:
    """Refuse a config.json that cannot be read, or that asks for more layers than can be built.

    Parameters
    ----------
    name
        The model, for the message.
    file
        Its config.json.

    Raises
    ------
    InputError
        Naming the file and the field.
    """
    try:
        config = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        reason = shorten_to_one_line(str(error) or type(error).__name__, 200)
        raise InputError(f"model {name} cannot be loaded: {file.name} is no JSON ({reason})") from None
    if not isinstance(config, dict):
        raise InputError(f"model {name} cannot be loaded: {file.name} holds no fields; save the model again")
    for field, value in _list_numeric_config_fields(config):
        if PARTS.fullmatch(field) and value > MOST_PARTS:
            raise InputError(
                f"model {name} cannot be loaded: {file.name}, {field}: {value:,.0f} is more than {MOST_PARTS:,}; "
                "correct it"
            )


def refuse_config_beyond_weights(name: str, model_class: Any, config: Any) -> None:
    """Refuse a folder whose configuration describes more parameters than its weight files can hold.

    Else transformers would make them up, in memory, before the difference is found.

    Parameters
    ----------
    name
        Folder of the checkpoint; a hub id passes, because its weights are not on this machine yet.
    model_class
        Class of transformers that builds the model (`AUTO`).
    config
        Configuration of the model.

    Raises
    ------
    InputError
        Naming both sizes.
    """
    folder = Path(name).expanduser()
    if not folder.is_dir():
        return  # of the hub: its weights are not here yet
    stored = sum(file.stat().st_size for file in folder.glob("*.safetensors"))
    with torch.device("meta"):  # no memory: only to count them
        shape = model_class.from_config(config, trust_remote_code=False)
    described = sum(tensor.numel() for tensors in (shape.parameters(), shape.buffers()) for tensor in tensors)
    if described > PER_BYTE * stored + UNSTORED:
        raise InputError(
            f"model {name} cannot be loaded: config.json describes {described:,} numbers, its weights are {stored:,} "
            "bytes; correct the sizes in config.json, or copy the weights again"
        )


def refuse_nonfinite_weights(name: str, model: Any) -> None:
    """Refuse weights with NaN or infinity: no probability of such a model means anything.

    The sum of a weight shows that in one pass over the memory, in a fraction of the time of reading it from a disk.

    Parameters
    ----------
    name
        The model, for the message.
    model
        The loaded model.

    Raises
    ------
    InputError
        Naming the first such weight.
    """
    weights = [
        (where, tensor) for where, tensor in model.named_parameters() if tensor.is_floating_point() and tensor.numel()
    ]
    sums = torch.stack([tensor.detach().sum(dtype=torch.float32).cpu() for _, tensor in weights])
    for place in (~sums.isfinite()).nonzero()[:, 0].tolist():
        where, weight = weights[place]
        if not bool(weight.isfinite().all()):  # else only their sum is too large
            raise InputError(
                f"model {name}: its weights hold NaN or infinity ({where}); save or download the checkpoint again"
            )


def refuse_tokens_without_embedding(name: str, tokenizer: Any, n_embeddings: int) -> None:
    """Refuse a tokenizer of another model: one with words whose ids have no row in the embeddings.

    Added special tokens without a row are common and harmless: a prompt that holds one is refused by itself.

    Parameters
    ----------
    name
        The model, for the message.
    tokenizer
        Its tokenizer.
    n_embeddings
        Rows of its embeddings.

    Raises
    ------
    InputError
        Naming the first such token.
    """
    added = tokenizer.added_tokens_decoder
    foreign = {
        token: number
        for token, number in tokenizer.get_vocab().items()
        if number >= n_embeddings and not (number in added and added[number].special)
    }
    if foreign:
        token = min(foreign, key=lambda text: foreign[text])
        raise InputError(
            f"model {name}: its tokenizer has {len(foreign):,} tokens beyond the model's {n_embeddings:,} (such as "
            f"{token!r}, {foreign[token]:,}); put the tokenizer of this model into the folder"
        )


def _list_numeric_config_fields(config: Any) -> Iterator[tuple[str, float]]:
    """List the numbers of a configuration with their fields, those of its parts, too."""
    pending = [("", config)]
    while pending:
        field, value = pending.pop()
        if isinstance(value, dict):
            pending += value.items()
        elif isinstance(value, int | float):
            yield field, value
