"""Draws that depend on a seed and on what is drawn, and on nothing else: other items may come, go and change places."""

from __future__ import annotations

import hashlib
import json


def place(seed: int, *names: str) -> bytes:
    """Where something stands in a random order of everything of its kind; the same for ever.

    Parameters
    ----------
    seed
        Another seed gives another order.
    names
        The order and what is placed in it ("template", item, template); places in different orders are independent.
    """
    return hashlib.sha256(json.dumps([seed, *names], ensure_ascii=False).encode()).digest()
