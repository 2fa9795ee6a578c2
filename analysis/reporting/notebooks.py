"""Read, check and execute notebooks; parameters are converted to their declared types before anything runs."""

from __future__ import annotations

import contextlib
import json
import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from analysis.errors import InputError, nearest, short
from analysis.reporting import keeper, temporary

if TYPE_CHECKING:
    from nbformat import NotebookNode

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "notebooks"


class NotebookFailed(Exception):
    """Report that a notebook ended with an error; `wrong_input`: the error is about what the notebook was given."""

    def __init__(self, reason: str, wrong_input: bool) -> None:
        super().__init__(reason)
        self.wrong_input = wrong_input


GIVEN = ("runs", "out")  # the report sets these itself
_FLAGS = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}


def locate(folder: str) -> Path:
    """Find a run folder: as given, or else relative to the folder of the notebooks."""
    if not str(folder):
        raise InputError("the name of a run folder is empty")
    path = Path(folder).expanduser()
    return path if path.exists() or not (FOLDER / path).exists() else FOLDER / path


def named(runs: Any) -> list[str]:
    """Return the run folders that a notebook is given: a list, or the name of one, as `papermill -p runs FOLDER` gives.

    Raises
    ------
    InputError
        For what is no name: papermill reads a folder called 2026 as a number.
    """
    folders = [runs] if isinstance(runs, str | int | float | os.PathLike) else list(runs or [])
    for folder in folders:
        if not isinstance(folder, str | os.PathLike):
            raise InputError(
                f"runs: {short(repr(folder))} is no name of a folder; with papermill, give it with -r, not -p"
            )
    return [str(folder) for folder in folders]


def question(notebook: Path) -> str:
    """Return the question that a notebook answers, which is the heading of its first cell."""
    cell = json.loads(notebook.read_text(encoding="utf-8"))["cells"][0]
    return "".join(cell["source"]).splitlines()[0].removeprefix("# ").strip()


def inspect(notebook: Path) -> dict[str, dict[str, str]]:
    """Read the typed parameters of a notebook: name -> {inferred_type_name, default, help}."""
    from papermill import inspect_notebook

    found: dict[str, dict[str, str]] = inspect_notebook(str(notebook))
    return found


def check(given: Mapping[str, Any], notebooks: Mapping[str, Path]) -> dict[str, dict[str, Any]]:
    """Convert and check parameters for some notebooks; each notebook gets the parameters that it has.

    Parameters
    ----------
    given
        Name -> value; texts, as they come from a command line, are converted to the declared type.
    notebooks
        Name -> file.

    Returns
    -------
    dict
        Notebook name -> its parameters.

    Raises
    ------
    InputError
        For a parameter that no notebook has, with the nearest and all names, or a value of another type.
    """
    known = {name: inspect(path) for name, path in notebooks.items()}
    described = {key: entry for entries in known.values() for key, entry in entries.items() if key not in GIVEN}
    for name in given:
        if name in GIVEN:
            raise InputError(
                f"parameter {name!r} is not given with -p: the call itself says which runs and which folder"
            )
        if name not in described:
            raise InputError(
                f"unknown parameter {short(repr(name))}{nearest(name, described)}; known are {', '.join(described)}"
            )
    return {
        notebook: {key: convert(value, entries[key], key) for key, value in given.items() if key in entries}
        for notebook, entries in known.items()
    }


def _describe(name: str, entry: Mapping[str, str]) -> str:
    return f"{name} ({entry['inferred_type_name']}, default {entry['default']}: {entry['help']})"


def convert(value: Any, entry: Mapping[str, str], name: str) -> Any:
    """Convert a value to the declared type of a parameter.

    >>> convert("0.05, 0.1", {"inferred_type_name": "list[float]", "help": ""}, "thresholds")
    [0.05, 0.1]
    """
    declared = entry["inferred_type_name"]
    element = declared.removeprefix("list[").removesuffix("]") if declared.startswith("list[") else declared
    one = _CONVERTERS.get(element)
    if one is None:
        raise InputError(f"parameter {name!r} has type {declared}, which cannot be given from outside")
    try:
        return [one(part) for part in _parts(value)] if declared.startswith("list[") else one(value)
    except (TypeError, ValueError) as error:
        raise InputError(
            f"parameter {_describe(name, {'default': '', **entry})}: {short(repr(value))} is not {declared}"
        ) from error


def _parts(value: Any) -> Sequence[Any]:
    if isinstance(value, list | tuple):
        return value
    text = str(value).strip()
    if text.startswith("["):
        return list(json.loads(text))
    return [part.strip() for part in text.split(",")]


def _integer(value: Any) -> int:
    if isinstance(value, bool | float):
        raise TypeError(value)
    return int(value)


def _number(value: Any) -> float:
    if isinstance(value, bool):
        raise TypeError(value)
    return float(value)


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(value)
    return value


def _flag(value: Any) -> bool:
    if isinstance(value, bool):
        return value
    return _FLAGS[str(value).lower()] if str(value).lower() in _FLAGS else _refuse(value)


def _refuse(value: Any) -> bool:
    raise ValueError(value)


_CONVERTERS: dict[str, Callable[[Any], Any]] = {"int": _integer, "float": _number, "str": _text, "bool": _flag}


def execute(source: Path, target: Path, values: Mapping[str, Any]) -> NotebookNode:
    """Run a notebook in a kernel of this interpreter, in the working directory of the call.

    Raises
    ------
    NotebookFailed
        For an error in a cell, or a kernel that is killed or does not start; the message is one line.
    """
    import papermill

    bar = {"desc": source.stem, "file": sys.stderr, "leave": False, "disable": None}
    log = target.with_suffix(".log")
    with temporary.folder() as own, log.open("wb") as stderr, _lifeline() as alive:
        try:
            node = papermill.execute_notebook(
                source, target, dict(values), progress_bar=bar, kernel_name="python3", language="python",
                kernel_manager_class=_kernel_manager(own, stderr, alive),
            )  # fmt: skip
        except _failures() as error:
            wrong = getattr(error, "ename", None) == InputError.__name__
            raise NotebookFailed(_reason(error), wrong) from error
        except OSError:  # no room, for example: what was begun is not whole
            target.unlink(missing_ok=True)
            log.unlink(missing_ok=True)
            raise
    log.unlink()
    return node


@contextlib.contextmanager
def _lifeline() -> Iterator[int]:
    """Open a pipe and yield the end to read from, which reads as closed as soon as this process is gone."""
    read, write = os.pipe()
    try:
        yield read
    finally:
        os.close(read)
        os.close(write)


def _kernel_manager(own: Path, stderr: IO[bytes], alive: int) -> type:
    """Return a kernel manager for this interpreter; a kernel registered as "python3" may be another environment's.

    Parameters
    ----------
    own
        A private folder for the kernel's temporary files. Where the system has them, manager and kernel talk over
        sockets in it, not over a port that another user of the machine could listen on.
    stderr
        A log file for what the process writes (a crash, for instance), which is deleted unless the notebook fails.
    alive
        From `_lifeline`: when it closes, the kernel is killed.
    """
    from jupyter_client.kernelspec import KernelSpec
    from jupyter_client.manager import AsyncKernelManager

    paths = os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH"))))
    # Neither Python nor ipykernel looks for modules in the working directory: a user's own `analysis.py` may be there.
    kernel = [sys.executable, "-P", "-m", "ipykernel_launcher", "--InteractiveShellApp.ignore_cwd=True"]
    kernel += ["-f", "{connection_file}"]
    spec = KernelSpec(
        argv=[sys.executable, "-I", "-S", str(keeper.__file__), *kernel], language="python", display_name="Python 3",
        env={"PYTHONPATH": paths, "PYDEVD_DISABLE_FILE_VALIDATION": "1", "MPLBACKEND": "agg", "TMPDIR": str(own)},
    )  # fmt: skip

    class ThisInterpreter(AsyncKernelManager):
        def __init__(self, **settings: Any) -> None:
            super().__init__(**settings)
            self.connection_file = str(own / "connection.json")
            if os.name == "posix":
                self.transport, self.ip = "ipc", str(own / "kernel")

        @property
        def kernel_spec(self) -> KernelSpec:
            return spec

        async def _async_start_kernel(self, **settings: Any) -> None:
            await super()._async_start_kernel(stdin=alive, stderr=stderr, **settings)

        start_kernel = _async_start_kernel

    return ThisInterpreter


def _failures() -> tuple[type[Exception], ...]:
    """Return the errors that papermill raises for an error in a cell and for a kernel that dies or does not start."""
    from nbclient.exceptions import CellControlSignal, DeadKernelError
    from papermill.exceptions import PapermillException

    return (PapermillException, DeadKernelError, CellControlSignal, RuntimeError)


def _reason(error: Exception) -> str:
    """Return the error of the cell that failed, in one line."""
    from papermill.exceptions import PapermillExecutionError

    if isinstance(error, PapermillExecutionError):
        return " ".join(f"{error.ename}: {error.evalue} (cell {error.exec_count})".split())
    return " ".join(f"{type(error).__name__}: {error}".split())
