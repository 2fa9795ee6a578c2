"""Makes run folders of one study that was asked at several times, in fresh wordings each time or in the same ones."""

from __future__ import annotations

import zlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from helpers.synthetic import edit_run_json, write_run


def draw_look(
    models: Mapping[str, float], *, items: int = 40, wordings: int = 6, seed: int = 0, fresh: bool = True,
    shared: bool = False, mass: float = 1.0,
) -> pd.DataFrame:  # fmt: skip
    """Answers of some models to items at one time.

    Items keep their place on the scale of logits; `models` says by how much the answers of a model are moved. Wordings
    move single answers, by `seed`; they have texts of their own where they are fresh. Where they are shared, they are
    templates of all items.
    """
    places = np.random.default_rng(99).normal(0.5, 1.2, items)
    rows = []
    for number, (model, shift) in enumerate(models.items()):
        moves = np.random.default_rng((seed, number)).normal(0, 0.5, (items, wordings))
        for item in range(items):
            for wording in range(wordings):
                name = f"p{seed}-{wording}" if fresh else f"p{wording}"
                value = 1 / (1 + np.exp(-(places[item] + shift + moves[item, wording])))
                text = name_wording(item, name, shared)
                rows.append((model, f"i{item:02d}", name, text, value, "paraphrase"))
            rows.append((model, f"i{item:02d}", "original", f"Item {item}.", 0.5, "original"))
    columns = ["model", "item", "variant", "text", "agreement", "pattern"]
    return pd.DataFrame(rows, columns=columns).assign(mass=mass)


def name_wording(item: int, name: str, shared: bool = False) -> str:
    """The text of a wording: one that other items have, too, or one of its own."""
    return f"Item {item}, wording {name}." if shared else f"In {zlib.crc32(f'{item} {name}'.encode())} words: {item}."


def write_looks(path: Path, looks: Sequence[pd.DataFrame], **options: Any) -> Path:
    """Write a run folder for each look into a folder, a week apart."""
    for week, look in enumerate(looks, start=1):
        folder = write_run(path / f"week-{week:02d}", look, **options)
        started = f"2026-{1 + (week - 1) // 4:02d}-{1 + 7 * ((week - 1) % 4):02d}T08:00:00+00:00"
        session = {"command": ["synthetic", str(week)], "started": started, "finished": started, "versions": {}}
        edit_run_json(folder, sessions=[session])
    return path


def write_changed_model(path: Path, n_looks: int = 6, **options: Any) -> Path:
    """One model that stays as it is, and one that agrees less from the fifth look on."""
    looks = [draw_look({"org/steady": 0.0, "org/moving": -0.8 * (n >= 4)}, seed=n, **options) for n in range(n_looks)]
    return write_looks(path, looks)


def write_bare(path: Path) -> Path:
    """One model, one item, one wording, twice."""
    return write_looks(path, [draw_look({"m": 0.0}, items=1, wordings=1, seed=seed) for seed in range(2)])


def write_silent(path: Path) -> Path:
    """Two models that put a tenth of their probability on the answers, twice."""
    return write_looks(path, [draw_look({"a": 0.0, "b": 1.0}, items=12, seed=n, mass=0.1) for n in range(2)])
