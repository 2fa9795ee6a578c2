"""Run the commands of this wing: `waver report | table | show | features | export`, or `python -m analysis ...`.

A page may have a command of its own name: then its folder has a file `command.py` with HELP, DESCRIPTION,
`add_arguments(parser)` and `main(options)`; `command_NAME.py` is the same for a command NAME. One that writes no file
but only prints says PRINTS = True.
"""

from __future__ import annotations

import argparse
import importlib
import os
import re
import sys
from collections.abc import Sequence
from itertools import takewhile
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from analysis import extras
from analysis.errors import InputError, nearest, one_line, system_failure

if TYPE_CHECKING:
    import pandas as pd

# Nothing heavy is imported up here or while the parsers are made: `--help` must answer at once.

PROGRAM = "python -m analysis"
HALF = re.compile("[\ud800-\udfff]")
"""What stands for a byte that is not UTF-8: nothing can print it."""


class Parser(argparse.ArgumentParser):
    """Parse a command line; report a wrong call in one line."""

    def error(self, message: str) -> NoReturn:
        """Print the message and where to find help; exit with status 2."""
        self.exit(2, f"{one_line(f'{self.prog}: {message}')} (see {self.prog} --help)\n")

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Parse a call; what a command does not know is refused by that command, with the nearest option."""
        if self._subparsers is not None:
            return super().parse_known_args(args, namespace)
        for word in takewhile(lambda word: word != "--", sys.argv[1:] if args is None else args):
            option = word.partition("=")[0]
            if option.startswith("--") and " " not in option and option not in self._option_string_actions:
                self.error(f"unknown option {option}{nearest(option, self._option_string_actions)}")
        known, rest = super().parse_known_args(args, namespace)
        if rest:
            self.error(f"unrecognized arguments: {' '.join(rest)}")
        return known, rest

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        if action.choices is not None and value not in action.choices:
            known = list(map(str, action.choices))
            raise argparse.ArgumentError(
                action, f"invalid choice: {value!r}{nearest(str(value), known)}; choose from {', '.join(known)}"
            )


def main(arguments: Sequence[str] | None = None, program: str = PROGRAM) -> int:
    """Run a command and return its exit status: 0 done, 1 a notebook failed, 2 the call or an input is wrong.

    `program` is how the user called it; usage and messages repeat that.
    """
    closed = sys.stdout is None  # by the caller: `>&-`
    _open_closed_streams()
    call = list(sys.argv[1:] if arguments is None else arguments)
    for before, word in zip(["", *call], call, strict=False):
        if HALF.search(word):
            option = f"{before} " if before.startswith("--") else ""
            return _fail(
                program, 2, f"{option}{word[:80]!a}: not a name or text (half of a surrogate pair); give another"
            )
    options = _parser(program).parse_args(call)
    options.program = program
    if closed and getattr(options, "prints", False):
        return _fail(
            program, 2, f"{call[0]}: standard output is closed, and all that it makes goes there; leave it open"
        )
    try:
        with extras.needed(call[0]):
            status: int = options.main(options)
        sys.stdout.flush()
    except InputError as error:
        return _fail(program, 2, str(error))
    except KeyboardInterrupt:
        return _fail(program, 1, "stopped")
    except BrokenPipeError:  # the reader (`head`, a pager) has seen enough
        _drop_output()
        return 0
    except RuntimeError as error:
        if not str(error).startswith("Symlink loop"):  # as pathlib says it; all else is a fault of ours
            raise
        return _fail(program, 2, f"{error}; give another file or folder")
    except OSError as error:
        if error.errno is None:  # not the operating system's: a fault of ours
            raise
        _drop_output()
        return _fail(program, *system_failure(error))
    return status


def _open_closed_streams() -> None:
    """Let what a caller closed (`>&-`) lead nowhere, for child processes, too: else files take its number."""
    for number, name in ((1, "stdout"), (2, "stderr")):
        if getattr(sys, name) is None:
            nowhere = os.open(os.devnull, os.O_WRONLY)
            if nowhere == number:
                os.set_inheritable(nowhere, True)
            else:
                os.dup2(nowhere, number)
                os.close(nowhere)
            setattr(sys, name, open(number, "w", closefd=False))  # noqa: SIM115


def _drop_output() -> None:
    """Let Python's own flush at exit succeed where standard output takes nothing more."""
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _fail(program: str, status: int, message: str) -> int:
    print(one_line(f"{program}: {message}"), file=sys.stderr)
    return status


def _parser(program: str) -> argparse.ArgumentParser:
    parser = Parser(prog=program, description="Make a report, or one table of it, from run folders.")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    report = commands.add_parser(
        "report", help="write the report: self-contained pages, tables, figures",
        description="Run the notebooks that the runs have data for. Write self-contained pages with an index, tables "
        "as CSV and LaTeX with a data dictionary, and figures as SVG and PDF.",
        epilog="example: waver report results/demo --out results/demo/report -p resamples=2000",
    )  # fmt: skip
    report.set_defaults(main=_report)
    report.add_argument("runs", nargs="+", metavar="RUN", help="run folder")
    report.add_argument(
        "--out", required=True, type=Path, metavar="DIR", help="folder to write to; made if it does not exist"
    )
    report.add_argument("--title", default="", metavar="TEXT", help="title of the report (default: names of studies)")
    report.add_argument(
        "--single-file", action="store_true", help="write all pages, figures and tables as one file, too: DIR.html"
    )
    _add_parameters(report, "a parameter of the notebooks, such as thresholds=0.05,0.1; an unknown one is an error")
    table = commands.add_parser(
        "table", help="print one table of the report",
        description="Print a table of the report to standard output: CSV with full precision, LaTeX or Markdown with "
        "few digits.",
        epilog="example: waver table results/demo stability --format latex",
    )  # fmt: skip
    table.set_defaults(main=_table, prints=True)
    table.add_argument("names", nargs="*", metavar="RUN... NAME", help="run folders, then the name of the table")
    table.add_argument("--format", choices=("csv", "latex", "markdown"), default="csv", help="default: csv")
    table.add_argument("--columns", metavar="A,B", help="columns to write, in this order; default: all that there are")
    table.add_argument(
        "--width", choices=("column", "text", "page"), default="page",
        help="of a LaTeX table: the page or one column of a two-column paper, or the text of a one-column document; "
        "default: page",
    )  # fmt: skip
    table.add_argument("--list", action="store_true", help="name the tables; with NAME, explain its columns")
    _add_parameters(table, "an option of the table, such as resamples=2000 or thresholds=0.05,0.1")
    show = commands.add_parser(
        "show", help="print single wordings: the prompt, the probabilities, what was written",
        description="Print what the models read for single wordings, to the letter, and what each model answered.",
        epilog=f"example: {program} show results/demo/agreement --item tea-coffee --model waver-demo-small",
    )  # fmt: skip
    show.set_defaults(main=_show, prints=True)
    show.add_argument("run", metavar="RUN", help="run folder")
    show.add_argument("--item", default="", metavar="I", help="its wordings (default: some of the first item)")
    show.add_argument("--model", default="", metavar="M", help="only this model (default: the first ones)")
    show.add_argument("--condition", default="", metavar="C", help="only under this condition (default: all)")
    shared = {"features": "analysis.features.command", "export": "analysis.export.command"}
    for name, module in {**shared, **_commands_of_pages()}.items():
        command = importlib.import_module(module)
        own = commands.add_parser(name, help=command.HELP, description=command.DESCRIPTION)
        own.set_defaults(main=command.main, prints=getattr(command, "PRINTS", False))
        command.add_arguments(own)
    return parser


def _commands_of_pages() -> dict[str, str]:
    """Find the commands of pages: name -> module. A file `command.py` has its page's name, `command_X.py` has X."""
    found = sorted((Path(__file__).parent / "pages").glob("*/command*.py"))
    return {
        file.stem.removeprefix("command_") if "_" in file.stem else file.parent.name:
        f"analysis.pages.{file.parent.name}.{file.stem}" for file in found
    }  # fmt: skip


def _add_parameters(parser: argparse.ArgumentParser, about: str) -> None:
    parser.add_argument("-p", "--parameter", action="append", default=[], metavar="NAME=VALUE", help=about)


def _parameters(given: Sequence[str]) -> dict[str, str]:
    pairs = {}
    for text in given:
        name, equals, value = text.partition("=")
        if not equals or not name:
            raise InputError(f"-p {text}: a parameter is given as name=value")
        if name.strip() in pairs:
            raise InputError(f"-p {name.strip()}: given twice; give it once")
        pairs[name.strip()] = value.strip()
    return pairs


def _report(options: argparse.Namespace) -> int:
    from analysis.reporting.report import report, single

    results = report(options.runs, options.out, _parameters(options.parameter), title=options.title,
                     single_file=options.single_file)  # fmt: skip
    failed = [result for result in results if result.error]
    print(options.out / "index.html")
    if options.single_file:
        print(single(options.out))
    if not failed:
        return 0
    status = 2 if all(result.wrong_input for result in failed) else 1
    return _fail(options.program, status, f"failed: {', '.join(result.name for result in failed)}; the index says why")


def _table(options: argparse.Namespace) -> int:
    from analysis.reporting import catalogue, tables

    if options.list:
        sys.stdout.write(tables.explain(options.names))
        return 0
    if len(options.names) < 2:
        raise InputError(f"give run folders and then the name of a table; {catalogue.LISTED['table']}")
    *folders, name = options.names
    columns = None if options.columns is None else [key.strip() for key in options.columns.split(",")]
    frame = _frame(folders, name, _parameters(options.parameter))
    text = tables.render(name, frame, options.format, columns, options.width)
    # Bytes, so that the line ends of the CSV are the same on every system.
    sys.stdout.buffer.write(text.encode("utf-8"))
    return 0


def _show(options: argparse.Namespace) -> int:
    from analysis import runs
    from analysis.reporting.show import show

    for line in show(runs.open(options.run), options.item, options.model, options.condition):
        sys.stdout.buffer.write(f"{line}\n".encode())
    return 0


def _frame(folders: Sequence[str], name: str, given: dict[str, Any]) -> pd.DataFrame:
    from analysis import runs
    from analysis.reporting import catalogue, tables

    catalogue.table(name)
    values = tables.convert(f"table {name}", given, tables.options(name))
    protocols = catalogue.pages()[catalogue.page_of(name)].protocols
    return tables.build(name, runs.open(*folders, protocols=protocols), **values)


if __name__ == "__main__":
    sys.exit(main())
