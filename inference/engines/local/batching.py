"""Cut prompts into forward batches: sorted by length, sized for the device, halved when memory runs out."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeVar

import torch

from inference.engines.loading import is_out_of_memory_error

T = TypeVar("T")
R = TypeVar("R")

# Tokens per forward pass. On a CPU a larger batch is faster as long as its activations stay in the cache of a core
# (tests/benchmarks/bench_engines.py); on an accelerator until all its units are busy.
CPU_TOKENS = 1024
ACCELERATOR_TOKENS = 32_768
MAXIMUM_ROWS = 1024
# Share of the longest row that every row of a pass has at least: the rest is padding, which is computed in vain.
LEAST_FILLED = 0.85
# Rows whose head is computed at once on a CPU: the weights of a large vocabulary are read from memory each time.
HEAD_ROWS = 128
# Most tokens of a row in which several prompts stand: what is masked in it is computed in vain, and takes memory.
FAMILY_TOKENS = 1024
# Texts written together on a CPU. In a model of a billion parameters they need some gigabytes of keys and values, and
# half a gigabyte of probabilities to draw from.
CPU_TEXTS, CPU_TEXT_TOKENS, CPU_PROBABILITIES = 512, 2**16, 2**25
# Share of the accelerator memory left by the weights that a batch may be planned to take.
MEMORY_SHARE = 0.4


class Room(NamedTuple):
    """What a pass may hold.

    Attributes
    ----------
    tokens
        Largest number of tokens, padding included; one row may exceed it.
    rows
        Largest number of prompts.
    filled
        Smallest share of the longest row that every row has.
    """

    tokens: int
    rows: int
    filled: float = 0


class Joining(NamedTuple):
    """How prompts may be joined in one row.

    Attributes
    ----------
    worth
        Pairs of tokens in attention that take as long as one token takes elsewhere; 0: no prompts are joined.
    shortest
        Fewest tokens that a prompt must share.
    tokens
        Most tokens of such a row.
    """

    worth: int
    shortest: int
    tokens: int


ALONE = Joining(0, 0, 0)


@dataclass(slots=True)
class Family:
    """Prompts that are computed as one row: their places, and the tokens of the row."""

    members: list[int]
    tokens: int


def join_prompts_beginning_alike(
    lengths: Sequence[int], common_lengths: Sequence[int], joining: Joining, max_prompts: int
) -> list[Family]:
    """Join prompts that begin alike, where that saves more than it costs: in a longer row, attention takes longer.

    Parameters
    ----------
    lengths
        Tokens of each prompt that have to be computed.
    common_lengths
        How many of them it begins with as the prompt before it does.
    joining
        When it is worth while, and how long a row may get.
    max_prompts
        Largest number of prompts of a family.

    Returns
    -------
    Families of consecutive prompts, every prompt in one.

    Examples
    --------
    The second prompt begins as the first one does, with 8 of its 10 tokens; the third with 1:

    >>> joining = Joining(10, shortest=1, tokens=30)
    >>> families = join_prompts_beginning_alike([10, 10, 10], [0, 8, 1], joining, max_prompts=4)
    >>> [family.members for family in families]
    [[0, 1], [2]]
    """
    joined_families: list[Family] = []
    for place, (length, n_common) in enumerate(zip(lengths, common_lengths, strict=True)):
        n_own = length - n_common
        if (
            joined_families
            and len(joined_families[-1].members) < max_prompts
            and joined_families[-1].tokens + n_own <= joining.tokens
            and n_common >= joining.shortest
            and n_common * joining.worth > n_own * joined_families[-1].tokens
        ):
            joined_families[-1].members.append(place)
            joined_families[-1].tokens += n_own
        else:
            joined_families.append(Family([place], length))
    return joined_families


def partition_into_batches(families: Iterable[Family], room: Room) -> list[list[int]]:
    """Cut prompts into batches of rows of similar length, the longest first: if memory runs out, it does so at once.

    Parameters
    ----------
    families
        What is computed as one row and stays together.
    room
        What a batch may hold.

    Returns
    -------
    Lists of places, every place once.
    """
    batches: list[list[int]] = []
    width = height = 0
    for part in sorted(families, key=lambda part: (-part.tokens, min(part.members))):
        if (
            batches
            and (height + 1) * width <= room.tokens
            and len(batches[-1]) + len(part.members) <= room.rows
            and part.tokens >= room.filled * width
        ):
            batches[-1] += part.members
            height += 1
        else:
            batches.append(list(part.members))
            width, height = max(1, part.tokens), 1
    return batches


def merge_consecutive_batches(batches: Iterable[Sequence[int]], max_rows: int) -> list[list[int]]:
    """Join consecutive batches.

    Parameters
    ----------
    batches
        Lists of places.
    max_rows
        Most places of a joined batch; a batch alone may exceed it.

    Returns
    -------
    Lists of places, in the same order.

    Examples
    --------
    >>> merge_consecutive_batches([[4, 0], [1], [2, 3]], max_rows=3)
    [[4, 0, 1], [2, 3]]
    """
    merged: list[list[int]] = []
    for batch in batches:
        if merged and len(merged[-1]) + len(batch) <= max_rows:
            merged[-1] += batch
        else:
            merged.append(list(batch))
    return merged


def choose_batch_limits(model: Any, longest_prompt: int) -> tuple[int, int]:
    """Choose how many tokens and rows a forward batch may have for a model on its device.

    The numbers depend on the hardware, not on what else runs there: a resumed run must cut the same batches.

    Parameters
    ----------
    model
        The loaded model.
    longest_prompt
        Tokens of the longest prompt, the shared prefix included.

    Returns
    -------
    (tokens, rows) of a batch at most.
    """
    if model.device.type != "cuda":
        return CPU_TOKENS, MAXIMUM_ROWS
    config = model.config.get_text_config()
    size = torch.finfo(model.dtype).bits // 8
    weights = sum(parameter.numel() * parameter.element_size() for parameter in model.parameters())
    spare = MEMORY_SHARE * max(torch.cuda.get_device_properties(model.device).total_memory - weights, 0)
    # Keys and values of every layer, twice while they are concatenated; some ten activations; float32 scores.
    per_token = config.hidden_size * size * (4 * config.num_hidden_layers + 16)
    per_row = longest_prompt * per_token + 3 * 4 * config.vocab_size
    rows = int(max(1, min(MAXIMUM_ROWS, spare // per_row)))
    return ACCELERATOR_TOKENS, rows


def choose_number_of_texts_at_once(model: Any, longest_text: int, keeps_states: bool) -> int:
    """Choose how many texts are written together.

    Parameters
    ----------
    model
        The loaded model.
    longest_text
        Tokens of the longest text with its prompt.
    keeps_states
        Whether keys and values are kept, so that a step computes one token of a text and not all of them.

    Returns
    -------
    Number of texts, at least 1.
    """
    tokens, rows = choose_batch_limits(model, longest_text)
    if not keeps_states:
        return max(1, min(rows, tokens // longest_text))
    if model.device.type == "cuda":
        return rows
    vocabulary = model.config.get_text_config().vocab_size
    return max(1, min(CPU_TEXTS, CPU_TEXT_TOKENS // longest_text, CPU_PROBABILITIES // vocabulary))


def iterate_results_of_parts_that_fit(
    ask: Callable[[Sequence[T]], list[R]], batch: Sequence[T], max_rows: int
) -> Iterator[tuple[list[R] | None, int]]:
    """Ask a batch in parts, halved whenever memory runs out.

    Parameters
    ----------
    ask
        Asks a part; the results are in its order.
    batch
        What is asked.
    max_rows
        Largest size of the first part.

    Yields
    ------
    (results, max_rows)
        Results of the next part, in order; None where even one prompt alone does not fit. `max_rows` is the size that
        has worked so far.
    """
    start = 0
    while start < len(batch):
        part = batch[start : start + max_rows]
        results = ask_batch_if_memory_suffices(ask, part)
        if results is None:
            # Here and not in the `except` block, where the traceback keeps the failed pass's tensors in memory.
            if torch.cuda.is_available():
                torch.cuda.empty_cache()
            if len(part) > 1:
                max_rows = len(part) // 2
                continue
        yield results, max_rows
        start += len(part)


def ask_batch_if_memory_suffices(ask: Callable[[Sequence[T]], list[R]], batch: Sequence[T]) -> list[R] | None:
    """Ask a batch, if memory suffices.

    Parameters
    ----------
    ask
        Asks it.
    batch
        The batch.

    Returns
    -------
    The results; None where memory runs out.
    """
    try:
        return ask(batch)
    except RuntimeError as error:  # torch.OutOfMemoryError is one; CPU allocators raise it bare
        if not is_out_of_memory_error(error):
            raise
        return None
