"""Look up the versions of the software that makes a run."""

from __future__ import annotations

import platform
from importlib import metadata

DISTRIBUTIONS = {"waver": "waver-lm"} | {name: name for name in ("torch", "transformers", "openai", "pyarrow")}


def versions() -> dict[str, str | None]:
    """Look up the versions of Python, Waver and its main libraries without importing them; None: not installed."""
    found: dict[str, str | None] = {"python": platform.python_version()}
    for library, distribution in DISTRIBUTIONS.items():
        try:
            found[library] = metadata.version(distribution)
        except metadata.PackageNotFoundError:
            found[library] = None
    return {**found, "platform": platform.platform()}
