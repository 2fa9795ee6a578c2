"""Read a model's answers to the same prompts in every way, as one number per wording and reading.

The number is the probability or share of the first answer where a study has two, that of the right answer where it has
more, and the place on the scale, from 0 to 1, of a score. Of samples it is the share of those that have an answer.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from analysis.measures import agreement
from analysis.measures.readings.kinds import ReadingKind, list_readings_by_setting
from analysis.measures.readings.rows import (
    ACCURACY,
    AGREEMENT,
    SCORE,
    arrange_sample_numerators_and_denominators,
    average_upper_bound_of_validity,
    compute_exact_values_and_masses,
    place_samples_by_wording,
    read_response_rows_of_condition,
)
from analysis.measures.thresholds import is_validity_below_half
from analysis.runs import Runs
from analysis.runs.folder import ORIGINAL
from analysis.statistics.readings.moments import (
    average_samples_and_compute_influences,
    compute_noise_covariance,
    mark_wordings_common_to_readings,
)
from analysis.statistics.resampling import Array

OF_PROMPT = frozenset({"prompt", "prompt_hash"})


@dataclass(frozen=True, slots=True)
class ReadingGroup:
    """Hold R readings of a model's answers under one setting. Wordings are numbered within their item.

    Attributes
    ----------
    study, model, setting, measure
        What it is about; the measure is `AGREEMENT` (share of the first answer), `ACCURACY` (of the right answer) or
        `SCORE` (place on the scale).
    kinds
        The readings.
    items, wordings
        Ids of the items; a DataFrame item_code, wording_code, item, variant, text, options, canonical and place (of the
        answer among the options) of the wordings.
    values, validity
        (R, items, wordings): the number, NaN where there is none; and the share of the answers, or of their
        probability, that is valid, NaN where nothing was asked.
    noise
        (R, R, items, wordings), as in `moments.compute_moment_sums_by_item`.
    right
        (items, wordings): 1 where the first answer is right, 0 where it is not, NaN where it is unknown.
    samples
        Reading -> numerators and denominators (items, wordings, samples) of its samples
        (`average_samples_and_compute_influences`).
    validity_at_most
        (R,) The upper bound of the mean validity; NaN where this is exact.
    thoughts, unclosed
        Of every reading: thoughts, and those that did not end by themselves; 0 where nothing was thought.
    """

    study: str
    model: str
    setting: str
    measure: str
    kinds: list[ReadingKind]
    items: list[str]
    wordings: pd.DataFrame
    values: Array
    validity: Array
    noise: Array
    right: Array
    samples: dict[int, tuple[Array, Array]]
    validity_at_most: Array
    thoughts: Array
    unclosed: Array

    def list_mostly_valid_readings(self) -> list[int]:
        """List the readings that are compared: at least half of their probability or texts is surely an answer."""
        validity = self.average_validity_per_reading()
        return [int(place) for place in np.flatnonzero(~np.isnan(validity) & ~is_validity_below_half(validity))]

    def average_validity_per_reading(self) -> Array:
        """Return the mean validity of every reading over the wordings that were asked; NaN where none was."""
        is_asked = ~np.isnan(self.validity)
        n = is_asked.sum(axis=(1, 2))
        total = np.where(is_asked, self.validity, 0.0).sum(axis=(1, 2))
        return np.asarray(np.divide(total, n, out=np.full(len(n), np.nan), where=n > 0))

    def count_common_and_partial_wordings(self, places: Sequence[int]) -> tuple[int, int]:
        """Count the wordings that some readings all have a number for, and those that only some have."""
        values = self.values[list(places)]
        is_common, is_any = mark_wordings_common_to_readings(values), (~np.isnan(values)).any(axis=0)
        return int(is_common.sum()), int((is_any & ~is_common).sum())

    def compute_right_probabilities_of_reading(self, place: int) -> Array:
        """Return the probability or share of the right answer by item and wording; NaN where it is unknown."""
        values = self.values[place]
        if self.measure == ACCURACY:
            return values
        return np.asarray(np.where(self.right == 1, values, 1 - values) + np.where(np.isnan(self.right), np.nan, 0.0))


def read_reading_groups(runs: Runs) -> list[ReadingGroup]:
    """Read all groups of a model's answers that are read in two ways or more, once per `Runs`.

    Parameters
    ----------
    runs
        From `analysis.runs.open_runs`.

    Returns
    -------
    list of ReadingGroup
        In the order of run.json: by study, setting and model.
    """
    return runs.compute_once("groups of readings", lambda: list(_iterate_all_reading_groups(runs)))


def has_answers_read_in_two_ways(runs: Runs) -> bool:
    """Tell whether a model's answers under some setting are read in two ways, to two wordings of an item or more."""
    return any(
        len({kind.prompt for kind in kinds}) > 1
        or (_read_stimuli_with_item_and_wording_codes(runs, study)["wording_code"] > 0).any()
        for study, _, _, kinds in _list_groups_with_several_readings(runs)
    )


def _list_groups_with_several_readings(runs: Runs) -> Iterator[tuple[str, str, str, list[ReadingKind]]]:
    """Yield study, setting, model and readings, two or more of which have a row."""
    rows = runs.sql(
        "SELECT study, model, condition, count(sample_answer_otherwise) > 0 AS otherwise, "
        "count(sample_probability) > 0 AS sampled, count(probability) + count(score) > 0 AS exact, "
        'count(sample_answer) + count("count") + count(answer) + count(score) > 0 AS text '
        "FROM responses GROUP BY ALL"
    )
    columns = {"sample_answer_otherwise": "otherwise", "sample_probability": "sampled", "probability": "exact",
               "sample_answer": "text"}  # fmt: skip
    has = {(row["study"], row["model"], row["condition"]): row for row in rows.to_dict("records")}
    for study in runs.info["studies"]:
        conditions = runs.info["conditions"][study]
        is_scored = any(isinstance(fields.get("range"), list) for fields in conditions.values())
        for setting, kinds in list_readings_by_setting(conditions, OF_PROMPT if is_scored else frozenset()).items():
            for model in runs.info["models"]:
                there = [
                    kind
                    for kind in kinds
                    if (row := has.get((study, model, kind.condition))) and row[columns[kind.column]]
                ]
                if len({kind.name for kind in there}) > 1:
                    yield study, setting, model, there


def _iterate_all_reading_groups(runs: Runs) -> Iterator[ReadingGroup]:
    """Yield the groups of all studies."""
    wordings_by_study: dict[str, pd.DataFrame] = {}
    for study, setting, model, kinds in _list_groups_with_several_readings(runs):
        if study not in wordings_by_study:
            wordings_by_study[study] = _read_stimuli_with_item_and_wording_codes(runs, study)
        if not wordings_by_study[study].empty:
            yield _read_reading_group_of_model(runs, study, setting, model, kinds, wordings_by_study[study])


def _read_stimuli_with_item_and_wording_codes(runs: Runs, study: str) -> pd.DataFrame:
    """Number the items of a study and the wordings of every item; the original is left out, as on other pages."""
    info = runs.info["studies"][study]
    is_scored = any(isinstance(fields.get("range"), list) for fields in runs.info["conditions"][study].values())
    left_out = ORIGINAL if info["protocol"] == agreement.PROTOCOL else ""
    frame = runs.sql(
        "SELECT item, variant, text, options, canonical, gold FROM stimuli WHERE study = ? AND pattern <> ? "
        "ORDER BY position",
        [study, left_out],
    )
    labels = [str(label) for label in info["canonical"]]
    measure = SCORE if is_scored else AGREEMENT if len(labels) == 2 else ACCURACY
    if measure == ACCURACY:
        frame = frame[frame["gold"].notna()].reset_index(drop=True)
    target = frame["gold"] if measure == ACCURACY else pd.Series(labels[:1] * len(frame), frame.index, dtype=object)
    right = frame["gold"].eq(labels[0]).where(frame["gold"].notna()) if measure == AGREEMENT else np.nan
    places = [
        list(canonical if canonical is not None else []).index(label) if canonical is not None and label in canonical
        else -1
        for canonical, label in zip(frame["canonical"], target, strict=True)
    ] if measure != SCORE else -1  # fmt: skip
    return frame.assign(
        measure=measure, place=places, right=np.asarray(right, float) if measure == AGREEMENT else np.nan,
        item_code=pd.factorize(frame["item"])[0], wording_code=frame.groupby("item", sort=False).cumcount(),
    )  # fmt: skip


def _read_reading_group_of_model(
    runs: Runs, study: str, setting: str, model: str, kinds: list[ReadingKind], stimuli: pd.DataFrame
) -> ReadingGroup:
    """Read all readings of one model under one setting."""
    conditions = runs.info["conditions"][study]
    measure = str(stimuli["measure"].iloc[0])
    # Prompts that ask for a score are wordings, each a condition of its own: readings of one name are of several.
    prompts = list(dict.fromkeys(kind.prompt for kind in kinds))
    shape = int(stimuli["item_code"].max()) + 1, (int(stimuli["wording_code"].max()) + 1) * len(prompts)
    names = list(dict.fromkeys(kind.name for kind in kinds))
    parts: dict[str, dict[str, Any]] = {name: {} for name in names}
    for kind in kinds:
        offset = prompts.index(kind.prompt)
        rows = read_response_rows_of_condition(runs, study, model, kind, stimuli)
        rows["cell"] = rows["item_code"] * shape[1] + rows["wording_code"] * len(prompts) + offset
        parts[kind.name].setdefault("rows", []).append(rows)
        parts[kind.name].setdefault("kind", kind)
        parts[kind.name]["scale"] = conditions[kind.condition].get("range")
    size = shape[0] * shape[1]
    values, validity = np.full((2, len(names), size), np.nan)
    noise = np.zeros((len(names), len(names), size))
    samples, influences = {}, {}
    thoughts, unclosed = np.zeros((2, len(names)))
    validity_at_most = np.full(len(names), np.nan)
    for place, name in enumerate(names):
        kind, rows = parts[name]["kind"], pd.concat(parts[name]["rows"], ignore_index=True)
        cells = rows["cell"].to_numpy(int)
        unclosed[place] = rows["unclosed"].fillna(0).sum()
        if kind.is_sampled:
            upper, lower = arrange_sample_numerators_and_denominators(rows, kind, measure, parts[name]["scale"])
            samples[place] = tuple(place_samples_by_wording(part, cells, size) for part in (upper, lower))
            values[place], influences[place] = average_samples_and_compute_influences(*samples[place])
            validity[place, cells] = np.nan_to_num(lower).sum(axis=1) / np.maximum((~np.isnan(lower)).sum(axis=1), 1)
            if kind.column == "sample_probability" and not kind.judge:
                thoughts[place] = (~np.isnan(lower)).sum()
        else:
            values[place, cells], validity[place, cells] = compute_exact_values_and_masses(
                rows, measure, parts[name]["scale"]
            )
            validity_at_most[place] = average_upper_bound_of_validity(rows, validity[place, cells])
    for a, influence_a in influences.items():
        for b, influence_b in influences.items():
            first, second = parts[names[a]]["kind"], parts[names[b]]["kind"]
            if first.source == second.source and first.temperature != 0:
                n = min(influence_a.shape[1], influence_b.shape[1])
                pair = (part[:, :n].reshape(*shape, n) for part in (influence_a, influence_b))
                noise[a, b] = compute_noise_covariance(*pair).ravel()
    right = np.full(size, np.nan)
    for offset in range(len(prompts)):
        right[stimuli["item_code"] * shape[1] + stimuli["wording_code"] * len(prompts) + offset] = stimuli["right"]
    laid_out = stimuli.loc[
        stimuli.index.repeat(len(prompts)), ["item_code", "item", "variant", "text", "options", "canonical", "place"]
    ]
    laid_out["wording_code"] = (
        np.repeat(stimuli["wording_code"].to_numpy() * len(prompts), len(prompts))
        + np.tile(np.arange(len(prompts)), len(stimuli))
    )  # fmt: skip
    return ReadingGroup(
        study, model, setting, measure, [parts[name]["kind"] for name in names],
        list(dict.fromkeys(stimuli["item"])), laid_out.reset_index(drop=True),
        values.reshape(-1, *shape), validity.reshape(-1, *shape), noise.reshape(len(names), len(names), *shape),
        right.reshape(shape),
        {place: (pair[0].reshape(*shape, -1), pair[1].reshape(*shape, -1)) for place, pair in samples.items()},
        validity_at_most, thoughts, unclosed,
    )  # fmt: skip
