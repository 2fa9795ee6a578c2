"""The notebooks: thin, typed, and ready to run as they stand."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import nbformat
import pandas as pd
import pytest
from papermill.iorw import load_notebook_node
from papermill.parameterize import parameterize_notebook

from analysis.pages.stability.page import StabilityPage
from analysis.reporting import catalogue
from analysis.reporting.output import notebooks, report
from ground.errors import InputError
from helpers.commands import ROOT
from helpers.page_runs import BARE
from helpers.synthetic import random_frame, write_run

pytestmark = pytest.mark.slow

NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))
OF_PAGES = [path for path in NOTEBOOKS if path.stem not in {"explore", "compare"}]  # they belong to no report


def code(notebook: Path) -> list[str]:
    node = nbformat.read(notebook, as_version=4)
    return [cell.source for cell in node.cells if cell.cell_type == "code"]


def test_every_page_has_its_notebook_and_every_notebook_its_page():
    assert sorted(entry.path for entry in report.list_notebooks_of_all_pages()) == OF_PAGES


@pytest.mark.parametrize("notebook", OF_PAGES, ids=lambda path: path.stem)
def test_notebooks_are_valid_and_begin_with_the_question_of_their_page(notebook):
    node = nbformat.read(notebook, as_version=4)
    nbformat.validate(node)
    question = notebooks.read_notebook_question(notebook)
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
    found = notebooks.read_notebook_parameters(notebook)
    assert {"runs", "out"} <= found.keys()
    for name, entry in found.items():
        assert entry["inferred_type_name"] != "None", name
        assert entry["help"], name
        if name not in notebooks.SET_BY_REPORT:
            notebooks.convert_notebook_parameter(ast.literal_eval(entry["default"]), entry, name)


def asked_by_pages() -> Iterator[str]:
    """Texts in the files of the pages that show something themselves: examples, and what a figure is drawn from."""
    for file in [*catalogue.PAGES.glob("*/page.py"), *catalogue.PAGES.glob("*/figures.py")]:
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                yield node.value


def test_every_table_and_figure_is_shown_somewhere():
    sources = [source for notebook in OF_PAGES for source in code(notebook)]
    called = [node for source in sources for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Call)]
    named = [argument for node in called for argument in (*node.args[:1], *(word.value for word in node.keywords))]
    texts = {argument.value for argument in named if isinstance(argument, ast.Constant)}
    assert set(catalogue.list_figures()) <= texts
    drawn = {name for entry in catalogue.list_figures().values() for name in entry.frames.split()}
    assert set(catalogue.list_tables()) <= texts | drawn | set(asked_by_pages())


@pytest.mark.parametrize("where", ["notebooks", "."])
def test_a_notebook_runs_as_it_stands(tmp_path, monkeypatch, where):
    """Its default run is found from the repository and from the notebooks' folder; nothing is written."""
    write_run(tmp_path / "results" / "demo" / "agreement", random_frame(["one", "two"], items=3, paraphrases=3))
    (tmp_path / "notebooks").mkdir()
    monkeypatch.setattr(notebooks, "FOLDER", tmp_path / "notebooks")
    monkeypatch.chdir(tmp_path / where)
    before = sorted(tmp_path.rglob("*"))
    values: dict[str, Any] = {}
    cells = code(ROOT / "notebooks" / "stability.ipynb")
    opening = next(place for place, source in enumerate(cells) if "page = " in source)
    for source in cells[: None if where == "notebooks" else opening + 1]:  # what follows does not look for the run
        *statements, last = ast.parse(source.replace("10_000", "20")).body
        exec(compile(ast.Module(statements, []), "cell", "exec"), values)
        if isinstance(last, ast.Expr):
            shown = eval(compile(ast.Expression(last.value), "cell", "eval"), values)
            assert shown._repr_html_().startswith("<"), source
            assert isinstance(shown, pd.DataFrame) or len(repr(shown)) < 80
        else:
            exec(compile(ast.Module([last], []), "cell", "exec"), values)
    assert sorted(tmp_path.rglob("*")) == before


@pytest.mark.parametrize("notebook", OF_PAGES, ids=lambda path: path.stem)
def test_papermill_may_give_one_run_as_text(notebook, tmp_path, monkeypatch):
    """`papermill notebooks/X.ipynb out.ipynb -p runs FOLDER`, from any working directory: as papermill writes it in."""
    BARE[notebook.stem](tmp_path / "my run")
    monkeypatch.chdir(tmp_path)
    node = parameterize_notebook(load_notebook_node(str(notebook)), {"runs": "my run"})
    first = next(number for number, cell in enumerate(node.cells) if "page = " in cell.source)
    values: dict[str, Any] = {}
    for cell in node.cells[: first + 1]:
        exec(cell.source if cell.cell_type == "code" else "", values)
    assert values["page"].folders == ["my run"]
    paths = [folder.path for folder in values["page"].runs.folders]
    assert paths and all(Path("my run") in (path, path.parent) for path in paths)


@pytest.mark.parametrize("wrong", [2026, ["run", 3], True])
def test_what_is_no_name_of_a_run_is_refused(wrong):
    with pytest.raises(InputError, match="is no name of a folder"):
        notebooks.parse_run_folder_names(wrong)


def test_a_run_that_is_nowhere_is_named(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError, match="nowhere"):
        StabilityPage(["nowhere"])


def test_three_lines_get_from_a_run_to_a_table_and_a_figure(tmp_path):
    folder = write_run(tmp_path / "run", random_frame(["one"], items=3, paraphrases=3))
    from analysis import runs
    from analysis.pages.stability import plots
    from analysis.pages.stability.tables import tabulate_stability

    table = tabulate_stability(runs.open_runs(folder), resamples=10)
    figure = plots.draw_overview(table)
    assert table._repr_html_()
    assert figure._repr_svg_().startswith("<svg")
