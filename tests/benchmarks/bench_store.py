"""What writing costs a run: `python tests/benchmarks/bench_store.py [--prompts N]`. It must stay under 5 %.

One thread. A model as small as the smallest of the demo family (about a million parameters), because the faster the
model, the larger the share of the writing. Each round asks the same prompts twice, once with rows written as always and
once with rows written to nowhere; also, everything the run folder does (create, record, append, finish) is timed by
itself, on the clock too: waiting for the disk costs no CPU time. Three quarters of it are the study, once per folder:
its fingerprint and its stimuli.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stderr
from functools import wraps
from io import StringIO
from pathlib import Path
from typing import Any

import torch

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]

from helpers import tiny_models  # noqa: E402
from helpers.trivial_engine import small_study  # noqa: E402
from inference.asking.execute import Task, ask_tasks_and_list_tallies  # noqa: E402
from inference.asking.models import Model  # noqa: E402
from inference.asking.one_model import Settings  # noqa: E402
from inference.engines.loading import Checkpoint  # noqa: E402
from inference.engines.local.causal import CausalEngine  # noqa: E402
from inference.protocols.agreement import Questions, read_agreement_prompts  # noqa: E402
from inference.runfolder.responses import Responses  # noqa: E402
from inference.runfolder.store import Run  # noqa: E402

ROUNDS = 5
LIMIT = 0.05
DOES: tuple[tuple[type, str], ...] = (
    *(
        (Run, name)
        for name in (
            "create_or_open",
            "add_model",
            "add_condition",
            "record_row_and_drawn_wording_counts",
            "add_prompts",
            "finish",
        )
    ),
    *((Responses, name) for name in ("flag_variants_without_response", "append_rows_as_part")),
)


def build() -> CausalEngine:
    """A Llama of about a million random parameters."""
    tokenizer = tiny_models.default_tokenizer("llama")
    model = tiny_models.model(
        "llama", tokenizer, hidden_size=128, num_hidden_layers=4, num_attention_heads=4, num_key_value_heads=4,
        intermediate_size=384, max_position_embeddings=512, initializer_range=0.02,
    )  # fmt: skip
    info = {"engine": "causal", "revision": None, "dtype": "float32", "device": "cpu"}
    return CausalEngine(Checkpoint("random", model, tokenizer, info))


@contextmanager
def timed() -> Iterator[list[tuple[float, float]]]:
    """Collect (CPU seconds, seconds) of every call of the run folder."""
    spent: list[tuple[float, float]] = []
    originals = [(owner, name, owner.__dict__[name]) for owner, name in DOES]

    def measured(method: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(method)
        def wrapper(*arguments: Any, **options: Any) -> Any:
            cpu, clock = time.process_time(), time.perf_counter()
            try:
                return method(*arguments, **options)
            finally:
                spent.append((time.process_time() - cpu, time.perf_counter() - clock))

        return wrapper

    for owner, name, original in originals:
        inner = original.__func__ if isinstance(original, classmethod) else original
        setattr(owner, name, classmethod(measured(inner)) if isinstance(original, classmethod) else measured(inner))
    try:
        yield spent
    finally:
        for owner, name, original in originals:
            setattr(owner, name, original)


@contextmanager
def nowhere() -> Iterator[None]:
    """Rows are dropped instead of written."""
    original = Responses.append_rows_as_part
    Responses.append_rows_as_part = lambda self, rows, part=None: None  # type: ignore[method-assign]
    try:
        yield
    finally:
        Responses.append_rows_as_part = original  # type: ignore[method-assign]


def main() -> int:
    """Print the table; exit status 1 where writing costs too much."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--prompts", type=int, default=12_000)
    study = small_study(items=max(1, parser.parse_args().prompts // 50), paraphrases=49)
    torch.set_num_threads(1)
    engine = build()

    def ask() -> tuple[float, float]:
        with tempfile.TemporaryDirectory() as folder, redirect_stderr(StringIO()):
            cpu, clock = time.process_time(), time.perf_counter()
            task = Task(study, [Model("m", "m")], Questions(read_agreement_prompts()), Settings(), folder)
            ask_tasks_and_list_tallies([task], load=lambda model, seed: engine)
            return time.process_time() - cpu, time.perf_counter() - clock

    ask()
    rounds = []
    for number in range(ROUNDS):
        pair: dict[bool, float] = {}
        shares = (0.0, 0.0)
        for writes in (True, False) if number % 2 else (False, True):
            if writes:
                with timed() as spent:
                    cpu, clock = ask()
                shares = (sum(c for c, _ in spent) / cpu, sum(w for _, w in spent) / clock)
            else:
                with nowhere():
                    cpu, clock = ask()
            pair[writes] = cpu
        rounds.append((pair[True], pair[False], pair[True] / pair[False], *shares))
    written, dropped, ratio, cpu_share, clock_share = (
        statistics.median(column) for column in zip(*rounds, strict=True)
    )
    prompts, parameters = sum(1 for _ in study.variants), sum(p.numel() for p in engine.model.parameters())
    print(f"{prompts:,} prompts, {parameters:,} parameters, median of {ROUNDS} rounds")
    print(f"run, rows written          {written:6.2f} CPU s")
    print(f"run, rows to nowhere       {dropped:6.2f} CPU s   ratio {ratio:.3f}")
    print(f"share of the run folder    {cpu_share:6.2%} of CPU time, {clock_share:.2%} of the time on the clock")
    return int(max(cpu_share, clock_share) > LIMIT)


if __name__ == "__main__":
    sys.exit(main())
