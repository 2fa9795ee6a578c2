"""Time to negate 10,000 Japanese sentences, and what the rules make of published ones.

    python tests/benchmarks/bench_negate.py

Reads ../shared/data/jnli-v1.1: its sentences, repeated up to 10,000. One thread in a fresh process, so that CPU seconds
are what an idle machine needs; loading the dictionary and reading the rules are part of them. Exit status 1 where the
target is missed.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from itertools import cycle, islice
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
SENTENCES = ROOT.parent / "shared" / "data" / "jnli-v1.1" / "valid-v1.1.json"
NUMBER = 10_000
TARGET = 10  # seconds
COMMAND = (
    "import resource, sys; from inference.__main__ import main; status = main(sys.argv[1:]); "
    "usage = resource.getrusage(resource.RUSAGE_SELF); "
    "print(usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024); sys.exit(status)"
)


def main() -> int:
    if not SENTENCES.exists():
        print(f"needs {SENTENCES.relative_to(ROOT.parent)} next to the checkout")
        return 0
    pairs = map(json.loads, filter(None, SENTENCES.read_text(encoding="utf-8").splitlines()))
    sentences = dict.fromkeys(sentence for pair in pairs for sentence in (pair["sentence1"], pair["sentence2"]))
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "sentences.txt"
        file.write_text("\n".join(islice(cycle(sentences), NUMBER)), encoding="utf-8")
        call = ["negate", str(file), "--language", "ja", "--out", str(Path(folder) / "negations.jsonl")]
        began = time.monotonic()
        done = subprocess.run([sys.executable, "-c", COMMAND, *call], cwd=ROOT, capture_output=True, text=True)
        wall = time.monotonic() - began
    if done.returncode:
        print(done.stderr)
        return 1
    *said, measured = done.stdout.splitlines()
    seconds, megabytes = map(float, measured.split())
    print("\n".join(said[:-2]))
    verdict = "ok" if seconds < TARGET else "MISSED"
    print(f"{seconds:.1f} s CPU, {wall:.1f} s wall, peak {megabytes:.0f} MB; target {TARGET} s: {verdict}")
    return int(seconds >= TARGET)


if __name__ == "__main__":
    sys.exit(main())
