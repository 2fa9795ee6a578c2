"""Render the Jinja templates of strangers: they read what they are given, and end with a text of bounded size.

The sandbox is Jinja's own, with its longest range. Beyond that, no value and no output has more than `LARGEST`
characters or entries, what repeats or pads is refused before it takes memory, and loops and calls end after `SECONDS`.
That stops mistakes and plain bombs. A template that is made to harm may still hold up its user, as in transformers.

`Sandbox` can take the place of `jinja2.sandbox.ImmutableSandboxedEnvironment` wherever that is made, for example in
`transformers.utils.chat_template_utils`, which compiles the chat templates of checkpoints with it.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, MutableMapping, Set
from contextlib import contextmanager
from functools import lru_cache, wraps
from typing import Any

import jinja2
import jinja2.meta
import jinja2.sandbox
from jinja2 import nodes
from jinja2.runtime import Context
from jinja2.visitor import NodeTransformer

from ground.errors import InputError

SOURCE = 100_000
"""Characters of a template; the chat templates of published models have some 30,000 at most."""
LARGEST = 4_000_000
"""Characters, entries and digits of a value: more than any model's window holds."""
REPEATED = 5_000
"""Characters or entries that one `*` makes, and the widest padding."""
SECONDS = 0.5
"""Processor time of a rendering; a usual one takes 20 microseconds."""
# `random` would make a prompt that cannot be asked again; the time of the others grows faster than their text.
NO_FILTERS = ("random", "striptags", "urlize", "xmlattr", "pprint", "wordwrap")
GROWING = {"batch", "center", "expandtabs", "format", "format_map", "indent", "join", "ljust", "replace", "rjust"}
GROWING |= {"round", "slice", "to_bytes", "tojson", "translate", "zfill"}
"""Filters and methods that can make a long text of a short one."""
WIDE = re.compile(r"""%(\([^)]*\))?[-+#.0-9]*([0-9]{5}|\*)|\{[^{}"']*([0-9]{5}|:[^{}"']*\{)""")
"""A width of five digits, or one that comes from the values: `%99999d`, `{:>99999}`, `%*d`, `{:{}}`."""


class TooMuch(jinja2.TemplateRuntimeError):
    """A template makes too large a value, or takes too long."""


def build_sandbox() -> Sandbox:
    """Build a Jinja environment whose templates can read what they are given and nothing else, within bounds."""
    return Sandbox(undefined=jinja2.StrictUndefined, autoescape=False, keep_trailing_newline=True)


def check_and_list_template_variables(where: str, source: str, needed: Set[str], allowed: Set[str]) -> set[str]:
    """Check the variables of a template.

    Parameters
    ----------
    where
        The place of the template, as messages name it.
    source
        The template.
    needed, allowed
        Variables that it must use, and all that it may use.

    Returns
    -------
    The variables that it uses.

    Raises
    ------
    InputError
        For bad syntax, a variable that is not `allowed`, and one that is `needed` but not used.
    """
    with _convert_template_syntax_errors(where):
        used = _list_template_variables(source)
    if used - allowed:
        raise InputError(f"{where}: unknown variable '{min(used - allowed)}'; there are {', '.join(sorted(allowed))}")
    if needed - used:
        raise InputError(f"{where}: the template never uses {{{{ {min(needed - used)} }}}}")
    return set(used)


# A call reads the same few prompts for every study and every model: each is parsed and compiled once.
@lru_cache(maxsize=256)
def _list_template_variables(source: str) -> frozenset[str]:
    """List the variables that a template uses."""
    return frozenset(jinja2.meta.find_undeclared_variables(build_sandbox().parse(source)))


@lru_cache(maxsize=256)
def _compile_source(source: str) -> jinja2.Template:
    """Compile a template, in a sandbox of its own."""
    return build_sandbox().from_string(source)


def compile_template(where: str, source: str) -> jinja2.Template:
    """Compile a template, to be rendered any number of times.

    Parameters
    ----------
    where
        The place of the template, as messages name it.
    source
        The template.

    Returns
    -------
    The template, in a sandbox of its own.

    Raises
    ------
    InputError
        For what cannot be compiled.
    """
    with _convert_template_syntax_errors(where):
        return _compile_source(source)


@contextmanager
def _convert_template_syntax_errors(where: str) -> Iterator[None]:
    """Turn an error in the syntax of a template into one line that says where it is."""
    try:
        yield
    except jinja2.TemplateSyntaxError as error:
        raise InputError(f"{where}: template syntax, line {error.lineno}: {error.message}") from None
    except RecursionError:
        raise InputError(f"{where}: template syntax: nested too deeply") from None
    except (SyntaxError, ValueError, MemoryError, OverflowError) as error:  # from Python, to which Jinja translates
        raise InputError(f"{where}: template syntax: {str(error) or type(error).__name__}") from None


class Sandbox(jinja2.sandbox.ImmutableSandboxedEnvironment):
    """Jinja's sandbox, in which no value, output or rendering goes beyond the bounds of this module."""

    intercepted_binops = frozenset({"+", "*", "**", "%"})

    def __init__(self, *arguments: Any, **settings: Any) -> None:
        super().__init__(*arguments, **{**settings, "finalize": _require_value_within_limit})
        del self.globals["lipsum"]
        for name in NO_FILTERS:
            del self.filters[name]
        self.filters |= {
            name: _wrap_filter_with_limits(name, self.filters[name]) for name in GROWING & self.filters.keys()
        }

    def make_globals(self, d: MutableMapping[str, Any] | None) -> MutableMapping[str, Any]:
        """Gather what a template can name besides its values: in one dict, which every rendering copies at once."""
        return {**self.globals, **(d or {})}

    @staticmethod
    def concat(parts: Iterable[str]) -> str:
        """Join the parts of an output: how Jinja makes every text."""
        parts = list(parts)
        _refuse_size_above_limit(sum(map(len, parts)), LARGEST)
        return "".join(parts)

    def call_binop(self, context: Context, operator: str, left: Any, right: Any) -> Any:
        """Compute an operator, unless its result is too large."""
        sequence, times = (right, left) if isinstance(left, int) else (left, right)
        if operator == "%":
            _refuse_template_call_with_large_result("format", [left])
        elif operator == "**" and isinstance(left, int) and isinstance(right, int):
            _refuse_size_above_limit(left.bit_length() * right, LARGEST)
        elif operator == "*" and isinstance(times, int) and hasattr(sequence, "__len__"):
            _refuse_size_above_limit(len(sequence) * times, REPEATED)
        return _require_value_within_limit(self.binop_table[operator](left, right))

    def call(__self, __context: Context, __obj: Any, *args: Any, **kwargs: Any) -> Any:
        """Call a method, a macro or another function, unless its result is too large or the time is over."""
        now = time.thread_time()
        if now > vars(__context).setdefault("end", now + SECONDS):
            raise TooMuch(f"it computes for more than {SECONDS:g} s")
        if __obj is ...:  # one more pass of a loop; no template can write this
            return None
        method = getattr(__obj, "__wrapped__", __obj)  # str.format comes wrapped
        if getattr(method, "__name__", None) in GROWING:
            _refuse_template_call_with_large_result(
                method.__name__, [getattr(method, "__self__", None), *args, *kwargs.values()]
            )
        return _require_value_within_limit(super().call(__context, __obj, *args, **kwargs))

    def _parse(self, source: str, *arguments: Any) -> Any:
        """Parse a template that is not too long, and put the bounds into it."""
        if len(source) > SOURCE:
            raise jinja2.TemplateSyntaxError(f"more than {SOURCE:,} characters", 1)
        return _Bounds().visit(super()._parse(source, *arguments))


class _Bounds(NodeTransformer):
    """Let every pass of a loop make a call, which looks at the clock, and let `~` be the filter `join`."""

    def visit_For(self, node: nodes.For) -> nodes.Node:
        """Put a call into the loop's body, so that every pass looks at the clock."""
        node.body.insert(0, nodes.ExprStmt(nodes.Call(nodes.Const(...), [], [], None, None)))
        return self.generic_visit(node)

    def visit_Concat(self, node: nodes.Concat) -> nodes.Node:
        """Replace `~` by the filter `join`, whose result is bounded."""
        return self.generic_visit(nodes.Filter(nodes.List(node.nodes), "join", [], [], None, None))


def _wrap_filter_with_limits(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """Make a filter refuse to build too large a value."""

    @wraps(function)
    def apply_filter(*args: Any, **kwargs: Any) -> Any:
        values = [value for value in args if not isinstance(value, nodes.EvalContext)]  # which some filters get first
        _refuse_template_call_with_large_result(name, [*values, *kwargs.values()])
        return _require_value_within_limit(function(*args, **kwargs))

    return apply_filter


def _refuse_template_call_with_large_result(name: str, values: list[Any]) -> None:
    """Refuse a call whose result would be too large: wide padding, many repeats, long texts put in many times."""
    sizes = [1, 1, *sorted(len(value) for value in _require_value_within_limit(values) if hasattr(value, "__len__"))]
    if name.startswith("format"):
        _refuse_size_above_limit(2 * REPEATED if WIDE.search(str(values[0])) else 0, REPEATED)
    else:
        _refuse_size_above_limit(sizes[-1] * sizes[-2] // 100, LARGEST)
        _refuse_size_above_limit(max([0, *(value for value in values[1:] if isinstance(value, int))]), REPEATED)


def _require_value_within_limit(value: Any) -> Any:
    """Give back a value, unless it is too large: a list of few names may stand for a text of gigabytes."""
    if isinstance(value, (str, int)):  # nearly all are
        _refuse_size_above_limit(len(value) if isinstance(value, str) else value.bit_length() // 3, LARGEST)
        return value
    size, pending = 0, [value]
    while pending:
        member = pending.pop()
        if isinstance(member, (str, bytes)):
            size += len(member)
        elif isinstance(member, int):
            size += member.bit_length() // 3
        else:
            size += 1
            pending.extend(
                member.values() if isinstance(member, Mapping) else member if isinstance(member, Collection) else ()
            )
        _refuse_size_above_limit(size, LARGEST)
    return value


def _refuse_size_above_limit(size: int, largest: int) -> None:
    """Refuse a size above the largest that is allowed."""
    if size > largest:
        raise TooMuch(f"it makes more than {largest:,} characters or entries")
