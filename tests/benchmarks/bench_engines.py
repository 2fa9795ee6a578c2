"""Speed of the engines against plain loops: `python tests/benchmarks/bench_engines.py [--quick]`.

One thread, CPU time, random weights. The versions of a pair are timed in turn, so that a slow minute of the machine
falls on both; the ratio is the median over the rounds.

- one by one: one prompt per forward pass, scores over the whole vocabulary at every position
- bare: the same passes, without what the prompts share, in a forward pass that keeps the last position only: no
  tokeniser, no shared start to attend to, no option probabilities. It runs the last layer everywhere, so that an
  engine may come to more than 1. Of a masked model only the body runs: its own pass runs the head at every position.
- head: the same with the head, of a masked model at one position of every prompt. No engine can do without it.
"""

from __future__ import annotations

import argparse
import random
import statistics
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]

from helpers import tiny_models  # noqa: E402
from inference.engines.loading import Checkpoint  # noqa: E402
from inference.engines.local.causal import CausalEngine  # noqa: E402
from inference.engines.local.engine import LocalEngine  # noqa: E402
from inference.engines.local.masked import MaskedEngine  # noqa: E402
from inference.stimuli.templates.prompts import Prompt  # noqa: E402

ANSWERS = (("yes", "Yes", "YES"), ("no", "No", "NO"))
FILLERS = (("agree", "accept", "support"), ("disagree", "reject", "oppose"))
WORDS = ("lamp", "room", "bread", "day", "train", "time", "rain", "snow", "hill", "warm", "cold", "makes", "tastes")


@dataclass(frozen=True)
class Shape:
    """A model to time: architecture, hidden size, layers, vocabulary; number of prompts, rounds."""

    architecture: str
    hidden: int
    layers: int
    vocabulary: int
    prompts: int
    rounds: int


SHAPES = (
    Shape("llama", 256, 4, 8_192, 192, 7),
    Shape("llama", 640, 14, 32_000, 48, 5),
    Shape("bert", 256, 4, 8_192, 192, 7),
    Shape("bert", 128, 4, 30_522, 192, 7),
    Shape("bert", 768, 12, 30_522, 48, 3),
)


def build(shape: Shape, tokenizer: Any = None, initializer_range: float = 0.02) -> LocalEngine:
    """Engine on a random model; the vocabulary is filled up, the tokenizer knows its beginning."""
    tokenizer = tokenizer or tiny_models.default_tokenizer(shape.architecture)
    heads = max(1, shape.hidden // 64)
    own = {"num_key_value_heads": heads} if shape.architecture == "llama" else {}
    model = tiny_models.model(
        shape.architecture,
        tokenizer,
        vocab_size=shape.vocabulary,
        hidden_size=shape.hidden,
        num_hidden_layers=shape.layers,
        num_attention_heads=heads,
        intermediate_size=shape.hidden * (3 if shape.architecture == "llama" else 4),
        tie_word_embeddings=True,
        initializer_range=initializer_range,
        max_position_embeddings=512,
        **own,
    )
    engine = MaskedEngine if shape.architecture == "bert" else CausalEngine
    return engine(Checkpoint("random", model, tokenizer, {}))


def questions(engine: LocalEngine, number: int) -> list[Prompt]:
    """Prompts of some 90 tokens, half of them shared; for a masked model of some 45."""
    draw = random.Random(0)
    start = "Do you agree with the statement below? Reply yes or no. This is how others see it, now and on Sundays. "
    prompts = []
    while len(prompts) < number:
        statement = " ".join(draw.choices(WORDS, k=draw.randint(13, 19)))
        if engine.mask_token:
            text = f"Some people agree with this: {statement}. I {engine.mask_token} with it."
            prompts.append(Prompt(text, None, FILLERS))
        else:
            prompts.append(Prompt(f"{start}Statement: {statement}.\nReply:", None, ANSWERS))
    return prompts


def one_by_one(engine: LocalEngine, prompts: list[Prompt]) -> None:
    """What a first script does."""
    encoded = [row.ids for row in engine._get_or_tokenize_rows(prompts)]
    for ids in encoded:
        logits = engine.model(input_ids=torch.tensor([ids])).logits
        at = ids.index(engine.tokenizer.mask_token_id) if engine.mask_token else -1
        logits[0, at].log_softmax(-1)


def bare(engine: LocalEngine, batches: list[tuple[torch.Tensor, torch.Tensor]], head: bool = False) -> None:
    """Nothing but forward passes; `head` says whether a masked model runs its head, too."""
    for ids, mask in batches:
        if engine.mask_token:
            hidden = engine.model.base_model(input_ids=ids, attention_mask=mask).last_hidden_state
            if head:
                engine.model.cls(hidden[:, :1])
        else:
            engine.model(input_ids=ids, use_cache=False, logits_to_keep=1)


def bare_batches(engine: LocalEngine, prompts: list[Prompt]) -> list[tuple[torch.Tensor, torch.Tensor]]:
    """The engine's own passes: padded ids behind the shared start, with their attention masks."""
    shared = 0 if engine.mask_token else len(engine._measure_lengths_and_common_prefixes(prompts).shared)
    rows = engine._get_or_tokenize_rows(prompts)
    result = []
    for batch in engine.cut_into_batches(prompts):
        # A batch of a masked model is several passes of its body.
        passes = (
            engine._split_batch_into_passes([rows[place] for place in batch])
            if engine.mask_token
            else [range(len(batch))]
        )
        parts = [[rows[batch[at]].ids[shared:] for at in places] for places in passes]
        result += map(padded, parts)
    return result


def padded(part: list[list[int]]) -> tuple[torch.Tensor, torch.Tensor]:
    """Ids of one pass, and which of them are no padding."""
    width = max(map(len, part))
    ids = torch.tensor([row + [row[-1]] * (width - len(row)) for row in part])
    return ids, torch.tensor([[1] * len(row) + [0] * (width - len(row)) for row in part])


def seconds(task: Callable[[], Any]) -> float:
    """CPU seconds of this process."""
    start = time.process_time()
    task()
    return time.process_time() - start


def compare(shape: Shape) -> str:
    """One line of the table."""
    engine = build(shape)
    prompts = questions(engine, shape.prompts)
    single = prompts[:: max(1, len(prompts) // 24)]  # one by one is slow, and its cost does not depend on the others

    def ask() -> None:
        for batch in engine.cut_into_batches(prompts):
            engine.score([prompts[index] for index in batch])[0]

    rounds = []
    with torch.inference_mode():
        batches = bare_batches(engine, prompts)
        ask()
        for _ in range(shape.rounds):
            alone = seconds(lambda: one_by_one(engine, single)) / len(single)
            tasks = (ask, lambda: bare(engine, batches), lambda: bare(engine, batches, head=True))
            rounds.append((alone, *(seconds(task) / len(prompts) for task in tasks)))
    alone, own, least, headed = (statistics.median(column) for column in zip(*rounds, strict=True))
    speed = statistics.median(a / b for a, b, _, _ in rounds)
    share = statistics.median(c / b for _, b, c, _ in rounds)
    share_with_head = statistics.median(d / b for _, b, _, d in rounds)
    parameters = sum(parameter.numel() for parameter in engine.model.parameters()) / 1e6
    measured = engine._measure_lengths_and_common_prefixes(prompts)
    tokens = f"{statistics.mean(measured.lengths):.0f}/{0 if engine.mask_token else len(measured.shared)}"
    return (
        f"{shape.architecture:6} {parameters:7.1f}M {tokens:>7} {max(len(ids) for ids, _ in batches):5}"
        f" {1e3 * alone:10.2f} {1e3 * own:9.2f} {1e3 * least:9.2f} {1e3 * headed:9.2f} {speed:8.2f}x {share:8.2f}"
        f" {share_with_head:8.2f}"
    )


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="only the small models")
    quick = parser.parse_args().quick
    torch.set_num_threads(1)
    print("model      size  tokens  rows  ms: alone    engine      bare      head  speed-up  of bare  of head")
    for shape in SHAPES:
        if not quick or shape.hidden < 512:
            print(compare(shape), flush=True)


if __name__ == "__main__":
    main()
