"""Load features as frames: one row per stimulus, one row per component."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from analysis.features import store
from analysis.features.component import describe_component_name_and_version
from analysis.features.computation import Summary, compute_features
from analysis.features.languages import build_language_sql
from analysis.features.names import FEATURES
from analysis.runs.folder import quote_sql_literal
from ground.errors import describe_os_error_with_exit_status

if TYPE_CHECKING:
    import duckdb
    import pandas as pd

    from analysis.runs import Runs
    from analysis.runs.folder import Folder

_STIMULUS_ORDER = "study, position"


def create_features_table(runs: Runs) -> None:
    """Create, once per `Runs`, the table `features`: stimuli with their features; compute the missing ones first."""
    runs.compute_once("table features", lambda: _create_features_table(runs))


def _create_features_table(runs: Runs) -> None:
    text_columns = ", ".join(f"t.{name}" for name in store.TEXT_COLUMNS)
    queries = []
    for number, (study, summary) in enumerate(_compute_missing_features_by_study(runs).items()):
        runs.con.register(f"text_features_{number}", summary.features)
        runs.con.register(f"similarities_{number}", summary.similarities)
        language = build_language_sql(summary.default_language)
        queries.append(
            f"""
            SELECT s.*, {text_columns}, e.edit_similarity
            FROM (SELECT study, position, item, variant, pattern, {language} AS language, text
                  FROM stimuli WHERE study = {quote_sql_literal(study)}) AS s
            LEFT JOIN text_features_{number} AS t ON t.text = s.text AND t.language = s.language
            LEFT JOIN similarities_{number} AS e ON e.item = s.item AND e.variant = s.variant"""
        )
    runs.execute(f"CREATE TEMP TABLE features AS {' UNION ALL '.join(queries)}")


def create_stored_features_table(con: duckdb.DuckDBPyConnection, runs: Runs) -> bool:
    """Create the table `stored_features` of what the run folders hold; nothing is computed.

    Parameters
    ----------
    con
        A connection with the view `stimuli`.
    runs
        From `analysis.runs.open_runs`.

    Returns
    -------
    bool
        Whether there is such a table: some folder holds features. A feature that a folder lacks is null.
    """
    import pyarrow as pa

    queries = []
    for number, (study, folder) in enumerate(choose_feature_folder_of_each_study(runs).items()):
        stored = store.read_stored_features(folder.path)
        if stored.default_language is None:
            continue
        con.register(f"text_features_{number}", pa.concat_tables(stored.tables.values()))
        similarity_file = folder.path / store.SIMILARITY_FILE
        similarities = "NULL::DOUBLE AS edit_similarity FROM"
        join = ""
        if similarity_file.exists():
            similarity_table = store.read_features_parquet(similarity_file, *store.SIMILARITY_COLUMNS)
            con.register(f"similarities_{number}", similarity_table)
            similarities = "e.edit_similarity FROM"
            join = f"LEFT JOIN similarities_{number} AS e ON e.item = s.item AND e.variant = s.variant"
        language = build_language_sql(stored.default_language)
        queries.append(
            f"""
            SELECT s.study, s.item, s.variant, {", ".join(f"t.{name}" for name in store.TEXT_COLUMNS)}, {similarities}
            (SELECT study, item, variant, {language} AS language, text
                  FROM stimuli WHERE study = {quote_sql_literal(study)}) AS s
            LEFT JOIN text_features_{number} AS t ON t.text = s.text AND t.language = s.language {join}"""
        )
    if queries:
        con.execute(f"CREATE TABLE stored_features AS {' UNION ALL '.join(queries)}")
        for number in range(len(runs.info["studies"])):  # else the connection would hold all features twice
            con.unregister(f"text_features_{number}")
            con.unregister(f"similarities_{number}")
    return bool(queries)


def read_or_compute_features(runs: Runs) -> pd.DataFrame:
    """Load the features of every stimulus; those that a run folder does not hold yet are computed and saved first.

    Parameters
    ----------
    runs
        From `analysis.runs.open_runs`.

    Returns
    -------
    DataFrame
        One row per stimulus, by study and place in it: study, item, variant, pattern, language, text, and the columns
        of `analysis.features.FEATURES` (float64, NaN where missing or undefined).
    """
    create_features_table(runs)
    frame = runs.sql(f"SELECT * EXCLUDE position FROM features ORDER BY {_STIMULUS_ORDER}")
    return frame.astype(dict.fromkeys(FEATURES, "float64"))


def tabulate_components_of_study_features(runs: Runs) -> pd.DataFrame:
    """List which components computed the features of each study, and why others are missing.

    Returns
    -------
    DataFrame
        study, language, columns (names, comma separated), component (None if missing), missing (why, and how to get
        them; None if present), looks_like (code of the language that the wordings look like, where they name another
        one; else None), n_texts (distinct wordings).
    """
    import pandas as pd

    rows = []
    kept_counts = _count_distinct_wordings_by_language(runs) if runs.part else {}
    for study, summary in _compute_missing_features_by_study(runs).items():
        for record in summary.records:
            n_texts = kept_counts.get((study, record.language), 0) if runs.part else record.n_texts
            if not n_texts:
                continue
            columns, is_present = ", ".join(record.columns), record.identity is not None
            component = (
                "; ".join(filter(None, (describe_component_name_and_version(record.identity), record.note)))
                if record.identity
                else None
            )
            reason = None if is_present else record.note
            rows.append((study, record.language, columns, component, reason, record.looks_like or None, n_texts))
    return pd.DataFrame(rows, columns=["study", "language", "columns", "component", "missing", "looks_like", "n_texts"])


def _count_distinct_wordings_by_language(runs: Runs) -> dict[tuple[str, str], int]:
    """Count the distinct wordings of a part by study and language: the run folder holds features of all."""
    create_features_table(runs)
    rows = runs.execute("SELECT study, language, count(DISTINCT text) FROM features GROUP BY ALL").fetchall()
    return {row[:2]: row[2] for row in rows}


def _compute_missing_features_by_study(runs: Runs) -> dict[str, Summary]:
    """Compute, once per `Runs`, the missing features of every study; say so where a folder cannot keep them."""

    def compute_features_of_every_study_folder() -> dict[str, Summary]:
        summaries = {
            study: compute_features(folder, must_keep=False)
            for study, folder in choose_feature_folder_of_each_study(runs).items()
        }
        for summary in summaries.values():
            if summary.keep_error is not None:
                _, why = describe_os_error_with_exit_status(summary.keep_error)
                print(f"{summary.path}: text features were computed, but cannot be kept there: {why}", file=sys.stderr)
        return summaries

    return runs.compute_once("text features", compute_features_of_every_study_folder)


def choose_feature_folder_of_each_study(runs: Runs) -> dict[str, Folder]:
    """Choose the folder of every study that holds its features, or will hold them: study -> folder."""
    chosen: dict[str, Folder] = {}
    for study in sorted(runs.info["studies"]):
        folders = [folder for folder in runs.folders if folder.study == study]
        with_features = (folder for folder in folders if (folder.path / store.FEATURES_FILE).exists())
        chosen[study] = next(with_features, folders[0])
    return chosen
