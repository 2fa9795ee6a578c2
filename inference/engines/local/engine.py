"""Run a transformers model on this machine in batches that fit its memory: what all engines of this folder share."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

import numpy as np
import torch

from ground.errors import InputError
from inference.engines.contract import PAST_WINDOW
from inference.engines.local.batching import (
    ALONE,
    LEAST_FILLED,
    Joining,
    Room,
    choose_batch_limits,
    iterate_results_of_parts_that_fit,
    join_prompts_beginning_alike,
    partition_into_batches,
)
from inference.engines.local.last_position import are_log_probabilities_nearly_equal
from inference.engines.rows import PromptMeasures, Row, RowEngine

if TYPE_CHECKING:
    from inference.engines.loading import Checkpoint
    from inference.stimuli.templates.prompts import Prompt

R = TypeVar("R")


class LocalEngine(RowEngine):
    """An engine whose transformers model runs here, asked in length-sorted batches.

    A subclass says how a batch that fits in memory is scored (`_score_rows`).
    """

    def __init__(self, checkpoint: Checkpoint, batch_size: int | None = None) -> None:
        self.name = checkpoint.name
        self.model = checkpoint.model
        self.tokenizer = checkpoint.tokenizer
        self.info: dict[str, Any] = dict(checkpoint.info)
        self._seed = checkpoint.seed
        self._batch_size = batch_size
        self._rows_that_fit: int | None = None
        self._pads = True  # rows of different lengths may share a pass
        rows = len(self.model.get_input_embeddings().weight)
        # Of most models every token has a row, and no prompt needs to be looked through.
        self.vocabulary = rows if max(self.tokenizer.get_vocab().values(), default=0) >= rows else None

    def _split_prompts_into_batches(self, measured: PromptMeasures) -> list[list[int]]:
        """Cut the prompts that can be asked into batches of similar lengths."""
        lengths = [measured.lengths[place] for place in measured.order]
        longest = max(lengths, default=1)
        room = self._choose_pass_limits(longest)
        # Tokens that all prompts share are computed once, so they count in no row. Example: prompts of 10 and 12 tokens
        # that begin with the same 8, of which all prompts share 5, need 5 and 7 tokens, and share 3 of them.
        once = len(self._choose_prefix_ids_to_compute_once(measured.shared))
        joined_families = join_prompts_beginning_alike([length - once for length in lengths],
                                        [max(0, n_common - once) for n_common in measured.common],
                         self._choose_prompt_packing_limits(longest), room.rows)  # fmt: skip
        # In place, because a second family of every prompt would be work for Python's garbage collector.
        for family in joined_families:
            family.members = [measured.order[at] for at in family.members]
        return partition_into_batches(joined_families, room)

    def _choose_pass_limits(self, longest_prompt: int) -> Room:
        """Say what a pass may hold; `longest_prompt` is the number of tokens of the longest prompt."""
        if self._batch_size is not None:
            tokens, rows, filled = self._batch_size * longest_prompt, self._batch_size, 0.0
        else:
            tokens, rows = choose_batch_limits(self.model, longest_prompt)
            # On an accelerator a further pass may cost more than padding.
            filled = LEAST_FILLED if self.model.device.type == "cpu" else 0.0
        return Room(tokens, rows, filled if self._pads else 1.0)

    @torch.inference_mode()
    def _ask_within_memory(
        self, ask: Callable[[Sequence[Row]], list[R]], rows: Sequence[Row], build_failure: Callable[[str], R]
    ) -> list[R]:
        """Ask as many rows at a time as fit into memory."""
        results: list[R] = []
        for part, size in iterate_results_of_parts_that_fit(ask, rows, self._rows_that_fit or len(rows)):
            if size < len(rows):
                self._rows_that_fit = size
            results += part or [build_failure(f"out of memory on {self.model.device} with this prompt alone")]
        return results

    def _choose_prefix_ids_to_compute_once(self, common_ids: list[int]) -> list[int]:
        """Return the ids of `common_ids` that are computed once for all prompts: none, unless an engine can do so."""
        return []

    def _choose_prompt_packing_limits(self, longest_prompt: int) -> Joining:
        """Say how prompts of at most so many tokens may be joined in one row: not, unless an engine can do so."""
        return ALONE


class NonWritingEngine(LocalEngine):
    """An engine of a model that writes no text: a masked model or a classifier.

    Attributes
    ----------
    does
        What the model does instead, for messages.
    reads
        What it calls one of its prompts.
    """

    does: str
    reads = "prompt"

    def __init__(self, checkpoint: Checkpoint, batch_size: int | None = None) -> None:
        super().__init__(checkpoint, batch_size)
        self.window = find_max_sequence_length(self.model)
        self._pad: int = self.tokenizer.pad_token_id or 0
        self._pads = is_padding_exact(self.model, self._pad)

    def generate(self, prompts: Sequence[Prompt], ways: Any) -> NoReturn:
        """Refuse: the model writes no text.

        Parameters
        ----------
        prompts
            As in `Engine.generate`.
        ways
            The samplings, or the way of thinking.

        Raises
        ------
        InputError
            Always.
        """
        raise InputError(f"model {self.name} {self.does} and writes no text: ask it for probabilities only")

    think = generate

    def _explain_why_row_cannot_be_asked(self, row: Row) -> str | None:
        """Say why a prompt cannot be asked: it is too long, or holds an unknown token; None if it can."""
        if self.window is not None and len(row.ids) > self.window:
            return f"the {self.reads} is too long: {len(row.ids)} tokens {PAST_WINDOW} of {self.window}"
        return self._describe_unknown_token_of_row(row)


def pad_rows_right_and_count_lengths(
    rows: Sequence[Sequence[int]], device: torch.device, fill: int | None = None
) -> tuple[torch.Tensor, torch.Tensor]:
    """Put rows of ids into one tensor.

    Parameters
    ----------
    rows
        Lists of ids, none empty.
    device
        Where the tensors are put.
    fill
        The id behind a short row; None: its own last id, because nobody reads those positions and any id will do.

    Returns
    -------
    Tensor [rows, longest] of ids, and tensor [rows] of lengths.
    """
    lengths = np.fromiter(map(len, rows), np.int64, len(rows))
    # Example: [[1, 2, 3], [6]] has the lengths [3, 1], and without `fill` becomes [[1, 2, 3], [6, 6, 6]].
    is_filled = np.arange(lengths.max()) < lengths[:, None]
    padded = np.empty(is_filled.shape, np.int64)
    padded[:] = [[row[-1]] for row in rows] if fill is None else fill
    padded[is_filled] = np.fromiter(chain.from_iterable(rows), np.int64, lengths.sum())
    return torch.from_numpy(padded).to(device), torch.from_numpy(lengths).to(device)


@torch.inference_mode()
def is_padding_exact(model: Any, fill: int) -> bool:
    """Tell whether a padded row with its mask gives the numbers of an unpadded one, tried on a few ids.

    It does not where a model mixes positions without its mask, as FNet and ConvBERT do.

    Parameters
    ----------
    model
        A loaded model that takes an attention mask.
    fill
        The id behind a short row.

    Returns
    -------
    Whether the log-softmax is the same up to rounding; False where the model cannot compute it.
    """
    longest = min(find_max_sequence_length(model) or 80, 80)
    vocabulary = model.config.get_text_config().vocab_size
    ids = torch.linspace(vocabulary // 2, vocabulary - 1, longest, device=model.device).long()[None]
    is_filled = torch.arange(longest, device=model.device) < longest - longest // 8
    try:
        unpadded = model(input_ids=ids[:, is_filled]).logits
        padded = model(input_ids=ids.where(is_filled, fill), attention_mask=is_filled.long()[None]).logits
    except Exception:  # whatever it is, prompts that need no padding may still be asked
        return False
    # Scores of a position or of the whole row: [1, places, vocabulary] or [1, classes].
    padded = padded[:, : unpadded.shape[1]]
    return are_log_probabilities_nearly_equal(
        padded.float().log_softmax(-1), unpadded.float().log_softmax(-1), model.dtype
    )


def find_max_sequence_length(model: Any) -> int | None:
    """Return the longest sequence in tokens; None where positions have no end."""
    limit: int | None = getattr(model.config, "max_position_embeddings", None)
    if limit is None:
        return None
    for name, module in model.named_modules():
        # RoBERTa counts positions from the padding id + 1, so the position embeddings before that are never used.
        if name.endswith("position_embeddings") and getattr(module, "padding_idx", None) is not None:
            return limit - int(module.padding_idx) - 1
    return limit
