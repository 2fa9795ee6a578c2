"""Call commands in other processes, quickly: these are forked from a server that has imported what commands need."""

from __future__ import annotations

import functools
import gc
import importlib
import multiprocessing
import os
import resource
import shutil
import sys
import tempfile
import time
import traceback
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib import metadata
from multiprocessing import forkserver
from multiprocessing.connection import Connection
from multiprocessing.context import ForkServerProcess
from pathlib import Path

ROOT = Path(__file__).parents[2]
_FORKS = multiprocessing.get_context("forkserver")
_PRELOADED = "helpers.preloaded"
_CEILING = 3 << 30  # bytes: what asks for more ends in a MemoryError, before this machine suffers
_MOST_CALLS, _MOST_MEGABYTES = 100, 750  # of a process that makes calls in turn: then it is another's turn
_PEAK_RESET = Path("/proc/self/clear_refs")  # Linux


@dataclass(frozen=True)
class Ended:
    """Hold how a call ended.

    Attributes
    ----------
    status
        Exit status; negative: the signal that ended it (-9 where it ran out of time).
    out, err
        What it wrote.
    seconds, megabytes
        Time taken, and the most memory held (of which some 400 MB are the imported libraries).
    """

    status: int
    out: str
    err: str
    seconds: float
    megabytes: float


def call(
    arguments: Sequence[str],
    folder: Path,
    notes: Path,
    seconds: float = 10,
    without: Sequence[str] = (),
    site: str = "",
    environment: Mapping[str, str] | None = None,
) -> Ended:
    """Call `python -m ARGUMENTS` inside a folder; kill it when the time is over.

    Parameters
    ----------
    arguments
        The wing, `inference` or `analysis`, or `waver`; then the words of its command.
    folder
        Where the command runs.
    notes
        A folder for what it writes on standard output and standard error; made, and removed in the end.
    without
        Modules that the command finds not installed.
    site
        Folder inside `folder` of packages that the command finds before all others, also another `analysis`; empty:
        none.
    environment
        Variables that it has beside those of the server.
    """
    notes.mkdir()
    process = forked(_main, list(arguments), str(folder), str(notes), tuple(without), site, dict(environment or {}))
    begun = time.monotonic()
    process.start()
    process.join(seconds)
    taken = time.monotonic() - begun
    if process.is_alive():
        process.kill()
        process.join()
    assert process.exitcode is not None
    return _read_notes(notes, process.exitcode, taken)


class Turns:
    """Make calls in turn in one process, which saves most of what a call costs; a new one where that one ends.

    What a process could carry from call to call is put back: folder, environment, arguments, streams, warnings, and the
    count of its memory. Libraries that a call imports stay imported, as the server's are for all.
    """

    def __init__(self) -> None:
        self._process: ForkServerProcess | None = None
        self._left = 0

    def call(self, arguments: Sequence[str], folder: Path, notes: Path, seconds: float = 10) -> Ended:
        """Call `python -m ARGUMENTS` inside a folder, as `call` does with every package that is installed."""
        notes.mkdir()
        if self._process is None:
            self._connection, other = _FORKS.Pipe()
            self._process = forked(_make_calls, other)
            self._process.start()
            other.close()  # else the end of that process would not be seen
            self._left = _MOST_CALLS
        begun = time.monotonic()
        self._connection.send((list(arguments), str(folder), str(notes)))
        try:
            status = self._connection.recv() if self._connection.poll(seconds) else None
        except EOFError:  # the process has ended
            self._process.join(seconds)
            status = None
        taken = time.monotonic() - begun
        if status is None:
            status = self.close()
        ended = _read_notes(notes, status, taken)
        self._left -= 1
        if not self._left or ended.megabytes > _MOST_MEGABYTES:
            self.close()
        return ended

    def close(self) -> int:
        """End the process; return its exit status."""
        process, self._process = self._process, None
        if process is None:
            return 0
        process.kill()  # unless it has ended
        process.join()
        self._connection.close()
        assert process.exitcode is not None
        return process.exitcode


def forked(target: Callable[..., object], *arguments: object) -> ForkServerProcess:
    """Fork a process, not started yet. Python keeps one server per process: who starts another way changes this one."""
    _serve()
    return _FORKS.Process(target=target, args=arguments)


@functools.cache
def _serve() -> None:
    """Start the server. It looks for modules along PYTHONPATH only, and goes on without those that it cannot find."""
    _FORKS.set_forkserver_preload([_PRELOADED])
    before = os.environ.get("PYTHONPATH")
    os.environ["PYTHONPATH"] = os.pathsep.join((str(ROOT), str(ROOT / "tests")))
    folder, tempfile.tempdir = tempfile.tempdir, None  # that of a test may be too long for the server's socket
    try:
        forkserver.ensure_running()
        first = _FORKS.Process(target=int)  # ends when the modules are there: the time they take is no call's
        first.start()
        first.join()
    finally:
        tempfile.tempdir = folder
        if before is None:
            del os.environ["PYTHONPATH"]
        else:
            os.environ["PYTHONPATH"] = before


def _hide(modules: tuple[str, ...]) -> None:
    """Have modules count as not installed: to Python, one that is None is not there. The commands are imported anew."""
    version = metadata.version

    def installed(name: str) -> str:
        if name.replace("-", "_") in modules:
            raise metadata.PackageNotFoundError(name)
        return version(name)

    if modules:
        metadata.version = installed
        _forget({*modules, "analysis", "ground", "inference"})
        sys.modules.update(dict.fromkeys(modules))  # type: ignore[arg-type]


def _forget(packages: set[str]) -> None:
    """Have packages imported anew."""
    for name in [name for name in sys.modules if name.partition(".")[0] in packages]:
        del sys.modules[name]


def _read_notes(notes: Path, status: int, seconds: float) -> Ended:
    """Read what a call wrote, and remove it."""
    out, err, peak = (_read(notes / name) for name in ("out", "err", "peak"))
    shutil.rmtree(notes)
    return Ended(status, out, err, seconds, float(peak or "nan"))


def _read(file: Path) -> str:
    return file.read_text(encoding="utf-8", errors="replace") if file.exists() else ""


def _main(
    arguments: list[str], folder: str, notes: str, without: tuple[str, ...], site: str, environment: dict[str, str]
) -> None:
    """Make one call, and end with its status."""
    assert _PRELOADED in sys.modules
    resource.setrlimit(resource.RLIMIT_DATA, (_CEILING, _CEILING))
    os.environ.update(environment)
    _hide(without)
    if site:
        sys.path.insert(0, os.path.join(folder, site))
        _forget({"analysis", "ground", "inference", "waver"})  # what is installed is listed once
    status = 1
    try:
        status = _make_call(arguments, folder, notes)
    finally:
        os._exit(status)


def _make_calls(connection: Connection) -> None:
    """Make the calls that are asked for, one after another; send the status of each."""
    assert _PRELOADED in sys.modules
    resource.setrlimit(resource.RLIMIT_DATA, (_CEILING, _CEILING))
    streams, environment, path = (sys.stdout, sys.stderr), dict(os.environ), list(sys.path)
    while True:
        arguments, folder, notes = connection.recv()
        if _PEAK_RESET.exists():
            _PEAK_RESET.write_text("5")
        with warnings.catch_warnings():  # also forgets which were shown
            status = _make_call(arguments, folder, notes)
        sys.stdout, sys.stderr = streams
        os.environ.clear()
        os.environ.update(environment)
        sys.path[:] = path
        gc.collect()  # closes what nobody closed
        gc.freeze()  # what stays are libraries, which the next call would search again
        connection.send(status)


def _make_call(arguments: list[str], folder: str, notes: str) -> int:
    """Run the command, with its output in files, and leave the most memory held in a third."""
    os.chdir(folder)
    for stream, name in ((sys.stdout, "out"), (sys.stderr, "err")):
        file = os.open(f"{notes}/{name}", os.O_WRONLY | os.O_CREAT)
        os.dup2(file, stream.fileno())
        os.close(file)
    sys.argv = [f"python -m {arguments[0]}", *arguments[1:]]
    try:
        module = "waver" if arguments[0] == "waver" else f"{arguments[0]}.__main__"
        status = importlib.import_module(module).main(arguments[1:])
    except SystemExit as left:
        status = left.code
    except BaseException:
        traceback.print_exc()
        status = 1
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    finally:
        unit = 1 if sys.platform == "darwin" else 1024
        Path(notes, "peak").write_text(str(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 1e6))
    return status or 0
