"""Run notebooks in kernels of this interpreter, several notebooks one after another in each.

Starting a kernel and importing pandas, DuckDB and matplotlib takes longer than most pages. So a kernel is kept for the
next notebook, which finds no variable of the one before. After a notebook that failed, the next one gets a new kernel.
"""

from __future__ import annotations

import contextlib
import functools
import os
import queue
import shutil
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from pathlib import Path
from typing import IO, Any, TypeVar

from analysis.reporting import keeper, temporary

Made = TypeVar("Made")
ROOT = Path(__file__).resolve().parents[2]
_FORGET = "get_ipython().reset(new_session=True)"
# With one thread, sums do not depend on how many cores there are, and kernels do not take the cores from one another.
_ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
MOST_AT_ONCE = 4  # kernels, which share the memory


def cores() -> int:
    """Return how many cores this process may use."""
    if hasattr(os, "process_cpu_count"):  # Python 3.13
        return os.process_cpu_count() or 1
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def each(
    tasks: Sequence[Callable[[Kernel], Made]], told: Callable[[Made], None], at_once: int | None = None
) -> list[Made]:
    """Do tasks that need a kernel, as many at once as there are cores.

    Parameters
    ----------
    tasks
        Functions of a kernel; one that raises ends all.
    told
        Called with what the tasks return, in their order, as early as that order allows.
    at_once
        How many tasks at once; as many as there are cores, at most `MOST_AT_ONCE`, unless given.

    Returns
    -------
    list
        What the tasks return, in their order. An interrupt or an error ends all kernels first.
    """
    most = min(len(tasks), at_once or min(cores(), MOST_AT_ONCE))
    hands = [Kernel() for _ in range(most)]
    made: list[Future[Made]] = [Future() for _ in tasks]
    waiting: queue.SimpleQueue[tuple[Callable[[Kernel], Made], Future[Made]]] = queue.SimpleQueue()
    for pair in zip(tasks, made, strict=True):
        waiting.put(pair)
    with ThreadPoolExecutor(max(1, most)) as threads:
        for kernel in hands:
            threads.submit(_work, kernel, waiting)
        try:
            for future in made:
                while not future.done():
                    wait([future], timeout=1)  # without an end, Windows would not see an interrupt
                told(future.result())
        except BaseException:
            for kernel in hands:
                kernel.kill()
            raise
    return [future.result() for future in made]


def _work(kernel: Kernel, waiting: queue.SimpleQueue[tuple[Callable[[Kernel], Made], Future[Made]]]) -> None:
    """Do one waiting task after another in this thread."""
    with contextlib.closing(kernel), contextlib.suppress(queue.Empty):
        while not kernel.killed:
            task, future = waiting.get_nowait()
            try:
                future.set_result(task(kernel))
            except BaseException as error:
                future.set_exception(error)


class Kernel:
    """Hold a kernel for one thread: started for its first notebook, ended by `close`, or by `kill` from any thread.

    papermill reaches it through `manager`; `forget` comes after a notebook that succeeded, `fail` after one that did
    not.
    """

    def __init__(self) -> None:
        self._manager: Any = None
        self._own: Path = Path()
        self._parts = contextlib.ExitStack()
        self._lifeline: IO[bytes] | None = None
        self.killed = False

    def manager(self) -> Any:
        """Return the manager of the kernel, which papermill starts where it does not run."""
        if self._manager is None:
            with contextlib.ExitStack() as parts:
                self._own = parts.enter_context(temporary.folder())
                stderr = parts.enter_context(self._log.open("ab"))
                alive, self._lifeline = parts.enter_context(lifeline())
                if self.killed:
                    self._end()
                self._manager = kernel_manager(self._own, stderr, alive)()
                self._parts = parts.pop_all()
        return self._manager

    def forget(self) -> None:
        """Drop all variables of the notebook that ran, and what the process wrote to standard error."""
        from nbclient import NotebookClient
        from nbformat import v4

        NotebookClient(v4.new_notebook(cells=[v4.new_code_cell(_FORGET)]), km=self._manager).execute()
        self._manager.hang_up()
        os.truncate(self._log, 0)

    def fail(self, log: Path) -> None:
        """End the kernel, and keep what it wrote to standard error (a crash, for instance) in a file."""
        if self._manager is not None:
            shutil.copyfile(self._log, log)
        self.close()

    def close(self) -> None:
        """End the kernel, if it runs, and remove its temporary files."""
        from jupyter_core.utils import run_sync

        manager, self._manager = self._manager, None
        with self._parts:
            if manager is not None and manager.has_kernel:
                manager.hang_up()
                self._end()
                run_sync(manager.provisioner.wait)()
                run_sync(manager.cleanup_resources)()

    def _end(self) -> None:
        """Let the keeper end the kernel, and then itself."""
        if self._lifeline is not None:
            self._lifeline.close()

    def kill(self) -> None:
        """End the kernel at once, and let it not start again."""
        self.killed = True
        self._end()

    @property
    def _log(self) -> Path:
        return self._own / "stderr"


@contextlib.contextmanager
def lifeline() -> Iterator[tuple[int, IO[bytes]]]:
    """Open a pipe: an end to read from, which reads as closed when the other is closed or this process is gone."""
    read, write = os.pipe()
    try:
        with os.fdopen(write, "wb", buffering=0) as held:
            yield read, held
    finally:
        os.close(read)


def kernel_manager(own: Path, stderr: IO[bytes], alive: int) -> Callable[[], Any]:
    """Return what makes a kernel manager for this interpreter; one registered as "python3" may be another's.

    Parameters
    ----------
    own
        A private folder for the kernel's temporary files. Where the system has them, manager and kernel talk over
        sockets in it, not over a port that another user of the machine could listen on.
    stderr
        A log file for what the process writes.
    alive
        From `lifeline`: when it closes, the kernel is killed.
    """
    from jupyter_client.kernelspec import KernelSpec
    from jupyter_client.manager import AsyncKernelManager

    paths = os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH"))))
    # Neither Python nor ipykernel looks for modules in the working directory: a user's own `analysis.py` may be there.
    # (`ipykernel_launcher` would also forget ROOT where that is the working directory.)
    kernel = [sys.executable, "-P", "-m", "ipykernel", "--InteractiveShellApp.ignore_cwd=True"]
    kernel += ["-f", "{connection_file}", "--HistoryManager.enabled=False"]
    threads = {name: os.environ.get(name, value) for name, value in _ONE_THREAD.items()}
    spec = KernelSpec(
        argv=[sys.executable, "-I", "-S", str(keeper.__file__), *kernel], language="python", display_name="Python 3",
        env={"PYTHONPATH": paths, "PYDEVD_DISABLE_FILE_VALIDATION": "1", "MPLBACKEND": "agg", "TMPDIR": str(own)}
        | threads,
    )  # fmt: skip

    class ThisInterpreter(AsyncKernelManager):
        def __init__(self, **settings: Any) -> None:
            super().__init__(**settings)
            self.connection_file = str(own / "connection.json")
            if os.name == "posix":
                self.transport, self.ip = "ipc", str(own / "kernel")
            self._clients: list[Any] = []

        def client(self, **settings: Any) -> Any:
            self._clients.append(super().client(**settings))
            return self._clients[-1]

        def hang_up(self) -> None:
            """Close the connections of the notebooks that ran."""
            while self._clients:
                self._clients.pop().stop_channels()

        @property
        def kernel_spec(self) -> KernelSpec:
            return spec

        async def _async_start_kernel(self, **settings: Any) -> None:
            await super()._async_start_kernel(stdin=alive, stderr=stderr, **settings)

        start_kernel = _async_start_kernel

    return functools.partial(ThisInterpreter, kernel_name="python3")
