"""Plans from pilots of scores and of multiple choice that do not tell what is asked."""

from __future__ import annotations

from pathlib import Path

from helpers.prompted_runs import prompted
from helpers.refusals import Case
from helpers.refusals.choice_gaps import run, without
from helpers.scoring_runs import make_run, one_judge

PLAN = "analysis plan run --se 0.1"


def _prompted(folder: Path) -> None:
    prompted(folder / "run")


def _exact(folder: Path) -> None:
    """Exact scores of one prompt: one wording, no samples."""
    make_run(folder / "run", {"g": 8}, ranges=[(0, 9)], temperatures=[0.7], methods=["exact"])


def _single(folder: Path) -> None:
    """One sample of each text in one prompt."""
    one_judge(folder / "run", [1.0, 5.0, 9.0], [10.0, 50.0, 90.0])


CASES = [
    Case("a plan of flips of scores", f"{PLAN} --measure flips", ("'flips'", "known here: score"), _prompted),
    Case("a plan of agreement of scores", f"{PLAN} --measure agreement", ("'agreement'", "known here: score"),
         _prompted),
    Case("a plan from exact scores of one prompt", PLAN, ("two items", "two wordings", "two samples"), _exact),
    Case("a plan from single samples of one prompt", PLAN, ("two items", "two samples"), _single),
    Case("a plan from choices with a gap", PLAN, ("'q001'", "order 3", "run it again"),
         run(without("paraphrase-2/3"))),
    Case("an SD of choices", f"{PLAN} --measure sd", ("'sd'", "known here: accuracy"), run(lambda rows: rows)),
]  # fmt: skip
