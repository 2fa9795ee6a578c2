"""The protocols: what is asked about items, and how.

A protocol is a module with `NAME`, `FAMILIES` (those of `models.FAMILIES` that it has questions for),
`add_arguments(parser)` for its part of the command line, and `prepare(options)`, which makes the study and its
questions (`asking.Questions`).
"""

from __future__ import annotations

import importlib
from types import ModuleType

# Name -> what the command line says about it; a module is imported only where it is called for.
PROTOCOLS = {
    "agreement": "does a model agree with a statement, however it is worded (Haller et al.)",
    "wording": "does a model say the same when a yes/no question is put in other words (Takayama et al.)",
    "scoring": "which number a model gives a text, or a translation, on a scale (Sato et al.)",
}


def protocol(name: str) -> ModuleType:
    """The module of a protocol (a key of `PROTOCOLS`)."""
    return importlib.import_module(f"inference.protocols.{name}")
