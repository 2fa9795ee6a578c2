"""Load features as frames: one row per stimulus, one row per response, one row per component."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from analysis.features import store
from analysis.features.attributes import read_attribute_column
from analysis.features.component import describe_component_identity
from analysis.features.computation import Summary, build_language_sql, compute_features
from analysis.features.names import FEATURES
from analysis.runs.folder import UNIT, quote_sql_literal
from ground.errors import describe_os_error_with_exit_status

if TYPE_CHECKING:
    import duckdb
    import numpy as np
    import pandas as pd

    from analysis.runs import Runs

_STIMULUS_ORDER = "study, position"
# Convention for invalid answers -> agreement, in SQL over the view `answers`.
_AGREEMENT_SQL = {
    "dropped": "agreement",
    "inconsistent": "coalesce(agreement, 0) * CASE WHEN written THEN validity ELSE 1 END",
}


def create_features_table(runs: Runs) -> None:
    """Create, once per `Runs`, the table `features`: stimuli with their features; compute the missing ones first."""
    if runs.execute("SELECT 1 FROM duckdb_tables() WHERE table_name = 'features'").fetchall():
        return
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
    for number, (study, folder) in enumerate(_choose_feature_folders(runs).items()):
        stored = store.read_stored_features(folder)
        if stored.default_language is None:
            continue
        con.register(f"text_features_{number}", pa.concat_tables(stored.tables.values()))
        similarity_file = folder / store.SIMILARITY_FILE
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
    return bool(queries)


def read_features(runs: Runs) -> pd.DataFrame:
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


def join_answers_with_features(
    runs: Runs, *, original: bool = False, invalid: str = "dropped", attributes: Sequence[str] = ()
) -> pd.DataFrame:
    """Join responses with the features of their wordings, for the mixed models.

    Parameters
    ----------
    runs
        From `analysis.runs.open_runs`; studies with two canonical labels.
    original
        Keep the original wordings, too. The default is paraphrases only, as in Haller et al., section 4.3.
    invalid
        Invalid answers are "dropped", so that agreement is of the valid ones and may be undefined, or "inconsistent":
        they count as not agreeing, among the samples of one wording, too. Probabilities are of the valid answers under
        both, as nothing was drawn that could be invalid; only a row without any mass counts.
    attributes
        Attributes of the wordings, from `attributes.list_attribute_columns`, which become further columns.

    Returns
    -------
    DataFrame
        One row per answer, by study, model, condition (in the order of run.json) and place in the study: study, model,
        condition, item, variant (categorical); agreement (0 to 1, NaN where undefined); logit (log p(agree) -
        log p(disagree) from log-probabilities, infinite if one of the two is 0, NaN if a row has none);
        text_logprob (NaN if a row has none); and the columns of `analysis.features.FEATURES`.
    """
    import pandas as pd

    stimuli = read_features(runs)
    answers = _read_answer_arrays(runs, original, _AGREEMENT_SQL[invalid])
    units = runs.execute("SELECT study, model, condition FROM units ORDER BY position").fetchall()
    names: dict[str, Any] = {}
    for key, values in zip(UNIT, zip(*units, strict=True), strict=True):
        codes, labels = pd.factorize(pd.Series(values, dtype=object))
        names[key] = pd.Categorical.from_codes(codes[answers["unit"]], categories=labels)
    place = answers["place"]
    for key in ("item", "variant"):
        codes, labels = pd.factorize(stimuli[key])
        names[key] = pd.Categorical.from_codes(codes[place], categories=labels)
    measures = {key: answers[key] for key in ("agreement", "logit", "text_logprob")}
    wording_columns = {name: stimuli[name].to_numpy()[place] for name in FEATURES}
    wording_columns |= {name: read_attribute_column(runs, name).array[place] for name in attributes}
    return pd.DataFrame(names | measures | wording_columns, copy=False)


def list_feature_components(runs: Runs) -> pd.DataFrame:
    """List which components computed the features of each study, and why others are missing.

    Returns
    -------
    DataFrame
        study, language, columns (names, comma separated), component (None if missing), missing (why, and how to get
        them; None if present), n_texts (distinct wordings).
    """
    import pandas as pd

    rows = []
    kept_counts = _count_kept_texts(runs) if runs.part else {}
    for study, summary in _compute_missing_features_by_study(runs).items():
        for record in summary.records:
            n_texts = kept_counts.get((study, record.language), 0) if runs.part else record.n_texts
            if not n_texts:
                continue
            columns, is_present = ", ".join(record.columns), record.identity is not None
            component = (
                "; ".join(filter(None, (describe_component_identity(record.identity), record.note)))
                if record.identity
                else None
            )
            rows.append((study, record.language, columns, component, None if is_present else record.note, n_texts))
    return pd.DataFrame(rows, columns=["study", "language", "columns", "component", "missing", "n_texts"])


def _count_kept_texts(runs: Runs) -> dict[tuple[str, str], int]:
    """Count the distinct wordings of a part by study and language: the run folder holds features of all."""
    create_features_table(runs)
    rows = runs.execute("SELECT study, language, count(DISTINCT text) FROM features GROUP BY ALL").fetchall()
    return {row[:2]: row[2] for row in rows}


def _compute_missing_features_by_study(runs: Runs) -> dict[str, Summary]:
    """Compute, once per `Runs`, the missing features of every study; say so where a folder cannot keep them."""

    def compute_all_summaries() -> dict[str, Summary]:
        summaries = {
            study: compute_features(folder, must_keep=False) for study, folder in _choose_feature_folders(runs).items()
        }
        for summary in summaries.values():
            if summary.keep_error is not None:
                _, why = describe_os_error_with_exit_status(summary.keep_error)
                print(f"{summary.path}: text features were computed, but cannot be kept there: {why}", file=sys.stderr)
        return summaries

    return runs.compute_once("text features", compute_all_summaries)


def _choose_feature_folders(runs: Runs) -> dict[str, Path]:
    """Choose the folder of every study that holds its features, or will hold them."""
    chosen: dict[str, Path] = {}
    for study in sorted(runs.info["studies"]):
        folders = [folder.path for folder in runs.folders if folder.study == study]
        chosen[study] = next((path for path in folders if (path / store.FEATURES_FILE).exists()), folders[0])
    return chosen


def _read_answer_arrays(runs: Runs, keep_original: bool, agreement_sql: str) -> dict[str, np.ndarray]:
    """Return every answer as arrays: unit, place (its stimulus's row in `read_features`), agreement, logit,
    text_logprob.

    `unit` is an index into the rows of view `units`; `place` 7 is the stimulus in row 7 of `read_features`, counted
    from 0.
    """
    from analysis.measures import agreement

    agreement.create_agreement_tables(runs)
    labels = {study: str(info["canonical"][0]) for study, info in runs.info["studies"].items()}
    first = " ".join(
        f"WHEN {quote_sql_literal(study)} THEN {quote_sql_literal(label)}" for study, label in labels.items()
    )
    key = "study, model, condition, item, variant"
    columns: dict[str, np.ndarray] = runs.execute(
        f"""
        WITH places AS (
            SELECT study, item, variant, row_number() OVER (ORDER BY {_STIMULUS_ORDER}) - 1 AS place,
                   list_position(canonical, CASE study {first} END) AS agree
            FROM stimuli)
        SELECT u.position AS unit, place, agreement, logprob[agree] - logprob[3 - agree] AS logit, text_logprob
        FROM (SELECT {key}, {agreement_sql} AS agreement FROM answers {"" if keep_original else "WHERE NOT original"})
        JOIN (SELECT {key}, logprob, text_logprob FROM responses) USING ({key})
        JOIN places USING (study, item, variant)
        JOIN units AS u USING (study, model, condition)
        ORDER BY unit, place"""
    ).fetchnumpy()
    return {name: _fill_nulls_with_nan(values) for name, values in columns.items()}


def _fill_nulls_with_nan(values: Any) -> np.ndarray:
    """Return a column of DuckDB with NaN for null; DuckDB returns a masked array if a column holds nulls."""
    import numpy as np

    return np.ma.filled(values.astype("float64"), np.nan) if np.ma.isMaskedArray(values) else np.asarray(values)
