"""The notebooks: thin, typed, and ready to run as they stand."""

from __future__ import annotations

import ast
import os
import sys
from pathlib import Path

import nbformat
import pytest

from analysis.errors import InputError
from analysis.reporting import all_plots, notebooks, page, report, tables
from helpers.commands import ROOT
from helpers.synthetic import random_frame, write_run

# Tables that a notebook does not ask for by name, since `Page` does.
SHOWN_BY_PAGE = {"divergent", "turned"}
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))


def code(notebook: Path) -> list[str]:
    node = nbformat.read(notebook, as_version=4)
    return [cell.source for cell in node.cells if cell.cell_type == "code"]


def test_the_registry_names_every_notebook():
    assert sorted(entry.path for entry in report.REGISTRY) == NOTEBOOKS


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebooks_are_valid_and_ask_the_question_of_the_registry(notebook):
    node = nbformat.read(notebook, as_version=4)
    nbformat.validate(node)
    question = next(entry.question for entry in report.REGISTRY if entry.path == notebook)
    assert node.cells[0].source == f"# {question}"
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


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.stem)
def test_parameters_are_typed_and_explained(notebook):
    found = notebooks.inspect(notebook)
    assert {"runs", "out"} <= found.keys()
    for name, entry in found.items():
        assert entry["inferred_type_name"] != "None", name
        assert entry["help"], name
        if name not in notebooks.GIVEN:
            notebooks.convert(ast.literal_eval(entry["default"]), entry, name)


def test_every_table_and_figure_is_shown_somewhere():
    sources = [source for notebook in NOTEBOOKS for source in code(notebook)]
    called = [node for source in sources for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Call)]
    texts = {node.args[0].value for node in called if node.args and isinstance(node.args[0], ast.Constant)}
    assert set(all_plots.FIGURES) <= texts
    assert set(tables.TABLES) <= texts | SHOWN_BY_PAGE


@pytest.mark.parametrize("where", ["notebooks", "."])
def test_a_notebook_runs_as_it_stands(tmp_path, monkeypatch, where):
    """Its default run is found from the repository and from the notebooks' folder; nothing is written."""
    write_run(tmp_path / "results" / "demo", random_frame(["one", "two"], items=3, paraphrases=3))
    (tmp_path / "notebooks").mkdir()
    monkeypatch.setattr(page, "NOTEBOOKS", tmp_path / "notebooks")
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


def test_a_run_that_is_nowhere_is_named(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError, match="nowhere"):
        page.Page(["nowhere"])


def test_three_lines_get_from_a_run_to_a_table_and_a_figure(tmp_path):
    folder = write_run(tmp_path / "run", random_frame(["one"], items=3, paraphrases=3))
    from analysis import runs
    from analysis.pages.stability import tables as stability

    table = stability.models(runs.open(folder), resamples=10)
    figure = all_plots.overview(table)
    assert table._repr_html_()
    assert figure._repr_svg_().startswith("<svg")


def test_the_kernel_is_this_interpreter_whatever_is_registered(tmp_path):
    with (tmp_path / "log").open("wb") as log:
        manager = report._kernel_manager(str(tmp_path), log)(kernel_name="python3")
    assert manager.kernel_spec.argv[0] == sys.executable
    assert str(ROOT) in manager.kernel_spec.env["PYTHONPATH"].split(os.pathsep)
    if os.name == "posix":
        assert manager.transport == "ipc"
        assert manager.ip.startswith(str(tmp_path))
