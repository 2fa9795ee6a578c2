"""CPU time of a check against a baseline: 558,000 rows on each side, as a command, imports included.

    python tests/benchmarks/bench_check.py

18 models, 62 items, 500 wordings; all answers are drawn anew. One thread; the whole process counts; the median of
several calls. Exit status 1 where it misses 5 s.
"""

from __future__ import annotations

import argparse
import os
import resource
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "tests"), str(ROOT / "tests" / "benchmarks")]
ONE_THREAD = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
TARGET = 5.0  # CPU seconds
RULES = """
[[rule]]
require = "not worse by 0.02 in agreement"
[[rule]]
require = "not worse in flips"
wordings = "like these"
[[rule]]
require = "same answers as before on 95 % of items"
[[rule]]
require = "same answers as before on 90 % of items"
wordings = "like these"
[[rule]]
require = "ranking as before"
"""


def measure_call(arguments: list[str], folder: Path) -> tuple[float, str]:
    """CPU seconds of a call in a process of its own, and what it printed."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    call = [sys.executable, str(ROOT / "waver.py"), *arguments]
    done = subprocess.run(call, env={**os.environ, **ONE_THREAD}, cwd=folder, capture_output=True, text=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert done.returncode in (0, 3, 4), done.stderr
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, done.stdout


def main() -> int:
    """Write two runs, save one as a baseline, check the other, and print what each took."""
    from bench_stability import write

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--calls", type=int, default=5)
    n_calls = parser.parse_args().calls
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for seed, run in enumerate(("old", "new")):
            write(folder / run, 1, 500, seed=seed / 2)
        (folder / "rules.toml").write_text(RULES, "utf-8")
        seconds, printed = measure_call(["baseline", "save", "old", "--as", "old"], folder)
        print(f"baseline save, 558,000 rows: {seconds:.1f} s of CPU; {printed.strip()}")
        check = ["check", "new", "--rules", "rules.toml", "--against", "old"]
        calls = [measure_call(check, folder) for _ in range(n_calls)]
        print(calls[0][1])
        all_seconds = sorted(seconds for seconds, _ in calls)
        median, ends = statistics.median(all_seconds), f"from {all_seconds[0]:.2f} to {all_seconds[-1]:.2f}"
        print(f"check, 558,000 rows against 558,000: {median:.2f} s of CPU (target {TARGET:g}), {ends}")
    return int(median > TARGET)


if __name__ == "__main__":
    sys.exit(main())
