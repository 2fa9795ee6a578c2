"""An engine without a model: its numbers depend on the prompt and on the batch, so a wrong batch shows in the rows."""

from __future__ import annotations

import hashlib
import math
import time
from collections.abc import Callable, Collection, Sequence

from inference.asking.models import Model
from inference.engines.contract import Explanation, Generation, Sampling, Score, Thinking, Thoughts
from inference.stimuli.study import Study
from inference.stimuli.templates.prompts import Prompt


class TrivialEngine:
    """Scores from a hash; `fails(text)` says which prompts get an error instead."""

    def __init__(
        self,
        info: dict | None = None,
        *,
        form: str = "plain",
        size: int = 4,
        seconds: float = 0.0,
        fails: Callable[[str], bool] = lambda text: False,
        before_batch: Callable[[int], None] = lambda number: None,
    ) -> None:
        self.info = {"engine": "causal", "revision": "1", "dtype": "float32", "device": "cpu", "parameters": 10} | (
            info or {}
        )
        self._form, self._size, self._seconds, self._fails, self._before_batch = (
            form,
            size,
            seconds,
            fails,
            before_batch,
        )
        self.independent_of_batch = False
        self.mask_token = "[MASK]" if form == "cloze" else None
        self.batches_scored = 0

    def choose_prompt_form(self, requested: str) -> str:
        return self._form if requested == "auto" or self.mask_token else requested

    def count_prompt_tokens(self, prompts: Sequence[Prompt], effort: str | None = None) -> list[int]:
        return [len(self.render(prompt, effort).split()) for prompt in prompts]

    def render(self, prompt: Prompt, effort: str | None = None) -> str:
        return f"{shown(prompt)}{f' [{effort}]' if effort else ''}"

    def explain_and_score_prompt(self, prompt: Prompt, effort: str | None = None) -> Explanation:
        words = [tuple((word, (len(word), ord(word[0]))) for word in answers[:-1]) for answers in prompt.answers]
        dropped = tuple((number, answers[-1], "no such token") for number, answers in enumerate(prompt.answers))
        (n_tokens,), ((score,),) = self.count_prompt_tokens([prompt], effort), self.score([prompt])
        return Explanation(self.render(prompt, effort), n_tokens, tuple(words), dropped, score)

    def cut_into_batches(self, prompts: Sequence[Prompt]) -> list[list[int]]:
        order = sorted(range(len(prompts)), key=lambda number: -len(shown(prompts[number])))
        return [order[start : start + self._size] for start in range(0, len(order), self._size)]

    def tokenize_ahead(self, prompts: Sequence[Prompt], efforts: Collection[str | None] = (None,)) -> list[Prompt]:
        return list(prompts)

    def score(self, prompts: Sequence[Prompt], temperatures: Sequence[float] = (1.0,)) -> list[list[Score]]:
        self._before_batch(self.batches_scored)
        self.batches_scored += 1
        time.sleep(self._seconds)
        batch = "".join(shown(prompt) for prompt in prompts)
        return [
            [self._score(shown(prompt), f"{batch}{t if t != 1 else ''}") for prompt in prompts] for t in temperatures
        ]

    def generate(self, prompts: Sequence[Prompt], samplings: Sequence[Sampling]) -> list[list[Generation]]:
        self._before_batch(self.batches_scored)
        self.batches_scored += 1
        time.sleep(self._seconds)
        return [[self._write(prompt, sampling) for prompt in prompts] for sampling in samplings]

    def describe_cost_of_tokens(self, tokens_in: int, tokens_out: int) -> str | None:
        return None

    def close(self) -> dict:
        return {}

    def think(self, prompts: Sequence[Prompt], thinking: Thinking) -> list[Thoughts]:
        """The thoughts of prompts with an odd length end; every second one does not where there are several."""
        scores = self.score(prompts)[0]
        return [
            Thoughts(error=score.error) if score.error else self._think(prompt, score, thinking)
            for prompt, score in zip(prompts, scores, strict=True)
        ]

    def _think(self, prompt: Prompt, score: Score, thinking: Thinking) -> Thoughts:
        ends = [len(shown(prompt)) % 2 == 1 and number % 2 == 0 for number in range(thinking.thoughts)]
        return Thoughts(
            tuple(f"I think {number}." for number in range(thinking.thoughts)),
            tuple("yes" if end else "" for end in ends),
            tuple(3 + number for number in range(thinking.thoughts)),
            tuple(ends),
            tuple(score if end or thinking.budget else None for end in ends),
        )

    def _write(self, prompt: Prompt, sampling: Sampling) -> Generation:
        """Every third text declines; the others begin with an answer word."""
        if self._fails(shown(prompt)):
            return Generation(error="too long")
        words = [*(words[0] for words in prompt.answers), "Well"]
        texts = []
        for number in range(sampling.samples):
            seen = f"{number}{sampling.temperature}{shown(prompt)}".encode()
            texts.append(f"{words[hashlib.sha256(seen).digest()[0] % len(words)]}, that is it.")
        return Generation(tuple(texts), tuple(texts))

    def _score(self, text: str, batch: str) -> Score:
        if self._fails(text):
            return Score(error="too long")
        first, second = (hashlib.sha256(f"{name}{text}{batch}".encode()).digest()[0] + 1 for name in "ab")
        probability = (first / 1000, second / 1000)
        answer = None if first < 30 else int(second > first)
        return Score(probability, tuple(map(math.log, probability)), sum(probability), answer)


def shown(prompt: Prompt) -> str:
    """The whole text of a prompt."""
    return (
        prompt.text if prompt.text is not None else "\n".join(message["content"] for message in prompt.messages or ())
    )


def loader(**settings) -> Callable[[Model, int], TrivialEngine]:
    """A `load` for `inference.asking.execute.ask_tasks_and_list_tallies`."""
    return lambda model, seed: TrivialEngine(**settings)


def small_study(items: int = 3, paraphrases: int = 4, name: str = "small") -> Study:
    """A study of the `agreement` protocol with made-up sentences of different lengths."""
    from inference.protocols import agreement
    from inference.stimuli.study import ORIGINAL, PARAPHRASE, Item, Variant

    def wording(item: int, number: int) -> str:
        return f"Thing {item} is " + "very " * (number * 7 % 5) + f"good, said {number}."

    made = [
        Item(
            str(item),
            (
                Variant(str(item), ORIGINAL, ORIGINAL, wording(item, 0), ()),
                *(
                    Variant(str(item), f"{PARAPHRASE}-{number:03d}", PARAPHRASE, wording(item, number), ())
                    for number in range(1, paraphrases + 1)
                ),
            ),
        )
        for item in range(items)
    ]
    return agreement.build_agreement_study(tuple(made), name, "made up")
