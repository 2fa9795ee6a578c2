"""The kernels of a report: this interpreter's, one for each notebook, gone when the report is."""

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

from analysis.reporting.output import execution
from helpers.commands import ROOT
from helpers.kernels import fork_kernels
from helpers.log_records import collect_log_records

pytestmark = pytest.mark.slow

BUSY = """
import os, re
from pathlib import Path
Path("kernel").write_text(str(os.getpid()))
re.match("(a+)+b", "a" * 60)  # for years, and without letting another thread run
"""
SLEEPING = BUSY.replace("re.match", "import time; time.sleep(600)  #")


@pytest.fixture(autouse=True)
def temporary(tmp_path, monkeypatch):
    """Where temporary files go; nothing may stay there."""
    (tmp_path / "tmp").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "tmp"))
    return tmp_path / "tmp"


def test_the_kernel_is_this_interpreter_whatever_is_registered(tmp_path):
    manager = execution._make_kernel_manager_class(tmp_path, tmp_path)(kernel_name="python3")
    assert [part for part in manager.kernel_spec.argv if Path(part).exists()] == [sys.executable]
    assert str(ROOT) in manager.kernel_spec.env["PYTHONPATH"].split(os.pathsep)
    if os.name == "posix":
        assert manager.transport == "ipc"
        assert manager.ip.startswith(str(tmp_path))
    assert Path(manager.connection_file).parent == tmp_path


def notebook(folder: Path, name: str, *sources: str) -> Path:
    cells = [nbformat.v4.new_code_cell(source) for source in sources]
    nbformat.write(nbformat.v4.new_notebook(cells=cells), folder / f"{name}.ipynb")
    return folder / f"{name}.ipynb"


def execute(path: Path) -> list[str] | str:
    """What the cells printed, or why the notebook failed."""
    try:
        node = execution.execute_notebook(path, path.with_name(f"{path.stem}-done.ipynb"), {})
    except execution.NotebookFailed as error:
        return str(error)
    return [f"{cell.execution_count}: {output.text}" for cell in node.cells for output in cell.outputs]


def test_every_notebook_has_a_kernel_of_its_own(tmp_path, temporary, monkeypatch):
    """None of them imports a user's own files instead of our packages."""
    for name in ("analysis", "inference", "jinja2"):
        (tmp_path / f"{name}.py").write_text("raise SystemExit('this is the file of the user')")
    monkeypatch.chdir(tmp_path)
    asks = (
        "import os, analysis, inference, jinja2\nprint(os.getpid(), os.environ['OMP_NUM_THREADS'], 'mine' in globals())"
    )
    paths = [
        notebook(tmp_path, "sets", "mine = 1", asks),
        notebook(tmp_path, "fails", "os = 1", "1 / 0"),
        notebook(tmp_path, "dies", "import os; os._exit(3)"),
        notebook(tmp_path, "asks", "pass", asks),
    ]
    told: list[list[str] | str] = []
    made = execution.run_notebook_tasks_in_threads(
        [functools.partial(execute, path) for path in paths], told.append, max_at_once=1
    )
    assert made == told
    sets, fails, dies, asked = made
    processes = [int(said[0].split()[1]) for said in (sets, asked)]
    assert [sets, asked] == [[f"2: {processes[0]} 1 True\n"], [f"2: {processes[1]} 1 False\n"]]
    assert fails == "ZeroDivisionError: division by zero (cell 2)"
    assert dies == "DeadKernelError: Kernel died"
    assert "1 / 0" in (tmp_path / "fails-done.ipynb").read_text()
    assert not any(map(psutil.pid_exists, processes))
    assert not list(temporary.iterdir())


def test_a_kernel_starts_where_temporary_files_have_long_paths(tmp_path, monkeypatch):
    """The system takes short paths of sockets only: of longer ones, a report failed, or waited for ever."""
    long_folder = tmp_path / ("long" * 25)
    long_folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(long_folder))
    asks = "import os; print(os.path.dirname(os.environ['TMPDIR']))"
    with fork_kernels():
        assert execute(notebook(tmp_path, "asks", asks)) == [f"1: {long_folder}\n"]
    assert not list(long_folder.iterdir())


def test_tasks_are_done_at_once_and_told_in_their_order():
    """The first task waits for the last: one after another, this would not end."""
    last, told = threading.Event(), []
    tasks = [lambda: last.wait(60), lambda: "second", last.set]
    assert execution.run_notebook_tasks_in_threads(tasks, told.append, max_at_once=2) == [True, "second", None] == told


def test_no_class_of_jupyter_is_left_to_be_resolved_by_two_threads_at_once():
    """A report ended in "import_item accepts strings": a thread resolved what the other had just resolved."""
    call = """if True:
        from jupyter_client.asynchronous import AsyncKernelClient
        from jupyter_client.manager import AsyncKernelManager
        from jupyter_client.session import Session
        from analysis.reporting.output import execution
        def list_unresolved():
            classes = (AsyncKernelManager, AsyncKernelClient, Session)
            return [name for one in classes for name, trait in one.class_traits().items()
                    if isinstance(getattr(trait, "klass", None), str)]
        print(bool(list_unresolved()), execution.run_notebook_tasks_in_threads([list_unresolved], len))
    """
    ended = subprocess.run([sys.executable, "-c", call], cwd=ROOT, capture_output=True, text=True, timeout=60)
    assert ended.stdout == "True [[]]\n", ended.stderr


def test_of_two_notebooks_the_last_to_end_is_written_where_it_was_asked_for(tmp_path, monkeypatch):
    """Also after a report that was made, in the same process, from another working directory."""
    from papermill.iorw import papermill_io

    (elsewhere := tmp_path / "elsewhere").mkdir()
    (folder := tmp_path / "here").mkdir()
    monkeypatch.setattr(papermill_io.get_handler("local"), "_cwd", str(elsewhere))
    monkeypatch.chdir(folder)
    (folder / "out").mkdir()
    wait = "import time\nfrom pathlib import Path\nwhile not Path('out/first.ipynb').exists(): time.sleep(0.05)"
    tasks = [
        functools.partial(execution.execute_notebook, notebook(folder, name, source), Path("out", f"{name}.ipynb"), {})
        for name, source in (("first", "pass"), ("second", wait))
    ]
    with fork_kernels():
        execution.run_notebook_tasks_in_threads(tasks, lambda node: None, max_at_once=2)
    assert sorted(path.name for path in (folder / "out").iterdir()) == ["first.ipynb", "second.ipynb"]


def test_an_interrupt_ends_all_kernels_and_starts_no_further_task(tmp_path, temporary, monkeypatch):
    """Also a kernel in the midst of a computation; an error that `tell` raises is one that the main thread meets."""
    monkeypatch.chdir(tmp_path)
    done: list[str] = []
    busy = functools.partial(execute, notebook(tmp_path, "busy", BUSY))

    def interrupt(_: object) -> None:
        wait_for(lambda: (tmp_path / "kernel").is_file() and (tmp_path / "kernel").read_text(), seconds=60)
        raise KeyboardInterrupt

    tasks = [lambda: [], lambda: done.append(busy()), lambda: done.append("started")]
    with collect_log_records() as records, pytest.raises(KeyboardInterrupt):
        execution.run_notebook_tasks_in_threads(tasks, interrupt, max_at_once=1)
    assert done == ["DeadKernelError: Kernel died"]
    assert not records  # that a kernel died which the user ended is no news
    assert not psutil.pid_exists(int((tmp_path / "kernel").read_text()))
    assert not list(temporary.iterdir())


def test_the_kernel_of_a_killed_report_ends(tmp_path):
    """ipykernel looks once a second whether the process that started it is there."""
    notebook(tmp_path, "sleeping", SLEEPING)
    call = (
        "from analysis.reporting.output.execution import execute_notebook; from pathlib import Path; "
        "execute_notebook(Path('sleeping.ipynb'), Path('done.ipynb'), {})"
    )
    report = subprocess.Popen(
        [sys.executable, "-c", call], cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT), "TMPDIR": str(tmp_path / "tmp")},
    )  # fmt: skip
    wait_for(lambda: (tmp_path / "kernel").is_file() and (tmp_path / "kernel").read_text(), seconds=60)
    kernel = psutil.Process(int((tmp_path / "kernel").read_text()))
    report.kill()
    report.wait()
    try:
        wait_for(lambda: not kernel.is_running() or kernel.status() == psutil.STATUS_ZOMBIE, seconds=20)
    finally:
        if kernel.is_running():
            kernel.kill()


def wait_for(condition: Callable[[], object], seconds: float) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(0.02)
