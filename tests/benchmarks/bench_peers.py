"""Speed of the causal engine against other libraries: `python tests/benchmarks/bench_peers.py --peers PYTHON`.

PYTHON is the interpreter of an environment that has them (their dependencies need not agree with ours):
`python -m venv DIR && DIR/bin/pip install torch transformers accelerate lm-eval minicons`.

One thread, CPU time, the same model folder, prompts and options, float32. Every contestant is a process of its own,
that has loaded the model and asked once; they are timed in turn, so that a slow minute of the machine falls on all, and
the ratio is the median over the rounds. Exit status 1 where a target is missed.

- lm-eval: `HFLM.loglikelihood` of lm-evaluation-harness, batch 16, both options of every prompt.
- minicons: `IncrementalLMScorer.next_word_distribution`, batches of 16.
- engine: `CausalEngine`, automatic batches; `engine-16`: batches of 16.
- bare: the engine's forward passes alone (`bench_engines.bare`), below which nothing on the same layers comes.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = "1"  # before torch is loaded
os.environ["HF_HUB_OFFLINE"] = "1"

ROOT = Path(__file__).resolve().parents[2]
OPTIONS = (" yes", " no")
BATCH = 16
OURS = ("engine", "engine-16", "bare")
TARGETS = {"lm-eval": (2.7, 1.8), "minicons": (2.4, 2.1)}  # times as fast on the small and on the large model


def engine(folder: str, prompts: list[str], batch_size: int | None = None) -> Callable[[], Any]:
    """Ours, which counts an option with and without a space before it."""
    sys.path[:0] = [str(ROOT)]
    from inference import engines
    from inference.stimuli.templates.prompts import Prompt

    loaded = engines.load_engine(folder, device="cpu", dtype="float32", batch_size=batch_size)
    asked = [Prompt(text, None, (("yes",), ("no",))) for text in prompts]

    def ask() -> None:
        for batch in loaded.cut_into_batches(asked):
            loaded.score([asked[number] for number in batch])

    return ask


def bare(folder: str, prompts: list[str]) -> Callable[[], Any]:
    """Ours without tokeniser, prefix and options: forward passes over what prompts do not share."""
    sys.path[:0] = [str(ROOT), str(ROOT / "tests"), str(ROOT / "tests" / "benchmarks")]
    import bench_engines

    from inference import engines
    from inference.stimuli.templates.prompts import Prompt

    loaded = engines.load_engine(folder, device="cpu", dtype="float32")
    batches = bench_engines.bare_batches(loaded, [Prompt(text, None, (("yes",), ("no",))) for text in prompts])
    return lambda: bench_engines.bare(loaded, batches)


def lm_eval(folder: str, prompts: list[str]) -> Callable[[], Any]:
    """The harness on the same prompts and options."""
    from lm_eval.api.instance import Instance
    from lm_eval.models.huggingface import HFLM

    model = HFLM(pretrained=folder, device="cpu", dtype="float32", batch_size=BATCH)
    requests = [
        Instance(request_type="loglikelihood", doc={}, arguments=(prompt, option), idx=index)
        for prompt in prompts
        for index, option in enumerate(OPTIONS)
    ]

    return lambda: model.loglikelihood(requests, disable_tqdm=True)


def minicons(folder: str, prompts: list[str]) -> Callable[[], Any]:
    """The next-word distribution on the same prompts."""
    from minicons import scorer

    model = scorer.IncrementalLMScorer(folder, "cpu")
    return lambda: [
        model.next_word_distribution(prompts[start : start + BATCH]) for start in range(0, len(prompts), BATCH)
    ]


CONTESTANTS: dict[str, Callable[[str, list[str]], Callable[[], Any]]] = {
    "engine": engine,
    "engine-16": lambda folder, prompts: engine(folder, prompts, BATCH),
    "bare": bare,
    "lm-eval": lm_eval,
    "minicons": minicons,
}


def work(name: str, folder: str) -> None:
    """One contestant: after every line on standard input, ask everything and say what it cost."""
    import torch

    torch.set_num_threads(1)
    torch.set_grad_enabled(False)
    prompts = json.loads((Path(folder) / "prompts.json").read_text())
    ask = CONTESTANTS[name](folder, prompts)
    ask()
    print("ready", flush=True)
    for _ in sys.stdin:
        began = time.process_time()
        ask()
        print(f"result {time.process_time() - began}", flush=True)


class Contestant:
    """The process of one contestant."""

    def __init__(self, name: str, python: str, folder: str) -> None:
        command = [python, __file__, "--work", name, folder]
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        )
        self._await("ready")

    def _await(self, word: str) -> str:
        for line in self.process.stdout or ():
            if line.startswith(word):
                return line[len(word) :]
        raise SystemExit(f"{self.process.args} ended: is it installed there?")

    def ask(self) -> float:
        """CPU seconds of one round."""
        assert self.process.stdin is not None
        self.process.stdin.write("go\n")
        self.process.stdin.flush()
        return float(self._await("result "))


def compare(shape: Any, peers: str, size: int) -> bool:
    """Save a random model, race the contestants on it, print a line for each; return whether a target is missed."""
    from bench_engines import build, questions

    with tempfile.TemporaryDirectory() as folder:
        made = build(shape)
        made.model.save_pretrained(folder)
        made.tokenizer.save_pretrained(folder)
        prompts = [prompt.text for prompt in questions(made, shape.prompts)]
        (Path(folder) / "prompts.json").write_text(json.dumps(prompts))
        running = {name: Contestant(name, sys.executable if name in OURS else peers, folder) for name in CONTESTANTS}
        rounds = [{name: contestant.ask() for name, contestant in running.items()} for _ in range(shape.rounds)]
        for contestant in running.values():
            contestant.process.kill()
    is_missed = False
    for name in CONTESTANTS:
        seconds = statistics.median(each[name] for each in rounds) / len(prompts)
        faster = statistics.median(each[name] / each["engine"] for each in rounds)
        target = TARGETS.get(name)
        verdict = "" if target is None else f"  {'ok' if faster >= target[size] else 'MISSED'}: at least {target[size]}"
        is_missed |= "MISSED" in verdict
        print(
            f"{shape.hidden:5} {name:10} {1e3 * seconds:8.2f} ms/prompt, {faster:5.2f} x the engine's{verdict}",
            flush=True,
        )
    return is_missed


def main() -> int:
    """Race on a 5M and a 95M model; return 1 where a target is missed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--peers", metavar="PYTHON", help="interpreter of the environment that has the peers")
    parser.add_argument("--quick", action="store_true", help="only the small model")
    parser.add_argument("--work", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.work:
        work(*options.work)
        return 0
    if not options.peers:
        parser.error("--peers is needed: which Python has lm-eval and minicons?")
    sys.path[:0] = [str(ROOT), str(ROOT / "tests"), str(ROOT / "tests" / "benchmarks")]
    from bench_engines import SHAPES

    shapes = SHAPES[: 1 if options.quick else 2]
    outcomes = [compare(shape, options.peers, size) for size, shape in enumerate(shapes)]
    return int(any(outcomes))


if __name__ == "__main__":
    sys.exit(main())
