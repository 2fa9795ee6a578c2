"""Open run folders, check them, and query them as one database, straight from the Parquet files.

Four lines get from a folder to a table::

    from analysis import runs
    from analysis.pages.stability import tables
    run = runs.open("results/demo/agreement")
    tables.models(run)
"""

from __future__ import annotations

import errno
import itertools
import os
import re
import tempfile
from collections.abc import Callable, Collection, Hashable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

from analysis.runs.conditions import subsamples
from analysis.runs.folder import KEY, Folder, expand, models, protocol, read
from ground.errors import InputError

if TYPE_CHECKING:
    import duckdb
    import pandas as pd

Parameters: TypeAlias = Sequence[Any] | Mapping[str, Any]
Made = TypeVar("Made")
_NO_ROOM = "No space left|File too large|quota exceeded"  # in what DuckDB says of its temporary files


class Runs:
    """Query checked run folders through one DuckDB connection. Made by `open`.

    Views for `sql` (columns as in results/schema.json):

    - `stimuli`: every variant of every study once, with `position`, its place in the study;
    - `responses`: the rows that have an answer (`error` null), study x model x condition x item x variant unique;
    - `errors`: the keys that were asked but only failed, with their `error`;
    - `units`: study, model, condition and `position`: what was asked, in the order of run.json; without subsamples
      (`conditions.subsamples`), which are not compared with other conditions.

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
        Ids of all models of the folders that were named, also of those whose protocol was not asked for: a figure
        gives a model the same colour on every page of a report.
    con
        The DuckDB connection.
    """

    def __init__(self, folders: Sequence[Folder], con: duckdb.DuckDBPyConnection, models: Collection[str] = ()) -> None:
        self.folders = tuple(folders)
        self.con = con
        self.info = _merge(self.folders)
        self.models = tuple(sorted({*self.info["models"], *models}))
        self._kept: dict[Hashable, Any] = {}
        _create_views(self)

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
        import duckdb

        try:
            return self.con.execute(query, parameters)
        except (duckdb.ParserException, duckdb.BinderException, duckdb.CatalogException, duckdb.OutOfMemoryException):
            raise  # about the query, not about the files
        except duckdb.Error as error:
            if isinstance(error, duckdb.IOException) and re.search(_NO_ROOM, str(error)):
                raise OSError(errno.ENOSPC, str(error), tempfile.gettempdir()) from error
            names = ", ".join(str(folder.path) for folder in self.folders)
            raise InputError(f"{names}: cannot be read: {' '.join(str(error).split())}") from error

    def kept(self, key: Hashable, make: Callable[[], Made]) -> Made:
        """Make something once per key, keep it as long as these runs, and return it at every later call.

        Several tables are made of the same rows or the same fits. ::

            rows = runs.kept("scored rows", lambda: _read(runs))

        Parameters
        ----------
        key
            Names what is kept, everywhere in the program.
        make
            Makes it; called once.

        Returns
        -------
        What `make` returned.
        """
        if key not in self._kept:
            self._kept[key] = make()
        found: Made = self._kept[key]
        return found

    def __repr__(self) -> str:
        studies, models = ", ".join(self.info["studies"]), len(self.info["models"])
        return f"<Runs: {studies}; {models} models; {len(self.folders)} folders>"


def open(
    *paths: str | os.PathLike[str],
    protocols: Collection[str] = (),
    threads: int = 1,
    memory_limit: str = "1GB",
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

    Returns
    -------
    Runs

    Raises
    ------
    InputError
        For no folder at all, or none of these protocols; a folder that differs from results/schema.json; one study
        name with different stimuli; one model id with different revisions; one condition name with different settings;
        a key in two folders.
    """
    if not paths:
        raise InputError("no run folder given")
    if "" in [os.fspath(path) for path in paths]:  # as a path, it would be the working directory
        raise InputError("the name of a run folder is empty")
    con = _connect(threads, memory_limit)
    folders = [folder for path in paths for folder in expand(Path(path))]
    chosen = [folder for folder in folders if not protocols or protocol(folder) in protocols]
    if not chosen:
        held = ", ".join(sorted({protocol(folder) for folder in folders}))
        raise InputError(
            f"{', '.join(map(str, paths))}: no run of protocol {' or '.join(sorted(protocols))} there; found: {held}"
        )
    known = {model for folder in folders for model in models(folder)}
    return Runs([read(folder, con) for folder in chosen], con, known)


def _connect(threads: int, memory_limit: str) -> duckdb.DuckDBPyConnection:
    import duckdb

    con = duckdb.connect(
        config={
            "threads": threads,
            "memory_limit": memory_limit,
            "temp_directory": os.path.join(tempfile.gettempdir(), f"waver-{os.getpid()}"),
            "preserve_insertion_order": False,
            "parquet_metadata_cache": True,
            # Never download an extension: what we need is built in.
            "autoinstall_known_extensions": False,
        }
    )
    # In notebooks, DuckDB draws a progress bar for every query of more than two seconds. Without ipywidgets it draws
    # none, and then refuses this setting.
    if con.execute("SELECT current_setting('enable_progress_bar')").fetchone() == (True,):
        con.execute("SET enable_progress_bar = false")
    return con


def _merge(folders: Sequence[Folder]) -> dict[str, Any]:
    """Merge the run.json files; refuse a name that means different things in two of them."""
    seen: dict[tuple[str, ...], tuple[Folder, Mapping[str, Any]]] = {}
    merged: dict[str, Any] = {name: {} for name in ("studies", "models", "conditions", "prompts", "asked")}
    merged |= {"sessions": [], "drawn": []}
    for folder in folders:
        study = folder.study
        _same(seen, ("study", study), folder, {"hash": folder.info["study"]["hash"]})
        merged["studies"].setdefault(study, folder.info["study"])
        for name, fields in folder.info["models"].items():
            _same(seen, ("model", name), folder, {"revision": fields.get("revision")})
            known = {key: value for key, value in merged["models"].get(name, {}).items() if value is not None}
            merged["models"][name] = {**fields, **known}
        conditions = merged["conditions"].setdefault(study, {})
        for name, fields in folder.info["conditions"].items():
            _same(seen, ("condition", name, study), folder, fields)
            conditions.setdefault(name, fields)
        merged["prompts"] |= folder.info.get("prompts", {})
        asked = merged["asked"].setdefault(study, {})
        for name, entries in folder.info.get("asked", {}).items():
            asked[name] = [*asked.get(name, ()), *entries]
        merged["sessions"] += folder.info["sessions"]
        merged["drawn"] += [
            {"study": study, "model": model, "condition": condition, "seed": folder.info["seed"], **fields}
            for model, draws in folder.info.get("drawn", {}).items()
            for condition, fields in draws.items()
        ]
    return merged


def _same(
    seen: dict[tuple[str, ...], tuple[Folder, Mapping[str, Any]]],
    name: tuple[str, ...],
    folder: Folder,
    fields: Mapping[str, Any],
) -> None:
    """Refuse fields that differ from those of the folder that had this name first."""
    first, known = seen.setdefault(name, (folder, fields))
    for field in [*known, *fields]:
        if known.get(field) != fields.get(field):
            raise InputError(
                f"{folder.path}: run.json: {name[0]} {name[1]!r} has {field} {fields.get(field)!r}, but "
                f"{known.get(field)!r} in {first.path}; rename one or report the folders separately"
            )


def _create_views(runs: Runs) -> None:
    """Create the views and tables of `Runs`."""
    folders = runs.folders
    # Equal hash, so equal stimuli: the first folder's.
    first = {folder.study: folder for folder in reversed(folders)}
    runs.execute("CREATE VIEW stimuli AS " + " UNION ALL ".join(first[study].stimuli for study in runs.info["studies"]))
    rows = " UNION ALL ".join(folder.responses for folder in folders)
    runs.execute(f"CREATE VIEW responses AS SELECT * FROM ({rows}) WHERE error IS NULL")
    _create_units(runs)
    for one, other in itertools.combinations(folders, 2):
        if one.study == other.study:
            _check_apart(runs, one, other)
    runs.execute(
        f"CREATE TEMP TABLE errors AS SELECT {', '.join(KEY)}, max(error) AS error "
        f"FROM ({rows}) WHERE error IS NOT NULL GROUP BY ALL"
    )
    same = " AND ".join(f"errors.{name} = responses.{name}" for name in KEY)
    if runs.con.execute("SELECT count(*) FROM errors").fetchall() != [(0,)]:
        runs.execute(f"DELETE FROM errors USING responses WHERE {same}")


def _create_units(runs: Runs) -> None:
    """Create table `units`: what was asked, without subsamples, in the order of run.json."""
    asked = {(folder.study, *unit) for folder in runs.folders for unit in folder.units}
    left_out = {
        (study, *unit)
        for study, conditions in runs.info["conditions"].items()
        for unit in subsamples(conditions, {(model, condition) for name, model, condition in asked if name == study})
    }
    asked -= left_out
    ordered = [
        (study, model, condition)
        for study in runs.info["studies"]
        for model in runs.info["models"]
        for condition in runs.info["conditions"][study]
        if (study, model, condition) in asked
    ]
    runs.execute("CREATE TEMP TABLE units (study VARCHAR, model VARCHAR, condition VARCHAR, position BIGINT)")
    if ordered:
        rows = [(*unit, position) for position, unit in enumerate(ordered)]
        runs.con.executemany("INSERT INTO units VALUES (?, ?, ?, ?)", rows)


def _check_apart(runs: Runs, one: Folder, other: Folder) -> None:
    """Refuse two folders that answer the same key; compare rows only of models and conditions that both asked."""
    for model, condition in sorted(one.units & other.units):
        keys = "SELECT item, variant FROM ({}) WHERE model = $model AND condition = $condition AND error IS NULL"
        query = f"{keys.format(one.responses)} INTERSECT {keys.format(other.responses)} LIMIT 1"
        found = runs.con.execute(query, {"model": model, "condition": condition}).fetchone()
        if found:
            raise InputError(
                f"{one.path} and {other.path} both answer model {model!r}, condition {condition!r}, item {found[0]!r}, "
                f"variant {found[1]!r}; give only one of them"
            )
