"""Write and look up the response rows of a run folder: append-only Parquet parts, each written whole or not at all."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from inference.runfolder.parquet import (
    Rows,
    build_responses_table,
    drop_error_rows_asked_again,
    list_models_and_conditions_of_part,
    read_arrow_schema_of_table,
    read_parquet,
    refuse_damaged_or_foreign_columns,
    write_parquet,
    write_tables_as_row_groups,
)
from inference.stimuli.study import Variant

LOOKUP_ROWS = 100_000  # rows at a time


class Responses:
    """The response rows of a run folder.

    Parameters
    ----------
    folder
        Where the parts are.
    study
        Its name, which every row has.
    """

    def __init__(self, folder: Path, study: str) -> None:
        self.folder = folder
        self._study = study
        numbers = (re.match(r"part-(\d{1,9})\b", part.name) for part in self.parts)
        self._next_part = 1 + max((int(number[1]) for number in numbers if number), default=0)
        self._held: dict[Path, frozenset[tuple[str, str]]] = {}

    @property
    def parts(self) -> list[Path]:
        """The response parts, oldest first."""
        return sorted(self.folder.glob("part-*.parquet"))

    def refuse_bad_parts_drop_old_errors(self) -> None:
        """Refuse parts that lack a column, and remove error rows whose key was asked again later."""
        for part in self.parts:
            refuse_damaged_or_foreign_columns(part, "responses")
        drop_error_rows_asked_again(self.parts)

    def list_answered_keys(self, model: str, condition: str) -> set[tuple[str, str]]:
        """List (item, variant) of every row of this model and condition with a response (error is null).

        Parameters
        ----------
        model
            Name of the model.
        condition
            Name of the condition.

        Returns
        -------
        The keys.
        """
        return {
            key
            for table in self._iterate_tables_of_answered_keys(model, condition)
            for key in zip(table["item"].to_pylist(), table["variant"].to_pylist(), strict=True)
        }

    def flag_variants_without_response(self, model: str, condition: str, variants: Sequence[Variant]) -> bytearray:
        """Mark the variants without a response under this model and condition.

        The same question as `list_answered_keys`, answered in one byte per variant: the keys of millions would need
        much memory.

        Parameters
        ----------
        model
            Name of the model.
        condition
            Name of the condition.
        variants
            The variants.

        Returns
        -------
        A byte per variant, 1 where it is missing.
        """
        tables = self._iterate_tables_of_answered_keys(model, condition)
        answered_keys = [_join_item_and_variant_keys(table) for table in tables if table.num_rows]
        missing = bytearray()
        for start in range(0, len(variants), LOOKUP_ROWS):
            some = variants[start : start + LOOKUP_ROWS]
            keys = pa.array([f"{len(v.item)}\0{v.item}\0{v.variant}" for v in some], pa.string())
            is_answered = pa.array([False] * len(some))
            for part_keys in answered_keys:
                is_answered = pc.or_(is_answered, pc.is_in(keys, part_keys))
            missing += pc.invert(is_answered).cast(pa.uint8()).to_numpy().tobytes()
        return missing

    def _iterate_tables_of_answered_keys(self, model: str, condition: str) -> Iterator[pa.Table]:
        """Read item and variant of the rows with a response under a model and condition, which a part tells once."""
        chosen = (pc.field("model") == model) & (pc.field("condition") == condition) & pc.field("error").is_null()
        for part in self.parts:
            if part not in self._held:
                self._held[part] = list_models_and_conditions_of_part(part)
            if (model, condition) in self._held[part]:
                yield read_parquet(part, ["item", "variant"], filters=chosen)

    def append_rows_as_part(self, rows: Rows, part: Path | None = None) -> Path | None:
        """Append response rows as one part, which is written whole or not at all.

        Parameters
        ----------
        rows
            Dicts, columns or an Arrow table, with columns of `results/schema.json`: `study` is filled in, a nullable
            column may be left out. The caller must not append a key again that `list_answered_keys` lists.
        part
            The part of an earlier call, whose rows are among these: it is replaced.

        Returns
        -------
        The part; without rows `part` as it was given.
        """
        table = build_responses_table(rows, self._study)
        if not table.num_rows:
            return part
        part = part or self._name_next_part_file()
        write_parquet(part, table)
        self._held.pop(part, None)
        return part

    def append_tables_as_one_part(self, tables: Iterable[Rows]) -> None:
        """Append the rows of several tables as one part; only one table is in memory at a time."""
        response_tables = (build_responses_table(rows, self._study) for rows in tables)
        write_tables_as_row_groups(
            self._name_next_part_file(),
            read_arrow_schema_of_table("responses"),
            (table for table in response_tables if table.num_rows),
        )

    def _name_next_part_file(self) -> Path:
        """Name a new part by its number and the time."""
        name = f"part-{self._next_part:06d}-{datetime.now(UTC):%Y%m%dT%H%M%SZ}.parquet"
        self._next_part += 1
        return self.folder / name


def _join_item_and_variant_keys(rows: pa.Table) -> Any:
    """Join item and variant into one text; the item's length before it keeps different keys different.

    Without it, ("a\\0b", "c") and ("a", "b\\0c") would both be "a\\0b\\0c".
    """
    length = pc.utf8_length(rows["item"]).cast(pa.string())
    return pc.binary_join_element_wise(length, rows["item"], rows["variant"], "\0")
