"""Makes small, valid run folders for the tests of `analysis` without asking a model and without importing `inference`.

A test writes the few numbers that matter and leaves the rest to the defaults::

    rows = pd.DataFrame({"item": ["a", "a"], "variant": ["p1", "p2"], "agreement": [0.2, 0.9]})
    write_run(tmp_path / "run", rows)
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

SCHEMA: dict[str, Any] = json.loads(
    (Path(__file__).resolve().parents[2] / "results" / "schema.json").read_text(encoding="utf-8")
)
CANONICAL = ("agree", "disagree")
CONDITION = "plain/yes-no"
_TYPES: dict[str, pa.DataType] = {
    "string": pa.string(),
    "double": pa.float64(),
    "int64": pa.int64(),
    "list<string>": pa.list_(pa.string()),
    "list<double>": pa.list_(pa.float64()),
    "list<int64>": pa.list_(pa.int64()),
    "list<list<double>>": pa.list_(pa.list_(pa.float64())),
    "map<string,string>": pa.map_(pa.string(), pa.string()),
}


def arrow_schema(table: str) -> pa.Schema:
    """Arrow schema of `stimuli` or `responses`, read from results/schema.json."""
    columns = SCHEMA[table]["columns"]
    return pa.schema([pa.field(c["name"], _TYPES[c["type"]], nullable=c["nullable"]) for c in columns])


def write_run(
    path: Path,
    frame: pd.DataFrame,
    *,
    protocol: str = "agreement",
    study: str = "synthetic",
    canonical: Sequence[str] = CANONICAL,
    models: Mapping[str, Mapping[str, Any]] | None = None,
    conditions: Mapping[str, Mapping[str, Any]] | None = None,
    parts: int = 1,
) -> Path:
    """Write a run folder with one response per row of `frame`.

    Parameters
    ----------
    path
        Folder to make.
    frame
        Needs columns `item` and `variant`. Defaults: `model` "m", `condition` "plain/yes-no", `pattern` "original"
        for the variant "original" and "paraphrase" else, `text` "<item>: <variant>", `options` and its `canonical`
        (per row) the study's canonical labels. A row whose `model` is None is a stimulus nobody was asked.
        Responses come from any column of the schema, or from the shorthand `agreement` (with `mass`, default 1):
        `probability` becomes mass * (agreement, 1 - agreement), in the order of the row's own options.
    models, conditions
        Fields for run.json that complete or override the defaults (engine "causal"; form and option order taken from
        the condition's name).
    parts
        Number of Parquet files to spread the responses over.

    Returns
    -------
    Path
        The folder, ready for `analysis.runs.open_runs`.
    """
    rows = _complete(frame, study, tuple(canonical))
    path.mkdir(parents=True)
    stimuli = rows.drop_duplicates(["item", "variant"])
    _write(stimuli, "stimuli", path / SCHEMA["stimuli"]["file"])
    asked = rows[rows["model"].notna()]
    (path / "responses").mkdir()
    for number, index in enumerate(np.array_split(np.arange(len(asked)), parts), start=1):
        _write(asked.iloc[index], "responses", path / "responses" / f"part-{number:06d}.parquet")
    digest = hashlib.sha256(repr([tuple(map(str, row)) for row in stimuli[_IDENTITY].to_numpy()]).encode())
    info = {
        "format": SCHEMA["format"],
        "study": {
            "protocol": protocol,
            "name": study,
            "hash": digest.hexdigest(),
            "canonical": list(canonical),
            "source": "tests/synthetic.py",
        },
        "models": {model: _model(model, models) for model in asked["model"].unique()},
        "conditions": {name: _condition(name, conditions) for name in asked["condition"].unique()},
        "decision_rule": "agree if agreement > 0.5",
        "seed": 0,
        "sessions": [{"command": ["synthetic"], "started": "", "finished": "", "versions": {}}],
    }
    (path / "run.json").write_text(json.dumps(info, indent=1), encoding="utf-8")
    return path


def edit_run_json(path: Path, **changes: Any) -> None:
    """Replace top-level fields of a folder's run.json; a value None deletes the field."""
    file = path / "run.json"
    info = {**json.loads(file.read_text(encoding="utf-8")), **changes}
    file.write_text(json.dumps({k: v for k, v in info.items() if v is not None}), encoding="utf-8")


def paraphrases(
    agreements: Mapping[str, Sequence[float]], original: float | None = None, **columns: Any
) -> pd.DataFrame:
    """Paraphrases p1, p2 ... of every item with these agreements, and an original where one is given.

    Returns
    -------
    DataFrame
        item, variant, agreement and the further `columns`; the originals stand last.
    """
    rows = [(item, f"p{j}", value) for item, values in agreements.items() for j, value in enumerate(values, start=1)]
    rows += [(item, "original", original) for item in agreements if original is not None]
    return pd.DataFrame(rows, columns=["item", "variant", "agreement"]).assign(**columns)


def random_frame(
    models: Sequence[str] = ("m",),
    *,
    items: int = 4,
    paraphrases: int = 6,
    conditions: Sequence[str] = (CONDITION,),
    seed: int = 0,
) -> pd.DataFrame:
    """Plausible random responses: items differ in their mean and spread, models in their validity.

    Returns
    -------
    DataFrame
        model, condition, item ("item-01"...), variant ("original", "paraphrase-001"...), agreement and mass (both
        in (0, 1)); `models x conditions x items x (1 + paraphrases)` rows.
    """
    rng = np.random.default_rng(seed)
    variants = ["original", *(f"paraphrase-{j:03d}" for j in range(1, paraphrases + 1))]
    names = [f"item-{i:02d}" for i in range(1, items + 1)]
    index = pd.MultiIndex.from_product(
        [models, conditions, names, variants], names=["model", "condition", "item", "variant"]
    )
    groups = len(models) * len(conditions) * items
    centre = rng.normal(0, 1.5, (groups, 1))
    spread = rng.uniform(0.2, 1.5, (groups, 1))
    logit = centre + spread * rng.standard_normal((groups, len(variants)))
    valid = np.repeat(rng.uniform(0.3, 0.9, len(models)), len(index) // len(models))
    frame = index.to_frame(index=False)
    frame["agreement"] = (1 / (1 + np.exp(-logit))).ravel()
    frame["mass"] = np.clip(valid + rng.normal(0, 0.05, len(frame)), 0.01, 1.0)
    return frame


_IDENTITY = ["item", "variant", "pattern", "text", "options", "canonical"]
_SCHEMAS = {table: arrow_schema(table) for table in ("stimuli", "responses")}


def _complete(frame: pd.DataFrame, study: str, canonical: tuple[str, ...]) -> pd.DataFrame:
    """The columns that are given, and those that have a default."""
    rows = frame.assign(study=study).reset_index(drop=True)
    defaults: dict[str, Any] = {
        "model": "m",
        "condition": CONDITION,
        "pattern": ["original" if v == "original" else "paraphrase" for v in rows["variant"]],
        "text": [f"{i}: {v}" for i, v in zip(rows["item"], rows["variant"], strict=True)],
        "options": [list(canonical)] * len(rows),
    }
    for name, value in defaults.items():
        if name not in rows:
            rows[name] = value
    if "canonical" not in rows:
        rows["canonical"] = rows["options"]
    if "agreement" in rows:
        rows = _probabilities(rows, canonical)
    return rows


def _probabilities(rows: pd.DataFrame, canonical: tuple[str, ...]) -> pd.DataFrame:
    """`agreement` and `mass` -> `probability`, `logprob`, `mass`, in each row's own option order; NaN -> null."""
    mass = rows["mass"].fillna(1.0) if "mass" in rows else pd.Series(1.0, index=rows.index)
    probability: list[list[float] | None] = []
    for share, total, labels in zip(rows["agreement"], mass, rows["canonical"], strict=True):
        by_label = {canonical[0]: share * total, canonical[1]: (1 - share) * total}
        probability.append(None if pd.isna(share) else [by_label[label] for label in labels])
    with np.errstate(divide="ignore"):
        logprob = [None if p is None else list(np.log(p)) for p in probability]
    known = pd.Series([p is not None for p in probability], index=rows.index)
    return rows.assign(probability=probability, logprob=logprob, mass=mass.where(known))


def _write(rows: pd.DataFrame, table: str, file: Path) -> None:
    """Write the schema's columns; one that is not there, or NaN in a scalar column, is null."""
    schema = _SCHEMAS[table]
    arrays = []
    for field in schema:
        if field.name not in rows:
            arrays.append(pa.nulls(len(rows), field.type))
        elif isinstance(field.type, pa.ListType | pa.MapType):  # NaN in a list stays
            values = [None if isinstance(value, float) else value for value in rows[field.name]]
            arrays.append(pa.array(values, field.type))
        else:
            arrays.append(pa.array(rows[field.name].tolist(), field.type, from_pandas=True))
    pq.write_table(pa.Table.from_arrays(arrays, schema=schema), file)


def _model(name: str, given: Mapping[str, Mapping[str, Any]] | None) -> dict[str, Any]:
    fields = {"revision": "0", "engine": "causal", "dtype": "float32", "device": "cpu", "parameters": 1000}
    return {**fields, "series": None, "stage": None, **(given or {}).get(name, {})}


def _condition(name: str, given: Mapping[str, Mapping[str, Any]] | None) -> dict[str, Any]:
    *prompt, form, order = ["waver", *name.split("/")][-3:] if "/" in name else ["waver", name, "yes-no"]
    fields = {"form": form, "option_order": order, "prompt": prompt[0], "prompt_hash": f"hash-{prompt[0]}-{form}"}
    return {**fields, **(given or {}).get(name, {})}
