"""Correlation of consistency with model size, task accuracy and external benchmarks (Takayama et al., section 6).

::

    run = runs.open("results/wording")
    benchmarks.benchmarks(run, scores="huggingface_v2.csv", aliases="aliases.csv")
    benchmarks.benchmark_names(run, scores="huggingface_v2.csv")     # who was matched, who was not
"""

from __future__ import annotations

from analysis.benchmarks.names import match, read_aliases
from analysis.benchmarks.scores import Scores, load
from analysis.benchmarks.tables import (
    benchmark_matrix,
    benchmark_names,
    benchmarks,
    measured,
    measures_by_model,
    score_matrix,
)

__all__ = [
    "Scores",
    "benchmark_matrix",
    "benchmark_names",
    "benchmarks",
    "load",
    "match",
    "measured",
    "measures_by_model",
    "read_aliases",
    "score_matrix",
]
