"""Pair measures of models with what they are correlated with, and correlate them by functions of another package.

::

    pairs = pair_measures_with_facts(measures_by_model, facts)
    coefficients = compute_by_group(pairs, PAIR, "r", scipy.stats.spearmanr, ["value", "score"])
    theirs = correlate_measures_with_facts_by_pingouin(pairs, pingouin.pairwise_corr, pingouin.partial_corr)
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd

from analysis.statistics.correlation import LEAST, METHODS

SIZE, ACCURACY, GIVEN_SIZE = "parameters", "accuracy", " given size"
PERFECT = 1e-9  # distance from 1 below which a coefficient is 1
OF = ["page", "study", "condition", "measure"]
PAIR = [*OF, "benchmark"]  # what a coefficient is computed for


def pair_measures_with_facts(values: pd.DataFrame, facts: pd.DataFrame) -> pd.DataFrame:
    """Pair the headline measures of every model with its size, its benchmarks and its accuracy on the same items.

    Parameters
    ----------
    values
        Table `measures_by_model`: page, study, condition, measure, model, value, accuracy, compared, silent, headline.
    facts
        A row per model (index): parameters, the logarithm of its size to base 10, and its benchmarks.

    Returns
    -------
    DataFrame
        page, study, condition, measure, benchmark ("parameters", "accuracy" or a benchmark), model, value: of the
        measure; score: of the benchmark; size: logarithm of the parameters. Left out are models that do not answer,
        conditions that are not compared, and measures of fewer than 4 models.
    """
    is_used = values["compared"].astype(bool) & values["headline"].astype(bool) & ~values["silent"].astype(bool)
    rows = values.loc[is_used & values["value"].notna(), [*OF, "model", "value", "accuracy"]]
    rows = rows[rows.groupby(OF)["model"].transform("nunique") >= LEAST]
    rows = rows.assign(value=rows["value"].astype(float), size=rows["model"].map(facts[SIZE]).astype(float))
    known = facts.rename_axis("model").melt(ignore_index=False, var_name="benchmark", value_name="score").reset_index()
    known = known[known.groupby("benchmark")["score"].transform("count") > 0]
    accuracies = rows.assign(benchmark=ACCURACY, score=rows["accuracy"].astype(float)).dropna(subset="score")
    parts = [rows.merge(known, on="model", validate="many_to_many"), accuracies]
    pairs = pd.concat([part for part in parts if len(part)] or parts, ignore_index=True)
    return pairs[[*PAIR, "model", "value", "score", "size"]]


def pivot_measures_by_model(pairs: pd.DataFrame) -> pd.DataFrame:
    """Make a row per model and a column per measure, as `Run.correlate` takes them.

    `pairs`: from `pair_measures_with_facts`. A column is called by its measure and study, such as "Range, opinions".
    """
    rows = pairs.assign(label=pairs["measure"] + ", " + pairs["study"]).drop_duplicates(["model", "label"])
    return rows.pivot(index="model", columns="label", values="value").rename_axis(columns=None)


def correlate_measures_with_facts_by_pingouin(
    pairs: pd.DataFrame, pairwise_corr: Callable[..., pd.DataFrame], partial_corr: Callable[..., pd.DataFrame]
) -> pd.DataFrame:
    """Correlate all pairs by the functions of pingouin, with and without the influence of size.

    Parameters
    ----------
    pairs
        From `pair_measures_with_facts`.
    pairwise_corr, partial_corr
        `pingouin.pairwise_corr` and `pingouin.partial_corr`.

    Returns
    -------
    DataFrame
        page, study, condition, measure, benchmark; method: pearson, spearman, or one of them "given size"; n: models;
        r: NaN below 4 models, for values that are all the same, and given size where the three depend on each other. An
        infinite value has the largest rank; for Pearson's r it is left out.
    """
    rows: list[tuple[Any, ...]] = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of few models, which the table has a caution for
        for keys, part in pairs.groupby(PAIR, sort=False):
            for method in METHODS:
                plain = _take_values_or_ranks_of_complete_models(part[["value", "score"]], method)
                r = (
                    pairwise_corr(plain, method=method)["r"].iloc[0]
                    if _has_enough_models_that_differ(plain)
                    else np.nan
                )
                rows.append((*keys, method, len(plain), r))
                if keys[-1] == SIZE:
                    continue
                given = _take_values_or_ranks_of_complete_models(part[["value", "score", "size"]], method)
                is_defined = (
                    _has_enough_models_that_differ(given)
                    and np.linalg.matrix_rank(np.corrcoef(given.T)) == given.shape[1]
                )
                found = partial_corr(given, "value", "score", "size", method=method) if is_defined else None
                rows.append((*keys, method + GIVEN_SIZE, len(given), np.nan if found is None else found["r"].iloc[0]))
    return pd.DataFrame(rows, columns=[*PAIR, "method", "n", "r"])


def _take_values_or_ranks_of_complete_models(part: pd.DataFrame, method: str) -> pd.DataFrame:
    """Return the models that have all values: their ranks for Spearman's coefficient, finite values for Pearson's."""
    if method == "spearman":
        return part.dropna().rank()
    return part.replace([np.inf, -np.inf], np.nan).dropna()


def _has_enough_models_that_differ(part: pd.DataFrame) -> bool:
    """Tell whether there are models enough, and values that differ."""
    return len(part) >= LEAST and bool((part.nunique() > 1).all())


def select_recomputable_headline_coefficients(table: pd.DataFrame) -> pd.DataFrame:
    """List the coefficients of table `benchmarks` that another package can compute, of the headline measures.

    Left out are undefined ones, and partial ones of 1 or -1: pingouin inverts a covariance matrix, which has no inverse
    where measure, score and size depend on each other. `table`: table `benchmarks`; without any row it has no columns
    either.

    Returns
    -------
    DataFrame
        page, study, condition, measure, benchmark, method, n, r.
    """
    rows = table.reindex(columns=[*PAIR, "method", "n", "r", "headline"]).dropna(subset="r")
    is_perfect = (rows["r"].abs() > 1 - PERFECT) & rows["method"].astype(str).str.endswith(GIVEN_SIZE)
    return rows[rows["headline"].astype(bool) & ~is_perfect].drop(columns="headline")
