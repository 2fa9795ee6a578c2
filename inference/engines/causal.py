"""Engine `causal`: a language model that reads left to right, base or chat, asked for its next token."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from inference.engines import Score
from inference.engines.continuations import Continuations, Prefix, cache_window
from inference.engines.lefttoright import LeftToRight
from inference.engines.local import LocalEngine
from inference.engines.rows import Row
from inference.engines.targets import WholeVocabulary, score_batch

if TYPE_CHECKING:
    from inference.engines.loading import Checkpoint

# A shorter shared start costs more in bookkeeping than it saves.
SHORTEST_PREFIX = 8


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

    def _share(self, prefix: list[int]) -> list[int]:
        usable = prefix if self._cache_window and len(prefix) >= SHORTEST_PREFIX else []
        if usable != self._prefix.ids:
            self._prefix = Prefix(usable)
        return usable

    def _score_rows(self, rows: Sequence[Row], temperatures: Sequence[float]) -> list[list[Score]]:
        targets = [self._target(row) for row in rows]
        longest = max(len(row.ids) + self._longest_answer(row.answers) for row in rows)
        cached = longest <= self._cache_window
        shared = self._prefix.ids
        usable = cached and all(row.ids[: len(shared)] == shared and len(row.ids) > len(shared) for row in rows)
        asked = Continuations(
            self.run_model,
            [row.ids for row in rows],
            self._prefix if usable else Prefix([]),
            cached,
            forced=any(target.deep for target in targets),
        )
        return score_batch(targets, WholeVocabulary(asked.next_token), temperatures)
