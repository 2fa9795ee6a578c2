"""CPU time and memory of the stability tables, on runs it makes itself and deletes again.

    python tests/benchmarks/bench_stability.py            # 558,000 rows: seconds
    python tests/benchmarks/bench_stability.py --large    # 55.8 million rows as well: a minute and 2.5 GB of disk

One thread, CPU seconds (wall time says more about the neighbours), every figure from a fresh process, imports apart.
Exit status 1 where a figure misses its target.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]
ONE_THREAD = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
MODELS, ITEMS = 18, 62

# label, (conditions, wordings per item), table, target in CPU seconds, target in MB
CASES = (
    ("stability, 558,000 rows", (1, 500), "models", 1.0, None),
    ("of which 10,000 resamples", (1, 500), "resamples", 1.0, None),
    ("items, 558,000 rows", (1, 500), "items", 1.0, None),
    ("differences, 558,000 rows", (1, 500), "differences", None, None),
    ("divergent, 558,000 rows", (1, 500), "divergent", None, None),
    ("distribution, 558,000 rows", (1, 500), "distribution", None, None),
    ("invalid, 558,000 rows", (1, 500), "invalid", None, None),
)
LARGE = (
    ("stability, 55.8 million rows", (10, 5000), "models", 8.0, 600),
    ("divergent, 55.8 million rows", (10, 5000), "divergent", None, None),
    ("distribution, 55.8 million rows", (10, 5000), "distribution", None, None),
)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--large", action="store_true", help="the 55.8 million rows as well")
    parser.add_argument("--measure", nargs=2, metavar=("RUN", "TABLE"), help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.measure:
        print(json.dumps(measure(*arguments.measure)))
        return 0
    missed = False
    with tempfile.TemporaryDirectory() as folder:
        for label, size, table, seconds, megabytes in CASES + (LARGE if arguments.large else ()):
            run = Path(folder) / f"{size[0]}x{size[1]}"
            if not run.exists():
                write(run, *size)
            call = [sys.executable, __file__, "--measure", str(run), table]
            done = subprocess.run(call, env={**os.environ, **ONE_THREAD}, capture_output=True, text=True, check=True)
            figures = json.loads(done.stdout)
            slow = seconds is not None and figures["seconds"] > seconds
            big = megabytes is not None and figures["megabytes"] > megabytes
            missed |= slow or big
            target = f" (target {seconds} s)" if seconds else ""
            limit = f" (target {megabytes} MB)" if megabytes else ""
            print(
                f"{label:34} {figures['seconds']:6.2f} CPU s{target:16} {figures['megabytes']:5.0f} MB{limit} "
                f"{'MISSED' if slow or big else ''}",
                flush=True,
            )
    return int(missed)


def measure(run: str, table: str) -> dict[str, float]:
    """CPU seconds from a run folder to a table (for `resamples`: what the intervals add), and the peak memory."""
    import duckdb  # noqa: F401  the imports are not what is measured
    import numpy.random  # noqa: F401
    import pandas  # noqa: F401

    from analysis import runs
    from analysis.pages.stability import tables

    start = time.process_time()
    opened = runs.open_runs(run)
    if table == "resamples":
        tables.tabulate_stability(opened, resamples=0)
        again = time.process_time()
        tables.tabulate_stability(opened, resamples=0)
        start = time.process_time()
        spent_without = start - again
        tables.tabulate_stability(opened, resamples=10_000)
        seconds = time.process_time() - start - spent_without
    else:
        getattr(tables, table)(opened)
        seconds = time.process_time() - start
    return {"seconds": seconds, "megabytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024}


def write(path: Path, conditions: int, wordings: int, models: int = MODELS, seed: float = 0) -> None:
    """A run of models x `conditions` x 62 items x `wordings` (an original, the rest paraphrases), in the schema; the
    answers are drawn anew by another seed from 0 to 1."""
    import duckdb

    from helpers.synthetic import SCHEMA, edit_run_json, random_frame, write_run

    names = [f"organisation/model-{number:02d}" for number in range(models)]
    settings = [f"prompt-{number:02d}/plain/yes-no" for number in range(conditions)]
    write_run(path, random_frame(names, conditions=settings, items=1, paraphrases=1), study="benchmark")
    for part in path.glob("responses/*"):
        part.unlink()
    kinds = {"string": "VARCHAR", "double": "DOUBLE", "int64": "BIGINT", "list<string>": "VARCHAR[]"}
    kinds |= {"list<double>": "DOUBLE[]", "list<int64>": "BIGINT[]", "map<string,string>": "MAP(VARCHAR, VARCHAR)",
              "list<list<double>>": "DOUBLE[][]"}  # fmt: skip

    def columns(table: str, known: dict[str, str]) -> str:
        return ", ".join(
            f'({known.get(c["name"], "NULL")})::{kinds[c["type"]]} AS "{c["name"]}"' for c in SCHEMA[table]["columns"]
        )

    # Rows in the order of the study, agreement with a centre of its own for every item, and a mass between 0.5 and 1.
    source = f"""
        SELECT printf('item-%02d', i) AS item, pattern, mass, agreement,
               if(v = 0, 'original', printf('paraphrase-%04d', v)) AS variant
        FROM (SELECT i, v, 0.5 + 0.5 * random() AS mass, if(v = 0, 'original', 'paraphrase') AS pattern,
                     (0.5 + i) / {ITEMS} * 0.6 + 0.4 * random() AS agreement
              FROM range({ITEMS}) AS item(i), range({wordings}) AS wording(v))"""
    con = duckdb.connect(config={"threads": 1})
    con.execute(f"SELECT setseed({seed})")
    key = {"study": "'benchmark'", "item": "item", "variant": "variant"}
    stimuli = columns(
        "stimuli",
        {**key, "pattern": "pattern", "text": "md5(item || variant)", "language": "'en'",
         "options": "['agree', 'disagree']", "canonical": "['agree', 'disagree']"},
    )  # fmt: skip
    con.execute(f"COPY (SELECT {stimuli} FROM ({source})) TO '{path / 'stimuli.parquet'}'")
    for number, (model, condition) in enumerate(((m, c) for m in names for c in settings), start=1):
        responses = columns(
            "responses",
            {**key, "model": f"'{model}'", "condition": f"'{condition}'", "mass": "mass",
             "probability": "[mass * agreement, mass * (1 - agreement)]",
             "logprob": "[ln(mass * agreement), ln(mass * (1 - agreement))]",
             "answer": "if(agreement > 0.5, 'agree', 'disagree')"},
        )  # fmt: skip
        con.execute(f"COPY (SELECT {responses} FROM ({source})) TO '{path / f'responses/part-{number:06d}.parquet'}'")
    edit_run_json(path, seed=0)


if __name__ == "__main__":
    sys.exit(main())
