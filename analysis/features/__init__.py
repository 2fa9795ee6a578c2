"""Compute text features of wordings: those of Haller et al. (section 4, Annotation), and two of our own.

::

    features.compute_features("results/demo/agreement", spacy=["en_core_web_sm"])  # once; saved in the run folder
    run = runs.open_runs("results/demo/agreement")
    features.read_or_compute_features(run)  # one row per stimulus
    features.join_answers_with_features(run)  # one row per response to a paraphrase, for mixed models
    features.correlate_feature_pairs_in_each_study(run)  # Figure 6
    features.tabulate_components_of_study_features(run)  # which software computed them, and what is missing
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from analysis.features.answer_rows import join_answers_with_features, read_answers_with_wording_features
    from analysis.features.computation import Summary, compute_features
    from analysis.features.correlations import correlate_feature_pairs_in_each_study, correlate_pairs_of_features
    from analysis.features.dependencies import compute_left_right_dependents_and_length
    from analysis.features.frames import (
        choose_feature_folder_of_each_study,
        read_or_compute_features,
        tabulate_components_of_study_features,
    )
    from analysis.features.names import FEATURES, PUBLISHED

__all__ = [
    "FEATURES",
    "PUBLISHED",
    "Summary",
    "choose_feature_folder_of_each_study",
    "compute_features",
    "compute_left_right_dependents_and_length",
    "correlate_feature_pairs_in_each_study",
    "correlate_pairs_of_features",
    "join_answers_with_features",
    "read_answers_with_wording_features",
    "read_or_compute_features",
    "tabulate_components_of_study_features",
]
_PLACES = {
    "Summary": "computation",
    "choose_feature_folder_of_each_study": "frames",
    "compute_features": "computation",
    "correlate_pairs_of_features": "correlations",
    "correlate_feature_pairs_in_each_study": "correlations",
    "compute_left_right_dependents_and_length": "dependencies",
    "join_answers_with_features": "answer_rows",
    "read_answers_with_wording_features": "answer_rows",
    "tabulate_components_of_study_features": "frames",
    "read_or_compute_features": "frames",
    "FEATURES": "names",
    "PUBLISHED": "names",
}  # name -> its module, imported when first asked for: every command of `analysis` imports this package


def __getattr__(name: str) -> Any:
    """Import a name of `__all__` from its module."""
    if name not in _PLACES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_PLACES[name]}"), name)
