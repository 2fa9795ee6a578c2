"""What importing logs costs: `python tests/benchmarks/bench_import_logs.py [--rows N]`.

Logs of lm-eval of our own making: models that answer the same questions in several wordings, four options each, a row
of some 2,500 bytes. A fourth of the rows is imported first, then all of them: each in a process of its own, on one
thread. CPU time counts, and the largest memory of the process. To hold: 20,000 rows a second, below 700 MB, and a
memory that does not grow with the number of models.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import resource
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
ROWS, QUESTIONS, WORDINGS = 1_000_000, 10_000, 5
PACE, MEMORY = 20_000, 700
DATE = "2026-02-03T04-05-06.789"
FILLER = "It was read aloud twice, and nobody in the room had any doubt about what was meant by it. " * 3
PLACES = ("@0", "@1", "@2", "@3")


def template(wording: int, question: int) -> str:
    """A row of samples, with @0 to @3 where the log-likelihoods go, and @acc."""
    choices = [f"the {name} thing of question {question}" for name in ("first", "second", "third", "fourth")]
    doc = {"question": f"Question {question}. {FILLER}Which one?", "choices": choices, "answer": question % 4}
    listed = "\n".join(f"{letter}. {choice}" for letter, choice in zip("ABCD", choices, strict=True))
    context = f"Wording {wording}: {doc['question']}\n{listed}\nAnswer:"
    digest = hashlib.sha256(str(question).encode()).hexdigest()
    row = {
        "doc_id": question,
        "doc": doc,
        "target": str(question % 4),
        "arguments": {f"gen_args_{i}": {"arg_0": context, "arg_1": f" {letter}"} for i, letter in enumerate("ABCD")},
        "resps": [[[place, "False"]] for place in PLACES],
        "filtered_resps": [[place, "False"] for place in PLACES],
        "filter": "none",
        "metrics": ["acc"],
        "doc_hash": digest,
        "prompt_hash": digest,
        "target_hash": digest,
        "acc": "@acc",
    }
    return json.dumps(row).replace('"@acc"', "@acc") + "\n"


def lines(templates: list[str], model: int) -> Iterator[str]:
    """The rows of one model in one wording."""
    for question, line in enumerate(templates):
        scores = [-0.5 - (model * 31 + question * 7 + place * 13) % 97 / 8 for place in range(4)]
        best = scores.index(max(scores))
        for place, score in zip(PLACES, scores, strict=True):
            line = line.replace(place, str(score))
        yield line.replace("@acc", str(float(best == question % 4)))


def write(folder: Path, rows: int) -> list[Path]:
    """Write the logs; return the folder of every model."""
    folders = []
    for model in range(rows // (QUESTIONS * WORDINGS)):
        here = folder / f"model-{model:03d}"
        here.mkdir(parents=True)
        tasks = [f"quiz_p{wording}" for wording in range(WORDINGS)]
        said = {
            "results": {task: {} for task in tasks},
            "configs": {task: {"output_type": "multiple_choice", "target_delimiter": " "} for task in tasks},
            "n-shot": dict.fromkeys(tasks, 0),
            "model_name": here.name,
            "lm_eval_version": "0.4.12",
        }
        (here / f"results_{DATE}.json").write_text(json.dumps(said))
        folders.append(here)
    for wording in range(WORDINGS):
        templates = [template(wording, question) for question in range(QUESTIONS)]
        for model, here in enumerate(folders):
            with (here / f"samples_quiz_p{wording}_{DATE}.jsonl").open("w") as file:
                file.writelines(lines(templates, model))
    return folders


def measured(folders: list[Path], out: Path) -> tuple[float, float]:
    """Import in a process of its own: CPU seconds, and megabytes at most."""
    script = (
        "import resource, sys; from inference.__main__ import main; status = main(sys.argv[1:]); "
        "used = resource.getrusage(resource.RUSAGE_SELF); "
        "print('USED', used.ru_utime + used.ru_stime, used.ru_maxrss / 1024); sys.exit(status)"
    )
    call = [sys.executable, "-c", script, "import", "lm-eval", *map(str, folders), "--out", str(out)]
    threads = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")
    done = subprocess.run(call, env={**os.environ, **threads}, cwd=ROOT, capture_output=True, text=True, check=True)
    _, seconds, megabytes = done.stdout.splitlines()[-1].split()
    return float(seconds), float(megabytes)


def main() -> int:
    """Print both measurements; 1 where a limit is broken."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=ROWS)
    rows = parser.parse_args().rows
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    broken = 0
    with tempfile.TemporaryDirectory() as place:
        folders = write(Path(place) / "logs", rows)
        size = sum(path.stat().st_size for path in Path(place).rglob("*.jsonl"))
        for some in (folders[: max(1, len(folders) // 4)], folders):
            number = len(some) * QUESTIONS * WORDINGS
            seconds, megabytes = measured(some, Path(place) / f"run-{len(some)}")
            pace = number / seconds
            broken += pace < PACE or megabytes > MEMORY
            print(
                f"{number:,} rows of {size / rows:,.0f} bytes, {len(some)} models: {seconds:.1f} CPU seconds, "
                f"{pace:,.0f} rows a second, at most {megabytes:.0f} MB",
                flush=True,
            )
    return int(broken > 0)


if __name__ == "__main__":
    sys.exit(main())
