"""Runs whose wordings have attributes that answers depend on: columns of the items that only their author knows."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd

from helpers.synthetic import write_run
from helpers.text_feature_runs import answers, wordings


def add_attributes(texts: pd.DataFrame, seed: int = 1) -> pd.DataFrame:
    """Add hedged (yes, no), tone (three levels), grade (numbers, of which every fifth is missing), note (free text)."""
    rng = np.random.default_rng(seed)
    hedged = rng.choice(["no", "yes"], len(texts))
    tone = rng.choice(["plain", "rude", "<b>formal $x$</b>"], len(texts))
    attributes = [
        [
            ("hedged", hedged[at]),
            ("tone", tone[at]),
            ("note", f"text {at}"),
            ("odd name", "3"),
            ("empty", " "),
            ("same", "7"),
        ]
        + [("grade", str(at % 7 / 2))] * (at % 5 != 0)
        for at in range(len(texts))
    ]
    return texts.assign(attributes=attributes)


def make_attribute_run(path: Path, **sizes: int) -> Path:
    """A run folder where hedged wordings get 0.3 more agreement."""
    texts = add_attributes(wordings(**sizes))
    frame = answers(texts)
    is_hedged = np.array([dict(pairs)["hedged"] == "yes" for pairs in frame["attributes"]])
    return write_run(path, frame.assign(agreement=(0.6 * frame["agreement"] + 0.3 * is_hedged).clip(0.01, 0.99)))
