"""Correlate the measures of all studies with size, accuracy and external benchmarks: runs in, tidy frame out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import pandas as pd

from analysis.pages.benchmarks import own_form
from analysis.pages.benchmarks.leaderboards import Scores
from analysis.pages.benchmarks.measures import collect_measures, name_measures_unambiguously
from analysis.pages.benchmarks.model_facts import (
    ACCURACY,
    SIZE,
    ModelFacts,
    align_measure_column_to_models,
    build_model_facts,
    list_asked_models,
    read_score_file_once,
    replace_infinities_by_rank_or_nan,
)
from analysis.pages.benchmarks.model_names import match_models_to_scored_models, read_alias_by_run_model
from analysis.reporting.catalogue import list_protocols_without_model_responses
from analysis.runs import Runs
from analysis.statistics import correlation
from analysis.statistics.multiplicity import correct_families_by_holm

OF = ["page", "study", "condition", "measure"]
GIVEN_SIZE = " given size"


def explain_missing_correlations(runs: Runs, options: Mapping[str, Any]) -> str:
    """Say why there is no correlation to show.

    Parameters
    ----------
    runs
        From `analysis.runs.open_runs`.
    options
        The parameters of the report: with a file of `scores`, the benchmarks are correlated among themselves.

    Returns
    -------
    str
        Empty where there may be a correlation.
    """
    unanswered = list_protocols_without_model_responses()
    answered_studies = {name for name, about in runs.info["studies"].items() if about["protocol"] not in unanswered}
    if not answered_studies:
        return "accuracies without answers have no measures to correlate"
    if options.get("scores"):
        return ""
    units = own_form.find_prompt_forms_of_units(runs).items()
    unit_counts = Counter((study, unit_form.condition) for (study, *_), unit_form in units if study in answered_studies)
    most, least = max(unit_counts.values(), default=0), correlation.LEAST
    there_are = f"there {'is' if most == 1 else 'are'} {'at most ' if len(unit_counts) > 1 else ''}{most:,}"
    return "" if most >= least else f"it needs {least} models that were asked in the same way; {there_are}"


def tabulate_measure_benchmark_correlations(
    runs: Runs, *, scores: str = "", score_columns: str = "", score_rows: str = "", aliases: str = "",
    invalid: str = "dropped",
) -> pd.DataFrame:  # fmt: skip
    """Correlate every measure with every external benchmark, with size and with accuracy (Figures 4, 5 and 8, Table 2).

    Parameters
    ----------
    runs
        From `analysis.runs.open_runs`.
    scores, score_columns, score_rows, aliases
        The files of scores and of aliases, and how they are read (`leaderboards.read_benchmark_scores`,
        `model_names.read_alias_by_run_model`); without scores only size and accuracy are compared.
    invalid
        As in the tables that the measures are of.

    Returns
    -------
    DataFrame
        One row per page, study, measure, benchmark and method, the headline measures first. Methods: pearson, spearman,
        and both "given size" (partial). Size is log10(parameters) for Pearson. `p_holm` goes over all tests by the
        same method: of headline measures, or of the others. No coefficient from fewer than 4 models; `caution` says so,
        and marks those from fewer than 10. Measures that fewer than 4 models have are only in table
        `measures_by_model`. rows: rows of the file that the n models have; joined_by: the rule that made one of several
        rows of a model.
    """
    # First the files, which may be wrong: the measures take seconds.
    score_table = read_score_file_once(runs, scores, score_columns, score_rows, aliases)
    models = build_model_facts(runs, score_table, aliases)
    values = _collect_values_to_correlate(runs, invalid)
    rows: list[dict[str, object]] = []
    for _, part in values.groupby(OF, sort=False):
        measure_keys = part.iloc[0][[*OF, "headline"]].to_dict()
        ours = align_measure_column_to_models(part, "value", models)
        for benchmark, theirs in _list_values_to_correlate_with(part, models):
            rows += _iterate_coefficients_of_measure_and_counterpart(
                ours, theirs, models, {**measure_keys, "benchmark": benchmark}
            )
    table = pd.DataFrame(rows)
    if table.empty:
        return table
    table = table.sort_values("headline", ascending=False, kind="stable", ignore_index=True)
    return _add_rule_that_joined_file_rows(
        table.assign(p_holm=correct_families_by_holm(table, ["method", "headline"])), score_table
    )


def tabulate_correlations_of_all_pairs(
    runs: Runs, *, scores: str = "", score_columns: str = "", score_rows: str = "", aliases: str = "",
    invalid: str = "dropped",
) -> pd.DataFrame:  # fmt: skip
    """Correlate all pairs of benchmarks, size and headline measures, of one study or of two (Figure 8).

    A benchmark that fewer than 4 of the models have is left out.

    Parameters
    ----------
    runs, scores, score_columns, score_rows, aliases, invalid
        As in `tabulate_measure_benchmark_correlations`.

    Returns
    -------
    DataFrame
        The columns of `correlation.correlate_all_column_pairs`, rows and joined_by; both methods.
    """
    # First the files, which may be wrong: the measures take seconds.
    score_table = read_score_file_once(runs, scores, score_columns, score_rows, aliases)
    models = build_model_facts(runs, score_table, aliases)
    values = _collect_values_to_correlate(runs, invalid)
    values = values[values["headline"].astype(bool)]
    ours = {
        label: align_measure_column_to_models(part, "value", models)
        for label, part in values.groupby(name_measures_unambiguously(values, set(models.benchmarks)), sort=False)
    }
    if not ours:
        return pd.DataFrame()
    external_columns = {**dict(models.benchmarks.items()), SIZE: models.size}
    frame = pd.DataFrame({
        **{name: series for name, series in external_columns.items() if series.notna().sum() >= correlation.LEAST},
        **ours
    })  # fmt: skip
    parts = [
        correlation.correlate_all_column_pairs(
            frame.apply(lambda column, method=method: replace_infinities_by_rank_or_nan(column, method)), [method]
        )
        for method in correlation.METHODS
    ]
    table = pd.concat(parts, ignore_index=True)
    table = _add_file_row_counts_per_pair(table, frame, models.rows, list(models.benchmarks))
    return _add_rule_that_joined_file_rows(table, score_table)


def tabulate_correlations_between_benchmarks(
    runs: Runs, *, scores: str = "", score_columns: str = "", score_rows: str = ""
) -> pd.DataFrame:
    """Correlate the benchmarks of the file over all models in it, whether or not they were asked here.

    Parameters
    ----------
    runs, scores, score_columns, score_rows
        As in `tabulate_measure_benchmark_correlations`; without scores there are no rows.

    Returns
    -------
    DataFrame
        The columns of `correlation.correlate_all_column_pairs`, rows (of the file, that the n models have) and
        joined_by; a model is one model, however many rows it has.
    """
    score_table = read_score_file_once(runs, scores, score_columns, score_rows)
    if score_table is None:
        return correlation.correlate_all_column_pairs(pd.DataFrame())
    frame = score_table.frame
    table = correlation.correlate_all_column_pairs(frame)
    table = _add_file_row_counts_per_pair(table, frame, score_table.rows, list(frame))
    return _add_rule_that_joined_file_rows(table, score_table)


def tabulate_model_name_matches(
    runs: Runs, *, scores: str = "", score_columns: str = "", score_rows: str = "", aliases: str = ""
) -> pd.DataFrame:
    """List which model of the runs is which model of the scores, and what is unmatched on both sides.

    Parameters
    ----------
    runs, scores, score_columns, score_rows, aliases
        As in `tabulate_measure_benchmark_correlations`; without scores nothing is matched.

    Returns
    -------
    DataFrame
        The columns of `model_names.match_models_to_scored_models`.
    """
    score_table = read_score_file_once(runs, scores, score_columns, score_rows, aliases)
    names = list(score_table.frame.index) if score_table else []
    return match_models_to_scored_models(
        list_asked_models(runs), names, read_alias_by_run_model(aliases) if aliases else {}, aliases
    )


def tabulate_measures_by_model_and_condition(runs: Runs, *, invalid: str = "dropped") -> pd.DataFrame:
    """Return the measures of every model under every condition, those that are correlated and others.

    Parameters
    ----------
    runs, invalid
        As in `tabulate_measure_benchmark_correlations`.

    Returns
    -------
    DataFrame
        `CollectedMeasures.values`: one row per model, condition and measure.
    """
    return collect_measures(runs, invalid).values


def tabulate_compared_models_of_pages_and_studies(runs: Runs, *, invalid: str = "dropped") -> pd.DataFrame:
    """List how the models of every page and study were compared, and which measures were left out.

    Parameters
    ----------
    runs, invalid
        As in `tabulate_measure_benchmark_correlations`.

    Returns
    -------
    DataFrame
        `CollectedMeasures.sources`: one row per page and study, or per table that could not be made.
    """
    return collect_measures(runs, invalid).sources


def _collect_values_to_correlate(runs: Runs, invalid: str) -> pd.DataFrame:
    """Return the values that are correlated: of the chosen conditions, of models that answer, and of enough of them."""
    values = collect_measures(runs, invalid).values
    valid_values = values[values["compared"].astype(bool) & values["value"].notna() & ~values["silent"].astype(bool)]
    return valid_values[valid_values.groupby(OF)["model"].transform("nunique") >= correlation.LEAST]


def _list_values_to_correlate_with(
    measure_rows: pd.DataFrame, model_facts: ModelFacts
) -> Iterator[tuple[str, pd.Series]]:
    """Yield what a measure is correlated with: benchmarks and size where known, and the accuracy on its own items."""
    yield from ((str(name), series) for name, series in model_facts.benchmarks.items() if series.notna().any())
    if model_facts.size.notna().any():
        yield SIZE, model_facts.size
    if measure_rows["accuracy"].notna().any():
        yield ACCURACY, align_measure_column_to_models(measure_rows, ACCURACY, model_facts)


def _add_file_row_counts_per_pair(
    table: pd.DataFrame, frame: pd.DataFrame, rows_by_model: pd.Series, external_benchmarks: list[str]
) -> pd.DataFrame:
    """Add the number of rows of the file that the models of every pair have; 0 for pairs without a benchmark of it."""
    has_value = frame.notna().astype(int)
    rows = has_value.T @ has_value.mul(rows_by_model.to_numpy(), axis=0)
    pairs = table[["measure_a", "measure_b"]].itertuples(index=False, name=None)
    row_counts = [int(rows.at[a, b]) if a in external_benchmarks or b in external_benchmarks else 0 for a, b in pairs]
    return table.assign(rows=row_counts)


def _add_rule_that_joined_file_rows(table: pd.DataFrame, score_table: Scores | None) -> pd.DataFrame:
    """Add the rule that joined the rows of the file, where there are more of them than models."""
    return table.assign(joined_by=np.where(table["rows"] > table["n"], score_table.rule if score_table else "", ""))


def _iterate_coefficients_of_measure_and_counterpart(
    measure_values: pd.Series, counterpart_values: pd.Series, model_facts: ModelFacts, row_keys: dict[str, Any]
) -> Iterator[dict[str, object]]:
    """Yield the coefficients of a measure and what it is compared with; rows: of the file, that their models have."""
    external = row_keys["benchmark"] in model_facts.benchmarks
    for method in correlation.METHODS:
        our_values = replace_infinities_by_rank_or_nan(measure_values, method)
        their_values = replace_infinities_by_rank_or_nan(counterpart_values, method)
        has_both = our_values.notna() & their_values.notna()
        kinds = {method: (None, has_both)}
        if row_keys["benchmark"] != SIZE:
            kinds[method + GIVEN_SIZE] = model_facts.size, has_both & model_facts.size.notna()
        for name, (covariate, is_used) in kinds.items():
            coefficient = correlation.build_coefficient_row(
                correlation.correlate_over_models(our_values, their_values, method=method, control=covariate)
            )
            rows = int(model_facts.rows[is_used].sum()) if external else 0
            yield {**row_keys, "method": name, "interval": correlation.INTERVAL, **coefficient, "rows": rows}
