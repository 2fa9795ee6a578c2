"""The Python of the repository as trees: every file is read, parsed and walked once in a process."""

from __future__ import annotations

import ast
import functools
import gc
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).parents[2]
FOLDERS = ("ground", "inference", "analysis")


@functools.cache
def list_modules() -> dict[str, Path]:
    """Every module of the wings and the ground by its dotted name; a package has the name of its folder."""
    found = {}
    for file in [path for folder in FOLDERS for path in (ROOT / folder).rglob("*.py")]:
        parts = file.relative_to(ROOT).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = file
    return found


@contextmanager
def make_many_objects() -> Iterator[None]:
    """Search for no garbage meanwhile, nor later among what was made: nodes are none, and the search takes longest."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        if enabled:
            gc.enable()


@functools.cache
def parse_modules() -> dict[str, ast.Module]:
    """The trees of `list_modules` and of `waver`."""
    with make_many_objects():
        files = {"waver": ROOT / "waver.py", **list_modules()}
        return {name: ast.parse(file.read_text(encoding="utf-8")) for name, file in files.items()}


@functools.cache
def list_nodes_by_module() -> dict[str, list[ast.AST]]:
    """All nodes of each module, as `ast.walk` has them."""
    trees = parse_modules()
    with make_many_objects():
        return {name: list(ast.walk(tree)) for name, tree in trees.items()}
