"""Read the answers to the same prompts in every way that a run holds, as arrays (readings, items, wordings)."""

from analysis.measures.readings.groups import ReadingGroup, read_reading_groups
from analysis.measures.readings.kinds import ReadingKind, list_readings_by_setting

__all__ = ["ReadingGroup", "ReadingKind", "list_readings_by_setting", "read_reading_groups"]
