"""What a Ray cluster of one worker costs: `python tests/benchmarks/bench_ray.py [--prompts N] [--rounds N]`.

The same prompts are asked of the same model (about a million random parameters, one thread) here and by one worker on
this machine. What a cluster costs before its first answer is measured by a run of a few prompts and taken off on both
sides: the rest may take at most 15 % longer. Paired rounds, seconds on the clock (several processes work), so
it wants a machine that does nothing else.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
import time
from contextlib import redirect_stderr
from io import StringIO
from pathlib import Path

import torch

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]

import tiny_models  # noqa: E402
from trivial_engine import small_study  # noqa: E402

from inference.distributed import Cluster  # noqa: E402
from inference.models import Model  # noqa: E402
from inference.prompts import PromptBook  # noqa: E402
from inference.protocols.agreement import Questions  # noqa: E402
from inference.run import Settings  # noqa: E402
from inference.tasks import Task, execute  # noqa: E402

LIMIT = 0.15
FEW = 100


def build(folder: Path) -> str:
    """A Llama of about a million random parameters."""
    return tiny_models.checkpoint(
        folder, "llama", hidden_size=128, num_hidden_layers=4, num_attention_heads=4, num_key_value_heads=4,
        intermediate_size=384, max_position_embeddings=512, initializer_range=0.02,
    )  # fmt: skip


def seconds(model: str, prompts: int, cluster: Cluster | None) -> float:
    """A whole run, from the call to the finished folder."""
    study = small_study(items=prompts // 50, paraphrases=49)
    with tempfile.TemporaryDirectory() as folder, redirect_stderr(StringIO()):
        task = Task(study, [Model("m", model)], Questions(PromptBook.load()), Settings(device="cpu"), folder)
        began = time.perf_counter()
        (tally,) = execute([task], cluster=cluster)
        assert (tally.asked, tally.failed) == (prompts, 0)
        return time.perf_counter() - began


def main() -> int:
    """Print the table; exit status 1 where Ray costs too much."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--prompts", type=int, default=20_000)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory() as folder, Cluster("local", 1) as cluster:
        cluster.resources = {"num_cpus": 1}  # one thread on both sides
        model = build(Path(folder) / "model")
        seconds(model, FEW, None)
        ratios = []
        for _ in range(options.rounds):
            start, here_start = seconds(model, FEW, cluster), seconds(model, FEW, None)
            here, there = seconds(model, options.prompts, None), seconds(model, options.prompts, cluster)
            ratios.append((there - start) / (here - here_start))
            print(
                f"{options.prompts:,} prompts: here {here:.1f} s ({here_start:.1f} s for {FEW}), "
                f"Ray {there:.1f} s ({start:.1f} s for {FEW}): ratio {ratios[-1]:.3f}",
                flush=True,
            )
    print(f"median of {options.rounds}: {statistics.median(ratios):.3f}")
    return int(statistics.median(ratios) > 1 + LIMIT)


if __name__ == "__main__":
    sys.exit(main())
