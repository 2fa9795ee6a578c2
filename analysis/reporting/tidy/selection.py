"""Select a part of some runs, by a condition in the words of a user or by a table of keys."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from analysis.features.names import FEATURES
from analysis.measures.meaning_file import MEANING_COLUMNS
from analysis.reporting.tidy.tables import quote_identifier
from analysis.runs.folder import UNIT
from analysis.runs.parts import WORDING, Part
from analysis.runs.reading import read_csv_file
from analysis.runs.unanswered import count_prompts_by_model_and_condition
from analysis.runs.where import ABOUT, select_rows_fulfilling_condition
from ground.errors import InputError, format_nearest_name_hint, shorten_to_one_line

if TYPE_CHECKING:
    import duckdb
    import pandas as pd
    import pyarrow as pa

    from analysis.runs import Runs

KEYS = ("study", "model", "condition", "item", "variant", "text")
_VIEW = "main.candidates"  # a row per study, model and condition that was or was to be asked, and wording of the study


def select_part_of_runs(runs: Runs, con: duckdb.DuckDBPyConnection, where: str | pd.DataFrame) -> Part:
    """Select a part of some runs.

    Parameters
    ----------
    runs
        The runs; they may be a part already.
    con
        Their connection, from `open_tidy_connection`.
    where
        A condition, the name of a CSV file of keys, or a table of keys: some of the columns `KEYS`.

    Returns
    -------
    Part

    Raises
    ------
    InputError
        For what is no condition and no table of keys, an unknown column, a key that matches nothing, an empty part.
    """
    import pandas as pd

    columns = _create_selectable_view_and_map_columns(con, runs.part)
    if isinstance(where, str) and not where.strip().lower().endswith(".csv"):
        _refuse_features_not_stored(where, columns)
        pairs = select_rows_fulfilling_condition(con, where, _VIEW, ("unit", "wording"), columns)
        condition = " ".join(where.split())
    else:
        keys = where
        if isinstance(where, str):
            keys = pd.DataFrame([cells for _, cells in read_csv_file(Path(where.strip()))])
        pairs = _select_rows_matching_keys(con, keys)
        condition = where.strip() if isinstance(where, str) else f"a table of {len(where):,} keys"
    if not len(pairs):
        values = _list_values_of_queried_attribute(con, condition, columns)
        raise InputError(f"{ABOUT}: {shorten_to_one_line(condition, 120)}: keeps nothing{values}")
    if runs.part:
        condition = f"({runs.part.condition}) AND ({condition})"
    return _build_part_of_unit_wording_pairs(runs, con, pairs, condition)


def _create_selectable_view_and_map_columns(con: duckdb.DuckDBPyConnection, part: Part | None) -> dict[str, str]:
    """Create the view of all that can be kept, and return its columns: name in a condition -> name in the view."""
    con.execute(
        "CREATE OR REPLACE TABLE main.numbered_wordings AS SELECT study, item, variant, "
        "row_number() OVER (ORDER BY study, position) AS wording FROM main.stimuli"
    )
    columns_by_table = {
        table: [row[0] for row in con.execute(f"DESCRIBE tidy.{table}").fetchall()]
        for table in ("wordings", "items", "models", "conditions")
    }
    columns_by_table["items"] = ["n_wordings", "n_paraphrases"]  # the others are those of the wordings
    names: dict[str, str] = {"model": "model", "condition": "condition"}
    selected = ["p.place AS unit", "n.wording", "p.study", "p.model", "p.condition", "w.item", "w.variant", "w.text"]
    for table, table_columns in columns_by_table.items():
        for name in table_columns:
            column = names[name] if name in KEYS and name in names else f"c{len(selected)}"
            if column not in names.values():
                selected.append(f"{table[0]}.{quote_identifier(name)} AS {column}")
            names.setdefault(name, column)
            names[f"{table}.{name}"] = column
    for name in [name for name in names if name.startswith("attributes.")]:
        names.setdefault(name.removeprefix("attributes."), names[name])
    con.execute(
        f"CREATE OR REPLACE VIEW {_VIEW} AS SELECT {', '.join(selected)} FROM main.places AS p "
        "JOIN tidy.wordings AS w USING (study) JOIN main.numbered_wordings AS n USING (study, item, variant) "
        "JOIN tidy.items AS i USING (study, item) JOIN tidy.models AS m USING (model) "
        f"JOIN tidy.conditions AS c USING (study, condition){_build_join_clause_keeping_part_pairs(part)}"
    )
    return names


def _list_values_of_queried_attribute(
    con: duckdb.DuckDBPyConnection, condition: str, columns: Mapping[str, str]
) -> str:
    """List some values of the first attribute that a condition names; empty where it names none."""
    words = set(re.findall(r"\w+", re.sub("'[^']*'", "", condition)))
    for name in (name.removeprefix("attributes.") for name in columns if name.startswith("attributes.")):
        if name in words:
            column = columns[f"attributes.{name}"]
            values = con.execute(f"SELECT DISTINCT {column} FROM {_VIEW} WHERE {column} <> '' ORDER BY 1 LIMIT 4")
            texts = [f"'{shorten_to_one_line(value, 20)}'" for (value,) in values.fetchall()]
            return f"; {name} holds {', '.join(texts[:3])}{' ...' if len(texts) > 3 else ''}"
    return ""


def _build_join_clause_keeping_part_pairs(part: Part | None) -> str:
    """Write the SQL that keeps only the pairs of an earlier part, where that is less than its units and wordings."""
    if part is None or part.pairs is None:
        return ""
    return (
        f" JOIN main.part_units AS pu USING ({', '.join(UNIT)}) JOIN main.part_wordings AS pw USING "
        f"({', '.join(WORDING)}) SEMI JOIN main.part_pairs AS pp ON pp.unit = pu.unit AND pp.wording = pw.wording"
    )


def _refuse_features_not_stored(condition: str, columns: Mapping[str, str]) -> None:
    """Say what has to be computed first where a condition names a feature or a verdict, and none are stored."""
    words = re.findall(r"\w+", re.sub("'[^']*'", "", condition))
    for name in FEATURES:
        if name in words and name not in columns:
            raise InputError(f"{ABOUT}: {name} is a text feature, and these runs hold none yet; waver features RUN")
    for name in MEANING_COLUMNS:
        if name in words and name not in columns:
            raise InputError(f"{ABOUT}: {name} says what checks found, and no wording was checked; waver meaning RUN")


def _select_rows_matching_keys(con: duckdb.DuckDBPyConnection, keys: Any) -> pa.Table:
    """Select what some keys name: every row of `keys` has to match something."""
    import pandas as pd

    if not isinstance(keys, pd.DataFrame):
        raise InputError(f"{ABOUT}: {shorten_to_one_line(repr(keys))} is neither a condition nor a DataFrame of keys")
    names = [str(name) for name in keys.columns]
    for name in names:
        if name not in KEYS:
            raise InputError(
                f"{ABOUT}: a table of keys has no column {shorten_to_one_line(repr(name))}"
                f"{format_nearest_name_hint(name, KEYS)}; it may have {', '.join(KEYS)}"
            )
    if keys.empty or len(set(names)) < len(names):
        raise InputError(f"{ABOUT}: the table of keys is empty, or names a column twice")
    if keys.isna().any(axis=None):
        raise InputError(f"{ABOUT}: a cell of the table of keys is missing")
    # Categories and numbers become the texts that the runs have; what no UTF-8 holds matches nothing.
    texts = keys.astype(object).astype(str).drop_duplicates()
    con.register("given_keys", texts.map(lambda text: text.encode("utf-8", "backslashreplace").decode()))
    try:
        unmatched = con.execute(f"SELECT * FROM given_keys ANTI JOIN {_VIEW} USING ({', '.join(names)}) LIMIT 1")
        if rows := unmatched.fetchall():
            pairs = ", ".join(f"{name} {value!r}" for name, value in zip(names, rows[0], strict=True))
            raise InputError(f"{ABOUT}: no row of these runs has {shorten_to_one_line(pairs, 300)}")
        query = f"SELECT unit, wording FROM {_VIEW} SEMI JOIN given_keys USING ({', '.join(names)})"
        table: pa.Table = con.sql(query).to_arrow_table()
    finally:
        con.unregister("given_keys")
    return table


def _build_part_of_unit_wording_pairs(
    runs: Runs, con: duckdb.DuckDBPyConnection, pairs: pa.Table, condition: str
) -> Part:
    """Build the part of some pairs of a unit and a wording: its tables, and how much it is."""
    import pyarrow as pa

    con.register("given_pairs", pairs)
    con.execute("CREATE OR REPLACE TABLE main.kept_pairs AS SELECT * FROM given_pairs")
    con.unregister("given_pairs")
    wordings = con.sql(
        f"SELECT {', '.join(WORDING)}, wording FROM main.numbered_wordings "
        "SEMI JOIN main.kept_pairs USING (wording) ORDER BY wording"
    ).to_arrow_table()
    candidates = con.sql(
        "SELECT study, model, condition, place AS unit FROM main.places AS u "
        "SEMI JOIN main.kept_pairs AS p ON p.unit = u.place ORDER BY place"
    ).to_arrow_table()
    keeps_all = _does_every_unit_keep_every_wording(con)
    part = Part(condition, candidates, wordings, None if keeps_all else pairs, {}, {})
    part.create_join_tables_of_kept_rows(con, "main.kept")
    con.register("errors", runs.sql(f"SELECT {', '.join(KEYS[:5])} FROM errors"))
    con.execute("CREATE OR REPLACE TABLE main.kept_errors AS SELECT * FROM errors")
    con.unregister("errors")
    answered, failed = (
        _map_units_to_kept_row_counts(con, part, rows) for rows in ("main.responses", "main.kept_errors")
    )
    came = {unit: answered.get(unit, 0) + failed.get(unit, 0) for unit in {**answered, **failed}}
    if not came:
        raise InputError(f"{ABOUT}: {shorten_to_one_line(condition, 120)}: keeps only what has no response")
    expected = _map_units_to_expected_prompt_counts(runs, con, came)
    is_kept = [tuple(row[name] for name in UNIT) in expected for row in part.units.to_pylist()]
    return replace(
        part,
        units=part.units.filter(pa.array(is_kept)),
        expected=expected,
        counts=_count_kept_and_all_by_study(runs, con, answered),
    )


def _map_units_to_kept_row_counts(con: duckdb.DuckDBPyConnection, part: Part, rows: str) -> dict[tuple[str, ...], int]:
    """Count the rows of a table that are in a part, by study, model and condition."""
    columns = ", ".join(dict.fromkeys((*UNIT, *WORDING)))
    kept = part.build_sql_of_kept_rows(f"SELECT {columns} FROM {rows}", "main.kept")
    key = ", ".join(UNIT)
    counted = con.execute(f"SELECT {key}, count(*) FROM ({kept}) GROUP BY ALL").fetchall()
    return {row[:-1]: row[-1] for row in counted}


def _map_units_to_expected_prompt_counts(
    runs: Runs, con: duckdb.DuckDBPyConnection, came: Mapping[tuple[str, ...], int]
) -> dict[tuple[str, str, str], int]:
    """Count the prompts to be asked by study, model and condition; those that came where nothing says which were."""
    sizes = dict(con.execute("SELECT study, count(*) FROM main.stimuli GROUP BY study").fetchall())
    rows = con.execute(
        f"SELECT {', '.join(UNIT)}, count(*) FROM main.kept_pairs JOIN main.kept_units USING (unit) GROUP BY ALL"
    ).fetchall()
    kept_by_unit = {row[:-1]: row[-1] for row in rows}
    expected = {}
    for row in count_prompts_by_model_and_condition(runs).itertuples(index=False):
        unit = (row.study, row.model, row.condition)
        is_known = row.missing > 0 and row.asked == sizes[row.study]
        if unit in came or (is_known and unit in kept_by_unit):
            expected[unit] = kept_by_unit[unit] if is_known else came[unit]
    return expected


def _count_kept_and_all_by_study(
    runs: Runs, con: duckdb.DuckDBPyConnection, answered: Mapping[tuple[str, ...], int]
) -> dict[str, dict[str, tuple[Any, Any]]]:
    """Count by study what is kept of everything: of the whole run, also where a part of a part is kept."""
    query = "SELECT study, {} FROM main.{} GROUP BY study"
    wordings, kept_wordings, items, kept_items, responses = (
        dict(con.execute(query.format(*names)).fetchall())
        for names in (
            ("count(*)", "stimuli"), ("count(*)", "kept_wordings"), ("count(DISTINCT item)", "stimuli"),
            ("count(DISTINCT item)", "kept_wordings"), ("count(*)", "responses"),
        )
    )  # fmt: skip
    models: dict[str, set[str]] = {study: set() for study in wordings}
    for folder in runs.folders:
        models[folder.study] |= {model for model, _ in folder.units}
    counts = {
        study: {
            "responses": (sum(n for unit, n in answered.items() if unit[0] == study), responses.get(study, 0)),
            "wordings": (kept_wordings.get(study, 0), wordings[study]),
            "items": (kept_items.get(study, 0), items[study]),
            "models": ({unit[1] for unit, n in answered.items() if unit[0] == study}, models[study]),
        }
        for study in wordings
    }
    if runs.part is None:
        return counts
    return {
        study: {kind: (counts[study][kind][0] if study in counts else type(m)(), m) for kind, (_, m) in kinds.items()}
        for study, kinds in runs.part.counts.items()
    }


def _does_every_unit_keep_every_wording(con: duckdb.DuckDBPyConnection) -> bool:
    """Tell whether every kept unit keeps every kept wording of its study; those without any row are not counted."""
    ((n_pairs, n_product),) = con.execute(
        """
        WITH kept AS (
            SELECT w.study, IF(has_rows, unit, NULL) AS unit, wording
            FROM main.kept_pairs JOIN main.numbered_wordings AS w USING (wording) JOIN main.places ON place = unit)
        SELECT sum(n), sum(n_units * n_wordings)
        FROM (SELECT count(unit) AS n, count(DISTINCT unit) AS n_units, count(DISTINCT wording) AS n_wordings
              FROM kept GROUP BY study)"""
    ).fetchall()
    return bool(n_pairs == n_product)
