"""Save imported responses as a run folder: the part that all importers share."""

from __future__ import annotations

import argparse
import hashlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from inference.arguments import add_models_file
from inference.errors import InputError

if TYPE_CHECKING:
    import pyarrow as pa

    from inference.runfolder.store import Run
    from inference.stimuli.study import Study

CONDITION = "import"
FORM = "import"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Define the options that all importers share."""
    parser.add_argument(
        "--out", required=True, metavar="RUN", help="run folder: new, or one of the same study to add to"
    )
    parser.add_argument("--name", metavar="STUDY", help="name of the study (default: the name of the run folder)")
    parser.add_argument("--language", metavar="CODE", help="language of the texts, for example en")
    add_models_file(parser)


def named(files: Sequence[str]) -> list[tuple[str | None, Path]]:
    """Split arguments PATH or NAME=PATH into (model name or None, path); an existing path is never split."""
    pairs: list[tuple[str | None, Path]] = []
    for file in files:
        name, equals, path = file.partition("=")
        chosen = equals and not Path(file).exists()
        pairs.append((name, Path(path)) if chosen else (None, Path(file)))
    return pairs


def source(files: Sequence[str]) -> str:
    """Describe where a study comes from: one file as it was given, or the first of several."""
    return files[0] if len(files) == 1 else f"{files[0]} and {len(files) - 1} more"


def fingerprint(paths: Sequence[Path], settings: Mapping[str, Any]) -> str:
    """Compute the sha256 of the files' content and of the settings they are read with.

    Raises
    ------
    InputError
        A file cannot be read.
    """
    digest = hashlib.sha256(json.dumps(settings, sort_keys=True, ensure_ascii=True).encode())
    for path in paths:
        try:
            with path.open("rb") as file:
                digest.update(hashlib.file_digest(file, "sha256").digest())
        except OSError as error:
            raise InputError(f"{path}: cannot be read ({error.strerror})") from None
    return digest.hexdigest()


def save(
    out: str,
    study: Study,
    responses: pa.Table,
    conditions: Mapping[str, Mapping[str, Any]],
    *,
    descriptions: str | None,
    imported: str,
    command: Sequence[str],
) -> list[str]:
    """Write a study and its responses as one part; what an earlier import of the same files wrote stays.

    Parameters
    ----------
    out
        The run folder.
    responses
        Columns of `results/schema.json` without `study`; at least model, condition, item and variant.
    conditions
        condition name -> fields, for every condition in `responses`.
    descriptions
        A ``--models`` file, or None.
    imported
        Fingerprint of the files, recorded per model and condition.

    Returns
    -------
    list of str
        What was written, one line per model and condition, for the user.

    Raises
    ------
    InputError
        The folder belongs to another study, or has other responses of the same model and condition.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    from inference.asking.models import read_descriptions
    from inference.runfolder.parquet import responses_table
    from inference.runfolder.store import Run

    stated = read_descriptions(descriptions) if descriptions else {}
    responses = responses_table(responses, study.name)
    numbered = responses.select(["model", "condition"]).append_column("row", pa.array(range(len(responses))))
    pairs = numbered.group_by(["model", "condition"]).aggregate([("row", "min")]).sort_by("row_min")
    present = [(row["model"], row["condition"]) for row in pairs.to_pylist()]
    for model in stated.keys() - {model for model, _ in present}:
        raise InputError(f"{descriptions}: there is no model '{model}' in these files; correct its id or take it out")
    lines = [f"{study.name}: {len(study.items):,} items, {sum(1 for _ in study.variants):,} variants"]
    with Run.create_or_open(out, study, command=command) as run:
        # Everything is checked before the first change.
        for _, condition in present:
            run.check_condition(condition, conditions[condition])
        here = [pair for pair in present if _is_here(run, *pair, imported)]
        for model, condition in present:
            chosen = pc.and_(pc.equal(responses["model"], model), pc.equal(responses["condition"], condition))
            if (model, condition) in here:
                responses = responses.filter(pc.invert(chosen))
                lines.append(f"{model} {condition}: is here already, nothing to do")
                continue
            known = run.models.get(model, {})
            about = {"engine": "import", "revision": known.get("revision"), **stated.get(model, {})}
            run.add_condition(condition, conditions[condition])
            run.add_model(model, {**about, "imported": {**known.get("imported", {}), condition: imported}})
            lines.append(_summary(study, model, condition, responses.filter(chosen)))
        run.append(responses)
        run.finish()
    return lines


def _is_here(run: Run, model: str, condition: str, imported: str) -> bool:
    """Tell whether the run has these very responses; refuse other ones of the same model and condition."""
    if not run.done(model, condition):
        return False
    if run.models[model].get("imported", {}).get(condition) == imported:
        return True
    raise InputError(
        f"{run.path}: model '{model}' already has responses under condition '{condition}' from elsewhere; "
        "rename one of them or choose another --out"
    )


def _summary(study: Study, model: str, condition: str, rows: pa.Table) -> str:
    """Count what there is of one model under one condition, and what is missing."""
    import pyarrow.compute as pc

    def total(column: str) -> int:
        values = rows[column].combine_chunks()
        return pc.sum(pc.list_flatten(values) if column == "count" else values).as_py() or 0

    parts = [f"{model} {condition}: {len(rows):,} of {sum(1 for _ in study.variants):,} variants"]
    errors = len(rows) - rows["error"].null_count
    if errors:
        parts.append(f"{errors:,} without a response")
    if rows["mass"].null_count < len(rows):
        parts.append(f"mean mass {pc.mean(rows['mass']).as_py():.3f}")
    else:
        counted = len(rows) - rows["count"].null_count
        answered = len(rows) - rows["answer"].null_count
        single = len(rows) - errors - counted
        valid, invalid = total("count") + answered, total("invalid") + single - answered
        parts.append(f"{invalid:,} of {valid + invalid:,} answers invalid")
    return ", ".join(parts)
