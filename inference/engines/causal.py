"""Engine `causal`: a language model that reads left to right, base or chat, asked for its next token."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from inference.engines import Explanation, Generation, Sampling, Score, Thought
from inference.engines.batching import text_budget
from inference.engines.continuations import Continuations, Prefix, cache_window
from inference.engines.generation import Draft, random_numbers, write
from inference.engines.local import LocalEngine, Row
from inference.engines.options import Answers, continuations, spaced, tail
from inference.engines.targets import Target, Targets, score_batch
from inference.engines.tokens import Tokens
from inference.errors import InputError

if TYPE_CHECKING:
    from inference.engines.loading import Checkpoint
    from inference.prompts import Prompt

# A shorter shared start costs more in bookkeeping than it saves.
SHORTEST_PREFIX = 8


class CausalEngine(LocalEngine):
    """Option probabilities from the next-token distribution behind a prompt.

    The start that all prompts of a condition share is computed once. Options of several tokens are scored exactly
    by forcing their tokens one by one (`trie`).
    """

    def __init__(self, checkpoint: Checkpoint, batch_size: int | None = None) -> None:
        super().__init__(checkpoint, batch_size)
        self.tokens = Tokens(self.name, self.tokenizer)
        self._window = getattr(self.model.config.get_text_config(), "max_position_embeddings", None)
        self._cache_window = cache_window(self.run_model)
        self._prefix = Prefix([])
        self._targets = Targets()
        self._answer_tokens: dict[Answers, int] = {}
        shared = ("shared prefix",) if self._cache_window else ()
        self.info["shortcuts"] = [*self.run_model.shortcuts, *shared]
        self.info["thinks"] = self.tokens.thinks
        self._stops = self.tokens.ends | _ends(self.model)

    def form(self, requested: str) -> str:
        """Resolve the prompt form: chat where the tokenizer has a chat template, plain otherwise.

        Raises
        ------
        InputError
            Chat without a template, or cloze.
        """
        chats = self.tokens.chat_template is not None
        form = ("chat" if chats else "plain") if requested == "auto" else requested
        if form == "cloze":
            raise InputError(f"model {self.name} predicts the next word, not a mask: ask it with --form plain or chat")
        if form == "chat" and not chats:
            raise InputError(f"model {self.name} has no chat template: ask it with --form plain")
        return form

    def explain(self, prompt: Prompt) -> Explanation:
        """Show how one prompt is rendered, tokenised and answered."""
        row = self._rows([prompt])[0]
        options = continuations(row.text, row.answers, self.tokens.bare)
        return Explanation(row.text, len(row.ids), options.forms, options.dropped, self.score([prompt])[0][0])

    def generate(self, prompts: Sequence[Prompt], samplings: Sequence[Sampling]) -> list[list[Generation]]:
        """Write behind one batch; prompts too long for it get an error and the others go on."""
        found: dict[Sampling, list[Generation]] = {}
        for effort, length in dict.fromkeys((sampling.effort, sampling.max_tokens) for sampling in samplings):
            alike = [s for s in dict.fromkeys(samplings) if (s.effort, s.max_tokens) == (effort, length)]
            found.update(zip(alike, map(list, zip(*self._generate_alike(prompts, alike), strict=True)), strict=True))
        return [found[sampling] for sampling in samplings]

    def _generate_alike(self, prompts: Sequence[Prompt], samplings: Sequence[Sampling]) -> list[list[Generation]]:
        """Per prompt a generation for every sampling; these have one effort and one `max_tokens`."""
        rows = self._rows(prompts, samplings[0].effort)
        return self._answered(
            partial(self._write_rows, samplings=samplings),
            rows,
            [self._too_long(row, samplings[0].max_tokens) for row in rows],
            lambda problem: [Generation(error=problem)] * len(samplings),
        )

    def think(self, prompts: Sequence[Prompt], sampling: Sampling) -> list[Thought]:
        """Think behind one batch, then score the options; prompts too long for it get an error."""
        rows = self._rows(prompts, sampling.effort)
        problems = [self._too_long(row, sampling.max_tokens + self._longest_answer(row.answers)) for row in rows]
        return self._answered(
            partial(self._think_rows, sampling=sampling), rows, problems, lambda problem: Thought(error=problem)
        )

    def _rows(self, prompts: Sequence[Prompt], effort: str | None = None) -> list[Row]:
        texts = [self.tokens.render(prompt, effort) for prompt in prompts]
        encoded = self.tokens.encode(texts, [prompt.messages is not None for prompt in prompts])
        return [Row(text, ids, prompt.answers) for text, ids, prompt in zip(texts, encoded, prompts, strict=True)]

    def _problem(self, row: Row) -> str | None:
        return self._too_long(row, self._longest_answer(row.answers))

    def _too_long(self, row: Row, answer: int) -> str | None:
        """Why a prompt cannot be asked for an answer of so many tokens, or None."""
        if not row.ids:
            return "the prompt is empty"
        if self._window is not None and len(row.ids) + answer > self._window:
            return (
                f"{len(row.ids)} tokens and {answer} for the answer exceed the model's context window of {self._window}"
            )
        return None

    def _longest_answer(self, answers: Answers) -> int:
        """Tokens to leave free behind a prompt for the longest answer."""
        if answers not in self._answer_tokens:
            forms = [form for words in answers for word in words for form in spaced(word)]
            self._answer_tokens[answers] = max(map(len, self.tokens.bare(forms)), default=0)
        return self._answer_tokens[answers]

    def _share(self, prefix: list[int]) -> list[int]:
        usable = prefix if self._cache_window and len(prefix) >= SHORTEST_PREFIX else []
        if usable != self._prefix.ids:
            self._prefix = Prefix(usable)
        return usable

    def _target(self, row: Row) -> Target:
        context = (row.answers, tail(row.text))
        return self._targets.get(context, lambda: continuations(row.text, row.answers, self.tokens.bare))

    def _score_rows(self, rows: Sequence[Row], temperatures: Sequence[float]) -> list[list[Score]]:
        targets = [self._target(row) for row in rows]
        longest = max(len(row.ids) + self._longest_answer(row.answers) for row in rows)
        asked = self._asked(rows, longest, forced=any(target.deep for target in targets))
        return score_batch(targets, asked.next_token, temperatures)

    def _write_rows(self, rows: Sequence[Row], samplings: Sequence[Sampling]) -> list[list[Generation]]:
        """All samples of all samplings, which have the same `max_tokens`, behind prompts that are computed once."""
        written = iter(self._written(rows, samplings))
        return [
            [self._generation(row, [next(written) for _ in range(sampling.samples)]) for sampling in samplings]
            for row in rows
        ]

    def _think_rows(self, rows: Sequence[Row], sampling: Sampling) -> list[Thought]:
        written = self._written(rows, [sampling])
        lengths = [self.tokens.thinking(row.text, ids) for row, ids in zip(rows, written, strict=True)]
        begun = [
            Row(row.text + self.tokens.raw(ids[:length]), row.ids + ids[:length], row.answers)
            for row, ids, length in zip(rows, written, lengths, strict=True)
            if length is not None
        ]
        scores = iter(self._score_rows(begun, (1.0,)) if begun else ())
        return [
            Thought(text, None if length is None else next(scores)[0])
            for text, length in zip(self.tokens.decode(written), lengths, strict=True)
        ]

    def _written(self, rows: Sequence[Row], samplings: Sequence[Sampling]) -> list[list[int]]:
        """Token ids of all texts, those behind one prompt side by side."""
        drafts = [
            Draft(place, sampling.temperature, numbers)
            for place, row in enumerate(rows)
            for sampling in samplings
            for numbers in random_numbers(self._seed, row.text, sampling)
        ]
        longest = max(len(row.ids) for row in rows) + samplings[0].max_tokens
        asked = self._asked(rows, longest, forced=True)
        return write(asked, drafts, self._stops, text_budget(self.model, longest, longest <= self._cache_window))

    def _generation(self, row: Row, written: Sequence[list[int]]) -> Generation:
        texts = tuple(self.tokens.decode(written))
        if not self.tokens.thinks:
            return Generation(texts, texts)
        lengths = [self.tokens.thinking(row.text, ids) for ids in written]
        behind = iter(self.tokens.decode([ids[n:] for ids, n in zip(written, lengths, strict=True) if n is not None]))
        return Generation(texts, tuple(None if length is None else next(behind) for length in lengths))

    def _asked(self, rows: Sequence[Row], longest: int, forced: bool) -> Continuations:
        """A batch of prompts, of which none with what follows it gets longer than `longest` tokens."""
        cached = longest <= self._cache_window
        shared = self._prefix.ids
        usable = cached and all(row.ids[: len(shared)] == shared and len(row.ids) > len(shared) for row in rows)
        prefix = self._prefix if usable else Prefix([])
        return Continuations(self.run_model, [row.ids for row in rows], prefix, cached, forced)


def _ends(model: Any) -> frozenset[int]:
    """Ids that end a text according to the checkpoint."""
    ids = getattr(getattr(model, "generation_config", None), "eos_token_id", None)
    return frozenset() if ids is None else frozenset([ids] if isinstance(ids, int) else ids)
