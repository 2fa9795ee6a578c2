"""Read scores of models on benchmarks from a file: plain CSV or YAML, or one of two public leaderboards."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from analysis.errors import InputError

NAMES = ("model", "model_name", "name", "id")
SIZES = ("parameters", "params", "params_billions")
BILLION = 1e9
OPEN_LLM = "evaluations_ifeval_value"  # only the export of the Open LLM Leaderboard has this column


@dataclass(frozen=True)
class Scores:
    """Hold scores by model.

    Attributes
    ----------
    frame
        One row per entry of the file, with its model's name as index (a name may occur several times, for example with
        other precisions); one column per benchmark, NaN without a score.
    parameters
        Size of each entry's model, NaN if unknown.
    source
        The file and its format.
    ignored
        Columns without numbers.
    """

    frame: pd.DataFrame
    parameters: pd.Series
    source: str
    ignored: tuple[str, ...] = ()

    def by_name(self) -> pd.DataFrame:
        """Return one row per name: the mean of its entries, and `parameters`."""
        return self.frame.assign(parameters=self.parameters.to_numpy()).groupby(level=0, sort=False).mean()


def load(path: str | os.PathLike[str]) -> Scores:
    """Read a file of scores.

    Four formats are known: CSV with one row per model, named in the first of the columns model, model_name, name, id;
    YAML that maps a model's name to its scores; the export of the Open LLM Leaderboard (CSV, `huggingface_v2.csv`); the
    data file of the Swallow LLM Leaderboard (YAML), where -0.01 means no score. A column parameters, params or
    params_billions (the latter two in billions) is the size; 0 or less means unknown.

    Raises
    ------
    InputError
        For a file that is missing, unreadable or without scores; the line says what is needed.
    """
    file = Path(path)
    try:
        text = file.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{file}: scores cannot be read ({getattr(error, 'strerror', None) or error})") from error
    if file.suffix.casefold() in (".yml", ".yaml"):
        return _from_yaml(file, text)
    if file.suffix.casefold() == ".csv":
        return _from_csv(file)
    raise InputError(f"{file}: scores are read from .csv, .yaml or .yml")


def _from_csv(file: Path) -> Scores:
    try:
        frame = pd.read_csv(file, low_memory=False, encoding="utf-8-sig")
    except (ValueError, pd.errors.ParserError) as error:
        raise InputError(f"{file}: not a readable CSV ({error})") from error
    if OPEN_LLM in frame:
        return _open_llm(file, frame)
    return _plain(file, frame, "CSV")


def _from_yaml(file: Path, text: str) -> Scores:
    import yaml

    try:
        # The C loader builds the same plain objects ten times as fast.
        content = yaml.load(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    except yaml.YAMLError as error:
        raise InputError(f"{file}: not valid YAML ({' '.join(str(error).split())})") from error
    if isinstance(content, list) and all(isinstance(e, dict) and {"id", "results"} <= e.keys() for e in content):
        return _swallow(file, content)
    if isinstance(content, dict) and content and all(isinstance(fields, dict) for fields in content.values()):
        frame = pd.DataFrame.from_dict({str(name): fields for name, fields in content.items()}, orient="index")
        return _plain(file, frame.rename_axis("model").reset_index(), "YAML")
    raise InputError(f"{file}: YAML of scores maps model names to benchmarks, or lists entries with id and results")


def _plain(file: Path, frame: pd.DataFrame, kind: str) -> Scores:
    name = next((name for name in NAMES if name in frame), None)
    if name is None:
        raise InputError(f"{file}: no column with the model's name; call it {' or '.join(NAMES)}")
    if frame[name].isna().any():
        raise InputError(f"{file}: row {int(frame[name].isna().to_numpy().argmax()) + 2}: column {name!r} is empty")
    frame = frame.set_index(frame[name].astype(str).rename("model")).drop(columns=name)
    size = next((name for name in SIZES if name in frame), None)
    parameters = pd.Series(float("nan"), frame.index)
    if size is not None:
        sizes = pd.to_numeric(frame.pop(size), errors="coerce")
        parameters = _known(sizes) * (1 if size == "parameters" else BILLION)
    numbers = frame.select_dtypes("number").dropna(axis=1, how="all").astype(float)
    if numbers.columns.empty:
        raise InputError(f"{file}: no column of scores, only {name!r} and columns without numbers")
    ignored = tuple(str(column) for column in frame if column not in numbers)
    return Scores(numbers.rename(columns=str), parameters, f"{file} ({kind})", ignored)


def _open_llm(file: Path, frame: pd.DataFrame) -> Scores:
    values = [name for name in frame if name.startswith("evaluations_") and name.endswith("_value")]
    names = {name: str(frame[name.replace("_value", "_name")].iloc[0]) for name in values}
    scores = frame[[*values, "model_average_score"]].rename(columns={**names, "model_average_score": "Average"})
    index = pd.Index(frame["model_name"].astype(str), name="model")
    parameters = _known(frame["metadata_params_billions"]) * BILLION
    return Scores(scores.set_axis(index).astype(float), parameters.set_axis(index), f"{file} (Open LLM Leaderboard)")


def _swallow(file: Path, entries: list[dict[str, Any]]) -> Scores:
    rows = [_flat(file, entry) for entry in entries]
    index = pd.Index([str(entry["id"]) for entry in entries], name="model")
    frame = pd.DataFrame(rows, index=index).astype(float)
    frame = frame.where(frame >= 0)
    sizes = pd.to_numeric(pd.Series([entry.get("params") for entry in entries], index=index), errors="coerce")
    return Scores(frame, _known(sizes) * BILLION, f"{file} (Swallow LLM Leaderboard)")


def _flat(file: Path, entry: Mapping[str, Any]) -> dict[str, float]:
    """Name every score of an entry by group and benchmark, since groups share benchmarks (`ja_post/GPQA`)."""
    flat = {}
    for group, results in (entry["results"] or {}).items():
        for name, score in (results or {}).items():
            if not isinstance(score, int | float | None):
                raise InputError(f"{file}: {entry['id']}: {group}: {name}: {score!r} is not a number")
            flat[f"{group}/{name}"] = float("nan") if score is None else float(score)
    return flat


def _known(sizes: pd.Series) -> pd.Series:
    return sizes.astype(float).where(sizes > 0)
