"""Engine `causal` with a model that thinks: all protocols, all shapes of tags, windows, budgets and kills."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
import torch

from ground.errors import InputError, RunFailed
from helpers import thinking_models, tiny_models
from helpers.thinking_models import LONGEST, WORDS, build_prompts, build_prompts_by_key, build_thinking_tokenizer
from inference import engines
from inference.__main__ import main
from inference.asking import rounds
from inference.asking.one_model import Settings
from inference.engines.contract import Thinking, Thoughts
from inference.engines.loading import Checkpoint
from inference.engines.local.causal import CausalEngine
from inference.engines.rows import Row
from inference.engines.thinking_marks import THINKING, ThinkingMarks
from inference.stimuli.templates.prompts import Prompt

pytestmark = pytest.mark.slow

LETTERS = (("A",), ("B",))
QUESTION = Prompt(None, ({"role": "user", "content": "Bread?"},), LETTERS)


@pytest.fixture(scope="module")
def thinker(tmp_path_factory: pytest.TempPathFactory) -> str:
    return thinking_models.write_thinker(tmp_path_factory.mktemp("models") / "thinker", steps=30)


@pytest.fixture(scope="module")
def engine(thinker: str) -> CausalEngine:
    loaded = engines.load_engine(thinker, device="cpu")
    assert isinstance(loaded, CausalEngine)
    return loaded


@pytest.fixture(scope="module")
def untaught() -> CausalEngine:
    """An engine whose copies write what a test says (`writes`)."""
    tokenizer = build_thinking_tokenizer()
    return CausalEngine(Checkpoint("tiny", tiny_models.model("llama", tokenizer), tokenizer, {}))


def call(protocol: str, thinker: str, out: Path, *more: str) -> list[str]:
    asked = ["run", protocol, "--items", "demo", "--limit", "1", "--model", thinker, "--answer", "thought"]
    return [*asked, "--max-tokens", str(LONGEST), "--out", str(out), *more]


def rows_of(out: Path) -> dict[tuple[str, str], dict[str, Any]]:
    parts = sorted((out / "responses").glob("part-*.parquet"))
    rows = [row for part in parts for row in pq.read_table(part, partitioning=None).to_pylist()]
    return {(row["item"], row["variant"]): row for row in rows}


@torch.inference_mode()
def score_after(engine: CausalEngine, prompt: Prompt, thought: str) -> Any:
    """The options after a prompt and a text, in a pass of their own."""
    (row,) = engine._get_or_tokenize_rows([prompt])
    ids = engine.tokens.bare([thought])[0]
    return engine._score_in_passes([Row(row.text + thought, row.ids + ids, row.answers, row.numbers)])[0]


def test_a_prompt_is_explained_with_the_effort_that_it_is_asked_with(engine: CausalEngine):
    plain = engine.explain_and_score_prompt(QUESTION)
    explained = engine.explain_and_score_prompt(QUESTION, "none")
    assert explained.text == engine.render(QUESTION, "none") != plain.text and explained.n_tokens > plain.n_tokens
    (thoughts,) = engine.think([QUESTION], Thinking(1, 0.0, effort="none"))
    assert thoughts.scores == (explained.score,) != (plain.score,)


@pytest.mark.parametrize("protocol", WORDS)
def test_the_probability_is_the_mean_over_the_thoughts_of_a_prompt(
    thinker: str, engine: CausalEngine, protocol: str, tmp_path: Path
) -> None:
    few = {"agreement": ("--wordings", "6"), "choice": ("--orders", "2")}.get(protocol, ())
    assert main(call(protocol, thinker, tmp_path / "run", "--thoughts", "3", *few)) == 0
    rows, prompts = rows_of(tmp_path / "run"), build_prompts_by_key(protocol, 1, few)
    assert rows.keys() == prompts.keys()
    compared = 0
    for key, row in rows.items():
        assert row["error"] is None and len(row["thought"]) == len(row["output"]) == 3
        answered = [probability for probability in row["sample_probability"] if probability is not None]
        assert row["unclosed"] == 3 - len(answered)
        if answered:
            mean = [sum(values) / len(answered) for values in zip(*answered, strict=True)]
            assert row["probability"] == pytest.approx(mean, abs=1e-12)
            assert row["mass"] == pytest.approx(sum(mean), abs=1e-12)
        else:
            assert row["probability"] is row["answer"] is row["mass"] is None
        for thought, n_tokens, probability in zip(
            row["thought"], row["thought_tokens"], row["sample_probability"], strict=True
        ):
            # A model may spell a word with other tokens than the tokenizer does.
            if probability is not None and len(engine.tokens.bare([thought])[0]) == n_tokens:
                compared += 1
                assert thought.endswith(("</think>", "\n"))
                expected = score_after(engine, prompts[key], thought).probability
                assert probability == pytest.approx(expected, abs=1e-5)
    assert compared >= len(rows)


def test_more_thoughts_leave_the_first_ones_as_they_are(engine: CausalEngine) -> None:
    prompts = build_prompts("agreement", 4)
    few, many = (engine.think(prompts, Thinking(thoughts, max_tokens=LONGEST)) for thoughts in (3, 5))
    assert [response.thoughts[:3] for response in many] == [response.thoughts for response in few]
    assert all(len(set(response.thoughts)) > 1 for response in many)
    alone = [engine.think([prompt], Thinking(3, max_tokens=LONGEST))[0] for prompt in reversed(prompts)][::-1]
    assert [response.thoughts for response in alone] == [response.thoughts for response in few]
    for response, other in zip(alone, few, strict=True):
        for score, same in zip(response.scores, other.scores, strict=True):
            assert (score and score.probability) == (same and pytest.approx(same.probability, abs=1e-5))


def test_thoughts_written_some_prompts_at_a_time_are_the_same(
    engine: CausalEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    prompts = build_prompts("choice", 6)
    together = engine.think(prompts, Thinking(3, max_tokens=LONGEST))
    calls: list[int] = []
    write = engine._generate_token_ids
    monkeypatch.setattr(engine, "_generate_token_ids", lambda rows, s: calls.append(len(rows)) or write(rows, s))
    monkeypatch.setattr(engine, "most_thought_tokens", 2 * 3 * LONGEST)
    apart = engine.think(prompts, Thinking(3, max_tokens=LONGEST))
    assert calls == [2, 2, 2]
    assert [(r.thoughts, r.answers, r.tokens, r.closed) for r in apart] == [
        (r.thoughts, r.answers, r.tokens, r.closed) for r in together
    ]
    for response, other in zip(apart, together, strict=True):
        for score, same in zip(response.scores, other.scores, strict=True):
            assert (score and score.probability) == (same and pytest.approx(same.probability, abs=1e-5))


def test_a_killed_run_asks_for_no_finished_thought_again(
    thinker: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rounds, "THOUGHTS_OF_BATCH", 4)  # 2 prompts with 2 thoughts each
    given, whole = (call("wording", thinker, tmp_path / name, "--thoughts", "2") for name in ("run", "whole"))
    asked: list[list[int]] = []
    batches_before_kill: int | None = None
    load = Settings.load_model_engine

    def load_counting(settings: Settings, model: Any, seed: int) -> Any:
        loaded = load(settings, model, seed)
        think = loaded.think

        def think_and_count(prompts: Sequence[Prompt], thinking: Thinking) -> list[Thoughts]:
            if len(asked) == batches_before_kill:
                raise RunFailed("killed")
            asked.append([hash(str(prompt.messages)) for prompt in prompts])
            return think(prompts, thinking)

        loaded.think = think_and_count
        return loaded

    monkeypatch.setattr(Settings, "load_model_engine", load_counting)
    assert main(whole) == 0
    undisturbed, asked[:] = list(asked), []
    assert len(undisturbed) > 2 and max(map(len, undisturbed)) == 2
    batches_before_kill = 1
    assert main(given) == 1
    assert len(rows_of(tmp_path / "run")) == sum(map(len, asked)) > 0
    batches_before_kill = None
    assert main(given) == 0
    assert asked == undisturbed
    assert rows_of(tmp_path / "run") == rows_of(tmp_path / "whole")  # to the last bit


def test_thoughts_are_as_long_as_the_window_has_room_after_their_own_prompt() -> None:
    window, tokenizer = 96, build_thinking_tokenizer()
    model = tiny_models.model("llama", tokenizer, max_position_embeddings=window)
    model.lm_head.weight.data[tokenizer.convert_tokens_to_ids(["<think>", "</think>"])] = 0
    engine = CausalEngine(Checkpoint("tiny", model, tokenizer, {}))
    engine.stops = frozenset()  # it never ends
    prompts = [
        Prompt(None, ({"role": "user", "content": text},), LETTERS) for text in ("Bread?", "Bread or tea?", "tea " * 99)
    ]
    lengths = engine.count_prompt_tokens(prompts)
    *good, long = engine.think(prompts, Thinking(1, 0.0))
    answer = engine._count_longest_answer_tokens(engine._get_or_tokenize_rows(prompts[:1])[0])
    room = [window - length - answer for length in lengths]
    assert [response.tokens for response in good] == [(tokens,) for tokens in room[:2]] and room[0] != room[1]
    assert [(response.closed, response.scores, response.error) for response in good] == [((False,), (None,), None)] * 2
    assert "context window of 96" in (long.error or "")
    closing = len(engine.tokens.bare(["\n</think>\n\n"])[0])
    *good, long = engine.think(prompts, Thinking(1, 0.0, budget=20))
    assert [response.tokens for response in good] == [(20,)] * 2 and all(response.scores[0] for response in good)
    *good, long = engine.think(prompts, Thinking(1, 0.0, budget=room[0] - closing))  # does not fit after the second
    assert [response.error is None for response in good] == [True, False]


def writes(engine: CausalEngine, *texts: str) -> list[list[int]]:
    """Let an engine write these texts, whatever it is asked."""
    ids = engine.tokens.bare(list(texts))
    engine._generate_token_ids = lambda rows, samplings: list(ids)  # type: ignore[method-assign]
    return ids


@pytest.mark.parametrize(
    ("written", "thought", "answer"),
    [
        ("a warm lamp</think>\n\nA", "a warm lamp</think>\n\n", "A"),
        ("a warm lamp</think>A", "a warm lamp</think>", "A"),
        ("</think>\n\nB", "</think>\n\n", "B"),
        ("\n</think>\n\nB", "\n</think>\n\n", "B"),
        ("a <think>warm</think> lamp</think>\nA", "a <think>warm</think> lamp</think>\n", "A"),
        ("a</think>\n<think>lamp</think>\n\nA", "a</think>\n<think>lamp</think>\n\n", "A"),
        ("Answer: A, or not</think>\n\nB", "Answer: A, or not</think>\n\n", "B"),
        ("a</think>\n\nAnswer: B", "a</think>\n\n", "Answer: B"),
        ("a warm lamp", "a warm lamp", None),
        ("Answer: A", "Answer: A", None),
        ("a <think>warm</think> lamp", "a <think>warm</think>", " lamp"),  # it may only speak of the tag
        ("a</think>\n<think>lamp", "a</think>\n<think>lamp", None),
        ("", "", None),
    ],
)
def test_a_thought_ends_where_its_tags_say(
    untaught: CausalEngine, written: str, thought: str, answer: str | None
) -> None:
    engine = copy(untaught)
    writes(engine, written)
    (response,) = engine.think([QUESTION], Thinking(1, 1.0, max_tokens=99))
    assert response.error is None and response.thoughts == (thought,) and response.answers == (answer or "",)
    assert response.tokens == (len(engine.tokens.bare([thought])[0]),)
    assert response.closed == (answer is not None,)
    if answer is None:
        assert response.scores == (None,)
    else:
        assert response.scores[0] is not None
        expected = score_after(engine, QUESTION, thought)
        assert response.scores[0].probability == pytest.approx(expected.probability, abs=5e-6)
    (forced,) = engine.think([QUESTION], Thinking(1, 1.0, budget=99))
    assert forced.thoughts == response.thoughts and forced.closed == response.closed
    before = thought if answer is not None else thought + "\n</think>\n\n"
    assert forced.scores[0] is not None
    expected = score_after(engine, QUESTION, before)
    assert forced.scores[0].probability == pytest.approx(expected.probability, abs=5e-6)


@pytest.mark.parametrize("missing", ["", "\n", "\n\n"])
def test_a_thought_that_ends_with_its_last_token_is_not_answered_yet(untaught: CausalEngine, missing: str) -> None:
    """The line breaks before the answer may not be there: no option would be likely. A budget adds them."""
    engine = copy(untaught)
    thought = "a warm lamp</think>" + "\n\n".removesuffix(missing)
    (ids,) = writes(engine, thought)
    (response,) = engine.think([QUESTION], Thinking(1, 1.0, max_tokens=len(ids)))
    assert (response.closed, response.scores, response.thoughts) == ((False,), (None,), (thought,))
    (forced,) = engine.think([QUESTION], Thinking(1, 1.0, budget=len(ids)))
    assert forced.closed == (True,) and forced.thoughts == (thought,) and forced.scores[0] is not None
    expected = score_after(engine, QUESTION, "a warm lamp</think>\n\n")
    assert forced.scores[0].probability == pytest.approx(expected.probability, abs=5e-6)


# Shortened from the makers' chat templates: marks, what ends a rendered prompt, and what a model writes behind it.
HEAD = "{% for message in messages %}<|{{ message['role'] }}|>\n{{ message['content'] }}\n{% endfor %}"
ASKS = "{% if add_generation_prompt %}<|assistant|>\n"
SWITCH = "{% if enable_thinking is defined and not enable_thinking %}"
FAMILIES = [
    pytest.param(  # Qwen: the prompt ends before the opening mark, or closes it
        THINKING[0], ASKS + SWITCH + "<think>\n\n</think>\n\n{% endif %}{% endif %}",
        "<think>\nA lamp\n</think>\n\n", True, id="qwen",
    ),
    pytest.param(  # DeepSeek: the prompt opens it, always
        THINKING[0], ASKS + "<think>\n{% endif %}", "A lamp\n</think>\n\n", False, id="deepseek"
    ),
    pytest.param(
        THINKING[1], ASKS + "{# <|channel|>analysis<|message|> #}{% endif %}",
        "<|channel|>analysis<|message|>A lamp<|end|><|start|>assistant<|channel|>final<|message|>", False, id="gpt-oss",
    ),
    pytest.param(
        THINKING[2], "{# [THINK] #}" + ASKS + "{% endif %}", "[THINK]A lamp[/THINK]", False, id="magistral"
    ),
    pytest.param(
        THINKING[3], ASKS + SWITCH + "<|START_THINKING|><|END_THINKING|>{% else %}<|START_THINKING|>"
        "{% endif %}{% endif %}",
        "A lamp<|END_THINKING|><|START_RESPONSE|>", True, id="command-a",
    ),
    pytest.param(
        THINKING[4], ASKS + SWITCH + "<seed:think></seed:think>{% endif %}{% endif %}",
        "<seed:think>A lamp</seed:think>", True, id="seed",
    ),
    pytest.param(
        THINKING[5], ASKS + "<thinking>\n{% endif %}", "A lamp\n</thinking>\n\n", False, id="thinking"
    ),
]  # fmt: skip


@pytest.mark.parametrize(("marks", "end", "thought", "can_be_off"), FAMILIES)
def test_the_marks_of_a_family(marks: ThinkingMarks, end: str, thought: str, can_be_off: bool) -> None:
    tokenizer = tiny_models.byte_tokenizer(chat=True, template=HEAD + end)
    tokenizer.add_special_tokens({"additional_special_tokens": ["<|end|>", "<|start|>"]})
    engine = CausalEngine(Checkpoint("tiny", tiny_models.model("llama", tokenizer), tokenizer, {}))
    assert engine.tokens.marks == marks and engine.info["thinks"]
    unclosed = thought.partition("A lamp")[0] + "A warm"
    writes(engine, thought + "B", unclosed)
    (response,) = engine.think([QUESTION], Thinking(2, 1.0, max_tokens=99))
    assert response.closed == (True, False) and response.answers == ("B", "") and response.scores[1] is None
    (forced,) = engine.think([QUESTION], Thinking(2, 1.0, budget=99))
    assert forced.closed == (True, False) and forced.thoughts == response.thoughts
    for place, before in enumerate((thought, unclosed + marks.closing)):
        score = forced.scores[place]
        assert score is not None
        expected = score_after(engine, QUESTION, before)
        assert score.probability == pytest.approx(expected.probability, abs=5e-6)
    without = Thinking(1, 0.0, effort="none")
    if can_be_off:
        (off,) = engine.think([QUESTION], without)
        assert off.thoughts == off.closed == () and len(off.scores) == 1 and off.scores[0] is not None
    else:
        with pytest.raises(InputError, match="its chat template cannot switch thinking off: leave out --effort none"):
            engine.think([QUESTION], without)
