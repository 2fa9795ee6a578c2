"""The data sets that ordered logits are held to, the same on every machine.

`python tests/reference/ordered_data.py FOLDER` writes them as CSV for tests/reference/ordered.R, whose answers are kept
in tests/reference/ordered.csv.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pandas as pd

FORMULA = "rank ~ x1 + kind + (1 | item)"


def datasets() -> dict[str, pd.DataFrame]:
    """All data sets by name: item, rank, weight and the predictors of the formula."""
    return {
        "five": draw_ranks(1, items=25, each=8, thresholds=[-1.5, -0.3, 0.6, 1.8]),
        "weighted": draw_ranks(2, items=25, each=8, thresholds=[-1.5, -0.3, 0.6, 1.8], weighted=True),
        "two": draw_ranks(3, items=30, each=10, thresholds=[0.2]),
        "eleven": draw_ranks(4, items=20, each=15, thresholds=list(np.linspace(-3, 3, 10))),
        "alike": draw_ranks(5, items=15, each=12, thresholds=[-1.0, 1.0], item_sd=0.3),
    }


def draw_ranks(
    seed: int, *, items: int, each: int, thresholds: list[float], weighted: bool = False, item_sd: float = 1.0
) -> pd.DataFrame:
    """Draw answers: rank 1 to K, one more than thresholds below a latent answer."""
    rng = np.random.RandomState(seed)
    n = items * each
    item = np.repeat(np.arange(items), each)
    x1, kind = rng.normal(size=n).round(4), rng.choice(["long", "short"], n)
    latent = 0.8 * x1 - 0.5 * (kind == "short") + item_sd * rng.normal(size=items)[item] + rng.logistic(size=n)
    weight = rng.uniform(0.1, 1, n).round(4) if weighted else np.ones(n)
    return pd.DataFrame({
        "item": [f"i{number:02d}" for number in item], "rank": 1 + np.searchsorted(thresholds, latent),
        "x1": x1, "kind": kind, "weight": weight,
    })  # fmt: skip


if __name__ == "__main__":
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for name, frame in datasets().items():
        frame.to_csv(folder / f"{name}.csv", index=False)
