"""Define the error for everything that a user can put right."""

from __future__ import annotations


class InputError(Exception):
    """Report a wrong call or input in one line: the file, the row or field, and what to do (exit status 2)."""
