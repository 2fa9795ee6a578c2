"""Run the command `waver compare A B`."""

from __future__ import annotations

import argparse
import json
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ground.errors import InputError, format_message_on_one_line
from ground.extras import refuse_missing_packages
from ground.numerals import parse_finite_number
from ground.parser import parse_path
from ground.progress import print_warning

if TYPE_CHECKING:
    import pandas as pd

COMMAND = "compare"
HELP = "tell whether two runs, or two logs, of the same items differ, measure by measure"
DESCRIPTION = (
    "Compare two runs of the same items by every measure that both have: the difference with its interval, a test, and "
    "what it would take to decide. A and B are run folders, folders of run folders, or logs of Inspect, lm-eval or "
    "HELM as they are."
)
PRINTS = True
FORMATS = ("text", "csv", "markdown")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of the command."""
    parser.usage = f"{parser.prog} A B [options]"
    parser.epilog = f"example: {parser.prog} logs/old.eval logs/new.eval --json"
    parser.add_argument("a", metavar="A", help="run folder or log")
    parser.add_argument("b", metavar="B", help="the other one, with the same items")
    parser.add_argument("--measure", nargs="+", default=[], metavar="NAME", help="only these measures (default: all)")
    for side in "ab":
        parser.add_argument(
            f"--model-{side}", default="", metavar="NAME",
            help=f"the model of {side.upper()} (default: the only one, else models of equal names)",
        )  # fmt: skip
    for side in "ab":
        parser.add_argument(
            f"--condition-{side}", default="", metavar="NAME",
            help=f"the condition of {side.upper()} (default: the only one, else those of equal names)",
        )  # fmt: skip
    for side in "ab":
        parser.add_argument(
            f"--name-{side}", default="", metavar="TEXT",
            help=f"what --json and --page call {side.upper()} (default: its path)",
        )  # fmt: skip
        parser.add_argument(f"--path-{side}", default="", help=argparse.SUPPRESS)  # of the log that waver.py imported
    parser.add_argument(
        "--margin", type=parse_finite_number, metavar="M",
        help="a difference below M counts as none: tells what is equivalent (in the unit of the measure; 0 to 1 where "
        "it has a range)",
    )  # fmt: skip
    output_form = parser.add_mutually_exclusive_group()
    output_form.add_argument(
        "--format", choices=FORMATS, default="text", help="lines (default), or a table with all columns"
    )
    output_form.add_argument(
        "--json", action="store_true", help="print JSON, as analysis/compare/schema.json explains it"
    )
    parser.add_argument(
        "--page",
        type=parse_path,
        metavar="FILE",
        help="write a page, too: FILE.html, which holds figure, tables and texts",
    )
    parser.add_argument("--out", type=parse_path, metavar="FILE", help="write to a file in place of standard output")


def main(args: argparse.Namespace) -> int:
    """Compare both sides, and print lines, a table or JSON.

    Raises
    ------
    InputError
        A side is no run, nothing is in both, an option names what is not there, the margin is not above 0, or a file
        cannot be written or would replace a part of a side.
    """
    if args.margin is not None and args.margin <= 0:
        raise InputError(f"--margin {args.margin:g}: give a difference above 0, such as 0.02")
    for option, path in (("--out", args.out), ("--page", args.page)):
        if path:
            _refuse_unusable_output_file(option, path, (args.a, args.b, args.path_a, args.path_b))
    if args.page:
        _refuse_page_that_cannot_be_made(args.page, args.out)
    from analysis import runs
    from analysis.compare.measures import compare_paired_runs
    from analysis.compare.pairing import pair_studies_of_two_run_sets
    from analysis.compare.pairs import Chosen
    from analysis.reporting.output.notebooks import resolve_path_here_or_in_notebooks

    chosen = Chosen(args.measure, (args.model_a, args.model_b), (args.condition_a, args.condition_b), args.margin)
    for path in (args.a, args.b):
        if Path(path).is_file():
            raise InputError(
                f"{path}: a file is no run folder; logs are read by `waver compare A B`, with A and B first"
            )
    paired = pair_studies_of_two_run_sets(
        *(runs.open_runs(resolve_path_here_or_in_notebooks(path)) for path in (args.a, args.b))
    )
    rows = compare_paired_runs(paired, chosen)
    paths = args.path_a or args.a, args.path_b or args.b
    names = args.name_a or paths[0], args.name_b or paths[1]
    if args.page:
        _write_comparison_page(args, paths, names)
    text = (
        _format_rows_as_json(rows, paired.notes, names, args.margin)
        if args.json
        else _format_rows_as_lines_csv_or_markdown(rows, args.format)
    )
    if not args.json:
        for note in paired.notes:
            print_warning(format_message_on_one_line(f"note: {note}"))
    if args.out:
        from ground.writing import write_atomically

        write_atomically(args.out, lambda aside: aside.write_text(text, encoding="utf-8", newline=""))
    else:
        sys.stdout.buffer.write(text.encode())
    return 0


def _refuse_unusable_output_file(option: str, out: Path, sides: Sequence[str]) -> None:
    """Raise InputError where the file has no folder, is one, a pipe or a device, or is a part of a side."""
    if not out.parent.is_dir():
        raise InputError(f"{option} {out}: there is no folder {out.parent}; make it first")
    if out.is_dir():
        raise InputError(f"{option} {out}: this is a folder; give the name of a file")
    if out.exists() and not out.is_file():  # a pipe or a device, which a file would replace
        raise InputError(f"{option} {out}: this is not an ordinary file; give the name of one")
    for side in filter(None, sides):
        path = Path(side).expanduser()
        if out.exists() and (out.resolve() == path.resolve() or path.resolve() in out.resolve().parents):
            raise InputError(f"{option} {out}: this file is there already, as a part of {side}; give a new one")


def _refuse_page_that_cannot_be_made(page: Path, out: Path | None) -> None:
    """Raise InputError where a page cannot be made, or not in this file."""
    if page.suffix.lower() not in (".html", ".htm"):
        raise InputError(f"--page {page}: a page is a file of HTML; give a name that ends with .html")
    if out and out.resolve() == page.resolve():
        raise InputError(f"--page {page}: --out has the same file; give two")
    refuse_missing_packages("a page", "papermill", "nbconvert", "ipykernel")


def _write_comparison_page(args: argparse.Namespace, paths: tuple[str, str], names: tuple[str, str]) -> None:
    """Write the page of the call."""
    from analysis.compare.page_file import write_page

    pairs = {"models": (args.model_a, args.model_b), "conditions": (args.condition_a, args.condition_b)}
    parameters: dict[str, Any] = {
        "a": args.a, "b": args.b, "measures": args.measure, "margin": args.margin or 0.0, "names": list(names),
        **{name: list(chosen) for name, chosen in pairs.items()},
    }  # fmt: skip
    options = [
        part
        for name in ("model_a", "model_b", "condition_a", "condition_b", "name_a", "name_b")
        if (value := getattr(args, name))
        for part in (f"--{name.replace('_', '-')}", value)
    ]
    options += ["--measure", *args.measure] if args.measure else []
    options += ["--margin", str(args.margin)] if args.margin else []
    command = shlex.join(["waver", "compare", *paths, *options, "--page", str(args.page)])
    write_page(args.page, parameters, " and ".join(names), command)


def _format_rows_as_lines_csv_or_markdown(rows: pd.DataFrame, form: str) -> str:
    """Write the rows as lines, CSV or a Markdown table."""
    from analysis.compare.verdicts import iterate_lines_about_compared_rows
    from analysis.reporting.catalogue.grid import escape_markdown, render_csv
    from analysis.reporting.words import format_four_digits
    from ground.spreadsheet import escape_formula

    if form == "csv":
        texts = rows.select_dtypes(exclude=["number", "bool"])  # names are of models, and of strangers' logs
        return render_csv(rows.assign(**{name: texts[name].map(escape_formula) for name in texts}))
    if form == "text":
        return "".join(f"{line}\n" for line in iterate_lines_about_compared_rows(rows))
    texts = [
        [format_four_digits(value) if isinstance(value, float) else str(value) for value in row]
        for row in rows.astype(object).itertuples(index=False)
    ]
    cells = [[escape_markdown("" if text == "nan" else text) for text in row] for row in texts]
    lines = [list(rows.columns), ["---"] * len(rows.columns), *cells]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def _format_rows_as_json(rows: pd.DataFrame, notes: list[str], names: tuple[str, str], margin: float | None) -> str:
    """Write the rows as JSON, in which an undefined number is null."""
    from analysis.reporting.catalogue.grid import convert_to_json_value

    content = {
        "format": 1, "a": names[0], "b": names[1], "margin": margin, "notes": notes,
        "comparisons": convert_to_json_value(rows.to_dict("records")),
    }  # fmt: skip
    return json.dumps(content, indent=1, ensure_ascii=False, allow_nan=False) + "\n"
