"""The errors that are answered with one line instead of a traceback."""

from __future__ import annotations


class InputError(Exception):
    """A wrong call or input: one line naming the file, the row or field, and what to do (exit status 2)."""


class RunFailed(Exception):
    """The call was right, but not everything could be asked; one line saying what to do (exit status 1)."""
