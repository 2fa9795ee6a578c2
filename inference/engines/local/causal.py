"""Engine `causal`: read next-token probabilities of a base or chat model that runs on this machine."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

from inference.engines.contract import Sampling, Score
from inference.engines.exact.number_probabilities import build_number_scores_per_row, compute_number_logprobs
from inference.engines.exact.targets import WholeVocabulary, score_batch
from inference.engines.local.answer_paths import AnswerPaths, Budget
from inference.engines.local.batching import (
    ALONE,
    CPU_PROBABILITIES,
    CPU_TOKENS,
    FAMILY_TOKENS,
    Family,
    Joining,
    choose_batch_limits,
    choose_number_of_texts_at_once,
    partition_into_batches,
)
from inference.engines.local.continuations import Continuations, Prefix, find_longest_sequence_cacheable_by_model
from inference.engines.local.engine import LocalEngine
from inference.engines.local.generation import Draft, draw_random_numbers, generate_token_ids_of_drafts
from inference.engines.local.last_position import OnePosition
from inference.engines.local.number_tree import NumberTree, does_tree_pass_equal_single_passes
from inference.engines.rows import Row
from inference.engines.thought_writing import ThoughtWriter

if TYPE_CHECKING:
    from inference.engines.loading import Checkpoint

# To keep a shorter shared start costs more time than it saves.
SHORTEST_PREFIX = 8
# Pairs of tokens in attention that take as long as one token takes in all the rest, per feature of the hidden states
# (tests/benchmarks/bench_choice.py).
ATTENTION_PAIRS = 2


class CausalEngine(ThoughtWriter, LocalEngine):
    """An engine that reads option probabilities from the next-token distribution after a prompt.

    The start that all prompts of a condition share is computed once. Options of several tokens are scored exactly
    by all beginnings of their token sequences that can matter (`followed_paths`, `AnswerPaths`), the numbers of a scale
    by all their spellings (`number_probabilities`).

    Attributes
    ----------
    prefix
        The token ids that all prompts begin with; empty where nothing is shared.
    stops
        Token ids that end a text.
    """

    def __init__(self, checkpoint: Checkpoint, batch_size: int | None = None) -> None:
        LocalEngine.__init__(self, checkpoint, batch_size)
        self.run_model = OnePosition(self.model)
        window = getattr(self.model.config.get_text_config(), "max_position_embeddings", None)
        ThoughtWriter.__init__(self, checkpoint.name, checkpoint.tokenizer, window)
        self._cache_window = find_longest_sequence_cacheable_by_model(self.run_model)
        self.prefix = Prefix([])
        shared = ("shared prefix",) if self._cache_window else ()
        self.info["shortcuts"] = [*self.run_model.shortcuts, *shared]
        self.info |= self.build_record_of_thinking_ability(getattr(self.model, "generation_config", None))
        self.stops = self.tokens.ends | _list_end_of_text_ids(self.model)

    def close(self) -> dict[str, Any]:
        """Take the hooks off the model; nothing is billed."""
        self.run_model.remove_hooks()
        return {}

    def _choose_prefix_ids_to_compute_once(self, common_ids: list[int]) -> list[int]:
        """Return the common ids to compute once for all prompts, if many and cacheable; else none."""
        usable = common_ids if self._cache_window and len(common_ids) >= SHORTEST_PREFIX else []
        if usable != self.prefix.ids:
            self.prefix = Prefix(usable)
        return usable

    def _choose_prompt_packing_limits(self, longest_prompt: int) -> Joining:
        """Choose how prompts are joined in one row, where the model takes trees."""
        if longest_prompt > self._cache_window or not self.supports_token_trees:
            return ALONE
        # A model with an attention window may count places in the row.
        room = min(FAMILY_TOKENS, self._cache_window - len(self.prefix.ids))
        return Joining(ATTENTION_PAIRS * self.model.config.get_text_config().hidden_size, SHORTEST_PREFIX, room)

    @cached_property
    def supports_token_trees(self) -> bool:
        """Whether many token paths after a prompt can be computed in one pass (`NumberTree`)."""
        return bool(self._cache_window) and does_tree_pass_equal_single_passes(self.run_model)

    def _score_numbers(self, rows: Sequence[Row], numbers: range, temperatures: Sequence[float]) -> list[list[Score]]:
        """Score rows on all numbers of a range, with a tree of paths where the model takes one."""
        lattice = self.get_number_lattice(numbers)
        longest = max(len(row.ids) for row in rows) + lattice.depth
        at_once = self._choose_number_of_paths_per_pass(len(rows), longest)
        # A model with an attention window counts places in the cache, and a tree takes one place per path.
        room = sum(map(len, lattice.stems)) + min(len(lattice.leaves), at_once)
        fits = longest + room <= self._cache_window
        tree = NumberTree(
            self._prepare_prompts_for_continuations(rows, longest, will_continue=True),
            lattice.paths,
            room,
            fits and self.supports_token_trees,
        )
        return build_number_scores_per_row(compute_number_logprobs(lattice, tree, temperatures, at_once))

    def _score_options(self, rows: Sequence[Row], temperatures: Sequence[float]) -> list[list[Score]]:
        """Score rows on their options: per row a score for every temperature."""
        targets = [self._find_or_tokenize_target_of_row(row) for row in rows]
        prompt, answer = max(len(row.ids) for row in rows), max(target.longest_answer_length for target in targets)
        # A model with an attention window counts places in the cache, and the longest answer may follow a short prompt,
        # which is padded there.
        continuations = self._prepare_prompts_for_continuations(rows, prompt + answer, will_continue=answer > 1)
        if answer == 1:
            return score_batch(targets, WholeVocabulary(continuations.compute_next_logprobs), temperatures)
        beginnings = max(len(target.tree_as_arrays.nodes) for target in targets)
        budget = self._choose_pass_budget(prompt, answer, beginnings)
        following = AnswerPaths(continuations, [target.tree for target in targets], temperatures, budget)
        return score_batch(targets, following, temperatures)

    def _choose_pass_budget(self, prompt_tokens: int, answer_tokens: int, beginnings: int) -> Budget:
        """Say how much of the answers is computed at a time.

        `prompt_tokens` and `answer_tokens` are the tokens of the longest, `beginnings` those of the answers of the
        prompt that has most.
        """
        longest, places = prompt_tokens + answer_tokens, self._cache_window - prompt_tokens
        tokens = self._choose_logit_position_count_per_pass(longest)
        if self.model.device.type == "cpu":
            tokens = max(1, min(tokens, CPU_PROBABILITIES // self.model.config.get_text_config().vocab_size))
        keeps_states = longest <= self._cache_window
        texts = choose_number_of_texts_at_once(self.model, longest, keeps_states)
        trees = keeps_states and self.supports_token_trees
        # A model with an attention window counts places in the cache. Every beginning takes one, and a pass begins
        # behind those that any of its prompts has kept: another prompt may still need nearly as many.
        return Budget(tokens, texts, min(tokens, places) if trees else 0, trees and 2 * beginnings <= places)

    def _generate_token_ids(
        self, rows: Sequence[Row], samplings_by_row: Sequence[Sequence[Sampling]]
    ) -> list[list[int] | None]:
        """Write all texts, those after one prompt next to each other."""
        drafts = [
            Draft(place, sampling, numbers)
            for place, (row, samplings) in enumerate(zip(rows, samplings_by_row, strict=True))
            for sampling in samplings
            for numbers in draw_random_numbers(self._seed, row.text, sampling)
        ]
        longest = max(
            len(row.ids) + sampling.max_tokens
            for row, samplings in zip(rows, samplings_by_row, strict=True)
            for sampling in samplings
        )
        continuations = self._prepare_prompts_for_continuations(rows, longest, will_continue=True)
        return generate_token_ids_of_drafts(
            continuations,
            drafts,
            self.stops,
            choose_number_of_texts_at_once(self.model, longest, longest <= self._cache_window),
        )

    def _score_in_passes(self, rows: Sequence[Row]) -> list[Score]:
        """Score rows of very different lengths at temperature 1, in passes that fit."""
        room = self._choose_pass_limits(max(len(row.ids) for row in rows))
        passes = partition_into_batches([Family([place], len(row.ids)) for place, row in enumerate(rows)], room)
        scores: dict[int, Score] = {}
        for places in passes:
            by_row = self._score_rows([rows[place] for place in places], (1.0,))
            scores.update(zip(places, (row_scores[0] for row_scores in by_row), strict=True))
        return [scores[place] for place in range(len(rows))]

    def _prepare_prompts_for_continuations(
        self, rows: Sequence[Row], longest_sequence: int, will_continue: bool
    ) -> Continuations:
        """Prepare a batch of prompts; none gets longer than `longest_sequence` tokens together with what follows it."""
        cached = longest_sequence <= self._cache_window
        shared = self.prefix.ids
        usable = cached and all(row.ids[: len(shared)] == shared and len(row.ids) > len(shared) for row in rows)
        prefix = self.prefix if usable else Prefix([])
        return Continuations(
            self.run_model,
            [row.ids for row in rows],
            prefix,
            cached,
            will_continue,
            self._choose_prompt_packing_limits(longest_sequence),
        )

    def _choose_number_of_paths_per_pass(self, n_rows: int, longest_sequence: int) -> int:
        """Choose how many token paths per prompt are computed in one forward pass."""
        return max(1, self._choose_logit_position_count_per_pass(longest_sequence) // n_rows)

    def _choose_logit_position_count_per_pass(self, longest_sequence: int) -> int:
        """Choose behind how many tokens next-token probabilities are computed in one forward pass."""
        return CPU_TOKENS if self.model.device.type == "cpu" else choose_batch_limits(self.model, longest_sequence)[1]


def _list_end_of_text_ids(model: Any) -> frozenset[int]:
    """Return the ids that end a text according to the checkpoint."""
    ids = getattr(getattr(model, "generation_config", None), "eos_token_id", None)
    return frozenset() if ids is None else frozenset([ids] if isinstance(ids, int) else ids)
