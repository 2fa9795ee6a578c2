"""Make the tables of what run.json records, beside what was printed: how the questions were chosen, how models learned.

`tabulate_choice_beside_printed` puts the figures of these runs beside those of the paper.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from analysis.measures.choices import require_choice_study_names
from analysis.pages.choice import printed, tables
from analysis.reporting.catalogue.published_numbers import OURS
from analysis.runs import Runs

BUILDING_COLUMNS = ["step", "of", "count", "reason"]
HISTORY_COLUMNS = ["step", "epoch", "loss", "validation_loss"]


def tabulate_question_building_steps(runs: Runs) -> pd.DataFrame:
    """List the numbers of questions after every step of building a study, beside Choi's Tables 2 and 4.

    A study whose questions were not built by `waver choice build` has no rows.
    """
    parts = []
    for study in require_choice_study_names(runs):
        steps = pd.DataFrame(runs.info["studies"][study].get("building") or [])
        if len(steps):
            steps = steps.rename(columns={"source": "of"}).reindex(columns=BUILDING_COLUMNS)
            parts.append(steps.assign(study=study, source=OURS))
    return pd.concat([*parts, printed.read_printed_choice_building()], ignore_index=True).reindex(
        columns=["source", "study", *BUILDING_COLUMNS]
    )


def tabulate_training_history(runs: Runs) -> pd.DataFrame:
    """List the losses of every adapter during its training; of one that does not record them, there is no row."""
    parts = []
    for model, fields in runs.info["models"].items():
        adapter = fields.get("adapter") or {}
        steps = pd.DataFrame(adapter.get("history") or [])
        if len(steps):
            numbers = steps.reindex(columns=HISTORY_COLUMNS).astype(float)
            parts.append(numbers.assign(model=model, base_model=adapter["base"]))
    names = ["model", "base_model", *HISTORY_COLUMNS]
    return pd.concat(parts, ignore_index=True)[names] if parts else pd.DataFrame(columns=names)


def tabulate_choice_beside_printed(runs: Runs) -> pd.DataFrame:
    """Put accuracy and XParaCon of these runs beside Choi's Tables 3 and 5: other models and questions, as context."""
    ours = tables.tabulate_choice_accuracy(runs, resamples=0).assign(source=OURS)
    adapters = {model for model, fields in runs.info["models"].items() if fields.get("adapter")}
    ours["tuned"] = np.where(ours["model"].isin(adapters), "yes", "no")
    names = ["source", "study", "model", "condition", "tuned", "subset", "n_questions", "accuracy", "xparacon"]
    return pd.concat([ours[names], printed.read_printed_accuracy_and_xparacon()], ignore_index=True)
