"""Render the Jinja templates of strangers: they read what they are given, and end soon with a text of bounded size.

A template is a program, so every rendering has a budget (`budget.Budget`). Each pass of a loop, each call and each
character or entry that is made takes from it, and what could make more than is left is refused before it begins:
`'x' * 10**9` takes no memory. What goes beyond the budget raises `budget.TooMuch`, a `jinja2.TemplateError`.

`Sandbox` can take the place of `jinja2.sandbox.ImmutableSandboxedEnvironment` wherever that is made, for example in
`transformers.utils.chat_template_utils`, which compiles the chat templates of checkpoints with it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Set
from contextlib import contextmanager
from typing import Any

import jinja2
import jinja2.meta
import jinja2.sandbox
from jinja2 import nodes
from jinja2.runtime import Context
from jinja2.visitor import NodeTransformer

from ground.errors import InputError
from inference.stimuli.budget import CONTAINERS, budget, current, foresee_operator, foresee_text

SOURCE = 100_000
"""Characters of a template; the chat templates of published models have some 30,000 at most."""
PASSED: tuple[Any, ...] = (range, *CONTAINERS)
# One draws by chance, so that the same prompt could not be asked again; the others take longer than their text is long.
NO_FILTERS = ("random", "striptags", "urlize", "xmlattr", "pprint", "wordwrap")


def sandbox() -> Sandbox:
    """Make a Jinja environment whose templates can read what they are given and nothing else, within a budget."""
    return Sandbox(undefined=jinja2.StrictUndefined, autoescape=False, keep_trailing_newline=True)


def check_variables(where: str, source: str, needed: Set[str], known: Set[str]) -> set[str]:
    """Check the variables of a template, and return those that it uses.

    Raises
    ------
    InputError
        For bad syntax, a variable that is not `known`, and one that is `needed` but not used.
    """
    with _syntax_of(where):
        used = jinja2.meta.find_undeclared_variables(sandbox().parse(source))
    if used - known:
        raise InputError(f"{where}: unknown variable '{min(used - known)}'; there are {', '.join(sorted(known))}")
    if needed - used:
        raise InputError(f"{where}: the template never uses {{{{ {min(needed - used)} }}}}")
    return used


def compiled(where: str, source: str) -> jinja2.Template:
    """Compile a template, to be rendered any number of times.

    Raises
    ------
    InputError
        For what cannot be compiled; `where` names the place of the template.
    """
    with _syntax_of(where):
        return sandbox().from_string(source)


@contextmanager
def _syntax_of(where: str) -> Iterator[None]:
    try:
        yield
    except jinja2.TemplateSyntaxError as error:
        raise InputError(f"{where}: template syntax, line {error.lineno}: {error.message}") from None
    except RecursionError:
        raise InputError(f"{where}: template syntax: nested too deeply") from None
    except (SyntaxError, ValueError, MemoryError, OverflowError) as error:  # from Python, to which Jinja translates
        raise InputError(f"{where}: template syntax: {str(error) or type(error).__name__}") from None


class _Template(jinja2.Template):
    """A template whose renderings are bounded."""

    def render(self, *given: Any, **variables: Any) -> str:
        with budget():
            return super().render(*given, **variables)


class Sandbox(jinja2.sandbox.ImmutableSandboxedEnvironment):
    """An environment in which all that can take long or become large takes from the budget of the rendering."""

    template_class = _Template
    intercepted_binops = frozenset({"+", "*", "**", "%"})

    def __init__(self, *given: Any, **settings: Any) -> None:
        super().__init__(*given, **{**settings, "finalize": _shown})
        del self.globals["lipsum"]
        for name in NO_FILTERS:
            del self.filters[name]
        self.filters.update({COUNTED: _filtered, JOINED: _joined, STEPS: _steps, MADE: _made})

    @staticmethod
    def concat(parts: Iterable[str]) -> str:
        """Join the parts of an output: how Jinja makes every text."""
        parts = list(parts)
        current().spend(sum(map(len, parts)))
        return "".join(parts)

    def call_binop(self, context: Context, operator: str, left: Any, right: Any) -> Any:
        """Compute an operator, unless its result is too large."""
        if operator != "+" or type(left) is not str:  # nearly all have one text before another: quicker, and no bomb
            foresee_operator(operator, left, right)
        return current().made(self.binop_table[operator](left, right))

    def call_filter(self, name: str, value: Any, args: Any = None, kwargs: Any = None, *rest: Any, **more: Any) -> Any:
        """Apply a filter, unless its result is too large."""
        value, args = foresee_text(name, value, args or (), kwargs or {})
        return current().made(super().call_filter(name, value, args, kwargs, *rest, **more))

    def call(__self, __context: Context, __obj: Any, *args: Any, **kwargs: Any) -> Any:
        """Call a method, a macro or another function, unless its result is too large."""
        current().spend(1 + sum(len(each) for each in args if isinstance(each, PASSED)))
        method = getattr(__obj, "__wrapped__", __obj)  # str.format comes wrapped
        owner = getattr(method, "__self__", None)
        if isinstance(owner, str | bytes | int):
            args = tuple(foresee_text(method.__name__, owner, args, kwargs)[1])
        return current().made(super().call(__context, __obj, *args, **kwargs))

    def _parse(self, source: str, *rest: Any) -> Any:
        """Parse a template, and let it count: before anything is made of it, since Jinja computes constants early."""
        if len(source) > SOURCE:
            raise jinja2.TemplateSyntaxError(f"more than {SOURCE:,} characters", 1)
        return _Counting(self).visit(super()._parse(source, *rest))


# Filters of our own, which `_Counting` puts into a template: no template can write a name with a blank.
COUNTED, JOINED, STEPS, MADE = "any filter", "a ~ b", "take steps", "a slice"


class _Counting(NodeTransformer):
    """Let a template count what no method of an environment sees: passes, filters, joined texts, slices."""

    def __init__(self, environment: Sandbox) -> None:
        self._known = frozenset(environment.filters) - {COUNTED, JOINED, STEPS, MADE}

    def visit_For(self, node: nodes.For) -> nodes.Node:
        self._count_passes(node)
        if node.test is not None:
            node.test = nodes.And(_filter(nodes.Const(1), STEPS), node.test)
        return self.generic_visit(node)

    def visit_Macro(self, node: nodes.Macro) -> nodes.Node:
        self._count_passes(node)
        return self.generic_visit(node)

    def visit_CallBlock(self, node: nodes.CallBlock) -> nodes.Node:
        self._count_passes(node)
        return self.generic_visit(node)

    def visit_Filter(self, node: nodes.Filter) -> nodes.Node:
        if node.name in self._known:
            node.args = [nodes.Const(node.name), *node.args]
            node.name = COUNTED
        return self.generic_visit(node)

    def visit_Concat(self, node: nodes.Concat) -> nodes.Node:
        return self.generic_visit(_filter(nodes.List(node.nodes), JOINED))

    def visit_Getitem(self, node: nodes.Getitem) -> nodes.Node:
        visited = self.generic_visit(node)
        return _filter(visited, MADE) if isinstance(node.arg, nodes.Slice) else visited

    def _count_passes(self, node: Any) -> None:
        """Take as many steps for every pass as the body has parts."""
        parts = sum(1 for child in node.body for _ in child.find_all(nodes.Node))
        node.body = [nodes.ExprStmt(_filter(nodes.Const(1 + parts), STEPS)), *node.body]


def _filter(node: nodes.Node, name: str) -> nodes.Filter:
    return nodes.Filter(node, name, [], [], None, None)


@jinja2.pass_context  # so that none of these is computed when a template is compiled
def _filtered(context: Context, value: Any, name: str, *args: Any, **kwargs: Any) -> Any:
    return context.environment.call_filter(name, value, args, kwargs, context)


@jinja2.pass_context
def _joined(context: Context, parts: list[Any]) -> str:
    return Sandbox.concat(str(_shown(context, part)) for part in parts)


@jinja2.pass_context
def _steps(context: Context, count: int) -> bool:
    current().spend(count)
    return True


@jinja2.pass_context
def _made(context: Context, value: Any) -> Any:
    return current().made(value)


@jinja2.pass_context
def _shown(context: Context, value: Any) -> Any:
    """Check that a value may become text: a list of a few names may stand for a text of gigabytes."""
    if not isinstance(value, str):
        spent = current()
        spent.spend(spent.size(value))
    return value
