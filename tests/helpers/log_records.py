"""Collect what is logged: pytest's own plugin is off, since it adds its handlers to every logger before each test."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from logging.handlers import BufferingHandler


@contextmanager
def collect_log_records(level: int = logging.WARNING) -> Iterator[list[logging.LogRecord]]:
    """Yield the list that grows with every record of at least this level, of all loggers that hand theirs on."""
    root, handler = logging.getLogger(), BufferingHandler(capacity=1_000_000)
    before = root.level
    root.setLevel(level)
    root.addHandler(handler)
    try:
        yield handler.buffer
    finally:
        root.removeHandler(handler)
        root.setLevel(before)
