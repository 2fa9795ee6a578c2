"""List the tables and figures of the page `benchmarks`; `columns` says what its columns mean."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from analysis.pages.benchmarks.columns import COLUMNS
from analysis.reporting.catalogue import Catalogue, Figure, Table, names

if TYPE_CHECKING:
    from analysis.runs import Runs

BETWEEN = {"r": ("lower", "upper")}
CORRELATED = names("measure_a measure_b method n rows joined_by r lower upper p p_holm caution")
JOINED = frozenset({"joined_by"})
TABLES = {
    "benchmarks": Table(
        "tables.benchmarks",
        "What correlates with consistency over models: size, accuracy and external benchmarks",
        "Correlations over models with 95 % intervals (Fisher's z) and p values, Holm over all tests of a method. Size "
        "is log10(parameters) for Pearson; given size: partial. None from fewer than 4 models, a caution below 10.",
        names("measure pattern benchmark study language task condition method n rows "
               "joined_by r lower upper interval p p_holm caution"),
        frozenset(names("rows lower upper interval study")), JOINED, interval=BETWEEN,
    ),
    "benchmark_matrix": Table(
        "tables.benchmark_matrix",
        "All correlations between benchmarks, accuracy and Consistency",
        "The counterpart of Takayama et al., Figure 8, every pair once; Holm over the pairs of a matrix.",
        (*names("study language task condition"), *CORRELATED),
        frozenset(names("rows lower upper")), JOINED, interval=BETWEEN,
    ),
    "score_matrix": Table(
        "tables.score_matrix",
        "Correlations between the benchmarks of the file, over all its models",
        "All models of the file, asked here or not; every pair once. A model is one model, however many rows it has.",
        CORRELATED,
        frozenset(names("rows lower upper")), JOINED, interval=BETWEEN,
    ),
    "benchmark_names": Table(
        "tables.benchmark_names",
        "Which model of the runs is which model of the scores",
        "Matched by alias or by name, never by similarity. For unmatched names of both sides, the nearest name.",
        names("side model matched by nearest similarity"),
    ),
    "measures_by_model": Table(
        "tables.measures_by_model",
        "The values that are correlated",
        "One row per model, measure and pattern; Overall over all patterns and tasks has the task “all”.",
        names("model study language task condition measure pattern value parameters silent"),
    ),
}  # fmt: skip
FIGURES = {
    "size_overall": Figure("Overall by the size of the model", "figures.size_overall"),
    "accuracy_consistency": Figure("Consistency by accuracy", "figures.accuracy_consistency"),
    "coefficients": Figure("Correlations between all measures", "figures.coefficients"),
    "coefficients_printed": Figure(
        "Correlations as the paper printed them", "figures.printed", draw="coefficients", file="coefficients-98"
    ),
    "coefficients_scores": Figure(
        "Correlations of the benchmarks among themselves", "figures.scores", draw="coefficients", file="coefficients-99"
    ),
}  # fmt: skip


def _uncorrelated(runs: Runs, given: Mapping[str, Any]) -> str:
    from analysis.pages.benchmarks.tables import uncorrelated

    return uncorrelated(runs, given)


CATALOGUE = Catalogue(
    place=40,
    protocols=frozenset({"wording"}),
    studies=("takayama",),
    tables=TABLES,
    columns=COLUMNS,
    figures=FIGURES,
    unwanted=_uncorrelated,
)
