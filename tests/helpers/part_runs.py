"""Writes the run folder that would be there if only a part of another had been asked; knows nothing of `Part`."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq

from analysis.runs.folder import list_run_folders

Keeps = Callable[[Mapping[str, Any]], bool]


def write_asked_part(source: Path, target: Path, keeps_wording: Keeps, keeps_unit: Keeps) -> Path:
    """Write only those wordings, and those rows, that are kept.

    Parameters
    ----------
    source, target
        A run folder or a folder of some, and the folder to make.
    keeps_wording
        Tells of a row of the stimuli whether it is kept.
    keeps_unit
        Tells of study, model and condition whether they are kept; run.json names no other.

    Returns
    -------
    Path
        `target`.
    """
    for folder in list_run_folders(source):
        made = target if folder == source else target / folder.name
        stimuli = pq.ParquetFile(folder / "stimuli.parquet").read()
        kept = [keeps_wording(row) for row in stimuli.to_pylist()]
        wordings = {(row["item"], row["variant"]) for row in stimuli.filter(pa.array(kept)).to_pylist()}
        rows_by_part = {}
        for part in sorted(folder.glob("responses/*.parquet")):
            rows = pq.ParquetFile(part).read()
            mask = [(row["item"], row["variant"]) in wordings and keeps_unit(row) for row in rows.to_pylist()]
            if any(mask):
                rows_by_part[part.name] = rows.filter(pa.array(mask))
        if rows_by_part:
            (made / "responses").mkdir(parents=True)
            pq.write_table(stimuli.filter(pa.array(kept)), made / "stimuli.parquet")
            for name, rows in rows_by_part.items():
                pq.write_table(rows, made / "responses" / name)
            info = json.loads((folder / "run.json").read_text(encoding="utf-8"))
            units = {(row["model"], row["condition"]) for rows in rows_by_part.values()
                     for row in rows.select(["model", "condition"]).to_pylist()}  # fmt: skip
            (made / "run.json").write_text(json.dumps(_keep_units(info, units)), encoding="utf-8")
    return target


def write_few_units(source: Path, target: Path, n_models: int, left_out_temperatures: Sequence[float]) -> Path:
    """Write only the rows of the last models of a run folder, without some temperatures, with all of its wordings."""
    info = json.loads((source / "run.json").read_text(encoding="utf-8"))
    conditions = [name for name, fields in info["conditions"].items()
                  if fields.get("temperature") not in left_out_temperatures]  # fmt: skip
    units_kept = ds.field("model").isin(list(info["models"])[-n_models:]) & ds.field("condition").isin(conditions)
    kept = ds.dataset(sorted(source.glob("responses/*.parquet"))).to_table(filter=units_kept)
    shutil.copytree(source, target, ignore=shutil.ignore_patterns("responses"))
    (target / "responses").mkdir()
    pq.write_table(kept, target / "responses" / "part-000001.parquet")
    units = kept.select(["model", "condition"]).group_by(["model", "condition"]).aggregate([]).to_pylist()
    kept_units = {(row["model"], row["condition"]) for row in units}
    (target / "run.json").write_text(json.dumps(_keep_units(info, kept_units)), encoding="utf-8")
    return target


def _keep_units(info: dict[str, Any], units: set[tuple[str, str]]) -> dict[str, Any]:
    """Return a run.json that names only the models and conditions of some units."""
    for field, place in (("models", 0), ("conditions", 1)):
        info[field] = {name: fields for name, fields in info[field].items() if name in {unit[place] for unit in units}}
    info.pop("expected", None)
    return info
