"""Read one run folder: its run.json, and the columns of its Parquet files, checked against results/schema.json."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from analysis.runs.damaged_rows import (
    check_stimuli_and_list_options,
    choose_rules_that_responses_can_break,
    read_large_files_on_all_cores,
    refuse_damaged_response_rows,
)
from ground import run_json
from ground.errors import InputError, explain_why_file_cannot_be_read, shorten_to_one_line
from ground.run_json import SCHEMA

if TYPE_CHECKING:
    import duckdb

KEY: tuple[str, ...] = tuple(SCHEMA["responses"]["key"])  # study, model, condition, item, variant: one response
UNIT = KEY[:3]  # study, model, condition: what one model was asked in one way
ORIGINAL = "original"  # pattern of an item's own wording; every other pattern is a rewording of it
_DUCKDB_TYPES = {
    "string": "VARCHAR",
    "double": "DOUBLE",
    "int64": "BIGINT",
    "list<string>": "VARCHAR[]",
    "list<double>": "DOUBLE[]",
    "list<int64>": "BIGINT[]",
    "list<list<double>>": "DOUBLE[][]",
    "map<string,string>": "MAP(VARCHAR, VARCHAR)",
}


def quote_sql_literal(value: str) -> str:
    """Return a string as an SQL literal."""
    return "'" + value.replace("'", "''") + "'"


def list_schema_columns(table: str) -> list[str]:
    """List the schema's columns of `stimuli` or `responses`, in order."""
    return [column["name"] for column in SCHEMA[table]["columns"]]


def build_null_sql(column: str) -> str:
    """Write the SQL of a null of the type that a column of the responses has."""
    (kind,) = (entry["type"] for entry in SCHEMA["responses"]["columns"] if entry["name"] == column)
    return f"CAST(NULL AS {_DUCKDB_TYPES[kind]})"


@dataclass(frozen=True)
class Folder:
    """Describe a checked run folder.

    Attributes
    ----------
    path
        As the user gave it.
    info
        Its run.json.
    parts
        Its response files, sorted by name. The list is a snapshot: what a running job adds later is not seen.
    units
        The (model, condition) pairs that have rows.
    complete, empty
        Columns of the responses in which the file footers show no null, in lists neither, and those without a value
        in any file.
    two_probabilities
        True if the file footers show that every row has two probabilities and a mass, so that no row must be read.
    absent
        Optional columns that some response file does not have, with their types: the file is older than the column.
    """

    path: Path
    info: Mapping[str, Any]
    parts: tuple[Path, ...]
    units: frozenset[tuple[str, str]] = frozenset()
    complete: frozenset[str] = frozenset()
    empty: frozenset[str] = frozenset()
    two_probabilities: bool = False
    absent: frozenset[tuple[str, str]] = frozenset()

    @property
    def study(self) -> str:
        """Return the name of the folder's one study."""
        return str(self.info["study"]["name"])

    @property
    def files(self) -> tuple[Path, ...]:
        """Return the file of the stimuli and those of the responses."""
        return (self.path / SCHEMA["stimuli"]["file"], *self.parts)

    @cached_property
    def stimuli_sql(self) -> str:
        """Return the SQL that reads the stimuli; `position` is their order in the study."""
        names = ", ".join(f'"{name}"' for name in list_schema_columns("stimuli"))
        return f"SELECT {names}, file_row_number AS position FROM {_build_parquet_sql(self.files[:1], True)}"

    @cached_property
    def responses_sql(self) -> str:
        """Return the SQL that reads all response rows, also those with an error; an absent optional column is null.

        The study is written as a constant: a folder has only one (checked), and constants group and join for free.
        """
        names = ", ".join(f'"{name}"' for name in list_schema_columns("responses")[1:])
        rows = _build_parquet_sql(self.parts, union_by_name=bool(self.absent))
        if self.absent:
            nulls = ", ".join(f'CAST(NULL AS {kind}) AS "{name}"' for name, kind in sorted(self.absent))
            rows = f"(FROM {rows} UNION ALL BY NAME SELECT {nulls} WHERE false)"
        return f"SELECT {quote_sql_literal(self.study)} AS study, {names} FROM {rows}"


def build_stimuli_sql_without_undrawn_wordings(folders: Sequence[Folder]) -> str:
    """Build the SQL of the stimuli of folders of one study: of those asked, where it was a draw (`run --wordings`)."""
    stimuli = folders[0].stimuli_sql
    if not any(folder.info.get("drawn") for folder in folders):
        return stimuli
    rows = " UNION ALL ".join(f"SELECT item, variant FROM ({folder.responses_sql})" for folder in folders)
    return f"SELECT * FROM ({stimuli}) SEMI JOIN ({rows}) USING (item, variant)"


def list_run_folders(path: Path) -> list[Path]:
    """Return the run folders that a path stands for: itself, or those inside a folder that is no run folder."""
    inside = sorted(file.parent for file in path.glob(f"*/{SCHEMA['run']['file']}"))
    return inside if inside and not (path / SCHEMA["run"]["file"]).is_file() else [path]


def read_protocol_of_run(path: Path) -> str:
    """Return the protocol of the study in a run folder; errors as in `read_and_check_run_folder`."""
    return str(_read_folder_run_json(path)["study"]["protocol"])


def read_model_ids(path: Path) -> list[str]:
    """Return the ids of the models in a run folder; errors as in `read_and_check_run_folder`."""
    return list(_read_folder_run_json(path)["models"])


def read_and_check_run_folder(path: Path, con: duckdb.DuckDBPyConnection) -> Folder:
    """Read and check run.json, the file footers and, in one pass, the rows of one folder (`damaged_rows`).

    Parameters
    ----------
    path
        The run folder.
    con
        The DuckDB connection that reads the files.

    Returns
    -------
    Folder

    Raises
    ------
    InputError
        For anything missing, unreadable or of another format; the message names the folder and the field.
    """
    import duckdb

    folder = Folder(path, _read_folder_run_json(path), tuple(sorted(path.glob(SCHEMA["responses"]["files"]))))
    stimuli = path / SCHEMA["stimuli"]["file"]
    if not stimuli.is_file():
        raise InputError(f"{path}: {stimuli.name} is missing, so this is not a whole run folder")
    _check_columns_and_list_absent_ones(con, folder, "stimuli", [stimuli])
    absent = (
        _check_columns_and_list_absent_ones(con, folder, "responses", folder.parts) if folder.parts else folder.absent
    )
    folder = replace(folder, absent=absent)
    try:
        _refuse_repeated_or_foreign_stimuli(con, folder)
        folder = _add_units_and_footer_facts_to_folder(con, folder) if folder.parts else folder
        with read_large_files_on_all_cores(con, [stimuli, *folder.parts]):
            _refuse_impossible_rows(con, folder)
    except duckdb.Error as error:  # the footers are whole, and what they describe is not
        raise InputError(f"{path}: a file is damaged ({shorten_to_one_line(str(error), 200)}); restore it") from error
    if not folder.units:
        raise InputError(f"{path}: {SCHEMA['responses']['files']}: nothing was asked yet; run it first")
    return folder


def _refuse_impossible_rows(con: duckdb.DuckDBPyConnection, folder: Folder) -> None:
    """Refuse stimuli and responses that no run can have written."""
    options = check_stimuli_and_list_options(con, folder.path, folder.info, folder.stimuli_sql)
    if not folder.parts:
        return
    parts = _build_parquet_sql(
        folder.parts, with_row_numbers=True, union_by_name=bool(folder.absent), with_file_names=True
    )
    rules = choose_rules_that_responses_can_break(folder.complete, folder.empty, {name for name, _ in folder.absent})
    refuse_damaged_response_rows(con, folder.path, folder.info, folder.stimuli_sql, parts, rules, *options)


def _read_folder_run_json(path: Path) -> dict[str, Any]:
    """Read the run.json of a folder; refuse what is no run folder."""
    file = path / SCHEMA["run"]["file"]
    if path.is_file():
        raise InputError(f"{path} is a file; give the run folder, which holds run.json")
    if not path.is_dir():
        raise InputError(f"{path}: no such run folder")
    if not file.is_file():
        raise InputError(f"{path}: run.json is missing, so this is not a run folder")
    return run_json.read_run_json(path)


def _check_columns_and_list_absent_ones(
    con: duckdb.DuckDBPyConnection, folder: Folder, table: str, files: Sequence[Path]
) -> frozenset[tuple[str, str]]:
    """Refuse files without a column of the schema or with another type; further columns are ignored.

    Returns the optional columns that some file does not have, with their types.
    """
    for file in files:
        if not file.is_file():  # a pipe would never end
            raise InputError(f"{folder.path}: {file.relative_to(folder.path)} is not an ordinary file; remove it")
    absent = set()
    for file, types_by_column in _describe_one_file_per_parquet_schema(con, folder, files).items():
        for column in SCHEMA[table]["columns"]:
            where = f"{folder.path}: {file.relative_to(folder.path)}: column {column['name']!r}"
            expected_type = _DUCKDB_TYPES[column["type"]]
            if column["name"] not in types_by_column and column.get("optional"):
                absent.add((column["name"], expected_type))
            elif column["name"] not in types_by_column:
                raise InputError(f"{where} is missing")
            elif types_by_column[column["name"]] != expected_type:
                raise InputError(
                    f"{where} has type {types_by_column[column['name']]}, not {expected_type} ({column['type']})"
                )
    return frozenset(absent)


def _describe_one_file_per_parquet_schema(
    con: duckdb.DuckDBPyConnection, folder: Folder, files: Sequence[Path]
) -> dict[Path, dict[str, str]]:
    """Return column -> type of one file per layout: thousands have one layout as a rule, and each would cost 1 ms."""
    import duckdb

    query = """
        SELECT min(file_name)
        FROM (SELECT file_name, list((name, type, converted_type, logical_type, repetition_type)) AS layout
              FROM parquet_schema({files}) GROUP BY file_name)
        GROUP BY layout"""
    try:
        names = con.execute(query.format(files=_quote_file_names_for_duckdb(files))).fetchall() if files[1:] else []
        return {file: _describe_parquet_columns(con, file) for file in [Path(name) for (name,) in names] or files}
    except duckdb.Error as error:
        for file in files:
            where = f"{folder.path}: {file.relative_to(folder.path)}"
            try:
                _read_end_of_file(file)  # whole perhaps, where the operating system refuses it: not to be deleted
                _describe_parquet_columns(con, file)
            except OSError as refusal:
                raise InputError(f"{where} cannot be read: {explain_why_file_cannot_be_read(refusal)}") from None
            except duckdb.Error:
                advice = "delete it, then repeat the command that wrote it"
                if file.name == SCHEMA["stimuli"]["file"]:  # without it, the answers in the folder are of no use
                    advice = "bring a whole copy of it back"
                raise InputError(f"{where} cannot be read: damaged or cut short; {advice}") from error
        raise


def _describe_parquet_columns(con: duckdb.DuckDBPyConnection, file: Path) -> dict[str, str]:
    """Return the columns of a file and their types in DuckDB."""
    rows = con.execute(f"DESCRIBE SELECT * FROM {_build_parquet_sql([file])}").fetchall()
    return {name: kind for name, kind, *_ in rows}


def _read_end_of_file(file: Path) -> bytes:
    """Read the last bytes of a file, where the layout of a Parquet file is; the operating system may refuse it."""
    with file.open("rb") as opened:
        opened.seek(max(0, file.stat().st_size - 2**20))
        return opened.read()


def _refuse_repeated_or_foreign_stimuli(con: duckdb.DuckDBPyConnection, folder: Folder) -> None:
    """Refuse stimuli of another study, and variants that appear twice."""
    file = SCHEMA["stimuli"]["file"]
    other = f"SELECT study FROM ({folder.stimuli_sql}) WHERE study IS DISTINCT FROM ? LIMIT 1"
    if row := con.execute(other, [folder.study]).fetchone():
        raise InputError(f"{folder.path}: {file}: study {row[0]!r} is not the study of run.json, {folder.study!r}")
    twice = con.execute(
        f"SELECT item, variant FROM ({folder.stimuli_sql}) GROUP BY item, variant HAVING count(*) > 1 OR item IS NULL "
        "OR variant IS NULL LIMIT 1"
    )
    if row := twice.fetchone():
        raise InputError(f"{folder.path}: {file}: item {row[0]!r}, variant {row[1]!r} is empty or appears twice")


def _add_units_and_footer_facts_to_folder(con: duckdb.DuckDBPyConnection, folder: Folder) -> Folder:
    """Find which model was asked under which condition, and refuse names that run.json does not list."""
    chunks = con.execute(
        f"""
        SELECT file_name, row_group_id, split_part(path_in_schema, ',', 1), stats_null_count IS NOT DISTINCT FROM 0,
               stats_null_count IS NOT DISTINCT FROM num_values, num_values = 2 * row_group_num_rows,
               CASE WHEN stats_null_count = 0 AND stats_min_value = stats_max_value THEN stats_min_value END
        FROM parquet_metadata({_quote_file_names_for_duckdb(folder.parts)})"""
    ).fetchall()
    constants_by_row_group: dict[Any, dict[str, Any]] = {chunk[:2]: dict.fromkeys(UNIT) for chunk in chunks}
    for file, group, name, *_, constant in chunks:
        if name in UNIT:
            constants_by_row_group[file, group][name] = constant
    study_units = {tuple(constants.values()) for constants in constants_by_row_group.values()}
    mixed = sorted({Path(file) for (file, _), unit in constants_by_row_group.items() if None in unit.values()})
    if mixed:
        query = f"SELECT DISTINCT study, model, condition FROM {_build_parquet_sql(mixed)}"
        study_units = {unit for unit in study_units if None not in unit} | set(con.execute(query).fetchall())
    for study, model, condition in sorted(study_units, key=str):
        if study != folder.study:
            raise InputError(f"{folder.path}: responses: study {study!r} is not run.json's study, {folder.study!r}")
        for field, name in (("models", model), ("conditions", condition)):
            if name not in folder.info[field]:
                raise InputError(f"{folder.path}: responses: {field[:-1]} {name!r} is not in run.json: {field}")
    units = frozenset((model, condition) for _, model, condition in study_units)
    names = frozenset(list_schema_columns("responses"))
    complete, empty = (names.difference(chunk[2] for chunk in chunks if not chunk[place]) for place in (3, 4))
    complete = complete.difference(name for name, _ in folder.absent)  # a file without the column has no value there
    in_twos = {"probability", "mass"} <= complete and all(chunk[5] for chunk in chunks if chunk[2] == "probability")
    return replace(folder, units=units, two_probabilities=in_twos, complete=complete, empty=empty)


def _quote_file_names_for_duckdb(files: Sequence[Path]) -> str:
    """Return file names as a list for DuckDB, with [, * and ? escaped, which it would read as patterns."""
    escaped_names = (str(file).replace("[", "[[]").replace("*", "[*]").replace("?", "[?]") for file in files)
    return "[" + ", ".join(quote_sql_literal(name) for name in escaped_names) + "]"


def _build_parquet_sql(
    files: Sequence[Path], with_row_numbers: bool = False, union_by_name: bool = False, with_file_names: bool = False
) -> str:
    """Write the SQL that reads Parquet files, with the number of a row and the name of its file if asked for."""
    # A folder called "seed=1" must not become a column `seed`.
    options = {"hive_partitioning": False, "file_row_number": with_row_numbers, "union_by_name": union_by_name}
    options |= {"filename": True} if with_file_names else {}
    settings = ", ".join(f"{name} = {value}" for name, value in options.items())
    return f"read_parquet({_quote_file_names_for_duckdb(files)}, {settings})"
