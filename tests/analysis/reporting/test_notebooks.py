"""The notebooks: thin, typed, and ready to run as they stand."""

from __future__ import annotations

import ast
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import nbformat
import psutil
import pytest
from papermill.iorw import load_notebook_node
from papermill.parameterize import parameterize_notebook

from analysis.errors import InputError
from analysis.pages.stability.page import StabilityPage
from analysis.reporting import catalogue, notebooks, report, temporary
from helpers.commands import ROOT
from helpers.synthetic import random_frame, write_run

NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))
OF_PAGES = [path for path in NOTEBOOKS if path.stem != "explore"]  # that one is a notebook to begin with, and no page


def code(notebook: Path) -> list[str]:
    node = nbformat.read(notebook, as_version=4)
    return [cell.source for cell in node.cells if cell.cell_type == "code"]


def test_every_page_has_its_notebook_and_every_notebook_its_page():
    assert sorted(entry.path for entry in report.found()) == OF_PAGES


@pytest.mark.parametrize("notebook", OF_PAGES, ids=lambda path: path.stem)
def test_notebooks_are_valid_and_begin_with_the_question_of_their_page(notebook):
    node = nbformat.read(notebook, as_version=4)
    nbformat.validate(node)
    question = notebooks.question(notebook)
    assert node.cells[0].source == f"# {question}"
    assert question.endswith("?")
    assert node.metadata.kernelspec.name == "python3"


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebooks_hold_no_logic(notebook):
    logic = (
        ast.If,
        ast.For,
        ast.While,
        ast.FunctionDef,
        ast.ClassDef,
        ast.Lambda,
        ast.comprehension,
        ast.Try,
        ast.BinOp,
    )
    for source in code(notebook):
        assert not [node for node in ast.walk(ast.parse(source)) if isinstance(node, logic)], source


@pytest.mark.parametrize("notebook", OF_PAGES, ids=lambda path: path.stem)
def test_parameters_are_typed_and_explained(notebook):
    found = notebooks.inspect(notebook)
    assert {"runs", "out"} <= found.keys()
    for name, entry in found.items():
        assert entry["inferred_type_name"] != "None", name
        assert entry["help"], name
        if name not in notebooks.GIVEN:
            notebooks.convert(ast.literal_eval(entry["default"]), entry, name)


def asked_by_pages() -> Iterator[str]:
    """Texts in the files of the pages that show something themselves: examples, and what a figure is drawn from."""
    for file in [*catalogue.PAGES.glob("*/page.py"), *catalogue.PAGES.glob("*/figures.py")]:
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                yield node.value


def test_every_table_and_figure_is_shown_somewhere():
    sources = [source for notebook in OF_PAGES for source in code(notebook)]
    called = [node for source in sources for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Call)]
    texts = {node.args[0].value for node in called if node.args and isinstance(node.args[0], ast.Constant)}
    assert set(catalogue.figures()) <= texts
    drawn = {name for entry in catalogue.figures().values() for name in entry.data.split()}
    assert set(catalogue.tables()) <= texts | drawn | set(asked_by_pages())


@pytest.mark.parametrize("where", ["notebooks", "."])
def test_a_notebook_runs_as_it_stands(tmp_path, monkeypatch, where):
    """Its default run is found from the repository and from the notebooks' folder; nothing is written."""
    write_run(tmp_path / "results" / "demo" / "agreement", random_frame(["one", "two"], items=3, paraphrases=3))
    (tmp_path / "notebooks").mkdir()
    monkeypatch.setattr(notebooks, "FOLDER", tmp_path / "notebooks")
    monkeypatch.chdir(tmp_path / where)
    before = sorted(tmp_path.rglob("*"))
    for source in code(ROOT / "notebooks" / "stability.ipynb"):
        *statements, last = ast.parse(source.replace("10_000", "20")).body
        values = globals().setdefault("_values", {})
        exec(compile(ast.Module(statements, []), "cell", "exec"), values)
        if isinstance(last, ast.Expr):
            shown = eval(compile(ast.Expression(last.value), "cell", "eval"), values)
            assert shown._repr_html_().startswith("<"), source
            assert len(repr(shown)) < 80
        else:
            exec(compile(ast.Module([last], []), "cell", "exec"), values)
    assert sorted(tmp_path.rglob("*")) == before


@pytest.mark.parametrize("notebook", OF_PAGES, ids=lambda path: path.stem)
def test_papermill_may_give_one_run_as_text(notebook, tmp_path, monkeypatch):
    """`papermill notebooks/X.ipynb out.ipynb -p runs FOLDER`, from any working directory: as papermill writes it in."""
    protocol = min(catalogue.pages()[notebook.stem].protocols)
    shutil.copytree(ROOT / "tests" / "fixtures" / "run-of-f7ec5ae" / protocol, tmp_path / "my run")
    monkeypatch.chdir(tmp_path)
    node = parameterize_notebook(load_notebook_node(str(notebook)), {"runs": "my run"})
    first = next(number for number, cell in enumerate(node.cells) if "page = " in cell.source)
    values: dict[str, Any] = {}
    for cell in node.cells[: first + 1]:
        exec(cell.source if cell.cell_type == "code" else "", values)
    assert values["page"].folders == ["my run"]
    assert [folder.path for folder in values["page"].runs.folders] == [Path("my run")]


@pytest.mark.parametrize("wrong", [2026, ["run", 3], True])
def test_what_is_no_name_of_a_run_is_refused(wrong):
    with pytest.raises(InputError, match="is no name of a folder"):
        notebooks.named(wrong)


def test_a_run_that_is_nowhere_is_named(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError, match="nowhere"):
        StabilityPage(["nowhere"])


def test_three_lines_get_from_a_run_to_a_table_and_a_figure(tmp_path):
    folder = write_run(tmp_path / "run", random_frame(["one"], items=3, paraphrases=3))
    from analysis import runs
    from analysis.pages.stability import plots
    from analysis.pages.stability.tables import models

    table = models(runs.open(folder), resamples=10)
    figure = plots.overview(table)
    assert table._repr_html_()
    assert figure._repr_svg_().startswith("<svg")


def test_the_kernel_is_this_interpreter_whatever_is_registered(tmp_path):
    with (tmp_path / "log").open("wb") as log:
        manager = notebooks._kernel_manager(tmp_path, log, alive=0)(kernel_name="python3")
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


def test_a_killed_report_takes_its_kernel_with_it_even_in_the_midst_of_a_computation(tmp_path, monkeypatch):
    """ipykernel's own look at its parent is a thread, which waits as long as the computation does."""
    nbformat.write(nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(BUSY)]), tmp_path / "busy.ipynb")
    call = (
        "from analysis.reporting import notebooks; from pathlib import Path; "
        "notebooks.execute(Path('busy.ipynb'), Path('done.ipynb'), {})"
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
