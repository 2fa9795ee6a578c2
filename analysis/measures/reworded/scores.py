"""Read scores of texts as shares of their scale, in the wordings of the prompt that asks for them.

Conditions that differ in nothing but the prompt ask for the same score in other words, of all items alike. Such prompts
are wordings that all items share, and their conditions are read as one. Range, temperature, form and method change more
than words: these stay conditions. A score on 1-5 is (score - 1) / 4, so that scores on two scales compare.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import pandas as pd

from analysis.measures import scores
from analysis.measures.readings.groups import OF_PROMPT
from analysis.measures.reworded.study import SCORE, Study, average_answers_into_array, has_item_in_several_wordings
from analysis.measures.thoughts import list_thought_conditions
from analysis.runs import Runs

SHIPPED_PROMPT = "Waver's prompt"


def read_score_studies(runs: Runs, study_names: list[str]) -> Iterator[Study]:
    """Read the scores of studies of the protocol `scoring`; what cannot be read is refused by `measures.scores`.

    Parameters
    ----------
    runs
        From `analysis.runs.open_runs`.
    study_names
        Names of the studies.

    Yields
    ------
    Every study, with settings as its conditions and prompts as its wordings.
    """
    rows = scores.read_scores(runs).merge(
        scores.read_sample_counts_and_variances(runs), how="left", on=[*scores.UNIT, "item"]
    )
    for name in study_names:
        study_rows = rows[rows["study"] == name]
        if study_rows.empty:
            continue
        settings, prompts = name_setting_and_prompt_per_condition(runs.info["conditions"][name])
        wordings = list(dict.fromkeys(prompts[condition] for condition in study_rows["condition"].unique()))
        units = list(dict.fromkeys(zip(study_rows["model"], study_rows["condition"].map(settings), strict=True)))
        item_codes, items = pd.factorize(study_rows["item"])
        width = study_rows["high"] - study_rows["low"]
        answer_rows = pd.DataFrame({
            "unit": list(map({unit: place for place, unit in enumerate(units)}.__getitem__,
                             zip(study_rows["model"], study_rows["condition"].map(settings), strict=True))),
            "item": item_codes,
            "wording": study_rows["condition"].map(prompts).map(wordings.index),
            "validity": study_rows["validity"].to_numpy(float),
            "validity_at_most": study_rows["validity_at_most"].to_numpy(float),
            "score": (study_rows["score"] - study_rows["low"]) / width,
            "samples": study_rows["drawn"].where(study_rows["score"].notna()),
            "spread": study_rows["spread"] / width**2,
            "counting": study_rows["counting"] / width**2,
        })  # fmt: skip
        shape = len(units), int(answer_rows["item"].max()) + 1, len(wordings)
        bounds = answer_rows.groupby("unit")[["validity", "validity_at_most"]].mean().reindex(range(len(units)))
        validity, validity_at_most = bounds.to_numpy(float).T
        is_bounded = validity_at_most > validity
        validities = average_answers_into_array(answer_rows, "validity", shape)
        validities[is_bounded] = np.nan  # those known exactly are the sure ones: alone they would say too much
        arrays = {
            column: average_answers_into_array(answer_rows, column, shape) if answer_rows[known].notna().any() else None
            for column, known in (("samples", "spread"), ("spread", "spread"), ("counting", "counting"))
        }
        thinking = list_thought_conditions(runs.info["conditions"][name])
        yield Study(
            name, SCORE, True, True, units, validity, average_answers_into_array(answer_rows, "score", shape), wordings,
            arrays["samples"], arrays["spread"], counting=arrays["counting"],
            thought_conditions=frozenset(settings[condition] for condition in thinking),
            items=tuple(items), validities=validities,
            validity_at_most=np.where(is_bounded, validity_at_most, np.nan),
        )  # fmt: skip


def has_rewordings(runs: Runs, study_names: list[str]) -> bool:
    """Tell whether these studies can be compared over prompts, samples of a score, or wordings.

    Parameters
    ----------
    runs
        From `analysis.runs.open_runs`.
    study_names
        Names of the studies.

    Returns
    -------
    Whether one of them has several prompts, several samples of a score, or two wordings of an item beside the original.
    """
    for name in study_names:
        conditions = runs.info["conditions"][name].values()
        if len({fields.get("prompt") for fields in conditions}) > 1 or any(
            map(_was_asked_for_several_samples, conditions)
        ):
            return True
    return has_item_in_several_wordings(runs, study_names)


def _was_asked_for_several_samples(condition_fields: Mapping[str, Any]) -> bool:
    """Tell whether a condition asked for more than one sample of a score, or for more than one thought."""
    numbers = condition_fields.get("samples"), condition_fields.get("thoughts")
    return any(isinstance(number, int) and number > 1 for number in numbers)


def name_setting_and_prompt_per_condition(
    conditions: Mapping[str, Mapping[str, Any]],
) -> tuple[dict[str, str], dict[str, str]]:
    """Name the setting and the prompt of every condition: `mine/plain/0-9/t0.7` is `plain/0-9/t0.7` in `mine`.

    Conditions of the same setting and prompt, as of other programs, stay apart. Where each setting has one prompt, it
    is one wording.
    """
    names_by_fields: dict[frozenset[tuple[str, str]], list[str]] = {}
    for name, fields in conditions.items():
        key = frozenset((field, repr(value)) for field, value in fields.items() if field not in OF_PROMPT)
        names_by_fields.setdefault(key, []).append(name)
    prompts = {name: str(fields.get("prompt") or SHIPPED_PROMPT) for name, fields in conditions.items()}
    settings = {name: name for name in conditions}
    for names in names_by_fields.values():
        if len({prompts[name] for name in names}) == len(names) > 1:
            settings |= dict.fromkeys(names, names[0].removeprefix(f"{prompts[names[0]]}/"))
    several = len(set(settings.values())) < len(settings)
    return settings, prompts if several else dict.fromkeys(conditions, SHIPPED_PROMPT)
