"""What is saved by leaving out paths that cannot matter: `bench_paths.py --against FOLDER [--models ...] [--vllm]`.

FOLDER is another checkout of Waver, the one before a change. One thread, CPU time of the process and of all that it
started (vLLM works in one of its own). Both versions are processes of their own, that have loaded the model and asked
once; they are asked in turn, so that a slow minute of the machine falls on both. Each number is the median of the
rounds. `asked` counts what the model is given: tokens of all passes, padding included, and with vLLM requests.

Asked are the same prompts of some 90 tokens, half of them shared, with four kinds of options:

- yes/no: three spellings each, with a space before them and without; a byte-level BPE cuts them into several tokens
- scale: the five words of a rating scale, likewise
- words: choices of a question, in words of its own
- numbers: 1 to 100

and these models: 5M and 95M have random weights, and nearly all tokens are equally probable, so that every path
matters; in the sharp ones the small-letter spellings, and numbers, are favoured until the median token lies 20 nats
below, with a spread of 1.6, as in waver-demo-large. `demo` are trained demo models, asked for the demo's own studies:
waver-demo-rater for a scale, waver-demo-large for the others. It answers yes and no with a token each.

The last columns are the share of responses that differ at all, the largest difference of a probability, the largest
relative one, and whether any answer differs.

Measured on a server with two cores that others used at the same time; milliseconds per prompt, medians of five rounds:

    model       options  ms: before    after   ratio   asked:    now   differ  largest relative answers
    demo as is  scale         2.45     1.17   2.10x    185.0    80.6     0.89  1.1e-07  5.1e-06       0
    demo as is  words         1.26     1.09   1.16x     24.2    24.2     0.35  1.1e-20  1.2e-14       0
    demo as is  numbers       3.92     3.77   1.07x     92.0    92.0     0.00  0.0e+00  0.0e+00       0
    5M   flat   yes/no        8.72     8.65   1.04x     89.7    89.7     0.92  1.9e-14  1.4e-10       0
    5M   flat   scale        44.62    45.35   0.98x    290.7   290.7     1.00  1.2e-14  2.3e-06       0
    5M   flat   words        30.68    27.59   1.06x    218.9   218.9     1.00  2.6e-18  3.8e-06       0
    5M   flat   numbers      29.23    28.69   1.04x    204.7   204.7     0.00  0.0e+00  0.0e+00       0
    5M   sharp  yes/no        9.45     9.31   0.99x     89.7    89.8     0.50  4.5e-08  5.9e-08       0
    5M   sharp  scale        48.21    49.65   0.97x    290.7   297.5     1.00  8.3e-10  1.0e-05       0
    5M   sharp  words        31.00    32.28   0.97x    218.9   222.0     1.00  8.5e-12  2.0e-05       0
    5M   sharp  numbers      46.32    46.02   1.01x    283.7   283.7     0.00  0.0e+00  0.0e+00       0
    95M  flat   yes/no      181.56   194.80   0.96x    100.0   100.0     0.75  9.9e-16  3.1e-11       0
    95M  flat   scale       657.92   641.92   1.04x    301.0   301.0     1.00  3.1e-15  1.4e-06       0
    95M  flat   words       436.41   437.28   1.01x    215.0   215.0     1.00  2.7e-20  6.7e-06       0
    95M  flat   numbers     416.33   422.06   0.99x    208.0   208.0     0.00  0.0e+00  0.0e+00       0
    95M  sharp  yes/no      168.29   193.28   0.87x    100.0   100.0     1.00  8.2e-08  2.4e-07       0
    95M  sharp  scale       692.91   625.91   1.12x    301.0   298.0     1.00  1.8e-09  9.9e-06       0
    95M  sharp  words       401.49   414.54   0.96x    215.0   217.5     1.00  8.2e-13  1.3e-05       0
    95M  sharp  numbers     671.29   687.64   0.98x    294.0   294.0     0.00  0.0e+00  0.0e+00       0

With `--vllm`, on a CPU. The later version also leaves fewer objects to the garbage collector, for whatever is asked:

    demo as is  scale        16.98     6.35   2.67x     22.0    13.9     0.49  9.8e-11  2.9e-10       0
    5M   as is  yes/no       14.58    13.33   1.12x      6.0     6.0     0.92  8.1e-19  3.6e-15       0
    5M   as is  scale       434.58   342.50   1.27x    169.0   168.0     0.58  1.4e-20  1.4e-14       0
    5M   as is  words       893.75   240.42   3.56x    112.9   112.9     0.04 4.1e-115  1.5e-16       0
    5M   as is  numbers     242.50   244.58   1.00x    121.0   121.0     0.00  0.0e+00  0.0e+00       0

Differences above 1e-8 are the rounding of float32, which differs with the shape of a pass. Computed in float64 by both
versions, they are at most 9.8e-11, of a probability 2.9e-10 (demo, scale). Where every path matters, nothing is saved.
Where a further pass leaves out nothing, it costs time, as it reads all weights: 95M, sharp, yes/no. The 4 prompts of a
round share that pass there; with 24 prompts the ratio is 0.94.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = "1"  # before torch is loaded
os.environ |= {"HF_HUB_OFFLINE": "1", "TOKENIZERS_PARALLELISM": "false"}
HERE = Path(__file__).resolve().parents[2]
ROUNDS = 5
SCALE = ("strongly disagree", "disagree", "neither agree nor disagree", "agree", "strongly agree")
WORDS = ("lamp", "room", "bread", "day", "train", "time", "rain", "snow", "hill", "warm", "cold", "makes", "tastes")
PROMPTS = {"5M": 24, "95M": 4}
DEMO_PROMPTS = 96
DEMO = {
    "scale": ("waver-demo-rater", "scale", "--labels", "words", "--limit", "12"),
    "words": ("waver-demo-large", "choice", "--answer", "texts", "--limit", "12"),
    "numbers": ("waver-demo-large", "scoring", "--exact", "--range", "1-100", "--samples", "0", "--limit", "96"),
}
SPREAD, FAVOUR = 5.0, 18.0  # logits of random weights have a spread of 0.32
KINDS = ("yes/no", "scale", "words", "numbers")


def prompts_of(kind: str, number: int) -> list[Any]:
    """Prompts with the options of one kind."""
    from inference.stimuli.templates.prompts import Prompt

    draw = random.Random(0)
    start = "Do you agree with the statement below? Reply in a word. This is how others see it, now and on Sundays. "
    prompts = []
    for _ in range(number):
        statement = " ".join(draw.choices(WORDS, k=draw.randint(13, 19)))
        own = [" ".join(draw.choices(WORDS, k=draw.randint(1, 6))) for _ in range(4)]
        words = {"yes/no": ("yes", "no"), "scale": SCALE, "words": dict.fromkeys(own), "numbers": ()}[kind]
        spelled = tuple((word,) if kind == "words" else (word, word.capitalize(), word.upper()) for word in words)
        text = f"{start}Statement: {statement}.\nReply:"
        prompts.append(Prompt(text, None, spelled, range(1, 101) if kind == "numbers" else None))
    return prompts


def save_model(folder: str, size: str) -> None:
    """Save a random model with the tokenizer that cuts its words."""
    from bench_engines import SHAPES, build

    from helpers import tiny_models

    made = build(SHAPES[("5M", "95M").index(size)], tiny_models.byte_tokenizer(vocab_size=300))
    made.model.save_pretrained(folder)
    made.tokenizer.save_pretrained(folder)


def sharpen(engine: Any, prompts: list[Any]) -> None:
    """Favour the tokens of the first spelling of every option behind a space, and digits."""
    import torch

    spelled = {f" {words[0]}" for prompt in prompts for words in prompt.answers} or {f" {n}" for n in range(1, 101)}
    favoured = sorted({token for ids in engine.tokens.bare(sorted(spelled)) for token in ids})
    bias = torch.zeros(engine.model.config.vocab_size)
    bias[favoured] = FAVOUR
    engine.model.get_output_embeddings().register_forward_hook(lambda module, given, logits: SPREAD * logits + bias)


def cpu_seconds() -> float:
    """CPU seconds of this process and of those that it started and that still run."""
    parents, used = {}, {}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            fields = (folder / "stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        parents[int(folder.name)], used[int(folder.name)] = int(fields[1]), int(fields[11]) + int(fields[12])
    own = {os.getpid()}
    while more := {pid for pid, parent in parents.items() if parent in own} - own:
        own |= more
    return sum(used[pid] for pid in own) / os.sysconf("SC_CLK_TCK")


def count_asked(engine: Any) -> list[int]:
    """Count what the model is given from now on, in the one entry of a list."""
    counted = [0]
    if hasattr(engine, "_run_requests"):
        inner = engine._run_requests

        def run(prompts: Any, parameters: Any) -> Any:
            counted[0] += len(prompts)
            return inner(prompts, parameters)

        engine._run_requests = run
    else:
        forward = engine.model.forward

        def pass_on(*args: Any, **inputs: Any) -> Any:
            counted[0] += inputs["input_ids"].numel() if "input_ids" in inputs else 0
            return forward(*args, **inputs)

        engine.model.forward = pass_on
    return counted


def work(folder: str, kind: str, size: str, sharp: bool, backend: str) -> None:
    """One version: after every line on standard input, ask everything and say what it cost."""
    import torch

    from inference import engines

    torch.set_num_threads(1)
    engine = engines.load_engine(folder, engine=backend, device="cpu", dtype="float32")
    prompts = prompts_of(kind, PROMPTS[size]) if size in PROMPTS else capture_demo_prompts(engine, kind)
    if sharp:
        sharpen(engine, prompts)
    asked = count_asked(engine)

    def ask() -> list[Any]:
        scores = {}
        for batch in engine.cut_into_batches(prompts):
            scores |= zip(batch, engine.score([prompts[number] for number in batch])[0], strict=True)
        return [scores[place] for place in range(len(prompts))]

    scores = ask()
    told = [[score.probability, score.logprob, score.answer] for score in scores]
    print("ready " + json.dumps([asked[0], told]), flush=True)
    for _ in sys.stdin:
        began = time.process_time() if backend == "causal" else cpu_seconds()
        ask()
        ended = time.process_time() if backend == "causal" else cpu_seconds()
        print(f"result {ended - began}", flush=True)


def capture_demo_prompts(engine: Any, kind: str) -> list[Any]:
    """The prompts of a study of the demo, caught while it is asked."""
    from inference.__main__ import main
    from inference.asking.one_model import Settings

    prompts: list[Any] = []
    score = engine.score

    def catch(batch: Any, *more: Any) -> Any:
        prompts.extend(batch)
        return score(batch, *more)

    engine.score = catch
    engine.close = lambda: {}  # it is asked again after this run
    Settings.load_model_engine = lambda self, model, seed: engine  # type: ignore
    with tempfile.TemporaryDirectory() as folder, redirect_stdout(sys.stderr):
        main(["run", *DEMO[kind][1:], "--items", "demo", "--model", engine.name, "--out", f"{folder}/run"])
    engine.score = score
    return prompts[:DEMO_PROMPTS]


class Version:
    """The process of one version."""

    def __init__(self, root: Path, *call: str) -> None:
        paths = [root, root / "tests", root / "tests" / "benchmarks"]
        self.process = subprocess.Popen(
            [sys.executable, __file__, "--work", *call],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
            env=os.environ | {"PYTHONPATH": os.pathsep.join(map(str, paths))},
        )  # fmt: skip
        self.asked, self.scores = json.loads(self._await("ready "))

    def _await(self, word: str) -> str:
        for line in self.process.stdout or ():
            if line.startswith(word):
                return line[len(word) :]
        raise SystemExit(f"{self.process.args} ended")

    def ask(self) -> float:
        """CPU seconds of one round."""
        assert self.process.stdin is not None
        self.process.stdin.write("go\n")
        self.process.stdin.flush()
        return float(self._await("result "))

    def end(self) -> None:
        """End the process, and wait for it."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        self.process.wait()


def compare(against: Path, *call: str) -> str:
    """One line of the table."""
    before, after = versions = [Version(root, *call) for root in (against, HERE)]
    rounds = [[version.ask() for version in versions] for _ in range(ROUNDS)]
    for version in versions:
        version.end()
    n_prompts = len(before.scores)
    old, new = (1e3 * statistics.median(column) / n_prompts for column in zip(*rounds, strict=True))
    ratio = statistics.median(a / b for a, b in rounds)
    pairs = [
        (a, b)
        for one, two in zip(before.scores, after.scores, strict=True)
        for a, b in zip(one[0], two[0], strict=True)
    ]
    farthest = max(abs(a - b) for a, b in pairs)
    relative = max(abs(a - b) / max(a, b) for a, b in pairs if max(a, b))
    changed = sum(one[0] != two[0] for one, two in zip(before.scores, after.scores, strict=True)) / n_prompts
    answers = sum(one[2] != two[2] for one, two in zip(before.scores, after.scores, strict=True))
    return (f"{old:9.2f} {new:8.2f} {ratio:6.2f}x {before.asked / n_prompts:8.1f} {after.asked / n_prompts:7.1f} "
            f"{changed:8.2f} {farthest:8.1e} {relative:8.1e} {answers:7}")  # fmt: skip


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--against", type=Path, metavar="FOLDER", help="the checkout to compare with")
    parser.add_argument("--models", nargs="+", default=["demo", "5M", "95M"], choices=["demo", "5M", "95M"])
    parser.add_argument("--kinds", nargs="+", default=KINDS, choices=KINDS)
    parser.add_argument("--vllm", action="store_true", help="ask with engine vllm")
    parser.add_argument("--work", nargs=5, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.work:
        folder, kind, size, sharp, backend = options.work
        return work(folder, kind, size, sharp == "sharp", backend)
    if not options.against:
        parser.error("--against is needed: which checkout is compared with?")
    sys.path[:0] = [str(HERE), str(HERE / "tests"), str(HERE / "tests" / "benchmarks")]
    print("model       options  ms: before    after   ratio   asked:    now   differ  largest relative answers")
    backend = "vllm" if options.vllm else "causal"
    for size in options.models:
        with tempfile.TemporaryDirectory() as folder:
            if size in PROMPTS:
                save_model(folder, size)
            for weights in ("flat", "sharp") if size in PROMPTS and not options.vllm else ("as is",):
                for kind in [kind for kind in options.kinds if size in PROMPTS or kind in DEMO]:
                    model = folder if size in PROMPTS else str(HERE / "inference" / "demo" / "models" / DEMO[kind][0])
                    line = compare(options.against.resolve(), model, kind, size, weights, backend)
                    print(f"{size:4} {weights:6} {kind:8} {line}", flush=True)
    return None


if __name__ == "__main__":
    main()
