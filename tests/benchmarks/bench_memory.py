"""Memory of a run: `python tests/benchmarks/bench_memory.py [--stimuli N]`. A million stimuli must stay under 600 MB.

The whole way of a real call, from a CSV file to the finished run folder, asked of an engine without a model: what is
left is Waver's own. A second call then goes on with the folder, of which the last part was taken away. Each call is a
process of its own; its peak resident size is what the system says it was.
"""

from __future__ import annotations

import argparse
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
CALL = """
import sys
from helpers.trivial_engine import TrivialEngine
from inference.__main__ import main
from inference.asking.one_model import Settings
Settings.load_model_engine = lambda self, model, seed: TrivialEngine(size=64)
sys.exit(main(["run", "agreement", "--items", sys.argv[1], "--model", "trivial", "--out", sys.argv[2]]))
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
    paths = {"PYTHONPATH": f"{ROOT}:{ROOT / 'tests'}"}
    process = subprocess.Popen([sys.executable, "-c", code, *arguments], env=paths, cwd=folder)
    _, status, usage = os.wait4(process.pid, 0)
    if status:
        raise SystemExit(f"the run failed with status {status}")
    return usage.ru_maxrss * UNIT / 1e6, time.perf_counter() - began


def main() -> int:
    """Print the numbers; exit status 1 above the limit."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--stimuli", type=int, default=1_000_000)
    stimuli = parser.parse_args().stimuli
    with tempfile.TemporaryDirectory() as folder:
        items, out = Path(folder) / "items.csv", Path(folder) / "run"
        write_items(items, stimuli)
        peak, seconds = run_in_own_process(CALL, [str(items), str(out)], out.parent)
        print(f"{stimuli:,} stimuli: peak {peak:.0f} MB, {seconds:.0f} s")
        last = max((out / "responses").iterdir())
        last.unlink()
        again, seconds = run_in_own_process(CALL, [str(items), str(out)], out.parent)
        print(f"gone on with:   peak {again:.0f} MB, {seconds:.0f} s")
    return int(max(peak, again) > LIMIT)


if __name__ == "__main__":
    sys.exit(main())
