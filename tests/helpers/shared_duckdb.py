"""Runs that are opened in the process of the tests share a DuckDB, each with a catalogue of its own."""

from __future__ import annotations

import itertools
import os
import sys
from typing import Any

MODULES = ("analysis.runs.database", "analysis.compare.pairing", "analysis.features.computation",
           "analysis.pages.drift.series")  # fmt: skip
MOST_CATALOGUES = 30  # of one DuckDB: it keeps their tables for as long, and looks through all for a name


def share_duckdb_of_opened_runs() -> None:
    """Let the modules that open runs connect to one DuckDB: to start another takes 15 ms, thousands of times.

    Connections with other settings have another one. That of tidy tables, which locks it, has one of its own.
    """
    from analysis.reporting.tidy import tables  # noqa: F401 - imported now, it keeps the function as it is
    from analysis.runs import database

    connect_anew, numbers = database.connect_duckdb, itertools.count()
    shared: dict[object, Any] = {}

    def connect_duckdb(*args: Any, **settings: Any) -> Any:
        number = next(numbers)
        key = (os.getpid(), os.environ.get("TMPDIR"), args, tuple(settings.items()))
        if number % MOST_CATALOGUES == 0:
            shared.clear()
        if key not in shared:
            shared[key] = connect_anew(*args, **settings)
        con = shared[key].cursor()
        con.execute(f"ATTACH ':memory:' AS run_{number}")
        con.execute(f"USE run_{number}")
        return con

    for name in MODULES:
        if name in sys.modules:
            vars(sys.modules[name])["connect_duckdb"] = connect_duckdb
