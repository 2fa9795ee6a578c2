"""Make the tables of what run.json records, beside what was printed: how the questions were chosen, how models learned.

`beside_printed` puts the figures of these runs beside those of the paper.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from analysis.pages.choice import printed, tables
from analysis.reporting.printed import OURS
from analysis.runs.choices import named

if TYPE_CHECKING:
    from analysis.runs import Runs

MADE = ["step", "of", "count", "reason"]
LEARNED = ["step", "epoch", "loss", "validation_loss"]


def building(runs: Runs) -> pd.DataFrame:
    """List the numbers of questions after every step of building a study, beside Choi's Tables 2 and 4.

    A study whose questions were not built by `waver choice build` has no rows.
    """
    parts = []
    for study in named(runs):
        steps = pd.DataFrame(runs.info["studies"][study].get("building") or [])
        if len(steps):
            steps = steps.rename(columns={"source": "of"}).reindex(columns=MADE)
            parts.append(steps.assign(study=study, source=OURS))
    return pd.concat([*parts, printed.building()], ignore_index=True).reindex(columns=["source", "study", *MADE])


def history(runs: Runs) -> pd.DataFrame:
    """List the losses of every adapter during its training; of one that does not record them, there is no row."""
    parts = []
    for model, fields in runs.info["models"].items():
        adapter = fields.get("adapter") or {}
        steps = pd.DataFrame(adapter.get("history") or [])
        if len(steps):
            numbers = steps.reindex(columns=LEARNED).astype(float)
            parts.append(numbers.assign(model=model, base_model=adapter["base"]))
    names = ["model", "base_model", *LEARNED]
    return pd.concat(parts, ignore_index=True)[names] if parts else pd.DataFrame(columns=names)


def beside_printed(runs: Runs) -> pd.DataFrame:
    """Put accuracy and XParaCon of these runs beside Choi's Tables 3 and 5: other models and questions, as context."""
    ours = tables.choice(runs, resamples=0).assign(source=OURS)
    adapters = {model for model, fields in runs.info["models"].items() if fields.get("adapter")}
    ours["tuned"] = np.where(ours["model"].isin(adapters), "yes", "no")
    names = ["source", "study", "model", "condition", "tuned", "subset", "n_questions", "accuracy", "xparacon"]
    return pd.concat([ours[names], printed.performance()], ignore_index=True)
