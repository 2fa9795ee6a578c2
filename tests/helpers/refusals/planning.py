"""Plans from pilots of scores and of multiple choice that do not tell what is asked."""

from __future__ import annotations

from collections.abc import Callable
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


def _ruled(*sentences: str, name: str = "rules.toml") -> Callable[[Path], None]:
    """Scores in several prompts, and a file of rules."""

    def make(folder: Path) -> None:
        prompted(folder / "run")
        rules = "".join(f'[[rule]]\nrequire = "{sentence}"\n' for sentence in sentences)
        (folder / name).write_text(rules, encoding="utf-8")

    return make


CHECK = "analysis plan run --check rules.toml"
_SCORE = "not worse by 0.05 in score"
CASES = [
    Case("a plan of flips of scores", f"{PLAN} --measure flips", ("'flips'", "known here: score"), _prompted),
    Case("a plan of nothing", f"{PLAN} --measure=", ("--measure: is empty",), _prompted),
    Case("a plan as JSON of flips of scores", f"{PLAN} --json --measure flips", ("'flips'",), _prompted),
    Case("a plan of agreement of scores", f"{PLAN} --measure agreement", ("'agreement'", "known here: score"),
         _prompted),
    Case("a plan from exact scores of one prompt", PLAN, ("two items", "two wordings", "two samples"), _exact),
    Case("a plan from single samples of one prompt", PLAN, ("two items", "two samples"), _single),
    Case("a plan from choices with a gap", PLAN, ("'q001'", "order 3", "repeat the command"),
         run(without("paraphrase-2/3"))),
    Case("an SD of choices", f"{PLAN} --measure sd", ("'sd'", "known here: accuracy"), run(lambda rows: rows)),
    Case("a plan of a check and of an error", f"{CHECK} --se 0.1", ("--se", "not allowed with", "--check"),
         _ruled(_SCORE)),
    Case("a plan of a check without its file", CHECK, ("rules.toml",), _prompted),
    Case("a plan of a check by one measure", f"{CHECK} --measure score", ("--measure", "its file says what is decided"),
         _ruled(_SCORE)),
    Case("a power of a standard error", f"{PLAN} --power 0.9", ("--power is not for --se", "--difference"), _prompted),
    Case("a change without a check", f"{PLAN} --change 0.1", ("--change", "add --check FILE"), _prompted),
    Case("a change that is none", f"{CHECK} --change -1", ("--change -1", "above 0"), _ruled(_SCORE)),
    Case("a change within the margin", f"{CHECK} --change 0.01", ("within the margin 0.05", _SCORE), _ruled(_SCORE)),
    Case("a plan of a rule on what the pilot lacks", CHECK, ("in accuracy", "measures here: score"),
         _ruled("not worse in accuracy")),
    Case("a plan of a rule on a model that the pilot lacks", CHECK, ("models", "no 'nobody'"), lambda folder: (
        _prompted(folder), (folder / "rules.toml").write_text(
            f"[[rule]]\nrequire = '{_SCORE}'\nmodels = ['nobody']\n", encoding="utf-8"))),
]  # fmt: skip
