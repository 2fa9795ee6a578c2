"""Makes run folders of protocol `scale` without a model: batteries of items, and answers with planted effects.

All effects are on `s`, the mean answer from 0 (lowest option) to 1 (highest), before reversing. The distribution over
the options has exactly that mean, so that what was planted is what a measure should say.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy.stats import binom

from analysis.measures.ratings import Ratings
from helpers.synthetic import write_run

Array = npt.NDArray[np.float64]
AGREEMENT = ("Strongly disagree", "Disagree", "Neither agree nor disagree", "Agree", "Strongly agree")


@dataclass(frozen=True)
class Respondent:
    """What is planted in the answers of a model.

    `order` is s shown rising minus s shown falling; `extreme` the share of every answer that is moved to the two ends
    (its mean stays); `wording_sd` the SD of an item's wordings; `order_sd` that of the order effect over items;
    `traits` s - 0.5 of an item keyed 1, by scale.
    """

    name: str
    acquiescence: float = 0.0
    order: float = 0.0
    extreme: float = 0.0
    wording_sd: float = 0.0
    order_sd: float = 0.0
    item_sd: float = 0.0  # of the model's own items, beside what all models share
    traits: Mapping[str, float] = field(default_factory=dict)
    labels: Mapping[str, float] = field(default_factory=dict)  # added to s under these labels
    mass: float = 0.9


def spread_over_options(s: Array, k: int, extreme: float = 0.0) -> Array:
    """Return a distribution over k options with this mean for every s: binomial, in part moved to the ends."""
    s = np.asarray(s, dtype=float)[..., None]
    ends = np.zeros((*s.shape[:-1], k))
    ends[..., 0], ends[..., -1] = 1 - s[..., 0], s[..., 0]
    return np.asarray((1 - extreme) * binom.pmf(np.arange(k), k - 1, s) + extreme * ends)


def name_condition(
    form: str = "plain", labels: str = "numbers", order: str = "up", *, without_middle: bool = False, persona: str = ""
) -> str:
    """Name a condition as runs do."""
    return "/".join([
        form, f"{labels}-{order}", *(["no-middle"] if without_middle else []),
        *([f"persona-{persona}"] if persona else []),
    ])  # fmt: skip


def draw_answers(
    respondents: Sequence[Respondent | str], *, scales: Sequence[str] = ("care", "order"), items: int = 10,
    wordings: int = 5, labels: Sequence[str] = ("numbers",), orders: Sequence[str] = ("up", "down"),
    without_middle: Sequence[bool] = (False,), personas: Sequence[str] = (), options: Sequence[str] = AGREEMENT,
    item_sd: float = 0.1, noise_sd: float = 0.02, persona_sd: float = 0.1, balanced: bool = True,
    crossed: bool = False, without_original: bool = False, seed: int = 0,
) -> pd.DataFrame:  # fmt: skip
    """Draw the answers of models: a row per model, condition, item and wording.

    Parameters
    ----------
    respondents
        The models, with what is planted; a name alone is one without effects.
    scales, items, wordings
        Names of scales, items of each, wordings of each item. Every other item is keyed -1 unless not `balanced`.
    labels, orders, without_middle, personas
        Crossed: the conditions.
    options
        Of all items, rising.
    item_sd, noise_sd, persona_sd
        SD of an item over items, of a wording under one condition, and of the traits of personas.
    crossed
        Whether items share the effects of wordings, as templates do.
    without_original
        Whether all wordings are paraphrases.

    Returns
    -------
    DataFrame
        What `write_scale` writes; further columns s (planted), scale, key.
    """
    draw = np.random.default_rng(seed)
    models = [Respondent(given) if isinstance(given, str) else given for given in respondents]
    shape = (len(scales), items, wordings)
    key = np.ones(items)
    if balanced:
        key[1::2] = -1
    item_effects = draw.normal(0, item_sd, (len(scales), items, 1))
    persona_traits = {(name, scale): draw.normal(0, persona_sd) for name, scale in product(personas, scales)}
    parts = []
    for model in models:
        wording_effects = draw.normal(0, model.wording_sd, (1, 1, wordings) if crossed else shape)
        own_items = draw.normal(0, model.item_sd, (len(scales), items, 1))
        order_effects = model.order + draw.normal(0, model.order_sd, (len(scales), items, 1))
        for label, order, no_middle, persona in product(labels, orders, without_middle, personas or ("",)):
            trait = np.array([model.traits.get(scale, 0) + persona_traits.get((persona, scale), 0) for scale in scales])
            s = (
                0.5 + model.acquiescence + key[:, None] * trait[:, None, None] + item_effects + own_items
                + wording_effects
                + order_effects * (0.5 if order == "up" else -0.5) + model.labels.get(label, 0)
                + draw.normal(0, noise_sd, shape)
            )  # fmt: skip
            k = len(options) - (no_middle and len(options) % 2)
            p = spread_over_options(np.clip(s, 0.001, 0.999), k, model.extreme).reshape(-1, k)
            scale, item, wording = (place.ravel() for place in np.indices(shape))
            parts.append(pd.DataFrame({
                "model": model.name,
                "condition": name_condition(labels=label, order=order, without_middle=no_middle, persona=persona),
                "item": [f"{scales[a]}-{b:02d}" for a, b in zip(scale, item, strict=True)],
                "variant": [f"paraphrase-{w:03d}" if w or without_original else "original" for w in wording],
                "text": [_write_text(scales[a], b, w if crossed else f"{w} of {items * a + b}, as {(b + 2) * (w + 3)}")
                         for a, b, w in zip(scale, item, wording, strict=True)],
                "scale": [scales[a] for a in scale], "key": key[item].astype(int), "s": s.ravel(),
                "options": [list(options)] * s.size,
                "probability": list(model.mass * p), "mass": model.mass,
            }))  # fmt: skip
    return pd.concat(parts, ignore_index=True)


def draw_ratings(
    respondents: Sequence[Respondent], draw: np.random.Generator, *, scales: int = 1, items: int = 10,
    wordings: int = 5, labels: Sequence[str] = ("numbers",), crossed: bool = False, item_sd: float = 0.1,
    noise_sd: float = 0.02, k: int = 5,
) -> Ratings:  # fmt: skip
    """Draw answers as `draw_answers` does, shown rising and falling, laid out in memory: for many studies.

    `items` are those of all scales together; every other one is keyed -1.
    """
    shape = (items, wordings)
    key = np.where(np.arange(items) % 2 == 0, 1, -1)
    item_effects = draw.normal(0, item_sd, (items, 1))
    units, answers = [], []
    for model in respondents:
        wording_effects = draw.normal(0, model.wording_sd, (1, wordings) if crossed else shape)
        of_model = draw.normal(0, model.item_sd, (items, 1))
        order_effects = model.order + draw.normal(0, model.order_sd, (items, 1))
        for label, order in product(labels, ("up", "down")):
            s = (
                0.5 + model.acquiescence + item_effects + of_model + wording_effects
                + order_effects * (0.5 if order == "up" else -0.5) + draw.normal(0, noise_sd, shape)
            )  # fmt: skip
            answers.append(spread_over_options(np.clip(s, 0.001, 0.999), k, model.extreme))
            units.append({
                "model": model.name, "condition": f"plain/{label}-{order}", "setting": "plain",
                "presentation": f"plain/{label}-{order}", "labels": label, "option_order": order,
                "without_middle": False, "persona": None, "validity": model.mass,
                "validity_at_most": np.nan,
            })  # fmt: skip
    names = [f"scale-{place}" for place in range(scales)]
    table = pd.DataFrame({
        "item": [f"item-{place:02d}" for place in range(items)], "text": "",
        "scale": [names[place // 2 % scales] for place in range(items)], "key": key,
        "options": [list("abcdefghijk"[:k])] * items,
    })  # fmt: skip
    n_options = np.full((len(units), items), k)
    return Ratings(
        "synthetic",
        crossed,
        [],
        table,
        pd.DataFrame(units),
        np.stack(answers),
        n_options,
        pd.DataFrame(),
        np.ones((len(units), *shape)),
    )


def _write_text(scale: str, item: int, wording: object) -> str:
    """Write a wording; where its name differs by item, no text looks like a template that all items share."""
    return f"{scale.capitalize()}, thing {item}, said in way {wording}."


def write_scale(
    path: Path, rows: pd.DataFrame, fields: Mapping[str, Mapping[str, Any]] | None = None, **options: Any
) -> Path:
    """Write a run of these rows: the fields of a condition are read from its name, `fields` adds to them.

    Needs the columns item, variant, options and probability (or count); scale and key become attributes where a row has
    them (no scale: None).
    """
    rows = rows.copy()
    rows["canonical"] = [[str(rank) for rank in range(1, len(labels) + 1)] for labels in rows["options"]]
    rows["attributes"] = [_build_attributes(row) for row in rows.to_dict("records")]
    if "probability" in rows:
        with np.errstate(divide="ignore"):
            rows["logprob"] = [None if p is None else list(np.log(p)) for p in rows["probability"]]
    conditions = {
        name: {**parse_condition(name), **(fields or {}).get(name, {})} for name in rows["condition"].dropna().unique()
    }
    most = max(map(len, rows["options"]))
    return write_run(
        path, rows, protocol="scale", canonical=[str(rank) for rank in range(1, most + 1)], conditions=conditions,
        **options,
    )  # fmt: skip


def _build_attributes(row: Mapping[str, Any]) -> list[tuple[str, str]] | None:
    """Name the scale and the key of an item, where it has them."""
    pairs = [(name, str(row[name])) for name in ("scale", "key", "question") if row.get(name) is not None]
    return pairs or None


def parse_condition(name: str) -> dict[str, Any]:
    """Read the fields of a condition from its name, as runs name it."""
    form, places, *others = name.split("/")
    labels, _, order = places.rpartition("-")
    fields: dict[str, Any] = {
        "form": form, "labels": labels, "option_order": order, "prompt": None, "prompt_hash": "h"
    }  # fmt: skip
    for part in others:
        if part == "no-middle":
            fields["without_middle"] = True
        elif part.startswith("persona-"):
            persona = part.removeprefix("persona-")
            fields |= {"persona": persona, "persona_text": f"You are {persona}."}
    return fields


def write_full(path: Path) -> Path:
    """Three models with response styles, asked in two orders by numbers and words, without the middle, as personas."""
    models = [
        Respondent("org/a", acquiescence=0.1, wording_sd=0.08), Respondent("org/b", extreme=0.3),
        Respondent("org/c", order=0.05),
    ]  # fmt: skip
    return write_scale(path, draw_answers(
        models, items=6, wordings=4, labels=("numbers", "words"), without_middle=(False, True), personas=("ann", "bob")
    ))  # fmt: skip


def write_bare(path: Path) -> Path:
    """One model, one item of no scale, one wording, asked in one way."""
    rows = draw_answers(["m"], scales=("care",), items=1, wordings=1, orders=("up",))
    return write_scale(path, rows.assign(scale=None, key=None))


def write_silent(path: Path) -> Path:
    """Two models that put a tenth of their probability on the options."""
    models = [Respondent(name, mass=0.1) for name in "ab"]
    return write_scale(path, draw_answers(models, items=4, wordings=3))
