"""Wrong calls of `waver baseline`, and baselines that a check cannot be made against."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

from analysis import runs
from analysis.check.baseline import save_baseline
from helpers.refusals import Case, write_once
from helpers.scored_runs import draw_scores, write_scored
from helpers.synthetic import random_frame, write_run

CHECK = "analysis check run --rules rules.toml --against old"
SAVE = "analysis baseline save run --as old"
WORSE = "not worse in agreement"


@write_once
def _save(folder: Path) -> None:
    """Write a run, and the same run as the baseline `old`."""
    run = write_run(folder / "run", random_frame(["m"], items=6))
    save_baseline(runs.open_runs(run), "old", folder / "baselines" / "old")


def _write(folder: Path, rule: str = WORSE) -> None:
    """Write a run, the same run as the baseline `old`, and a rule."""
    _save(folder)
    (folder / "rules.toml").write_text(f"[[rule]]\nrequire = '{rule}'\n", "utf-8")


def _rule(sentence: str) -> Callable[[Path], None]:
    """Write the same with another rule."""
    return lambda folder: _write(folder, sentence)


def _damage(file: str) -> Callable[[Path], None]:
    """Write the same, and add a byte to a file of the baseline; or remove it."""

    def write(folder: Path) -> None:
        _write(folder)
        path = folder / "baselines" / "old" / file
        path.write_bytes(path.read_bytes() + b" ") if path.suffix != ".json" else path.unlink()

    return write


def _edit(**fields: object) -> Callable[[Path], None]:
    """Write the same, and change what the baseline says of itself."""

    def write(folder: Path) -> None:
        _write(folder)
        path = folder / "baselines" / "old" / "run.json"
        info = json.loads(path.read_text("utf-8"))
        info["baseline"] |= fields
        path.write_text(json.dumps(info), "utf-8")

    return write


def _replace(make: Callable[[Path], object]) -> Callable[[Path], None]:
    """Write the same, and another run in place of the run."""

    def write(folder: Path) -> None:
        _write(folder)
        (folder / "run").rename(folder / "first")
        make(folder / "run")

    return write


def _add(*files: str, rule: str = WORSE) -> Callable[[Path], None]:
    """Write the same, and empty files."""

    def write(folder: Path) -> None:
        _write(folder, rule)
        for file in files:
            (folder / file).parent.mkdir(parents=True, exist_ok=True)
            (folder / file).write_text("", "utf-8")

    return write


def _save_two(folder: Path) -> None:
    """Write the same, and one more baseline, of another model."""
    _write(folder)
    other = write_run(folder / "other", random_frame(["n"], items=6))
    save_baseline(runs.open_runs(other), "new", folder / "baselines" / "new")


def _save_pair(folder: Path) -> None:
    """Write the same, and a baseline `old` of two run folders, of which one lacks its run.json."""
    _write(folder)
    for model in ("m", "n"):
        write_run(folder / "pair" / model, random_frame([model], items=6))
    save_baseline(runs.open_runs(folder / "pair"), "old", folder / "baselines" / "old", replaces=True)
    (folder / "baselines" / "old" / "n" / "run.json").unlink()


FRAME = random_frame(["m"], items=6)
OTHER = ["yes", "no"]
CASES = [
    Case("no verb", "analysis baseline", ("required", "VERB")),
    Case("no name", "analysis baseline save run", ("required", "--as"), _write),
    Case("a name that is a path", "analysis baseline save run --as ../old", ("--as '../old'", "letters"), _write),
    *(Case(f"a name that Windows does not open: {name}", f"analysis baseline save run --as {name}",
           (f"--as {name}: Windows cannot open",), _write) for name in ("CON", "aux.txt", "v1.")),
    Case("no run", "analysis baseline save runs --as new", ("runs", "no such run folder"), _write),
    Case("a name that is taken", SAVE, ("baselines/old", "already", "--replace"), _write),
    Case("a folder that is no baseline", f"{SAVE} --to first --replace", ("first", "no baseline", "--to"),
         lambda folder: (_write(folder), write_run(folder / "first", FRAME))),
    Case("the run itself", f"{SAVE} --to run --replace", ("--to run", "the run itself"), _write),
    Case("a folder of baselines", f"{SAVE} --to baselines --replace", ("baselines/old", "no part of the baseline"),
         _write),
    Case("a baseline with a file of the user's", f"{SAVE} --replace", ("note.md", "no part of the baseline"),
         _add("baselines/old/note.md")),
    Case("a folder of two baselines as a place", f"{SAVE} --to baselines --replace", ("no part of the baseline",),
         _save_two),
    Case("a place in the run", f"{SAVE} --to run/in", ("--to run/in", "around it"), _write),
    Case("a place around the run", f"{SAVE} --to . --replace", ("--to .", "in it"), _write),
    Case("a place without a name", f"{SAVE} --to /", ("--to /", "another"), _write),
    Case("several baselines", CHECK.replace("old", "baselines"), ("several baselines", "new, old", "give one"),
         _save_two),
    Case("a baseline without the run.json of a part", CHECK, ("baselines/old", "lacks the folder n"), _save_pair),
    Case("other answers, compared", "analysis compare run baselines/old", ("changed after it was saved",),
         _edit(name="new")),
    Case("a file in a baseline given by name", f"{CHECK} --junit baselines/old/run.json", ("is a part of old",),
         _write),
    Case("a condition that is in neither", CHECK, ("conditions", "'plain/yes'", "'plain/yes-no'"),
         lambda folder: (_write(folder), (folder / "rules.toml").write_text(
             f"[[rule]]\nrequire = '{WORSE}'\nconditions = ['plain/yes-no', 'plain/yes']\n", "utf-8"))),
    Case("a baseline of a baseline", "analysis baseline save baselines/old --as new", ("baseline already",), _write),
    Case("nothing of that name to show", "analysis baseline show odl", ("odl", "'old'", "baseline save"), _write),
    Case("a run to show", "analysis baseline show run", ("run", "no baseline", "baseline save"), _write),
    Case("no such baseline", CHECK.replace("old", "odl"), ("odl", "the nearest is 'old'"), _write),
    Case("a baseline with other stimuli", CHECK, ("baselines/old", "changed after it was saved"),
         _damage("stimuli.parquet")),
    Case("a baseline with other answers", CHECK, ("changed after it was saved", "restore"),
         _damage("responses/part-baseline.parquet")),
    Case("a baseline without run.json", CHECK, ("baselines/old", "run.json is missing"), _damage("run.json")),
    Case("a baseline of another hash", CHECK, ("changed after it was saved",), _edit(name="new")),
    Case("a baseline of a newer format", CHECK, ("format 2", "saved by Waver 9", "update"),
         _edit(format=2, version="9")),
    Case("a baseline that says nothing of itself", CHECK, ("run.json", "baseline", "whole number"),
         _edit(format="one")),
    Case("other texts", CHECK, ("the run and the baseline have no item in common", "text, options or right answer"),
         _replace(lambda path: write_run(path, FRAME.assign(text=FRAME["item"] + " otherwise " + FRAME["variant"])))),
    Case("other options", CHECK, ("no item in common", "canonical is"),
         _replace(lambda path: write_run(path, FRAME, canonical=OTHER))),
    Case("another study", CHECK, ("no item in common", "protocol is scored in the run and agreement"),
         _replace(lambda path: write_scored(path, draw_scores(["m"], items=6, wordings=1)))),
    Case("other items", CHECK, ("no item in common", "only the run has 6 items"),
         _replace(lambda path: write_run(path, FRAME.assign(item=FRAME["item"] + "x")))),
    Case("a measure that is not in both", CHECK, ("'agreemnt'", "'agreement'"), _rule("not worse in agreemnt")),
    Case("a ranking of one model", CHECK, ("'ranking as before'", "two models"), _rule("ranking as before")),
]  # fmt: skip
