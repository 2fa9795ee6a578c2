"""A prompt whose worker on a cluster died has a response of the kind that its way of answering has."""

from __future__ import annotations

import pytest

from inference.asking.cluster import _build_response_of_dead_worker
from inference.asking.rounds import Exact
from inference.engines.contract import Generation, Sampling, Score, Thinking, Thoughts


@pytest.mark.parametrize(
    ("way", "kind"), [(Exact(), Score), (Sampling(), Generation), (Thinking(thoughts=2), Thoughts)]
)
def test_a_lost_response_is_an_error_of_its_kind(way, kind):
    assert _build_response_of_dead_worker(way, "gone") == kind(error="gone")
