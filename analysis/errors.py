"""The one error a user can cause."""

from __future__ import annotations


class InputError(Exception):
    """A wrong call or input: one line naming the file, the row or field, and what to do (exit status 2)."""
