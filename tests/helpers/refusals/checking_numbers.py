"""Rules on numbers that a run does not have, or does not tell."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from helpers.refusals import Case
from helpers.scored_runs import draw_scores, write_scored
from helpers.synthetic import random_frame, write_run

CHECK = "analysis check run --rules rules.toml"
LIKE = "wordings = 'like these'"


def _require(sentence: str, more: str = "") -> Callable[[Path], None]:
    """Write a run whose items share their wordings, and one rule."""

    def write(folder: Path) -> None:
        write_run(folder / "run", random_frame(["gpt2", "opt"], items=6))
        (folder / "rules.toml").write_text(f"[[rule]]\nrequire = '{sentence}'\n{more}\n", "utf-8")

    return write


def _judge(sentence: str, more: str = "") -> Callable[[Path], None]:
    """Write a run of scores in one wording, and one rule."""

    def write(folder: Path) -> None:
        write_scored(folder / "run", draw_scores(["m"], items=6, wordings=1, measures=("likert",)))
        (folder / "rules.toml").write_text(f"[[rule]]\nrequire = '{sentence}'\n{more}\n", "utf-8")

    return write


CASES = [
    Case("an unknown measure", CHECK, ("no measure 'agreemnt'", "'agreement'"), _require("agreemnt >= 0.5")),
    Case("a measure of other runs", CHECK, ("no measure 'score'", "agreement, flips"), _require("score >= 0.5")),
    Case("a column that this run does not make", CHECK, ("no column 'flip_11'",), _require("stability.flip_11 <= 0.5")),
    Case("a table of another protocol", CHECK, ("table choice", "of agreement"), _require("choice.accuracy >= 0.5")),
    Case("a condition of no row", CHECK, ("no row of 'chat'", "plain/yes-no"),
         _require("stability.flip_10 <= 0.5", "conditions = ['chat']")),
    Case("a condition of no measure", CHECK, ("no agreement under 'chat'", "plain/yes-no"),
         _require("agreement >= 0.5", "conditions = ['chat']")),
    Case("a table without rows", CHECK, ("published", "no row for this run"), _require("published.flip_10 <= 0.5")),
    Case("wordings like those that items share", CHECK, ("share their wordings", "wording_precision.mean"),
         _require("stability.flip_10 <= 0.5", LIKE)),
    Case("flips in wordings like shared ones", CHECK, ("flips of wordings like these", '"these"'),
         _require("flips <= 0.5", LIKE)),
    Case("wordings like the only one", CHECK, ("no item has two wordings",), _judge("likert >= 0.5", LIKE)),
    Case("a limit beyond a range", CHECK, ("share of its range", "3.5"), _judge("likert >= 3.5")),
]  # fmt: skip
