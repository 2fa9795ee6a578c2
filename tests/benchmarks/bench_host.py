"""What a run costs besides its model: `python tests/benchmarks/bench_host.py [--prompts N] [--way WAY] [--profile]`.

Every way of asking is run whole, from the study to the run folder, with a model that answers at once from a table
(`tests/helpers/table_models.py`): for `causal` a network without layers, for `vllm` a `generate` that looks up, for
`openai` a transport below its client. The tokenizer has 128,000 tokens; prompts have some 120, 79 of them shared.
Each run is a process of its own on one core. CPU time is counted, the stand-in's own taken off; medians of all rounds.

With `--pace`, the stand-in sleeps as long as a GPU would work, and `busy` is its share of the time on the clock, from
its first prompt to its last: how little it waits for the host.

`reading` and `writing` are the rows by themselves: from engine answers to Parquet parts, and the keys of those back.
"""

from __future__ import annotations

import argparse
import cProfile
import json
import math
import os
import pstats
import random
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import redirect_stderr
from io import StringIO
from pathlib import Path
from types import SimpleNamespace
from typing import Any

os.environ["TOKENIZERS_PARALLELISM"] = "false"
ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]

WORDINGS = 100  # of an item
AHEAD = 2  # words of a statement that stay the same within an item
TARGETS = {"causal": 8_000, "vllm": 4_000, "causal scores": 5_000, "vllm scores": 4_000}  # prompts per second
TARGETS |= {"writing": 50_000, "reading": 50_000}  # rows
PROMPT = """plain:
  template: "Below you find a statement that somebody made in a conversation about daily life. Do you agree?\\n\\
    Reply {{ options[0].answer }} or {{ options[1].answer }}, and nothing else.\\nStatement: {{ text }}\\nReply:"
  answers: {agree: ["yes"], disagree: ["no"]}
"""


def RUN(task: Callable[..., Any], *given: Any, **more: Any) -> Any:
    """Run what is measured; `--profile` puts a profiler in the place of this."""
    return task(*given, **more)


def study_of(prompts: int, protocol: str) -> Any:
    """Statements of 14 made-up words; the first two are those of the item."""
    from helpers.table_models import words
    from inference.protocols import agreement
    from inference.stimuli.study import ORIGINAL, PARAPHRASE, Item, Option, Study, Variant

    draw, known = random.Random(0), words(20_000)
    scale = tuple(Option(label, label) for label in ("lowest", "highest"))

    def variants(item: int, count: int) -> tuple[Variant, ...]:
        start = " ".join(draw.choices(known, k=AHEAD)).capitalize()
        texts = (f"{start} {' '.join(draw.choices(known, k=14 - AHEAD))} {number}." for number in range(count))
        return tuple(
            Variant(str(item), f"{PARAPHRASE}-{n:03d}" if n else ORIGINAL, PARAPHRASE if n else ORIGINAL, text, scale)
            for n, text in enumerate(texts)
        )

    per_item = 1 if protocol == "scoring" else WORDINGS
    items = tuple(Item(str(item), variants(item, per_item)) for item in range(max(1, prompts // per_item)))
    if protocol == "scoring":
        return Study("scoring", "bench", items, ("lowest", "highest"), paraphrased=False)
    return agreement.build_agreement_study(items, "bench")


def engine_of(way: str, folder: Path) -> tuple[Any, Any]:
    """The engine of a way, and the clock of its stand-in."""
    from helpers import table_models

    tokenizer = table_models.tokenizer()
    end = tokenizer.eos_token_id
    if way.startswith("causal"):
        from inference.engines.loading import Checkpoint
        from inference.engines.local.causal import CausalEngine

        model = table_models.TableModel(end).eval()
        info = {"engine": "causal", "revision": None, "dtype": "float32", "device": "cpu", "parameters": 0}
        # As many prompts in a forward pass as an accelerator gets.
        return CausalEngine(Checkpoint("table", model, tokenizer, info), 512), model.clock
    if way.startswith("vllm"):
        from transformers import LlamaConfig

        from inference.engines.vllm.engine import VllmEngine

        table_models.install_vllm()
        config = LlamaConfig(
            vocab_size=table_models.VOCABULARY,
            hidden_size=8,
            num_hidden_layers=1,
            intermediate_size=8,
            num_attention_heads=1,
        )
        config.architectures = ["LlamaForCausalLM"]
        config.save_pretrained(folder / "model")
        tokenizer.save_pretrained(folder / "model")
        (folder / "model" / "model.safetensors").write_bytes(b"\x02\0\0\0\0\0\0\0{}")
        return VllmEngine(str(folder / "model")), table_models.TableLLM.last.clock
    import openai

    from inference.engines.openai.engine import OpenAIEngine
    from inference.engines.openai.settings import ApiSettings

    transport = table_models.TableTransport()

    class Client(openai.DefaultAsyncHttpxClient):
        def __init__(self, **options: Any) -> None:
            super().__init__(transport=transport, **options)

    openai.DefaultAsyncHttpxClient = Client  # type: ignore
    settings = ApiSettings(base_url="http://table/v1", api="chat", key_variable="NO_SUCH_KEY")
    return OpenAIEngine("table", settings), table_models.Clock()


def questions_of(way: str, folder: Path) -> Any:
    """What is asked: options, texts at temperature 0, or the numbers 0-9."""
    from inference.asking.answer_ways import AnswerWays
    from inference.engines.contract import Sampling
    from inference.protocols import agreement, scoring

    if way.endswith("scores"):
        return scoring.Questions(scoring.read_scoring_prompts(), samples=0, exact=True)
    prompts = folder / "prompts.yaml"
    prompts.write_text(PROMPT)
    book = agreement.read_agreement_prompts(prompts if not way.startswith("openai") else None)
    texts = AnswerWays(False, (Sampling(max_tokens=4),))
    return agreement.Questions(book, answers=texts if way.endswith("texts") else AnswerWays())


def asked(way: str, prompts: int) -> dict[str, float]:
    """Ask a study in one way, into a run folder; what it took."""
    from inference.asking.execute import Task, ask_tasks_and_list_tallies
    from inference.asking.models import Model
    from inference.asking.one_model import Settings

    study = study_of(prompts, "scoring" if way.endswith("scores") else "agreement")
    with tempfile.TemporaryDirectory() as folder:
        engine, clock = engine_of(way, Path(folder))
        task = Task(study, [Model("m", "m")], questions_of(way, Path(folder)), Settings(), f"{folder}/run")
        clock.start()  # a loaded engine has tried its model
        before, began = _memory(), time.process_time()
        RUN(ask_tasks_and_list_tallies, [task], load=lambda model, seed: engine)
        seconds, own = time.process_time() - began, clock.cpu
        engine.close = lambda: {}
        return {
            "prompts": float(sum(1 for _ in study.variants)),
            "seconds": seconds - own,
            "model": own,
            "grown": _memory() - before,
            "busy": clock.busy,
        }


def rows(way: str, prompts: int) -> dict[str, float]:
    """Write the rows of one prompt that a thousand answers are known of, or look up what is there."""
    from inference.asking.one_model import _ask_model_rounds, _MissingRows
    from inference.asking.rounds import Condition, Round
    from inference.asking.session import CallProgress, Stop
    from inference.engines.contract import Score
    from inference.runfolder.store import Run
    from inference.stimuli.templates.prompts import Prompt

    study, prompt = study_of(prompts, "agreement"), Prompt("", None, ())
    scores = [Score((0.25, 0.5 + n / 1e7), (-1.3862943611198906, -0.69), 0.75 + n / 1e7, n % 2) for n in range(1024)]
    engine = SimpleNamespace(
        mask_token=None,
        independent_of_batch=False,
        batches=lambda found: [list(range(at, min(at + 1024, len(found)))) for at in range(0, len(found), 1024)],
        read=lambda found, efforts: found,
        score=lambda found, temperatures: [scores[: len(found)]],
    )
    with tempfile.TemporaryDirectory() as folder, Run.create_or_open(folder, study) as run, Stop() as stop:
        before, began = _memory(), time.process_time()
        one_round = Round((Condition("c", {}),), lambda variant, mask: prompt)  # type: ignore
        missing = _MissingRows.build_from_run_and_round(run, "m", one_round)
        RUN(_ask_model_rounds, run, "m", [missing], engine, stop, CallProgress([{}]))
        variants = list(study.variants)
        if way == "reading":
            began = time.process_time()
            assert not any(run.responses.flag_variants_without_response("m", "c", variants))
        return {
            "prompts": float(len(variants)),
            "seconds": time.process_time() - began,
            "model": 0.0,
            "grown": _memory() - before,
            "busy": math.nan,
        }


def _memory() -> float:
    """Largest resident set so far, in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


WAYS: dict[str, Callable[[str, int], dict[str, float]]] = {
    **dict.fromkeys(("causal", "vllm", "openai"), asked),
    **dict.fromkeys(("causal texts", "vllm texts", "openai texts", "causal scores", "vllm scores"), asked),
    **dict.fromkeys(("writing", "reading"), rows),
}


def alone(way: str, prompts: int, profile: bool, pace: float | None) -> None:
    """Run one way in this process and print what it took as JSON."""
    import torch

    from helpers.table_models import Clock

    Clock.prompts = pace
    torch.set_num_threads(1)
    seen = cProfile.Profile(time.process_time)  # CPU time: others may be at work on this machine
    if profile:
        globals()["RUN"] = seen.runcall
    with redirect_stderr(StringIO()):
        took = WAYS[way](way, prompts)
    if profile:
        pstats.Stats(seen, stream=sys.stderr).sort_stats("tottime").print_stats(45)
    print(json.dumps(took))


def main() -> int:
    """Print the table; exit status 1 where a target is missed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--prompts", type=int, default=200_000)
    parser.add_argument("--way", nargs="+", choices=WAYS, default=list(WAYS))
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--profile", action="store_true", help="show where the time goes; the numbers are then too low")
    parser.add_argument(
        "--pace",
        type=float,
        metavar="N",
        help="let the stand-in sleep, as a GPU that answers N prompts per second does",
    )
    parser.add_argument("--alone", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.alone:
        alone(given.way[0], given.prompts, given.profile, given.pace)
        return 0
    missed = False
    print(f"{'way':14} {'per second':>10} {'us each':>8} {'us model':>8} {'MB more':>8} {'busy':>6} {'target':>7}")
    for way in given.way:
        # Ways with several requests per prompt are asked fewer prompts.
        count = given.prompts // (10 if way.endswith("scores") else 1)
        call = [sys.executable, __file__, "--alone", "--way", way, "--prompts", str(count)]
        call += ["--profile"] * given.profile + (["--pace", str(given.pace)] if given.pace else [])
        took = [
            json.loads(subprocess.run(call, check=True, stdout=subprocess.PIPE).stdout) for _ in range(given.rounds)
        ]
        each, own, grown = (
            statistics.median(1e6 * one[name] / one["prompts"] for one in took)
            for name in ("seconds", "model", "grown")
        )
        busy = statistics.median(one["busy"] for one in took)
        target = TARGETS.get(way, 0)
        missed |= 1e6 / each < target
        megabytes = grown * took[0]["prompts"] / 1e6
        share = "" if math.isnan(busy) else f"{busy:.1%}"
        print(
            f"{way:14} {1e6 / each:10,.0f} {each:8.1f} {own:8.1f} {megabytes:8.0f} {share:>6} {target or '':>7}",
            flush=True,
        )
    return int(missed)


if __name__ == "__main__":
    sys.exit(main())
