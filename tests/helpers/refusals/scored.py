"""Wrong scores: in tables for `waver import table`, and in run folders of protocol `scored`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd

from helpers.answer_tables import IDS
from helpers.refusals import Case
from helpers.scored_runs import write_scored

HEADER = "model,item,variant,text,F1,EM\n"
TABLE = HEADER + "m,1,original,Tea?,0.5,1\nm,1,a,Is it tea?,0.25,0\n"


def scores(*words: str) -> tuple[str, ...]:
    """The call that imports the scores of t.csv into the folder `run`."""
    return ("inference", "import", "table", "t.csv", *IDS, *words, "--out", "run")


F1 = ("--score-column", "F1")


def written(scored: list[float], **fields: Any) -> Callable[[Path], None]:
    """A run folder `run` with these scores by F1, whose condition has these fields."""

    def into(folder: Path) -> None:
        rows = pd.DataFrame({"item": "1", "variant": [f"w{n}" for n in range(len(scored))], "score": scored})
        about = {"measure": "F1", "range": [0, 1], "direction": "higher"} | fields
        write_scored(folder / "run", rows.assign(condition="F1"), {"F1": about})

    return into


MEANS = "analysis table run scored_means"
FITTED = "analysis table run mixed"  # `run.mixed` fits them
CASES = [
    Case("a score outside the range", scores(*F1, "--score-range", "0-0.4"),
         ("t.csv, row 2", "'F1'", "'0.5'", "outside", "0-0.4", "say --score-range F1=LOW-HIGH"), {"t.csv": TABLE}),
    Case("a score below the range", scores("--score-column", "EM", "--score-range", "1-5"),
         ("t.csv, row 3", "'EM'", "'0'", "outside"), {"t.csv": TABLE}),
    Case("text in a score column", scores("--score-column", "EM", *F1),
         ("t.csv, row 3", "'F1'", "'good'", "not a number"), {"t.csv": TABLE.replace("0.25", "good")}),
    Case("a comma in a score", scores(*F1),
         ("t.csv, row 3", "point, not a comma"), {"t.csv": TABLE.replace("0.25", '"0,25"')}),
    Case("an infinite score", scores(*F1),
         ("t.csv, row 3", "'inf'", "not a number"), {"t.csv": TABLE.replace("0.25", "inf")}),
    Case("two scores of one name", scores(*F1, *F1), ("two scores", "'F1'"), {"t.csv": TABLE}),
    Case("a score column without any score", scores(*F1),
         ("'F1'", "no score in any row"), {"t.csv": HEADER + "m,1,a,Tea?,,1\nm,1,b,Is it tea?,NA,0\n"}),
    Case("a score that is not there", scores("--score-column", "f1"),
         ("t.csv", "'f1'", "nearest is 'F1'"), {"t.csv": TABLE}),
    Case("the direction of a score that is not there", scores(*F1, "--lower-is-better", "EM"),
         ("--lower-is-better EM", "no score called 'EM'", "F1"), {"t.csv": TABLE}),
    Case("the range of a score that is not there", scores(*F1, "--score-range", "F2=0-1"),
         ("F2", "no score called", "F1"), {"t.csv": TABLE}),
    Case("a range that is none", scores(*F1, "--score-range", "1"), ("--score-range 1", "0-1"), {"t.csv": TABLE}),
    Case("the ends of a range in the wrong order", scores(*F1, "--score-range", "1-0"),
         ("--score-range 1-0", "lower one first"), {"t.csv": TABLE}),
    Case("two ranges for one score", scores(*F1, "--score-range", "F1=0-1", "--score-range", "F1=0-2"),
         ("F1=0-2", "another range"), {"t.csv": TABLE}),
    Case("a range without scores", scores("--score-range", "0-1", "--probability-columns", "a=F1,b=EM"),
         ("--score-range", "--score-column"), {"t.csv": TABLE}),
    Case("a right answer beside scores", scores(*F1, "--gold-column", "EM"), ("--gold-column",), {"t.csv": TABLE}),
    Case("a score column that is the item", scores("--score-column", "item"), ("'item'", "twice"), {"t.csv": TABLE}),
    Case("repeated scores", scores(*F1),
         ("t.csv, row 4", "--repeated samples"), {"t.csv": TABLE + "m,1,a,Is it tea?,0.5,1\n"}),
    # run folders
    Case("a direction that is none", MEANS, ("run.json", "'F1'", "'up'", "higher or lower"),
         written([0.5, 1.0], direction="up")),
    Case("a range of a run that is none", MEANS, ("run.json", "'F1'", "range"), written([0.5, 1.0], range=[1, 0])),
    Case("scores of no measure", MEANS, ("run.json", "'F1'", "measure"), written([0.5, 1.0], measure=None)),
    Case("a stored score outside its range", MEANS, ("part-", "score", "1.5", "outside the range"),
         written([0.5, 1.5])),
    Case("a stored score that is outside a range of fractions", MEANS, ("part-", "score", "outside the range"),
         written([0.25, 0.75], range=[0, 0.5])),
    Case("mixed models of scores as a table", FITTED, ("run", "no run of protocol agreement", "found: scored"),
         written([0.5, 1.0])),
]  # fmt: skip
