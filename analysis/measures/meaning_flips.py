"""Measure what wordings do to answers: all wordings of an item, and those among them that mean the same.

Of all wordings and of some of them, three figures are compared, on the same items and at equal numbers of wordings:

- *flip*: the mean over items of the share of wordings whose answer is another than that to the original;
- *sd*: the root of the mean over items of the variance of the answer over wordings, which does not depend on their
  number;
- *range_k*: the mean over items of the range of the answer over k wordings, the exact mean over all draws of k
  (`statistics.reliability.at_k`).

Items count that have one wording of the same meaning with an answer; of flips, one that can be compared with the
original; of SD and range, those that have k. k is the number of them that nine of ten items have at least, of those
that have two.

Flips are shares, with Wilson's interval (`statistics.shares`): where one answer in fifty changes, intervals by
percentiles of draws hold the true share in .77 to .90 of studies. Differences have percentiles: Newcombe's interval is
too wide where one share is in the other.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from analysis.measures.beside_original import AnswersBesideOriginal, read_studies_with_answers_beside_original
from analysis.measures.meaning import StudyMeaning, read_meaning_checks_of_studies, read_verdicts_on_wordings
from analysis.measures.meaning_file import list_meaning_folders
from analysis.runs import Runs
from analysis.statistics.interval import Interval, build_interval_columns
from analysis.statistics.multiplicity import correct_families_by_holm
from analysis.statistics.reliability.at_k import compute_expected_range_with_k
from analysis.statistics.resampling import (
    DRAWS,
    Array,
    Columns,
    bootstrap_differences,
    bootstrap_intervals,
    compute_mean_per_draw,
)
from analysis.statistics.shares import Shares, build_shares_counting_items_once
from analysis.statistics.spread import compute_standard_deviations
from ground.meaning.verdicts import SAME

ALL = "all"
ITEMS_BELOW_K = 0.1  # share of the items that may have fewer than k wordings
FIGURES = ("flip", "sd", "range_k")
Mask = npt.NDArray[np.bool_]
_SHARES: dict[str, Shares] = {"flip": partial(build_shares_counting_items_once, names=["flip"])}


@dataclass(frozen=True)
class StudyAnswers:
    """Hold the answers of one study to its wordings, and what these mean. Orders of the options are averaged.

    Attributes
    ----------
    beside
        The answers to every variant.
    meaning
        What checks and people say of the study.
    judged
        Of every variant of `beside.wordings`: meaning, meaning_score, votes_yes, votes_no.
    items
        Ids of the items.
    flips, values, distances
        (units, items, wordings): share of the orders in which the answer is another than that to the original, mean
        value, and mean distance of the value from that of the original; NaN where there is no answer.
    is_same
        (items, wordings): whether the verdict is that it means the same.
    scores
        (items, wordings): score of the best check, NaN where there is none.
    """

    beside: AnswersBesideOriginal
    meaning: StudyMeaning
    judged: pd.DataFrame
    items: list[str]
    flips: Array
    values: Array
    distances: Array
    is_same: Mask
    scores: Array


def read_answers_of_checked_studies(runs: Runs) -> list[StudyAnswers]:
    """Read the answers of every study whose wordings were checked, once per `Runs`.

    Parameters
    ----------
    runs
        From `analysis.runs.open_runs`.

    Returns
    -------
    list of StudyAnswers
        Without studies that have no paraphrase of an original.
    """
    return runs.compute_once("judged answers", lambda: list(_iterate_answers_of_checked_studies(runs)))


def _iterate_answers_of_checked_studies(runs: Runs) -> Iterator[StudyAnswers]:
    """Yield every study that was checked and has paraphrases."""
    meanings = (
        {meaning.study: meaning for meaning in read_meaning_checks_of_studies(runs)}
        if list_meaning_folders(runs)
        else {}
    )
    if not meanings:
        return
    judged = read_verdicts_on_wordings(runs)[
        ["study", "item", "variant", "meaning", "meaning_score", "votes_yes", "votes_no"]
    ]
    for beside in read_studies_with_answers_beside_original(runs):
        if beside.study in meanings:
            of_study = judged[judged["study"] == beside.study].drop(columns="study")
            beside_rows = beside.wordings.merge(of_study, on=["item", "variant"], how="left")
            yield _build_study_answers_by_item_and_wording(beside, meanings[beside.study], beside_rows)


def _build_study_answers_by_item_and_wording(
    beside: AnswersBesideOriginal, meaning: StudyMeaning, judged: pd.DataFrame
) -> StudyAnswers:
    """Lay the answers out by item and wording, averaged over the orders of the options."""
    item_codes, items = pd.factorize(judged["item"])
    wordings = judged.groupby(["item", "wording"], sort=False).ngroup()
    first = ~wordings.duplicated()
    number = np.zeros(len(judged), int)  # of the wording within its item
    number[first] = judged[first].groupby("item", sort=False).cumcount()
    number = number[np.flatnonzero(first)][wordings]
    shape = len(items), int(number.max(initial=-1)) + 1
    cells: npt.NDArray[np.intp] = np.ravel_multi_index((item_codes, number), shape)
    is_same, scores = np.zeros(shape, bool), np.full(shape, np.nan)
    is_same.flat[cells] = (judged["meaning"] == SAME).to_numpy()
    scores.flat[cells] = judged["meaning_score"].to_numpy(float)
    flips, values, distances = (
        np.stack([_average_variants_sharing_a_cell(row, cells, shape) for row in array])
        for array in (beside.flips, beside.values, beside.distances)
    )
    return StudyAnswers(beside, meaning, judged, list(map(str, items)), flips, values, distances, is_same, scores)


def _average_variants_sharing_a_cell(row: Array, cells: npt.NDArray[np.intp], shape: tuple[int, int]) -> Array:
    """Average what is there of the variants that share a cell; NaN where nothing is."""
    is_known = ~np.isnan(row)
    size = shape[0] * shape[1]
    sums, n = np.bincount(cells[is_known], row[is_known], size), np.bincount(cells[is_known], minlength=size)
    return np.asarray(sums / np.where(n > 0, n, np.nan)).reshape(shape)


def tabulate_all_and_same_meaning_flips(runs: Runs, *, resamples: int = DRAWS, seed: int = 0) -> pd.DataFrame:
    """Compare what all wordings do to the answers with what those do that mean the same.

    Parameters
    ----------
    runs
        From `analysis.runs.open_runs`.
    resamples, seed
        Draws of the bootstrap over items, and its seed.

    Returns
    -------
    DataFrame
        study, model, condition, validity, validity_at_most as in `AnswersBesideOriginal`; wordings: `ALL` or "same";
        n_items, n_items_changed: those with a flip; n_wordings; left_out_items: items that the flips of neither row
        have; left_out_flips: their part of the changed answers; k, n_items_k: items of SD and range; flip, sd, range_k,
        each with X_lower, X_upper over items (of flips Wilson's, else bootstrap); no_interval. In rows "same" also the
        difference same - all of every figure, X_difference with its interval, paired over items; p of that of the
        flips, and p_holm over models and conditions of the study.
        Without a verdict on any wording there are rows `ALL` only, about all items. No rows where no wordings were
        checked.
    """
    parts = [
        _tabulate_all_and_same_meaning_flips_of_study(answers, resamples, seed)
        for answers in read_answers_of_checked_studies(runs)
    ]
    if not parts:
        return pd.DataFrame()
    table = pd.concat(parts, ignore_index=True)
    return table.assign(p_holm=correct_families_by_holm(table, ["study"]))


def _tabulate_all_and_same_meaning_flips_of_study(answers: StudyAnswers, resamples: int, seed: int) -> pd.DataFrame:
    """Compare all wordings of a study with those that mean the same."""
    has_verdicts = any(verdict is not None for verdict in answers.meaning.meanings)
    comparison = compare_chosen_with_all_wordings(
        answers, answers.is_same if has_verdicts else np.ones_like(answers.is_same)
    )
    columns, table = comparison.build_resampling_columns_and_interval_table(resamples, seed)
    bounds = {name: np.tile(getattr(answers.beside, name), 2) for name in ("validity", "validity_at_most")}
    table = table.assign(**bounds, **_build_left_out_item_and_flip_columns(comparison))
    n_units = len(answers.beside.units)
    same, pairs = slice(n_units, None), [(unit + n_units, unit) for unit in range(n_units)]
    p_values = {}
    for name, part in columns.items():
        difference = bootstrap_differences(part, _average_over_resampled_items, pairs, draws=resamples, seed=seed)[name]
        p_values[name] = difference.p
        for ending, values in (("", difference.estimate), ("_lower", difference.lower), ("_upper", difference.upper)):
            table[f"{name}_difference{ending}"] = np.nan
            table.loc[table.index[same], f"{name}_difference{ending}"] = values
    table["p"] = np.nan
    table.loc[table.index[same], "p"] = p_values["flip"]
    table["wordings"] = [ALL] * n_units + [SAME] * n_units
    return table if has_verdicts else table.iloc[:n_units]


def _build_left_out_item_and_flip_columns(comparison: Comparison) -> dict[str, Array]:
    """Count the items that are in neither row of a unit, and their part of the sum over items of changed shares."""
    answers = comparison.answers
    n_flips = (~np.isnan(answers.flips)).sum(axis=2)
    shares = np.nansum(answers.flips, axis=2) / np.maximum(n_flips, 1)
    is_left_out = (~np.isnan(answers.values)).any(axis=2) & (comparison.sizes == 0)
    is_left_out |= (n_flips > 0) & np.isnan(comparison.figures["flip"][:, : len(n_flips)].T)
    part = (shares * is_left_out).sum(axis=1) / np.maximum(shares.sum(axis=1), np.finfo(float).tiny)
    return {"left_out_items": np.tile(is_left_out.sum(axis=1), 2), "left_out_flips": np.tile(part, 2)}


@dataclass(frozen=True)
class Comparison:
    """Hold what all wordings of a study do to the answers of its units, and what some of them do.

    Attributes
    ----------
    answers
        The study.
    k
        Number of wordings that ranges are of.
    sizes
        (units, items): how many of the wordings have an answer. Items with one count, with k in SD and range.
    n_wordings
        (2, units): wordings of the items that count, of all and of some.
    figures
        Name -> (items, 2 units), of all wordings and then of some; NaN where the item does not count. Of `sd`, the
        variance.
    """

    answers: StudyAnswers
    k: int
    sizes: npt.NDArray[np.int64]
    n_wordings: npt.NDArray[np.int64]
    figures: dict[str, Array]

    def build_resampling_columns_and_interval_table(
        self, resamples: int, seed: int
    ) -> tuple[dict[str, Columns], pd.DataFrame]:
        """Estimate every figure with its interval.

        Parameters
        ----------
        resamples, seed
            As in `tabulate_all_and_same_meaning_flips`.

        Returns
        -------
        tuple
            The columns that each figure is resampled from; and a table, a row per unit of all wordings, then of some:
            study, model, condition, n_items, n_wordings, k, n_items_k, the figures with their ends, no_interval.
        """
        columns: dict[str, Columns] = {name: {name: values} for name, values in self.figures.items()}
        intervals: dict[str, Interval] = {
            name: bootstrap_intervals(
                part, _average_over_resampled_items, _SHARES.get(name), draws=resamples, seed=seed
            )[name]
            for name, part in columns.items()
        }
        models, conditions = zip(*self.answers.beside.units, strict=True) if self.answers.beside.units else ((), ())
        about: dict[str, Any] = {
            "study": self.answers.beside.study, "model": models * 2, "condition": conditions * 2,
            "n_items": np.tile((self.sizes > 0).sum(axis=1), 2),
            "n_items_changed": (self.figures["flip"] > 0).sum(axis=0), "n_wordings": self.n_wordings.ravel(),
            "k": self.k, "n_items_k": np.tile((self.sizes >= self.k).sum(axis=1), 2),
        }  # fmt: skip
        return columns, pd.DataFrame({**about, **build_interval_columns(intervals)})


def compare_chosen_with_all_wordings(answers: StudyAnswers, is_chosen: Mask) -> Comparison:
    """Compare all wordings of a study with some of them, on the items that have one of these.

    Parameters
    ----------
    answers
        The study.
    is_chosen
        (items, wordings): which of them.

    Returns
    -------
    Comparison
    """
    has_answer = ~np.isnan(answers.values)
    sizes = (has_answer & is_chosen).sum(axis=2)
    k = choose_wording_count_most_items_have(sizes)
    sides = [np.broadcast_to(side, has_answer.shape) & (sizes > 0)[:, :, None] for side in (True, is_chosen)]
    figures: dict[str, list[Array]] = {name: [] for name in FIGURES}
    for is_used in sides:
        flips = np.where(is_used, answers.flips, np.nan)
        n_flips = (~np.isnan(flips)).sum(axis=2)
        figures["flip"].append(np.nansum(flips, axis=2) / np.where(n_flips > 0, n_flips, np.nan))
        values = np.where(is_used & (sizes >= k)[:, :, None], answers.values, np.nan)
        figures["sd"].append(compute_standard_deviations(values) ** 2)
        figures["range_k"].append(np.stack([compute_expected_range_with_k(of_unit, k) for of_unit in values]))
    figures["flip"][0][np.isnan(figures["flip"][1])] = np.nan
    return Comparison(
        answers, k, sizes, np.stack([(side & has_answer).sum(axis=(1, 2)) for side in sides]),
        {name: np.concatenate(parts).T for name, parts in figures.items()},
    )  # fmt: skip


def choose_wording_count_most_items_have(sizes: npt.NDArray[np.int64]) -> int:
    """Choose k: as many wordings as nine of ten items have, of those that have two.

    >>> choose_wording_count_most_items_have(np.array([0, 1, 3, 5, 5, 5, 6, 6, 6, 7, 7, 8]))
    3
    >>> choose_wording_count_most_items_have(np.array([0, 1, 2, 5, 5, 5, 6, 6, 6, 7, 7, 8, 8]))
    5
    """
    comparable = sizes[sizes > 1]
    return int(np.quantile(comparable, ITEMS_BELOW_K, method="lower")) if len(comparable) else 2


def _average_over_resampled_items(columns: Columns, draw_counts: Array) -> dict[str, Array]:
    """Average a figure over the drawn items; of variances, return the root of the mean."""
    means = {name: compute_mean_per_draw(draw_counts, values) for name, values in columns.items()}
    return {name: np.sqrt(values) if name == "sd" else values for name, values in means.items()}
