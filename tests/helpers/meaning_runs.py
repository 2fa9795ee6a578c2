"""Makes run folders with a meaning.parquet: wordings of which some mean something else, decoys, checks, and people.

What is planted: of every item, the last `false_share` of the paraphrases mean something else; models answer to those
the opposite with probability `turned`, to the others with `wobble`. The check `entailment:good` parts decoys and false
paraphrases from true ones, `words` knows nothing, `similarity:fair` knows a little.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from helpers.synthetic import CONDITION, SCHEMA, arrow_schema, write_run

KINDS = ("negated", "antonym", "other_item", "exchanged", "shuffled")
WORDS = [f"{start}{end}" for start in ("mo", "ra", "ti", "ken", "lu", "sar") for end in ("va", "ne", "lik", "dor")]
SHIFTS = {"words": 0.0, "similarity:fair": 1.0, "entailment:good": 4.0}  # same minus another, in SDs of its scores


def write_meaning(
    folder: Path,
    rows: pd.DataFrame,
    *,
    study_hash: str | None = None,
    version: int = 1,
    checks: Mapping[str, Any] | None = None,
    schema: pa.Schema | None = None,
) -> Path:
    """Write `folder/meaning.parquet`.

    Parameters
    ----------
    folder
        A run folder from `write_run`.
    rows
        item, variant, check, score. Defaults: `study` that of the run, `text` "<item>: <variant>", `decoy` and `source`
        null.
    study_hash, version, checks
        What the metadata say; by default the hash of run.json, and a model for every check that has one.
    schema
        Instead of that of results/schema.json.

    Returns
    -------
    Path
        The file.
    """
    study = json.loads((folder / "run.json").read_text(encoding="utf-8"))["study"]
    texts = [f"{item}: {variant}" for item, variant in zip(rows["item"], rows["variant"], strict=True)]
    defaults: dict[str, Any] = {"study": study["name"], "text": texts, "decoy": None, "source": None}
    rows = rows.assign(**{name: value for name, value in defaults.items() if name not in rows})
    names = list(dict.fromkeys(rows["check"].dropna()))
    if checks is None:
        checks = {
            name: {"model": name.partition(":")[2] or None, "revision": "0" * 40, "engine": "classifier"}
            for name in names
            if not name.startswith("people:")
        }
    metadata = {
        "version": version,
        "study_hash": study["hash"] if study_hash is None else study_hash,
        "checks": checks,
        "decoys": {"kinds": list(KINDS), "seed": 0, "pipeline": None},
        "sheets": {name.partition(":")[2]: "0" * 64 for name in names if name.startswith("people:")},
    }
    schema = (schema or arrow_schema("meaning")).with_metadata({b"waver": json.dumps(metadata).encode()})
    columns = [pa.array([None if pd.isna(v) else v for v in rows[field.name]], field.type) for field in schema]
    pq.write_table(pa.Table.from_arrays(columns, schema=schema), folder / SCHEMA["meaning"]["file"])
    return folder / SCHEMA["meaning"]["file"]


def draw_meaning(
    stimuli: pd.DataFrame,
    *,
    decoys: int = 3,
    sheet: int = 5,
    annotators: Sequence[str] = ("ann", "ben"),
    error: float = 0.05,
    shifts: Mapping[str, float] = SHIFTS,
    seed: int = 0,
) -> pd.DataFrame:
    """Draw rows of meaning.parquet for wordings of which it is planted whether they mean the same.

    Parameters
    ----------
    stimuli
        item, variant, same (bool), perhaps text: a row per wording that is no original.
    decoys
        Decoys of every kind, per item.
    sheet
        Wordings of every item that people saw; 0: there is no sheet. They saw all decoys, too.
    annotators, error
        Names of the people, and the probability that one errs.
    shifts
        Check -> how far its scores of true paraphrases are above the others, in SDs.

    Returns
    -------
    DataFrame
        For `write_meaning`.
    """
    rng = np.random.default_rng(seed)
    wordings = stimuli.assign(decoy=None, source=None)
    made = pd.DataFrame([
        {"item": item, "variant": f"decoy-{kind}-{number}", "same": False, "decoy": kind, "source": f"{kind} of {item}",
         "text": f"{item}: {kind} {number}"}
        for item in stimuli["item"].unique() for kind in KINDS for number in range(1, decoys + 1)
    ])  # fmt: skip
    texts = pd.concat([wordings, made], ignore_index=True)
    texts["text"] = texts.get("text", pd.Series(None, texts.index)).fillna(texts["item"] + ": " + texts["variant"])
    parts = []
    for check, shift in shifts.items():
        z = rng.normal(0, 1, len(texts)) + shift * (texts["same"].to_numpy(bool) - 0.5)
        parts.append(texts.assign(check=check, score=1 / (1 + np.exp(-z))))
    is_decoy = texts["decoy"].notna()
    if sheet:
        order = texts[~is_decoy].sample(frac=1, random_state=seed).groupby("item").head(sheet).index
        shown = texts.loc[sorted([*order, *texts.index[is_decoy]])]
        for name in annotators:
            errs = rng.random(len(shown)) < error
            parts.append(
                shown.assign(check=f"people:{name}", score=(shown["same"].to_numpy(bool) ^ errs).astype(float))
            )
    return pd.concat(parts, ignore_index=True).drop(columns="same")


def draw_flips(
    models: Sequence[str] = ("m",),
    *,
    items: int = 12,
    paraphrases: int = 20,
    false_share: float = 0.2,
    wobble: float = 0.1,
    turned: float = 0.8,
    conditions: Sequence[str] = (CONDITION,),
    seed: int = 0,
) -> pd.DataFrame:
    """Draw answers to paraphrases of which some mean something else, for `write_run`.

    Returns
    -------
    DataFrame
        model, condition, item, variant ("original", "p01" ...), text, same (bool; of originals True), agreement.
    """
    rng = np.random.default_rng(seed)
    # Words at random: texts that items share but for a name would be templates.
    texts = [[f"{' '.join(rng.choice(WORDS, 6))} {j}" for j in range(paraphrases + 1)] for _ in range(items)]
    n_false = round(false_share * paraphrases)
    rows = []
    for model in models:
        for condition in conditions:
            for i in range(items):
                agrees = rng.random() < 0.5
                for j in range(paraphrases + 1):
                    same = j <= paraphrases - n_false
                    flips = j > 0 and rng.random() < (wobble if same else turned)
                    rows.append({
                        "model": model, "condition": condition, "item": f"i{i:02d}",
                        "variant": f"p{j:02d}" if j else "original", "text": texts[i][j], "same": same,
                        "agreement": rng.uniform(0.55, 0.95) if agrees ^ flips else rng.uniform(0.05, 0.45),
                    })  # fmt: skip
    return pd.DataFrame(rows)


def write_meaning_run(
    path: Path, models: Sequence[str] = ("m",), *, study: str = "synthetic", checks: Mapping[str, Any] | None = None,
    **options: Any,
) -> Path:  # fmt: skip
    """Write a run of agreement with its meaning.parquet.

    Parameters
    ----------
    path, models
        Folder to make, and its models.
    study
        Name of the study.
    checks
        Options of `draw_meaning`.
    **options
        Of `draw_flips`.

    Returns
    -------
    Path
        The run folder.
    """
    frame = draw_flips(models, **options)
    write_run(path, frame.drop(columns="same"), study=study)
    wordings = frame[frame["variant"] != "original"].drop_duplicates(["item", "variant"])
    write_meaning(path, draw_meaning(wordings[["item", "variant", "text", "same"]], **(checks or {})))
    return path


def add_meaning(folder: Path, *, false_share: float = 0.3, every_variant: bool = True, **options: Any) -> pd.DataFrame:
    """Write a meaning.parquet beside a run of any protocol; which texts mean something else is drawn.

    Parameters
    ----------
    folder
        A run folder.
    false_share
        Probability of a text that is no original to mean something else.
    every_variant
        Whether all variants with the same text have rows, or the first one only.
    **options
        Of `draw_meaning`.

    Returns
    -------
    DataFrame
        item, variant, text, same of all variants that are no originals.
    """
    stimuli = pq.read_table(folder / SCHEMA["stimuli"]["file"]).to_pandas()
    wordings = stimuli.loc[stimuli["pattern"] != "original", ["item", "variant", "text"]]
    texts = wordings[["item", "text"]].drop_duplicates()
    same = np.random.default_rng(options.get("seed", 0)).random(len(texts)) >= false_share
    wordings = wordings.merge(texts.assign(same=same), on=["item", "text"])
    rows = draw_meaning(wordings.drop_duplicates(["item", "text"]), **options)
    if every_variant:
        of_wordings = rows[rows["decoy"].isna()].drop(columns="variant")
        variants = wordings[["item", "variant", "text"]]
        rows = pd.concat([of_wordings.merge(variants, on=["item", "text"]), rows[rows["decoy"].notna()]])
    write_meaning(folder, rows)
    return wordings
