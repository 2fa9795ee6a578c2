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


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("retry-after", "nan"),
        ("retry-after", "inf"),
        ("retry-after", "-5"),
        ("retry-after", "1e9"),
        ("retry-after", "999999999999"),
        ("retry-after", "soon"),
        ("retry-after", "Fri, 31 Dec 9999 23:59:59 GMT"),
        ("retry-after", "Fri, 31 Dec 9999 23:59:59 -2359"),
        ("retry-after", "Sat, 01 Jan 2000 00:00:00 GMT"),
        ("retry-after-ms", "-1"),
        ("retry-after-ms", "99999999999999"),
    ],
)
def test_a_wait_that_is_none_says_nothing(name, value):
    assert read_retry_after({name: value}) is None
