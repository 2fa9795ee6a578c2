"""Run the command `waver select RUN --out LIST`: whether a judge is right in all, some or no wordings of a question."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from ground.errors import InputError
from ground.parser import parse_path

COMMAND = "select"
HELP = "list every question with whether a judge is right in all, some or no wordings of it, for `choice build`"
DESCRIPTION = (
    "Write a line (JSON) per question: the wordings that the judge answers rightly in all orders of the options, and "
    "what follows from that (all wordings: consistently confident; some: inconsistent confidence; none: consistently "
    "unconfident). Print one JSON object: how many questions are of each class, and the judge's accuracy by wording "
    "(Choi, sections 2 and 4.3, Table 8)."
)
EXAMPLE = "example: waver select study.judge --out study.selected.jsonl"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of the command."""
    parser.epilog = EXAMPLE
    parser.add_argument("run", metavar="RUN", help="run folder of a judge, of protocol choice")
    parser.add_argument("--out", required=True, type=parse_path, metavar="LIST", help="a .jsonl file")
    parser.add_argument("--model", default="", metavar="M", help="the judge, where the run has several models")
    parser.add_argument("--condition", default="", metavar="C", help="of the judge, where the run has several")


def _refuse_overwriting_unless_selection_list(out: Path) -> None:
    """Refuse to write over anything but such a list: a file of questions has the same ending."""
    if not out.exists():
        return
    with out.open("rb") as file:
        first = file.readline(10_000)
    if b'"perfectly_correct"' not in first:
        raise InputError(f"--out {out}: this file is there, and is no list of selected questions; give another name")


def main(args: argparse.Namespace) -> int:
    """Write the list and print the counts."""
    from analysis import runs
    from analysis.measures.choices import PROTOCOL, read_choice_studies
    from analysis.pages.choice.selection import (
        build_question_selection_records,
        select_judge_answers,
        summarize_question_classes_and_accuracy,
    )
    from ground.writing import write_atomically

    if args.out.suffix.lower() != ".jsonl":
        raise InputError(f"--out {args.out}: the list is written as JSON lines; let the name end in .jsonl")
    if args.out.is_dir():
        raise InputError(f"--out {args.out}: this is a folder; give another name")
    _refuse_overwriting_unless_selection_list(args.out)
    choice_studies = read_choice_studies(runs.open_runs(args.run, protocols=(PROTOCOL,)))
    if len(choice_studies) > 1:
        raise InputError(f"{args.run} holds several studies; give the run folder of one")
    judge = select_judge_answers(choice_studies[0], args.model, args.condition)
    text = "".join(f"{json.dumps(record, ensure_ascii=False)}\n" for record in build_question_selection_records(judge))
    write_atomically(args.out, lambda temporary: temporary.write_text(text, encoding="utf-8"))
    print(json.dumps(summarize_question_classes_and_accuracy(judge), indent=1, ensure_ascii=False))
    return 0
