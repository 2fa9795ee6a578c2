"""Prompts per second on a GPU: our whole run, bare vLLM, our engine on transformers, and what the device could do.

    python tests/benchmarks/bench_gpu.py                                     # 0.5B and 8B in bf16; on a CPU 5M
    python tests/benchmarks/bench_gpu.py --set max_num_batched_tokens=32768  # with a setting of vLLM
    python tests/benchmarks/bench_gpu.py --sizes 5M --prompts 200            # dry run

Prompts of the shape of Haller et al.: some 91 tokens, of which all share the first 43; two options. The models are
random Llamas: no hub is asked. Every line is measured in a process of its own, so that none takes memory from another.

- run: `waver run agreement`, from the items' file to the finished run folder, less the time that the model loads
- bare vLLM: `LLM.generate` with every request that the run sends, all steps of all spellings, made beforehand and given
  in one call; the prefix cache is empty before it
- transformers: `batches` and `score` of the engine `causal`
- limit: operations per second of the device, divided by those of a prompt; once for all of its tokens, and once with
  the shared start computed once. Of devices that are not listed, a product of two large matrices is timed instead

MFU is the speed as a share of the first limit; where shared tokens are computed once, it may be above 1. The last lines
are how far the probabilities of the first prompts are from those of `causal` in float32 on a CPU.
"""

from __future__ import annotations

import argparse
import csv
import json
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]

SIZES: dict[str, dict[str, int | bool]] = {
    "5M": {"vocab_size": 8_192, "hidden_size": 256, "num_hidden_layers": 4, "num_attention_heads": 4,
           "num_key_value_heads": 4, "intermediate_size": 768, "tie_word_embeddings": True},
    "0.5B": {"vocab_size": 128_256, "hidden_size": 896, "num_hidden_layers": 24, "num_attention_heads": 14,
             "num_key_value_heads": 2, "intermediate_size": 4_864, "tie_word_embeddings": True},
    "8B": {"vocab_size": 128_256, "hidden_size": 4_096, "num_hidden_layers": 32, "num_attention_heads": 32,
           "num_key_value_heads": 8, "intermediate_size": 14_336, "tie_word_embeddings": False},
}  # fmt: skip
# Dense bf16 operations per second, from NVIDIA's data sheets.
PEAKS = {"H200": 989e12, "H100 80GB HBM3": 989e12, "A100": 312e12, "L40S": 362e12, "L4": 121e12}
START = (
    "Some people were asked about this statement on Sunday, and others never. Do you agree with it? "
    "Reply {{ options[0].answer }} or {{ options[1].answer }}.\nStatement: "
)
PROMPT = {"plain": {"template": f"{START}{{{{ text }}}}\nReply:", "answers": {"agree": ["yes"], "disagree": ["no"]}}}
WORDS = ("lamp", "room", "bread", "day", "train", "time", "rain", "snow", "hill", "warm", "cold", "makes", "tastes")
WORDS_OF_A_STATEMENT = (11, 21)
WORDINGS = 50  # of an item
CONDITIONS = "temperature.gpu,clocks.sm,clocks.mem,power.draw"
COMPARED = 50  # prompts whose probabilities are compared


def main() -> int:
    """Measure all sizes, or be the process that measures one thing."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", nargs="+", choices=SIZES, help="default: 0.5B 8B on a GPU, else 5M")
    parser.add_argument("--prompts", type=int, default=20_000)
    parser.add_argument("--set", action="append", default=[], metavar="NAME=VALUE", help="a setting of vLLM")
    parser.add_argument("--measure", choices=MEASURES, help=argparse.SUPPRESS)
    parser.add_argument("--folder", type=Path, help="where models and items are, and stay")
    given = parser.parse_args()
    if given.measure:
        print("\n" + json.dumps(MEASURES[given.measure](given.folder, given)))
        return 0
    import torch

    sizes = given.sizes or (["0.5B", "8B"] if torch.cuda.is_available() else ["5M"])
    device = ", ".join(filter(None, (device_name(), ask_nvidia_smi("driver_version,clocks.max.sm,power.limit"))))
    print(f"{device}; {given.prompts:,} prompts, 2 options{''.join(f', {each}' for each in given.set)}")
    with tempfile.TemporaryDirectory() as aside:
        for size in sizes:
            compare(size, (given.folder or Path(aside)) / size, given)
    return 0


def compare(size: str, folder: Path, given: argparse.Namespace) -> None:
    """Print the lines of one size."""
    if not folder.exists():
        make(size, folder)
    draw_items(folder / "items.csv", given.prompts)
    facts = apart("facts", folder, given)
    once = facts["operations"] * (1 - facts["shared"] / facts["tokens"])
    print(
        f"{size}: {facts['parameters'] / 1e6:,.0f}M parameters, {facts['dtype']}, {facts['tokens']:.1f} tokens per "
        f"prompt, the first {facts['shared']} shared; {facts['operations'] / 1e9:,.2f} GFLOP per prompt; "
        f"device: {facts['peak'] / 1e12:,.2f} TFLOP/s ({facts['peak_from']})"
    )
    limit = facts["peak"] / facts["operations"]
    print(f"  {'limit, all tokens':32} {limit:10,.1f} prompts/s")
    print(f"  {'limit, shared start once':32} {facts['peak'] / once:10,.1f} prompts/s")
    with_vllm = find_spec("vllm") is not None
    if not with_vllm:
        print("  vLLM is not installed here: left out")
    speeds, apart_by = {}, {}
    for name in (*(("run_vllm", "bare_vllm") if with_vllm else ()), "run_causal", "transformers"):
        found = apart(name, folder, given)
        speeds[name] = speed = given.prompts / found.pop("seconds")
        if "differences" in found:
            apart_by[name] = found.pop("differences")
        more = "".join(f", {key} {value}" for key, value in found.items())
        print(f"  {name.replace('_', ' '):32} {speed:10,.1f} prompts/s, MFU {speed / limit:.3f}{more}", flush=True)
    if with_vllm:
        print(f"  run vllm at {speeds['run_vllm'] / speeds['bare_vllm']:.3f} of bare vLLM")
    for name, found in apart_by.items():
        engine = "vllm" if name == "bare_vllm" else "causal"
        print(f"  differences, {engine}: {', '.join(f'{key} {value}' for key, value in found.items())}")


def apart(measure: str, folder: Path, given: argparse.Namespace) -> dict[str, Any]:
    """Measure in a process of its own; with the device's temperature and clocks right before and after."""
    call = [sys.executable, __file__, "--measure", measure, "--folder", str(folder), "--prompts", str(given.prompts)]
    before = ask_nvidia_smi(CONDITIONS)
    done = subprocess.run([*call, *(f"--set={each}" for each in given.set)], stdout=subprocess.PIPE, text=True)
    if done.returncode:
        raise SystemExit(f"{measure}: failed, its own messages above say why")
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    if before and "seconds" in found:
        found[f"({CONDITIONS})"] = f"{before} -> {ask_nvidia_smi(CONDITIONS)}"
    return found


def ask_nvidia_smi(fields: str) -> str:
    """Return fields of the first GPU, such as its temperature; empty without one."""
    try:
        call = ["nvidia-smi", f"--query-gpu={fields}", "--format=csv,noheader", "--id=0"]
        return subprocess.run(call, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return ""


def device_name() -> str:
    """Name what the models run on."""
    import torch

    if torch.cuda.is_available():
        return f"{torch.cuda.get_device_name(0)}, torch {torch.__version__}"
    return f"CPU, {torch.get_num_threads()} threads, torch {torch.__version__}"


def make(size: str, folder: Path) -> None:
    """Write a random model, in bf16 on a GPU and in float32 on a CPU, and the prompt."""
    import torch
    import transformers
    import yaml

    from helpers import tiny_models

    # The vocabulary is filled up, the tokenizer knows its beginning.
    tokenizer = tiny_models.byte_tokenizer()
    config = transformers.LlamaConfig(**SIZES[size], max_position_embeddings=512, bos_token_id=0, eos_token_id=0)
    on = "cuda" if torch.cuda.is_available() else "cpu"
    config.dtype = torch.bfloat16 if on == "cuda" else torch.float32
    torch.manual_seed(0)
    with torch.device(on):
        model = transformers.AutoModelForCausalLM.from_config(config, dtype=config.dtype)
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    (folder / "prompt.yaml").write_text(yaml.safe_dump(PROMPT), encoding="utf-8")


def draw_items(path: Path, number: int) -> None:
    """Write different statements of similar length."""
    draw = random.Random(0)
    statements: dict[str, None] = {}
    while len(statements) < number:
        statements[" ".join(draw.choices(WORDS, k=draw.randint(*WORDS_OF_A_STATEMENT))) + "."] = None
    with path.open("w", newline="", encoding="utf-8") as file:
        rows = [(str(place // WORDINGS), text) for place, text in enumerate(statements)]
        csv.writer(file).writerows([("item", "text"), *rows])


def prompts(folder: Path) -> list[Any]:
    """Read the prompts of the run, as the engines take them."""
    from inference.stimuli.templates.prompts import Prompt

    options = START.replace("{{ options[0].answer }}", "yes").replace("{{ options[1].answer }}", "no")
    with (folder / "items.csv").open(newline="", encoding="utf-8") as file:
        texts = [row["text"] for row in csv.DictReader(file)]
    forms = [(word, word.capitalize(), word.upper()) for word in ("yes", "no")]
    return [Prompt(f"{options}{text}\nReply:", None, tuple(forms)) for text in texts]


def facts(folder: Path, given: argparse.Namespace) -> dict[str, Any]:
    """Count parameters, tokens and operations, and find the device's operations per second."""
    import torch
    from transformers import AutoConfig, AutoModelForCausalLM, AutoTokenizer

    from inference.engines.rows import find_common_prefix

    config, tokenizer = AutoConfig.from_pretrained(folder), AutoTokenizer.from_pretrained(folder)
    with torch.device("meta"):
        model = AutoModelForCausalLM.from_config(config)
    ids = sorted(tokenizer([prompt.text for prompt in prompts(folder)])["input_ids"])
    tokens = sum(map(len, ids)) / len(ids)
    embedding = config.vocab_size * config.hidden_size
    body = sum(each.numel() for each in model.model.parameters()) - embedding
    # Two operations per weight and token; attention of a token to those before it, half as many as there are, in scores
    # and in sums; the head once per prompt.
    attention = 4 * config.num_hidden_layers * config.hidden_size * tokens / 2
    peak, source = peak_of(config.dtype)
    return {
        "parameters": sum(each.numel() for each in model.parameters()), "dtype": str(config.dtype).split(".")[-1],
        "tokens": tokens, "shared": len(find_common_prefix(ids[0], ids[-1])),
        "operations": tokens * (2 * body + attention) + 2 * embedding, "peak": peak, "peak_from": source,
    }  # fmt: skip


def peak_of(dtype: Any) -> tuple[float, str]:
    """Return operations per second of the device, and where that number is from."""
    import torch

    on = "cuda" if torch.cuda.is_available() else "cpu"
    if on == "cuda":
        for name, peak in PEAKS.items():
            if name in torch.cuda.get_device_name(0):
                return peak, f"data sheet of {name}"
    side = 8192 if on == "cuda" else 1536
    square = torch.rand(side, side, dtype=dtype, device=on)

    def seconds() -> float:
        began = time.perf_counter()
        product = square @ square
        float(product[0, 0])  # waits for the device
        return time.perf_counter() - began

    return 2 * side**3 / min(seconds() for _ in range(5)), f"a product of matrices of {side} rows"


def run(folder: Path, given: argparse.Namespace, engine: str) -> dict[str, Any]:
    """Time a whole run less the loading of its model."""
    from inference import engines
    from inference.__main__ import main as waver

    loading, load = [], engines.load_engine

    def timed(*arguments: Any, **settings: Any) -> Any:
        began = time.perf_counter()
        loaded = load(*arguments, **settings)
        loading.append(time.perf_counter() - began)
        return loaded

    engines.load_engine = timed
    out = folder.parent / f"{folder.name}-{engine}"
    more = [f"--vllm-set={each}" for each in given.set] if engine == "vllm" else []
    call = ["run", "agreement", "--items", str(folder / "items.csv"), "--model", f"random={folder}", "--engine", engine,
            "--prompt", str(folder / "prompt.yaml"), "--out", str(out), *more]  # fmt: skip
    began = time.perf_counter()
    if waver(call):
        raise SystemExit(1)
    whole = time.perf_counter() - began
    return {"seconds": whole - sum(loading), "loading": f"{sum(loading):.1f} s"}


def load_vllm(folder: Path, given: argparse.Namespace) -> Any:
    """Load the engine `vllm` with the settings of the call."""
    from inference import engines
    from inference.engines.vllm.settings import VllmSettings, parse_vllm_assignments

    return engines.load_engine(str(folder), engine="vllm", vllm=VllmSettings(site=parse_vllm_assignments(given.set)))


def bare_vllm(folder: Path, given: argparse.Namespace) -> dict[str, Any]:
    """Time one call of `LLM.generate` with all that the engine asks, and count what the prefix cache had."""
    engine, asked = load_vllm(folder, given), prompts(folder)
    requests: list[Any] = []
    parameters: list[Any] = []
    generate = engine._llm.generate

    def note(ids: list[Any], settings: list[Any], **more: Any) -> Any:
        requests.extend(ids)
        parameters.extend(settings)
        return generate(ids, settings, **more)

    engine._llm.generate = note
    for batch in engine.cut_into_batches(asked):
        engine.score([asked[place] for place in batch])
    engine._llm.reset_prefix_cache()
    began = time.perf_counter()
    outputs = generate(requests, parameters, use_tqdm=False)
    seconds = time.perf_counter() - began
    cached = sum(output.num_cached_tokens or 0 for output in outputs)
    cached /= sum(len(ids) for ids in requests)
    found = {
        "seconds": seconds, "requests per prompt": f"{len(requests) / len(asked):.2f}",
        "cached tokens": f"{cached:.3f}", "differences": differences(folder, engine),
    }  # fmt: skip
    engine.close()
    return found


def differences(folder: Path, tried: Any) -> dict[str, Any]:
    """Compare the probabilities of the first prompts with those of `causal` in float32 on a CPU."""
    from inference import engines

    asked = prompts(folder)[:COMPARED]
    reference = engines.load_engine(str(folder), engine="causal", device="cpu", dtype="float32")
    (found,), (exact,) = tried.score(asked), reference.score(asked)
    apart_by = [
        abs(a - b)
        for one, other in zip(found, exact, strict=True)
        for a, b in zip(one.probability, other.probability, strict=True)
    ]
    answers = sum(one.answer != other.answer for one, other in zip(found, exact, strict=True))
    return {
        "prompts": len(asked), "largest": f"{max(apart_by):.2e}", "mean": f"{sum(apart_by) / len(apart_by):.2e}",
        "other answers": answers,
    }  # fmt: skip


def transformers_engine(folder: Path, given: argparse.Namespace) -> dict[str, Any]:
    """Time our engine on transformers, from prompts to probabilities."""
    from inference import engines

    engine = engines.load_engine(str(folder), engine="causal")
    asked = prompts(folder)
    engine.score(asked[:8])  # the first pass loads kernels
    began = time.perf_counter()
    for batch in engine.cut_into_batches(asked):
        engine.score([asked[place] for place in batch])
    return {"seconds": time.perf_counter() - began, "differences": differences(folder, engine)}


MEASURES: dict[str, Callable[[Path, argparse.Namespace], dict[str, Any]]] = {
    "facts": facts,
    "run_vllm": lambda folder, given: run(folder, given, "vllm"),
    "bare_vllm": bare_vllm,
    "run_causal": lambda folder, given: run(folder, given, "causal"),
    "transformers": transformers_engine,
}


if __name__ == "__main__":
    sys.exit(main())
