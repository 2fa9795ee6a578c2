"""Engine `causal`: a language model that reads left to right, base or chat, asked for its next token."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

import torch

from inference.engines import Explanation, Generation, Sampling, Score
from inference.engines.batching import CPU_TOKENS, token_budget
from inference.engines.branches import Tree, sees_trees
from inference.engines.continuations import Continuations, Prefix, cache_window
from inference.engines.generation import Draft, random_numbers, write
from inference.engines.lattice import Lattice, number_logprobs, scores_of
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
# Texts written together on a CPU: more do not come faster, and their keys and values leave the cache of a core.
CPU_TEXTS = 128
# Tokens of a tree in one forward pass on a CPU.
TREE_TOKENS = 4 * CPU_TOKENS


class CausalEngine(LocalEngine):
    """Option probabilities from the next-token distribution behind a prompt.

    The start that all prompts of a condition share is computed once. Options of several tokens are scored exactly
    by forcing their tokens one by one (`trie`), the numbers of a scale by all their spellings at once (`lattice`).
    """

    def __init__(self, checkpoint: Checkpoint, batch_size: int | None = None) -> None:
        super().__init__(checkpoint, batch_size)
        self.tokens = Tokens(self.name, self.tokenizer)
        self._window = getattr(self.model.config.get_text_config(), "max_position_embeddings", None)
        self._cache_window = cache_window(self.run_model)
        self._prefix = Prefix([])
        self._targets = Targets()
        self._answer_tokens: dict[Answers, int] = {}
        self._lattices: dict[range, Lattice] = {}
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
        row, score = self._rows([prompt])[0], self.score([prompt])[0][0]
        if row.numbers:
            forms = self._lattice(row.numbers).forms()
            return Explanation(row.text, len(row.ids), forms, (), score, row.numbers)
        options = continuations(row.text, row.answers, self.tokens.bare)
        return Explanation(row.text, len(row.ids), options.forms, options.dropped, score)

    @torch.inference_mode()
    def generate(self, prompts: Sequence[Prompt], samplings: Sequence[Sampling]) -> list[list[Generation]]:
        """Write behind one batch; prompts too long for it get an error and the others go on."""
        found: dict[Sampling, list[Generation]] = {}
        for effort, length in dict.fromkeys((sampling.effort, sampling.max_tokens) for sampling in samplings):
            alike = [s for s in dict.fromkeys(samplings) if (s.effort, s.max_tokens) == (effort, length)]
            rows = self._rows(prompts, effort)
            problems = [self._too_long(row, length) for row in rows]
            good = [row for row, problem in zip(rows, problems, strict=True) if not problem]
            alone = [Generation(error=self._out_of_memory)] * len(alike)
            written = iter(self._in_memory(partial(self._write_rows, samplings=alike), good, alone))
            by_prompt = [[Generation(error=each)] * len(alike) if each else next(written) for each in problems]
            found.update(zip(alike, map(list, zip(*by_prompt, strict=True)), strict=True))
        return [found[sampling] for sampling in samplings]

    def _rows(self, prompts: Sequence[Prompt], effort: str | None = None) -> list[Row]:
        texts = [self.tokens.render(prompt, effort) for prompt in prompts]
        encoded = self.tokens.encode(texts, [prompt.messages is not None for prompt in prompts])
        return [
            Row(text, ids, prompt.answers, prompt.numbers)
            for text, ids, prompt in zip(texts, encoded, prompts, strict=True)
        ]

    def _problem(self, row: Row) -> str | None:
        return self._too_long(row, self._longest_answer(row))

    def _too_long(self, row: Row, answer: int) -> str | None:
        """Why a prompt cannot be asked for an answer of so many tokens, or None."""
        if not row.ids:
            return "the prompt is empty"
        if self._window is not None and len(row.ids) + answer > self._window:
            return (
                f"{len(row.ids)} tokens and {answer} for the answer exceed the model's context window of {self._window}"
            )
        return None

    def _longest_answer(self, row: Row) -> int:
        """Tokens to leave free behind a prompt for the longest answer."""
        if row.numbers:
            return self._lattice(row.numbers).depth
        answers = row.answers
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

    def _lattice(self, numbers: range) -> Lattice:
        if numbers not in self._lattices:
            self._lattices[numbers] = Lattice(numbers, self._token_texts)
        return self._lattices[numbers]

    @cached_property
    def _token_texts(self) -> list[str]:
        return self.tokens.behind_text()

    @cached_property
    def _sees_trees(self) -> bool:
        return bool(self._cache_window) and sees_trees(self.run_model)

    def _score_rows(self, rows: Sequence[Row], temperatures: Sequence[float]) -> list[list[Score]]:
        found: dict[int, list[Score]] = {}
        for numbers in dict.fromkeys(row.numbers for row in rows):
            places = [place for place, row in enumerate(rows) if row.numbers == numbers]
            alike = [rows[place] for place in places]
            scores = self._score_numbers(alike, numbers, temperatures) if numbers else self._score(alike, temperatures)
            found.update(zip(places, scores, strict=True))
        return [found[place] for place in range(len(rows))]

    def _score_numbers(self, rows: Sequence[Row], numbers: range, temperatures: Sequence[float]) -> list[list[Score]]:
        lattice = self._lattice(numbers)
        longest = max(len(row.ids) for row in rows) + lattice.depth
        # A model with a window may count places, of which a tree takes one per path.
        fits = longest + lattice.size <= self._cache_window
        tree = Tree(self._asked(rows, longest, forced=True), lattice.size, fits and self._sees_trees)
        return scores_of(number_logprobs(lattice, tree, temperatures, self._paths_at_once(len(rows), longest)))

    def _score(self, rows: Sequence[Row], temperatures: Sequence[float]) -> list[list[Score]]:
        targets = [self._target(row) for row in rows]
        longest = max(len(row.ids) + self._longest_answer(row) for row in rows)
        asked = self._asked(rows, longest, forced=any(target.deep for target in targets))
        return score_batch(targets, asked.next_token, temperatures)

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

    def _paths_at_once(self, rows: int, longest: int) -> int:
        """Token paths behind each of some prompts that are followed in one forward pass."""
        most = TREE_TOKENS if self.model.device.type == "cpu" else token_budget(self.model, longest)[1]
        return max(1, most // rows)

    @staticmethod
    def _generation(texts: list[str]) -> Generation:
        return Generation(tuple(texts), tuple(texts))


def _ends(model: Any) -> frozenset[int]:
    """Ids that end a text according to the checkpoint."""
    ids = getattr(getattr(model, "generation_config", None), "eos_token_id", None)
    return frozenset() if ids is None else frozenset([ids] if isinstance(ids, int) else ids)
