"""Does a model say the same when a yes/no question is put in other words? The measures of Takayama et al.

::

    run = runs.open("results/wording")
    consistency.consistency(run)                        # one row per model, language, task, condition and pattern
    consistency.consistency(run, invalid="inconsistent")
    consistency.overall(run)                            # means over patterns and tasks
"""

from __future__ import annotations

from analysis.consistency.answers import CONVENTIONS, ORIGINAL, PATTERNS, PROTOCOL, cells, studies
from analysis.consistency.shifts import curve, shifts
from analysis.consistency.tables import consistency, conventions, groups, overall, patterns, shots, stages, turned

__all__ = [
    "CONVENTIONS",
    "ORIGINAL",
    "PATTERNS",
    "PROTOCOL",
    "cells",
    "consistency",
    "conventions",
    "curve",
    "groups",
    "overall",
    "patterns",
    "shifts",
    "shots",
    "stages",
    "studies",
    "turned",
]
