"""Exact probabilities of numbers against enumeration with plain forward passes, and against samples."""

from __future__ import annotations

import math
from collections import Counter
from functools import partial
from typing import Any

import numpy as np
import pytest
import torch
from scipy.stats import chisquare

from ground.errors import InputError
from helpers import tiny_models
from inference.engines.contract import Sampling
from inference.engines.exact.lattice import Lattice
from inference.engines.exact.number_probabilities import compute_number_logprobs
from inference.engines.loading import Checkpoint
from inference.engines.local.causal import CausalEngine
from inference.engines.local.masked import MaskedEngine
from inference.engines.local.number_tree import NumberTree
from inference.stimuli.templates.prompts import Prompt

pytestmark = pytest.mark.slow

TEXTS = ("Statement: Bread.\nReply:", "Statement: A warm lamp makes a room friendlier.\nReply:")
TOKENIZERS = {
    "bytes and merged digits": tiny_models.byte_tokenizer,
    "a sign for the space, byte fallback": tiny_models.metaspace_tokenizer,
    "digits one by one": tiny_models.number_tokenizer,
}


def engine_of(architecture: str = "llama", tokenizer: Any = None, favoured: float = 0.0) -> CausalEngine:
    """A random model; `favoured` is added to the logits of the tokens that belong to numbers."""
    tokenizer = tokenizer or tiny_models.default_tokenizer(architecture)
    model = tiny_models.model(architecture, tokenizer)
    if favoured:
        bias = torch.zeros(len(tokenizer))
        bias[[i for i in range(len(tokenizer)) if tokenizer.decode([i]).strip("0123456789 ") == ""]] = favoured
        model.get_output_embeddings().register_forward_hook(lambda module, given, logits: logits + bias)
    return CausalEngine(Checkpoint("tiny", model, tokenizer, {}, 0))


def asked(numbers: range) -> list[Prompt]:
    return [Prompt(text, None, (), numbers) for text in TEXTS]


@torch.inference_mode()
def enumerated(engine: CausalEngine, text: str, numbers: range, temperature: float) -> list[float]:
    """Probabilities by definition: the text of every path is decoded together with the prompt, one path at a time."""
    tokenizer, ids = engine.tokenizer, engine.tokenizer(text)["input_ids"]
    wanted = {form: place for place, n in enumerate(numbers) for form in (str(n), f" {n}")}
    written = partial(tokenizer.batch_decode, skip_special_tokens=True, clean_up_tokenization_spaces=False)
    (before,) = written([ids])
    found = [0.0] * len(numbers)

    def visit(path: list[int], reached: float) -> None:
        probability = (engine.model(torch.tensor([ids + path])).logits[0, -1].double() / temperature).softmax(-1)
        decoded = written([ids + path, *(ids + path + [token] for token in range(len(tokenizer)))])
        here, *after = [text[len(before) :] for text in decoded]
        if here in wanted:
            goes_on = [t for t, more in enumerate(after) if more[len(here) :][:1].isdigit()]
            goes_on += [t for t, more in enumerate(after) if more[len(here) :][:1] == "." and more[-1].isdigit()]
            found[wanted[here]] += reached * (1 - float(probability[goes_on].sum()))
        for token, more in enumerate(after):
            if more != here and any(form.startswith(more) for form in wanted):
                visit([*path, token], reached * float(probability[token]))

    visit([], 1.0)
    return found


@pytest.mark.parametrize("kind", TOKENIZERS)
def test_every_spelling_of_a_number_counts(kind: str) -> None:
    engine, numbers = engine_of(tokenizer=TOKENIZERS[kind]()), range(8, 13)
    (plain, cool) = engine.score(asked(numbers), [1.0, 0.6])
    for score, text, temperature in ((plain[0], TEXTS[0], 1.0), (cool[1], TEXTS[1], 0.6)):
        expected = enumerated(engine, text, numbers, temperature)
        # Float32 passes against double sums.
        np.testing.assert_allclose(score.probability, expected, rtol=2e-4, atol=2e-9)
        np.testing.assert_allclose(np.exp(score.logprob), score.probability)
        assert score.mass == pytest.approx(sum(expected), rel=2e-4)
        assert score.answer == int(np.argmax(expected))


NO_TREES = {"bloom", "falcon_alibi", "mamba", "recurrent_gemma"}  # single passes are all that they have


@pytest.mark.parametrize("architecture", sorted(tiny_models.CAUSAL.keys() - NO_TREES))
def test_a_tree_gives_what_single_passes_give(architecture: str, monkeypatch: pytest.MonkeyPatch) -> None:
    follow_every_path(monkeypatch)  # a tree leaves out others than single passes do
    engine = engine_of(architecture)
    prompts = asked(range(8, 12))
    engine.cut_into_batches(prompts)
    (together,) = engine.score(prompts, [0.8])
    alone = engine_of(architecture)
    alone.__dict__["supports_token_trees"] = False
    (single,) = alone.score(prompts, [0.8])
    for one, other in zip(together, single, strict=True):
        np.testing.assert_allclose(one.logprob, other.logprob, atol=2e-3)
        assert min(one.probability) > 0
    assert engine.supports_token_trees  # so that the comparison is one


def test_samples_converge_to_the_exact_probabilities() -> None:
    engine, numbers = engine_of(tokenizer=tiny_models.byte_tokenizer(), favoured=3.0), range(1, 101)
    prompt = asked(numbers)[:1]
    ((score,),) = engine.score(prompt, [0.7])
    ((generation,),) = engine.generate(prompt, [Sampling(8000, 0.7, 5)])
    forms = {form: n for n in numbers for form in (str(n), f" {n}")}
    stated: Counter[int] = Counter()
    for text in generation.texts:
        for end in (4, 3, 2, 1):  # the longest spelling at the start of the text
            rest = text[end:]
            if text[:end] in forms and len(text) >= end:
                if not (rest[:1].isdigit() or (rest[:1] == "." and rest[1:2].isdigit())):
                    stated[forms[text[:end]]] += 1
                break
    total = sum(stated.values())
    expected = np.array(score.probability) / score.mass * total
    often = expected >= 5
    observed = np.array([stated[n] for n in numbers])
    assert often.sum() > 8
    assert total / 8000 == pytest.approx(score.mass, abs=3 * math.sqrt(score.mass * (1 - score.mass) / 8000))
    result = chisquare([*observed[often], observed[~often].sum()], [*expected[often], expected[~often].sum()])
    assert result.pvalue > 0.01  # a fixed seed: this is one number


def test_one_batch_may_ask_for_options_and_numbers() -> None:
    engine = engine_of()
    options = Prompt(TEXTS[0], None, (("yes",), ("no",)))
    mixed = [asked(range(10))[1], options, asked(range(1, 6))[1]]
    (together,) = engine.score(mixed)
    for prompt, score in zip(mixed, together, strict=True):
        ((alone,),) = engine.score([prompt])
        np.testing.assert_allclose(score.probability, alone.probability, rtol=1e-4)
    assert [len(score.probability) for score in together] == [10, 2, 5]


def test_a_prompt_needs_room_for_the_longest_number() -> None:
    engine = engine_of()
    engine.window = engine.count_prompt_tokens(asked(range(10)))[0] + 2
    (short, long), *_ = engine.score(asked(range(10)))
    assert short.error is None
    assert "exceed the model's context window" in (long.error or "")


def test_what_cannot_be_scored_is_refused() -> None:
    with pytest.raises(InputError, match="cannot write the number 2"):
        Lattice(range(1, 4), ["1", " ", "3", "x"])
    model = tiny_models.model("bert", tiny_models.wordpiece_tokenizer())
    masked = MaskedEngine(Checkpoint("tiny", model, tiny_models.wordpiece_tokenizer(), {}, 0))
    with pytest.raises(InputError, match="no room for a number"):
        masked.score([Prompt("a [MASK]", None, (), range(10))])


def test_the_worked_example_of_the_module() -> None:
    texts = [*"0123456789", "17", "70", "."]

    class Uniform:
        rows, shares_passes = 1, False

        def score_next_tokens_after_paths(self, chosen: np.ndarray, followed: bool) -> torch.Tensor:
            return torch.zeros(*chosen.shape, len(texts))

    ((found,),) = np.exp(compute_number_logprobs(Lattice(range(100), texts), Uniform(), [1.0], paths_per_pass=1000))
    assert found[[70, 17]] == pytest.approx(1 / 13**2 + 1 / 13**3)
    assert found[7] == pytest.approx(1 / 13**2)
    assert found[42] == pytest.approx(1 / 13**3)


class Table:
    """Random scores behind every path, peaked enough for most paths to be improbable; notes who asks for what."""

    def __init__(self, lattice: Lattice, alike: bool) -> None:
        self.rows, self.shares_passes = 5, alike
        sharpness = torch.linspace(1, 12, self.rows)[:, None, None]
        generator = torch.Generator().manual_seed(1)
        self.scores = sharpness * torch.randn(self.rows, len(lattice.paths.ids), len(WORDS), generator=generator)
        self.asked: list[np.ndarray] = []

    def score_next_tokens_after_paths(self, chosen: np.ndarray, followed: bool) -> torch.Tensor:
        self.asked.append(chosen)
        return self.scores[torch.arange(self.rows)[:, None], torch.from_numpy(chosen)]


WORDS = [*"0123456789", " ", "-", "10", " 1", "1", ".5", ".", "word"]


def follow_every_path(monkeypatch: pytest.MonkeyPatch) -> None:
    for share in ("UNCHECKED", "NEGLIGIBLE"):
        monkeypatch.setattr(f"inference.engines.exact.number_probabilities.{share}", 0.0)


def by_definition(lattice: Lattice, table: Table, temperature: float) -> tuple[np.ndarray, np.ndarray]:
    """Probabilities of all numbers [rows, numbers], spelling by spelling, and that a number begins [rows]."""
    probability = (table.scores.double() / temperature).softmax(-1).numpy()
    place = {path: number for number, path in enumerate(lattice.paths.ids)}
    goes_on = [token for token, word in enumerate(WORDS) if word.lstrip(".")[:1].isdigit()]

    def reached(path: tuple[int, ...]) -> np.ndarray:
        steps = [probability[:, place[path[:end]], token] for end, token in enumerate(path)]
        return np.prod(steps, axis=0)

    found = np.zeros((table.rows, len(lattice.numbers)))
    for number, forms in enumerate(lattice.list_number_spellings()):
        for _, path in forms:
            found[:, number] += reached(path) * (1 - probability[:, place[path], goes_on].sum(-1))
    text = {path: "".join(WORDS[token] for token in path) for path in place}
    first = [path for path in place if any(c.isdigit() for c in text[path]) and not text[path[:-1]].strip(" -")]
    return found, np.sum([reached(path) for path in first], axis=0)


@pytest.mark.parametrize("alike", [False, True])
@pytest.mark.parametrize("numbers", [range(1, 101), range(-12, 13)])
@pytest.mark.parametrize("share", [0.0, 1e-5, 1e-3, 3e-2])
def test_what_is_left_out_changes_no_more_than_its_share(
    numbers: range, alike: bool, share: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    follow_every_path(monkeypatch)
    monkeypatch.setattr("inference.engines.exact.number_probabilities.UNCHECKED", share)
    lattice, temperatures = Lattice(numbers, WORDS), (0.4, 1.0, 1.3)
    table = Table(lattice, alike)
    found = np.exp(compute_number_logprobs(lattice, table, temperatures, paths_per_pass=7))
    for temperature, probabilities in zip(temperatures, found, strict=True):
        expected, begun = by_definition(lattice, table, temperature)
        rounding = 1e-5 * expected + 1e-12  # float32 scores, summed in float32
        assert (probabilities >= expected - rounding).all()  # an end that is not checked counts in full
        assert ((probabilities - expected - rounding).sum(-1) <= share * begun).all()
    asked = np.concatenate(table.asked, axis=1)
    assert all(len(set(row)) == len(row) for row in asked.tolist())  # each path once
    assert (asked == asked[0]).all() or not alike
    assert (asked.shape[1] == len(lattice.paths.ids)) == (share == 0)
    assert max(chosen.shape[1] for chosen in table.asked) <= 7


def test_longer_numbers_lose_no_more_than_their_share(monkeypatch: pytest.MonkeyPatch) -> None:
    lattice = Lattice(range(1, 101), WORDS)
    follow_every_path(monkeypatch)
    monkeypatch.setattr("inference.engines.exact.number_probabilities.NEGLIGIBLE", 1e-2)
    table = Table(lattice, alike=False)
    (found,) = np.exp(compute_number_logprobs(lattice, table, [1.0], paths_per_pass=50))
    expected, begun = by_definition(lattice, table, 1.0)
    lost = np.maximum(expected - found, 0).sum(-1)
    assert lost.max() > 1e-6  # so that the bound is one
    assert (lost <= 1e-2 * begun + 1e-6).all()


def test_rows_choose_their_own_paths_and_leaves_are_not_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    trees: list[NumberTree] = []

    class Noted(NumberTree):
        def __init__(self, *given: Any) -> None:
            super().__init__(*given)
            trees.append(self)

    monkeypatch.setattr("inference.engines.local.causal.NumberTree", Noted)
    engine, numbers = engine_of(favoured=3.0), range(1, 101)
    (pruned,) = engine.score(asked(numbers), [0.3])
    monkeypatch.setattr(engine, "_choose_number_of_paths_per_pass", lambda *_: 9)
    (few,) = engine.score(asked(numbers), [0.3])
    follow_every_path(monkeypatch)
    (every,) = engine.score(asked(numbers), [0.3])
    for one, other, whole in zip(pruned, few, every, strict=True):
        assert one.probability != whole.probability
        np.testing.assert_allclose(one.probability, other.probability, rtol=1e-4, atol=1e-9)
        np.testing.assert_allclose(one.probability, whole.probability, atol=2e-5)
    stems = sum(map(len, engine.get_number_lattice(numbers).stems)) - 1
    for tree in trees:
        assert tree._cache.get_seq_length() <= tree._asked.token_mask.shape[1] + stems
