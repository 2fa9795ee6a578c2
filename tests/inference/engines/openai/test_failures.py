"""How long a server asks to wait, read from the headers of a reply."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest

from inference.engines.openai.failures import read_retry_after


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after": "30"}, 30),
        ({"retry-after": " 0.5 "}, 0.5),
        ({"retry-after": "0"}, 0),
        ({"retry-after-ms": "1500", "retry-after": "30"}, 1.5),
        ({"retry-after-ms": "soon", "retry-after": "30"}, 30),
        ({}, None),
    ],
)
def test_seconds(headers, seconds):
    assert read_retry_after(headers) == seconds


def test_a_date():
    """RFC 9110, section 10.2.3; dates have whole seconds, and the test takes a moment."""
    soon = format_datetime(datetime.now(UTC) + timedelta(seconds=100), usegmt=True)
    assert 90 < read_retry_after({"retry-after": soon}) <= 100
