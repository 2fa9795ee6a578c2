"""Correlate chosen measures of models with scores from a file or a frame, for `Run.correlate`."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
import pandas as pd

from analysis.pages.benchmarks.leaderboards import (
    ALL_COLUMNS,
    BILLION,
    NAMES,
    SIZES,
    Scores,
    read_benchmark_scores,
    split_column_names,
)
from analysis.pages.benchmarks.measures import collect_measures, name_measures_unambiguously
from analysis.pages.benchmarks.model_facts import SIZE, ModelFacts, build_model_facts, replace_infinities_by_rank_or_nan
from analysis.runs import Runs
from analysis.statistics import correlation
from analysis.statistics.multiplicity import correct_families_by_holm
from ground.errors import InputError, format_nearest_name_hint, shorten_to_one_line

COLUMNS = ("measure", "score", "method", "given", "r", "lower", "upper", "p", "p_holm", "n", "caution")
SIZE_WORDS = ("size", SIZE)


def correlate_chosen_measures_with_scores(
    runs: Runs, measures: str | Sequence[str] | pd.DataFrame, scores: str | os.PathLike[str] | pd.DataFrame, *,
    method: str = "spearman", given: str | None = None, aliases: str | os.PathLike[str] = "", score_columns: str = "",
    score_rows: str = "", invalid: str = "dropped",
) -> pd.DataFrame:  # fmt: skip
    """Correlate measures of models with scores of the same models, by the formulas of table `benchmarks`.

    Parameters
    ----------
    runs
        From `analysis.runs.open_runs`.
    measures
        Names of measures as in table `benchmarks`, such as "Range", of the models that answer; of several studies with
        a measure of this name, all. Or a frame: a row per model (column model, or the index), a column per measure.
    scores
        A file, as in `leaderboards.read_benchmark_scores`, or a frame like that of measures; its column parameters (or
        params_billions) is the size of models whose run does not say it. Truth values are no scores.
    method
        "spearman" or "pearson".
    given
        "size" (logarithm of the number of parameters), or a column of the scores: partial correlations, without the
        influence of it. None: plain ones.
    aliases, score_columns, score_rows
        As in table `benchmarks`; score_rows for files only.
    invalid
        As in the tables that the measures are of.

    Returns
    -------
    DataFrame
        measure, score, method, given (empty: nothing), r, lower, upper (95 %, Fisher's z), p, p_holm (over all rows), n
        (models), caution: why there is no coefficient, or that the models are few.

    Raises
    ------
    InputError
        For an unknown measure, score, method or column, and where no model is among the scores.
    """
    if not isinstance(scores, str | os.PathLike | pd.DataFrame):
        raise InputError(f"scores: expected a file or a DataFrame, not {type(scores).__name__}")
    score_table = (
        _convert_frame_to_scores(scores, score_columns, "scores")
        if isinstance(scores, pd.DataFrame)
        else read_benchmark_scores(scores, score_columns, score_rows)
    )
    values = (
        _convert_frame_to_scores(measures, "", "measures").frame
        if isinstance(measures, pd.DataFrame)
        else _collect_named_measures_by_model(runs, measures, invalid)
    )
    facts = build_model_facts(runs, score_table, os.fspath(aliases), list(values.index))
    if not facts.rows.any():
        raise InputError(
            f"{score_table.source}: none of the {len(values):,} models with a measure is among its "
            f"{len(score_table.frame):,} models; say which is which with aliases=FILE"
        )
    covariate = _find_covariate_values(given, facts, score_table)
    table = pd.DataFrame(
        _iterate_coefficients_per_measure_and_score(values, facts, method, given, covariate), columns=COLUMNS
    )
    return table.assign(p_holm=correct_families_by_holm(table, ["method"]))


def _collect_named_measures_by_model(runs: Runs, names: str | Sequence[str], invalid: str) -> pd.DataFrame:
    """Return the values of some measures: a row per model, a column per measure."""
    if not isinstance(names, Iterable):
        raise InputError(f"measures: expected names or a DataFrame, not {shorten_to_one_line(repr(names))}")
    collected = collect_measures(runs, invalid).values
    answering = collected[collected["compared"].astype(bool) & ~collected["silent"].astype(bool)]
    labels = name_measures_unambiguously(answering)
    columns: dict[str, pd.Series] = {}
    for name in [names] if isinstance(names, str) else list(names):
        is_named = (labels == name) | (answering["measure"] == name)
        if not is_named.any():
            options = list(dict.fromkeys(labels))
            raise InputError(
                f"there is no measure {shorten_to_one_line(repr(name))}{format_nearest_name_hint(str(name), options)}; "
                f"there are {', '.join(options)}"
            )
        for label, rows in answering[is_named].groupby(labels[is_named], sort=False):
            columns[str(label)] = rows.drop_duplicates("model").set_index("model")["value"].astype(float)
    if not columns:
        raise InputError("measures is empty; name a measure, as in measures='Range'")
    return pd.DataFrame(columns)


def _convert_frame_to_scores(frame: pd.DataFrame, columns: str, subject: str) -> Scores:
    """Turn a frame with a row per model into scores, as if read from a file; `subject` names it in messages."""
    name_column = next((name for name in NAMES if name in frame), None)
    if name_column is not None:
        frame = frame.set_index(name_column)
    models = pd.Index([str(model) for model in frame.index])
    if not len(frame) or pd.api.types.is_numeric_dtype(frame.index):
        raise InputError(f"{subject}: no model in it; name the models in a column model, or in the index")
    if models.has_duplicates:
        twice = models[models.duplicated()][0]
        raise InputError(f"{subject}: model {shorten_to_one_line(repr(twice))} has two rows; give it one")
    size = next((name for name in SIZES if name in frame), None)
    numbers = {
        str(name): values
        for name, values in frame.items()
        if name != size and _is_column_of_numbers(values) and values.notna().any()
    }
    names = list(numbers) if columns in ("", ALL_COLUMNS) else split_column_names(columns)
    for name in names:
        if name not in numbers:
            listed = ", ".join(numbers)
            raise InputError(f"{subject}: no column {shorten_to_one_line(repr(name))} of numbers; there are {listed}")
    if not names:
        raise InputError(f"{subject}: no column of numbers")
    chosen = pd.DataFrame({name: numbers[name].to_numpy(float) for name in names}, index=models)
    unit = 1 if size == SIZE else BILLION
    if size is not None and not pd.api.types.is_numeric_dtype(frame[size]):
        raise InputError(f"{subject}: column {size!r} is the size of the models; write it in numbers")
    parameters = pd.Series(np.nan if size is None else frame[size].to_numpy(float) * unit, models)
    return Scores(chosen, parameters.where(parameters > 0), pd.Series(1, models), "", subject)


def _is_column_of_numbers(values: pd.Series) -> bool:
    """Tell whether a column holds numbers: truth values are none."""
    return pd.api.types.is_numeric_dtype(values) and not pd.api.types.is_bool_dtype(values)


def _find_covariate_values(given: str | None, facts: ModelFacts, score_table: Scores) -> pd.Series | None:
    """Return the values of the variable whose influence is removed; None for none."""
    if given is None:
        return None
    if isinstance(given, str) and list(facts.benchmarks) == [given]:
        raise InputError(f"given = {given!r} is the only score, and nothing is left to correlate with")
    if isinstance(given, str) and given in facts.benchmarks:
        values = facts.benchmarks[given]
    elif isinstance(given, str) and given in SIZE_WORDS:
        values = facts.size
    else:
        options = [*SIZE_WORDS[:1], *score_table.frame]
        raise InputError(
            f"given = {shorten_to_one_line(repr(given))} is not known{format_nearest_name_hint(str(given), options)}; "
            f"it is {', '.join(options)}"
        )
    if values.notna().sum() < correlation.LEAST:
        raise InputError(f"given = {given!r}: fewer than {correlation.LEAST} models have it")
    return values


def _iterate_coefficients_per_measure_and_score(
    values: pd.DataFrame, facts: ModelFacts, method: str, given: str | None, covariate: pd.Series | None
) -> Iterator[dict[str, Any]]:
    """Yield the row of every measure and score, but for the one that is given."""
    for measure, ours in values.items():
        for score, theirs in facts.benchmarks.items():
            if score == given:
                continue
            coefficient = correlation.correlate_over_models(
                replace_infinities_by_rank_or_nan(ours, method),
                replace_infinities_by_rank_or_nan(theirs, method),
                method=method,
                control=covariate,
            )
            row = correlation.build_coefficient_row(coefficient)
            yield {"measure": measure, "score": score, "method": method, "given": given or "", **row}
