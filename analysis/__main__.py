"""Run the commands of this wing: `waver report | table | show`, those of its parts, or `python -m analysis ...`.

A part or a page may have commands of its own; they are found by scanning (`ground.commands`), and have a DESCRIPTION,
too. One that only prints, unless `--out` names a file, says PRINTS = True.
"""

from __future__ import annotations

import argparse
import importlib
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ground.command import print_failure_and_return_status, run_command
from ground.commands import find_commands
from ground.errors import InputError, format_quantity
from ground.parser import CommandParser, parse_path, require_file_name
from ground.progress import add_loudness_options, print_warning

if TYPE_CHECKING:
    import pandas as pd

# Nothing heavy is imported up here or while the parsers are made: `--help` must answer at once.

PROGRAM = "python -m analysis"
ABOUT = {
    "report": "write the report: self-contained pages, tables, figures",
    "table": "print one table of the report",
    "show": "print single wordings: the prompt, the probabilities, what was written",
}
"""The commands of the wing as a whole; others are found by scanning (`ground.commands`)."""


def main(arguments: Sequence[str] | None = None, program: str = PROGRAM) -> int:
    """Run a command of this wing.

    Parameters
    ----------
    arguments
        The call without the program; None: that of this process.
    program
        How the user called it; usage and messages repeat that.

    Returns
    -------
    The exit status: 0 done, 1 it could not finish (as where a notebook failed), 2 the call or an input is wrong; others
    are a command's own.
    """
    call = list(sys.argv[1:] if arguments is None else arguments)

    def run_selected_command(options: argparse.Namespace) -> int:
        options.program = program
        status: int = options.main(options)
        return status

    return run_command(
        call,
        program,
        lambda: build_parser(program),
        run_selected_command,
        stopped_message="stopped",
        preferred_extra="features",
    )


def build_parser(program: str) -> argparse.ArgumentParser:
    """Build the parser of the commands report, table and show, and of those that are found by scanning."""
    parser = CommandParser(prog=program, description="Make a report, or one table of it, from run folders.")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    report = commands.add_parser(
        "report", help=ABOUT["report"],
        description="Run the notebooks that the runs have data for. Write self-contained pages with an index, tables "
        "as CSV and LaTeX with a data dictionary, and figures as SVG and PDF.",
        epilog="example: waver report results/demo --out results/demo/report -p resamples=2000",
    )  # fmt: skip
    report.set_defaults(main=_run_report_command)
    report.add_argument("runs", nargs="+", metavar="RUN", help="run folder")
    report.add_argument(
        "--out", required=True, type=parse_path, metavar="DIR", help="folder to write to; made if it does not exist"
    )
    report.add_argument(
        "--title", default="", metavar="TEXT", help="title of the report (default: which models answered what)"
    )
    report.add_argument(
        "--over-time", action="store_true",
        help="the runs may hold the same models, asked several times: pages are about the last time, and one more is "
        "about changes over time",
    )  # fmt: skip
    report.add_argument(
        "--single-file", action="store_true", help="write all pages, figures and tables as one file, too: DIR.html"
    )
    report.add_argument(
        "--json", action="store_true",
        help="print pages, verdicts, key numbers and paths as JSON, as analysis/reporting/schema.json explains it",
    )  # fmt: skip
    _add_parameter_option(
        report, "a parameter of the notebooks, such as thresholds=0.05,0.1; an unknown one is an error"
    )
    _add_where_option(report)
    _add_people_option(report)
    add_loudness_options(report)
    table = commands.add_parser(
        "table", help=ABOUT["table"],
        description="Print a table of the report to standard output: CSV or JSON with full precision, LaTeX or "
        "Markdown with few digits.",
        epilog="example: waver table results/demo stability --format latex",
    )  # fmt: skip
    table.set_defaults(main=_print_table_of_report, prints=True)
    table.add_argument("names", nargs="*", metavar="RUN... NAME", help="run folders, then the name of the table")
    output_form = table.add_mutually_exclusive_group()
    output_form.add_argument(
        "--format", choices=("csv", "json", "jsonl", "latex", "markdown"), default="csv",
        help="default: csv; json is a list of rows, jsonl a row per line",
    )  # fmt: skip
    output_form.add_argument(
        "--json", dest="format", action="store_const", const="json",
        help="the same as --format json; with --list, as analysis/reporting/catalogue/schema.json explains it",
    )  # fmt: skip
    table.add_argument("--columns", metavar="A,B", help="columns to write, in this order; default: all that there are")
    table.add_argument(
        "--width", choices=("column", "text", "page"),
        help="of a LaTeX table: the page or one column of a two-column paper, or the text of a one-column document; "
        "default: page",
    )  # fmt: skip
    table.add_argument(
        "--with-published", action="store_true",
        help="keep the rows that a paper printed, which column source names, among those of the runs",
    )  # fmt: skip
    table.add_argument("--list", action="store_true", help="name the tables; with NAME, explain its columns")
    _add_parameter_option(table, "an option of the table, such as resamples=2000 or thresholds=0.05,0.1")
    _add_where_option(table)
    _add_people_option(table)
    show = commands.add_parser(
        "show", help=ABOUT["show"],
        description="Print what the models read for single wordings, to the letter, and what each model answered.",
        epilog=f"example: {program} show results/demo/agreement --item tea-coffee --model waver-demo-small",
    )  # fmt: skip
    show.set_defaults(main=_print_prompts_and_answers, prints=True)
    show.add_argument("run", metavar="RUN", help="run folder")
    for option, metavar, about in (
        ("--item", "I", "its wordings (default: some of the first item)"),
        ("--model", "M", "only this model (default: the first ones)"),
        ("--condition", "C", "only under this condition (default: all)"),
    ):
        show.add_argument(option, metavar=metavar, help=about)
    for word, command in find_commands(Path(__file__).parent).items():
        if word not in ABOUT:
            module = importlib.import_module(command.module)
            command_parser = commands.add_parser(word, help=command.about, description=module.DESCRIPTION)
            command_parser.set_defaults(main=module.main, prints=getattr(module, "PRINTS", False))
            module.add_arguments(command_parser)
            if not command_parser.get_default("prints"):
                add_loudness_options(command_parser)
    return parser


def _add_parameter_option(parser: argparse.ArgumentParser, help_text: str) -> None:
    """Add the option -p NAME=VALUE, which may be given several times, to a parser."""
    parser.add_argument("-p", "--parameter", action="append", default=[], metavar="NAME=VALUE", help=help_text)


def _add_where_option(parser: argparse.ArgumentParser) -> None:
    """Add the option --where, which keeps a part of the runs, to a parser."""
    parser.add_argument(
        "--where", metavar="CONDITION",
        help="keep a part of the runs: a condition such as \"stage = 'tuned'\", or a CSV file of keys",
    )  # fmt: skip


def _parse_people_parameter(text: str) -> str:
    """Convert the file of --people to a parameter; ArgumentTypeError for an empty name."""
    return f"people={require_file_name(text)}"


def _add_people_option(parser: argparse.ArgumentParser) -> None:
    """Add the option --people, which is -p people=FILE, to a parser."""
    parser.add_argument(
        "--people", dest="parameter", action="append", type=_parse_people_parameter, metavar="FILE",
        help="what people answered to the items of a rating scale (docs/scales.md); the same as -p people=FILE",
    )  # fmt: skip


def _parse_parameters(texts: Sequence[str]) -> dict[str, str]:
    """Parse the texts NAME=VALUE of the option -p."""
    pairs = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals or not name:
            raise InputError(f"-p {text}: a parameter is given as name=value")
        if name.strip() in pairs:
            raise InputError(f"-p {name.strip()}: given twice; give it once")
        pairs[name.strip()] = value.strip()
    return pairs


def _run_report_command(options: argparse.Namespace) -> int:
    """Write the report of the run folders, print the path of its index, or all as JSON, and return the exit status."""
    from analysis.reporting.output.report import write_report

    parameters = _parse_parameters(options.parameter + [f"where={options.where}"] * bool(options.where))
    report = write_report(
        options.runs, options.out, parameters, title=options.title, single_file=options.single_file,
        over_time=options.over_time,
    )  # fmt: skip
    failed = report.failed_results
    status = 0 if not failed else 2 if all(result.wrong_input for result in failed) else 1
    if options.json:
        from analysis.reporting.output.summary import format_report_as_json

        sys.stdout.buffer.write(format_report_as_json(report, status).encode())
    else:
        print(options.out / "index.html")
        if report.single_file:
            print(report.single_file)
    if not failed:
        return 0
    return print_failure_and_return_status(
        options.program, status, f"failed: {', '.join(result.name for result in failed)}; the index says why"
    )


def _print_table_of_report(options: argparse.Namespace) -> int:
    """Print one table of the report in one of its forms, or the list of tables; return the exit status."""
    from analysis.reporting import catalogue
    from analysis.reporting.catalogue import tables

    if options.list:
        if options.format not in ("csv", "json"):
            raise InputError(f"--list has no form {options.format}; give --json, or no --format")
        write = tables.format_table_descriptions_as_json if options.format == "json" else tables.explain_tables
        sys.stdout.write(write(options.names))
        return 0
    if len(options.names) < 2:
        raise InputError(f"give run folders and then the name of a table; {catalogue.WHERE_LISTED['table']}")
    if options.width and options.format != "latex":
        raise InputError(f"--width {options.width} is of a LaTeX table: add --format latex, or leave it out")
    *folders, name = options.names
    if name not in catalogue.list_tables() and options.names[0] in catalogue.list_tables():
        raise InputError(
            f"give run folders and then the name of a table: waver table {shlex.join([*options.names[1:], folders[0]])}"
        )
    columns = None if options.columns is None else [key.strip() for key in options.columns.split(",")]
    frame = _build_named_table(folders, name, _parse_parameters(options.parameter), options.where or "")
    for note in frame.attrs.get("notes", ()):
        print_warning(note)
    own_rows = tables.exclude_published_rows(name, frame)
    if not options.with_published and len(own_rows) < len(frame):
        print_warning(
            f"{name}: left out: {format_quantity(len(frame) - len(own_rows), 'row')} that papers printed; "
            "--with-published has them"
        )
        frame = own_rows
    if frame.empty:
        print_warning(f"{name}: these runs have no rows for it")
    text = tables.render_table_in_text_format(name, frame, options.format, columns, options.width or "page")
    # Bytes, so that the line ends of the CSV are the same on every system.
    sys.stdout.buffer.write(text.encode("utf-8"))
    return 0


def _print_prompts_and_answers(options: argparse.Namespace) -> int:
    """Print the prompts of single wordings, their probabilities and what each model answered; return 0."""
    from analysis import runs
    from analysis.reporting.output.show import iterate_prompt_and_answer_lines

    for line in iterate_prompt_and_answer_lines(
        runs.open_runs(options.run), options.item or "", options.model or "", options.condition or ""
    ):
        sys.stdout.buffer.write(f"{line}\n".encode())
    return 0


def _build_named_table(folders: Sequence[str], name: str, parameters: dict[str, Any], where: str) -> pd.DataFrame:
    """Open the run folders that a table is about, or a part of them, and compute it."""
    from analysis import runs
    from analysis.reporting import catalogue
    from analysis.reporting.catalogue import tables

    catalogue.look_up_table(name)
    if "where" in parameters:
        # It is a parameter of the notebooks, so `waver report -p where=...` takes it.
        raise InputError(f"table {name} has no option 'where'; to keep a part of the runs say --where CONDITION")
    options = tables.convert_options_to_types_of_defaults(f"table {name}", parameters, tables.list_table_options(name))
    page = catalogue.map_page_names_to_catalogues()[catalogue.find_page_name_of_entry(name)]
    if not where:
        opened = runs.open_runs(*folders, protocols=page.protocols, over_time=page.over_time)
        return tables.build_table(name, opened, **options)
    from analysis.reporting.output.exploring import Run

    part = Run(folders, page.over_time).where(where)
    return tables.build_table(name, part.open_runs_of_protocols(page.protocols), **options)


if __name__ == "__main__":
    sys.exit(main())
