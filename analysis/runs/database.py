"""Open run folders, check them, and query them as one database, straight from the Parquet files.

Four lines get from a folder to a table::

    from analysis import runs
    from analysis.pages.stability import tables
    run = runs.open_runs("results/demo/agreement")
    tables.tabulate_stability(run)
"""

from __future__ import annotations

import errno
import itertools
import os
import re
import tempfile
from collections.abc import Callable, Collection, Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

from analysis.runs.conditions import find_units_that_subsample_another_condition
from analysis.runs.folder import (
    KEY,
    UNIT,
    Folder,
    build_null_sql,
    list_run_folders,
    read_and_check_run_folder,
    read_model_ids,
    read_protocol_of_run,
)
from analysis.runs.hashed import refuse_changed_baseline
from analysis.runs.over_time import split_folders_into_current_and_superseded
from analysis.runs.parts import Part, restrict_folders_to_part
from ground.errors import InputError, format_quantity, shorten_to_one_line
from ground.importing import import_without_interruption

if TYPE_CHECKING:
    import duckdb
    import pandas as pd

Parameters: TypeAlias = Sequence[Any] | Mapping[str, Any]
Result = TypeVar("Result")
VECTORS = 100  # of 2,048 rows each, which `iterate_query_results_in_chunks` yields at a time
_NO_ROOM_PATTERN = "No space left|File too large|quota exceeded"  # in what DuckDB says of its temporary files


class Runs:
    """Query checked run folders through one DuckDB connection. Made by `open_runs`.

    Views for `sql` (columns as in results/schema.json):

    - `stimuli`: every variant of every study once, with `position`, its place in the study;
    - `responses`: the rows that have an answer (`error` null), study x model x condition x item x variant unique;
    - `errors`: the keys that were asked but only failed, with their `error`;
    - `units`: study, model, condition and `position`: what was asked, in the order of run.json; without subsamples
      (`conditions.find_units_that_subsample_another_condition`), which are not compared with other conditions.

    Attributes
    ----------
    folders
        The folders in the order given.
    info
        The content of all run.json files in one: `studies` (name -> protocol, name, hash, canonical ...), `models`
        (id -> fields), `conditions` (study -> name -> fields), `sessions` (all of them), `prompts` (hash -> form of a
        prompt file), `asked` (study -> condition -> entries), `drawn` (what `drawn` of run.json names: an entry per
        study, model and condition, with these, its fields and the seed).
    models
        Ids of all models of the folders that were named, also of those whose protocol was not asked for: a report
        of few models gives each the same colour on every page.
    con
        The DuckDB connection.
    part
        What is kept of the folders; None: all.
    earlier
        Folders of the same studies whose models were asked again later, by time; not in the views.
    """

    def __init__(
        self,
        folders: Sequence[Folder],
        con: duckdb.DuckDBPyConnection,
        models: Collection[str] = (),
        part: Part | None = None,
        earlier: Sequence[Folder] = (),
    ) -> None:
        self.folders = tuple(folders)
        self.earlier = tuple(folder for folder in earlier if folder.study in {folder.study for folder in folders})
        self.con = con
        self.part = part
        self.info = _merge_run_json(self.folders)
        self.models = tuple(sorted({*self.info["models"], *models}))
        self._results_by_key: dict[Hashable, Any] = {}
        _create_views(self)

    @property
    def models_with_response_rows(self) -> dict[str, Any]:
        """Return those models of `info` that have rows: one that could not be asked is recorded without any."""
        names = {model for folder in self.folders for model, _ in folder.units}
        return {name: fields for name, fields in self.info["models"].items() if name in names}

    def sql(self, query: str, parameters: Parameters = ()) -> pd.DataFrame:
        """Run a query over the views.

        Parameters
        ----------
        query, parameters
            SQL, and values for its `?` (in order) or `$name`.

        Returns
        -------
        DataFrame
            The rows.

        Raises
        ------
        InputError
            If a file is damaged, was changed since it was opened, or holds an impossible value.
        OSError
            If there is no room for DuckDB's temporary files.
        """
        frame: pd.DataFrame = self.execute(query, parameters).df()
        return frame

    def execute(self, query: str, parameters: Parameters = ()) -> duckdb.DuckDBPyConnection:
        """Run a query or a definition on the connection.

        Parameters
        ----------
        query, parameters
            As in `sql`.

        Returns
        -------
        DuckDBPyConnection
            From which the rows are fetched.

        Raises
        ------
        InputError, OSError
            As `sql`.
        """
        with self._reword_duckdb_errors():
            return self.con.execute(query, parameters)

    def iterate_query_results_in_chunks(self, query: str, parameters: Parameters = ()) -> Iterator[pd.DataFrame]:
        """Run a query over the views, and yield its rows some at a time: all together may be too many for the memory.

        Parameters
        ----------
        query, parameters
            As in `sql`. No other query may be run before the last rows are there.

        Yields
        ------
        DataFrame
            Some rows, at most `VECTORS` of DuckDB.

        Raises
        ------
        InputError, OSError
            As `sql`.
        """
        with self._reword_duckdb_errors():
            result = self.con.execute(query, parameters)
            while len(frame := result.fetch_df_chunk(VECTORS)):
                yield frame

    @contextmanager
    def _reword_duckdb_errors(self) -> Iterator[None]:
        """Turn errors of DuckDB about the files into lines about them."""
        import duckdb

        try:
            yield
        except (duckdb.ParserException, duckdb.BinderException, duckdb.CatalogException, duckdb.OutOfMemoryException,
                duckdb.ConnectionException):  # fmt: skip
            raise  # about the query, or runs that were closed, not about the files
        except duckdb.Error as error:
            if isinstance(error, duckdb.IOException) and re.search(_NO_ROOM_PATTERN, str(error)):
                raise OSError(errno.ENOSPC, str(error), tempfile.gettempdir()) from error
            raise InputError(f"{self.join_folder_paths()}: cannot be read: {' '.join(str(error).split())}") from error

    def restrict_to_part(self, part: Part) -> Runs:
        """Return a part of these runs as runs of their own; the files were checked already.

        Raises
        ------
        InputError
            If nothing of these runs is in the part.
        """
        folders = restrict_folders_to_part(self.folders, part)
        if not folders:
            names = ", ".join(self.info["studies"])
            raise InputError(f"where: {shorten_to_one_line(part.condition, 120)}: keeps nothing of {names}")
        # Joins as they are written: rows come in the order that they have in a run of this part alone, so that sums of
        # floating-point numbers agree, to the last digit as a rule.
        con = connect_duckdb(disabled_optimizers="join_order")
        return Runs(folders, con, self.models, replace(part, studies=tuple(self.info["studies"])), self.earlier)

    def list_studies_of_protocols(self, *protocols: str) -> list[str]:
        """List the names of the studies of some protocols."""
        return [name for name, fields in self.info["studies"].items() if fields["protocol"] in protocols]

    def find_path_of_study(self, study: str) -> str:
        """Return the path of the first run folder of a study, for messages."""
        return str(next(folder.path for folder in self.folders if folder.study == study))

    def join_folder_paths(self, study: str | None = None) -> str:
        """Join the paths of the run folders of a study, or of all, for messages."""
        return ", ".join(str(folder.path) for folder in self.folders if study in (None, folder.study))

    def list_units_of_study(self, study: str) -> list[tuple[str, str]]:
        """List model and condition of what was asked of a study, in the order of run.json."""
        query = "SELECT model, condition FROM units WHERE study = ? ORDER BY position"
        return [(str(model), str(condition)) for model, condition in self.execute(query, [study]).fetchall()]

    def select_protocols(self, protocols: Collection[str]) -> Runs | None:
        """Return those of the runs that are of some protocols, opened once; None where none is."""
        return self.select_studies(self.list_studies_of_protocols(*protocols))

    def select_studies(self, studies: Collection[str]) -> Runs | None:
        """Return those of the runs that are of some studies, opened once; None where none is."""
        folders = [folder for folder in self.folders if folder.study in studies]
        if len(folders) == len(self.folders):
            return self

        def open_selected() -> Runs:
            return Runs(folders, connect_duckdb(), self.models, self.part, self.earlier)

        return self.compute_once(("runs of", frozenset(studies)), open_selected) if folders else None

    def build_select_list_of_response_columns(self, study: str, columns: Sequence[str]) -> str:
        """Write the SQL of some columns of the responses of a study; a null for one without values, which is not read.

        Parameters
        ----------
        study
            Name of the study.
        columns
            Columns of `responses`.

        Returns
        -------
        What stands between SELECT and FROM. The footers of the files say which columns hold no value.
        """
        empty = frozenset.intersection(*(folder.empty for folder in self.folders if folder.study == study))
        return ", ".join(f'{build_null_sql(name)} AS "{name}"' if name in empty else f'"{name}"' for name in columns)

    def compute_once(self, key: Hashable, compute: Callable[[], Result]) -> Result:
        """Make something once per key, keep it as long as these runs, and return it at every later call.

        Several tables are made of the same rows or the same fits. ::

            rows = runs.compute_once("scored rows", lambda: _read(runs))

        Parameters
        ----------
        key
            Names what is kept, everywhere in the program.
        compute
            Makes it; called once.

        Returns
        -------
        What `compute` returned.
        """
        if key not in self._results_by_key:
            self._results_by_key[key] = compute()
        result: Result = self._results_by_key[key]
        return result

    def close(self) -> None:
        """Let go of the connection and of all that was made by it; what run.json says is still there."""
        self._results_by_key.clear()
        self.con.close()

    def __repr__(self) -> str:
        studies, models = ", ".join(self.info["studies"]), len(self.info["models"])
        return f"<Runs: {studies}; {format_quantity(models, 'model')}; {format_quantity(len(self.folders), 'folder')}>"


def open_runs(
    *paths: str | os.PathLike[str],
    protocols: Collection[str] = (),
    threads: int = 1,
    memory_limit: str = "1GB",
    over_time: bool = False,
) -> Runs:
    """Open one or several run folders as one database.

    Folders of the same study (same name and hash) are joined; different studies differ in the column `study`. Rows with
    an `error` are not answers and are left out (see the view `errors`); if the same key was answered later, the answer
    counts.

    Parameters
    ----------
    *paths
        One or more run folders, or folders that hold run folders: these stand for all that they hold.
    protocols
        Open only the run folders of these protocols; all of them where none is named.
    threads
        Threads of DuckDB. With one, the default, floating-point sums do not depend on timing: two reports on the same
        run agree to the last digit.
    memory_limit
        Memory from which DuckDB uses a temporary file.
    over_time
        Whether the same models may have been asked several times: then the last time counts, and the other folders are
        `Runs.earlier`. Else a key in two folders is refused.

    Returns
    -------
    Runs

    Raises
    ------
    InputError
        For no folder at all, or none of these protocols; a folder that differs from results/schema.json; one study
        name with different stimuli; one model id with different revisions; one condition name with different settings;
        a key in two folders; a baseline that was changed after it was saved; with `over_time`, a folder without a time,
        and one run given twice.
    """
    if not paths:
        raise InputError("no run folder given")
    if "" in [os.fspath(path) for path in paths]:  # as a path, it would be the working directory
        raise InputError("the name of a run folder is empty")
    folder_paths = [folder for path in paths for folder in list_run_folders(Path(path))]
    chosen_paths = [folder for folder in folder_paths if not protocols or read_protocol_of_run(folder) in protocols]
    if not chosen_paths:
        protocols_there = ", ".join(sorted({read_protocol_of_run(folder) for folder in folder_paths}))
        raise InputError(
            f"{', '.join(map(str, paths))}: no run of protocol {' or '.join(sorted(protocols))} there; found: "
            f"{protocols_there}"
        )
    model_ids = {model for folder in folder_paths for model in read_model_ids(folder)}
    con = connect_duckdb(threads, memory_limit)
    folders = [read_and_check_run_folder(folder, con) for folder in chosen_paths]
    for folder in folders:
        refuse_changed_baseline(folder.path, folder.info)
    current, earlier = split_folders_into_current_and_superseded(folders) if over_time else (folders, [])
    return Runs(current, con, model_ids, earlier=earlier)


def connect_duckdb(
    threads: int = 1, memory_limit: str = "1GB", disabled_optimizers: str = ""
) -> duckdb.DuckDBPyConnection:
    """Open a DuckDB database in memory, with the settings that make results repeatable.

    Parameters
    ----------
    threads, memory_limit
        As in `open_runs`.
    disabled_optimizers
        Steps of DuckDB's optimizer that are left out.

    Returns
    -------
    DuckDBPyConnection
    """
    import duckdb

    # DuckDB would import it by itself, and take an interrupt in the middle for "pandas was not installed".
    import_without_interruption("pandas")
    con = duckdb.connect(
        config={
            "threads": threads,
            "memory_limit": memory_limit,
            "disabled_optimizers": disabled_optimizers,
            "temp_directory": os.path.join(tempfile.gettempdir(), f"waver-{os.getpid()}"),
            "preserve_insertion_order": False,
            "parquet_metadata_cache": True,
            # Never download an extension: what we need is built in.
            "autoinstall_known_extensions": False,
        }
    )
    # In notebooks, DuckDB draws a progress bar for every query of more than two seconds. Without ipywidgets it draws
    # none, and then refuses this setting.
    with suppress(duckdb.InvalidInputException):
        con.execute("SET enable_progress_bar = false")
    return con


def _merge_run_json(folders: Sequence[Folder]) -> dict[str, Any]:
    """Merge the run.json files; refuse a name that means different things in two of them."""
    first_by_name: dict[tuple[str, ...], tuple[Folder, Mapping[str, Any]]] = {}
    merged: dict[str, Any] = {name: {} for name in ("studies", "models", "conditions", "prompts", "asked")}
    merged |= {"sessions": [], "drawn": []}
    for folder in folders:
        study = folder.study
        _refuse_differing_fields(first_by_name, ("study", study), folder, {"hash": folder.info["study"]["hash"]})
        merged["studies"].setdefault(study, folder.info["study"])
        for name, fields in folder.info["models"].items():
            _refuse_differing_fields(first_by_name, ("model", name), folder, {"revision": fields.get("revision")})
            recorded_fields = {key: value for key, value in merged["models"].get(name, {}).items() if value is not None}
            merged["models"][name] = {**fields, **recorded_fields}
        conditions = merged["conditions"].setdefault(study, {})
        for name, fields in folder.info["conditions"].items():
            _refuse_differing_fields(first_by_name, ("condition", name, study), folder, fields)
            conditions.setdefault(name, fields)
        merged["prompts"] |= folder.info.get("prompts", {})
        asked_by_condition = merged["asked"].setdefault(study, {})
        for name, entries in folder.info.get("asked", {}).items():
            asked_by_condition[name] = [*asked_by_condition.get(name, ()), *entries]
        merged["sessions"] += folder.info["sessions"]
        merged["drawn"] += [
            {"study": study, "model": model, "condition": condition, "seed": folder.info["seed"], **fields}
            for model, draws in folder.info.get("drawn", {}).items()
            for condition, fields in draws.items()
        ]
    return merged


def _refuse_differing_fields(
    first_by_name: dict[tuple[str, ...], tuple[Folder, Mapping[str, Any]]],
    name: tuple[str, ...],
    folder: Folder,
    fields: Mapping[str, Any],
) -> None:
    """Refuse fields that differ from those of the folder that had this name first."""
    first_folder, first_fields = first_by_name.setdefault(name, (folder, fields))
    for field in [*first_fields, *fields]:
        if first_fields.get(field) != fields.get(field):
            raise InputError(
                f"{folder.path}: run.json: {name[0]} {name[1]!r} has {field} {fields.get(field)!r}, but "
                f"{first_fields.get(field)!r} in {first_folder.path}; rename one or report the folders separately"
                f"{' (asked at several times: --over-time)' if name[0] in ('study', 'model') else ''}"
            )


def _create_views(runs: Runs) -> None:
    """Create the views and tables of `Runs`."""
    folders = runs.folders
    rows = create_stimuli_and_responses_views(runs.con, folders, runs.part)
    _create_units_table(runs)
    for folder_a, folder_b in itertools.combinations(folders, 2) if runs.part is None else ():
        if folder_a.study == folder_b.study:
            _refuse_folders_with_equal_keys(runs, folder_a, folder_b)
    if all("error" in folder.empty for folder in folders):
        runs.execute(f"CREATE TEMP TABLE errors ({', '.join(f'{name} VARCHAR' for name in (*KEY, 'error'))})")
        return
    runs.execute(
        f"CREATE TEMP TABLE errors AS SELECT {', '.join(KEY)}, max(error) AS error "
        f"FROM ({rows}) WHERE error IS NOT NULL GROUP BY ALL"
    )
    same_key = " AND ".join(f"errors.{name} = responses.{name}" for name in KEY)
    if runs.con.execute("SELECT count(*) FROM errors").fetchall() != [(0,)]:
        runs.execute(f"DELETE FROM errors USING responses WHERE {same_key}")


def create_stimuli_and_responses_views(
    con: duckdb.DuckDBPyConnection, folders: Sequence[Folder], part: Part | None
) -> str:
    """Create the views `stimuli` and `responses` of some folders; some stimuli only, which a part keeps, are a table.

    Parameters
    ----------
    con
        Where.
    folders
        The checked folders.
    part
        What is kept of them; None: all.

    Returns
    -------
    SQL that reads all rows of responses, also those with an error.
    """
    # Equal hash, so equal stimuli: the first folder's.
    first_by_study: dict[str, Folder] = {}
    for folder in folders:
        first_by_study.setdefault(folder.study, folder)
    stimuli = " UNION ALL ".join(folder.stimuli_sql for folder in first_by_study.values())
    rows = " UNION ALL ".join(folder.responses_sql for folder in folders)
    if part:
        part.create_join_tables_of_kept_rows(con)
        rows = part.build_sql_of_kept_rows(rows)
    if part and not part.keeps_all_wordings:
        con.execute(f"CREATE TABLE stimuli AS {part.build_sql_of_kept_stimuli(stimuli)}")
    else:
        con.execute(f"CREATE VIEW stimuli AS {stimuli}")
    con.execute(f"CREATE VIEW responses AS SELECT * FROM ({rows}) WHERE error IS NULL")
    return rows


def list_asked_units(runs: Runs) -> list[tuple[str, str, str]]:
    """List study, model and condition of all that was asked, in the order of run.json."""
    return _order_units(runs, {(folder.study, *unit) for folder in runs.folders for unit in folder.units})


def list_asked_and_expected_units(runs: Runs) -> list[tuple[str, str, str]]:
    """List, in the order of run.json, also what was to be asked (`expected`) and has no row: the run ended before."""
    expected_units = {
        (folder.study, model, condition)
        for folder in runs.folders
        for model, conditions in folder.info.get("expected", {}).items()
        for condition in conditions
    }
    return _order_units(runs, expected_units | set(list_asked_units(runs)))


def _order_units(runs: Runs, units: Collection[tuple[str, str, str]]) -> list[tuple[str, str, str]]:
    """Return units in the order of run.json, without those that it does not name."""
    return [
        (study, model, condition)
        for study in runs.info["studies"]
        for model in runs.info["models"]
        for condition in runs.info["conditions"][study]
        if (study, model, condition) in units
    ]


def _create_units_table(runs: Runs) -> None:
    """Create table `units`: what was asked, without subsamples, in the order of run.json."""
    asked_units = list_asked_units(runs)
    left_out = {
        (study, *unit)
        for study, conditions in runs.info["conditions"].items()
        for unit in find_units_that_subsample_another_condition(
            conditions, {(model, condition) for name, model, condition in asked_units if name == study}
        )
    }
    units = [unit for unit in asked_units if unit not in left_out]
    columns = ", ".join(f"unnest(${name}::VARCHAR[]) AS {name}" for name in UNIT)
    runs.execute(
        f"CREATE TEMP TABLE units AS SELECT {columns}, unnest(range({len(units)})) AS position",
        {name: [unit[place] for unit in units] for place, name in enumerate(UNIT)},
    )


def _refuse_folders_with_equal_keys(runs: Runs, folder_a: Folder, folder_b: Folder) -> None:
    """Refuse two folders that answer the same key; compare rows only of models and conditions that both asked."""
    for model, condition in sorted(folder_a.units & folder_b.units):
        keys = "SELECT item, variant FROM ({}) WHERE model = $model AND condition = $condition AND error IS NULL"
        query = f"{keys.format(folder_a.responses_sql)} INTERSECT {keys.format(folder_b.responses_sql)} LIMIT 1"
        shared_key = runs.con.execute(query, {"model": model, "condition": condition}).fetchone()
        if shared_key:
            raise InputError(
                f"{folder_a.path} and {folder_b.path} both answer model {model!r}, condition {condition!r}, item "
                f"{shared_key[0]!r}, variant {shared_key[1]!r}; give only one of them (asked at several times: "
                "--over-time)"
            )
