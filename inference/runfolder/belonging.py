"""Say what a new run folder holds of its study, and refuse an existing one that belongs to another."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import pyarrow as pa

from ground import run_json
from ground.errors import InputError
from inference.runfolder.parquet import read_arrow_schema_of_table, read_parquet
from inference.stimuli.study import Study

FORMAT = 1
STIMULI_ROWS = 5_000  # rows that are made at a time


def build_run_json(study: Study, seed: int | None) -> dict[str, Any]:
    """Make the `run.json` of a new folder.

    Parameters
    ----------
    study
        The study.
    seed
        Seed of the engines; None: 0.

    Returns
    -------
    Content of the file.
    """
    identity = {"protocol": study.protocol, "name": study.name, "hash": study.hash}
    building_field = {"building": list(study.building)} if study.building else {}
    return {
        "format": FORMAT,
        "study": {**identity, "canonical": list(study.canonical), "source": study.source, **building_field},
        "models": {},
        "conditions": {},
        "decision_rule": study.decision_rule,
        "seed": seed or 0,
        "sessions": [],
    }


def read_matching_run_json(folder: Path, study: Study, seed: int | None) -> dict[str, Any]:
    """Read the `run.json` of an existing folder.

    Parameters
    ----------
    folder
        The run folder.
    study
        The study that is asked.
    seed
        Seed of the engines; None takes the recorded one.

    Returns
    -------
    Content of the file.

    Raises
    ------
    InputError
        It belongs to another protocol, study or seed, or the study's wordings have changed.
    """
    new = build_run_json(study, seed)
    old = run_json.read_run_json(folder)
    for field in ("protocol", "name"):
        recorded_value, new_value = old["study"][field], new["study"][field]
        if recorded_value != new_value:
            raise InputError(
                f"{folder}: the {field} of the study there is '{recorded_value}', not '{new_value}'; choose another "
                "--out"
            )
    if old["study"]["hash"] != new["study"]["hash"]:
        raise InputError(f"{folder}: {_describe_changes_of_stimuli(folder, study)}")
    if seed is not None and old["seed"] != seed:
        raise InputError(
            f"{folder}: was begun with --seed {old['seed']}, not {seed}; repeat it or choose another --out"
        )
    return old


def _describe_changes_of_stimuli(folder: Path, study: Study) -> str:
    """Describe in words how the recorded stimuli differ from those of a study."""
    old = {(row["item"], row["variant"]): row for row in read_parquet(folder / "stimuli.parquet").to_pylist()}
    new = {(row["item"], row["variant"]): row for table in build_stimuli_tables(study) for row in table.to_pylist()}
    changed = [key for key in new if key in old and new[key] != old[key]]
    if (
        changed
        and old.keys() == new.keys()
        and all({**old[k], "language": new[k]["language"]} == new[k] for k in changed)
    ):
        before, now = (_join_language_codes(rows[key]["language"] for key in changed) for rows in (old, new))
        return (
            f"the language has changed since this run was begun: of {len(changed):,} variants from {before} to {now}, "
            "and no text; give --language as it was then or choose another --out. Several languages in one run are "
            "named by a column language of the items"
        )
    changes = {
        "added": [key for key in new if key not in old],
        "removed": [key for key in old if key not in new],
        "changed": changed,
    }
    counts = ", ".join(f"{len(keys)} {kind} (such as {'/'.join(keys[0])})" for kind, keys in changes.items() if keys)
    return (
        f"the study has changed since this run was begun: variants: {counts or 'in another order'}; go back to those "
        "items or choose another --out"
    )


def _join_language_codes(languages: Iterable[str | None]) -> str:
    """List languages by their codes, each once.

    >>> _join_language_codes(["de", None, "de"])
    'none named, de'
    """
    return ", ".join(
        sorted({language or "none named" for language in languages}, key=lambda name: (" " not in name, name))
    )


def build_stimuli_tables(study: Study) -> Iterator[pa.Table]:
    """Make the tables of `stimuli.parquet`, some of the study's variants in each."""
    rows = ({"study": study.name, **variant.row()} for variant in study.variants)
    while some := list(islice(rows, STIMULI_ROWS)):
        yield pa.Table.from_pylist(some, schema=read_arrow_schema_of_table("stimuli"))
