"""Keep what checks and people say of wordings in `meaning.parquet` (`results/schema.json`), written whole or not."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from ground.errors import InputError
from inference.meaning.checks import KINDS, PEOPLE
from inference.meaning.wordings import Source, Wording
from inference.runfolder.parquet import (
    read_arrow_schema_of_table,
    read_parquet,
    refuse_damaged_or_foreign_columns,
    write_tables_as_row_groups,
)

VERSION = 1
TABLE, METADATA = "meaning", b"waver"
Key = tuple[str, str, str]
"""item, variant, text: what is said of a wording holds as long as its text is the same."""


@dataclass
class MeaningTable:
    """What is said of wordings so far.

    Attributes
    ----------
    scores
        Check -> key of the wording or decoy -> score; NaN: it was not to be had.
    about
        The record: `checks`, `decoys`, `sheets`, as `results/schema.json` has them.
    fresh_checks
        The checks that this call made, or read from sheets.
    """

    scores: dict[str, dict[Key, float]] = field(default_factory=dict)
    about: dict[str, Any] = field(default_factory=lambda: {"checks": {}, "decoys": {}, "sheets": {}})
    fresh_checks: set[str] = field(default_factory=set)

    def replace_scores_of_check(self, check: str, wordings: Iterable[Wording], scores: Iterable[float | None]) -> None:
        """Put in what a check says, in place of what it said before.

        Parameters
        ----------
        check
            Its name.
        wordings, scores
            The wordings and decoys, and the score of each; None: it was not to be had.
        """
        self.fresh_checks.add(check)
        self.scores[check] = {
            build_key_of_wording_and_text(wording): math.nan if score is None else score
            for wording, score in zip(wordings, scores, strict=True)
        }

    def drop_scores_of_changed_texts(self, wordings: Iterable[Wording]) -> None:
        """Drop what was said of other wordings or decoys than these, and checks that say nothing then.

        What was said beside another original is about another pair of texts, and is dropped, too.
        """
        digests = _compute_original_digests(wordings)
        earlier = self.about.get("originals", {})
        keys = {
            build_key_of_wording_and_text(wording)
            for wording in wordings
            if earlier.get(wording.item, digests[wording.item]) == digests[wording.item]
        }
        left = {
            check: {key: score for key, score in scores.items() if key in keys} for check, scores in self.scores.items()
        }
        self.scores = {check: scores for check, scores in left.items() if scores}
        self.about["checks"] = {name: about for name, about in self.about["checks"].items() if name in self.scores}
        self.about["sheets"] = {
            name: digest for name, digest in self.about["sheets"].items() if f"{PEOPLE}:{name}" in self.scores
        }

    def replace_checks_of_other_calls_from_table(self, table: MeaningTable) -> None:
        """Take what a table says of checks that this call did not make, in place of what they said before."""
        self.scores = {check: scores for check, scores in self.scores.items() if check in self.fresh_checks} | {
            check: scores for check, scores in table.scores.items() if check not in self.fresh_checks
        }
        for kind, prefix in (("checks", ""), ("sheets", f"{PEOPLE}:")):
            facts = {name: fact for name, fact in self.about[kind].items() if f"{prefix}{name}" in self.fresh_checks}
            self.about[kind] = table.about[kind] | facts

    def list_scores_of_wordings(self, check: str, wordings: Sequence[Wording]) -> list[float]:
        """List the scores of wordings in their order.

        Parameters
        ----------
        check
            Name of the check.
        wordings
            The wordings or decoys.

        Returns
        -------
        The scores; NaN where there is none.
        """
        scores = self.scores[check]
        return [scores.get(build_key_of_wording_and_text(wording), math.nan) for wording in wordings]

    @property
    def checks_in_order_of_kind(self) -> list[str]:
        """The checks in the order of their kinds, people last: the order of calls does not count."""
        ranks = {kind: place for place, kind in enumerate(KINDS)}
        return sorted(self.scores, key=lambda name: (ranks.get(name.partition(":")[0], len(ranks)), name))


def build_key_of_wording_and_text(wording: Wording) -> Key:
    """Build the key of a wording."""
    return wording.item, wording.variant, wording.pair.text


def _compute_original_digests(wordings: Iterable[Wording]) -> dict[str, str]:
    """Compute for every item a digest of its original."""
    originals = {wording.item: wording.pair.original for wording in wordings}
    return {item: hashlib.sha256(text.encode()).hexdigest()[:16] for item, text in originals.items()}


def read_meaning_table(source: Source) -> MeaningTable:
    """Read what earlier calls wrote.

    Parameters
    ----------
    source
        The wordings.

    Returns
    -------
    MeaningTable
        Empty where there is no file.

    Raises
    ------
    InputError
        The file is damaged, or is of another study.
    """
    file = source.results_file
    if not file.exists():
        return MeaningTable()
    refuse_damaged_or_foreign_columns(file, TABLE)
    about = _read_meaning_record_of_parquet(file)
    if source.is_run and about.get("study_hash") != source.study.hash:
        raise InputError(f"{file}: it is of another study than the run beside it; remove it, or restore the run")
    table = MeaningTable(about={"checks": {}, "decoys": {}, "sheets": {}} | about)
    for row in read_parquet(file, ["item", "variant", "text", "check", "score"]).to_pylist():
        score = math.nan if row["score"] is None else row["score"]
        table.scores.setdefault(row["check"], {})[row["item"], row["variant"], row["text"]] = score
    return table


def _read_meaning_record_of_parquet(file: Path) -> dict[str, Any]:
    """Read the record of a file."""
    text = (pq.read_schema(file).metadata or {}).get(METADATA)
    try:
        about = json.loads(text or b"")
        if about["version"] != VERSION:
            raise ValueError(f"its version is {about['version']}")
    except (ValueError, KeyError, TypeError) as error:
        raise InputError(f"{file}: not as `waver meaning` writes it ({error}); remove it") from None
    return dict(about)


def write_meaning_table_if_changed(source: Source, table: MeaningTable, wordings: Sequence[Wording]) -> bool:
    """Write what is said so far, a row for each wording or decoy and check; nothing where the file says it already.

    Parameters
    ----------
    source
        What was checked; its folder is made.
    table
        What checks and people say.
    wordings
        The wordings and decoys, in the order of the rows.

    Returns
    -------
    Whether there was something new to write.
    """
    about = {**table.about, "version": VERSION, "study_hash": source.study.hash}
    if not source.is_run:  # of a run, the hash of the study tells that its originals are the same
        about["originals"] = _compute_original_digests(wordings)
    schema = read_arrow_schema_of_table(TABLE).with_metadata({METADATA: json.dumps(about, sort_keys=True).encode()})
    tables = [
        _build_arrow_table_of_check(schema, source.study.name, check, table.scores[check], wordings)
        for check in table.checks_in_order_of_kind
    ]
    whole = pa.concat_tables(tables) if tables else schema.empty_table()
    if source.results_file.exists() and _is_table_already_in_file(source.results_file, whole):
        return False
    source.out.mkdir(parents=True, exist_ok=True)
    write_tables_as_row_groups(source.results_file, schema, [whole])
    return True


def _is_table_already_in_file(file: Path, table: pa.Table) -> bool:
    """Tell whether a file holds just this table with this record."""
    return (
        read_parquet(file).equals(table)
        and (pq.read_schema(file).metadata or {}).get(METADATA) == (table.schema.metadata[METADATA])
    )


def _build_arrow_table_of_check(
    schema: pa.Schema, study: str, check: str, scores: Mapping[Key, float], wordings: Sequence[Wording]
) -> pa.Table:
    """Build the rows of one check."""
    scored = [
        (wording, scores[key]) for wording in wordings if (key := build_key_of_wording_and_text(wording)) in scores
    ]
    columns: dict[str, list[Any]] = {
        "study": [study] * len(scored),
        "item": [wording.item for wording, _ in scored],
        "variant": [wording.variant for wording, _ in scored],
        "decoy": [wording.decoy for wording, _ in scored],
        "text": [wording.pair.text for wording, _ in scored],
        "source": [wording.source for wording, _ in scored],
        "check": [check] * len(scored),
        "score": [None if math.isnan(score) else score for _, score in scored],
    }
    return pa.table([pa.array(columns[name], schema.field(name).type) for name in schema.names], schema=schema)
