"""The data sets that the mixed-model engines are held to, the same on every machine.

`python tests/reference/mixed_data.py FOLDER` writes them as CSV for tests/reference/mixed.R, whose answers are kept in
tests/reference/mixed.csv. RandomState's stream is frozen by NumPy's policy; values are rounded so that R reads what
Python wrote.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pandas as pd

# name -> formula; each row of the name's data set is one response
FORMULAS = {
    "balanced": "y ~ x1 + x2 + (1 | item)",
    "unbalanced": "y ~ x1 + x2 + between + (1 | item)",
    "tiny": "y ~ x1 + (1 | item)",
    "boundary": "y ~ x1 + x2 + (1 | item)",
    "nearly_boundary": "y ~ x1 + x2 + (1 | item)",
    "huge": "y ~ x1 + x2 + (1 | item)",
    "collinear": "y ~ x1 + x2 + total + x3 + (1 | item)",
    "nearly_collinear": "y ~ left + right + x1 + (1 | item)",
    "constant": "y ~ x1 + same + x2 + (1 | item)",
    "offset": "y ~ year + x1 + (1 | item)",
    "text": "y ~ x1 * kind + (1 | item)",
    "no_intercept": "y ~ 0 + x1 + x2 + x1:x2 + (1 | item)",
    "large": "y ~ x1 + x2 + x3 + x4 + x5 + x6 + x7 + x8 + (1 | item)",
}
CROSSED = "y ~ x1 + (1 | item) + (1 | reader)"  # what only R fits, asked of `crossed`
SLOPES = "y ~ x1 + (1 + x1 | item)"


def datasets() -> dict[str, pd.DataFrame]:
    """All data sets by name: item, y and the predictors of the formula."""
    made = {
        "balanced": responses(1, np.full(10, 12)),
        "unbalanced": responses(2, np.array([1, 2, 3, 5, 8, 13, 21, 34, 4, 2, 1, 7, 40, 3])),
        "tiny": responses(3, np.array([4, 3, 5])),
        "boundary": responses(4, np.full(8, 9), item_sd=0.0),
        "nearly_boundary": responses(5, np.full(40, 30), item_sd=0.03),
        "huge": responses(6, np.full(20, 15), item_sd=100.0),
        "collinear": responses(7, np.full(12, 10)),
        "nearly_collinear": responses(8, np.full(30, 40)),
        "constant": responses(9, np.full(12, 10)).assign(same=2.5),
        "offset": responses(10, np.full(15, 20)),
        "text": responses(11, np.full(15, 20)),
        "no_intercept": responses(12, np.full(15, 20)),
        "large": responses(13, np.full(62, 500), predictors=8),
        "crossed": responses(14, np.full(20, 30)),
    }
    rng = np.random.RandomState(15)
    # no spread of item means beyond sampling: the estimate of the item variance is on its boundary
    boundary = made["boundary"]
    boundary["y"] -= 0.8 * (boundary.groupby("item")["y"].transform("mean") - boundary["y"].mean())
    made["collinear"] = made["collinear"].round(6).assign(total=lambda frame: frame["x1"] + frame["x2"])
    near, words = made["nearly_collinear"], rng.randint(4, 25, 1200)
    near["left"] = rng.uniform(0.2, 0.7, len(near))
    near["right"] = 1 - 1 / words - near["left"]
    made["offset"]["year"] = 2000 + rng.randint(-50, 50, 300)
    made["text"]["kind"] = np.array(["plain", "negated", "strong"])[rng.randint(0, 3, 300)]
    crossed = made["crossed"]
    reader = rng.randint(0, 12, len(crossed))
    crossed["reader"] = np.char.add("r", reader.astype(str))
    crossed["y"] += (
        rng.standard_normal(12)[reader] + rng.standard_normal(20)[np.repeat(np.arange(20), 30)] * crossed["x1"]
    )
    return {name: frame.round(6) for name, frame in made.items()}


def responses(seed: int, sizes: np.ndarray, *, item_sd: float = 0.5, predictors: int = 3) -> pd.DataFrame:
    """`sizes[j]` responses to item j: two real effects, one predictor that differs only between items."""
    rng = np.random.RandomState(seed)
    item = np.repeat(np.arange(len(sizes)), sizes)
    x = rng.standard_normal((len(item), predictors))
    between = rng.standard_normal(len(sizes))[item]
    y = 0.5 + 0.2 * x[:, 0] - 0.1 * x[:, 1] + 0.1 * between
    y += item_sd * rng.standard_normal(len(sizes))[item] + rng.standard_normal(len(item))
    frame = pd.DataFrame(x, columns=[f"x{j + 1}" for j in range(predictors)])
    return frame.assign(between=between, y=y, item=[f"i{j:02d}" for j in item])


if __name__ == "__main__":
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for name, frame in datasets().items():
        frame.to_csv(folder / f"{name}.csv", index=False)
    named = {**FORMULAS, "crossed": CROSSED, "slopes": SLOPES}
    pd.Series(named, name="formula").rename_axis("dataset").to_csv(folder / "formulas.csv")
