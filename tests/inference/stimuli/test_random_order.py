"""Keys of random orders: samples of runs that were begun with an older Waver stay as they are."""

from __future__ import annotations

import hashlib
import json

import pytest

from inference.stimuli.random_order import compute_sort_key_for_random_order


@pytest.mark.parametrize("names", [("template", "a", 'say "b"'), ("\\", "\0\x1f\x7f\n\t", "é日本😀\u2028", "</")])
def test_a_key_is_the_digest_of_seed_and_names_as_json(names):
    for seed in (0, 7, -1):
        written = json.dumps([seed, *names], ensure_ascii=False)
        assert compute_sort_key_for_random_order(seed, *names) == hashlib.sha256(written.encode()).digest()
