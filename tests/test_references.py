"""What docstrings refer to is there: functions, classes and modules by their names, parameters by theirs."""

from __future__ import annotations

import ast
import functools
import re
from collections.abc import Iterator

import pytest

from helpers.sources import list_nodes_by_module, parse_modules

Function = ast.FunctionDef | ast.AsyncFunctionDef
Definition = Function | ast.ClassDef
# An entry of a section, "level, seed", and what it says first: "As in `bootstrap_intervals`" or "As `x` of `Grid`".
AS_ELSEWHERE = re.compile(r"^([*\w, ]+)(?: :.*)?\n +As (?:in|of|for) `([\w.]+)`", re.M)
AS_OTHER_NAME = re.compile(r"\n +As `(\w+)` of `([\w.]+)`")
RETURN_TYPE = re.compile(r"^(?:Returns|Yields)\n-+\n(?:\w+ of )?([A-Z][a-z]+(?:[A-Z][a-z]+)*)(?: or None)?$", re.M)
DOTTED = re.compile(r"(?<!`)`([A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+)(?:\(\))?`(?!`)")
NO_ROOMS = {"attributes", "models", "waver"}  # `attributes.task` is a column, `waver.pages` a group of entry points
FILE_ENDINGS = frozenset(re.findall(r"\w+", "json jsonl csv tsv parquet toml yaml md html py j2 R ipynb log"))


@functools.cache
def collect_definitions(module: str) -> dict[str, ast.AST]:
    """By name what a module defines at its top, or imports: a name of another module is an `ast.alias`."""
    definitions: dict[str, ast.AST] = {}
    for node in list_nodes_by_module()[module]:
        if isinstance(node, ast.ImportFrom):
            definitions |= {
                alias.asname or alias.name: ast.alias(f"{node.module}.{alias.name}") for alias in node.names
            }
    for node in parse_modules()[module].body:
        if isinstance(node, Definition):
            definitions[node.name] = node
        else:
            definitions |= {leaf.id: leaf for leaf in ast.walk(node) if is_assigned_name(leaf)}  # type: ignore[attr-defined]
    return definitions


def is_assigned_name(node: ast.AST) -> bool:
    return isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)


@functools.cache
def list_named_inside(node: ast.AST) -> set[str]:
    """Parameters of a function; fields, methods and attributes of a class; what the docstring of either explains."""
    text = ast.get_docstring(node) if isinstance(node, Definition | ast.Module) else None
    entries = re.findall(r"^([*\w, ]+)(?: :.*)?$", text or "", re.M)
    names = {name for entry in entries for name in re.findall(r"\w+", entry)}
    names |= {leaf.arg for leaf in ast.walk(node) if isinstance(leaf, ast.arg)}
    if isinstance(node, ast.ClassDef):
        names |= {leaf.name for leaf in ast.walk(node) if isinstance(leaf, Function)}
        names |= {leaf.id for leaf in ast.walk(node) if isinstance(leaf, ast.Name) and is_assigned_name(leaf)}
        names |= {leaf.attr for leaf in ast.walk(node) if isinstance(leaf, ast.Attribute)}
    return names


def look_up_in_class(owner: ast.ClassDef, name: str, module: str) -> list[ast.AST]:
    """What a class, or a class that it is made from, has under a name."""
    methods = [node for node in owner.body if isinstance(node, Definition) and node.name == name]
    if methods or name in list_named_inside(owner):
        return [*methods] or [owner]
    bases = [base for node in owner.bases for base in look_up(module, ast.unparse(node).partition("[")[0])]
    return [
        member
        for base in bases
        if isinstance(base, ast.ClassDef) and base is not owner
        for member in look_up_in_class(base, name, module)
    ]


def look_up_in_module(module: str, parts: list[str]) -> list[ast.AST]:
    """What a module has under a name, or under the names of a class and of what is in it."""
    if not parts:
        return [parse_modules()[module]]
    node = collect_definitions(module).get(parts[0])
    if isinstance(node, ast.alias):
        return look_up_by_path([*node.name.split("."), *parts[1:]])
    if isinstance(node, ast.ClassDef) and len(parts) > 1:
        return look_up_in_class(node, parts[1], module)
    return [node] if node else []


@functools.cache
def list_modules_with_ending(ending: str) -> list[str]:
    return [name for name in parse_modules() if f".{name}".endswith(ending)]


def look_up_by_path(parts: list[str]) -> list[ast.AST]:
    """What is called `interval.Interval` or `analysis.statistics.interval.Interval`: the longest path counts."""
    for length in range(len(parts), 0, -1):
        ending = f".{'.'.join(parts[:length])}"
        if modules := list_modules_with_ending(ending):
            return [node for name in modules for node in look_up_in_module(name, parts[length:])]
    return []


def look_up(module: str, reference: str, owner: ast.ClassDef | None = None) -> list[ast.AST]:
    """What a name in a docstring means: in its class, its module, by a path of modules, or wherever one defines it."""
    parts = reference.split(".")
    return (
        (look_up_in_class(owner, parts[0], module) if owner and len(parts) == 1 else [])
        or look_up_in_module(module, parts)
        or look_up_by_path(parts)
        or [
            node
            for name in parse_modules()
            if isinstance(collect_definitions(name).get(parts[0]), Definition)
            for node in look_up_in_module(name, parts)
        ]
    )


@functools.cache
def list_docstrings() -> list[tuple[str, Definition, ast.ClassDef | None, str]]:
    """Module, function or class, the class around it, and its docstring."""

    def list_inside(node: ast.AST, owner: ast.ClassDef | None) -> Iterator[tuple[Definition, ast.ClassDef | None]]:
        for child in ast.iter_child_nodes(node):
            if not isinstance(child, ast.stmt | ast.excepthandler):
                continue  # no definition is in an expression
            if isinstance(child, Definition):
                yield child, child if isinstance(child, ast.ClassDef) else owner
            yield from list_inside(child, child if isinstance(child, ast.ClassDef) else owner)

    return [
        (module, node, owner, text)
        for module, tree in parse_modules().items()
        for node, owner in list_inside(tree, None)
        if (text := ast.get_docstring(node))
    ]


@pytest.mark.slow
def test_a_parameter_that_is_explained_elsewhere_is_there():
    wrong = []
    for module, node, owner, text in list_docstrings():
        references = [(re.findall(r"\w+", names), other) for names, other in AS_ELSEWHERE.findall(text)]
        references += [([name], other) for name, other in AS_OTHER_NAME.findall(text)]
        for names, other in references:
            targets = look_up(module, other, owner)
            there = {name for target in targets for name in list_named_inside(target)}
            if not targets or not there.issuperset(name for name in names if name[0].islower()):
                wrong.append(f"{module}.{node.name}: {', '.join(names)} of `{other}`")
    assert wrong == []


@pytest.mark.slow
def test_a_docstring_names_the_class_that_is_returned():
    wrong = []
    for module, node, _, text in list_docstrings():
        if isinstance(node, Function) and node.returns is not None:
            returned = re.findall(r"\w+", ast.unparse(node.returns))
            wrong += [f"{module}.{node.name}: {name}" for name in RETURN_TYPE.findall(text) if name not in returned]
    assert wrong == []


@pytest.mark.slow
def test_paths_to_modules_and_members_of_classes_are_there():
    wrong = []
    rooms = {part for module in parse_modules() for part in module.split(".")} - NO_ROOMS
    classes = {name for module in parse_modules() for name, node in collect_definitions(module).items()
               if isinstance(node, ast.ClassDef)}  # fmt: skip
    texts = [(module, tree, None, ast.get_docstring(tree) or "") for module, tree in parse_modules().items()]
    for module, node, owner, text in (*texts, *list_docstrings()):
        parameters = list_named_inside(node) if isinstance(node, Function) else set()
        for reference in DOTTED.findall(text):
            head, *_, last = reference.split(".")
            is_path = head in (rooms | classes) - parameters and last not in FILE_ENDINGS
            if is_path and not look_up(module, reference, owner):
                wrong.append(f"{module}: {reference}")
    assert wrong == []
