"""Makes scoring runs in which several prompts, alike in all else, ask for the same scores."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from helpers.scoring_runs import condition, name_of, stimuli, write_scores


def prompted(
    path: Path, models: Sequence[str] = ("a", "b", "c"), prompts: Sequence[str | None] = (None, "mine", "yours"), *,
    items: int = 20, samples: int = 4, span: tuple[int, int] = (0, 10), seed: int = 0,
) -> tuple[Path, np.ndarray]:  # fmt: skip
    """Write a run; return its folder and the numbers that were sampled: (models, items, prompts, samples).

    A model is above the one before, and what a prompt does to a model it does to all items.
    """
    rng = np.random.default_rng(seed)
    low, high = span
    true = rng.uniform(0.2, 0.6, (1, items, 1, 1)) + 0.08 * np.arange(len(models))[:, None, None, None]
    true = true + rng.normal(0, 0.05, (len(models), 1, len(prompts), 1))
    drawn = true + rng.normal(0, 0.15, (len(models), items, len(prompts), samples))
    numbers = np.clip(np.rint(low + drawn * (high - low)), low, high)
    asked, parts, conditions = stimuli({"g": np.full(items, 50.0)}), [], {}
    for place, prompt in enumerate(prompts):
        name = "/".join(filter(None, (prompt, name_of(span, 0.7, "sampled"))))
        conditions[name] = condition(span, 0.7, "sampled", samples) | {"prompt": prompt, "prompt_hash": f"h{place}"}
        for number, model in enumerate(models):
            own = numbers[number, :, place]
            texts = [[f"{value:g}" for value in row] for row in own]
            parts.append(asked.assign(model=model, condition=name, score=own.mean(axis=1), output=texts, invalid=0,
                                      clipped=0))  # fmt: skip
    return write_scores(path, pd.concat(parts, ignore_index=True), conditions, study="judged"), numbers
