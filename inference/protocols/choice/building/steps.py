"""Count what every step of building keeps and leaves out, per source: Choi, Tables 2 and 4, and more."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from ground import spreadsheet
from ground.errors import format_quantity
from inference.stimuli.questions import SPLITS, Question

COLUMNS, SUFFIX = ("step", "source", "count", "reason"), ".building.csv"
LEFT_OUT_COLUMNS = ("item", "source", "step", "reason", "text")
SOURCED, FILTERED, REWORDED = "initially sourced", "after filters", "after paraphrasing"
SELECTED = "after selection"


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A question that a step leaves out: the first reason that holds, and the text (the question, or what a model
    wrote)."""

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
    kept_questions: tuple[Question, ...]
    left_out: tuple[LeftOut, ...] = ()
    reasons: tuple[str, ...] = ()

    def describe_questions_left_and_dropped(self) -> str:
        """Say in one line how many questions are left, and why others are not."""
        counts = Counter(left_out.reason for left_out in self.left_out)
        reasons_words = "; ".join(f"{counts[reason]:,} {reason}" for reason in self.reasons if counts[reason])
        n_kept_words = format_quantity(len(self.kept_questions), "question")
        return f"{self.name}: {n_kept_words}" + (f"; left out: {reasons_words}" if reasons_words else "")


def iterate_question_counts_by_step_and_source(steps: Sequence[Step]) -> Iterator[tuple[str, str, int, str]]:
    """Yield the rows of the table of steps: per step and source what was kept (no reason), then what was left out.

    The last rows count the questions of each split, as steps of their own: there, the source is the subset.
    """
    sources = list(dict.fromkeys(question.source or "" for question in steps[0].kept_questions))
    for step in steps:
        kept_counts = Counter(question.source or "" for question in step.kept_questions)
        left_counts = Counter((left_out.question.source or "", left_out.reason) for left_out in step.left_out)
        for source in sources:
            yield step.name, source, kept_counts[source], ""
            yield from ((step.name, source, left_counts[source, reason], reason) for reason in step.reasons)
    split_counts = Counter(
        (question.split, question.subset or "") for question in steps[-1].kept_questions if question.split
    )
    for split in SPLITS if split_counts else ():
        yield from (
            (split, subset, split_counts[split, subset], "")
            for subset in dict.fromkeys(name for _, name in split_counts)
        )


def write_step_tables(study_path: Path, steps: Sequence[Step]) -> None:
    """Write STUDY.building.csv and STUDY.left-out.csv beside a study, each atomically.

    Parameters
    ----------
    study_path
        The file of the study, which need not be there yet.
    steps
        The steps that were made, in order.
    """
    spreadsheet.write_spreadsheet_csv(
        study_path.with_suffix(SUFFIX), COLUMNS, iterate_question_counts_by_step_and_source(steps)
    )
    left_rows = (
        (left_out.question.item, left_out.question.source, step.name, left_out.reason, left_out.text)
        for step in steps
        for left_out in step.left_out
    )
    spreadsheet.write_spreadsheet_csv(study_path.with_suffix(".left-out.csv"), LEFT_OUT_COLUMNS, left_rows)


def list_lines_of_split_counts_per_subset(questions: Iterable[Question]) -> list[str]:
    """Say in a line per subset how many questions each split has (Choi, Table 4)."""
    counts = Counter((question.subset or "no subset", question.split) for question in questions)
    return [
        f"  {subset}: " + ", ".join(f"{counts[subset, split]:,} {split}" for split in SPLITS)
        for subset in dict.fromkeys(subset for subset, _ in counts)
    ]
