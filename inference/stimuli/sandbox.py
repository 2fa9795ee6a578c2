"""Check and compile the Jinja templates of strangers in a sandbox."""

from __future__ import annotations

from collections.abc import Set

import jinja2
import jinja2.meta
import jinja2.sandbox

from inference.errors import InputError


def sandbox() -> jinja2.Environment:
    """Make a Jinja environment whose templates can read what they are given and nothing else."""
    return jinja2.sandbox.ImmutableSandboxedEnvironment(
        undefined=jinja2.StrictUndefined, autoescape=False, keep_trailing_newline=True
    )


def check_variables(where: str, source: str, needed: Set[str], known: Set[str]) -> set[str]:
    """Check the variables of a template, and return those that it uses.

    Raises
    ------
    InputError
        For bad syntax, a variable that is not `known`, and one that is `needed` but not used.
    """
    try:
        used = jinja2.meta.find_undeclared_variables(sandbox().parse(source))
    except jinja2.TemplateSyntaxError as error:
        raise InputError(f"{where}: template syntax, line {error.lineno}: {error.message}") from None
    if used - known:
        raise InputError(f"{where}: unknown variable '{min(used - known)}'; there are {', '.join(sorted(known))}")
    if needed - used:
        raise InputError(f"{where}: the template never uses {{{{ {min(needed - used)} }}}}")
    return used
