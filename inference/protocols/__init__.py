"""The protocols: how items become a study. A protocol is a module with `NAME` and `study(items, name, source)`."""

from __future__ import annotations

from inference.protocols import agreement
from inference.study import Item, Study

PROTOCOLS = {module.NAME: module for module in (agreement,)}


def build(protocol: str, items: tuple[Item, ...], name: str, source: str = "") -> Study:
    """The study of a protocol (a key of `PROTOCOLS`) over items."""
    return PROTOCOLS[protocol].study(items, name, source)
