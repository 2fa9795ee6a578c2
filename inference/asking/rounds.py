"""Ask rounds of prompts: one round serves all conditions whose answers are read from the same prompts."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol, runtime_checkable

from inference.asking.prefetch import map_ahead_in_thread
from inference.asking.reading.read_texts import build_lenient_and_strict_answer_columns
from inference.asking.text_answers import parse_answer
from inference.asking.thoughts import build_columns_of_thoughts, find_most_frequent_answer
from inference.engines.contract import Engine, Generation, Sampling, Score, StreamingEngine, Thinking, Thoughts
from inference.stimuli.study import Variant
from inference.stimuli.templates.prompts import Prompt, PromptBook

# Most thoughts of a batch: enough that the scheduler of vLLM is full for most of the time.
THOUGHTS_OF_BATCH = 4096


@dataclass(frozen=True, slots=True)
class Exact:
    """Way of answering: exact option probabilities, under the full-vocabulary softmax at a temperature."""

    temperature: float = 1.0


Way = Exact | Sampling | Thinking


def get_thinking_effort(way: Way) -> str | None:
    """Return how hard a model is to think in this way of answering; None where nothing says it."""
    return way.effort if isinstance(way, Sampling | Thinking) else None


Response = Score | Generation | Thoughts


@dataclass(frozen=True, slots=True)
class Condition:
    """One entry of `conditions` in `run.json`: its name, its recorded fields, and how its answers are obtained."""

    name: str
    fields: Mapping[str, Any]
    way: Way = Exact()


def build_columns_of_response(variant: Variant, prompt: Prompt, response: Response) -> dict[str, Any]:
    """Make the columns of a response row: probabilities as they are, texts parsed (`text_answers`).

    Parameters
    ----------
    variant, prompt
        What was asked.
    response
        What the engine returned, without an error.

    Returns
    -------
    Column -> value.
    """
    if isinstance(response, Generation):
        return _build_majority_option_columns_of_texts(variant, prompt, response)
    if isinstance(response, Thoughts):
        return build_columns_of_thoughts(response, list_option_labels(variant))
    return _build_option_probability_columns(variant, response)


def build_columns_of_texts_without_parsing(variant: Variant, prompt: Prompt, generation: Generation) -> dict[str, Any]:
    """Make the columns of a row of texts that nothing is read from.

    Parameters
    ----------
    variant, prompt
        What was asked.
    generation
        The texts.

    Returns
    -------
    dict
        `output`, the answers without the model's thinking, empty where it never ended, and `invalid`, how many are.
    """
    silent = sum(answer is None for answer in generation.answers)
    return {"output": [answer or "" for answer in generation.answers], "invalid": silent}


def list_option_labels(variant: Variant) -> list[str]:
    """List the labels of all options of a variant."""
    return [option.label for option in variant.options]


@dataclass(frozen=True, slots=True)
class Draw:
    """How many wordings of every item, or `per_pattern` of it, are drawn, of `least` to `most` that there are."""

    wordings: int
    least: int
    most: int
    per_pattern: bool = False


@dataclass(frozen=True, slots=True)
class Round:
    """Prompts and the conditions that share them: one forward pass may serve several temperatures.

    Attributes
    ----------
    conditions
        At least one.
    render
        Makes the prompt of a variant, given the engine's mask token (None where it has none).
    read
        Makes the columns of the response row from variant, prompt and the engine's response (one without an error).
    chosen
        Tells whether a variant is asked in this round: all are, unless a subsample is wanted.
    draw
        Set where only some wordings of every item are asked (`wordings.limit_questions_to_sampled_wordings`).
    list_options
        Lists the labels of a variant's options that are asked about, in the order of the probabilities.
    """

    conditions: tuple[Condition, ...]
    render: Callable[[Variant, str | None], Prompt]
    read: Callable[[Variant, Prompt, Any], dict[str, Any]] = build_columns_of_response
    chosen: Callable[[Variant], bool] = lambda variant: True
    draw: Draw | None = None
    list_options: Callable[[Variant], list[str]] = list_option_labels

    def has_condition_answered_in_way(self, way: type) -> bool:
        """Tell whether some condition is answered in this way (`Exact`, `Sampling` or `Thinking`)."""
        return any(isinstance(condition.way, way) for condition in self.conditions)


def build_round_per_setting(
    book: PromptBook, form: str, name: str, settings: Sequence[str], render: Callable[..., Prompt]
) -> list[Round]:
    """Build a round for each setting of a prompt, such as an order of the options.

    Parameters
    ----------
    book, form
        The prompts, and which form of them is asked.
    name
        What run.json calls the setting.
    settings
        Its values, by which conditions are named.
    render
        Makes the prompt from form, setting, variant and mask token.

    Returns
    -------
    list of Round
        With one condition each.

    Raises
    ------
    InputError
        The prompts do not have this form.
    """
    fields = {"form": form, **book.build_prompt_name_and_hash_fields_of_form(form)}
    return [
        Round(
            (Condition(book.name_condition(form, setting), {**fields, name: setting}),), partial(render, form, setting)
        )
        for setting in settings
    ]


class Questions(Protocol):
    """What a protocol asks about its study, the same for every model."""

    @property
    def book(self) -> PromptBook:
        """The prompts that all rounds are made of."""

    def rounds(self, form: str) -> Sequence[Round]:
        """Make the rounds in one prompt form ("plain", "chat", "cloze" or "pair").

        Raises
        ------
        InputError
            The prompts do not have this form.
        """


@dataclass(frozen=True, slots=True)
class Prompts(Sequence[Prompt]):
    """The prompts of many variants, each rendered when it is read: millions of them take no memory."""

    variants: Sequence[Variant]
    render: Callable[[Variant, str | None], Prompt]
    mask_token: str | None = None

    def __len__(self) -> int:
        return len(self.variants)

    def __iter__(self) -> Iterator[Prompt]:
        return (self.render(variant, self.mask_token) for variant in self.variants)

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return Prompts(self.variants[index], self.render, self.mask_token)
        return self.render(self.variants[index], self.mask_token)


@dataclass(frozen=True, slots=True)
class PendingRound:
    """A round to ask: all its prompts, the ways of answering, and which prompts are still without a row."""

    prompts: Sequence[Prompt]
    ways: Sequence[Way]
    needs_row: Callable[[int], bool]

    def list_unfinished_batches(self, engine: Engine | ClusterEngine) -> list[list[int]]:
        """Cut the batches (indices into `prompts`) that hold a wanted prompt.

        The full list is cut, and a batch is asked whole even if only some of its prompts are wanted: then the numbers
        do not depend on how often a run was interrupted. If the engine is independent of the batch, only the wanted
        prompts are asked.
        """
        batches = self._split_long_thought_batches(engine.cut_into_batches(self.prompts))
        batches = [batch for batch in batches if any(map(self.needs_row, batch))]
        return [list(filter(self.needs_row, batch)) for batch in batches] if engine.independent_of_batch else batches

    def _split_long_thought_batches(self, batches: list[list[int]]) -> list[list[int]]:
        """Cut batches whose thoughts would take hours: what a kill interrupts is asked again."""
        thoughts = max((way.thoughts for way in self.ways if isinstance(way, Thinking)), default=0)
        if not thoughts:
            return batches
        size = max(1, THOUGHTS_OF_BATCH // thoughts)
        return [batch[start : start + size] for batch in batches for start in range(0, len(batch), size)]

    def pair_batch_with_tokenized_prompts(
        self, engine: Engine, prompt_indices: list[int]
    ) -> tuple[list[int], list[Prompt]]:
        """Render and tokenise the prompts of a batch before it is asked; return the batch and its prompts.

        Parameters
        ----------
        engine
            The engine that will be asked.
        prompt_indices
            Indices into `prompts`.

        Returns
        -------
        The batch, and its prompts as `Engine.tokenize_ahead` returns them.
        """
        return prompt_indices, engine.tokenize_ahead(
            [self.prompts[index] for index in prompt_indices], {*map(get_thinking_effort, self.ways)}
        )


# The index of a round in the list that is asked, a batch of that round, the batch's prompts, and its responses per way.
AnsweredBatch = tuple[int, Sequence[int], list[Prompt], list[Sequence[Response]]]


@runtime_checkable
class ClusterEngine(Protocol):
    """An engine on a cluster: it takes whole rounds and returns batches in any order."""

    info: dict[str, Any]
    mask_token: str | None
    independent_of_batch: bool

    def choose_prompt_form(self, requested: str) -> str:
        """Choose the prompt form; see `Engine.choose_prompt_form`."""

    def cut_into_batches(self, prompts: Sequence[Prompt]) -> list[list[int]]:
        """Cut prompts into batches; see `Engine.cut_into_batches`."""

    def render(self, prompt: Prompt, effort: str | None = None) -> str:
        """Write a prompt out as the model gets it.

        Parameters
        ----------
        prompt, effort
            As in `Engine.render`.

        Returns
        -------
        The text.
        """

    def ask_rounds_and_yield_batches(self, rounds: Sequence[PendingRound]) -> Iterator[AnsweredBatch]:
        """Ask all batches of the rounds and yield them, in any order; see the function `ask_rounds`."""

    def close(self) -> dict[str, Any]:
        """Release what the engine holds; see `Engine.close`."""


def ask_batch_in_each_way(engine: Engine, prompts: Sequence[Prompt], ways: Sequence[Way]) -> list[Sequence[Response]]:
    """Ask one batch in several ways; what the ways share is computed once.

    Parameters
    ----------
    engine, prompts
        The engine and its batch.
    ways
        The ways of answering.

    Returns
    -------
    Per way a list with one response per prompt.
    """
    exact = [way for way in ways if isinstance(way, Exact)]
    sampled = [way for way in ways if isinstance(way, Sampling)]
    responses_by_way: dict[Way, Sequence[Response]] = {}
    if exact:
        responses_by_way.update(zip(exact, engine.score(prompts, [way.temperature for way in exact]), strict=True))
    if sampled:
        responses_by_way.update(zip(sampled, engine.generate(prompts, sampled), strict=True))
    for way in ways:
        if isinstance(way, Thinking):
            responses_by_way[way] = engine.think(prompts, way)
    return [responses_by_way[way] for way in ways]


def ask_rounds(engine: Engine | ClusterEngine, rounds: Sequence[PendingRound]) -> Generator[AnsweredBatch, None, None]:
    """Ask all rounds, those of an engine on this machine one batch after the other.

    Parameters
    ----------
    engine
        The engine.
    rounds
        The rounds.

    Yields
    ------
    Every batch with its prompts and responses. An engine on a cluster returns batches in any order; with one that
    streams, a batch is what has come.
    """
    if isinstance(engine, ClusterEngine):
        yield from engine.ask_rounds_and_yield_batches(rounds)
        return
    for number, round_ in enumerate(rounds):
        if isinstance(engine, StreamingEngine):
            yield from _ask_round_and_yield_arrived_batches(engine, number, round_)
            continue
        with closing(
            map_ahead_in_thread(
                partial(round_.pair_batch_with_tokenized_prompts, engine), round_.list_unfinished_batches(engine)
            )
        ) as batches:
            for batch, prompts in batches:
                yield number, batch, prompts, ask_batch_in_each_way(engine, prompts, round_.ways)


def _ask_round_and_yield_arrived_batches(
    engine: StreamingEngine, number: int, round_: PendingRound
) -> Generator[AnsweredBatch, None, None]:
    """Ask a round; a batch is what came in the last moments, perhaps nothing."""
    exact = [way for way in round_.ways if isinstance(way, Exact)]
    sampled = [way for way in round_.ways if isinstance(way, Sampling)]
    thinkings = [way for way in round_.ways if isinstance(way, Thinking)]
    indices = list(filter(round_.needs_row, range(len(round_.prompts))))
    prompts = (round_.prompts[place] for place in indices)
    with closing(
        engine.ask_prompts_and_yield_arrived_answers(prompts, [way.temperature for way in exact], sampled, thinkings)
    ) as streamed:
        for came in streamed:
            answers_by_way = [dict(zip((*exact, *sampled, *thinkings), answers, strict=True)) for _, _, answers in came]
            columns: list[Sequence[Response]] = [[answers[way] for answers in answers_by_way] for way in round_.ways]
            yield number, [indices[place] for place, _, _ in came], [prompt for _, prompt, _ in came], columns


def _build_option_probability_columns(variant: Variant, score: Score) -> dict[str, Any]:
    """Build the columns of option probabilities; the answer as its label."""
    answer = None if score.answer is None else variant.options[score.answer].label
    return {
        "probability": score.probability,
        "logprob": score.logprob or None,
        "mass": score.mass,
        "mass_upper": score.mass_upper,
        "answer": answer,
    }


def _build_majority_option_columns_of_texts(variant: Variant, prompt: Prompt, generation: Generation) -> dict[str, Any]:
    """Parse every text for an option; the answer is the option that most texts choose, none if two are equal."""
    labels = list_option_labels(variant)
    wordings = dict(zip(labels, prompt.answers, strict=True))
    chosen = [None if text is None else parse_answer(text, wordings) for text in generation.answers]
    count = [chosen.count(label) for label in labels]
    answer = find_most_frequent_answer(chosen, labels)
    columns = {"output": list(generation.texts), "count": count, "invalid": chosen.count(None), "answer": answer}
    return columns | build_lenient_and_strict_answer_columns(generation.answers, wordings, chosen)
