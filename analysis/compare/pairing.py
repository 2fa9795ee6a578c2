"""Pair the items and wordings of two sets of runs, and lay the rows of both side by side.

An item is in both sets where a wording of it is: of the same item and variant, with the same text, options and right
answer. What only one set has is left out, and counted. Where both sets reworded the same items anew, and share fewer
than half of the rewordings, they are read apart; an item is compared by the mean over its wordings, and its original
must be the same.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from analysis.compare.settings import (
    explain_differing_numbers_of_examples,
)
from analysis.reporting.words import format_quantity
from analysis.reporting.words.doubts import READING, Caution
from analysis.runs.database import Runs, connect_duckdb
from analysis.runs.folder import (
    ORIGINAL,
    Folder,
    build_stimuli_sql_without_undrawn_wordings,
    list_schema_columns,
    quote_sql_literal,
)
from analysis.runs.hashed import build_text_sql_comparable_with_other_folder
from ground.errors import InputError, shorten_to_one_line

SIDES = ("A", "B")
ALIKE = 0.5  # share of the rewordings of one side that the other has, from which on these are compared
_TEMPLATE = "map_extract(attributes, 'template')[1]"  # the name of a wording that items share
_REWORDED_BY_BOTH = " AND ".join(
    f"item IN (SELECT item FROM all_{side} WHERE pattern <> '{ORIGINAL}')" for side in SIDES
)
_SAME = ("options", "canonical", "gold")  # what two wordings have in common, beside their text, to be one


@dataclass(frozen=True)
class FolderOfComparedSide(Folder):
    """Describe a run folder of one side: it has the rows of the kept wordings, and models named after the side.

    Attributes
    ----------
    side
        "A" or "B".
    table
        Name of the table of kept stimuli.
    renamed
        Conditions that are named after the side, too: the other side has other settings by that name.
    """

    side: str = SIDES[0]
    table: str = ""
    renamed: frozenset[str] = frozenset()

    @cached_property
    def stimuli_sql(self) -> str:
        """Return the SQL that reads the kept stimuli."""
        return f"SELECT * FROM {self.table}"

    @cached_property
    def responses_sql(self) -> str:
        """Return the SQL that reads the rows of the kept stimuli."""
        names = ", ".join(map(quote_sql_literal, sorted(self.renamed))) or "NULL"
        side = quote_sql_literal(add_side_to_name(self.side, ""))
        return (
            f"SELECT * REPLACE ({side} || model AS model, CASE WHEN condition IN ({names}) THEN {side} || condition "
            f"ELSE condition END AS condition) FROM ({super().responses_sql}) "
            f"SEMI JOIN {self.table} USING (item, variant)"
        )


@dataclass(frozen=True, slots=True)
class PairedRuns:
    """Hold two sets of runs whose items are paired.

    Attributes
    ----------
    pairs
        Runs to read side A from, and side B: twice the same ones where both sides share their wordings. Models are
        called "A: ..." and "B: ...", and a study has the same items in the same order on both sides.
    notes
        What is left out, a line each; one about settings, or how to read the rest, is a `Caution`.
    side_names
        What notes call the sides.
    """

    pairs: list[tuple[Runs, Runs]]
    notes: list[str]
    side_names: tuple[str, str] = SIDES


def add_side_to_name(side: str, name: str) -> str:
    """Return what a model or condition of a side is called in paired runs.

    Parameters
    ----------
    side
        "A" or "B".
    name
        Its name in run.json.

    Returns
    -------
    The name after that of the side.
    """
    return f"{side}: {name}"


def find_side_of_model(model: str) -> str:
    """Return the side of a model of paired runs."""
    return model[0]


def read_model_and_condition_without_side(unit: tuple[str, str]) -> tuple[str, str]:
    """Return model and condition of a unit of paired runs, as run.json of its side has them."""
    model, condition = unit
    start = add_side_to_name(SIDES[1], "")
    is_renamed = find_side_of_model(model) == SIDES[1] and condition.startswith(start)
    return model[len(start) :], condition[len(start) :] if is_renamed else condition


def pair_studies_of_two_run_sets(run_a: Runs, run_b: Runs, *, side_names: tuple[str, str] = SIDES) -> PairedRuns:
    """Pair the studies of two sets of runs: those of the same name, or the only one of each set.

    Parameters
    ----------
    run_a, run_b
        From `analysis.runs.open_runs`; one may be a baseline, whose texts are compared by their hashes.
    side_names
        What notes and messages call the sides.

    Returns
    -------
    PairedRuns

    Raises
    ------
    InputError
        No study of one is like one of the other, no item is in both, or a file cannot be read any more.
    """
    import duckdb

    notes: list[str] = []
    pairs = []
    for study_a, study_b in _iterate_names_of_studies_to_pair(run_a, run_b, side_names, notes):
        try:
            paired = _open_study_as_pair_of_runs(run_a, study_a, run_b, study_b, side_names, notes)
        except (duckdb.IOException, duckdb.InvalidInputException) as error:  # the files were whole a moment ago
            names = ", ".join(str(folder.path) for folder in (*run_a.folders, *run_b.folders))
            raise InputError(f"{names}: cannot be read: {error}") from error
        if paired:
            pairs.append(paired)
    if not pairs:
        why = f" ({'; '.join(notes)})" if notes else ""
        sides_text = " and ".join(side_names)
        raise InputError(f"{sides_text} have no item in common{why}; give two runs of the same items and wordings")
    return PairedRuns(pairs, notes, side_names)


def _iterate_names_of_studies_to_pair(
    run_a: Runs, run_b: Runs, side_names: Sequence[str], notes: list[str]
) -> Iterator[tuple[str, str]]:
    """Yield the names of studies to compare; note those that only one side has, or that were asked in another way."""
    studies_a, studies_b = run_a.info["studies"], run_b.info["studies"]
    names = [(name, name) for name in studies_a if name in studies_b]
    if len(studies_a) == len(studies_b) == 1:
        names = [(next(iter(studies_a)), next(iter(studies_b)))]
    for side, studies, place in zip(side_names, (studies_a, studies_b), (0, 1), strict=True):
        matched_names = {pair[place] for pair in names}
        notes += [f"only {side} has the study {name}" for name in studies if name not in matched_names]
    for name_a, name_b in names:
        for field in ("protocol", "canonical"):
            values = studies_a[name_a][field], studies_b[name_b][field]
            if values[0] != values[1]:
                sides = " and ".join(f"{value} in {side}" for value, side in zip(values, side_names, strict=True))
                notes.append(f"study {name_a}: {field} is {sides}: not compared")
                break
        else:
            yield name_a, name_b


def _open_study_as_pair_of_runs(
    run_a: Runs, study_a: str, run_b: Runs, study_b: str, side_names: tuple[str, str], notes: list[str]
) -> tuple[Runs, Runs] | None:
    """Lay the rows of one study of both sides beside each other; None without a common item."""
    sides = [
        [folder for folder in run.folders if folder.study == study]
        for run, study in ((run_a, study_a), (run_b, study_b))
    ]
    con, firsts = connect_duckdb(), [folders[0] for folders in sides]
    columns = ", ".join(f'"{name}"' for name in list_schema_columns("stimuli")[1:])
    for side, folders in zip(SIDES, sides, strict=True):
        con.execute(
            f"CREATE TABLE all_{side} AS SELECT {quote_sql_literal(study_a)} AS study, {columns}, position "
            f"FROM ({build_stimuli_sql_without_undrawn_wordings(folders)})"
        )
    texts = map(build_text_sql_comparable_with_other_folder, "ab", firsts, firsts[::-1])
    same = " AND ".join([" = ".join(texts), *(f"a.{name} IS NOT DISTINCT FROM b.{name}" for name in _SAME)])
    con.execute(f"CREATE TABLE shared AS SELECT a.* FROM all_A AS a JOIN all_B AS b USING (item, variant) WHERE {same}")
    is_fresh: bool = _do_sides_reword_same_originals_differently(con)
    _note_items_not_compared(con, study_a, is_fresh, side_names, notes)
    compared_items = f"SELECT count(*) FROM shared WHERE {_REWORDED_BY_BOTH if is_fresh else True}"
    if con.execute(compared_items).fetchall() == [(0,)]:
        return None
    conditions_a, renamed_start = run_a.info["conditions"][study_a], add_side_to_name(SIDES[1], "")
    renamed = frozenset(
        name
        for name, fields in run_b.info["conditions"][study_b].items()
        if name.startswith(renamed_start) or conditions_a.get(name, fields) != fields
    )
    if not is_fresh:
        return (_open_folders_with_kept_stimuli_only(con, sides, SIDES, study_a, "shared", renamed),) * 2
    for side in SIDES:
        # The items of both, in the order of A: so they have the same places in the arrays of both.
        con.execute(
            f"CREATE TABLE kept_{side} AS SELECT s.* REPLACE "
            "(row_number() OVER (ORDER BY o.place, s.position) - 1 AS position) "
            f"FROM all_{side} AS s JOIN (SELECT item, min(position) AS place FROM shared "
            f"WHERE {_REWORDED_BY_BOTH} GROUP BY item) AS o USING (item)"
        )
    return (
        _open_folders_with_kept_stimuli_only(con, sides[:1], SIDES[:1], study_a, "kept_A", renamed),
        _open_folders_with_kept_stimuli_only(
            _connect_to_copy_of_kept_stimuli_of_b(con), sides[1:], SIDES[1:], study_a, "kept_B", renamed
        ),
    )


def _connect_to_copy_of_kept_stimuli_of_b(con: Any) -> Any:
    """Copy the kept stimuli of side B into a database of their own: the views of a run have fixed names."""
    own_con = connect_duckdb()
    own_con.register("of_both", con.sql("SELECT * FROM kept_B").to_arrow_table())
    own_con.execute("CREATE TABLE kept_B AS SELECT * FROM of_both")
    own_con.unregister("of_both")
    return own_con


def _do_sides_reword_same_originals_differently(con: Any) -> bool:
    """Tell whether both sides have rewordings of the same originals, and few in common, as two draws of them have."""
    of_side = f"SELECT count(*) FROM all_{{}} SEMI JOIN all_{{}} USING (item) WHERE pattern <> '{ORIGINAL}'"
    counts = ", ".join(f"({of_side.format(*pair)})" for pair in (SIDES, SIDES[::-1]))
    return con.execute(
        f"SELECT (SELECT count(*) FROM shared WHERE pattern <> '{ORIGINAL}') < {ALIKE} * least({counts}) "
        "AND (SELECT count(*) FROM shared) > 0"
    ).fetchall() == [(True,)]


def _note_items_not_compared(
    con: Any, study: str, is_fresh: bool, side_names: tuple[str, str], notes: list[str]
) -> None:
    """Count the items and wordings of a study that are not compared, and name the first."""

    def count_items_and_name_first(query: str) -> tuple[int, str]:
        number, name = con.execute(f"SELECT count(*), min(item) FROM ({query})").fetchone()
        return int(number), shorten_to_one_line(str(name), 40)

    for side, other, side_name in ((*SIDES, side_names[0]), (*SIDES[::-1], side_names[1])):
        number, name = count_items_and_name_first(
            f"SELECT DISTINCT item FROM all_{side} ANTI JOIN all_{other} USING (item)"
        )
        if number:
            notes.append(f"study {study}: only {side_name} has {format_quantity(number, 'item')}, such as {name}")
    number, name = count_items_and_name_first(
        "SELECT DISTINCT item FROM all_A SEMI JOIN all_B USING (item) ANTI JOIN shared USING (item)"
    )
    if number:
        wordings_a, wordings_b = (
            {row[0] for row in con.execute(f"SELECT DISTINCT {_TEMPLATE} FROM all_{side}").fetchall()} for side in SIDES
        )
        reason = explain_differing_numbers_of_examples(wordings_a, wordings_b, side_names)
        reason = reason or f"text, options or right answer differ between {' and '.join(side_names)}"
        notes.append(f"study {study}: {format_quantity(number, 'item')} left out, such as {name}: {reason}")
    if is_fresh:
        text = (
            f"study {study}: {' and '.join(side_names)} share few rewordings or none: each item is compared by the "
            "mean over its wordings"
        )
        notes.append(Caution(text, READING))
        number, name = count_items_and_name_first(f"SELECT DISTINCT item FROM shared WHERE NOT ({_REWORDED_BY_BOTH})")
        if number:
            notes.append(
                f"study {study}: {format_quantity(number, 'item')} left out, such as {name}: not reworded by both sides"
            )
        return
    for side, side_name in zip(SIDES, side_names, strict=True):
        number, name = count_items_and_name_first(
            f"SELECT item FROM all_{side} SEMI JOIN shared USING (item) ANTI JOIN shared USING (item, variant)"
        )
        if number:
            notes.append(
                f"study {study}: {format_quantity(number, 'wording')} of {side_name} left out, such as one of {name}: "
                "the other side has no such wording"
            )


def _open_folders_with_kept_stimuli_only(
    con: Any, sides: Sequence[Sequence[Folder]], side_names: Sequence[str], study: str, table: str,
    renamed: frozenset[str],
) -> Runs:  # fmt: skip
    """Open the folders of one or both sides as one database, in which only the kept stimuli were asked."""
    folders = []
    for side, side_folders in zip(side_names, sides, strict=True):
        own_renamed = renamed if side == SIDES[1] else frozenset()
        folders += [
            _restrict_paired_folder_to_kept_stimuli(folder, side, study, table, own_renamed) for folder in side_folders
        ]
    return Runs(folders, con)


def _restrict_paired_folder_to_kept_stimuli(
    folder: Folder, side: str, study: str, table: str, renamed: frozenset[str]
) -> FolderOfComparedSide:
    """Describe a folder as if it had only the kept stimuli, and models named after its side."""

    def name_condition(condition: str) -> str:
        return add_side_to_name(side, condition) if condition in renamed else condition

    info = {
        **folder.info,
        "study": {**folder.info["study"], "name": study, "hash": table},
        "models": {add_side_to_name(side, name): fields for name, fields in folder.info["models"].items()},
        "conditions": {name_condition(name): fields for name, fields in folder.info["conditions"].items()},
        "asked": {},  # of all stimuli, not of the kept ones
        "drawn": {
            add_side_to_name(side, name): {name_condition(condition): fields for condition, fields in draws.items()}
            for name, draws in folder.info.get("drawn", {}).items()
        },
    }
    units = frozenset((add_side_to_name(side, model), name_condition(condition)) for model, condition in folder.units)
    return FolderOfComparedSide(
        folder.path, info, folder.parts, units, folder.complete, folder.empty, folder.two_probabilities, folder.absent,
        side, table, renamed,
    )  # fmt: skip
