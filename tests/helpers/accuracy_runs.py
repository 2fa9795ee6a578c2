"""Run folders of accuracies without answers, for the tests of analysis."""

from __future__ import annotations

import contextlib
import io
from pathlib import Path

import numpy as np
import pandas as pd

from inference.__main__ import main


def random_accuracies(models: int = 6, seed: int = 0) -> pd.DataFrame:
    """Two tasks with 4 and 3 templates of 80 items, under two conditions."""
    rng = np.random.default_rng(seed)
    ability = rng.normal(0.5, 0.12, models)
    return pd.DataFrame([
        {"model": f"m{i}", "task": task, "shots": shots, "template": f"p{j}",
         "accuracy": rng.binomial(80, np.clip(ability[i] + rng.normal(0, 0.05), 0.02, 0.98)) / 80, "n": 80}
        for task, number in (("reading", 4), ("quiz", 3)) for shots in (0, 5) for i in range(models)
        for j in range(number)
    ])  # fmt: skip


def write_accuracies(path: Path, frame: pd.DataFrame) -> Path:
    """Import accuracies into a run folder; the column `shots`, where there is one, is the condition."""
    path.parent.mkdir(parents=True, exist_ok=True)
    table = path.with_name(f"{path.name}.csv")
    frame.to_csv(table, index=False)
    conditions = ["--condition-column", "shots"] if "shots" in frame else []
    with contextlib.redirect_stdout(io.StringIO()):
        assert main(["import", "accuracies", str(table), "--out", str(path), *conditions]) == 0
    return path
