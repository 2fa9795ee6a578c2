"""Generated texts against transformers' own `generate`, and samples against exact probabilities."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest
import torch
from scipy.stats import chisquare
from transformers.generation.logits_process import MinPLogitsWarper, TopKLogitsWarper, TopPLogitsWarper

from helpers import tiny_models
from inference.engines.contract import Generation, Sampling
from inference.engines.loading import Checkpoint
from inference.engines.local import generation
from inference.engines.local.causal import CausalEngine
from inference.engines.local.generation import choose_next_tokens, draw_random_numbers, zero_weights_of_unlikely_tokens
from inference.stimuli.templates.prompts import Prompt

pytestmark = pytest.mark.slow

ANSWERS = (("yes", "Yes"), ("no", "No"))
START = "Do you agree with the statement below? Reply yes or no.\nStatement: "
STATEMENTS = ("Bread.", "Small rooms.", "Trains should leave on time, even on Sundays, when it rains.", "A warm lamp.")
PROMPTS = [Prompt(f"{START}{statement}\nReply:", None, ANSWERS) for statement in STATEMENTS]
SAMPLED = Sampling(samples=5, temperature=0.9, max_tokens=6)


def engine_of(architecture: str = "llama", *, seed: int = 0, tokenizer: Any = None, **settings: Any) -> CausalEngine:
    tokenizer = tokenizer or tiny_models.default_tokenizer(architecture)
    model = tiny_models.model(architecture, tokenizer, **settings)
    return CausalEngine(Checkpoint("tiny", model, tokenizer, {}, seed))


def ids_as_texts(engine: CausalEngine) -> CausalEngine:
    """An engine whose texts are token ids, which tell more than the text that they come to."""
    engine.tokens.decode = lambda texts: [" ".join(map(str, ids)) for ids in texts]  # type: ignore[method-assign]
    return engine


def written(engine: CausalEngine, sampling: Sampling, prompts: list[Prompt] = PROMPTS) -> list[tuple[str, ...]]:
    found: dict[int, tuple[str, ...]] = {}
    for batch in engine.cut_into_batches(prompts):
        (generations,) = engine.generate([prompts[index] for index in batch], [sampling])
        found.update({index: each.texts for index, each in zip(batch, generations, strict=True)})
    return [found[index] for index in range(len(prompts))]


def reference(engine: CausalEngine, prompt: Prompt, tokens: int, stops: set[int]) -> str:
    """The greedy continuation by transformers, one prompt at a time."""
    ids = torch.tensor([engine.tokenizer(prompt.text)["input_ids"]])
    whole = engine.model.generate(
        ids, attention_mask=torch.ones_like(ids), do_sample=False, max_new_tokens=tokens, pad_token_id=0,
        eos_token_id=sorted(stops) or None,
    )  # fmt: skip
    return " ".join(str(token) for token in whole[0, ids.shape[1] :].tolist() if token not in stops)


@pytest.mark.parametrize("architecture", sorted(tiny_models.CAUSAL))
def test_greedy_texts_are_those_of_transformers(architecture: str) -> None:
    engine = ids_as_texts(engine_of(architecture))
    engine.stops = frozenset()
    engine.model.generation_config.eos_token_id = None
    prompts = PROMPTS[::2]
    free = [reference(engine, prompt, 5, set()) for prompt in prompts]
    assert [texts for (texts,) in written(engine, Sampling(max_tokens=5), prompts)] == free
    stop = int(free[0].split()[2])  # a text that ends leaves the batch, and the other goes on
    engine.stops = frozenset({stop})
    ended = [reference(engine, prompt, 5, {stop}) for prompt in prompts]
    assert len(ended[0].split()) <= 2
    assert [texts for (texts,) in written(engine, Sampling(max_tokens=5), prompts)] == ended


@torch.inference_mode()
def test_samples_follow_the_exact_probabilities_of_the_first_two_tokens() -> None:
    engine = ids_as_texts(engine_of())
    sampling = Sampling(samples=6000, temperature=0.7, max_tokens=2)
    (texts,) = written(engine, sampling, PROMPTS[:1])
    ids = engine.tokenizer(PROMPTS[0].text)["input_ids"]

    def following(more: list[int]) -> np.ndarray:
        logits = engine.model(torch.tensor([[*ids, *more]])).logits[0, -1].double()
        return (logits / 0.7).softmax(-1).numpy()

    expected: dict[str, float] = {}
    first = following([])
    for token in np.flatnonzero(first > 0.002):
        if int(token) in engine.stops:
            expected[""] = first[token]
        else:
            for second, p in enumerate(following([int(token)])):
                shown = str(token) if second in engine.stops else f"{token} {second}"
                expected[shown] = expected.get(shown, 0.0) + first[token] * p
    often = {text: p for text, p in expected.items() if p * len(texts) >= 5}
    counts = Counter(texts)
    observed = [*(counts[text] for text in often), len(texts) - sum(counts[text] for text in often)]
    wanted = np.array([*often.values(), 1 - sum(often.values())]) * len(texts)
    assert len(often) > 20
    assert chisquare(observed, wanted).pvalue > 0.01  # a fixed seed: this is one number


def test_long_texts_get_their_room_bit_by_bit(monkeypatch: pytest.MonkeyPatch) -> None:
    expected = written(engine_of(), Sampling(2, 1.0, 9))
    monkeypatch.setattr(generation, "ROOM", 3)
    assert written(engine_of(), Sampling(2, 1.0, 9)) == expected


def test_samples_do_not_depend_on_what_else_is_asked() -> None:
    together = written(engine_of(), SAMPLED)
    engine = engine_of()
    for number, prompt in enumerate(PROMPTS):
        (alone,) = engine.generate([prompt], [SAMPLED])
        assert alone[0].texts == together[number]
    other = Sampling(samples=3, temperature=1.3, max_tokens=6)
    among = engine.generate(PROMPTS[::-1], [Sampling(max_tokens=6), other, SAMPLED])
    assert [each.texts for each in among[2]] == together[::-1]
    more = Sampling(samples=8, temperature=0.9, max_tokens=6)
    assert [texts[:5] for texts in written(engine, more)] == together
    assert written(engine_of(seed=1), SAMPLED) != together


def test_the_prompts_are_computed_once_for_all_samplings() -> None:
    engine = engine_of()
    engine.cut_into_batches(PROMPTS)
    widths: list[int] = []
    forward = engine.model.forward

    def counted(*args: Any, **inputs: Any) -> Any:
        widths.append(inputs["input_ids"].shape[1])
        return forward(*args, **inputs)

    engine.model.forward = counted
    engine.generate(PROMPTS, [Sampling(10, temperature, 4) for temperature in (0.4, 0.7, 1.0, 1.3)])
    assert len([width for width in widths if width > 1]) == 1
    assert len(widths) > 1


def test_a_prompt_without_room_for_its_text_gets_an_error_and_the_others_go_on() -> None:
    engine = engine_of(max_position_embeddings=100)
    lengths = engine.count_prompt_tokens(PROMPTS)
    longest = max(range(len(PROMPTS)), key=lengths.__getitem__)
    room = 100 - sorted(lengths)[-2]
    short, long = engine.generate(PROMPTS, [Sampling(), Sampling(max_tokens=room)])
    assert [number for number, each in enumerate(long) if each.error] == [longest]
    assert long[longest].error == (
        f"{lengths[longest]} tokens and {room} for the answer exceed the model's context window of 100"
    )
    assert [bool(each.error) for each in short] == [length + 32 > 100 for length in lengths]


@pytest.mark.parametrize("rows_that_fit", [1, 2, 0])
def test_batches_are_halved_where_memory_ends(rows_that_fit: int) -> None:
    engine = engine_of()
    expected = engine.generate(PROMPTS, [Sampling(max_tokens=6)])
    run_model = engine.run_model.model.forward

    def cramped(*args: Any, **inputs: Any) -> Any:
        if len(inputs["input_ids"]) > rows_that_fit:
            raise torch.OutOfMemoryError("out of memory")
        return run_model(*args, **inputs)

    engine.model.forward = cramped
    found = engine.generate(PROMPTS, [Sampling(max_tokens=6)])
    if rows_that_fit:
        assert found == expected
    else:
        assert found == [[Generation(error="out of memory on cpu with this prompt alone")] * len(PROMPTS)]


def test_the_end_of_a_turn_ends_a_text() -> None:
    end = "<|system|>"  # a special token; here the template ends a turn with it, though it is not EOS
    template = tiny_models.CHAT_TEMPLATE.replace("\n{% endfor %}", end + "\n{% endfor %}")
    tokenizer = tiny_models.byte_tokenizer(chat=True, template=template)
    engine = engine_of(tokenizer=tokenizer)
    assert engine.stops == {tokenizer.eos_token_id, tokenizer.convert_tokens_to_ids(end)}
    assert engine_of(tokenizer=tiny_models.byte_tokenizer(chat=True)).stops == {tokenizer.eos_token_id}


def test_a_token_is_drawn_by_inverse_cumulative_probability() -> None:
    probability = torch.tensor([0.2, 0.0, 0.5, 0.3])
    numbers = torch.tensor([0.0, 0.19, 0.2, 0.69, 0.71, 0.999999], dtype=torch.float64)
    log_softmax = probability.log().expand(len(numbers), -1)
    every_row, one_row = torch.arange(6), torch.zeros(6, dtype=torch.long)
    kinds, warm, sharp = torch.zeros(6, dtype=torch.long), [Sampling(2, 1.0)], [Sampling(2, 0.5)]
    assert choose_next_tokens(log_softmax, every_row, warm, kinds, numbers).tolist() == [0, 0, 2, 2, 3, 3]
    assert choose_next_tokens(log_softmax[:1], one_row, warm, kinds, numbers).tolist() == [0, 0, 2, 2, 3, 3]
    assert choose_next_tokens(log_softmax, every_row, [Sampling()], kinds, numbers).tolist() == [2] * 6
    # 0.04, 0, 0.25, 0.09 of 0.38
    assert choose_next_tokens(log_softmax, every_row, sharp, kinds, numbers).tolist() == [0, 2, 2, 2, 2, 3]
    both = torch.tensor([0, 1, 0, 1, 0, 1])  # of one row, the first, third ... by the first rule
    mixed = choose_next_tokens(log_softmax[:1], one_row, [*warm, *sharp], both, numbers)
    assert mixed.tolist() == [0, 2, 2, 2, 3, 3]


@pytest.mark.parametrize(
    "rule", [{"top_p": 0.7}, {"top_k": 3}, {"min_p": 0.2}, {"top_k": 9, "top_p": 0.6}, {"top_p": 0.9, "min_p": 0.1}]
)
def test_the_tokens_left_to_draw_from_are_those_of_transformers(rule: dict[str, float]) -> None:
    scores = torch.randn(40, 30, generator=torch.Generator().manual_seed(5)) * 2
    if "top_p" not in rule:  # which of two equal tokens is the last one is chance
        scores[:, 7] = scores[:, 3]
    expected = scores
    if "top_k" in rule:
        expected = TopKLogitsWarper(int(rule["top_k"]))(None, expected)
    if "top_p" in rule:
        expected = TopPLogitsWarper(rule["top_p"])(None, expected)
    if "min_p" in rule:
        expected = MinPLogitsWarper(rule["min_p"])(None, expected)
    left = zero_weights_of_unlikely_tokens(scores.softmax(-1), Sampling(2, 1.0, **rule))
    torch.testing.assert_close(left / left.sum(-1, keepdim=True), expected.softmax(-1))


def test_random_numbers_follow_from_seed_text_and_temperature() -> None:
    numbers = draw_random_numbers(3, "a", SAMPLED)
    assert numbers.shape == (5, 6)
    assert np.array_equal(numbers, draw_random_numbers(3, "a", SAMPLED))
    for other in (draw_random_numbers(4, "a", SAMPLED), draw_random_numbers(3, "b", SAMPLED),
                  draw_random_numbers(3, "a", Sampling(5, 0.8, 6))):  # fmt: skip
        assert not np.intersect1d(numbers, other).size
