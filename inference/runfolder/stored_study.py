"""Read the study that a run folder holds back from its files, for a command that has not got the items."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ground import run_json
from ground.errors import InputError
from inference.runfolder.parquet import read_parquet, refuse_damaged_or_foreign_columns
from inference.stimuli.study import Item, Option, Study, Variant


def read_stored_study(folder: Path) -> Study:
    """Read the study of a run folder: the one whose hash `run.json` records.

    Raises
    ------
    InputError
        This is no run folder, a file is damaged, or the stimuli are not those that were asked.
    """
    about = run_json.read_run_json(folder)["study"]
    file = folder / "stimuli.parquet"
    refuse_damaged_or_foreign_columns(file, "stimuli")
    variants_by_item: dict[str, list[Variant]] = {}
    for row in read_parquet(file).to_pylist():
        variants_by_item.setdefault(row["item"], []).append(_build_variant_from_row(row))
    study = Study(
        about["protocol"],
        about["name"],
        tuple(Item(item, tuple(variants)) for item, variants in variants_by_item.items()),
        tuple(about["canonical"]),
        source=about.get("source") or "",
        paraphrased=False,
    )
    if study.hash != about["hash"]:
        raise InputError(f"{file}: not the stimuli whose hash run.json records; restore both files")
    return study


def _build_variant_from_row(row: dict[str, Any]) -> Variant:
    """Make a variant of its row: the inverse of `Variant.row`."""
    return Variant(
        row["item"],
        row["variant"],
        row["pattern"],
        row["text"],
        tuple(map(Option, row["options"], row["canonical"])),
        parents=tuple(row["parents"] or ()),
        language=row["language"],
        gold=row["gold"],
        gold_score=row["gold_score"],
        attributes=dict(row["attributes"] or ()),
    )
