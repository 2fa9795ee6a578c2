"""Engine `masked`: read the probabilities of words that fill a mask, from a bidirectional model on this machine."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import itemgetter
from typing import TYPE_CHECKING, Any, TypeVar

import torch

from ground.errors import InputError, shorten_text
from inference.engines.contract import Explanation, Score
from inference.engines.exact.answer_words import (
    Options,
    TokenIds,
    build_options_from_forms,
    extract_first_word,
    extract_prompt_end_affecting_tokens,
)
from inference.engines.exact.targets import Target, Targets, WholeVocabulary, score_batch
from inference.engines.local.batching import (
    HEAD_ROWS,
    Family,
    ask_batch_if_memory_suffices,
    merge_consecutive_batches,
    partition_into_batches,
)
from inference.engines.local.engine import NonWritingEngine, pad_rows_right_and_count_lengths
from inference.engines.local.last_position import OnePosition
from inference.engines.rows import PromptMeasures, Row
from inference.engines.tokens import build_encoder_without_truncation_or_padding

if TYPE_CHECKING:
    from inference.engines.loading import Checkpoint
    from inference.stimuli.templates.prompts import Prompt

R = TypeVar("R")


class MaskedEngine(NonWritingEngine):
    """An engine that reads option probabilities at the mask: the sum over an option's words that are one token."""

    does = "fills a mask"

    def __init__(self, checkpoint: Checkpoint, batch_size: int | None = None) -> None:
        super().__init__(checkpoint, batch_size)
        if self.tokenizer.mask_token is None:
            raise InputError(f"model {self.name}: its tokenizer has no mask token, so --engine masked cannot ask it")
        self._mask: str = self.tokenizer.mask_token
        self.mask_token = self._mask
        self._encode = build_encoder_without_truncation_or_padding(self.tokenizer, add_special_tokens=True)
        self.run_model = OnePosition(self.model)
        self._targets = Targets()
        self.info["shortcuts"] = list(self.run_model.shortcuts)

    def close(self) -> dict[str, Any]:
        """Take the hooks off the model; nothing is billed."""
        self.run_model.remove_hooks()
        return {}

    def choose_prompt_form(self, requested: str) -> str:
        """Return "cloze", the only form of a masked model, whatever form causal models are asked in."""
        return "cloze"

    def render(self, prompt: Prompt, effort: str | None = None) -> str:
        """Write a prompt out as the model gets it.

        Parameters
        ----------
        prompt
            A prompt of the form cloze.
        effort
            Without effect: a masked model does not think.

        Returns
        -------
        The text.
        """
        return prompt.text or ""

    def explain_and_score_prompt(self, prompt: Prompt, effort: str | None = None) -> Explanation:
        """Show how one prompt is tokenised and answered, and which answer words count.

        Parameters
        ----------
        prompt, effort
            As in `contract.Engine`.

        Returns
        -------
        Explanation
        """
        row = self._get_or_tokenize_rows([prompt])[0]
        options = self._find_answers_of_one_token(row)
        return Explanation(row.text, len(row.ids), options.forms, options.dropped, self.score([prompt])[0][0])

    def _tokenize_prompts_to_rows(self, prompts: Sequence[Prompt], effort: str | None) -> list[Row]:
        """Tokenise cloze prompts, or recall them; refuse numbers of a scale."""
        if any(prompt.numbers for prompt in prompts):
            raise InputError(f"model {self.name} fills a mask, which has no room for a number of a scale")
        return self._recall_or_tokenize_rows(prompts, self._tokenize_prompts)

    def _tokenize_prompts(self, prompts: Sequence[Prompt]) -> list[tuple[str, list[int]]]:
        """Tokenise prompts; every one needs the mask once."""
        texts = [prompt.text or "" for prompt in prompts]
        read = list(zip(texts, self._encode(texts), strict=True))
        for text, ids in read:
            masks = ids.count(self.tokenizer.mask_token_id)
            if masks != 1:
                raise InputError(
                    f"a prompt must contain the mask {self.mask_token} of model {self.name} once, this one has {masks}:"
                    f" '{shorten_text(text)}'; "
                    "change the prompt, or the statement if it contains the mask itself"
                )
        return read

    def _split_prompts_into_batches(self, measured: PromptMeasures) -> list[list[int]]:
        """Cut batches of several passes, after which the head is computed once, where that is faster."""
        passes = super()._split_prompts_into_batches(measured)
        joins_passes = (
            self.model.device.type == "cpu" and self._batch_size is None and self.run_model.is_joint_head_exact
        )
        return merge_consecutive_batches(passes, HEAD_ROWS) if joins_passes else passes

    @torch.inference_mode()
    def _ask_within_memory(
        self, ask: Callable[[Sequence[Row]], list[R]], rows: Sequence[Row], build_failure: Callable[[str], R]
    ) -> list[R]:
        """Ask a batch; where its passes together do not fit into memory, each of them as a batch of its own."""
        passes = self._split_batch_into_passes(rows)
        results = ask_batch_if_memory_suffices(ask, rows) if len(passes) > 1 else None
        if results is not None:
            return results
        results_by_place: dict[int, R] = {}
        for places in passes:
            part = super()._ask_within_memory(ask, [rows[place] for place in places], build_failure)
            results_by_place |= zip(places, part, strict=True)
        return [results_by_place[place] for place in range(len(rows))]

    def _score_rows(self, rows: Sequence[Row], temperatures: Sequence[float]) -> list[list[Score]]:
        """Score rows at their masks: per row a score for every temperature."""
        passes = self._split_batch_into_passes(rows)
        log_softmax = self.run_model.compute_log_softmax_of_several_passes(
            [self._build_read_places_and_inputs_of_pass([rows[place] for place in part]) for part in passes]
        )
        following = WholeVocabulary(lambda _path: log_softmax)
        order = [place for part in passes for place in part]
        scored = score_batch(
            [self._find_or_tokenize_target_of_row(rows[place]) for place in order], following, temperatures
        )
        return [scores for _, scores in sorted(zip(order, scored, strict=True), key=itemgetter(0))]

    def _split_batch_into_passes(self, rows: Sequence[Row]) -> list[list[int]]:
        """Cut a batch into passes of the body: places of rows."""
        lengths = [len(row.ids) for row in rows]
        return partition_into_batches(
            [Family([place], length) for place, length in enumerate(lengths)], self._choose_pass_limits(max(lengths))
        )

    def _build_read_places_and_inputs_of_pass(
        self, rows: Sequence[Row]
    ) -> tuple[torch.Tensor, dict[str, torch.Tensor | None]]:
        """Make the inputs of one pass; first come the places of the masks."""
        ids, lengths = pad_rows_right_and_count_lengths([row.ids for row in rows], self.model.device, self._pad)
        at = (ids == self.tokenizer.mask_token_id).int().argmax(-1)
        # Rows of one length need no mask, and attention without one is faster.
        padded = int(lengths.min()) < ids.shape[1]
        mask = (torch.arange(ids.shape[1], device=ids.device) < lengths[:, None]).long() if padded else None
        return at, {"input_ids": ids, "attention_mask": mask}

    def _find_or_tokenize_target_of_row(self, row: Row) -> Target:
        """Return the options of a row as token ids, found once per context."""
        left, _, right = row.text.partition(self._mask)
        context = (row.answers, extract_prompt_end_affecting_tokens(left), extract_first_word(right))
        return self._targets.find_or_build_target(context, lambda: self._find_answers_of_one_token(row))

    def _find_answers_of_one_token(self, row: Row) -> Options:
        """Find the words that are one token in place of the mask and leave the prompt's other tokens unchanged."""
        words = [(option, word) for option, words in enumerate(row.answers) for word in words]
        at = row.ids.index(self.tokenizer.mask_token_id)
        counted_forms: list[tuple[int, str, TokenIds]] = []
        dropped: list[tuple[int, str, str]] = []
        texts = [row.text.replace(self._mask, word) for _, word in words]
        for (option, word), ids in zip(words, self._encode(texts), strict=True):
            if len(ids) != len(row.ids) or ids[:at] != row.ids[:at] or ids[at + 1 :] != row.ids[at + 1 :]:
                dropped.append((option, word, "is not one token in this place"))
            elif ids[at] == self.tokenizer.unk_token_id:
                dropped.append((option, word, "is not in the vocabulary"))
            else:
                counted_forms.append((option, word, (ids[at],)))
        return build_options_from_forms(row.answers, counted_forms, dropped)
