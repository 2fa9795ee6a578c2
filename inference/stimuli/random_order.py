"""Put things in a random order that stays the same when other things are added, removed or moved."""

from __future__ import annotations

import hashlib
from json.encoder import encode_basestring


def compute_sort_key_for_random_order(seed: int, *names: str) -> bytes:
    """Compute the sort key of one thing in a random order of all things of its kind.

    A key depends on the seed and the thing's own names, on nothing else. Say the keys sort as b, a, c: a sample of two
    is b and a. A new d that sorts between them takes the place of a; one that sorts later changes nothing.
    `random.sample` would choose others whenever the number of things changes.

    Parameters
    ----------
    seed
        Another seed gives another order.
    names
        The name of the order, then the thing: ("template", item, template). Different orders are independent.

    Returns
    -------
    bytes
        A sha256, to be compared with others.
    """
    # As `json.dumps([seed, *names], ensure_ascii=False)` writes it, which takes three times as long.
    return hashlib.sha256(f"[{seed}, {', '.join(map(encode_basestring, names))}]".encode()).digest()
