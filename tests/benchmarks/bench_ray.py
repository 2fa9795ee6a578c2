"""What a Ray cluster of one worker costs: `python tests/benchmarks/bench_ray.py [--prompts N] [--rounds N]`.

The same prompts are asked of the same model (about a million random parameters, one thread) here and by one worker on
this machine. What a cluster costs before its first answers is its fixed start and is shown; from the first twentieth of
the answers to the last one, rows written, it may take at most 15 % longer than here. Paired rounds, seconds on the
clock, because the work is spread over processes: it wants a machine that does nothing else.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import redirect_stderr
from io import StringIO
from pathlib import Path
from typing import Any

import torch

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]

from helpers import tiny_models  # noqa: E402
from helpers.trivial_engine import small_study  # noqa: E402
from inference.asking import one_model  # noqa: E402
from inference.asking.cluster import Cluster  # noqa: E402
from inference.asking.execute import Task, ask_tasks_and_list_tallies  # noqa: E402
from inference.asking.models import Model  # noqa: E402
from inference.asking.rounds import ask_rounds  # noqa: E402
from inference.protocols.agreement import Questions, read_agreement_prompts  # noqa: E402
from inference.stimuli.study import Study  # noqa: E402

LIMIT = 0.15


def build(folder: Path) -> str:
    """A Llama of about a million random parameters."""
    return tiny_models.checkpoint(
        folder, "llama", hidden_size=128, num_hidden_layers=4, num_attention_heads=4, num_key_value_heads=4,
        intermediate_size=384, max_position_embeddings=512, initializer_range=0.02,
    )  # fmt: skip


def seconds(study: Study, model: str, cluster: Cluster | None) -> tuple[float, float]:
    """(start, rest) of a run: until a twentieth of the answers are there, and from then to the end."""
    reached: list[float] = []
    asked = 0

    def watched(*arguments: Any) -> Iterator[Any]:
        nonlocal asked
        for place, batch, *answer in ask_rounds(*arguments):
            asked += len(batch)
            if not reached and asked * 20 >= prompts:
                reached.append(time.perf_counter())
            yield place, batch, *answer

    prompts = sum(1 for _ in study.variants)
    with tempfile.TemporaryDirectory() as folder, redirect_stderr(StringIO()):
        one_model.ask_rounds = watched
        task = Task(
            study, [Model("m", model)], Questions(read_agreement_prompts()), one_model.Settings(device="cpu"), folder
        )
        began = time.perf_counter()
        (tally,) = ask_tasks_and_list_tallies([task], cluster=cluster)
        ended = time.perf_counter()
    assert (tally.asked_count, tally.failed) == (prompts, 0)
    return reached[0] - began, ended - reached[0]


def main() -> int:
    """Print the table; exit status 1 where Ray costs too much."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--prompts", type=int, default=20_000)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    torch.set_num_threads(1)
    study = small_study(items=options.prompts // 50, paraphrases=49)
    with tempfile.TemporaryDirectory() as folder, Cluster("local", 1) as cluster:
        cluster.resources = {"num_cpus": 1}  # one thread on both sides
        model = build(Path(folder) / "model")
        ratios = []
        for number in range(options.rounds):
            order = (None, cluster) if number % 2 else (cluster, None)
            took = {where: seconds(study, model, where) for where in order}
            (here_start, here), (start, there) = took[None], took[cluster]
            ratios.append(there / here)
            print(
                f"here {here:.1f} s (start {here_start:.1f} s), Ray {there:.1f} s (start {start:.1f} s), "
                f"ratio {ratios[-1]:.3f}",
                flush=True,
            )
    print(f"{options.prompts:,} prompts, median of {options.rounds}: ratio {statistics.median(ratios):.3f}")
    return int(statistics.median(ratios) > 1 + LIMIT)


if __name__ == "__main__":
    sys.exit(main())
