"""The rules of the house that a machine can check."""

from __future__ import annotations

import ast
import json
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent


def imports(path: Path) -> set[str]:
    """Top-level packages that a module imports anywhere in it."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            found.add(node.module.split(".")[0])
    return found


@pytest.mark.parametrize(("wing", "other"), [("inference", "analysis"), ("analysis", "inference")])
def test_the_wings_meet_only_in_the_run_folder(wing, other):
    modules = sorted((ROOT / wing).rglob("*.py"))
    assert modules
    assert [str(path) for path in modules if other in imports(path)] == []


@pytest.mark.parametrize("notebook", sorted((ROOT / "notebooks").glob("*.ipynb")), ids=lambda path: path.name)
def test_notebooks_are_thin_and_have_no_outputs(notebook):
    cells = [cell for cell in json.loads(notebook.read_text(encoding="utf-8"))["cells"] if cell["cell_type"] == "code"]
    assert not any(cell["outputs"] or cell["execution_count"] for cell in cells)
    assert sum(len("".join(cell["source"]).splitlines()) for cell in cells) <= 150


def test_runs_are_not_committed():
    if not (ROOT / ".git").exists():
        pytest.skip("not a git checkout")
    listed = subprocess.run(["git", "ls-files", "results"], cwd=ROOT, capture_output=True, text=True, check=True)
    kept = ("results/schema.json", "results/published/")
    assert all(name.startswith(kept) for name in listed.stdout.split())
