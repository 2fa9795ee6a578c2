"""Compute text features of wordings: those of Haller et al. (section 4, Annotation), and two of our own.

::

    features.compute("results/demo/agreement", spacy=["en_core_web_sm"])   # once; saved in the run folder
    run = runs.open("results/demo/agreement")
    features.load(run)            # one row per stimulus
    features.frame(run)           # one row per response, for mixed models
    features.correlations(run)    # Figure 6
    features.components(run)      # which software computed them, and what is missing
"""

from __future__ import annotations

from analysis.features.computation import Summary, compute
from analysis.features.correlations import correlation, correlations
from analysis.features.dependencies import dependents
from analysis.features.frames import components, frame, load
from analysis.features.names import FEATURES, PUBLISHED

__all__ = [
    "FEATURES",
    "PUBLISHED",
    "Summary",
    "components",
    "compute",
    "correlation",
    "correlations",
    "dependents",
    "frame",
    "load",
]
