"""Engine `causal`: a language model that reads left to right, base or chat, asked for its next token."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from inference.engines import Explanation, Score
from inference.engines.continuations import Continuations, Prefix, cache_window
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

    def _rows(self, prompts: Sequence[Prompt]) -> list[Row]:
        texts = [self.tokens.render(prompt) for prompt in prompts]
        encoded = self.tokens.encode(texts, [prompt.messages is not None for prompt in prompts])
        return [Row(text, ids, prompt.answers) for text, ids, prompt in zip(texts, encoded, prompts, strict=True)]

    def _problem(self, row: Row) -> str | None:
        if not row.ids:
            return "the prompt is empty"
        if self._window is not None and len(row.ids) + self._longest_answer(row.answers) > self._window:
            answer = self._longest_answer(row.answers)
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
        return score_batch(targets, asked.next_token, temperatures)
