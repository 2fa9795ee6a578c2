"""Makes run folders of protocol `scored` without a model: scores of many shapes, in wordings of items."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from helpers.synthetic import write_run

Array = npt.NDArray[np.float64]
ENDS = ("lowest", "highest")
# What people score: a judge's wrong, partly right and right; its 1-5; F1; tests that pass, of ten; milliseconds.
SHAPES: Mapping[str, dict[str, Any]] = {
    "judged": {"range": [0, 1], "direction": "higher"},
    "likert": {"range": [1, 5], "direction": "higher"},
    "F1": {"range": [0, 1], "direction": "higher"},
    "tests": {"range": [0, 10], "direction": "higher"},
    "ms": {"range": None, "direction": "lower"},
}


def shape_scores(measure: str, ability: Array, draw: np.random.Generator) -> Array:
    """Turn abilities (any numbers, about 0) into scores of a shape."""
    share = 1 / (1 + np.exp(-ability))
    if measure == "judged":
        return np.round(np.clip(share, 0.01, 0.99) * 2) / 2
    if measure == "likert":
        return 1 + np.round(share * 4)
    if measure == "F1":
        return np.where(share < 0.3, 0.0, np.round(share, 6))  # zero-inflated
    if measure == "tests":
        return draw.binomial(10, share).astype(float)
    return np.round(np.exp(5 - ability), 6)  # heavy-tailed


def draw_scores(
    models: Sequence[str], items: int = 30, wordings: int = 4, *, measures: Sequence[str] = ("F1",),
    crossed: bool = False, seed: int = 0, wording_sd: float = 0.7,
) -> pd.DataFrame:  # fmt: skip
    """Draw scores of models that differ by 0.8 each: a row per model, measure, item and wording."""
    draw = np.random.default_rng(seed)
    item_effects = draw.normal(0, 1, (items, 1))
    shape = (1, wordings) if crossed else (items, wordings)
    wording_effects = draw.normal(0, wording_sd, shape)
    parts = []
    for place, model in enumerate(models):
        ability = 0.8 * place + item_effects + wording_effects + draw.normal(0, 0.5, (items, wordings))
        item, wording = np.indices((items, wordings))
        for measure in measures:
            scores = shape_scores(measure, ability, draw)
            parts.append(pd.DataFrame({
                "model": model, "condition": measure, "item": [f"item-{n:04d}" for n in item.ravel()],
                "variant": [f"w{n}" for n in wording.ravel()], "pattern": "paraphrase", "score": scores.ravel(),
                "text": [f"Wording {w}: how about thing {i}?" if crossed else f"Thing {i}, said in way {(i + 1) * w} ."
                         for i, w in zip(item.ravel(), wording.ravel(), strict=True)],
                "attributes": [[("template", f"w{n}")] if crossed else None for n in wording.ravel()],
            }))  # fmt: skip
    return pd.concat(parts, ignore_index=True)


def write_scored(
    path: Path, rows: pd.DataFrame, fields: Mapping[str, Mapping[str, Any]] | None = None, **options: Any
) -> Path:
    """A run of these scores; a condition is "SETTING/MEASURE", and its fields those of `SHAPES` unless given."""
    conditions = {}
    for condition in rows["condition"].dropna().unique():
        measure = condition.rpartition("/")[2]
        about = (fields or {}).get(condition) or SHAPES[measure]
        conditions[condition] = {"form": "import", "measure": measure, "temperature": 0, **about}
    return write_run(path, rows, protocol="scored", canonical=ENDS, conditions=conditions, **options)
