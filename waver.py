"""The command `waver`, and what a notebook needs of Waver.

The command is handed over to the wing that has it; the other wing is not imported. ::

    import waver

    run = waver.ask(items, "gpt2", out="runs/first")  # items: a DataFrame, a list of dicts or a path
    run = waver.open("results/demo")
    run.responses()             # rows as a DataFrame; run.wordings(), run.items(), run.models()
    run.sql("SELECT model, count(*) FROM responses GROUP BY model")
    run.table("stability")      # a table of the report; run.tables() lists them
    run.figure("overview")      # a matplotlib figure
"""

from __future__ import annotations

import contextlib
import difflib
import io
import os
import sys
import tempfile
from collections.abc import Sequence
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from analysis.reporting.output.exploring import Run

__all__ = ["ask", "open"]
WINGS = ("inference", "analysis")
COMPARE = "compare"  # the command of `analysis` that takes logs, too, which `inference` imports
ROOT = Path(__file__).resolve().parent
HELP = """usage: waver COMMAND ...
       waver COMMAND --help
       waver --version

Ask a language model the same question in many wordings, and tell how far its answers change.

ask models:
{inference}

read what they answered:
{analysis}
{outside}
first steps:
  waver preview agreement --items statements.csv --model gpt2
  waver run agreement --items statements.csv --model gpt2 --out runs/first
  waver report runs/first --out runs/first/report
"""


class NameTaken(ImportError):
    """A folder or file of the user's has the name of a part of Waver; the line names it, and says what to do."""

    def _render_traceback_(self) -> list[str]:
        """Return what a notebook shows: the line alone."""
        return [f"{type(self).__name__}: {self}"]


def refuse_modules_hiding_waver() -> None:
    """Refuse to go on where Python would take a folder of the user's for a part of Waver.

    In a notebook, Python looks for modules beside it first.

    Raises
    ------
    NameTaken
        If a module of the name of a part comes from elsewhere.
    """
    for name in ("ground", *WINGS):
        spec = find_spec(name)
        origin = Path(spec.origin).resolve() if spec and spec.origin else None
        if origin is None or origin.parent != ROOT / name:
            other = origin.parent if origin and origin.name == "__init__.py" else origin
            raise NameTaken(
                f"{other or name} is in the way: Waver has a part that is called {name}; rename yours (a folder "
                "without __init__.py is not in the way), or start Python in another folder"
            )


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command and return its exit status: 0 done, 1 it could not finish, 2 the call or an input is wrong."""
    for stream in (sys.stdout, sys.stderr):
        if sys.platform == "win32" and isinstance(stream, io.TextIOWrapper) and not stream.isatty():
            stream.reconfigure(encoding="utf-8")  # as every file of ours; else what a file gets depends on the machine
    call = list(sys.argv[1:] if arguments is None else arguments)
    word = call[0] if call else ""
    commands_by_wing = list_commands_by_package()
    if "_ARGCOMPLETE" in os.environ:  # a shell asks what may stand next
        _print_shell_completions_and_exit(commands_by_wing)
    if word == COMPARE:
        return _run_compare_command(call)
    for wing, commands in commands_by_wing.items():
        if word in commands:
            status: int = import_module(f"{wing}.__main__").main(call, "waver")
            return status
    if word in ("-h", "--help"):
        lists = {wing: _format_commands_with_descriptions(commands) for wing, commands in commands_by_wing.items()}
        print(HELP.format_map({**lists, "outside": _format_additions_of_other_packages()}), end="")
    elif word == "--version":
        from ground.version import read_waver_version

        print(f"waver {read_waver_version() or '(a checkout that is not installed)'}")
    else:
        print(f"waver: {_describe_wrong_command(word, commands_by_wing)} (see waver --help)", file=sys.stderr)
        return 2
    return 0


def _print_shell_completions_and_exit(commands_by_wing: dict[str, dict[str, str]]) -> None:
    """Print for a shell what may stand next in the call that it is writing (argcomplete), and exit.

    Nothing is printed where argcomplete is not installed.
    """
    import argparse

    # The call up to the cursor; of a command whose name is complete, the parser of its wing knows the rest.
    line = os.environ.get("COMP_LINE", "")[: int(os.environ.get("COMP_POINT", "0"))]
    call = line.split()[1:] if line[-1:].isspace() else line.split()[1:-1]
    with contextlib.suppress(ImportError):
        import argcomplete

        for wing, commands in commands_by_wing.items():
            if call and call[0] in commands:
                module = import_module(f"{wing}.__main__")
                parser = (
                    module.build_parser("waver")
                    if wing == "analysis"
                    else module.build_parser_importing_only_called_command(call, "waver")
                )
                argcomplete.autocomplete(parser)
        parser = argparse.ArgumentParser("waver")
        parser.add_argument("--version", action="store_true")
        words = parser.add_subparsers()
        for word, about in (pair for commands in commands_by_wing.values() for pair in commands.items()):
            words.add_parser(word, help=about.replace("%", "%%"))
        argcomplete.autocomplete(parser)
    sys.exit(0)


def _run_compare_command(call: list[str]) -> int:
    """Run `waver compare A B ...`: a side that is a log becomes a run folder, for as long as the command runs."""
    from ground.command import print_failure_and_return_status
    from ground.errors import InputError, describe_os_error_with_exit_status

    sides = call[1:3]
    if any(word.startswith("-") for word in sides) and not {"-h", "--help"} & set(call):
        return print_failure_and_return_status(
            "waver", 2, "compare: give A and B first, then options (a name that begins with - as ./-name)"
        )
    try:
        with tempfile.TemporaryDirectory(prefix="waver-compare-") as folder:
            words = []
            for side, word in zip("AB", sides, strict=False):
                imported = _import_log_if_word_names_one(word, Path(folder) / side)
                if isinstance(imported, int):
                    return imported
                words.append(imported)
            log_paths = [
                f"--path-{side}={given}" for side, given, path in zip("ab", sides, words, strict=False) if path != given
            ]
            return int(import_module("analysis.__main__").main([call[0], *words, *log_paths, *call[3:]], "waver"))
    except InputError as error:
        return print_failure_and_return_status("waver", 2, str(error))
    except KeyboardInterrupt:
        return print_failure_and_return_status("waver", 1, "stopped")
    except OSError as error:
        if error.errno is None:  # not the operating system's: a fault of ours
            raise
        return print_failure_and_return_status("waver", *describe_os_error_with_exit_status(error))


def _import_log_if_word_names_one(word: str, run_folder: Path) -> str | int:
    """Import a log into a run folder, and return this; else the word as it is, or the status of a failed import."""
    if word.startswith("-"):
        return word
    path = Path(word)
    call = import_module("inference.importers.shared.log_kinds").list_import_arguments_of_log(path)
    if call is None:
        return word
    lines = io.StringIO()
    with contextlib.redirect_stdout(lines):
        status: int = import_module("inference.__main__").main(
            [*call, f"--name={path.absolute().stem or 'log'}", "--out", str(run_folder)], "waver", "stopped"
        )
    for line in lines.getvalue().splitlines():
        if "left out" in line:
            print(f"{word}: {line}", file=sys.stderr)
    return status or str(run_folder)


def ask(items: Any, models: Any, protocol: str = "agreement", out: Any = "runs/first", **options: Any) -> Run:
    """Ask models about items in many wordings, as `waver run PROTOCOL` does, and open the run.

    The same call goes on where it was interrupted (in Jupyter: *Interrupt kernel*), and asks nothing twice.

    Parameters
    ----------
    items
        A pandas DataFrame or a list of dicts, with the columns that a file of items has, such as item and text; the
        path of a file; or `"demo"`. An index of a DataFrame is not read.
    models
        A model as the command names it: hub id, folder, NAME=FOLDER or `"demo"`; a pair (model, tokenizer) of
        transformers, which is asked as it is; a list of these; or a dict of name and model.
    protocol
        What is asked: agreement, choice, negation, scale, scoring or wording.
    out
        The run folder: a new one, or one of the same study to go on with.
    **options
        Those of `waver run PROTOCOL`, with `_` for `-`: `wordings=20`, `option_order=["yes-no", "no-yes"]`,
        `exact=True`. `--models FILE` is `models_file`. Messages name an option as the command does.

    Returns
    -------
    Run
        Its tables and figures, as `waver.open` gives them.

    Raises
    ------
    InputError
        Something in the call or the items is wrong; the one line says what, and what to do.
    RunFailed
        The call was interrupted, more prompts got no response than may fail, or some of several models could not be
        asked. The rows that there are stay.

    Examples
    --------
    >>> import pandas as pd, waver
    >>> items = pd.DataFrame(
    ...     {
    ...         "item": ["tea", "tea", "tea"],
    ...         "text": ["Tea is good.", "Tea is a good drink.", "It is good to drink tea."],
    ...     }
    ... )
    >>> run = waver.ask(items, "demo", out="runs/tea")  # doctest: +SKIP
    runs/tea: 9 models, 27 rows (27 of them new)
    """
    from ground.importing import import_without_interruption

    import_without_interruption("inference.from_python").ask_items_and_write_run_folder(
        items, models, protocol, out, options
    )
    return open(out)


def open(*folders: str | os.PathLike[str] | Sequence[str | os.PathLike[str]], over_time: bool = False) -> Run:
    """Open run folders: their rows, tables and figures.

    Parameters
    ----------
    *folders
        Run folders, or folders that hold run folders; a list stands for the folders in it. A relative path is looked
        up from the working directory, then from the folder of the notebooks.
    over_time
        Whether the folders may hold the same models, asked several times: the last time counts, and page `drift` has
        all of them.

    Returns
    -------
    Run
        See `analysis.reporting.output.exploring.Run`.

    Raises
    ------
    InputError
        For a folder that is no run folder, or run folders that contradict each other.
    """
    # Pandas and DuckDB take most of a second: `import waver` alone must not.
    from ground.importing import import_without_interruption

    import_without_interruption("analysis.reporting.output.exploring")
    from analysis.reporting.output.exploring import Run
    from analysis.reporting.output.notebooks import parse_run_folder_names

    return Run([name for folder in folders for name in parse_run_folder_names(folder)], over_time)


def list_commands_by_package() -> dict[str, dict[str, str]]:
    """List wing -> its commands and what they do; they are found by scanning, which imports neither wing."""
    from ground.commands import find_commands

    return {wing: {word: command.about for word, command in find_commands(ROOT / wing).items()} for wing in WINGS}


def _format_commands_with_descriptions(commands: dict[str, str]) -> str:
    """Write a line for every command: its name and what it does."""
    return "\n".join(f"  {name:<12}{about}" for name, about in commands.items())


def _format_additions_of_other_packages() -> str:
    """Write what other installed packages add, a line for each; nothing of them is imported."""
    from ground.outside_rooms import list_help_lines_of_packages_with_rooms

    lines = list_help_lines_of_packages_with_rooms()
    return "".join(["\nfrom other packages:\n", *(f"  {line}\n" for line in lines)]) if lines else ""


def _describe_wrong_command(word: str, commands_by_wing: dict[str, dict[str, str]]) -> str:
    """Say that a word is no command, and which command is most like it."""
    names = [name for commands in commands_by_wing.values() for name in commands]
    near = difflib.get_close_matches(word[:100], names, n=1)
    problem = f"there is no command {word[:80]!a}" if word else "give a command"
    return f"{problem}; did you mean {near[0]}?" if near else f"{problem}: {', '.join(names)}"


refuse_modules_hiding_waver()

if __name__ == "__main__":
    sys.exit(main())
