"""Keep a part of some runs: the rows of some models, conditions and wordings; everything else works on them alone."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from analysis.runs.folder import UNIT, Folder

if TYPE_CHECKING:
    import duckdb
    import pyarrow as pa

WORDING = ("study", "item", "variant")
KINDS = ("responses", "wordings", "items", "models")


@dataclass(frozen=True)
class Part:
    """Say which rows of some runs are kept.

    Attributes
    ----------
    condition
        What the user wrote, or what the part is of.
    units, wordings
        Tables of what is kept: study, model, condition and `unit`, a number; study, item, variant and `wording`.
        Also units without any row, where it is known which of their prompts are missing.
    pairs
        `unit` and `wording` of all that is kept; None where every unit with rows keeps every wording of its study.
    expected
        (study, model, condition) -> prompts of the part that were to be asked, also where none of them has a row.
    counts
        Study -> kind -> names or numbers of what is kept, and of what there is: `KINDS`; models as sets of names,
        because studies share them.
    studies
        The studies of the page: the part is counted over these.
    """

    condition: str
    units: pa.Table
    wordings: pa.Table
    pairs: pa.Table | None
    expected: Mapping[tuple[str, str, str], int]
    counts: Mapping[str, Mapping[str, tuple[Any, Any]]]
    studies: tuple[str, ...] = ()

    def count_kept_and_all_by_kind(self) -> dict[str, tuple[int, int]]:
        """Count what is kept and what there is: kind -> (n, m)."""
        counts = [self.counts[study] for study in self.studies or self.counts]
        sums = {kind: tuple(sum(count[kind][side] for count in counts) for side in (0, 1)) for kind in KINDS[:-1]}
        models = tuple(len(set().union(*(count["models"][side] for count in counts))) for side in (0, 1))
        return {**sums, "models": models}

    @property
    def keeps_all_wordings(self) -> bool:
        """Tell whether every unit keeps all wordings of its study; then nothing has to be looked up for them."""
        sizes = [count["wordings"] for count in self.counts.values()]
        return self.pairs is None and bool(sizes) and all(kept == n for kept, n in sizes)

    def create_join_tables_of_kept_rows(self, con: duckdb.DuckDBPyConnection, prefix: str = "main.part") -> None:
        """Create the tables that `build_sql_of_kept_rows` and `build_sql_of_kept_stimuli` join with.

        Parameters
        ----------
        con
            Where.
        prefix
            What their names begin with. An earlier part of the same prefix is replaced.
        """
        for name, table in (("units", self.units), ("wordings", self.wordings), ("pairs", self.pairs)):
            if table is not None:
                con.register("kept_rows", table)
                con.execute(f"CREATE OR REPLACE TABLE {prefix}_{name} AS SELECT * FROM kept_rows")
                con.unregister("kept_rows")

    def build_sql_of_kept_stimuli(self, sql: str) -> str:
        """Write the SQL of the kept stimuli; they are numbered as if there were no others."""
        return (
            "SELECT * EXCLUDE position, row_number() OVER (PARTITION BY study ORDER BY position) - 1 AS position "
            f"FROM ({sql}) SEMI JOIN main.part_wordings USING ({', '.join(WORDING)})"
        )

    def build_sql_of_kept_rows(self, sql: str, prefix: str = "main.part") -> str:
        """Write the SQL of the kept rows of responses; parameters as in `create_join_tables_of_kept_rows`."""
        if self.pairs is None:
            rows = f"SELECT * FROM ({sql}) SEMI JOIN {prefix}_units USING ({', '.join(UNIT)})"
            return (
                rows if self.keeps_all_wordings else f"{rows} SEMI JOIN {prefix}_wordings USING ({', '.join(WORDING)})"
            )
        return (
            f"SELECT r.* FROM ({sql}) AS r JOIN {prefix}_units AS u USING ({', '.join(UNIT)}) "
            f"JOIN {prefix}_wordings AS w USING ({', '.join(WORDING)}) "
            f"SEMI JOIN {prefix}_pairs AS p ON p.unit = u.unit AND p.wording = w.wording"
        )


def restrict_folders_to_part(folders: Sequence[Folder], part: Part) -> list[Folder]:
    """Return folders as if only a part had been asked: run.json names nothing else, and one without rows is left out.

    Parameters
    ----------
    folders
        The checked folders.
    part
        What is kept.

    Returns
    -------
    list of Folder
    """
    kept = set(zip(*(part.units[name].to_pylist() for name in UNIT), strict=True))
    restricted = []
    for folder in folders:
        units = frozenset(unit for unit in folder.units if (folder.study, *unit) in kept)
        if units:
            restricted.append(replace(folder, units=units, info=_restrict_run_json(folder, units, part)))
    return restricted


def _restrict_run_json(folder: Folder, units: Collection[tuple[str, str]], part: Part) -> dict[str, Any]:
    """Return run.json with only those models and conditions that are kept."""
    info = folder.info
    expected: dict[str, dict[str, int]] = {}
    for (study, model, condition), n_prompts in part.expected.items():
        recorded_conditions = info.get("expected", {}).get(model, {})
        if study == folder.study and ((model, condition) in units or condition in recorded_conditions):
            expected.setdefault(model, {})[condition] = n_prompts
    models = set(expected)
    conditions = {condition for counts in expected.values() for condition in counts}
    return {
        **info,
        "models": _select_entries_by_name(info["models"], models),
        "conditions": _select_entries_by_name(info["conditions"], conditions),
        "asked": {
            condition: [
                {**entry, "models": [model for model in entry["models"] if (model, condition) in units]}
                for entry in entries
                if any((model, condition) in units for model in entry["models"])
            ]
            for condition, entries in _select_entries_by_name(info.get("asked", {}), conditions).items()
        },
        "drawn": {
            model: _select_entries_by_name(draws, {condition for name, condition in units if name == model})
            for model, draws in _select_entries_by_name(info.get("drawn", {}), models).items()
        },
        "expected": expected,
    }  # fmt: skip


def _select_entries_by_name(fields: Mapping[str, Any], names: Iterable[str]) -> dict[str, Any]:
    """Return the entries of some names, in the order of the fields."""
    chosen = set(names)
    return {name: value for name, value in fields.items() if name in chosen}
