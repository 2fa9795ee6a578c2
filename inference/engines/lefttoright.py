"""Prompts on the left, answers on the right: what all engines of next-token models have in common."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from inference.engines import Explanation, Generation, Sampling
from inference.engines.options import Answers, continuations, spaced, tail
from inference.engines.rows import Row, RowEngine
from inference.engines.targets import Target, Targets
from inference.engines.tokens import Tokens
from inference.errors import InputError

if TYPE_CHECKING:
    from inference.prompts import Prompt


class LeftToRight(RowEngine):
    """Prompts as token ids, and the options as continuations of them.

    Parameters
    ----------
    name, tokenizer
        The model's.
    window
        Longest sequence in tokens, answer included; None where there is no limit.
    """

    def __init__(self, name: str, tokenizer: Any, window: int | None) -> None:
        self.name = name
        self.tokens = Tokens(name, tokenizer)
        self._window = window
        self._targets = Targets()
        self._answer_tokens: dict[Answers, int] = {}

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
            rows = self._rows(prompts, effort)
            problems = [self._too_long(row, length) for row in rows]
            good = [row for row, problem in zip(rows, problems, strict=True) if not problem]
            written = iter(self._write_askable(good, alike))
            by_prompt = [[Generation(error=each)] * len(alike) if each else next(written) for each in problems]
            found.update(zip(alike, map(list, zip(*by_prompt, strict=True)), strict=True))
        return [found[sampling] for sampling in samplings]

    @abstractmethod
    def _write_askable(self, rows: list[Row], samplings: Sequence[Sampling]) -> list[list[Generation]]:
        """Write behind prompts that have room for it: per prompt a generation for every sampling.

        The samplings differ neither in effort nor in length.
        """

    @staticmethod
    def _generation(texts: list[str]) -> Generation:
        return Generation(tuple(texts), tuple(texts))

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

    def _target(self, row: Row) -> Target:
        context = (row.answers, tail(row.text))
        return self._targets.get(context, lambda: continuations(row.text, row.answers, self.tokens.bare))
