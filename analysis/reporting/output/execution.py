"""Execute notebooks by papermill, each in a kernel of its own, several at a time."""

from __future__ import annotations

import logging
import os
import sys
import tempfile
import time
import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from ground.errors import InputError

if TYPE_CHECKING:
    from nbformat import NotebookNode

Made = TypeVar("Made")
ROOT = Path(__file__).resolve().parents[3]
MOST_AT_ONCE = 4  # kernels, which share the memory
LONGEST_SOCKET_PATH = 103  # bytes: macOS takes as many, Linux four more
# With one thread, sums do not depend on how many cores there are, and kernels do not take the cores from one another.
_ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
_KERNELS: weakref.WeakSet[Any] = weakref.WeakSet()  # managers of all kernels, also of those that ended


class NotebookFailed(Exception):
    """Report that a notebook ended with an error; `wrong_input`: the error is about what the notebook was given."""

    def __init__(self, reason: str, wrong_input: bool) -> None:
        super().__init__(reason)
        self.wrong_input = wrong_input


def execute_notebook(source: Path, target: Path, parameters: Mapping[str, Any]) -> NotebookNode:
    """Run a notebook in a kernel of its own, in the working directory of the call, and write it with its outputs.

    Parameters
    ----------
    source
        The notebook.
    target
        Where it is written with its outputs.
    parameters
        Parameter -> value: what the notebook is run with.

    Returns
    -------
    The notebook with its outputs.

    Raises
    ------
    NotebookFailed
        For an error in a cell, or a kernel that is killed or does not start; the message is one line.
    """
    import papermill

    # Papermill remembers one working directory for all threads: the first to end leaves that of an earlier call behind.
    target = target.absolute()
    with (
        tempfile.TemporaryDirectory(prefix="waver-kernel-") as folder,
        _choose_socket_folder(Path(folder)) as socket_folder,
    ):
        try:
            node: NotebookNode = papermill.execute_notebook(
                source, target, dict(parameters), progress_bar=False, kernel_name="python3", language="python",
                kernel_manager_class=_make_kernel_manager_class(Path(folder), socket_folder),
                shutdown_kernel="immediate", request_save_on_cell_execute=False,
            )  # fmt: skip
        except _list_papermill_exceptions() as error:
            wrong = getattr(error, "ename", None) == InputError.__name__
            raise NotebookFailed(_describe_failed_cell(error), wrong) from error
        except OSError:  # no room, for example: what was begun is not whole
            target.unlink(missing_ok=True)
            raise
    return node


def run_notebook_tasks_in_threads(
    tasks: Sequence[Callable[[], Made]], report_result: Callable[[Made], None], max_at_once: int | None = None
) -> list[Made]:
    """Do tasks that execute notebooks, several at a time.

    Parameters
    ----------
    tasks
        Functions without arguments; one that raises ends all.
    report_result
        Called with what the tasks return, in their order, as early as that order allows.
    max_at_once
        How many tasks at a time; as many as there are cores, at most `MOST_AT_ONCE`, unless given.

    Returns
    -------
    list
        What the tasks return, in their order. An interrupt or an error ends all kernels first.
    """
    _resolve_class_names_of_jupyter()
    with ThreadPoolExecutor(max_at_once or min(_count_cores(), MOST_AT_ONCE)) as threads:
        futures = [threads.submit(task) for task in tasks]
        try:
            for future in futures:
                while not future.done():
                    wait([future], timeout=1)  # without an end, Windows would not see an interrupt
                report_result(future.result())
        except BaseException:
            threads.shutdown(wait=False, cancel_futures=True)
            log = logging.getLogger("papermill")
            level = log.level
            log.setLevel(logging.CRITICAL)  # it tells of every kernel that it died
            while not all(future.done() for future in futures):
                _kill_kernels()
                time.sleep(0.1)
            log.setLevel(level)
            raise
    return [future.result() for future in futures]


def _resolve_class_names_of_jupyter() -> None:
    """Make a kernel manager and a client, so that traitlets puts classes in the place of their names.

    It does so with the first object of a class. Of two threads that make it at once, one may take the class that the
    other has put there for a name: "import_item accepts strings".
    """
    from jupyter_client.manager import AsyncKernelManager

    AsyncKernelManager().client()


def _count_cores() -> int:
    """Return how many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@contextmanager
def _choose_socket_folder(folder: Path) -> Iterator[Path]:
    """Yield a private folder for sockets: this one, or a short one where the system takes no path of that length."""
    if os.name != "posix" or len(os.fsencode(folder / "kernel-5")) <= LONGEST_SOCKET_PATH:
        yield folder
        return
    with tempfile.TemporaryDirectory(prefix="waver-kernel-", dir="/tmp") as short_folder:
        yield Path(short_folder)


def _make_kernel_manager_class(folder: Path, socket_folder: Path) -> type:
    """Return what papermill makes a kernel with: of this interpreter; one registered as "python3" may be another's.

    `folder` is a private one, for the kernel's temporary files. Where the system has them, manager and kernel talk over
    sockets in `socket_folder`, not over a port that another user of the machine could listen on.
    """
    from jupyter_client.kernelspec import KernelSpec
    from jupyter_client.manager import AsyncKernelManager

    paths = os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH"))))
    threads = {name: os.environ.get(name, value) for name, value in _ONE_THREAD.items()}
    spec = KernelSpec(
        # Neither Python nor ipykernel looks for modules in the working directory: a user's own `analysis.py` may be
        # there. (`ipykernel_launcher` would also forget ROOT where that is the working directory.)
        argv=[sys.executable, "-P", "-m", "ipykernel", "--InteractiveShellApp.ignore_cwd=True", "-f",
              "{connection_file}", "--HistoryManager.enabled=False"],
        # Arrow's own allocator would keep 30 MB of every kernel.
        env={"PYTHONPATH": paths, "PYDEVD_DISABLE_FILE_VALIDATION": "1", "MPLBACKEND": "agg", "TMPDIR": str(folder),
             **threads, "ARROW_DEFAULT_MEMORY_POOL": os.environ.get("ARROW_DEFAULT_MEMORY_POOL", "system")},
        language="python", display_name="Python 3",
    )  # fmt: skip
    sockets = {"transport": "ipc", "ip": str(socket_folder / "kernel")} if os.name == "posix" else {}

    class ThisInterpreter(AsyncKernelManager):
        kernel_spec = spec

        def __init__(self, **settings: Any) -> None:
            super().__init__(connection_file=str(folder / "connection.json"), **sockets, **settings)
            _KERNELS.add(self)

    return ThisInterpreter


def _kill_kernels() -> None:
    """End the processes of all kernels, whatever they do; papermill raises an error for what they ran."""
    for manager in list(_KERNELS):
        process = getattr(manager.provisioner, "process", None)
        if process is not None:
            process.kill()


def _list_papermill_exceptions() -> tuple[type[Exception], ...]:
    """Return the errors that papermill raises for an error in a cell and for a kernel that dies or does not start."""
    from nbclient.exceptions import CellControlSignal, DeadKernelError
    from papermill.exceptions import PapermillException

    return (PapermillException, DeadKernelError, CellControlSignal, RuntimeError)


def _describe_failed_cell(error: Exception) -> str:
    """Return the error of the cell that failed, in one line."""
    from papermill.exceptions import PapermillExecutionError

    if isinstance(error, PapermillExecutionError):
        return " ".join(f"{error.ename}: {error.evalue} (cell {error.exec_count})".split())
    return " ".join(f"{type(error).__name__}: {error}".split())
