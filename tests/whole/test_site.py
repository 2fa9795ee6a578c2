"""The site shows every page of the report and every public function that the notebooks call, and its links are kept."""

from __future__ import annotations

import ast
import importlib.util
import json
import re
import tomllib
from pathlib import Path

import pytest

from analysis.reporting import catalogue

ROOT = Path(__file__).parents[2]
SITE = ROOT / "docs" / "site"
GALLERY = tomllib.loads((SITE / "gallery.toml").read_text(encoding="utf-8"))["figure"]


@pytest.fixture(scope="module")
def build():
    spec = importlib.util.spec_from_file_location("site_build", SITE / "build.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def list_imports_of_notebooks() -> set[tuple[str, str]]:
    cells = [
        "".join(line for line in cell["source"] if not line.startswith("%"))
        for notebook in (ROOT / "notebooks").glob("*.ipynb")
        for cell in json.loads(notebook.read_text(encoding="utf-8"))["cells"]
        if cell["cell_type"] == "code"
    ]
    nodes = [node for cell in cells for node in ast.walk(ast.parse(cell)) if isinstance(node, ast.ImportFrom)]
    return {(node.module, alias.name) for node in nodes for alias in node.names}


def test_the_gallery_has_a_figure_of_every_page():
    pages = {name: page for name, page in catalogue.map_page_names_to_catalogues().items() if page.figures}
    assert [entry["page"] for entry in GALLERY] == list(dict.fromkeys(entry["page"] for entry in GALLERY))
    assert {entry["page"] for entry in GALLERY} == set(pages)
    assert all(entry["name"] in pages[entry["page"]].figures for entry in GALLERY)


@pytest.mark.slow
def test_the_reference_has_every_function_that_a_notebook_imports(build):
    entries = {
        line.partition(":: ")[2]
        for _, roots in build.API.values()
        for root in roots
        for module in build.list_modules(root)
        for block in build._list_entries(module)
        for line in block.splitlines()
        if line.startswith(".. auto")
    }
    called = {
        f"{module}.{name}"
        for module, name in list_imports_of_notebooks()
        if name[0].islower() and module.startswith("analysis.")
    }
    assert len(called) > 20
    assert sorted(called - entries) == []


def test_a_link_to_a_folder_becomes_its_text_and_a_linked_file_is_carried(build, tmp_path):
    build._copy_page(ROOT / "docs" / "engines.md", Path("docs/engines.md"), tmp_path)
    assert (tmp_path / "docs" / "cluster" / "one-gpu-per-task.sh").is_file()
    assert (tmp_path / "Dockerfile").is_file()
    build._copy_page(ROOT / "docs" / "wording.md", Path("docs/wording.md"), tmp_path)
    text = (tmp_path / "docs" / "wording.md").read_text(encoding="utf-8")
    assert "(../inference/protocols/wording/banks)" not in text
    assert "banks" in text
    build._copy_page(SITE / "papers" / "sato.md", Path("papers/sato.md"), tmp_path)
    assert (tmp_path / "inference" / "protocols" / "scoring" / "paper.toml").is_file()
    assert (tmp_path / "papers" / "sato.md").is_file()


def test_links_of_the_sites_own_pages_lead_to_pages():
    made = {"gallery.md", "api/index.md", "notebooks/index.md"}
    for page in (SITE / "index.md", *(SITE / "papers").glob("*.md")):
        folder = page.parent.relative_to(SITE)
        for target in re.findall(r"\]\((?!https:)([^)#]+)", page.read_text(encoding="utf-8")):
            path = (ROOT / folder / target).resolve().relative_to(ROOT)
            assert str(path) in made or (ROOT / path).exists() or (SITE / path).exists(), f"{page}: {target}"
