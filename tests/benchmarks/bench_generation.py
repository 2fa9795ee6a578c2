"""Speed of generation: `python tests/benchmarks/bench_generation.py [--quick]`.

The largest demo model writes 10 texts of at most 5 tokens at each of 4 temperatures behind 1,000 statements. One
thread, CPU time; the two sides of a pair are timed in turn, so that a slow minute of the machine falls on both, and the
ratio is the median over the rounds.

- engine: `generate`, from prompts to texts: template, tokenizer, prompts, draws, decoding; texts that read the same
  so far are computed once
- forward: nothing but transformers: the same texts, forced. The prompts in one batched pass, their keys and values
  repeated for every text, then one batched pass per token for the texts that go on (transformers' own cache).
- apart: the engine asked anew for every temperature, which computes the prompts four times
"""

from __future__ import annotations

import argparse
import copy
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path

import torch

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT)]

from inference import engines  # noqa: E402
from inference.engines.contract import Sampling  # noqa: E402
from inference.engines.local.batching import CPU_TEXTS  # noqa: E402
from inference.engines.local.causal import CausalEngine  # noqa: E402
from inference.engines.local.engine import pad_rows_right_and_count_lengths  # noqa: E402
from inference.protocols import agreement  # noqa: E402
from inference.stimuli import items  # noqa: E402
from inference.stimuli.templates.prompts import Prompt, build_template_values_of_options  # noqa: E402

MODEL = ROOT / "inference" / "demo" / "models" / "waver-demo-large"
SAMPLINGS = [Sampling(10, temperature, 5) for temperature in (0.4, 0.7, 1.0, 1.3)]


def prompts_of(engine: CausalEngine, number: int) -> list[Prompt]:
    """Statements of the demo questionnaire in Waver's own prompt."""
    book, form = agreement.read_agreement_prompts(), engine.choose_prompt_form("auto")
    variants = list(agreement.build_agreement_study(items.read_and_check_items("demo"), "demo").variants)[:number]
    return [book.render(form, build_template_values_of_options(variant)) for variant in variants]


def with_engine(engine: CausalEngine, prompts: list[Prompt], together: bool) -> None:
    """What a run does."""
    for batch in engine.cut_into_batches(prompts):
        asked = [prompts[index] for index in batch]
        for samplings in [SAMPLINGS] if together else [[sampling] for sampling in SAMPLINGS]:
            engine.generate(asked, samplings)


def record(engine: CausalEngine, prompts: list[Prompt]) -> list[tuple[list[list[int]], list[list[list[int]]]]]:
    """Per batch the ids of its prompts and of all texts behind each, the token that ends a text included."""
    decode, recorded = engine.tokens.decode, []
    seen: list[list[int]] = []
    engine.tokens.decode = lambda texts: seen.extend(map(list, texts)) or [""] * len(texts)  # type: ignore
    for batch in engine.cut_into_batches(prompts):
        seen.clear()
        engine.generate([prompts[index] for index in batch], SAMPLINGS)
        texts = [ids if len(ids) == 5 else [*ids, 1] for ids in seen]
        each = len(texts) // len(batch)
        of_prompt = [texts[start : start + each] for start in range(0, len(texts), each)]
        recorded.append(
            ([row.ids for row in engine._get_or_tokenize_rows([prompts[index] for index in batch])], of_prompt)
        )
    engine.tokens.decode = decode  # type: ignore
    return recorded


@torch.inference_mode()
def forward(engine: CausalEngine, recorded: list[tuple[list[list[int]], list[list[list[int]]]]]) -> None:
    """Only the passes over the model."""
    for prompts, texts in recorded:
        each = len(texts[0])
        at_once = max(1, CPU_TEXTS // each)
        ids, lengths = pad_rows_right_and_count_lengths(prompts, engine.model.device)
        mask = (torch.arange(ids.shape[1]) < lengths[:, None]).long()
        cache = engine.model(input_ids=ids, attention_mask=mask, use_cache=True, logits_to_keep=1).past_key_values
        for start in range(0, len(prompts), at_once):
            chosen = torch.arange(start, min(start + at_once, len(prompts))).repeat_interleave(each)
            written = [text for of_prompt in texts[start : start + at_once] for text in of_prompt]
            _forced(engine, cache, mask, lengths, chosen, written)


def _forced(engine, cache, mask, lengths, prompts, written) -> None:  # type: ignore[no-untyped-def]
    """One pass per token behind the prompts; texts that have ended are left out before each."""
    going = [row for row, text in enumerate(written) if len(text) > 1]
    if not going:
        return
    own = copy.copy(cache)
    own.layers = [copy.copy(layer) for layer in cache.layers]
    own.batch_select_indices(prompts[going])
    seen, position = mask[prompts[going]], lengths[prompts[going]]
    for step in range(4):
        staying = [place for place, row in enumerate(going) if len(written[row]) > step + 1]
        if not staying:
            return
        if len(staying) < len(going):
            kept = torch.tensor(staying)
            own.batch_select_indices(kept)
            seen, position, going = seen[kept], position[kept], [going[place] for place in staying]
        seen = torch.cat([seen, seen.new_ones(len(going), 1)], dim=1)
        tokens = torch.tensor([[written[row][step]] for row in going])
        engine.model(
            input_ids=tokens, attention_mask=seen, position_ids=position[:, None], past_key_values=own, use_cache=True
        )
        position = position + 1


def seconds(work: Callable[[], None]) -> float:
    """CPU seconds of one call."""
    began = time.process_time()
    work()
    return time.process_time() - began


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--quick", action="store_true", help="100 statements, one round")
    quick = parser.parse_args().quick
    number, rounds = (100, 1) if quick else (1000, 3)
    engine = engines.load_engine(str(MODEL), device="cpu")
    assert isinstance(engine, CausalEngine)
    torch.set_num_threads(1)
    prompts = prompts_of(engine, number)
    recorded = record(engine, prompts)
    passes = sum(len(text) for _, texts in recorded for of_prompt in texts for text in of_prompt)
    found: list[tuple[float, float, float]] = []
    for _ in range(rounds):
        found.append((
            seconds(lambda: with_engine(engine, prompts, True)),
            seconds(lambda: forward(engine, recorded)),
            seconds(lambda: with_engine(engine, prompts, False)),
        ))  # fmt: skip
    own, bare, apart = (statistics.median(column) for column in zip(*found, strict=True))
    print(f"{number:,} prompts, {passes:,} tokens drawn, {engine.info['parameters']:,} parameters, one thread")
    print(f"engine {own:.2f} s, forward {bare:.2f} s, apart {apart:.2f} s (CPU, median of {rounds})")
    print(f"engine / forward {statistics.median(a / b for a, b, _ in found):.2f}")
    print(f"apart / engine {statistics.median(c / a for a, _, c in found):.2f}")


if __name__ == "__main__":
    main()
