"""Read meaning.parquet of a run folder, and refuse one that is damaged or about something else."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ground.errors import InputError, explain_why_file_cannot_be_read, shorten_to_one_line
from ground.run_json import SCHEMA

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

    from analysis.runs import Runs
    from analysis.runs.folder import Folder

FILE = str(SCHEMA["meaning"]["file"])
COLUMNS = tuple(column["name"] for column in SCHEMA["meaning"]["columns"])
KEY = list(SCHEMA["meaning"]["key"])
PEOPLE = "people"
KINDS = ("words", "similarity", "entailment", "judge", PEOPLE)
"""What stands before the colon in the name of a check."""
MEANING_COLUMNS: Mapping[str, str] = {
    "meaning": "whether the wording means the same as the original, as `waver meaning` decides it: same, unclear or "
    "another; missing without a verdict",
    "meaning_score": "score of the best check of `waver meaning`: higher, more surely the same; missing of originals",
}
"""What every wording has where wordings were checked."""
MEANINGS_TABLE = "main.wording_meanings"
_VERSION = 1
_ANEW = "delete it and run `waver meaning` again"


@dataclass(frozen=True)
class MeaningFile:
    """Hold what meaning.parquet of a run folder says.

    Attributes
    ----------
    path
        The file.
    scores
        Its rows: the columns of `COLUMNS`.
    metadata
        What its Arrow schema says of checks, decoys and sheets (results/schema.json).
    """

    path: Path
    scores: pd.DataFrame
    metadata: dict[str, Any]


def list_meaning_folders(runs: Runs) -> list[Folder]:
    """List the run folders that hold a meaning.parquet."""
    return [folder for folder in runs.folders if (folder.path / FILE).exists()]


def read_meaning_file(runs: Runs, folder: Folder) -> MeaningFile:
    """Read and check the file of a run folder.

    Parameters
    ----------
    runs
        The runs that the folder is of.
    folder
        One of `list_meaning_folders`.

    Returns
    -------
    MeaningFile

    Raises
    ------
    InputError
        For a file that is damaged, lacks a column or holds a wrong value, that is about another study, or about
        wordings that the run does not have.
    """
    path = folder.path / FILE
    table = _read_parquet_file(path)
    metadata = _parse_metadata(table.schema, path)
    study_hash = folder.info["study"]["hash"]
    if metadata["study_hash"] != study_hash:
        raise InputError(
            f"{path}: is about a study with the hash {shorten_to_one_line(str(metadata['study_hash']), 20)}, but the "
            f"run's is {shorten_to_one_line(study_hash, 20)}: its wordings are others; {_ANEW}"
        )
    scores: pd.DataFrame = table.select(COLUMNS).to_pandas()
    _refuse_invalid_score_rows(scores, path, folder.study)
    _refuse_scores_of_unknown_wordings(runs, folder, scores, path)
    return MeaningFile(path, scores, metadata)


def _read_parquet_file(path: Path) -> pa.Table:
    """Read the file; refuse one that is damaged, or lacks columns of results/schema.json."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    if not path.is_file():  # a pipe would never end
        raise InputError(f"{path}: is not an ordinary file; remove it")
    try:
        table = pq.ParquetFile(path).read()
        table.validate(full=True)  # texts are UTF-8
    except (pa.ArrowException, OSError) as error:
        if obstacle := explain_why_file_cannot_be_read(error):
            raise InputError(f"{path}: cannot be read: {obstacle}") from None
        raise InputError(f"{path}: damaged or cut short; {_ANEW}") from error
    types = {field.name: str(field.type) for field in table.schema}
    for column in SCHEMA["meaning"]["columns"]:
        name, kind = column["name"], column["type"]
        if types.get(name) != kind:
            problem = f"has type {types[name]}, not {kind}" if name in types else "is missing"
            raise InputError(f"{path}: column {name!r} {problem}; {_ANEW}")
        if not column["nullable"] and table[name].null_count:
            raise InputError(f"{path}: column {name!r} has an empty cell; {_ANEW}")
    return table


def _parse_metadata(schema: pa.Schema, path: Path) -> dict[str, Any]:
    """Parse what the file says of itself; refuse what no `waver meaning` wrote."""
    try:
        metadata = json.loads((schema.metadata or {}).get(b"waver", b"{}"))
    except (ValueError, RecursionError):
        metadata = {}
    is_whole = isinstance(metadata, dict) and isinstance(metadata.get("study_hash"), str)
    if not is_whole or metadata.get("version") != _VERSION or not isinstance(metadata.get("checks", {}), dict):
        raise InputError(f"{path}: does not say in its metadata that it is a meaning file of version 1; {_ANEW}")
    return {str(name): value for name, value in metadata.items()}


def _refuse_invalid_score_rows(scores: pd.DataFrame, path: Path, study: str) -> None:
    """Refuse rows of another study, unknown checks, scores that are none, and rows that are there twice."""
    import numpy as np
    import pandas as pd

    codes, names = pd.factorize(scores["check"])
    is_known, is_people = (
        np.array([is_kind(str(name)) for name in names], bool)
        for is_kind in (_is_valid_check_name, lambda name: name.startswith(f"{PEOPLE}:"))
    )
    value = scores["score"].to_numpy(float)
    is_vote = is_people[codes]
    wrong_by_problem = {
        f"study is not the run's, {study!r}": scores["study"].to_numpy() != study,
        f"check is none of {', '.join((KINDS[0], *(f'{kind}:NAME' for kind in KINDS[1:])))}": ~is_known[codes],
        "score is not a number": np.isinf(value),
        "score is a vote of people, and neither 0 nor 1": is_vote & ~np.isnan(value) & ~np.isin(value, (0, 1)),
        "is there twice": scores.duplicated(KEY).to_numpy(),
    }
    for problem, is_wrong in wrong_by_problem.items():
        for row in scores[is_wrong].head(1).itertuples():
            where = f"item {row.item!r}, variant {row.variant!r}, check {row.check!r}"
            raise InputError(f"{path}: {shorten_to_one_line(where, 200)}: {problem}; {_ANEW}")


def _is_valid_check_name(name: str) -> bool:
    """Tell whether a check has such a name: `words`, or a kind and a name."""
    kind, _, rest = name.partition(":")
    return kind in KINDS and (kind == KINDS[0]) == (not rest)


def _refuse_scores_of_unknown_wordings(runs: Runs, folder: Folder, scores: pd.DataFrame, path: Path) -> None:
    """Refuse a file about items, wordings or texts that the run does not have."""
    import pandas as pd

    stimuli = runs.sql(f"SELECT item, variant, text FROM ({folder.stimuli_sql})")
    distinct = scores[["item", "variant", "text", "decoy"]].drop_duplicates()
    for row in distinct[~distinct["item"].isin(stimuli["item"])].head(1).itertuples():
        raise InputError(f"{path}: item {shorten_to_one_line(repr(row.item))} is not in this run; {_ANEW}")
    wordings = distinct[distinct["decoy"].isna()]
    beside = wordings.merge(stimuli, on=["item", "variant"], how="left", suffixes=("", "_run"))
    for row in beside[pd.isna(beside["text_run"])].head(1).itertuples():
        where = f"item {row.item!r}, variant {row.variant!r}"
        raise InputError(f"{path}: {shorten_to_one_line(where, 200)}: this run has no such wording; {_ANEW}")
    for row in beside[beside["text"] != beside["text_run"]].head(1).itertuples():
        where = f"item {row.item!r}, variant {row.variant!r}"
        raise InputError(f"{path}: {shorten_to_one_line(where, 200)}: its text is another one in this run; {_ANEW}")
