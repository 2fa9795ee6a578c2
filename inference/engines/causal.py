"""Engine `causal`: a language model that reads left to right, base or chat, asked for its next token."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import torch

from inference.engines import Generation, Sampling, Score
from inference.engines.batching import token_budget
from inference.engines.continuations import Continuations, Prefix, cache_window
from inference.engines.generation import Draft, random_numbers, write
from inference.engines.lefttoright import LeftToRight
from inference.engines.local import LocalEngine
from inference.engines.rows import Row
from inference.engines.targets import WholeVocabulary, score_batch

if TYPE_CHECKING:
    from inference.engines.loading import Checkpoint

# A shorter shared start costs more in bookkeeping than it saves.
SHORTEST_PREFIX = 8
# Texts written together on a CPU: more do not come faster, and their keys and values leave the cache of a core.
CPU_TEXTS = 128


class CausalEngine(LeftToRight, LocalEngine):
    """Option probabilities from the next-token distribution behind a prompt.

    The start that all prompts of a condition share is computed once. Options of several tokens are scored exactly
    by forcing their tokens one by one (`trie`).
    """

    def __init__(self, checkpoint: Checkpoint, batch_size: int | None = None) -> None:
        LocalEngine.__init__(self, checkpoint, batch_size)
        window = getattr(self.model.config.get_text_config(), "max_position_embeddings", None)
        LeftToRight.__init__(self, checkpoint.name, checkpoint.tokenizer, window)
        self._cache_window = cache_window(self.run_model)
        self._prefix = Prefix([])
        shared = ("shared prefix",) if self._cache_window else ()
        self.info["shortcuts"] = [*self.run_model.shortcuts, *shared]
        self.info["thinks"] = self.tokens.thinks
        self._stops = self.tokens.ends | _ends(self.model)

    def _share(self, prefix: list[int]) -> list[int]:
        usable = prefix if self._cache_window and len(prefix) >= SHORTEST_PREFIX else []
        if usable != self._prefix.ids:
            self._prefix = Prefix(usable)
        return usable

    def _score_rows(self, rows: Sequence[Row], temperatures: Sequence[float]) -> list[list[Score]]:
        targets = [self._target(row) for row in rows]
        longest = max(len(row.ids) + self._longest_answer(row.answers) for row in rows)
        asked = self._asked(rows, longest, forced=any(target.deep for target in targets))
        return score_batch(targets, WholeVocabulary(asked.next_token), temperatures)

    @torch.inference_mode()
    def _write_askable(self, rows: list[Row], samplings: Sequence[Sampling]) -> list[list[Generation]]:
        alone = [Generation(error=self._out_of_memory)] * len(samplings)
        return self._in_memory(partial(self._write_rows, samplings=samplings), rows, alone)

    def _write_rows(self, rows: Sequence[Row], samplings: Sequence[Sampling]) -> list[list[Generation]]:
        """All samples of all samplings, which have the same `max_tokens`, behind prompts that are computed once."""
        drafts = [
            Draft(place, sampling.temperature, numbers)
            for place, row in enumerate(rows)
            for sampling in samplings
            for numbers in random_numbers(self._seed, row.text, sampling)
        ]
        longest = max(len(row.ids) for row in rows) + samplings[0].max_tokens
        asked = self._asked(rows, longest, forced=True)
        texts = iter(self.tokens.decode(write(asked, drafts, self._stops, self._texts_at_once(longest))))
        return [[self._generation([next(texts) for _ in range(s.samples)]) for s in samplings] for _ in rows]

    def _asked(self, rows: Sequence[Row], longest: int, forced: bool) -> Continuations:
        """A batch of prompts, of which none with what follows it gets longer than `longest` tokens."""
        cached = longest <= self._cache_window
        shared = self._prefix.ids
        usable = cached and all(row.ids[: len(shared)] == shared and len(row.ids) > len(shared) for row in rows)
        prefix = self._prefix if usable else Prefix([])
        return Continuations(self.run_model, [row.ids for row in rows], prefix, cached, forced)

    def _texts_at_once(self, longest: int) -> int:
        """Texts that are written in one forward pass per token."""
        tokens, rows = token_budget(self.model, longest)
        if longest > self._cache_window:
            return max(1, tokens // longest)
        return min(rows, CPU_TEXTS) if self.model.device.type == "cpu" else rows


def _ends(model: Any) -> frozenset[int]:
    """Ids that end a text according to the checkpoint."""
    ids = getattr(getattr(model, "generation_config", None), "eos_token_id", None)
    return frozenset() if ids is None else frozenset([ids] if isinstance(ids, int) else ids)
