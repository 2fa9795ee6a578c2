"""Count what every step of building keeps and leaves out, per source: Choi, Tables 2 and 4, and more."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from inference.runfolder import spreadsheet
from inference.stimuli.questions import SPLITS, Question

COLUMNS = ("step", "source", "count", "reason")
LEFT_OUT_COLUMNS = ("item", "source", "step", "reason", "text")
SOURCED, FILTERED, REWORDED = "initially sourced", "after filters", "after paraphrasing"
SELECTED = "after selection"


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A question that a step leaves out: the first reason that holds, and what was found (the question, an answer)."""

    question: Question
    reason: str
    text: str


@dataclass(frozen=True, slots=True)
class Step:
    """One step of building.

    Attributes
    ----------
    reasons
        All reasons for which it leaves questions out, so that a reason without any is counted as 0.
    """

    name: str
    kept: tuple[Question, ...]
    left: tuple[LeftOut, ...] = ()
    reasons: tuple[str, ...] = ()

    def said(self) -> str:
        """Say in one line how many questions are left, and why others are not."""
        counts = Counter(each.reason for each in self.left)
        why = "; ".join(f"{counts[reason]:,} {reason}" for reason in self.reasons if counts[reason])
        many = f"{len(self.kept):,} question{'s' * (len(self.kept) != 1)}"
        return f"{self.name}: {many}" + (f"; left out: {why}" if why else "")


def rows(steps: Sequence[Step]) -> Iterator[tuple[str, str, int, str]]:
    """List the rows of the table of steps: per step and source what was kept (no reason), then what was left out.

    The last rows count the questions of each split, as steps of their own: there, the source is the subset.
    """
    sources = list(dict.fromkeys(question.source or "" for question in steps[0].kept))
    for step in steps:
        kept = Counter(question.source or "" for question in step.kept)
        left = Counter((each.question.source or "", each.reason) for each in step.left)
        for source in sources:
            yield step.name, source, kept[source], ""
            yield from ((step.name, source, left[source, reason], reason) for reason in step.reasons)
    drawn = Counter((question.split, question.subset or "") for question in steps[-1].kept if question.split)
    for split in SPLITS if drawn else ():
        yield from ((split, subset, drawn[split, subset], "") for subset in dict.fromkeys(name for _, name in drawn))


def write(study: Path, steps: Sequence[Step]) -> None:
    """Write STUDY.building.csv and STUDY.left-out.csv beside a study, each atomically."""
    spreadsheet.write(study.with_suffix(".building.csv"), COLUMNS, rows(steps))
    left = (
        (each.question.item, each.question.source, step.name, each.reason, each.text)
        for step in steps
        for each in step.left
    )
    spreadsheet.write(study.with_suffix(".left-out.csv"), LEFT_OUT_COLUMNS, left)


def subsets(questions: Iterable[Question]) -> list[str]:
    """Say in a line per subset how many questions each split has (Choi, Table 4)."""
    counts = Counter((question.subset or "no subset", question.split) for question in questions)
    return [
        f"  {subset}: " + ", ".join(f"{counts[subset, split]:,} {split}" for split in SPLITS)
        for subset in dict.fromkeys(subset for subset, _ in counts)
    ]
