"""Engine `vllm` against a bare `LLM.generate`: `.venv-vllm/bin/python tests/benchmarks/bench_vllm.py [MODEL]`.

Prompts per second of wall time, since vLLM works in processes of its own. Both sides use the one vLLM that the engine
started, in turn, on fresh prompts each, so that a slow minute of the machine falls on both and no prefix cache knows
more than the shared start; the ratio is the median over the rounds.

- bare: token ids and parameters made beforehand, one call per batch, nothing read from what comes back
- engine: `batches` and `score`, with rendering, tokenisation, reading and option probabilities
"""

from __future__ import annotations

import os
import random
import statistics
import sys
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from inference import engines  # noqa: E402
from inference.stimuli.templates.prompts import Prompt  # noqa: E402

DEMO = ROOT / "inference" / "demo" / "models" / "waver-demo-large"
START = "Do you agree with the statement below? Reply yes or no.\nStatement: "
ANSWERS = (("yes", "Yes", "YES"), ("no", "No", "NO"))
WORDS = ("lamp", "room", "bread", "day", "train", "time", "rain", "snow", "hill", "warm", "cold", "makes", "tastes")
ROUNDS, PROMPTS = 7, 2048


def prompts_of(chance: random.Random) -> list[Prompt]:
    """Prompts of 10 to 30 words behind a shared start."""
    return [
        Prompt(f"{START}{' '.join(chance.choices(WORDS, k=chance.randint(10, 30)))}.\nReply:", None, ANSWERS)
        for _ in range(PROMPTS)
    ]


def ask(engine: Any, prompts: list[Prompt]) -> float:
    """Seconds that the engine takes from prompts to scores."""
    began = time.perf_counter()
    for batch in engine.cut_into_batches(prompts):
        engine.score([prompts[index] for index in batch])
    return time.perf_counter() - began


def ask_bare(engine: Any, prompts: list[Prompt]) -> float:
    """Seconds of the same requests without anything around them."""
    from vllm import TokensPrompt

    rows = engine._get_or_tokenize_rows(prompts)
    ids = [TokensPrompt(prompt_token_ids=row.ids) for row in rows]
    parameters = [
        engine._build_scoring_parameters(tuple(engine._find_or_tokenize_target_of_row(row).tree.children), 1.0)
        for row in rows
    ]
    batches = engine.cut_into_batches(prompts)
    began = time.perf_counter()
    for batch in batches:
        engine._llm.generate([ids[i] for i in batch], [parameters[i] for i in batch], use_tqdm=False)
    return time.perf_counter() - began


def main(model: str) -> None:
    """Print prompts per second of both, and the ratio."""
    engine = engines.load_engine(model, engine="vllm")
    chance = random.Random(1)
    ask(engine, prompts_of(chance))
    ours, bare = [], []
    for number in range(ROUNDS):
        pair = [(ours, ask), (bare, ask_bare)]
        for times, asking in pair if number % 2 else reversed(pair):
            times.append(asking(engine, prompts_of(chance)))
        print(
            f"engine {PROMPTS / ours[-1]:7.1f} /s   bare {PROMPTS / bare[-1]:7.1f} /s   {bare[-1] / ours[-1]:.3f}",
            flush=True,
        )
    ratio = statistics.median(b / o for b, o in zip(bare, ours, strict=True))
    print(f"median: engine at {100 * ratio:.1f} % of bare vLLM ({os.path.basename(model)}, {engine.info['device']})")


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else str(DEMO))
