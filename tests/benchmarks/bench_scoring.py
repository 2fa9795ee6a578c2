"""Speed of exact scores by range: `python tests/benchmarks/bench_scoring.py [--items N] [--rounds N]`.

One thread, CPU time, the largest demo model, retellings of its world. Both ranges are timed in turn, so that a slow
minute of the machine falls on both; the ratio is the median over the rounds.
"""

from __future__ import annotations

import argparse
import itertools
import random
import statistics
import sys
import time
from pathlib import Path

import torch

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT)]

from inference import engines  # noqa: E402
from inference.asking.rounds import Prompts  # noqa: E402
from inference.demo import FAMILY  # noqa: E402
from inference.demo.exercises import make_rating_exercise  # noqa: E402
from inference.demo.world import World  # noqa: E402
from inference.engines.contract import Engine  # noqa: E402
from inference.protocols.scoring import Questions, read_scoring_prompts  # noqa: E402
from inference.protocols.scoring.items import OPTIONS  # noqa: E402
from inference.stimuli.numbers import parse_scale_range  # noqa: E402
from inference.stimuli.study import ORIGINAL, Variant  # noqa: E402

RANGES = ("0-9", "1-100")
MODEL = "waver-demo-large"
TARGET = 3.0


def retellings(items: int) -> list[Variant]:
    """Pairs of the demo world."""
    world, rng = World(), random.Random("benchmark")
    drawn = (make_rating_exercise(world, rng, "trained").fields for _ in itertools.count())
    pairs = itertools.islice((fields for fields in drawn if "source" in fields), items)
    return [
        Variant(str(number), ORIGINAL, ORIGINAL, fields["output"], OPTIONS, attributes={"source": fields["source"]})
        for number, fields in enumerate(pairs)
    ]


def seconds(engine: Engine, span: str, variants: list[Variant], temperatures: list[float]) -> float:
    """CPU seconds for the exact probabilities of all numbers of a range."""
    (asked,) = Questions(read_scoring_prompts(), (parse_scale_range(span),), exact=True).rounds("plain")
    prompts = Prompts(variants, asked.render)
    began = time.process_time()
    for batch in engine.cut_into_batches(prompts):
        engine.score([prompts[number] for number in batch], temperatures)
    return time.process_time() - began


def main() -> None:
    """Time both ranges in turn and print the ratio."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--items", type=int, default=1000)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    engine = engines.load_engine(str(FAMILY[MODEL].path))
    torch.set_num_threads(1)
    variants = retellings(options.items)
    for temperatures in ([0.7], [1.0], [0.4, 0.7, 1.0, 1.3]):
        for span in RANGES:
            seconds(engine, span, variants[:30], temperatures)  # tokenizer, tree, kernels: once
        rounds = [[seconds(engine, span, variants, temperatures) for span in RANGES] for _ in range(options.rounds)]
        few, many = (statistics.median(column) for column in zip(*rounds, strict=True))
        ratio = statistics.median(large / small for small, large in rounds)
        print(
            f"temperature {' '.join(map(str, temperatures))}, {options.items:,} items: {RANGES[0]} {few:.2f} s, "
            f"{RANGES[1]} {many:.2f} s; ratio {ratio:.2f} (at most {TARGET:g} wanted)",
            flush=True,
        )


if __name__ == "__main__":
    main()
