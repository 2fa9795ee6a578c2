"""Every prompt has answers of its own, of several tokens: the same numbers as one sequence per forward pass."""

from __future__ import annotations

import random
from typing import Any

import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from helpers import tiny_models
from inference.engines.contract import NOT_FINITE, Score
from inference.engines.exact.answer_words import Options
from inference.engines.exact.option_tree import build_option_tree
from inference.engines.exact.targets import Target, WholeVocabulary, score_batch
from inference.engines.local import causal
from inference.engines.local.answer_paths import AnswerPaths, Budget
from inference.engines.local.answer_trees import KeptLayer
from inference.engines.local.causal import CausalEngine
from inference.engines.local.continuations import Continuations, Prefix
from inference.engines.local.last_position import OnePosition
from inference.stimuli.templates.prompts import Prompt

from .test_causal import ask, assert_like_slow, engine_of

pytestmark = pytest.mark.slow

NO_TREES = ("bloom", "mamba", "recurrent_gemma", "falcon_alibi")
QUESTIONS: tuple[tuple[str, tuple[tuple[str, ...], ...]], ...] = (
    ("Where is it warm?", (("in the room",), ("in the room of bread",), ("on trains",))),  # one begins another
    ("Which day?", (("Sunday",), ("Sundays",), ("it is the day of rest",), ("the day",), ("a",))),
    ("What makes a small room friendlier than a cold one?", (("a lamp", "A lamp", "lamps"), ("no", "No"))),
    ("Do people agree?", (("yes",), ("no",))),
    ("And on cold days, with snow?", (("agree",), ("agree no",), ("agree so", "so"), ("disagree so",))),
)


def prompts_of(start: str = "Choose the right words.\n") -> list[Prompt]:
    """Every question in three orders of its choices, as a study has them: shuffled."""
    prompts = []
    for question, choices in QUESTIONS:
        for turn in range(3):
            shown = choices[turn % len(choices) :] + choices[: turn % len(choices)]
            listed = "\n".join(f"{letter}. {words[0]}" for letter, words in zip("ABCDE", shown, strict=False))
            prompts.append(Prompt(f"{start}{question}\n{listed}\nAnswer:", None, shown))
    return random.Random(0).sample(prompts, len(prompts))


def engine_for(architecture: str, **settings: Any) -> CausalEngine:
    return engine_of(architecture, tiny_models.byte_tokenizer(vocab_size=300), max_position_embeddings=512, **settings)


def passes(engine: CausalEngine, prompts: list[Prompt]) -> list[tuple[int, ...]]:
    """The shapes [rows, tokens] of all passes over the model for one batch."""
    shapes: list[tuple[int, ...]] = []
    engine.score(prompts)  # what is tried out once is tried out now
    inner = engine.run_model.model.forward

    def forward(*args: Any, **inputs: Any) -> Any:
        shapes.append(tuple(inputs["input_ids"].shape))
        return inner(*args, **inputs)

    engine.run_model.model.forward = forward
    engine.score(prompts)
    engine.run_model.model.forward = inner
    return shapes


@pytest.mark.parametrize("architecture", tiny_models.CAUSAL)
def test_answers_of_its_own_for_every_prompt_equal_one_pass_per_sequence(architecture: str) -> None:
    engine = engine_for(architecture)
    prompts = prompts_of()[::4]
    assert_like_slow(engine, prompts, ask(engine, prompts))


@pytest.mark.parametrize("architecture", ["llama", "falcon_alibi", "bloom"])
def test_what_fits_in_one_pass_does_not_matter(architecture: str, monkeypatch: pytest.MonkeyPatch) -> None:
    prompts = prompts_of()[::4]
    engine = engine_for(architecture)
    whole = engine.score(prompts)[0]
    assert_like_slow(engine, prompts, whole)
    for tokens in (1, 40):
        monkeypatch.setattr(causal, "CPU_TOKENS", tokens)
        for one, other in zip(engine.score(prompts)[0], whole, strict=True):
            assert one.probability == pytest.approx(other.probability, abs=1e-7, rel=1e-4)
        targets = map(engine._find_or_tokenize_target_of_row, engine._get_or_tokenize_rows(prompts))
        longest = max(target.longest_answer_length for target in targets) - 1
        if engine._cache_window:  # the prompts of others are computed anew with every branch
            assert all(rows * width <= max(tokens, longest) for rows, width in passes(engine, prompts)[1:])


def test_a_batch_costs_one_pass_for_its_prompts_and_one_for_all_its_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nearly all tokens are equally probable: by a lower share than the engines', every path is likely to matter."""
    monkeypatch.setattr(causal, "CPU_TOKENS", 10_000)
    monkeypatch.setattr("inference.engines.local.answer_trees.LEAST_FILLED", 0.0)
    monkeypatch.setattr("inference.engines.exact.followed_paths.LIKELY", 1e-5)
    engine = engine_for("llama")
    prompts = prompts_of(start="")
    deep = [
        len(engine._find_or_tokenize_target_of_row(row).tree_as_arrays.nodes) - 1
        for row in engine._get_or_tokenize_rows(prompts)
        if engine._find_or_tokenize_target_of_row(row).longest_answer_length > 1
    ]
    assert len(deep) > 10
    shapes = passes(engine, prompts)[1:]
    assert shapes == [(len(deep), max(deep))]


@pytest.mark.parametrize("architecture", ["llama", *NO_TREES])
def test_only_prompts_with_an_answer_pay_for_it(architecture: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Long answers of one prompt cost the others nothing but padding, with trees or without."""
    monkeypatch.setattr(causal, "CPU_TOKENS", 60)
    engine = engine_for(architecture)
    few = [prompt for prompt in prompts_of(start="") if prompt.answers[0] in (("yes",), ("no",))]
    assert all(
        engine._find_or_tokenize_target_of_row(row).longest_answer_length < 5
        for row in engine._get_or_tokenize_rows(few)
    )
    many = Prompt("Which?\nAnswer:", None, tuple((f"{word} in the room on the day of rest",) for word in ("a", "b")))
    alone = sum(rows * tokens for rows, tokens in passes(engine, [many])[1:])
    without = sum(rows * tokens for rows, tokens in passes(engine, few)[1:])
    together = sum(rows * tokens for rows, tokens in passes(engine, [many, *few])[1:])
    assert together <= alone + without + len(few) * alone / 4


def test_a_prompt_takes_memory_for_its_own_answers_only(monkeypatch: pytest.MonkeyPatch) -> None:
    """Hundreds of answers of one prompt would else reserve room for as many behind every other one."""
    made: list[KeptLayer] = []
    init = KeptLayer.__init__
    monkeypatch.setattr(KeptLayer, "__init__", lambda self, layer: (made.append(self), init(self, layer))[1])
    engine = engine_for("llama")
    many = tuple((f"{start} in the room {end}",) for start in "abcdef" for end in ("of bread", "on trains", "a lamp"))
    prompts = [Prompt("Where?\nAnswer:", None, many), *prompts_of(start="")[:8]]
    engine.score(prompts)
    trees = [engine._find_or_tokenize_target_of_row(row).tree for row in engine._get_or_tokenize_rows(prompts)]
    continued = [
        sum(node.has_inner_children for node in tree.iterate_nodes_with_children() if node.path) for tree in trees
    ]
    assert continued[0] > 2 * max(continued[1:]) > 0
    assert made
    for layer in made:
        assert {len(states) - 1 for states in layer._followed_states} == {sum(continued)}


def test_temperatures_divide_every_step() -> None:
    engine = engine_for("llama", initializer_range=0.2)
    prompts = prompts_of()[::3]
    temperatures = (1.0, 0.5, 2.0)
    found = engine.score(prompts, temperatures)
    for temperature, scores in zip(temperatures, found, strict=True):
        cooled = engine_for("llama", initializer_range=0.2)
        head = cooled.model.get_output_embeddings()
        head.weight = torch.nn.Parameter(head.weight / temperature)
        for score, expected in zip(scores, cooled.score(prompts)[0], strict=True):
            assert score.probability == pytest.approx(expected.probability, abs=1e-6, rel=1e-4)
        assert_like_slow(cooled, prompts[:5], scores[:5]) if temperature != 1 else None


@pytest.mark.parametrize("window", [64, 80, 110, 4096])
def test_answers_fit_into_attention_windows(window: int) -> None:
    """A short prompt with long answers stands beside a long one with short answers: its answers come behind padding."""
    long, short = " It rains, and the hills are white." * 2, "Which?"
    prompts = [
        Prompt(f"{long}\nAnswer:", None, (("yes",), ("no",))),
        Prompt(f"{short}\nAnswer:", None, (("in the small room on the day of rest",), ("on trains",))),
    ]
    for architecture, name in (("mistral", "sliding_window"), ("gpt_neo", "window_size")):
        engine = engine_of(
            architecture, tiny_models.byte_tokenizer(vocab_size=300), max_position_embeddings=4096, **{name: window}
        )
        assert_like_slow(engine, prompts, engine.score(prompts)[0])


@pytest.mark.parametrize("architecture", ["llama", "falcon_alibi"])
def test_paths_that_cannot_matter_cost_nothing(architecture: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The bound itself is tested in double precision (`test_followed_paths`); here the rest is float32 rounding."""
    engine = engine_for(architecture, num_hidden_layers=3)
    words = ("agree", "disagree so", "on trains")
    favoured = sorted({token for ids in engine.tokens.bare([f" {word}" for word in words]) for token in ids})
    bias = torch.zeros(engine.model.config.vocab_size)
    bias[favoured] = 40.0
    engine.model.get_output_embeddings().register_forward_hook(lambda module, given, logits: logits + bias)
    answers = tuple((word, word.capitalize(), word.upper()) for word in words)
    prompts = [Prompt(f"{prompt.text} I say", None, answers) for prompt in prompts_of(start="")[:4]]
    few = engine.score(prompts)[0]
    tokens = sum(rows * width for rows, width in passes(engine, prompts)[1:])
    monkeypatch.setattr("inference.engines.exact.followed_paths.NEGLIGIBLE", 0.0)
    whole = engine.score(prompts)[0]
    assert sum(rows * width for rows, width in passes(engine, prompts)[1:]) > tokens
    for one, other in zip(few, whole, strict=True):
        assert one.probability == pytest.approx(other.probability, abs=1e-8, rel=1e-4)
        assert one.logprob == pytest.approx(other.logprob, abs=1e-4)
        assert one.answer == other.answer
        assert one.left_out <= 1e-8 and other.left_out == 0
    assert max(score.left_out for score in few) > 0


def test_a_resumed_run_computes_its_answers_bit_by_bit() -> None:
    prompts = prompts_of()

    def answers(batches: list[list[int]], engine: CausalEngine) -> list[list[Score]]:
        return [engine.score([prompts[place] for place in batch], (1.0, 0.7))[0] for batch in batches]

    whole, resumed = engine_for("llama", batch_size=4), engine_for("llama", batch_size=4)
    batches = whole.cut_into_batches(prompts)
    assert resumed.cut_into_batches(prompts) == batches
    assert answers(batches[::-2], resumed) == answers(batches, whole)[::-2]


def test_a_probability_that_is_no_number_behind_the_first_token_is_an_error() -> None:
    engine = engine_for("llama")
    prompt = Prompt("Which?\nAnswer:", None, (("yes",), ("in the room",)))
    row = engine._get_or_tokenize_rows([prompt])[0]
    first = {path[0] for path in engine._find_or_tokenize_target_of_row(row).options.sequences[1]}
    with torch.no_grad():
        engine.model.get_input_embeddings().weight[list(first - set(row.ids))] = torch.nan
    assert first - set(row.ids)
    assert [score.error for score in engine.score([prompt])[0]] == [NOT_FINITE]


@pytest.fixture(scope="module")
def run_model() -> OnePosition:
    return OnePosition(tiny_models.model("llama", tiny_models.byte_tokenizer()))


PATHS = st.lists(st.lists(st.integers(1, 3), min_size=1, max_size=5).map(tuple), min_size=1, max_size=8, unique=True)
ROOMS = st.builds(Budget, tokens=st.integers(1, 40), branches=st.integers(1, 9), tree=st.integers(0, 12),
                  kept=st.booleans())  # fmt: skip


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.tuples(st.lists(st.integers(4, 9), min_size=1, max_size=6), PATHS), min_size=1, max_size=5), ROOMS,
       st.booleans())  # fmt: skip
def test_any_answers_in_any_room_are_those_of_a_path_a_pass(
    run_model: OnePosition, asked: list[tuple[list[int], list[tuple[int, ...]]]], room: Budget, cached: bool
) -> None:
    targets = []
    for _, paths in asked:
        sequences = (tuple(paths[::2]), tuple(paths[1::2]))
        options = Options(((), ()), sequences, ())
        targets.append(Target(options, build_option_tree(sequences), options.options_by_first_token))
    prompts = [prompt for prompt, _ in asked]
    room = room if cached else Budget(room.tokens, room.branches, 0)
    with torch.inference_mode():
        own, slow = (Continuations(run_model, prompts, Prefix([]), cached) for cached in (cached, False))
        found = score_batch(
            targets, AnswerPaths(own, [target.tree for target in targets], (1.0, 0.6), room), (1.0, 0.6)
        )
        expected = score_batch(targets, WholeVocabulary(slow.compute_next_logprobs), (1.0, 0.6))
    for scores, others in zip(found, expected, strict=True):
        for score, other in zip(scores, others, strict=True):
            assert score.probability == pytest.approx(other.probability, abs=1e-6, rel=1e-4)
            assert score.answer == other.answer
