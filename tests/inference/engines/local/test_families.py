"""Prompts that begin alike are computed as one row: the same numbers as one prompt at a time."""

from __future__ import annotations

import random
from typing import Any

import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from helpers import tiny_models
from inference.engines.contract import Sampling, Score
from inference.engines.local import causal
from inference.engines.local.batching import ALONE, FAMILY_TOKENS, Joining, join_prompts_beginning_alike
from inference.engines.local.continuations import Continuations, Prefix
from inference.engines.local.families import pack_prompt_families_into_rows
from inference.engines.local.last_position import OnePosition
from inference.stimuli.templates.prompts import Prompt

from .test_causal import ask, assert_like_slow, engine_of

pytestmark = pytest.mark.slow

ALWAYS = Joining(10**6, 1, 10**6)
NO_TREES = {"bloom", "mamba", "recurrent_gemma", "falcon_alibi"}
SHORT_WINDOWS = {"gpt_neo", "mistral", "gemma3", "gpt_oss"}
LETTERS = (("A",), ("B",), ("C",), ("D",))
STEMS = (
    "Small rooms are warm on Sundays, and trains leave on time; which of these makes bread taste better on the day?",
    "Which lamp?",
    "Do people agree, or do others disagree with it, even on a cold day, when the hills are white with snow?",
)
ORDERS = ("ABCD", "ACBD", "BADC", "CDAB", "DCBA", "ABDC")
CHOICES = {"A": "a warm lamp", "B": "no", "C": "bread and bread", "D": "trains that leave on time, even on Sundays"}


@pytest.fixture(autouse=True)
def small_models_join_as_large_ones_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(causal, "ATTENTION_PAIRS", 1_000)


def asked(stem: str, order: str, ending: str = "\nAnswer:") -> Prompt:
    listed = "\n".join(f"{letter}. {CHOICES[shown]}" for letter, shown in zip("ABCD", order, strict=True))
    return Prompt(f"Reply with a letter.\n{stem}\n{listed}{ending}", None, LETTERS)


QUESTIONS = [
    asked(stem, order) for stem, orders in zip(STEMS, (ORDERS, ORDERS[:2], ORDERS[:4]), strict=True) for order in orders
]
FAMILIES = [
    *QUESTIONS,
    *QUESTIONS[3:6],  # twice
    asked("Bread?", "ABCD"),  # one of its kind
    asked(STEMS[0], ORDERS[0], ending=""),  # the start of another
    asked(STEMS[0], ORDERS[0], ending="\nAnswer: A"),
]


def mixed(prompts: list[Prompt]) -> list[Prompt]:
    return random.Random(0).sample(prompts, len(prompts))


def rows_of(engine: Any, batch: list[Prompt]) -> int:
    """Rows that a batch is computed in."""
    sizes = []
    inner = engine.run_model.model.forward

    def forward(*args: Any, **inputs: Any) -> Any:
        sizes.append(len(inputs["input_ids"]))
        return inner(*args, **inputs)

    engine.run_model.model.forward = forward
    engine.score(batch)
    engine.run_model.model.forward = inner
    return sizes[0]


@pytest.mark.parametrize("architecture", tiny_models.CAUSAL)
def test_families_equal_one_prompt_per_forward_pass(architecture: str) -> None:
    engine = (
        engine_of(architecture, max_position_embeddings=512) if architecture == "llama" else engine_of(architecture)
    )
    prompts = mixed(FAMILIES)
    assert_like_slow(engine, prompts, ask(engine, prompts))
    batches = [[prompts[place] for place in batch] for batch in engine.cut_into_batches(prompts)]
    joined = sum(rows_of(engine, batch) for batch in batches) < len(prompts) / 3
    assert joined == (architecture not in NO_TREES | SHORT_WINDOWS)


@pytest.mark.parametrize("architecture", ["llama", "gpt2", "opt", "gemma3", "mixtral", "gpt_oss"])
def test_options_of_several_tokens_follow_each_prompt_of_a_family(architecture: str) -> None:
    answers = (("agree", "agree so"), ("rather", "agree no"))
    engine = engine_of(architecture, tiny_models.byte_tokenizer(vocab_size=360))
    prompts = [Prompt(prompt.text, None, answers) for prompt in mixed(QUESTIONS[len(ORDERS) :])]
    assert_like_slow(engine, prompts, ask(engine, prompts))


@pytest.mark.parametrize("window", [90, 150, 4096])
def test_rows_of_families_fit_into_attention_windows(window: int) -> None:
    for architecture, name in (("mistral", "sliding_window"), ("gpt_neo", "window_size")):
        engine = engine_of(architecture, max_position_embeddings=4096, **{name: window})
        prompts = mixed(QUESTIONS)[::2]
        assert_like_slow(engine, prompts, ask(engine, prompts))


def test_texts_and_numbers_are_those_of_single_prompts() -> None:
    prompts = QUESTIONS[: len(ORDERS)]
    numbers = [Prompt(prompt.text, None, (), range(12)) for prompt in prompts]
    samplings = [Sampling(5, 0.7, 6), Sampling(1, 0.0, 6)]
    found = []
    for joining in (None, ALONE):
        engine = engine_of("llama", tiny_models.number_tokenizer(), max_position_embeddings=512)
        if joining is not None:
            engine._choose_prompt_packing_limits = lambda longest: ALONE
        found.append((ask(engine, numbers), engine.generate(prompts, samplings)))
        assert (rows_of(engine, prompts) < len(ORDERS)) == (joining is None)
    (joined, texts), (alone, texts_alone) = found
    assert texts == texts_alone
    for one, other in zip(joined, alone, strict=True):
        assert one.probability == pytest.approx(other.probability, abs=5e-6)


def test_a_resumed_run_computes_its_families_bit_by_bit() -> None:
    prompts = mixed(FAMILIES)

    def answers(batches: list[list[int]], engine: Any) -> list[list[Score]]:
        return [engine.score([prompts[index] for index in batch])[0] for batch in batches]

    whole = engine_of("llama", batch_size=10, max_position_embeddings=512)
    batches = whole.cut_into_batches(prompts)
    undisturbed = answers(batches, whole)
    resumed = engine_of("llama", batch_size=10, max_position_embeddings=512)
    assert resumed.cut_into_batches(prompts) == batches
    assert max(map(len, batches)) <= 10
    assert answers(batches[::-2], resumed) == undisturbed[::-2]


def test_orders_of_one_question_share_a_row_wherever_they_stand() -> None:
    engine = engine_of("llama", max_position_embeddings=512)
    prompts = mixed(QUESTIONS)
    assert sum(
        rows_of(engine, [prompts[place] for place in batch]) for batch in engine.cut_into_batches(prompts)
    ) == len(STEMS)


def test_a_row_is_not_longer_than_is_allowed() -> None:
    lengths, common = [100] * 60, [0] + [80] * 59
    assert (
        max(
            each.tokens
            for each in join_prompts_beginning_alike(lengths, common, ALWAYS._replace(tokens=FAMILY_TOKENS), 60)
        )
        <= 1024
    )
    assert [len(each.members) for each in join_prompts_beginning_alike(lengths, common, ALWAYS, 16)] == [16, 16, 16, 12]
    assert [each.members for each in join_prompts_beginning_alike(lengths, common, ALONE, 60)] == [
        [place] for place in range(60)
    ]


TREES = st.lists(st.lists(st.integers(1, 3), min_size=1, max_size=9), min_size=1, max_size=12)


@pytest.fixture(scope="module")
def run_model() -> OnePosition:
    return OnePosition(tiny_models.model("llama", tiny_models.byte_tokenizer()))


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(TREES, st.booleans(), st.sampled_from([(), (5,), (5, 6)]), st.integers(0, 3))
def test_any_tree_of_tokens_gives_the_numbers_of_single_prompts(
    run_model: OnePosition, prompts: list[list[int]], ordered: bool, path: tuple[int, ...], shared: int
) -> None:
    start = [7, 8, 9][:shared]
    prompts = [start + prompt for prompt in (sorted(prompts) if ordered else prompts)]
    with torch.inference_mode():
        asked = Continuations(run_model, prompts, Prefix(start), cached=True, forced=bool(path), joining=ALWAYS)
        found = [asked.compute_next_logprobs(()), asked.compute_next_logprobs(path)]
        for place, prompt in enumerate(prompts):
            for following, forced in zip(found, ((), path), strict=True):
                expected = run_model.model(torch.tensor([[*prompt, *forced]])).logits[0, -1].log_softmax(-1)
                assert torch.allclose(following[place], expected, atol=2e-5)


@settings(max_examples=50, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(TREES)
def test_every_token_sees_its_own_prompt_only(prompts: list[list[int]]) -> None:
    prompts = sorted(prompts)
    half = len(prompts) // 2
    groups = [list(group) for group in (range(half), range(half, len(prompts))) if group]
    packed = pack_prompt_families_into_rows(prompts, groups, torch.device("cpu"))
    seen = packed.build_attention_mask(torch.ones(len(groups), 0, dtype=torch.bool), torch.float32)[:, 0] == 0
    for prompt, row, path, length in zip(prompts, packed.family, packed.paths.tolist(), packed.lengths, strict=True):
        own = path[:length]
        assert packed.ids[row, own].tolist() == prompt
        assert packed.positions[row, own].tolist() == list(range(len(prompt)))
        for place in range(len(own)):
            assert seen[row, own[place]].nonzero()[:, 0].tolist() == own[: place + 1]
    for row, group in enumerate(groups):
        starts = {tuple(prompts[place][:n]) for place in group for n in range(1, len(prompts[place]) + 1)}
        assert len({place for other, path in zip(packed.family, packed.paths.tolist(), strict=True) if other == row
                    for place in path}) == len(starts)  # fmt: skip
