"""Read the answers of every model at every time, on the items that all its times share."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import pandas as pd

from analysis.compare.pairs import VALIDITY, read_validities_of_unit, remove_arithmetic_differences
from analysis.compare.settings import map_differing_settings_to_values
from analysis.measures.reworded import ACCURACY, AGREEMENT, LOGIT, Study
from analysis.measures.reworded.flips import FLIPS, mark_flipped_items_of_unit
from analysis.pages.drift.wordings import KEPT, SAME, classify_sharing_of_asked_wordings, list_hashes_of_asked_wordings
from analysis.reporting.catalogue.rewordings import read_reworded_studies
from analysis.runs.database import Runs, connect_duckdb, list_asked_units
from analysis.runs.folder import ORIGINAL, Folder
from analysis.runs.over_time import read_start_time_of_run
from analysis.statistics.resampling import Array
from analysis.statistics.significance import ROUNDING
from ground.errors import InputError

MORE_WORDINGS = 1.1  # times as many wordings at one look as at another, from which on flips are not compared


@dataclass(frozen=True, slots=True)
class Look:
    """Hold one time: its folder, opened with the common items only, its label, the share of valid answers, the upper
    bound of it (NaN where it is exact), and which settings differ from those of the look before."""

    runs: Runs
    label: str
    validity: float
    validity_at_most: float
    changed_settings: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Series:
    """Hold the answers of one model and condition by one measure, at all its times.

    Attributes
    ----------
    study, model, condition
        Whose answers they are.
    looks
        The times, the first one first.
    answers
        Of every look: (items, wordings), the items in the same rows; NaN where there is no valid answer;
        of validity, how far each is valid.
    study_read
        The answers of the last look as they were read: range, direction, whether sentences are about the measure.
    measure
        Its name; that of `study_read`, or flips.
    items, n_left_out
        Ids of the items, and how many items of the last look are left out, because another look has none like them.
    crossed
        Whether all items share the wordings of a look.
    wordings
        `SAME`, `FRESH` or `MIXED`.
    """

    study: str
    model: str
    condition: str
    looks: tuple[Look, ...]
    answers: tuple[Array, ...]
    study_read: Study
    measure: str
    items: tuple[str, ...]
    n_left_out: int
    crossed: bool
    wordings: str

    @property
    def has_shared_fresh_wordings(self) -> bool:
        """Return whether all items share the wordings of a look, and other looks have others."""
        return self.crossed and self.wordings != SAME


@dataclass(frozen=True)
class LookFolder(Folder):
    """Describe a run folder in which only the kept items were asked."""

    @cached_property
    def stimuli_sql(self) -> str:
        """Return the SQL that reads the kept stimuli."""
        return f"SELECT * FROM {KEPT}"

    @cached_property
    def responses_sql(self) -> str:
        """Return the SQL that reads the rows of the kept stimuli."""
        return f"SELECT * FROM ({super().responses_sql}) SEMI JOIN {KEPT} USING (item, variant)"


def has_model_asked_twice(runs: Runs) -> bool:
    """Tell whether a model and condition was asked at two times."""
    return bool(_group_units_by_folders(runs))


def read_measure_series_of_reasked_units(runs: Runs) -> list[Series]:
    """Read every model and condition that was asked at two times, by every measure, once per `Runs`.

    Parameters
    ----------
    runs
        From `analysis.runs.open_runs(..., over_time=True)`.

    Returns
    -------
    list of Series

    Raises
    ------
    InputError
        For a part that leaves out single wordings, times with other protocols or answers, or no item in common.
    """
    return runs.compute_once("series over time", lambda: list(_read_all_series(runs)))


def _group_units_by_folders(runs: Runs) -> dict[tuple[int, ...], list[tuple[str, str, str]]]:
    """Group the units that were asked several times by their folders: places among all, the earlier ones first."""
    grouped: dict[tuple[int, ...], list[tuple[str, str, str]]] = {}
    folders = [*runs.earlier, *runs.folders]
    for study, *unit in list_asked_units(runs):
        places = [n for n, folder in enumerate(folders) if folder.study == study and tuple(unit) in folder.units]
        if len(places) > 1:
            places = sorted(places, key=lambda place: read_start_time_of_run(folders[place]))
            grouped.setdefault(tuple(places), []).append((study, unit[0], unit[1]))
    return grouped


def _read_all_series(runs: Runs) -> Iterator[Series]:
    """Yield the series of all units, folders after folders."""
    all_folders = [*runs.earlier, *runs.folders]
    for places, units in _group_units_by_folders(runs).items():
        folders = [all_folders[place] for place in places]
        _refuse_differing_protocols_or_options(folders)
        items, n_left_out = _find_common_items_and_count_left_out(runs, folders)
        looks = [_open_runs_of_folder_with_common_items(folder, items) for folder in folders]
        labels = label_times(folders)
        for _, model, condition in units:
            yield from _read_series_of_unit(looks, labels, (model, condition), tuple(items), n_left_out)


def _refuse_differing_protocols_or_options(folders: Sequence[Folder]) -> None:
    """Refuse times of one study whose answers mean something else."""
    first = folders[0]
    for folder in folders[1:]:
        for field in ("protocol", "canonical"):
            values = [side.info["study"][field] for side in (first, folder)]
            if values[0] != values[1]:
                raise InputError(
                    f"{folder.path}: study {folder.study!r} has {field} {values[1]!r}, but {values[0]!r} in "
                    f"{first.path}; name one of them otherwise (--name)"
                )


def _find_common_items_and_count_left_out(runs: Runs, folders: Sequence[Folder]) -> tuple[list[str], int]:
    """Find the items that all folders have alike: right answer, options, original; in the order of the last folder."""
    study = folders[-1].study
    kept_items = runs.sql("SELECT item, count(*) AS n FROM stimuli WHERE study = ? GROUP BY item", [study])
    con = connect_duckdb()
    infos = [
        con.execute(
            f"""
            SELECT item, count(*) AS n, min(position) AS place, coalesce(min(gold), '') AS gold,
                   min(list_sort(canonical))::VARCHAR AS canonical, coalesce(min(gold_score), 'nan') AS gold_score,
                   max(text) FILTER (WHERE pattern = '{ORIGINAL}') AS original,
                   count(*) FILTER (WHERE pattern <> '{ORIGINAL}') > 0 AS reworded
            FROM ({folder.stimuli_sql}) GROUP BY item"""
        ).df().set_index("item")
        for folder in folders
    ]  # fmt: skip
    last = infos[-1].sort_values("place")
    if runs.part is not None and (last["n"].reindex(kept_items["item"]).to_numpy() != kept_items["n"].to_numpy()).any():
        raise InputError(
            f"where: keeps single wordings of study {study!r}, and other times have other wordings; keep models, "
            "conditions or whole items"
        )
    common = set(kept_items["item"])
    needs_rewording = any(info["reworded"].any() for info in infos)
    for info in infos:
        joined = last.join(info, rsuffix="_there", how="inner")
        is_alike = (joined["gold"] == joined["gold_there"]) & (joined["canonical"] == joined["canonical_there"])
        is_alike &= joined["gold_score"].eq(joined["gold_score_there"]) | joined["gold_score"].isna()
        is_alike &= (
            joined["original"].eq(joined["original_there"])
            | joined["original"].isna()
            | joined["original_there"].isna()
        )
        common &= set(joined.index[is_alike & (joined["reworded_there"] | (not needs_rewording))])
    items = [str(item) for item in last.index if item in common]
    if not items:
        raise InputError(
            f"{', '.join(str(folder.path) for folder in folders)}: study {study!r}: no item is in all of them with the "
            "same text, options and right answer; give times of the same items"
        )
    return items, len(kept_items) - len(items)


def _open_runs_of_folder_with_common_items(folder: Folder, items: Sequence[str]) -> Runs:
    """Open one folder with some items only, in their order: so they have the same rows in the arrays of all looks."""
    con = connect_duckdb()
    con.register("common_items", pd.DataFrame({"item": items, "place": range(len(items))}))
    con.execute(
        f"CREATE TABLE {KEPT} AS SELECT s.* REPLACE (row_number() OVER (ORDER BY place, position) - 1 AS position) "
        f"FROM ({folder.stimuli_sql}) AS s JOIN common_items USING (item)"
    )
    con.unregister("common_items")
    restricted = LookFolder(
        folder.path, folder.info, folder.parts, folder.units, folder.complete, folder.empty, folder.two_probabilities,
        folder.absent,
    )  # fmt: skip
    return Runs([restricted], con)


def label_times(folders: Sequence[Folder]) -> list[str]:
    """Name the times, each by the first of these that tells all of them apart.

    1. Their day; 2. day and minute; 3. day, minute and second; 4. the names of the run folders; 5. day, minute, second
    and number of the look.

    Parameters
    ----------
    folders
        Run folders, in the order of their looks.

    Returns
    -------
    list of str
        A name per folder, no two alike.
    """
    times = [read_start_time_of_run(folder) for folder in folders]
    by_time = [[format(time, form) for time in times] for form in ("%Y-%m-%d", "%Y-%m-%d %H:%M", "%Y-%m-%d %H:%M:%S")]
    numbered = [f"{label}, look {number}" for number, label in enumerate(by_time[-1], start=1)]
    choices = (*by_time, [folder.path.resolve().name for folder in folders], numbered)
    return next(labels for labels in choices if len(set(labels)) == len(labels))


def _read_series_of_unit(
    looks: Sequence[Runs], labels: Sequence[str], unit: tuple[str, str], items: tuple[str, ...], n_left_out: int
) -> Iterator[Series]:
    """Yield the series of a model and condition by every measure that all looks have, and how far answers are valid."""
    validities: list[Series] = []  # once: measures are of the same answers
    wordings = classify_sharing_of_asked_wordings([list_hashes_of_asked_wordings(look.con, unit) for look in looks])
    studies = [{study.measure: study for study in read_reworded_studies(look) if unit in study.units} for look in looks]
    (study_name,) = looks[-1].info["studies"]
    changes: list[tuple[str, ...]] = [()]
    for pair in itertools.pairwise(looks):
        changes.append(tuple(map_differing_settings_to_values(*pair, (unit, unit), study_name)))
    shared_measures = [  # logits are the same answers on another scale
        measure for measure in studies[-1] if measure != LOGIT and all(measure in of_look for of_look in studies)
    ]
    has_headline = any(studies[-1][measure].headline for measure in shared_measures)
    for measure in shared_measures:
        of_looks = [measures[measure] for measures in studies]
        is_headline = of_looks[-1].headline if has_headline else measure == shared_measures[0]
        last = replace(of_looks[-1], headline=is_headline)
        places = [study.units.index(unit) for study in of_looks]
        answers = _remove_arithmetic_differences_of_looks(
            last, [study.values[place] for study, place in zip(of_looks, places, strict=True)]
        )
        series = Series(
            last.name, *unit,
            tuple(
                Look(look, label, float(study.validity[place]), study.get_validity_upper_bound(place), changed)
                for look, label, study, place, changed in zip(looks, labels, of_looks, places, changes, strict=True)
            ),
            answers, last, measure, items, n_left_out, any(study.crossed for study in of_looks), wordings,
        )  # fmt: skip
        yield series
        if measure in (AGREEMENT, ACCURACY) and last.headline and _have_all_times_as_many_wordings(answers):
            flips = tuple(mark_flipped_items_of_unit(look_answers)[:, None] for look_answers in answers)
            yield replace(series, answers=flips, measure=FLIPS)
        validities = validities or list(_list_validity_series(series, of_looks, places))
    yield from validities


def _list_validity_series(series: Series, studies: Sequence[Study], places: Sequence[int]) -> Iterator[Series]:
    """Yield how far answers are valid, of all that was asked; nothing where all are, or where that is not known."""
    arrays = [read_validities_of_unit(study, place) for study, place in zip(studies, places, strict=True)]
    validities = [array for array in arrays if array is not None]
    if len(validities) == len(arrays) and any((array < 1 - ROUNDING).any() for array in validities):
        about = replace(series.study_read, measure=VALIDITY, headline=False, has_range=True, lower_is_better=False)
        yield replace(
            series,
            answers=_remove_arithmetic_differences_of_looks(about, validities),
            measure=VALIDITY,
            study_read=about,
        )


def _remove_arithmetic_differences_of_looks(study: Study, answers: Sequence[Array]) -> tuple[Array, ...]:
    """Return the answers of every look, as the look before has them where arithmetic alone may part them."""

    def level_answers(before: Array, now: Array) -> Array:
        """Level a look, where it has as many items and wordings as the look before."""
        return remove_arithmetic_differences(study, before, now)[1] if before.shape == now.shape else now

    return tuple(itertools.accumulate(answers, level_answers))


def _have_all_times_as_many_wordings(answers: Sequence[Array]) -> bool:
    """Tell whether items have several wordings, and as many at every look: with more of them, more items flip."""
    numbers = [float((~np.isnan(look_answers)).sum(axis=1).mean()) for look_answers in answers]
    return min(numbers) > 1 and max(numbers) < MORE_WORDINGS * min(numbers)
