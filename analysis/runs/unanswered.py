"""Count the prompts that have no response, by model and condition: they failed, or the run did not reach them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from analysis.runs.conditions import is_number_between_zero_and_one
from analysis.runs.database import list_asked_and_expected_units
from analysis.runs.folder import UNIT

if TYPE_CHECKING:
    import pandas as pd

    from analysis.runs import Runs


def count_unanswered_prompts(runs: Runs) -> pd.DataFrame:
    """Count prompts without a response.

    What was to be asked stands in run.json (`expected`). Where it does not, as in an imported run, it is every stimulus
    of the study; of a condition that asked a share of them, it is what came back.

    Returns
    -------
    DataFrame
        study, model, condition; asked: prompts that were to be asked; failed: of these, those that ended in an error;
        missing: those that have no row at all; reason: the error of the first that failed, or empty. One row per study,
        model and condition that lacks a response, also where nothing was asked yet, in the order of run.json.
    """
    frame = count_prompts_by_model_and_condition(runs)
    return frame[frame["failed"] + frame["missing"] > 0].reset_index(drop=True)


def list_unasked_models(runs: Runs) -> list[str]:
    """List the models that a call named and that have no row: they could not be loaded, or the run ended before them.

    What was to be asked stands in run.json (`expected`); a model that was never loaded has no conditions there.

    Returns
    -------
    list of str
        Their names, each once, in the order of run.json; with the study where they were asked in another.
    """
    asked = {(folder.study, model) for folder in runs.folders for model, _ in folder.units}
    asked_anywhere = {model for _, model in asked}
    names = [
        f"{model} in “{folder.study}”" if model in asked_anywhere else model
        for folder in runs.folders
        for model in folder.info.get("expected", {})
        if (folder.study, model) not in asked
    ]
    return list(dict.fromkeys(names))


def count_prompts_by_model_and_condition(runs: Runs) -> pd.DataFrame:
    """Count the prompts of every model and condition, as `count_unanswered_prompts` those that lack a response."""
    return runs.compute_once("unanswered", lambda: _count_asked_and_missing_prompts(runs))


def _count_asked_and_missing_prompts(runs: Runs) -> pd.DataFrame:
    """Count for every model and condition the prompts that were to be asked, that failed, and that are missing."""
    key = ", ".join(UNIT)
    units = list_asked_and_expected_units(runs)
    frame = runs.sql(
        f"""
        WITH asked AS (SELECT unnest(?) AS study, unnest(?) AS model, unnest(?) AS condition, unnest(?) AS position),
        answered AS (SELECT {key}, count(*) AS answered FROM responses GROUP BY ALL),
        failures AS (
            SELECT {key}, count(*) AS failed, arg_min(error, coalesce(position, 0)) AS reason
            FROM errors LEFT JOIN stimuli USING (study, item, variant) GROUP BY ALL),
        sizes AS (SELECT study, count(*) AS size FROM stimuli GROUP BY study)
        SELECT {key}, size, coalesce(answered, 0) + coalesce(failed, 0) AS came, coalesce(failed, 0) AS failed,
               coalesce(reason, '') AS reason
        FROM asked LEFT JOIN answered USING ({key}) LEFT JOIN failures USING ({key}) JOIN sizes USING (study)
        ORDER BY asked.position""",
        [*map(list, zip(*units, strict=True)), list(range(len(units)))],
    )
    asked_counts = [
        _count_expected_prompts(runs, *unit, n_stimuli=size) for unit, size in zip(units, frame["size"], strict=True)
    ]
    frame["asked"] = np.maximum(asked_counts, frame["came"])
    frame["missing"] = frame["asked"] - frame["came"]
    return frame[[*UNIT, "asked", "failed", "missing", "reason"]]


def _count_expected_prompts(runs: Runs, study: str, model: str, condition: str, *, n_stimuli: int) -> int:
    """Return how many prompts of a study one model was to be asked under one condition; 0 where nothing says it."""
    expected_numbers = [
        folder.info.get("expected", {}).get(model, {}).get(condition)
        for folder in runs.folders
        if folder.study == study
    ]
    numbers = [number for number in expected_numbers if isinstance(number, int)]
    if numbers:
        return max(numbers)
    share = runs.info["conditions"][study][condition].get("share")
    return 0 if is_number_between_zero_and_one(share) else n_stimuli
