"""Wrong calls: options and names."""

from __future__ import annotations

from helpers.refusals import Case

CASES = [
    Case(
        "unknown protocol",
        "inference run agremeent --items items.csv --model demo --out run",
        ("agremeent", "agreement"),
    ),
    Case(
        "no items file",
        "inference run agreement --items items.csv --model demo --out run",
        ("items.csv",),
    ),
    Case("no run folder", "analysis table nowhere stability", ("nowhere",)),
]
