"""Make names that every file system takes."""

from __future__ import annotations

import re

from ground.writing import is_reserved_by_windows


def make_portable_name(name: str) -> str:
    r"""Turn a name into a folder's name: what a file system refuses becomes _.

    >>> make_portable_name("tea: hot?"), make_portable_name("a/b"), make_portable_name("nul"), make_portable_name("..")
    ('tea_ hot_', 'a_b', '_nul', '_')
    """
    safe = re.sub(r'[<>:"/\\|?*\x00-\x1f\x7f]', "_", name).rstrip(". ")[:100].rstrip(". ")
    is_taken = is_reserved_by_windows(safe) or safe.split(".")[0].upper() == "DATA"
    return f"_{safe}" if not safe or is_taken else safe
