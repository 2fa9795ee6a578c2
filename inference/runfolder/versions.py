"""What a run was made with."""

from __future__ import annotations

import platform
from importlib import metadata

LIBRARIES = ("waver", "torch", "transformers", "openai", "pyarrow")


def versions() -> dict[str, str | None]:
    """Versions of Python, Waver and what it stands on, without importing any of it; None for what is not installed."""
    found: dict[str, str | None] = {"python": platform.python_version()}
    for library in LIBRARIES:
        try:
            found[library] = metadata.version(library)
        except metadata.PackageNotFoundError:
            found[library] = None
    return {**found, "platform": platform.platform()}
