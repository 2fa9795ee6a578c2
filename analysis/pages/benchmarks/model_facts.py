"""Align measures, benchmarks and sizes of models by the names that models have in the runs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from analysis.pages.benchmarks.leaderboards import Scores, read_benchmark_scores
from analysis.pages.benchmarks.model_names import match_models_to_scored_models, read_alias_by_run_model
from analysis.runs import Runs
from ground.errors import InputError

SIZE, ACCURACY = "parameters", "accuracy"  # what measures are compared with beside benchmarks
ROWS = "\0rows"  # no benchmark has this name


@dataclass(frozen=True)
class ModelFacts:
    """Hold what is known of the models beside their measures: benchmarks, size (log10), rows of the file."""

    benchmarks: pd.DataFrame
    size: pd.Series
    rows: pd.Series


def list_asked_models(runs: Runs) -> list[str]:
    """Return the models of the runs, in the order of their first units."""
    model_rows = runs.execute("SELECT model FROM units GROUP BY model ORDER BY min(position)").fetchall()
    return [row[0] for row in model_rows]


def align_measure_column_to_models(measure_rows: pd.DataFrame, column: str, model_facts: ModelFacts) -> pd.Series:
    """Return a column of a measure as floats, an entry for every model; NaN without a row.

    Parameters
    ----------
    measure_rows
        The rows of one measure, one per model.
    column
        Column of the values.
    model_facts
        Names all models.

    Returns
    -------
    Series
        Model -> value.
    """
    return measure_rows.set_index("model")[column].reindex(model_facts.size.index).astype(float)


def replace_infinities_by_rank_or_nan(values: pd.Series, method: str) -> pd.Series:
    """Make infinite values (XParaCon without any change) the largest rank, or, for Pearson, no value.

    Parameters
    ----------
    values
        A value per model.
    method
        One of `correlation.METHODS`.

    Returns
    -------
    Series
        The same values; or their ranks, from 1; or NaN for infinite ones.
    """
    infinite = np.isinf(values)
    if not infinite.any():
        return values
    finite = values.mask(infinite)
    return finite if method == "pearson" else finite.rank().mask(infinite, np.sign(values) * (len(values) + 1))


def read_score_file_once(
    runs: Runs, scores_path: str, columns: str, join_rule: str, aliases: str = ""
) -> Scores | None:
    """Read the file of scores, once per report; None where none is given.

    A benchmark that is called as the accuracy on the items of the runs gets another name.

    Parameters
    ----------
    runs
        From `analysis.runs.open_runs`.
    scores_path
        As `path` of `leaderboards.read_benchmark_scores`; empty: none.
    columns, join_rule
        As in `leaderboards.read_benchmark_scores`.
    aliases
        Path of the alias table, refused without scores.

    Raises
    ------
    InputError
        As `leaderboards.read_benchmark_scores`; and for one of the other options without a file of scores.
    """
    if scores_path:
        scores = runs.compute_once(
            ("scores", scores_path, columns, join_rule), lambda: read_benchmark_scores(scores_path, columns, join_rule)
        )
        return replace(scores, frame=scores.frame.rename(columns={ACCURACY: f"{ACCURACY} of the file"}))
    for name, value in (("score_columns", columns), ("score_rows", join_rule), ("aliases", aliases)):
        if value:
            raise InputError(f"{name} is given without a file of scores; name it with -p scores=FILE")
    return None


def build_model_facts(
    runs: Runs, score_table: Scores | None, aliases: str, models: Sequence[str] | None = None
) -> ModelFacts:
    """Return benchmarks, size and rows of the file of some models.

    Parameters
    ----------
    runs
        From `analysis.runs.open_runs`.
    score_table
        Scores of models; None: no benchmarks.
    aliases
        Path of the alias table; empty: none.
    models
        Names of the models; None: all that were asked.

    Returns
    -------
    ModelFacts
        Of the models named, in that order.
    """
    names = list_asked_models(runs) if models is None else list(models)
    sizes = {name: runs.info["models"].get(name, {}).get("parameters") for name in names}
    size = np.log10(pd.to_numeric(pd.Series(sizes, dtype=object), errors="coerce").astype(float))
    if score_table is None:
        return ModelFacts(pd.DataFrame(index=names), size, pd.Series(0, names))
    external = _look_up_scores_of_models(score_table, names, aliases)
    size = size.fillna(np.log10(external.pop(SIZE)))
    counts = external.pop(ROWS).fillna(0).astype(int)
    return ModelFacts(external, size, counts)


def _look_up_scores_of_models(scores: Scores, models: list[str], aliases_path: str) -> pd.DataFrame:
    """Return scores, size and rows of the matched models under the runs' names for them; NaN for the others."""
    score_frame = scores.frame.assign(**{SIZE: scores.parameters, ROWS: scores.rows})
    aliases = read_alias_by_run_model(aliases_path) if aliases_path else {}
    matches = match_models_to_scored_models(models, score_frame.index, aliases, aliases_path)
    matches = matches[matches["side"] == "runs"]
    return score_frame.reindex(matches["matched"].where(matches["matched"] != "", None)).set_axis(matches["model"])
