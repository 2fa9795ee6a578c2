"""Speed and memory of thoughts: `python tests/benchmarks/bench_thoughts.py [--quick]`.

The demo model that thinks is asked for 8 thoughts after statements, with its maker's sampler. One thread, CPU time; the
two sides of a pair are timed in turn, and the ratio is the median over the rounds.

- engine: `think`, from prompts to probabilities: template, tokenizer, prompts, draws, ends of thoughts, and the options
  scored after each
- bare: `generate` of transformers with the same sampler, batch by batch, from padded token ids to token ids. It writes
  the same number of texts of the same most tokens, and ends when the last text of a batch has ended.

Both count the tokens that they wrote, up to the end of every text. Memory: runs of 1,600, 6,400 and 25,600 thoughts of
8 tokens by the same model, then 400,000 thoughts of 500 characters by an engine without a model: what is left is
Waver's own. Each run is a process of its own; its peak resident size is what the system says it was.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import torch
from transformers import AutoModelForCausalLM

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "tests" / "benchmarks")]

from bench_memory import run_in_own_process  # noqa: E402

from inference import engines  # noqa: E402
from inference.engines.contract import Thinking  # noqa: E402
from inference.engines.local.causal import CausalEngine  # noqa: E402
from inference.protocols import agreement  # noqa: E402
from inference.stimuli import items  # noqa: E402
from inference.stimuli.templates.prompts import Prompt, build_template_values_of_options  # noqa: E402

MODEL = ROOT / "inference" / "demo" / "models" / "waver-demo-thinker"
THOUGHTS, TOKENS = 8, 128
SHORT = 8
ASKING = """
import sys
from inference.__main__ import main
sys.exit(main(["run", "agreement", "--items", sys.argv[1], "--model", sys.argv[3], "--answer", "thought",
               "--thoughts", "8", "--max-tokens", "8", "--out", sys.argv[2]]))
"""
WITHOUT_MODEL = """
import sys
from dataclasses import replace
from helpers.trivial_engine import TrivialEngine
from inference.__main__ import main
from inference.asking.one_model import Settings

class Thinker(TrivialEngine):
    def think(self, prompts, thinking):
        return [replace(response, thoughts=tuple(f"{text:500}" for text in response.thoughts))
                for response in super().think(prompts, thinking)]

info = {"thinks": True, "sampler": {"temperature": 1.0, "top_p": 1.0, "top_k": 0, "min_p": 0.0}}
Settings.load_model_engine = lambda self, model, seed: Thinker(info, form="chat", size=512)
sys.exit(main(["run", "agreement", "--items", sys.argv[1], "--model", "trivial", "--answer", "thought",
               "--thoughts", "8", "--out", sys.argv[2]]))
"""


def build_prompts(engine: CausalEngine, number: int) -> list[Prompt]:
    """Statements of the demo questionnaire in Waver's own prompt."""
    book, form = agreement.read_agreement_prompts(), engine.choose_prompt_form("auto")
    variants = list(agreement.build_agreement_study(items.read_and_check_items("demo"), "demo").variants)[:number]
    return [book.render(form, build_template_values_of_options(variant)) for variant in variants]


def think(engine: CausalEngine, batches: Sequence[Sequence[Prompt]]) -> tuple[float, int]:
    """CPU seconds of the engine, and the tokens that it wrote."""
    tokens, write = 0, engine._generate_token_ids

    def write_and_count(*given):  # type: ignore[no-untyped-def]
        nonlocal tokens
        written = write(*given)
        tokens += sum(len(ids) + 1 for ids in written if ids is not None)  # with the token that ended it
        return written

    engine._generate_token_ids = write_and_count  # type: ignore[method-assign]
    began = time.process_time()
    for batch in batches:
        engine.think(batch, Thinking(THOUGHTS, max_tokens=TOKENS))
    engine._generate_token_ids = write  # type: ignore[method-assign]
    return time.process_time() - began, tokens


@torch.inference_mode()
def generate(model, id_lists: Sequence[Sequence[list[int]]], sampler: dict, end: int) -> tuple[float, int]:  # type: ignore[no-untyped-def, type-arg]
    """CPU seconds of transformers alone, and the tokens that it wrote."""
    tokens, began = 0, time.process_time()
    for rows in id_lists:
        longest = max(map(len, rows))
        ids = torch.tensor([[end] * (longest - len(row)) + row for row in rows])
        mask = torch.tensor([[0] * (longest - len(row)) + [1] * len(row) for row in rows])
        whole = model.generate(
            ids, attention_mask=mask, do_sample=True, num_return_sequences=THOUGHTS, max_new_tokens=TOKENS,
            pad_token_id=end, eos_token_id=end, **sampler,
        )  # fmt: skip
        has_ended = (whole[:, longest:] == end).cumsum(-1)
        tokens += int((has_ended - (whole[:, longest:] == end).long() == 0).sum())
    return time.process_time() - began, tokens


def compare_speed(model_folder: str, number: int, rounds: int) -> None:
    """Print the throughput of both sides and their ratio."""
    engine = engines.load_engine(model_folder, device="cpu")
    assert isinstance(engine, CausalEngine)
    model = AutoModelForCausalLM.from_pretrained(model_folder, dtype=torch.float32).eval()
    torch.set_num_threads(1)
    prompts = build_prompts(engine, number)
    batches = [[prompts[place] for place in batch] for batch in engine.cut_into_batches(prompts)]
    id_lists = [[row.ids for row in engine._get_or_tokenize_rows(batch)] for batch in batches]
    pairs = []
    for _ in range(rounds):
        ours = think(engine, batches)
        theirs = generate(model, id_lists, engine.info["sampler"], engine.tokenizer.eos_token_id)
        pairs.append((ours[1] / ours[0], theirs[1] / theirs[0]))
    own, bare = (statistics.median(column) for column in zip(*pairs, strict=True))
    parameters = engine.info["parameters"]
    print(f"{number:,} prompts in {len(batches)} batches, {THOUGHTS} thoughts of at most {TOKENS} tokens each")
    print(f"{parameters:,} parameters, one thread")
    print(f"engine {own:,.0f} tokens/s, bare {bare:,.0f} tokens/s (CPU, median of {rounds})")
    print(f"engine / bare {statistics.median(a / b for a, b in pairs):.2f}")


def write_items(path: Path, number: int) -> None:
    """Statements of one wording each."""
    lines = "".join(f"{place},Measure {place} for public places is good.\n" for place in range(number))
    path.write_text(f"item,text\n{lines}")


def measure_memory(model_folder: str, sizes: Sequence[int], without_model: int) -> None:
    """Print the peak memory of runs of so many thoughts."""
    for code, number, what in (
        *((ASKING, size, f"of {SHORT} tokens by the demo model") for size in sizes),
        (WITHOUT_MODEL, without_model, "of 500 characters without a model"),
    ):
        with tempfile.TemporaryDirectory() as folder:
            write_items(Path(folder) / "items.csv", number // THOUGHTS)
            given = [str(Path(folder) / "items.csv"), str(Path(folder) / "run"), model_folder]
            peak, seconds = run_in_own_process(code, given, Path(folder))
        print(f"{number:,} thoughts {what}: peak {peak:.0f} MB, {seconds:.0f} s")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--quick", action="store_true", help="fewer prompts and thoughts, one round")
    parser.add_argument("--model", default=str(MODEL), help="a model that thinks (default: that of the demo)")
    options = parser.parse_args()
    compare_speed(options.model, *(8, 1) if options.quick else (16, 5))
    measure_memory(options.model, *([400, 1600], 40_000) if options.quick else ([1_600, 6_400, 25_600], 400_000))


if __name__ == "__main__":
    main()
