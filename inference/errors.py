"""Define the errors that end a command with one line instead of a traceback."""

from __future__ import annotations


class InputError(Exception):
    """A wrong call or input: the line names the file, the row or field, and what to do (exit status 2)."""


class RunFailed(Exception):
    """A right call that could not ask everything: the line says what to do (exit status 1)."""
