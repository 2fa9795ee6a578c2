"""How a study is asked: rounds of prompts, and the conditions whose answers are read off each prompt."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from inference.answers import parse
from inference.engines import Engine, Generation, Sampling, Score
from inference.prompts import Prompt

if TYPE_CHECKING:
    from inference.study import Variant


@dataclass(frozen=True, slots=True)
class Exact:
    """Exact option probabilities, under the full-vocabulary softmax at a temperature."""

    temperature: float = 1.0


Way = Exact | Sampling
Response = Score | Generation


@dataclass(frozen=True, slots=True)
class Condition:
    """One entry of `conditions` in `run.json`: its name, its recorded fields, and the way its answers come about."""

    name: str
    fields: Mapping[str, Any]
    way: Way = Exact()


def read(variant: Variant, prompt: Prompt, response: Response) -> dict[str, Any]:
    """Columns of a response row: option probabilities as they are, generated text by the rule of `answers`."""
    return _read_text(variant, prompt, response) if isinstance(response, Generation) else _read_score(variant, response)


@dataclass(frozen=True, slots=True)
class Round:
    """Prompts, and the conditions that share them: one forward pass may serve several temperatures.

    Attributes
    ----------
    conditions
        At least one.
    render
        The prompt of a variant, given the engine's mask token (None where it has none).
    read
        Columns of the response row, from variant, prompt and what the engine answered (which has no error).
    chosen
        Which variants are asked in this round: all, unless a subsample is wanted.
    """

    conditions: tuple[Condition, ...]
    render: Callable[[Variant, str | None], Prompt]
    read: Callable[[Variant, Prompt, Any], dict[str, Any]] = read
    chosen: Callable[[Variant], bool] = lambda variant: True


class Questions(Protocol):
    """How a protocol asks its study, whichever the model."""

    def rounds(self, form: str) -> Sequence[Round]:
        """Rounds in one prompt form ("plain", "chat" or "cloze"); none where a protocol has nothing to ask a mask.

        Raises
        ------
        InputError
            The prompts do not have this form.
        """


@dataclass(frozen=True, slots=True)
class Prompts(Sequence[Prompt]):
    """Prompts of many variants, rendered when they are looked at: millions of them take no memory."""

    variants: Sequence[Variant]
    render: Callable[[Variant, str | None], Prompt]
    mask_token: str | None = None

    def __len__(self) -> int:
        return len(self.variants)

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return Prompts(self.variants[index], self.render, self.mask_token)
        return self.render(self.variants[index], self.mask_token)


def ask(engine: Engine, prompts: Sequence[Prompt], ways: Sequence[Way]) -> list[Sequence[Response]]:
    """Ask one batch in several ways; what the ways share is computed once.

    Returns
    -------
    list, one entry per way, of responses, one per prompt.
    """
    exact = [way for way in ways if isinstance(way, Exact)]
    sampled = [way for way in ways if isinstance(way, Sampling)]
    scores = iter(engine.score(prompts, [way.temperature for way in exact]) if exact else ())
    generations = iter(engine.generate(prompts, sampled) if sampled else ())
    return [next(scores) if isinstance(way, Exact) else next(generations) for way in ways]


def answers(
    engine: Engine, prompts: Sequence[Prompt], batches: Sequence[Sequence[int]], ways: Sequence[Way]
) -> Iterator[tuple[Sequence[int], list[Prompt], list[Sequence[Response]]]]:
    """Every batch (indices into `prompts`) with its prompts and responses, one batch after the other."""
    for batch in batches:
        asked = [prompts[number] for number in batch]
        yield batch, asked, ask(engine, asked, ways)


def _read_score(variant: Variant, score: Score) -> dict[str, Any]:
    answer = None if score.answer is None else variant.options[score.answer].label
    return {
        "probability": score.probability,
        "logprob": score.logprob,
        "mass": score.mass,
        "mass_upper": score.mass_upper,
        "answer": answer,
    }


def _read_text(variant: Variant, prompt: Prompt, generation: Generation) -> dict[str, Any]:
    """Every text is parsed; of several, the option that most of them choose is the answer, none where two tie."""
    labels = [option.label for option in variant.options]
    wordings = dict(zip(labels, prompt.answers, strict=True))
    chosen = [None if text is None else parse(text, wordings) for text in generation.answers]
    count = [chosen.count(label) for label in labels]
    most = max(count)
    answer = labels[count.index(most)] if most and count.count(most) == 1 else None
    return {"output": list(generation.texts), "count": count, "invalid": chosen.count(None), "answer": answer}


__all__ = ["Condition", "Exact", "Prompts", "Questions", "Response", "Round", "Way", "answers", "ask", "read"]
