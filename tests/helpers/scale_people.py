"""Makes people for runs of protocol `scale`: a row per respondent, as `--people` reads it."""

from __future__ import annotations

import numpy as np
import pandas as pd


def draw_people(rows: pd.DataFrame, n: int, seed: int = 0) -> pd.DataFrame:
    """People who answer as the first model and condition of some rows, over the wordings: a row per respondent."""
    rng = np.random.default_rng(seed)
    first = rows[(rows[["model", "condition"]] == rows[["model", "condition"]].iloc[0]).all(axis=1)]
    first = first[first["variant"] != "original"]
    shares = first.groupby("item", sort=False)["probability"].apply(lambda p: np.mean(list(p), axis=0))
    answers = {item: rng.choice(len(p), n, p=p / p.sum()) + 1 for item, p in shares.items()}
    return pd.DataFrame({"respondent": range(n), **answers})
