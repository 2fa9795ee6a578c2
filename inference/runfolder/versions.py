"""Look up the versions of the software that makes a run."""

from __future__ import annotations

import platform
from importlib import metadata

LIBRARIES = ("waver", "torch", "transformers", "openai", "pyarrow")


def versions() -> dict[str, str | None]:
    """Look up the versions of Python, Waver and its main libraries without importing them; None: not installed."""
    found: dict[str, str | None] = {"python": platform.python_version()}
    for library in LIBRARIES:
        try:
            found[library] = metadata.version(library)
        except metadata.PackageNotFoundError:
            found[library] = None
    return {**found, "platform": platform.platform()}
