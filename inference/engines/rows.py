"""Turn prompts into rows of token ids and ask them in batches: what all engines with a tokenizer share."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import islice
from threading import Lock
from typing import TYPE_CHECKING, Any, TypeVar

from inference.engines.contract import Score
from inference.engines.remembered import PromptMemory, compute_prompt_fingerprint

if TYPE_CHECKING:
    from inference.engines.exact.answer_words import Answers
    from inference.stimuli.templates.prompts import Prompt

R = TypeVar("R")

# Prompts tokenised at a time where only their lengths are kept, so that memory does not grow with their number.
CHUNK = 4096


@dataclass(slots=True)
class Row:
    """A prompt as the model gets it: rendered text, token ids, and the surface words of its options or its numbers."""

    text: str
    ids: list[int]
    answers: Answers
    numbers: range | None = None


@dataclass(frozen=True, slots=True)
class PromptMeasures:
    """What is known of many prompts after their texts and ids are forgotten.

    Attributes
    ----------
    lengths
        Tokens of every prompt.
    order
        The prompts that can be asked, those that begin alike next to each other.
    common
        Per place of `order`, how many ids at its beginning a prompt shares with the prompt before it.
    shared
        The ids with which all prompts of `order` begin; fewer than the shortest of them has.
    """

    lengths: list[int]
    order: list[int]
    common: list[int]
    shared: list[int]


class ReadPrompts(list["Prompt"]):
    """The prompts of a batch that were read before they are asked; `rows` has them per effort of thinking."""

    def __init__(self, prompts: Sequence[Prompt], rows: Mapping[str | None, list[Row]]) -> None:
        super().__init__(prompts)
        self.rows = rows


class RowEngine(ABC):
    """An engine that sees its prompts as token ids.

    A subclass says how prompts become token ids (`_tokenize_prompts_to_rows`), which it cannot take
    (`_explain_why_row_cannot_be_asked`), how the others are cut into batches (`_split_prompts_into_batches`) and how a
    batch of them is scored (`_score_rows`).
    """

    mask_token: str | None = None
    independent_of_batch = False  # padding and the shape of a batch change the last bits
    info: dict[str, Any]
    vocabulary: int | None = None
    """Rows of the embeddings, where the tokenizer has ids without one, which would end the program."""

    @cached_property
    def _prompt_memory(self) -> PromptMemory:
        """What is remembered of prompts that were tokenised."""
        return PromptMemory()

    @cached_property
    def _tokenizing_lock(self) -> Lock:
        """Held by the thread that reads: what is remembered and some tokenizers are for one at a time."""
        return Lock()

    @abstractmethod
    def _tokenize_prompts_to_rows(self, prompts: Sequence[Prompt], effort: str | None) -> list[Row]:
        """Render and tokenise prompts."""

    @abstractmethod
    def _explain_why_row_cannot_be_asked(self, row: Row) -> str | None:
        """Say why a prompt cannot be asked; None if it can."""

    @abstractmethod
    def _split_prompts_into_batches(self, measured: PromptMeasures) -> list[list[int]]:
        """Cut the prompts that can be asked into batches."""

    @abstractmethod
    def _score_rows(self, rows: Sequence[Row], temperatures: Sequence[float]) -> list[list[Score]]:
        """Score prompts that can all be asked: per prompt a score for every temperature."""

    def count_prompt_tokens(self, prompts: Sequence[Prompt], effort: str | None = None) -> list[int]:
        """Count the tokens of every prompt, special tokens included.

        Parameters
        ----------
        prompts, effort
            As in `Engine.count_prompt_tokens`.

        Returns
        -------
        A number per prompt.
        """
        return self._measure_lengths_and_common_prefixes(prompts, effort).lengths

    def cut_into_batches(self, prompts: Sequence[Prompt]) -> list[list[int]]:
        """Cut all prompts of one model and condition into batches."""
        measured = self._measure_lengths_and_common_prefixes(prompts)
        # Prompts that cannot be asked come last, in batches of their own: their length must not shape other batches.
        refused = sorted(set(range(len(prompts))).difference(measured.order))
        return self._split_prompts_into_batches(measured) + [
            refused[start : start + CHUNK] for start in range(0, len(refused), CHUNK)
        ]

    def tokenize_ahead(self, prompts: Sequence[Prompt], efforts: Collection[str | None] = (None,)) -> list[Prompt]:
        """Render and tokenise a batch before it is asked.

        Parameters
        ----------
        prompts, efforts
            As in `Engine.tokenize_ahead`.

        Returns
        -------
        The same prompts, with their rows.
        """
        return ReadPrompts(prompts, {effort: self._get_or_tokenize_rows(prompts, effort) for effort in efforts})

    def score(self, prompts: Sequence[Prompt], temperatures: Sequence[float] = (1.0,)) -> list[list[Score]]:
        """Score one batch.

        Parameters
        ----------
        prompts, temperatures
            As in `Engine.score`.

        Returns
        -------
        Per temperature a list with one score per prompt; a prompt that cannot be asked gets an error.
        """
        rows = self._get_or_tokenize_rows(prompts)
        by_prompt = self._ask_rows_without_problem(
            partial(self._score_rows, temperatures=temperatures),
            rows,
            [self._explain_why_row_cannot_be_asked(row) for row in rows],
            lambda problem: [Score(error=problem)] * len(temperatures),
        )
        return [list(scores) for scores in zip(*by_prompt, strict=True)]

    def _get_or_tokenize_rows(self, prompts: Sequence[Prompt], effort: str | None = None) -> list[Row]:
        """Return prompts as they were read, or read them now."""
        if isinstance(prompts, ReadPrompts):
            return prompts.rows[effort]
        with self._tokenizing_lock:
            return self._tokenize_prompts_to_rows(prompts, effort)

    def _ask_rows_without_problem(
        self,
        ask: Callable[[Sequence[Row]], list[R]],
        rows: Sequence[Row],
        problems: Sequence[str | None],
        build_failure: Callable[[str], R],
    ) -> list[R]:
        """Ask the rows without a problem; `build_failure` makes the results of the others."""
        good = [row for row, problem in zip(rows, problems, strict=True) if not problem]
        results = iter(self._ask_within_memory(ask, good, build_failure) if good else ())
        return [build_failure(problem) if problem else next(results) for problem in problems]

    def _ask_within_memory(
        self, ask: Callable[[Sequence[Row]], list[R]], rows: Sequence[Row], build_failure: Callable[[str], R]
    ) -> list[R]:
        """Ask all rows at once; an engine that must watch its own memory asks fewer."""
        return ask(rows)

    def _recall_or_tokenize_rows(
        self,
        prompts: Sequence[Prompt],
        tokenize: Callable[[list[Prompt]], list[tuple[str, list[int]]]],
        effort: str | None = None,
    ) -> list[Row]:
        """Make rows of what is remembered of prompts; `tokenize` renders and tokenises the others, each once."""
        keys = [compute_prompt_fingerprint(prompt, effort) for prompt in prompts]
        every = dict(zip(keys, prompts, strict=True))
        entries = {key: self._prompt_memory.get(key, prompt) for key, prompt in every.items()}
        texts_and_ids = {key: entry for key, entry in entries.items() if entry is not None}
        new = [key for key in every if key not in texts_and_ids]
        for key, text_and_ids in zip(new, tokenize([every[key] for key in new]) if new else (), strict=True):
            texts_and_ids[key] = text_and_ids
            self._prompt_memory.add(key, every[key], *text_and_ids)
        return [
            Row(*texts_and_ids[key], prompt.answers, prompt.numbers) for key, prompt in zip(keys, prompts, strict=True)
        ]

    def _describe_unknown_token_of_row(self, row: Row) -> str | None:
        """Say which token of a prompt the model does not know; None if it knows all."""
        if self.vocabulary is None or (highest := max(row.ids, default=0)) < self.vocabulary:
            return None
        return f"the prompt holds the token {highest:,}, which the model does not know: it has {self.vocabulary:,}"

    def describe_cost_of_tokens(self, tokens_in: int, tokens_out: int) -> str | None:
        """Bill nothing: a model on this machine costs nothing.

        Parameters
        ----------
        tokens_in, tokens_out
            As in `Engine.describe_cost_of_tokens`.

        Returns
        -------
        None.
        """
        return None

    def close(self) -> dict[str, Any]:
        """Do nothing: all memory is freed with the engine."""
        return {}

    def _measure_lengths_and_common_prefixes(
        self, prompts: Sequence[Prompt], effort: str | None = None
    ) -> PromptMeasures:
        """Measure all prompts; those that begin alike are found within each chunk that is tokenised at a time."""
        self._prompt_memory.clear_if_half_full()
        lengths: list[int] = []
        order: list[int] = []
        common: list[int] = []
        shared: list[int] | None = None
        before: list[int] = []
        pending = iter(prompts)
        while chunk := list(islice(pending, CHUNK)):
            rows = self._get_or_tokenize_rows(chunk, effort)
            good = [place for place, row in enumerate(rows) if not self._explain_why_row_cannot_be_asked(row)]
            good.sort(key=lambda place, rows=rows: rows[place].ids)  # type: ignore[misc]
            for place in good:
                order.append(len(lengths) + place)
                common.append(len(find_common_prefix(before, rows[place].ids)))
                before = rows[place].ids
            # What the first and the last in alphabetical order share, all share: [1, 2], [1, 3] and [1, 4] share [1].
            if good:
                ends = find_common_prefix(rows[good[0]].ids, rows[good[-1]].ids)
                shared = ends if shared is None else find_common_prefix(shared, ends)
            lengths.extend(len(row.ids) for row in rows)
        # Every prompt must keep one token to compute, whose output is read.
        most = min((lengths[place] for place in order), default=1) - 1
        return PromptMeasures(lengths, order, common, (shared or [])[:most])


def find_common_prefix(a: list[int], b: list[int]) -> list[int]:
    """Find the ids with which both lists begin.

    Slices are compared at once, and the half that differs is halved again: ten times as fast as id after id.

    Parameters
    ----------
    a, b
        Lists of token ids.

    Returns
    -------
    A new list, perhaps empty.

    Examples
    --------
    >>> find_common_prefix([1, 2, 3, 4, 5], [1, 2, 3, 9])
    [1, 2, 3]
    """
    # The lists are equal before `n_equal`, and not yet compared from there to `end`. Above: 0 to 4, then 2 to 4, then 3
    # to 4; there 4 and 9 differ, so `end` becomes 3.
    n_equal, end = 0, min(len(a), len(b))
    while n_equal < end:
        middle = (n_equal + end + 1) // 2
        if a[n_equal:middle] == b[n_equal:middle]:
            n_equal = middle
        else:
            end = middle - 1
    return a[:n_equal]
