"""Refuse records with values that no run can have: a person may have changed them, and stated the new checksum.

The rules are those by which run folders are read (`ground.impossible_rows`), so that what is imported can be read.
"""

from __future__ import annotations

import functools
import pkgutil
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import inference
from ground.errors import InputError, format_nearest_name_hint, shorten_to_one_line
from ground.impossible_rows import (
    CLEARER_RULES,
    RESPONSE_RULES,
    STIMULUS_RULES,
    Rules,
    find_rule_of_first_damaged_row,
    read_scale_ends,
)
from ground.outside_rooms import map_names_to_outside_rooms
from inference.importers.eee.fields import OWN_PREFIX
from inference.importers.eee.records import read_eee_responses
from inference.importers.shared.scored import PROTOCOL as SCORED
from inference.importers.tables.command_accuracies import PROTOCOL as ACCURACIES
from inference.stimuli.reading.files import shorten_value
from inference.stimuli.scales import drop_middle_option

if TYPE_CHECKING:
    import duckdb
    import pyarrow as pa

    from inference.importers.eee.records import Aggregate, EeeResponse
    from inference.stimuli.study import Variant

BATCH = 20_000  # rows that are read and looked at together
_WORDING = ("item", "variant", "pattern", "text", "options", "canonical", "gold", "gold_score")


def refuse_unknown_protocol(aggregate: Aggregate) -> None:
    """Refuse a record of a protocol that is not there; whether the rows suit it, its pages tell.

    Parameters
    ----------
    aggregate
        The record.

    Raises
    ------
    InputError
        Names the file and the field. A protocol of another package need only be installed.
    """
    folder = str(Path(inference.__file__).with_name("protocols"))
    names = {module.name for module in pkgutil.iter_modules([folder]) if module.ispkg} | {SCORED, ACCURACIES}
    names |= map_names_to_outside_rooms("protocol", names).keys()
    protocol = aggregate.study["protocol"]
    if protocol not in names:
        raise InputError(
            f"{aggregate.path}: source_data.additional_details.{OWN_PREFIX}protocol {shorten_value(protocol)} is no "
            f"protocol here{format_nearest_name_hint(protocol, names)}; there are: {', '.join(sorted(names))}"
        )


def refuse_impossible_wordings(aggregates: Sequence[Aggregate], variants: Sequence[Variant]) -> None:
    """Refuse wordings with options, right answers or scores that cannot be.

    Parameters
    ----------
    aggregates
        The records of one study.
    variants
        Its wordings.

    Raises
    ------
    InputError
        Names the file, the line and the field.
    """
    import pyarrow as pa

    from inference.runfolder.parquet import read_arrow_schema_of_table

    fields = [read_arrow_schema_of_table("stimuli").field(name) for name in _WORDING]
    for start in range(0, len(variants), BATCH):
        batch = variants[start : start + BATCH]
        rows = [variant.row() for variant in batch]
        table = pa.table({field.name: pa.array([row[field.name] for row in rows], field.type) for field in fields})
        problem = _find_problem_of_first_row(table, STIMULUS_RULES, {"canonical": aggregates[0].study["canonical"]})
        if problem is not None:
            key = batch[problem[0]].key
            where = next(
                response.where
                for aggregate in aggregates
                for response in read_eee_responses(aggregate)
                if (response.values["item"], response.values["variant"]) == key
            )
            raise InputError(f"{where}: {problem[1]}")


def refuse_impossible_responses(aggregate: Aggregate, responses: Sequence[EeeResponse], table: pa.Table) -> None:
    """Refuse responses that contradict their options or scale, probabilities that are none, and counts below 0.

    Parameters
    ----------
    aggregate
        The record.
    responses
        Some of its rows.
    table
        Their columns, as results/schema.json has them.

    Raises
    ------
    InputError
        Names the file, the line and the field.
    """
    import pyarrow as pa

    scale_ends = {name: read_scale_ends(fields) for name, fields in aggregate.conditions.items()}
    is_cut = {name: fields.get("without_middle") is True for name, fields in aggregate.conditions.items()}
    conditions = [response.values["condition"] for response in responses]
    ends = [scale_ends[condition] or (None, None) for condition in conditions]
    options = [
        drop_middle_option(tuple(response.values["options"])) if is_cut[condition] else response.values["options"]
        for response, condition in zip(responses, conditions, strict=True)
    ]
    n_values = [
        len(shown) if low is None or high is None else high - low + 1
        for shown, (low, high) in zip(options, ends, strict=True)
    ]
    for name, values in (
        ("options", pa.array(options, pa.list_(pa.string()))),
        ("lowest", pa.array([low for low, _ in ends], pa.float64())),
        ("highest", pa.array([high for _, high in ends], pa.float64())),
        ("n_values", pa.array(n_values, pa.float64())),
    ):
        table = table.append_column(name, values)
    problem = _find_problem_of_first_row(table, [*CLEARER_RULES, *RESPONSE_RULES], {})
    if problem is not None:
        raise InputError(f"{responses[problem[0]].where}: {problem[1]}")


@functools.cache
def _open_database() -> duckdb.DuckDBPyConnection:
    """Open a database in memory, once: a new one for every record would take longer than to look at its rows."""
    import duckdb

    return duckdb.connect()


def _find_problem_of_first_row(table: pa.Table, rules: Rules, parameters: dict[str, Any]) -> tuple[int, str] | None:
    """Find the first row that breaks a rule: its place, and what is wrong in words; None where no row does."""
    import pyarrow as pa

    with _open_database().cursor() as con:
        con.register("rows", table.append_column("place", pa.array(range(table.num_rows), pa.int64())))
        broken = find_rule_of_first_damaged_row(con, "rows", rules, "place", parameters)
    if broken is None:
        return None
    (column, _, problem), (place,), value = broken
    field = "input.raw" if column == "text" else f"metadata.{OWN_PREFIX}{column}"
    return place, f"{field} {shorten_to_one_line(repr(value), 80)} {problem}; correct the row"
