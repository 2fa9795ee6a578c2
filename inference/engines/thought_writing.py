"""Let a model think, several times after a prompt, and score the options where each thought ended."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property, partial
from itertools import accumulate, islice
from typing import Any, NamedTuple

from ground.errors import InputError
from inference.engines.contract import LONGEST_THOUGHT, NO_EFFORT, NOT_FINITE, Sampling, Score, Thinking, Thoughts
from inference.engines.lefttoright import LeftToRight
from inference.engines.rows import Row
from inference.engines.thinking_marks import find_missing_closing_of_thought
from inference.stimuli.templates.prompts import Prompt


class _ThoughtDraft(NamedTuple):
    """A thought that was written, what stands behind it, its tokens, and the row that options are scored after."""

    thought: str
    answer: str
    n_tokens: int
    closed: bool
    answered: Row | None


class ThoughtWriter(LeftToRight):
    """An engine that writes thoughts with its own tokens, and so can continue right after any of them.

    Attributes
    ----------
    most_thought_tokens
        Tokens for which thoughts are written at a time: all are kept until they are scored.
    """

    most_thought_tokens = 2**23

    def build_record_of_thinking_ability(self, generation_config: Any) -> dict[str, Any]:
        """Say what run.json records of a model that may think.

        Parameters
        ----------
        generation_config
            As in `read_sampler_fields_of_generation_config`.

        Returns
        -------
        Whether it thinks, as `thinks`, and how its maker samples, as `sampler`, where that is known.
        """
        sampler = read_sampler_fields_of_generation_config(generation_config) if self.tokens.thinks else None
        return {"thinks": self.tokens.thinks} | ({"sampler": sampler} if sampler else {})

    def think(self, prompts: Sequence[Prompt], thinking: Thinking) -> list[Thoughts]:
        """Let the model think after the prompts of one batch, several times, and score the options after each thought.

        Parameters
        ----------
        prompts, thinking
            As in `Engine.think`.

        Returns
        -------
        One response per prompt; a prompt that is too long gets an error.

        Raises
        ------
        InputError
            The chat template cannot switch thinking off, or no sampler of the maker is known.
        """
        rows = self._get_or_tokenize_rows(prompts, thinking.effort)
        if thinking.effort == NO_EFFORT:
            return self._score_rows_with_thinking_off(rows)
        thinking.build_sampling_of_thoughts(self.info.get("sampler"), 1)  # refuses before anything is computed
        problems = [
            self._explain_row_problem_with_answer_length(
                row,
                (thinking.budget or thinking.max_tokens or 1)
                + self._count_tokens_to_reserve_after_thought(row, thinking),
            )
            for row in rows
        ]
        return self._ask_rows_without_problem(
            partial(self._think_after_rows, thinking=thinking), rows, problems, lambda problem: Thoughts(error=problem)
        )

    def _score_rows_with_thinking_off(self, rows: Sequence[Row]) -> list[Thoughts]:
        """Score rows whose thinking the chat template has switched off: there is no thought."""
        if not all(self.tokens.does_prompt_close_thinking(row.text) for row in rows):
            raise InputError(
                f"model {self.name}: its chat template cannot switch thinking off: leave out --effort none"
            )

        def score_rows_without_thoughts(good: Sequence[Row]) -> list[Thoughts]:
            return [Thoughts(error=score.error, scores=(score,)) for score in self._score_in_passes(good)]

        problems = [self._explain_why_row_cannot_be_asked(row) for row in rows]
        return self._ask_rows_without_problem(
            score_rows_without_thoughts, rows, problems, lambda problem: Thoughts(error=problem)
        )

    def _count_tokens_to_reserve_after_thought(self, row: Row, thinking: Thinking) -> int:
        """Count the tokens for which there must be room after a thought: of the forced closing, and the answer."""
        return self._count_longest_answer_tokens(row) + (len(self._closing_ids) if thinking.budget else 0)

    @cached_property
    def _closing_ids(self) -> list[int]:
        """The tokens that close a thought by force."""
        return self.tokens.bare([self.tokens.marks.closing])[0] if self.tokens.marks else []

    def _score_in_passes(self, rows: Sequence[Row]) -> list[Score]:
        """Score rows of very different lengths at temperature 1; an engine that computes passes itself cuts them."""
        return [scores[0] for scores in self._score_rows(rows, (1.0,))]

    def _think_after_rows(self, rows: Sequence[Row], thinking: Thinking) -> list[Thoughts]:
        """Let the model think after rows, some at a time, and score their options after each thought."""
        samplings = [self._build_thought_sampling(row, thinking) for row in rows]
        tokens = max(sampling.samples * sampling.max_tokens for sampling in samplings)
        at_once = max(1, self.most_thought_tokens // tokens)
        return [
            thoughts
            for start in range(0, len(rows), at_once)
            for thoughts in self._write_and_score_thoughts_of_rows(
                rows[start : start + at_once], samplings[start : start + at_once], thinking.budget is not None
            )
        ]

    def _build_thought_sampling(self, row: Row, thinking: Thinking) -> Sampling:
        """Say how the thoughts after a row are written: as long as asked for, or as the window has room."""
        room = LONGEST_THOUGHT
        if self.window is not None:
            room = self.window - len(row.ids) - self._count_tokens_to_reserve_after_thought(row, thinking)
        return thinking.build_sampling_of_thoughts(self.info.get("sampler"), room)

    def _write_and_score_thoughts_of_rows(
        self, rows: Sequence[Row], samplings: Sequence[Sampling], closes_by_force: bool
    ) -> list[Thoughts]:
        """Write the thoughts after rows, then score the options after all that ended or were closed by force."""
        written = iter(self._generate_token_ids(rows, [[sampling] for sampling in samplings]))
        drafts = [
            None if ids is None else self._split_thought(row, ids, sampling.max_tokens, closes_by_force)
            for row, sampling in zip(rows, samplings, strict=True)
            for ids in islice(written, sampling.samples)
        ]
        answered = [draft.answered for draft in drafts if draft is not None and draft.answered is not None]
        scores = iter(self._score_in_passes(answered) if answered else ())
        parts = [
            None
            if draft is None
            else (draft.thought, draft.answer, draft.n_tokens, draft.closed, next(scores) if draft.answered else None)
            for draft in drafts
        ]
        # Example: 2 rows of 3 thoughts have the parts 0 to 2 and 3 to 5.
        ends = list(accumulate(sampling.samples for sampling in samplings))
        return [_join_thoughts_of_row(parts[start:end]) for start, end in zip([0, *ends], ends, strict=False)]

    def _split_thought(self, row: Row, ids: list[int], limit: int, closes_by_force: bool) -> _ThoughtDraft:
        """Split what was written after a row, of at most `limit` tokens, at the end of thinking.

        A thought that ends with the very last token is not yet answered (`find_missing_closing_of_thought`).
        """
        length = self.tokens.count_thinking_tokens(row.text, ids)
        is_cut = length is None or length == len(ids) == limit
        thought_ids, answer_ids = ids[:length], ids[length:] if length is not None else []
        thought, answer = self.tokens.decode([thought_ids, answer_ids])
        if is_cut and not closes_by_force:
            return _ThoughtDraft(thought, "", len(ids), False, None)
        before = [*thought_ids, *self._list_missing_closing_ids(ids, length is not None)] if is_cut else thought_ids
        begun = Row(
            row.text + self.tokens.decode_one_text_with_special_tokens(before),
            row.ids + before,
            row.answers,
            row.numbers,
        )
        return _ThoughtDraft(thought, answer, len(thought_ids), length is not None, begun)

    def _list_missing_closing_ids(self, ids: list[int], is_closed: bool) -> list[int]:
        """List the tokens that close a thought by force, or what of them is missing where it has just been closed."""
        if not is_closed or self.tokens.marks is None:
            return self._closing_ids
        missing = find_missing_closing_of_thought(
            self.tokens.decode_one_text_with_special_tokens(ids), self.tokens.marks, is_closed=True
        )
        return self.tokens.bare([missing])[0] if missing else []


def _join_thoughts_of_row(parts: Sequence[tuple[str, str, int, bool, Score | None] | None]) -> Thoughts:
    """Join the thoughts after one prompt: (thought, answer, tokens, closed, score) of each; None where one failed."""
    if not all(parts):
        return Thoughts(error=NOT_FINITE)
    thoughts, answers, tokens, closed, scores = zip(*filter(None, parts), strict=True)
    error = next((score.error for score in scores if score is not None and score.error), None)
    return Thoughts(error=error) if error else Thoughts(thoughts, answers, tokens, closed, scores)


def read_sampler_fields_of_generation_config(generation_config: Any) -> dict[str, float] | None:
    """Read how the maker of a model samples texts.

    Parameters
    ----------
    generation_config
        `GenerationConfig` of transformers, made of the file generation_config.json; None: there is none.

    Returns
    -------
    dict or None
        temperature, top_p, top_k, min_p; what the file does not name restricts nothing. None where it names no
        temperature, or says that texts are not sampled.
    """
    temperature = getattr(generation_config, "temperature", None)
    if not temperature or getattr(generation_config, "do_sample", None) is False:
        return None
    neutral = {"top_p": 1.0, "top_k": 0, "min_p": 0.0}
    given = {name: getattr(generation_config, name, None) for name in neutral}
    return {"temperature": temperature, **{name: given[name] or value for name, value in neutral.items()}}
