"""CPU time of a report by part, and memory of a report about many models or conditions.

    python tests/benchmarks/bench_report.py results/demo     # the report, and every page's tables, figures and the rest
    python tests/benchmarks/bench_report.py --many           # 500 models, and one model under 300 conditions
    python tests/benchmarks/bench_report.py --rows 3100000   # 100 models x 62 items x 500 wordings, and its pages

One core, one thread, CPU seconds of all processes. Every number is from a fresh process. Exit status 1 where a target
is missed.
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import resource
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

import bench_stability
import psutil

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]
ONE_THREAD = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
DEMO_SECONDS, MANY_SECONDS, MANY_MEGABYTES = 60, 120, 1500
ITEMS, WORDINGS = 20, 120
ROWS_WORDINGS = 500
ROWS_TARGETS = {3_100_000: (60, 1000), 10_000_000: (200, 2000)}  # rows up to -> CPU seconds, MB
WORDS = "the state must should not never always pay more less tax for poor rich people and we all our own country"
MANY = {
    "500 models": ([f"model-{i:03d}" for i in range(500)], ["plain/yes-no"]),
    "300 conditions": (["model"], [f"prompt-{i:03d}/{order}" for i in range(150) for order in ("yes-no", "no-yes")]),
}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("runs", nargs="?", type=Path, help="run folder, or a folder that holds run folders")
    parser.add_argument("--many", action="store_true", help="500 models, and 300 conditions")
    parser.add_argument("--rows", type=int, help="as many models as this makes with 62 items in 500 wordings each")
    parser.add_argument("--write", nargs=2, metavar=("RUN", "MODELS"), help=argparse.SUPPRESS)
    parser.add_argument("--page", nargs=3, metavar=("NAME", "RUNS", "OUT"), help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.page:
        print(json.dumps(parts(*given.page)))
        return 0
    if given.write:
        bench_stability.write(Path(given.write[0]), 1, ROWS_WORDINGS, int(given.write[1]))
        return 0
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    missed = False
    with tempfile.TemporaryDirectory() as folder:
        if given.runs:
            seconds, megabytes = report(given.runs, Path(folder) / "report")
            missed |= show("report", seconds, megabytes, DEMO_SECONDS)
            pages(given.runs, Path(folder))
        for name, (models, conditions) in MANY.items() if given.many else ():
            run = Path(folder) / name
            write(run, models, conditions)
            missed |= show(name, *report(run, Path(folder) / f"{name} report"), MANY_SECONDS, MANY_MEGABYTES)
        if given.rows:
            missed |= rows(given.rows, Path(folder))
    return int(missed)


def rows(number: int, folder: Path) -> bool:
    """Show the report about so many rows, and its pages; return whether a target is missed."""
    models = round(number / ROWS_WORDINGS / bench_stability.ITEMS)
    run = folder / f"{models} models"
    subprocess.run([sys.executable, __file__, "--write", str(run), str(models)], check=True)
    target = next((ROWS_TARGETS[most] for most in ROWS_TARGETS if number <= most), (0, 0))
    missed = show(f"{models} models x 62 x 500", *report(run, folder / "report"), *target)
    pages(run, folder)
    return missed


def show(name: str, seconds: float, megabytes: float, most: float = 0, most_megabytes: float = 0) -> bool:
    """Print a line; return whether a target is missed."""
    missed = bool(most and seconds > most) or bool(most_megabytes and megabytes > most_megabytes)
    target = f"   target {most} s{f', {most_megabytes} MB' if most_megabytes else ''}" if most else ""
    print(f"{name:32}{seconds:8.1f} s{megabytes:8.0f} MB{target}{'   MISSED' if missed else ''}", flush=True)
    return missed


def report(runs: Path, out: Path) -> tuple[float, float]:
    """Make a report; return CPU seconds of all its processes, and the largest sum of their memory in MB."""
    call = "import sys; from analysis.__main__ import main; sys.exit(main(sys.argv[1:]))"
    start = children()
    process = subprocess.Popen(
        [sys.executable, "-c", call, "report", str(runs), "--out", str(out)], cwd=ROOT,
        env={**os.environ, **ONE_THREAD, "PYTHONPATH": str(ROOT)}, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    most = [0.0]
    watch = threading.Thread(target=watch_memory, args=(psutil.Process(process.pid), most))
    watch.start()
    if process.wait():
        sys.exit(f"no report about {runs}: exit status {process.returncode}")
    watch.join()
    return children() - start, most[0]


def watch_memory(process: psutil.Process, most: list[float]) -> None:
    """Keep the largest sum of memory of a process and its descendants, in MB; what two share counts once (Linux).

    A process that is about to start another program shares all its memory with it for a moment.
    """
    while process.is_running() and process.status() != psutil.STATUS_ZOMBIE:
        total = 0
        try:
            for one in (process, *process.children(recursive=True)):
                total += one.memory_full_info().pss
        except psutil.Error:
            pass
        most[0] = max(most[0], total / 1e6)
        time.sleep(0.2)


def children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def pages(folder: Path, out: Path) -> None:
    """Print the CPU seconds of every page by part, of those that a report about these runs has."""
    from analysis import runs
    from analysis.reporting import catalogue

    opened = runs.open_runs(folder)
    for name, page in catalogue.map_page_names_to_catalogues().items():
        of_page = opened.select_protocols(page.protocols)
        if of_page and not page.over_time and not page.explain_no_data(of_page, {}):
            about = [str(run.path) for run in of_page.folders]
            call = [sys.executable, __file__, "--page", name, json.dumps(about), str(out / name)]
            env = {**os.environ, **ONE_THREAD, "MPLBACKEND": "agg"}
            printed = subprocess.run(call, env=env, stdout=subprocess.PIPE, text=True, check=True).stdout
            used = json.loads(printed.splitlines()[-1])  # cells print, too
            peak = used.pop("peak")
            parts_text = ", ".join(f"{k} {v:.1f}" for k, v in used.items())
            print(f"  {name:30}{sum(used.values()):8.1f} s{peak:8.0f} MB   {parts_text}", flush=True)


def parts(name: str, about: str, out: str) -> dict[str, float]:
    """Run the cells of a page's notebook in this process; return CPU seconds of each part, and the `peak` in MB."""
    used = {"imports": 0.0, "tables": 0.0, "figures": 0.0, "rest": 0.0}
    values: dict[str, Any] = {"display": str}  # as in a kernel
    cells = json.loads((ROOT / "notebooks" / f"{name}.ipynb").read_text(encoding="utf-8"))["cells"]
    for cell in (cell for cell in cells if cell["cell_type"] == "code"):
        source = "".join(cell["source"])
        start = time.process_time()
        exec(source, values)
        if "parameters" in cell["metadata"].get("tags", []):
            values |= {"runs": json.loads(about), "out": out}
        called = [node.func.attr for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Call)
                  and isinstance(node.func, ast.Attribute)]  # fmt: skip
        first = "import" in source
        part = "imports" if first else "figures" if "figure" in called else "tables" if "answer" in called else "rest"
        used[part] += time.process_time() - start
    return used | {"peak": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024}


def write(run: Path, models: list[str], conditions: list[str]) -> None:
    """Write a run with random answers to wordings of random words."""
    import numpy as np

    from helpers.synthetic import random_frame, write_run

    rng = np.random.default_rng(0)
    frame = random_frame(models, items=ITEMS, paraphrases=WORDINGS, conditions=conditions)
    keys = list(zip(frame["item"], frame["variant"], strict=True))
    words = np.array(WORDS.split())
    text = {key: " ".join(rng.choice(words, rng.integers(5, 18))).capitalize() + "." for key in dict.fromkeys(keys)}
    write_run(run, frame.assign(text=[text[key] for key in keys]))


if __name__ == "__main__":
    sys.exit(main())
