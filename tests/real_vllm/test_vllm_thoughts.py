"""Thoughts of engine `vllm`: sampled by it, and scored as engine `causal` in float32 scores the same thoughts.

Measured on a CPU build of vLLM 0.32 with waver-demo-thinker: after 61 thoughts of agreement and wording, the worst
probability was 2.5e-6 from that of causal. The tests allow 2e-5, also with the less sure model that they train.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
import torch

from helpers import thinking_models
from helpers.thinking_models import LONGEST, SAMPLER, WORDS, build_prompts
from inference import engines
from inference.__main__ import main
from inference.asking.one_model import Settings
from inference.engines.contract import Thinking
from inference.engines.rows import Row
from inference.stimuli.templates.prompts import Prompt

pytestmark = pytest.mark.slow

ITEMS = 1


@pytest.fixture(scope="module")
def thinker(tmp_path_factory: pytest.TempPathFactory) -> str:
    return thinking_models.write_thinker(tmp_path_factory.mktemp("models") / "thinker")


@pytest.fixture(scope="module")
def causal(thinker: str) -> Any:
    return engines.load_engine(thinker, engine="causal", dtype="float32", device="cpu")


@pytest.fixture(scope="module")
def vllm(thinker: str) -> Any:
    return engines.load_engine(thinker, engine="vllm", dtype="float32")


@pytest.fixture
def loaded(vllm: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let runs be asked with the one engine that is loaded: vLLM takes long to start."""
    monkeypatch.setattr(Settings, "load_model_engine", lambda settings, model, seed: vllm)
    monkeypatch.setattr(vllm, "close", dict)


@torch.inference_mode()
def score_after(causal: Any, prompt: Prompt, thought: str) -> Any:
    """What engine causal makes of a prompt and the text of a thought."""
    (row,) = causal._get_or_tokenize_rows([prompt])
    ids = causal.tokens.bare([thought])[0]
    return causal._score_in_passes([Row(row.text + thought, row.ids + ids, row.answers, row.numbers)])[0]


def is_retokenized_alike(engine: Any, thought: str, n_tokens: int) -> bool:
    """Whether the text of a thought comes to as many tokens as the model wrote: it may spell a word in its own way."""
    return len(engine.tokens.bare([thought])[0]) == n_tokens


@pytest.mark.parametrize("protocol", WORDS)
@pytest.mark.usefixtures("loaded")
def test_a_run_scores_its_thoughts_as_causal_does(thinker: str, causal: Any, protocol: str, tmp_path: Path) -> None:
    call = ["run", protocol, "--items", "demo", "--limit", str(ITEMS), "--model", thinker, "--engine", "vllm",
            "--dtype", "float32", "--answer", "thought", "--thoughts", "3", "--max-tokens", str(LONGEST),
            "--out", str(tmp_path / "run")]  # fmt: skip
    assert main(call) == 0
    record = json.loads((tmp_path / "run" / "run.json").read_text())
    assert record["models"]["thinker"]["sampler"] == SAMPLER
    prompts = thinking_models.build_prompts_by_key(protocol, ITEMS)
    rows = [
        row
        for part in (tmp_path / "run" / "responses").glob("part-*.parquet")
        for row in pq.read_table(part, partitioning=None).to_pylist()
    ]
    assert len(rows) == len(prompts)
    compared = 0
    for row in rows:
        assert row["error"] is None and len(row["thought"]) == len(row["output"]) == len(row["sample_probability"]) == 3
        answered = [probability for probability in row["sample_probability"] if probability is not None]
        assert row["unclosed"] == 3 - len(answered)
        if answered:
            mean = [sum(values) / len(answered) for values in zip(*answered, strict=True)]
            assert row["probability"] == pytest.approx(mean, abs=1e-12)
        prompt = prompts[row["item"], row["variant"]]
        for thought, n_tokens, probability in zip(
            row["thought"], row["thought_tokens"], row["sample_probability"], strict=True
        ):
            if probability is not None and is_retokenized_alike(causal, thought, n_tokens):
                compared += 1
                assert probability == pytest.approx(score_after(causal, prompt, thought).probability, abs=2e-5)
    assert compared >= len(rows)


def test_samples_differ_and_follow_from_the_seed_and_the_prompt_alone(vllm: Any) -> None:
    prompts, thinking = build_prompts("agreement", 4), Thinking(4, max_tokens=LONGEST)
    together = vllm.think(prompts, thinking)
    alone = [vllm.think([prompt], thinking)[0] for prompt in reversed(prompts)][::-1]
    assert [response.thoughts for response in together] == [response.thoughts for response in alone]
    assert all(len(set(response.thoughts)) > 1 for response in together)
    more = vllm.think(prompts, Thinking(6, max_tokens=LONGEST))
    assert [response.thoughts[:4] for response in more] == [response.thoughts for response in together]
    vllm.most_thought_tokens, whole = 1, vllm.most_thought_tokens
    try:  # one prompt at a time
        assert [response.thoughts for response in vllm.think(prompts, thinking)] == [r.thoughts for r in together]
    finally:
        vllm.most_thought_tokens = whole


def test_a_sampler_of_the_call_wins_over_that_of_the_maker(vllm: Any, causal: Any) -> None:
    """With one token to draw from, every thought is the likeliest one: the maker's own draws from 50."""
    prompts = build_prompts("agreement", 3)
    greedy = causal.think(prompts, Thinking(1, 0.0, max_tokens=LONGEST))
    for thinking in (
        Thinking(3, 1.0, top_k=1, max_tokens=LONGEST),
        Thinking(3, 1.0, top_p=1e-6, max_tokens=LONGEST),
        Thinking(3, 1.0, min_p=1.0, max_tokens=LONGEST),
    ):
        for response, expected in zip(vllm.think(prompts, thinking), greedy, strict=True):
            assert response.thoughts == expected.thoughts * 3
    free = vllm.think(prompts, Thinking(8, 1.5, max_tokens=LONGEST))  # top_k 0: all tokens
    assert all(len(set(response.thoughts)) > 2 for response in free)


def test_a_budget_closes_every_thought_by_force(vllm: Any, causal: Any) -> None:
    prompts = build_prompts("negation", 2)
    for prompt, response in zip(prompts, vllm.think(prompts, Thinking(4, budget=5)), strict=True):
        assert response.error is None and max(response.tokens) <= 5 and not all(response.closed)
        assert all(score is not None for score in response.scores)
        for thought, n_tokens, is_closed, score in zip(
            response.thoughts, response.tokens, response.closed, response.scores, strict=True
        ):
            if not is_closed and is_retokenized_alike(causal, thought, n_tokens):
                expected = score_after(causal, prompt, thought + "\n</think>\n\n")
                assert score.probability == pytest.approx(expected.probability, abs=2e-5)


def test_without_effort_the_options_follow_the_prompt(vllm: Any, causal: Any) -> None:
    for protocol in ("agreement", "scoring"):
        prompts, thinking = build_prompts(protocol, 2), Thinking(1, 0.0, effort="none")
        for ours, reference in zip(vllm.think(prompts, thinking), causal.think(prompts, thinking), strict=True):
            assert ours.thoughts == ours.closed == () and len(ours.scores) == 1
            assert ours.scores[0].probability == pytest.approx(reference.scores[0].probability, abs=2e-5)


def test_thoughts_are_as_long_as_the_window_has_room(vllm: Any) -> None:
    (prompt,) = build_prompts("choice", 1)
    vllm.window, whole = vllm.count_prompt_tokens([prompt])[0] + 12, vllm.window
    try:
        (response,) = vllm.think([prompt], Thinking(8))
    finally:
        vllm.window = whole
    assert response.error is None
    assert max(response.tokens) == 12 - vllm._count_longest_answer_tokens(vllm._get_or_tokenize_rows([prompt])[0])
