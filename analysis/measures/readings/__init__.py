"""Read the answers to the same prompts in every way that a run holds, as arrays (readings, items, wordings)."""

from __future__ import annotations

from analysis.measures.readings.groups import ReadingGroup, read_groups
from analysis.measures.readings.kinds import ReadingKind, list_settings

__all__ = ["ReadingGroup", "ReadingKind", "list_settings", "read_groups"]
