"""List the tables and figures of the page `benchmarks`; `columns` says what its columns mean."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from analysis.pages.benchmarks.columns import COLUMNS
from analysis.reporting.catalogue import Catalogue, Figure, Table, split_names
from analysis.runs import Runs

BETWEEN = {"r": ("lower", "upper")}
CORRELATED = split_names("measure_a measure_b method n rows joined_by r lower upper p p_holm caution")
JOINED = frozenset({"joined_by"})
TABLES = {
    "benchmarks": Table(
        "tables.tabulate_measure_benchmark_correlations",
        "What the measures of all studies correlate with over models: size, accuracy and external benchmarks",
        "Correlations over models with 95 % intervals (Fisher's z) and p values, Holm over the tests of a method, "
        "of headline measures and of others; headline measures first. Size is log10(parameters) for Pearson; given "
        "size: partial. None from fewer than 4 models, a caution below 10.",
        split_names("measure study benchmark method n rows joined_by r lower upper interval p p_holm caution page "
              "condition headline"),
        frozenset(split_names("rows lower upper interval page condition headline")), JOINED, interval=BETWEEN,
    ),
    "benchmark_matrix": Table(
        "tables.tabulate_correlations_of_all_pairs",
        "All correlations between benchmarks, size and the headline measures of all studies",
        "The counterpart of Takayama et al., Figure 8, every pair once; Holm over the pairs, separately by method.",
        CORRELATED,
        frozenset(split_names("rows lower upper")), JOINED, interval=BETWEEN,
    ),
    "score_matrix": Table(
        "tables.tabulate_correlations_between_benchmarks",
        "Correlations between the benchmarks of the file, over all its models",
        "All models of the file, asked here or not; every pair once. A model is one model, however many rows it has.",
        CORRELATED,
        frozenset(split_names("rows lower upper")), JOINED, interval=BETWEEN,
    ),
    "benchmark_names": Table(
        "tables.tabulate_model_name_matches",
        "Which model of the runs is which model of the scores",
        "Matched by alias or by name, never by similarity. For unmatched names of both sides, the nearest name.",
        split_names("side model matched by nearest similarity"),
    ),
    "measure_sources": Table(
        "tables.tabulate_compared_models_of_pages_and_studies",
        "How the models of every study were compared",
        "Of every page and study, the measures of one condition are compared: of that which most models answer under, "
        "or of the first of several. Conditions that differ in the form of the prompt only are one: own form.",
        split_names("page study condition forms n_models n_silent n_measures n_conditions left_out"),
        optional=frozenset({"left_out"}),
    ),
    "measures_by_model": Table(
        "tables.tabulate_measures_by_model_and_condition",
        "The values that are correlated",
        "One row per model, condition and measure, as on the page of the measure; those compared, and others.",
        split_names("page study measure model condition form n_forms compared value unit accuracy parameters validity "
              "validity_at_most silent headline lead"),
        frozenset(split_names("page form n_forms headline lead unit")), frozenset({"validity_at_most"}),
    ),
}  # fmt: skip
FIGURES = {
    "size_measures": Figure(
        "The measures by the size of the model", "figures.build_measures_against_size_frames",
        empty_note="run.json gives no size of 4 models that have a measure.",
    ),
    "accuracy_measures": Figure(
        "The measures by accuracy", "figures.build_measures_against_item_accuracy_frames",
        empty_note="No study here has right answers of 4 models beside its measure.",
    ),
    "coefficients": Figure("Correlations between all headline measures", "figures.build_pairwise_coefficients_frames"),
    "coefficients_printed": Figure(
        "Correlations as the paper printed them", "figures.build_printed_coefficients_frames", plot_name="coefficients",
        file_name="coefficients-98"
    ),
    "coefficients_scores": Figure(
        "Correlations of the benchmarks among themselves", "figures.build_score_coefficients_frames",
        plot_name="coefficients", file_name="coefficients-99"
    ),
}  # fmt: skip


def _explain_empty_benchmarks_page(runs: Runs, options: Mapping[str, Any]) -> str:
    """Say why the page has nothing to show; empty where it may have."""
    from analysis.pages.benchmarks.tables import explain_missing_correlations

    return explain_missing_correlations(runs, options)


CATALOGUE = Catalogue(
    place=58,
    protocols=frozenset(),
    compares_measures=True,
    studies=("takayama",),
    tables=TABLES,
    columns=COLUMNS,
    figures=FIGURES,
    explain_no_data=_explain_empty_benchmarks_page,
)
