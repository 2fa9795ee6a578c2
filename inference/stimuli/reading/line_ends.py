"""End lines as Unix does: a text has no other wording because a file was saved on Windows or an old Mac."""

from __future__ import annotations

from typing import Any


def unify_line_ends_of_all_texts(value: Any) -> Any:
    r"""Replace the line ends `\r\n` and `\r` by `\n` in a text, or in all texts of a list or a mapping.

    >>> unify_line_ends_of_all_texts({"text": "one\r\ntwo", "choices": ["a\rb", 3]})
    {'text': 'one\ntwo', 'choices': ['a\nb', 3]}
    """
    if isinstance(value, str):
        return value.replace("\r\n", "\n").replace("\r", "\n") if "\r" in value else value
    if isinstance(value, list | tuple):
        return type(value)(map(unify_line_ends_of_all_texts, value))
    if isinstance(value, dict):
        return {name: unify_line_ends_of_all_texts(entry) for name, entry in value.items()}
    return value
