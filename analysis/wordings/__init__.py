"""What in a wording moves the answer: features, mixed models and their diagnostics as tables of the report.

::

    run = runs.open("results/demo")
    wordings.mixed(run)                       # one row per model and predictor
    wordings.mixed(run, scale="logit")
    wordings.table3(run)                      # as in Haller et al., beside what they printed
"""

from __future__ import annotations

from analysis.wordings.family import Family, answerable, family
from analysis.wordings.table3 import table3
from analysis.wordings.tables import components, correlations, mixed, mixed_diagnostics, robust, scales, vif

__all__ = [
    "Family",
    "answerable",
    "components",
    "correlations",
    "family",
    "mixed",
    "mixed_diagnostics",
    "robust",
    "scales",
    "table3",
    "vif",
]
