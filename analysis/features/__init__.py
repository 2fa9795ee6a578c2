"""Compute text features of wordings: those of Haller et al. (section 4, Annotation), and two of our own.

::

    features.compute_features("results/demo/agreement", spacy=["en_core_web_sm"])   # once; saved in the run folder
    run = runs.open_runs("results/demo/agreement")
    features.read_features(run)            # one row per stimulus
    features.join_answers_with_features(run)           # one row per response, for mixed models
    features.correlate_features(run)    # Figure 6
    features.list_feature_components(run)      # which software computed them, and what is missing
"""

from __future__ import annotations

from analysis.features.computation import Summary, compute_features
from analysis.features.correlations import correlate_columns, correlate_features
from analysis.features.dependencies import compute_dependency_measures
from analysis.features.frames import join_answers_with_features, list_feature_components, read_features
from analysis.features.names import FEATURES, PUBLISHED

__all__ = [
    "FEATURES",
    "PUBLISHED",
    "Summary",
    "compute_dependency_measures",
    "compute_features",
    "correlate_columns",
    "correlate_features",
    "join_answers_with_features",
    "list_feature_components",
    "read_features",
]
