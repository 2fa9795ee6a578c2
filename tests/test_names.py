"""Names are counted: a stranger finds a thing by its name, and learns from its docstring what goes in and comes out."""

from __future__ import annotations

import ast
import functools
import re
from collections import Counter
from collections.abc import Iterator
from types import UnionType

import pytest

from helpers.sources import ROOT, list_modules, list_nodes_by_module, parse_modules

SAYS_NOTHING = frozenset(
    re.findall(
        r"\w+",
        """found each known own others given one both alike apart made told said shown kept here there what rest
    seen wanted asked meant""",
    )
)
IRREGULAR = frozenset(
    re.findall(
        r"\w+",
        """told said shown drawn found made given known kept written taken meant left seen gone held built cut
    put""",
    )
)
# Methods that replace those of a base class from outside the repository, which calls them and documents them.
OVERRIDES = {
    "ArgumentParser": {"parse_known_args"},
    "ImmutableSandboxedEnvironment": {"call", "call_binop"},
    "TrainerCallback": set(
        re.findall(r"\w+", "on_train_begin on_step_end on_prediction_step on_log on_evaluate on_save on_train_end")
    ),
}
Function = ast.FunctionDef | ast.AsyncFunctionDef


def list_nodes_of_a_kind(kind: type | UnionType) -> Iterator[ast.AST]:
    for name in list_modules():
        yield from (node for node in list_nodes_by_module()[name] if isinstance(node, kind))


@functools.cache
def list_functions() -> list[Function]:
    return [function for function in list_nodes_of_a_kind(Function) if not function.name.startswith("__")]


def is_participle(name: str) -> bool:
    word = name.strip("_")
    return word in IRREGULAR or bool(re.fullmatch(r"[a-z]{2,}ed", word))


def list_assigned_names() -> Iterator[str]:
    for node in list_nodes_of_a_kind(ast.Assign | ast.AnnAssign | ast.For | ast.comprehension | ast.NamedExpr):
        for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
            yield from (leaf.id for leaf in ast.walk(target) if isinstance(leaf, ast.Name))


@pytest.mark.slow
def test_function_names_say_a_verb_and_an_object():
    names = [function.name for function in list_functions()]
    of_one_word = [name for name in names if "_" not in name.strip("_")]
    assert len(of_one_word) / len(names) <= 0.30, Counter(of_one_word).most_common(20)
    participles = [name for name in names if is_participle(name)]
    assert len(participles) <= 15, participles


@pytest.mark.slow
def test_functions_seldom_share_their_name():
    names = Counter(function.name for function in list_functions())
    shared = sum(number for number in names.values() if number > 1)
    assert shared / names.total() <= 0.40, names.most_common(20)


@pytest.mark.slow
def test_variables_are_named_by_what_they_hold():
    names = list(list_assigned_names())
    say_nothing = Counter(name for name in names if name in SAYS_NOTHING)
    assert say_nothing.total() / len(names) <= 0.005, say_nothing


def test_no_room_has_more_than_twenty_files():
    rooms = Counter(file.parent for file in list_modules().values() if file.name != "__init__.py")
    assert [str(room) for room, number in rooms.items() if number > 20] == []


def list_overrides(node: ast.stmt) -> set[str]:
    """Names of the methods of a class that `OVERRIDES` has for its bases: `argparse.ArgumentParser` is found, too."""
    bases = node.bases if isinstance(node, ast.ClassDef) else []
    return {name for base in bases for name in OVERRIDES.get(ast.unparse(base).rpartition(".")[2], ())}


def list_public_functions() -> Iterator[tuple[str, Function]]:
    """Functions and methods that others call, with two parameters or more (`self` is none), without `OVERRIDES`."""
    for file, tree in ((file, parse_modules()[name]) for name, file in list_modules().items()):
        for node in tree.body:
            members = node.body if isinstance(node, ast.ClassDef) and not node.name.startswith("_") else [node]
            overrides = list_overrides(node)
            for function in members:
                if isinstance(function, Function) and function.name[0] != "_" and function.name not in overrides:
                    arguments = function.args
                    names = [a.arg for a in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)]
                    if len([name for name in names if name not in ("self", "cls")]) >= 2:
                        yield f"{file.relative_to(ROOT)}:{function.lineno} {function.name}", function


def returns_something(function: Function) -> bool:
    nothing = ("None", "NoReturn", "Iterator[None]")  # the last one: a context manager that gives its block nothing
    return function.returns is not None and ast.unparse(function.returns) not in nothing


def test_public_functions_say_what_goes_in_and_comes_out():
    without = []
    functions = list(list_public_functions())
    for name, function in functions:
        text = ast.get_docstring(function) or ""
        comes_out = "Returns\n---" in text or "Yields\n---" in text
        if "Parameters\n---" not in text or (returns_something(function) and not comes_out):
            without.append(name)
    assert len(without) / len(functions) <= 0.05, without
