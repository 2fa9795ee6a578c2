"""Kill commands at random moments, make them again to the end, and compare with what an undisturbed one wrote.

    python tests/whole/kills.py                  # the short version, `make test-kills`
    python tests/whole/kills.py --kills 100 --seed 7 --commands report run

Every trial is a folder of its own: the command is killed there one to three times in a row by SIGKILL, either the whole
process group (as a terminal or a scheduler does) or only the process that was called, and then runs to its end. It must
leave the rows, tables and figures of an undisturbed one, no other file, and no process. One line per trial; exit status
1 where anything differs. The moments follow from the seed, but what a process has done by then does not.
"""

from __future__ import annotations

import argparse
import contextlib
import itertools
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import psutil
import pyarrow.parquet as pq
import yaml

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]

from helpers import choice_texts  # noqa: E402
from helpers.text_feature_runs import make_run  # noqa: E402
from inference.demo import ALL  # noqa: E402
from inference.demo.choices import make_choice_questions as world_questions  # noqa: E402
from inference.demo.world import World  # noqa: E402
from inference.engines.digest import compute_sampled_checkpoint_digest  # noqa: E402
from inference.protocols.choice.building.building import write_questions  # noqa: E402
from inference.stimuli.nli import LABELS  # noqa: E402

DEMO = ROOT / "inference" / "demo"
MODELS = [str(DEMO / "models" / f"waver-demo-{name}") for name in ("small", "small-tuned")]
KEY = ["model", "condition", "item", "variant"]
MARK = "WAVER_KILLS"  # in the environment of every process of a trial
SECONDS = 10.0  # after which a process that still runs stays
Wrote: TypeAlias = dict[str, Any]  # name of a file or key of a row -> content; empty where only the name counts
PLAN = f"""
out = "."
study = [
    {{protocol = "agreement", items = "items.yaml", folder = "opinions"}},
    {{protocol = "agreement", items = "items.yaml", option-order = ["no-yes"], folder = "turned"}},
]
defaults.model = {MODELS}
"""


@dataclass(frozen=True)
class Command:
    """Describe a command: what it is given, how it is called in that folder, what is compared afterwards."""

    prepare: Callable[[Path], Any]
    call: str
    wrote: Callable[[Path], Wrote]


def questions(folder: Path) -> None:
    """Write a slice of the demo's questionnaire, and a plan of two studies."""
    items = yaml.safe_load((DEMO / "questionnaire.yaml").read_text(encoding="utf-8"))[:30]
    (folder / "items.yaml").write_text(yaml.safe_dump(items, allow_unicode=True), encoding="utf-8")
    (folder / "plan.toml").write_text(PLAN, encoding="utf-8")


def few_questions(folder: Path) -> None:
    """Write a few of the demo's questions with their wordings."""
    questions(folder)
    items = yaml.safe_load((folder / "items.yaml").read_text(encoding="utf-8"))[:5]
    (folder / "items.yaml").write_text(yaml.safe_dump(items, allow_unicode=True), encoding="utf-8")


def long_table(folder: Path) -> None:
    """Write a table with a row per response."""
    keys = itertools.product(range(20), range(100), range(20))
    lines = [
        f"m{m},i{i},v{v},{(m * 7 + i * 3 + v) % 10 / 10},{1 - (m * 7 + i * 3 + v) % 10 / 10:.1f}" for m, i, v in keys
    ]
    (folder / "long.csv").write_text("\n".join(["model,item,variant,yes,no", *lines]), encoding="utf-8")


def many_wordings(folder: Path) -> None:
    make_run(folder / "run", items=40, paraphrases=100)


def one_model(folder: Path) -> None:
    make_run(folder / "run", models=["one"], items=3, paraphrases=12)


def labelled_pairs(folder: Path) -> None:
    """Write pairs of sentences with their labels."""
    verbs = itertools.product(range(20), ("agree", "disagree"), ("agree", "disagree"))
    rows = [
        {"premise": f"We {verb} with it: {number}.", "hypothesis": f"They {other}.", "label": LABELS[verb != other]}
        for number, verb, other in verbs
    ]
    rows += [{**row, "hypothesis": "Bread.", "label": LABELS[2]} for row in rows[::2]]
    (folder / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


def choices(folder: Path) -> None:
    """Write multiple-choice questions of the demo world."""
    write_questions(folder / "world.jsonl", world_questions(World())[:40])


def right_answers(folder: Path) -> None:
    """Write a run of protocol choice that a demo model has answered, and settings for a short tuning."""
    info = {"revision": compute_sampled_checkpoint_digest(ALL["waver-demo-mini-tuned"].path)}
    choice_texts.write_run(folder / "run", "waver-demo-mini-tuned", info, asked=choice_texts.questions(24))
    (folder / "settings.toml").write_text(TUNING, encoding="utf-8")


def names(folder: Path) -> Wrote:
    """List all files and folders below a folder."""
    return {str(path.relative_to(folder)): "" for path in folder.rglob("*")}


def temporary(folder: Path) -> Wrote:
    """List what stays among the temporary files but for the folders of kernels, which a killed report cannot remove."""
    return {name: "" for name in names(folder / "tmp") if not name.startswith("waver-kernel-")}


def rows(folder: Path) -> Wrote:
    """Return the response rows of all run folders by key, and the names of their files but for the number of parts."""
    found: Wrote = {}
    for run in (path.parent for path in folder.rglob("run.json")):
        parts = sorted((run / "responses").glob("part-*.parquet"))
        responses = [row for part in parts for row in pq.read_table(part, partitioning=None).to_pylist()]
        found |= {f"{run.name}: {[row[name] for name in KEY]}": repr(row) for row in responses}
        found[f"{run.name}: number of rows"] = len(responses)
        found |= {f"{run.name}/{name}": "" for name in names(run).keys() - {f"responses/{part.name}" for part in parts}}
    return found


def features(folder: Path) -> Wrote:
    """Return the features of a run, and the names of the files in its folder."""
    run = folder / "run"
    files = ("features.json", "features.parquet", "similarity.parquet")
    return names(run) | {name: (run / name).read_bytes() for name in files}


def tuning(folder: Path) -> Wrote:
    """Return everything in the folder of a tuning byte for byte: weights, records, and what was asked for."""
    files = (path for path in (folder / "tuned").rglob("*") if path.is_file())
    return names(folder / "tuned") | {str(path.relative_to(folder)): path.read_bytes() for path in files}


def building(folder: Path) -> Wrote:
    """Return the judge's rows, and the files beside the study byte for byte."""
    return rows(folder) | {path.name: path.read_bytes() for path in folder.glob("s.*") if path.is_file()}


def meaning(folder: Path) -> Wrote:
    """Return what both models said, and the table and the items with the verdicts byte for byte."""
    files = ("meaning.parquet", "items.jsonl")
    written = {name: (folder / "out" / name).read_bytes() for name in files}
    return rows(folder) | {path.name: "" for path in (folder / "out").iterdir()} | written


def report(folder: Path) -> Wrote:
    """Return tables and figures byte for byte, the names of all other files, and the features of the run."""
    out = folder / "report"
    compared = [path for part in ("tables", "figures") for path in (out / part).iterdir()]
    return features(folder) | names(out) | {str(path.relative_to(out)): path.read_bytes() for path in compared}


IMPORT = (
    "-m inference import table long.csv --item-column item --variant-column variant --model-column model "
    "--probability-columns yes=yes,no=no --out run"
)
RUN = f"-m inference run agreement --items items.yaml --out run --model {' '.join(MODELS)}"
TUNE = (
    f"-m inference tune nli --model {DEMO / 'models' / 'waver-demo-bert'} --data rows.jsonl --rates 0.01,0.001 "
    "--epochs 1,2 --seeds 2 --device cpu --out tuned"
)
BUILD = (
    f"-m inference choice build world.jsonl --out s.jsonl --min-words 1 --judge-model {MODELS[1]} --judge-max-tokens 4 "
    "--form plain --batch-size 8"
)
TUNING = """
[training]
learning_rate = 0.003
per_device_train_batch_size = 4
logging_steps = 4
eval_steps = 4
[lora]
r = 4
"""
TUNE_CHOICE = (
    f"-m inference tune choice --run run --model {DEMO / 'models' / 'waver-demo-mini-tuned'} --config settings.toml "
    "--device cpu --out tuned"
)
MEANING = (
    f"-m inference meaning items.yaml --out out --check words entailment={DEMO / 'models' / 'waver-demo-encoder'} "
    f"judge={MODELS[1]} --batch-size 8"
)
COMMANDS = {
    "run": Command(questions, RUN, rows),
    "import": Command(long_table, IMPORT, rows),
    "features": Command(many_wordings, "-m analysis features run", features),
    "report": Command(one_model, "-m analysis report run --out report -p resamples=20", report),
    "meaning": Command(few_questions, MEANING, meaning),
    "plan": Command(questions, "-m inference run plan.toml", rows),
    "build": Command(choices, BUILD, building),
    "tune": Command(labelled_pairs, TUNE, tuning),
    "tune-choice": Command(right_answers, TUNE_CHOICE, tuning),
}


@dataclass(frozen=True)
class Undisturbed:
    """Hold what a command wrote undisturbed, and its seconds until the first change on disk and until its end."""

    wrote: Wrote
    first: float
    seconds: float


@dataclass(frozen=True)
class Trial:
    """Hold how a command was killed, and in what it differs afterwards from an undisturbed one."""

    kills: list[str]
    faults: list[str]


def start(command: Command, folder: Path, mark: str) -> subprocess.Popen[bytes]:
    """Call a command in a folder, as the leader of a process group; its temporary files go to `tmp` there."""
    aside = folder / "tmp"
    aside.mkdir(exist_ok=True)
    own = {MARK: mark, "TMPDIR": str(aside), "JUPYTER_RUNTIME_DIR": str(aside), "PYTHONPATH": str(ROOT)}
    with (folder / "log").open("ab") as log:
        return subprocess.Popen(
            [sys.executable, *command.call.split()], cwd=folder, stdout=log, stderr=log, start_new_session=True,
            env={**os.environ, "TOKENIZERS_PARALLELISM": "false", "HF_HUB_OFFLINE": "1", **own},
        )  # fmt: skip


def changed(folder: Path) -> set[tuple[str, int]]:
    """Return what is on disk, to see whether anything changes."""
    found = set()
    for path in folder.rglob("*"):
        with contextlib.suppress(FileNotFoundError):  # renamed in between
            if path.name not in ("log", "tmp"):
                found.add((str(path), path.stat().st_mtime_ns))
    return found


def finish(process: subprocess.Popen[bytes], folder: Path) -> None:
    """Wait for the end of a command that must succeed."""
    if process.wait(600):
        raise SystemExit(f"{folder}: ended with {process.returncode}:\n{(folder / 'log').read_text()[-3000:]}")


def undisturbed(command: Command, folder: Path) -> Undisturbed:
    """Run a command to its end, and measure it."""
    folder.mkdir(parents=True)
    command.prepare(folder)
    before, began, first = changed(folder), time.monotonic(), 0.0
    process = start(command, folder, "undisturbed")
    while process.poll() is None:
        first = first if first or changed(folder) == before else time.monotonic() - began
        time.sleep(0.005)
    finish(process, folder)
    return Undisturbed(command.wrote(folder) | temporary(folder), first, time.monotonic() - began)


def kill(command: Command, folder: Path, expected: Undisturbed, mark: str, chance: random.Random) -> str:
    """Start a command and kill it; return how and when, or nothing where it ended first.

    One in four is killed before the first change on disk, the others a random time after it: on a busy machine the
    seconds of an undisturbed one say little about when that is.
    """
    early, group = chance.random() < 0.25, chance.random() < 0.5
    wait = chance.uniform(0, expected.first if early else expected.seconds - expected.first)
    before, began = changed(folder), time.monotonic()
    process = start(command, folder, mark)
    while not early and process.poll() is None and changed(folder) == before:
        time.sleep(0.002)
    try:
        process.wait(wait)
    except subprocess.TimeoutExpired:
        (os.killpg if group else os.kill)(process.pid, signal.SIGKILL)
        process.wait()
        return f"{'group' if group else 'parent'} {time.monotonic() - began:.1f} s"
    finish(process, folder)
    return ""


def running(mark: str) -> list[psutil.Process]:
    """List the processes of an attempt, whoever their parent is by now."""
    found = []
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error):
            if process.environ().get(MARK) == mark and process.status() != psutil.STATUS_ZOMBIE:
                found.append(process)
    return found


def stayed(mark: str) -> list[str]:
    """Wait until no process of an attempt runs; end those that stay, and name them."""
    deadline = time.monotonic() + SECONDS
    while (left := running(mark)) and time.monotonic() < deadline:
        time.sleep(0.05)
    found = []
    for process in left:
        found.append(f"process stays: {process}")
        process.kill()
    return found


def trial(command: Command, folder: Path, expected: Undisturbed, most: int, chance: random.Random) -> Trial:
    """Kill a command up to `most` times in a row, run it to its end, and compare."""
    folder.mkdir()
    command.prepare(folder)
    *marks, last = (f"{folder}/{number}" for number in range(most + 1))
    kills, faults = [], []
    for mark in marks:
        if how := kill(command, folder, expected, mark, chance):
            kills.append(how)
            if chance.random() < 0.5:  # else it is called again at once
                faults += stayed(mark)
    finish(start(command, folder, last), folder)
    for mark in (*marks, last):
        faults += stayed(mark)
    wrote, whole = command.wrote(folder) | temporary(folder), expected.wrote
    faults += [f"missing: {each}" for each in sorted(whole.keys() - wrote.keys())]
    faults += [f"left over: {each}" for each in sorted(wrote.keys() - whole.keys())]
    faults += [f"differs: {each}" for each in sorted(whole.keys() & wrote.keys()) if wrote[each] != whole[each]]
    return Trial(kills, faults)


def trials(name: str, work: Path, kills: int, seed: int) -> list[Trial]:
    """Make trials of a command until it was killed so many times."""
    command, chance, done = COMMANDS[name], random.Random(seed), []
    expected = undisturbed(command, work / "undisturbed" / name)
    while (left := kills - sum(len(each.kills) for each in done)) > 0:
        folder = work / f"{name}-{len(done) + 1}"
        made = trial(command, folder, expected, min(left, chance.randint(1, 3)), chance)
        print(
            f"{folder.name}: killed: {', '.join(made.kills) or 'never'}: {'; '.join(made.faults) or 'equal'}",
            flush=True,
        )
        if not made.faults:
            shutil.rmtree(folder)
        done.append(made)
    return done


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=14, help="how many in all (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--commands", nargs="+", choices=COMMANDS, default=list(COMMANDS))
    args = parser.parse_args()
    work = Path(tempfile.mkdtemp(prefix="kills-"))
    shares = [len(range(n, args.kills, len(args.commands))) for n in range(len(args.commands))]
    with ThreadPoolExecutor(2) as pool:
        calls = enumerate(zip(args.commands, shares, strict=True))
        waiting = {name: pool.submit(trials, name, work, share, 1000 * args.seed + n) for n, (name, share) in calls}
        done = {name: each.result() for name, each in waiting.items()}
    wrong = 0
    for name, each in done.items():
        faulty = sum(bool(made.faults) for made in each)
        print(f"{name}: {sum(len(made.kills) for made in each)} kills in {len(each)} trials, {faulty} with faults")
        wrong += faulty
    print(f"look at {work}") if wrong else shutil.rmtree(work)
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
