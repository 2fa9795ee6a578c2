"""The kernels of a report: this interpreter's, kept from one notebook to the next, gone when the report is."""

from __future__ import annotations

import functools
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path

import nbformat
import psutil
import pytest

from analysis.reporting import kernels, notebooks, temporary
from analysis.reporting.kernels import Kernel
from helpers.commands import ROOT


def test_the_kernel_is_this_interpreter_whatever_is_registered(tmp_path):
    with (tmp_path / "log").open("wb") as log:
        manager = kernels.kernel_manager(tmp_path, log, alive=0)()
    python = [part for part in manager.kernel_spec.argv if "python" in Path(part).name and Path(part).exists()]
    assert python == [sys.executable] * 2  # the keeper's, and the kernel's
    assert str(ROOT) in manager.kernel_spec.env["PYTHONPATH"].split(os.pathsep)
    if os.name == "posix":
        assert manager.transport == "ipc"
        assert manager.ip.startswith(str(tmp_path))
    assert Path(manager.connection_file).parent == tmp_path


BUSY = """
import os, re
from pathlib import Path
Path("kernel").write_text(str(os.getpid()))
re.match("(a+)+b", "a" * 60)  # for years, and without letting another thread run
"""


def notebook(folder: Path, name: str, *sources: str) -> Path:
    cells = [nbformat.v4.new_code_cell(source) for source in sources]
    nbformat.write(nbformat.v4.new_notebook(cells=cells), folder / f"{name}.ipynb")
    return folder / f"{name}.ipynb"


def run(path: Path, kernel: Kernel) -> list[str] | str:
    """What the cells printed, or why the notebook failed."""
    try:
        node = notebooks.execute(path, path.with_name(f"{path.stem}-done.ipynb"), {}, kernel)
    except notebooks.NotebookFailed as error:
        return str(error)
    return [f"{cell.execution_count}: {output.text}" for cell in node.cells for output in cell.outputs]


def test_a_kernel_runs_one_notebook_after_another_and_remembers_nothing(tmp_path):
    asks = "import os\nprint(os.getpid(), os.environ['OMP_NUM_THREADS'], 'mine' in globals())"
    speaks = "import sys; print('last words', file=sys.__stderr__, flush=True)"
    paths = [
        notebook(tmp_path, "sets", "mine = 1", asks),
        notebook(tmp_path, "asks", "pass", asks),
        notebook(tmp_path, "fails", "os = 1", speaks, "1 / 0"),
        notebook(tmp_path, "dies", "import os; os._exit(3)"),
        notebook(tmp_path, "again", "pass", asks),
    ]  # fmt: skip
    told: list[list[str] | str] = []
    made = kernels.each([functools.partial(run, path) for path in paths], told.append, at_once=1)
    assert made == told
    sets, asks_, fails, dies, again = made
    process = sets[0].split()[1]
    assert sets == [f"2: {process} 1 True\n"]
    assert asks_ == [f"2: {process} 1 False\n"]
    assert fails == "ZeroDivisionError: division by zero (cell 3)"
    assert dies == "DeadKernelError: Kernel died"
    assert again[0].endswith("1 False\n")
    assert again[0].split()[1] != process
    assert "1 / 0" in (tmp_path / "fails-done.ipynb").read_text()
    assert sorted(path.name for path in tmp_path.glob("*.log")) == ["dies-done.log", "fails-done.log"]
    assert not psutil.pid_exists(int(process))


def test_tasks_are_done_at_once_and_told_in_their_order():
    """The first task waits for the last: one after another, this would not end."""
    last, told = threading.Event(), []
    tasks = [lambda kernel: last.wait(60), lambda kernel: "second", lambda kernel: last.set()]
    assert kernels.each(tasks, told.append, at_once=2) == [True, "second", None] == told


def test_an_error_ends_all_kernels_and_starts_no_further_task():
    seen: list[Kernel] = []

    def waits(kernel: Kernel) -> None:
        seen.append(kernel)
        while not kernel.killed:
            time.sleep(0.01)

    def stops(result: None) -> None:
        raise KeyboardInterrupt

    tasks = [lambda kernel: None, waits, waits, waits]
    with pytest.raises(KeyboardInterrupt):
        kernels.each(tasks, stops, at_once=2)
    assert len(seen) <= 2
    assert all(kernel.killed for kernel in seen)


def test_a_killed_kernel_ends_at_once_and_does_not_start_again(tmp_path):
    """As an interrupt does from the main thread, in the midst of a computation."""
    busy, kernel = notebook(tmp_path, "busy", BUSY.replace("kernel", str(tmp_path / "kernel"))), Kernel()

    def kill() -> None:
        wait_for(lambda: (tmp_path / "kernel").is_file() and (tmp_path / "kernel").read_text(), seconds=60)
        kernel.kill()

    killer = threading.Thread(target=kill)
    killer.start()
    assert run(busy, kernel) == "DeadKernelError: Kernel died"
    killer.join()
    assert not psutil.pid_exists(int((tmp_path / "kernel").read_text()))
    assert "died" in run(busy, kernel)


def test_a_killed_report_takes_its_kernel_with_it_even_in_the_midst_of_a_computation(tmp_path, monkeypatch):
    """ipykernel's own look at its parent is a thread, which waits as long as the computation does."""
    nbformat.write(nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(BUSY)]), tmp_path / "busy.ipynb")
    call = (
        "from analysis.reporting import kernels, notebooks; from pathlib import Path; "
        "notebooks.execute(Path('busy.ipynb'), Path('done.ipynb'), {}, kernels.Kernel())"
    )
    (tmp_path / "tmp").mkdir()
    report = subprocess.Popen(
        [sys.executable, "-c", call], cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT), "TMPDIR": str(tmp_path / "tmp")},
    )  # fmt: skip
    wait_for(lambda: (tmp_path / "kernel").is_file() and (tmp_path / "kernel").read_text(), seconds=60)
    kernel = psutil.Process(int((tmp_path / "kernel").read_text()))
    report.kill()
    report.wait()
    try:
        wait_for(lambda: not kernel.is_running() or kernel.status() == psutil.STATUS_ZOMBIE, seconds=10)
    finally:
        if kernel.is_running():
            kernel.kill()
    # The next report removes what was temporary: sockets, the connection's key, files of the kernel.
    (left,) = (tmp_path / "tmp").iterdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "tmp"))
    with temporary.folder():
        assert not left.exists()
    assert not list((tmp_path / "tmp").iterdir())


def wait_for(condition: Callable[[], object], seconds: float) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(0.02)
