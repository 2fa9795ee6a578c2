"""Compute the tables about single models: means with two intervals, variance components, spreads at k wordings."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from analysis.measures.reworded import AGREEMENT, THOUGHTS, Study
from analysis.pages.reliability.columns import UNSAMPLED, UNTOLD
from analysis.reporting.catalogue.rewordings import read_reworded_studies
from analysis.runs import Runs
from analysis.statistics import interval
from analysis.statistics.reliability.at_k import compute_expected_range_with_k, compute_flip_probability_with_k
from analysis.statistics.reliability.generalizability import compute_intraclass_correlations, compute_krippendorff_alpha
from analysis.statistics.reliability.panel import Panel
from analysis.statistics.reliability.ranges import compute_component_intervals, has_enough_degrees_of_freedom
from analysis.statistics.resampling import DRAWS, Array, average_columns_in_each_draw, bootstrap_intervals
from analysis.statistics.shares import build_shares_counting_items_once
from analysis.statistics.spread import compute_standard_deviations
from ground.errors import InputError

FLIP = 0.05  # share of the wordings that may be with the minority, as the paper's smallest threshold


def refuse_threshold_beyond_shares(threshold: float) -> None:
    """Refuse a threshold for flips that is no share of the wordings."""
    if not 0 <= threshold < 1:
        raise InputError(f"threshold {threshold} is not a share of wordings: 0 <= threshold < 1, as in 0.05")


def list_estimated_panels_by_unit(runs: Runs) -> list[tuple[Study, int, dict[str, Any], Panel]]:
    """Return the panel of every study, measure and unit, with its number and the columns that begin its row."""

    def iterate_answer_panels() -> Iterator[tuple[Study, int, dict[str, Any], Panel]]:
        """Yield study, number, first columns and panel of every unit."""
        for study in read_reworded_studies(runs):
            for unit, (model, condition) in enumerate(study.units):
                first_columns = {
                    "study": study.name, "model": model, "condition": condition, "measure": study.measure,
                    "headline": study.headline, "design": study.design, "validity": study.validity[unit],
                }  # fmt: skip
                yield study, unit, first_columns, study.estimate_mean_and_components(unit)

    return runs.compute_once("reliability panels", lambda: list(iterate_answer_panels()))


def tabulate_precision_of_means(runs: Runs, *, seed: int = 0) -> pd.DataFrame:
    """Compute the mean of every model with both intervals, and how much more wordings would narrow them.

    Parameters
    ----------
    runs
        From `analysis.runs.open_runs`.
    seed
        Of the random draws.

    Returns
    -------
    DataFrame
        study, model, condition, measure, headline (bool), design, validity, validity_at_most (NaN where the validity
        is exact); n_items, n_wordings, n_shared, n: as in
        `reliability.panel.Panel` and its `incidence`; mean, mean_lower, mean_upper: with the interval for these
        wordings; like_lower, like_upper: for wordings like these; error: standard error with items and wordings drawn
        anew; error_least: what would be left of it with wordings without end; widening, widening_lower, widening_upper:
        the first divided by the second; missing: why the latter are missing.
    """
    rows = []
    for study, unit, first_columns, panel in list_estimated_panels_by_unit(runs):
        (low, high), (like_low, like_high) = panel.compute_interval("items"), panel.compute_interval("both")
        ends = compute_component_intervals(panel, study.bounds, seed)["widening"]
        rows.append({
            **first_columns, "validity_at_most": study.get_validity_upper_bound(unit),
            "n_items": panel.n_items, "n_wordings": panel.n_wordings, "n_shared": panel.incidence.n_shared,
            "n": panel.n, "mean": panel.mean,
            "mean_lower": low, "mean_upper": high, "like_lower": like_low, "like_upper": like_high,
            "error": panel.compute_standard_error("both"),
            "error_least": panel.predict_standard_error_at_size(max(panel.n_items, 1), np.inf),
            "widening": panel.compute_interval_widening_by_few_wordings(), "widening_lower": ends[0],
            "widening_upper": ends[1],
            "missing": "; ".join(filter(None,
                (_explain_missing_components(panel),
                 _explain_missing_component_intervals(study) or _explain_missing_widening_interval(panel, ends)))),
        })  # fmt: skip
    return pd.DataFrame(rows)


def tabulate_variance_components(runs: Runs, *, seed: int = 0) -> pd.DataFrame:
    """Split the variance of every model's answers into items, wordings, their interaction and samples.

    Parameters
    ----------
    runs
        From `analysis.runs.open_runs`.
    seed
        Of the random draws.

    Returns
    -------
    DataFrame
        study, model, condition, measure, headline (bool), design, validity, n_items, n_wordings; sampled: what the
        samples are, thoughts or samples, empty without any; n_samples: behind an answer; item, wording, interaction,
        sample: components (`reliability.components`, `reliability.sampling`), 0 where the estimate is below, each with
        X_lower, X_upper (`reliability.ranges`); icc, icc_mean, icc_sample: intraclass correlations of one wording, of
        the mean of all, and of one wording and sample; alpha: Krippendorff's; worth, worth_lower, worth_upper: counted
        answers that one thought with exact probabilities is worth
        (`reliability.sampling.estimate_counted_answers_per_exact_sample`); missing: why components are.
    """
    rows = []
    for study, unit, first_columns, panel in list_estimated_panels_by_unit(runs):
        row = {**first_columns, "n_items": panel.n_items, "n_wordings": panel.n_wordings}
        ends, samples = compute_component_intervals(panel, study.bounds, seed), panel.sampled
        parts = {name: getattr(panel, name) for name in ("item", "wording", "interaction")}
        row |= {"sampled": study.name_kind_of_unit_samples(unit), "n_samples": samples.number if samples else np.nan}
        worth = study.estimate_counted_answers_per_exact_sample(unit)
        row |= {"worth": worth.estimate, "worth_lower": worth.lower, "worth_upper": worth.upper}
        for name, value in (parts | {"sample": samples.sample if samples else np.nan}).items():
            row |= {name: np.maximum(value, 0.0), f"{name}_lower": ends[name][0], f"{name}_upper": ends[name][1]}
        coefficients = {"icc_sample": np.nan} | compute_intraclass_correlations(panel)
        row |= {name: coefficients[name] for name in ("icc", "icc_mean", "icc_sample")}
        why = (
            _explain_missing_components(panel), _explain_missing_component_intervals(study),
            _explain_missing_interval_of_wording_component(panel, ends), "" if samples else UNSAMPLED,
        )  # fmt: skip
        alpha = compute_krippendorff_alpha(study.values[unit])
        rows.append(row | {"alpha": alpha, "missing": "; ".join(filter(None, why))})
    # Thoughts of a prompt have probabilities, which tell what thoughts add to these; to right or wrong they do not.
    thinking = {_get_study_model_and_condition(row) for row in rows if row["sampled"] == THOUGHTS}
    for row in rows:
        if not row["sampled"] and _get_study_model_and_condition(row) in thinking:
            row["missing"] = row["missing"].replace(UNSAMPLED, UNTOLD)
    return pd.DataFrame(rows)


def _get_study_model_and_condition(row: Mapping[str, Any]) -> tuple[str, ...]:
    """Return study, model and condition of a row."""
    return row["study"], row["model"], row["condition"]


def _explain_missing_components(panel: Panel) -> str:
    """Say why the answers of a unit do not tell items and wordings apart, or have no interval; empty where they do."""
    if panel.n_items < 2:
        return "one item" if panel.n_items else "no valid answer"
    if np.isnan(panel.wording):
        which = "the wording that all items share" if panel.crossed else "the one wording of each item"
        return f"{which} is not told apart from the items"
    return "" if panel.item_mean_variance > 0 or panel.inner > 0 else "all answers are alike"


def _explain_missing_component_intervals(study: Study) -> str:
    """Say why components without bounds have no interval (`compute_component_intervals`)."""
    return "" if study.bounds else f"no intervals of components: a {study.measure} has no bounds"


def _explain_missing_interval_of_wording_component(panel: Panel, ends: Mapping[str, tuple[float, float]]) -> str:
    """Say why shared wordings have no interval of their component where the interaction has one; else empty."""
    has_interval = {name: not np.isnan(ends[name][0]) for name in ("wording", "interaction")}
    is_missing = panel.crossed and has_interval["interaction"] and not has_interval["wording"]
    return "no interval of the wordings: their means are equal" if is_missing else ""


def _explain_missing_widening_interval(panel: Panel, widening_ends: tuple[float, float]) -> str:
    """Say why a panel with components has no interval of its widening; empty where it has one, or where none can be."""
    if (
        np.isnan(panel.wording)
        or not np.isnan(widening_ends[0])
        or not (panel.item_mean_variance > 0 or panel.inner > 0)
    ):
        return ""
    if not has_enough_degrees_of_freedom(panel):
        return "no intervals of components: items have too few of the wordings to be told apart from them"
    return "no interval of the widening: items may not differ beyond what their wordings explain"


def tabulate_spreads_at_k_wordings(
    runs: Runs, *, k: int = 0, threshold: float = FLIP, resamples: int = DRAWS, seed: int = 0
) -> pd.DataFrame:
    """Compute range, SD and flips of every model at k wordings of each item.

    Parameters
    ----------
    runs
        From `analysis.runs.open_runs`.
    k
        Number of wordings; 0: of every study, the smallest number that any model has of an item with two answers or
        more.
    threshold
        Share of the wordings that may be with the minority without a flip.
    resamples, seed
        Draws of the bootstrap over items (0: no intervals) and its seed.

    Returns
    -------
    DataFrame
        study, model, condition; k; n_items: items with k answers or more; n_fewer: other items with an answer;
        wordings_least, wordings_most: answers per item; range_all, flip_all: with all answers; range_k, sd_k, flip_k:
        with k of them (`reliability.at_k`), with X_lower, X_upper over items; no_interval.

    Raises
    ------
    InputError
        For k below 2 (but 0), or above the number of wordings of every item of a study; a threshold that is no share.
    """
    if k < 0 or k == 1:
        raise InputError(f"k = {k}: give a number of wordings from 2 on, or 0 for the smallest that there is")
    refuse_threshold_beyond_shares(threshold)
    tables = [
        _tabulate_study_spreads_at_k_wordings(study, k, threshold, resamples, seed)
        for study in read_reworded_studies(runs)
        if study.measure == AGREEMENT
    ]
    return pd.concat(tables, ignore_index=True) if tables else pd.DataFrame()


def _tabulate_study_spreads_at_k_wordings(
    study: Study, k: int, threshold: float, resamples: int, seed: int
) -> pd.DataFrame:
    """Compute range, SD and flips of the models of one study, a row per unit."""
    sizes = (~np.isnan(study.values)).sum(axis=2)
    comparable_sizes = sizes[sizes > 1]
    if not len(comparable_sizes):
        return pd.DataFrame()
    if k > comparable_sizes.max():
        raise InputError(f"k = {k}: no item of study {study.name} has more than {comparable_sizes.max()} valid "
                         "wordings; give a smaller k")  # fmt: skip
    at = k or int(comparable_sizes.min())
    columns = {
        "range_k": np.stack([compute_expected_range_with_k(values, at) for values in study.values], axis=1),
        "flip_k": np.stack([compute_flip_probability_with_k(values, at, threshold) for values in study.values], axis=1),
        "sd_k": compute_standard_deviations(study.values).T,
    }
    has_range = ~np.isnan(columns["range_k"])
    columns["sd_k"] = np.where(has_range, columns["sd_k"], np.nan)
    # An item counts by its probability to flip at k wordings.
    flips = partial(build_shares_counting_items_once, names=["flip_k"])
    intervals = bootstrap_intervals(columns, average_columns_in_each_draw, flips, draws=resamples, seed=seed)
    models, conditions = zip(*study.units, strict=True)
    least_sizes = np.where(sizes > 0, sizes, np.iinfo(int).max).min(axis=1)
    size_columns = {
        "study": study.name, "model": models, "condition": conditions, "k": at, "n_items": has_range.sum(axis=0),
        "n_fewer": (sizes > 0).sum(axis=1) - has_range.sum(axis=0),
        "wordings_least": np.where(sizes.max(axis=1) > 0, least_sizes, 0), "wordings_most": sizes.max(axis=1),
        "range_all": [_average_item_range_from_all_answers(values, has_range[:, place])
                      for place, values in enumerate(study.values)],
        "flip_all": [_compute_flipping_share_from_all_answers(values, has_range[:, place], threshold)
                     for place, values in enumerate(study.values)],
    }  # fmt: skip
    return pd.DataFrame({**size_columns, **interval.build_interval_columns(intervals)})


def _average_item_range_from_all_answers(values: Array, is_chosen_item: npt.NDArray[np.bool_]) -> float:
    """Return the mean range of some items with all their answers."""
    item_values = values[is_chosen_item]
    return (
        float((np.nanmax(item_values, axis=1) - np.nanmin(item_values, axis=1)).mean()) if len(item_values) else np.nan
    )


def _compute_flipping_share_from_all_answers(
    values: Array, is_chosen_item: npt.NDArray[np.bool_], threshold: float
) -> float:
    """Return the share of some items that flip with all their answers."""
    if not is_chosen_item.any():
        return np.nan
    n, agree = (~np.isnan(values[is_chosen_item])).sum(axis=1), (values[is_chosen_item] >= 0.5).sum(axis=1)
    return float((np.minimum(agree, n - agree) / n > threshold).mean())
