"""Memory of a run: `bench_memory.py [--stimuli N] [--words]`. A million stimuli must stay under 600 MB.

The whole way of a real call, from a CSV file to the finished run folder, asked of an engine without a model: what is
left is Waver's own. A second call then goes on with the folder, of which the last part was taken away. Each call is a
process of its own; its peak resident size is what the system says it was.

With `--words`, the engine is `causal` with a model of one layer, and options have several tokens: what is kept of paths
that were followed, or left out, must not grow with the stimuli. Shown are also the `shortcuts` of run.json. PyTorch
alone takes 550 MB, so there is no limit then: compare 20,000 stimuli with 400,000, which take ten minutes.

Measured, in MB of the first call and of the second:

    stimuli    without a model    --words
     20,000     174    167         592    610
    100,000     192    212        646    658
    400,000     276    332         728    752

What grows is the study, by .27 kB a stimulus. With `--words`, remembered ids of prompts do, too, until they fill some
half of their 64 MB (`inference.engines.remembered.ROOM`). Prompts are measured and cut into batches 20,000 at a time
(`inference.asking.one_model.PROMPTS_CUT_TOGETHER`); 400,000 at once took 826 MB.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LIMIT = 600  # MB, of 1,000,000 bytes
UNIT = 1 if sys.platform == "darwin" else 1024  # bytes, in which the system counts
PARAPHRASES = 49
TRIVIAL = """
from helpers.trivial_engine import TrivialEngine
ENGINE = TrivialEngine(size=64)
"""
WORDS = """
from helpers import tiny_models
from inference.engines.loading import Checkpoint
from inference.engines.local.causal import CausalEngine
tokenizer = tiny_models.byte_tokenizer(vocab_size=300)
one = dict.fromkeys(("num_hidden_layers", "num_attention_heads", "num_key_value_heads"), 1)
model = tiny_models.model("llama", tokenizer, hidden_size=8, intermediate_size=8, initializer_range=1.0, **one)
model.get_output_embeddings().weight.data *= 5  # of random paths, some are improbable then
info = {"engine": "causal", "revision": None, "dtype": "float32", "device": "cpu", "parameters": 0}
ENGINE = CausalEngine(Checkpoint("one layer", model, tokenizer, info))
"""
CALL = """
import sys
from inference.__main__ import main
from inference.asking.one_model import Settings
Settings.load_model_engine = lambda self, model, seed: ENGINE
sys.exit(main(["run", "agreement", "--items", sys.argv[1], "--model", "made", "--out", sys.argv[2], *sys.argv[3:]]))
"""
PROMPT = """plain:
  template: "{{ text }}\\nReply:"
  answers: {agree: ["i agree"], disagree: ["i disagree"]}
"""


def write_items(path: Path, stimuli: int) -> None:
    """Wordings of about a hundred characters, as in published questionnaires."""
    with path.open("w", encoding="utf-8") as file:
        file.write("item,text\n")
        for item in range(stimuli // (PARAPHRASES + 1)):
            for wording in range(PARAPHRASES + 1):
                more = "very " * (wording * 7 % 5)
                file.write(f"{item},Measure {item} for the protection of public places is {more}good: {wording}.\n")


def run_in_own_process(code: str, arguments: list[str], folder: Path) -> tuple[float, float]:
    """Peak MB and seconds of a program in a process of its own."""
    began = time.perf_counter()
    paths = {"PYTHONPATH": f"{ROOT}:{ROOT / 'tests'}", "OMP_NUM_THREADS": "1"}
    process = subprocess.Popen([sys.executable, "-c", code, *arguments], env=paths, cwd=folder)
    _, status, usage = os.wait4(process.pid, 0)
    if status:
        raise SystemExit(f"the run failed with status {status}")
    return usage.ru_maxrss * UNIT / 1e6, time.perf_counter() - began


def main() -> int:
    """Print the numbers; exit status 1 above the limit."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--stimuli", type=int, default=1_000_000)
    parser.add_argument("--words", action="store_true", help="ask a small model for options of several tokens")
    given = parser.parse_args()
    stimuli, code = given.stimuli, (WORDS if given.words else TRIVIAL) + CALL
    with tempfile.TemporaryDirectory() as folder:
        items, out = Path(folder) / "items.csv", Path(folder) / "run"
        write_items(items, stimuli)
        (out.parent / "prompt.yaml").write_text(PROMPT)
        arguments = [str(items), str(out), *(["--prompt", "prompt.yaml"] if given.words else [])]
        peak, seconds = run_in_own_process(code, arguments, out.parent)
        print(f"{stimuli:,} stimuli: peak {peak:.0f} MB, {seconds:.0f} s")
        if given.words:
            (fields,) = json.loads((out / "run.json").read_text())["models"].values()
            print(f"shortcuts: {fields['shortcuts']}")
        last = max((out / "responses").iterdir())
        last.unlink()
        again, seconds = run_in_own_process(code, arguments, out.parent)
        print(f"gone on with:   peak {again:.0f} MB, {seconds:.0f} s")
    return int(not given.words and max(peak, again) > LIMIT)


if __name__ == "__main__":
    sys.exit(main())
