"""Wrong calls of `waver compare`, and sides that have nothing to compare."""

from __future__ import annotations

import os
from pathlib import Path

from helpers.refusals import Case, write_once
from helpers.scored_runs import draw_scores, write_scored
from helpers.synthetic import random_frame, write_run

COMPARE = "analysis compare A B"


@write_once
def _scores(folder: Path) -> None:
    """Two runs of the same items, with two models each."""
    frame = draw_scores(["m", "n"], items=6, wordings=1, measures=("F1",))
    write_scored(folder / "A", frame)
    write_scored(folder / "B", frame)


def _page_in_run(folder: Path) -> None:
    """Two runs, of which the first holds a page."""
    _scores(folder)
    (folder / "A" / "p.html").write_text("mine", encoding="utf-8")


def _others(folder: Path) -> None:
    """Runs of other items."""
    write_scored(folder / "A", draw_scores(["m"], items=6, wordings=1))
    write_scored(folder / "B", draw_scores(["m"], items=6, wordings=1).assign(text="Something else."))


def _protocols(folder: Path) -> None:
    """Runs of two protocols."""
    write_scored(folder / "A", draw_scores(["m"], items=6, wordings=1))
    write_run(folder / "B", random_frame(["m"], items=6))


def _large(folder: Path) -> None:
    """Runs of scores that cannot be squared."""
    frame = draw_scores(["m"], items=6, wordings=1, measures=("ms",))
    for side, sign in (("A", 1), ("B", -1)):
        write_scored(folder / side, frame.assign(score=frame["score"] * sign * 1e200))


def _models(folder: Path) -> None:
    """Two models on each side, and none in both."""
    for side, names in (("A", ["m", "n"]), ("B", ["o", "p"])):
        write_scored(folder / side, draw_scores(names, items=6, wordings=1))


CASES = [
    Case("no run folder", COMPARE, ("A", "no such run folder")),
    Case("a log, and the wing that reads none", "analysis compare a.eval a.eval", ("a.eval", "waver compare"),
         {"a.eval": "x"}),
    Case("one side", "analysis compare A", ("required", "B"), _scores),
    Case("a measure that is not there", f"{COMPARE} --measure F2", ("'F2'", "known here: F1"), _scores),
    Case("a model that is not there", f"{COMPARE} --model-a mm", ("--model-a 'mm'", "known: m, n"), _scores),
    Case("a condition that is not there", f"{COMPARE} --condition-b f1", ("--condition-b 'f1'", "F1"), _scores),
    Case("a margin of 0", f"{COMPARE} --margin 0", ("--margin 0", "above 0"), _scores),
    Case("a margin that is no number", f"{COMPARE} --margin nan", ("--margin: nan is not a number",), _scores),
    Case("two formats", f"{COMPARE} --json --format csv", ("not allowed with",), _scores),
    Case("no folder to write to", f"{COMPARE} --out no/table.csv", ("--out", "there is no folder no"), _scores),
    Case("a folder to write to", f"{COMPARE} --out .", ("--out .", "is a folder"), _scores),
    Case("no name to write to", f"{COMPARE} --page=", ("--page: is empty",), _scores),
    *(Case(f"nothing after {option}", f"{COMPARE} {option}=", (f"{option}: is empty",), _scores)
      for option in ("--model-a", "--condition-b", "--name-a", "--measure")),
    Case("a file of A to write to", f"{COMPARE} --out A/run.json", ("A/run.json", "part of A", "new one"), _scores),
    Case("a pipe to write to", f"{COMPARE} --out pipe", ("--out pipe", "not an ordinary file"),
         lambda folder: (_scores(folder), os.mkfifo(folder / "pipe"))),
    Case("no folder for the page", f"{COMPARE} --page no/p.html", ("--page", "there is no folder no"), _scores),
    Case("a page that is no HTML", f"{COMPARE} --page p.pdf", ("--page p.pdf", "ends with .html"), _scores),
    Case("a page and a table in one file", f"{COMPARE} --out p.html --page p.html", ("--out has the same file",),
         _scores),
    Case("a page in a file of A", f"{COMPARE} --page A/p.html", ("A/p.html", "part of A"), _page_in_run),
    Case("a page without the packages for it", f"{COMPARE} --page p.html", ("a page needs", "papermill"), _scores,
         without=("papermill",)),
    Case("a page of sides that have nothing in common", f"{COMPARE} --page p.html", ("no item in common",), _others),
    Case("scores too large", COMPARE, ("measure ms", "too large to be squared", "--measure"), _large),
    Case("no item in common", COMPARE, ("no item in common", "left out", "give two runs"), _others),
    Case("two protocols", COMPARE, ("no item in common", "protocol is scored in A and agreement in B"), _protocols),
    Case("no model in common", COMPARE, ("no model", "only A has the model m, n", "by --model-a"), _models),
]  # fmt: skip
