"""Compute the tables about single models: means with two intervals, variance components, spreads at k wordings."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from analysis.reporting.reworded import AGREEMENT, Study
from analysis.reporting.rewordings import studies
from analysis.statistics import interval
from analysis.statistics.reliability.at_k import flips_at, range_at
from analysis.statistics.reliability.generalizability import alpha, icc
from analysis.statistics.reliability.panel import Panel
from analysis.statistics.reliability.ranges import is_told_apart, ranges
from analysis.statistics.resampling import DRAWS, Array, Columns, bootstrap, mean
from analysis.statistics.shares import Share
from ground.errors import InputError

if TYPE_CHECKING:
    from analysis.runs import Runs

FLIP = 0.05  # share of the wordings that may be with the minority, as the paper's smallest threshold


def units(runs: Runs) -> list[tuple[Study, dict[str, Any], Panel, Array]]:
    """Return the panel of every study, measure and unit, with the columns that name its row, and its answers."""

    def made() -> Iterator[tuple[Study, dict[str, Any], Panel, Array]]:
        for study in studies(runs):
            for number, (model, condition) in enumerate(study.units):
                about = {"study": study.name, "model": model, "condition": condition, "measure": study.measure}
                yield study, about, study.panel(number), study.values[number]

    return runs.kept("reliability panels", lambda: list(made()))


def precision(runs: Runs, *, seed: int = 0) -> pd.DataFrame:
    """Compute the mean of every model with both intervals, and how much more wordings would narrow them.

    Parameters
    ----------
    runs
        From `analysis.runs.open`.
    seed
        Of the random draws.

    Returns
    -------
    DataFrame
        study, model, condition, measure, headline (bool), design, validity; n_items, n_wordings, n_shared, n: as in
        `reliability.panel.Panel` and its `incidence`; mean, mean_lower, mean_upper: with the interval for these
        wordings; like_lower, like_upper: for wordings like these; error: standard error with items and wordings drawn
        anew; error_least: what would be left of it with wordings without end; widening, widening_lower, widening_upper:
        the first divided by the second; missing: why the latter are missing.
    """
    rows = []
    for study, about, found, _ in units(runs):
        own = study.units.index((about["model"], about["condition"]))
        (low, high), (like_low, like_high) = found.interval("items"), found.interval("both")
        ends = ranges(found, study.bounds, seed)["widening"]
        rows.append({
            **about, "headline": study.headline, "design": study.design, "validity": study.validity[own],
            "n_items": found.n_items, "n_wordings": found.n_wordings, "n_shared": found.incidence.n_shared,
            "n": found.n, "mean": found.mean,
            "mean_lower": low, "mean_upper": high, "like_lower": like_low, "like_upper": like_high,
            "error": found.error("both"), "error_least": found.error_at(max(found.n_items, 1), np.inf),
            "widening": found.widening(), "widening_lower": ends[0], "widening_upper": ends[1],
            "missing": "; ".join(filter(None, (_missing(found), _unbounded(study) or _unwidened(found, ends)))),
        })  # fmt: skip
    return pd.DataFrame(rows)


def variances(runs: Runs, *, seed: int = 0) -> pd.DataFrame:
    """Split the variance of every model's answers into items, wordings, their interaction and samples.

    Parameters
    ----------
    runs
        From `analysis.runs.open`.
    seed
        Of the random draws.

    Returns
    -------
    DataFrame
        study, model, condition, measure, headline (bool), design, validity, n_items, n_wordings; n_samples: behind an
        answer; item, wording, interaction, sample: components (`reliability.components`, `reliability.sampling`), 0
        where the estimate is below, each with X_lower, X_upper (`reliability.ranges`); icc, icc_mean, icc_sample:
        intraclass correlations of one wording, of the mean of all, and of one wording and sample; alpha:
        Krippendorff's; missing: why components are.
    """
    rows = []
    for study, about, found, values in units(runs):
        own = study.units.index((about["model"], about["condition"]))
        row = {
            **about, "headline": study.headline, "design": study.design, "validity": study.validity[own],
            "n_items": found.n_items, "n_wordings": found.n_wordings,
        }  # fmt: skip
        ends, sampled = ranges(found, study.bounds, seed), found.sampled
        parts = {name: getattr(found, name) for name in ("item", "wording", "interaction")}
        row |= {"n_samples": sampled.number if sampled else np.nan}
        for name, value in (parts | {"sample": sampled.sample if sampled else np.nan}).items():
            row |= {name: np.maximum(value, 0.0), f"{name}_lower": ends[name][0], f"{name}_upper": ends[name][1]}
        coefficients = {"icc_sample": np.nan} | icc(found)
        row |= {name: coefficients[name] for name in ("icc", "icc_mean", "icc_sample")}
        unsampled = [] if sampled else ["no answer has two samples"]
        why = _missing(found), _unbounded(study), *unsampled
        rows.append(row | {"alpha": alpha(values), "missing": "; ".join(filter(None, why))})
    return pd.DataFrame(rows)


def _missing(found: Panel) -> str:
    """Say why the answers of a unit do not tell items and wordings apart, or have no interval; empty where they do."""
    if found.n_items < 2:
        return "one item" if found.n_items else "no valid answer"
    if np.isnan(found.wording):
        which = "the wording that all items share" if found.crossed else "the one wording of each item"
        return f"{which} is not told apart from the items"
    return "" if found.spread > 0 or found.inner > 0 else "all answers are alike"


def _unbounded(study: Study) -> str:
    """Say why the components of a measure without bounds have no interval (`ranges`); empty where it has some."""
    return "" if study.bounds else f"no intervals of components: a {study.measure} has no bounds"


def _unwidened(panel: Panel, ends: tuple[float, float]) -> str:
    """Say why a panel with components has no interval of its widening; empty where it has one, or where none can be."""
    if np.isnan(panel.wording) or not np.isnan(ends[0]) or not (panel.spread > 0 or panel.inner > 0):
        return ""
    if not is_told_apart(panel):
        return "no intervals of components: items have too few of the wordings to be told apart from them"
    return "no interval of the widening: items may not differ beyond what their wordings explain"


def spreads(runs: Runs, *, k: int = 0, threshold: float = FLIP, resamples: int = DRAWS, seed: int = 0) -> pd.DataFrame:
    """Compute range, SD and flips of every model at k wordings of each item.

    Parameters
    ----------
    k
        Number of wordings; 0: the smallest number that any model has of an item with two answers or more.
    threshold
        Share of the wordings that may be with the minority without a flip.

    Returns
    -------
    DataFrame
        study, model, condition; k; n_items: items with k answers or more; n_fewer: other items with an answer;
        wordings_least, wordings_most: answers per item; range_all, flip_all: with all answers; range_k, sd_k, flip_k:
        with k of them (`reliability.at_k`), with X_lower, X_upper over items; no_interval.

    Raises
    ------
    InputError
        For k below 2 (but 0), or above the number of wordings of every item; a threshold that is no share.
    """
    if k < 0 or k == 1:
        raise InputError(f"k = {k}: give a number of wordings from 2 on, or 0 for the smallest that there is")
    if not 0 <= threshold < 1:
        raise InputError(f"threshold {threshold} is not a share of wordings: 0 <= threshold < 1, as in 0.05")
    tables = [_spreads(s, k, threshold, resamples, seed) for s in studies(runs) if s.measure == AGREEMENT]
    return pd.concat(tables, ignore_index=True) if tables else pd.DataFrame()


def _spreads(study: Study, k: int, threshold: float, resamples: int, seed: int) -> pd.DataFrame:
    sizes = (~np.isnan(study.values)).sum(axis=2)
    several = sizes[sizes > 1]
    if not len(several):
        return pd.DataFrame()
    if k > several.max():
        raise InputError(f"k = {k}: no item of study {study.name} has more than {several.max()} valid wordings; give "
                         "a smaller k")  # fmt: skip
    at = k or int(several.min())
    columns = {
        "range_k": np.stack([range_at(values, at) for values in study.values], axis=1),
        "flip_k": np.stack([flips_at(values, at, threshold) for values in study.values], axis=1),
        "sd_k": _deviation(study.values).T,
    }
    known = ~np.isnan(columns["range_k"])
    columns["sd_k"] = np.where(known, columns["sd_k"], np.nan)
    found = bootstrap(columns, _means, _flips, draws=resamples, seed=seed)
    models, conditions = zip(*study.units, strict=True)
    asked = np.where(sizes > 0, sizes, np.iinfo(int).max).min(axis=1)
    about = {
        "study": study.name, "model": models, "condition": conditions, "k": at, "n_items": known.sum(axis=0),
        "n_fewer": (sizes > 0).sum(axis=1) - known.sum(axis=0),
        "wordings_least": np.where(sizes.max(axis=1) > 0, asked, 0), "wordings_most": sizes.max(axis=1),
        "range_all": [_all(values, known[:, i]) for i, values in enumerate(study.values)],
        "flip_all": [_all_flips(values, known[:, i], threshold) for i, values in enumerate(study.values)],
    }  # fmt: skip
    return pd.DataFrame({**about, **interval.columns(found)})


def _means(columns: Columns, counts: Array) -> dict[str, Array]:
    return {name: mean(counts, values) for name, values in columns.items()}


def _flips(columns: Columns) -> dict[str, list[Share]]:
    """Return the share of items that flip; an item counts by its probability to do so."""
    return {"flip_k": [[(columns["flip_k"], np.ones_like(columns["flip_k"]))]]}


def _deviation(values: Array) -> Array:
    """Return the SD (n - 1 below) over the last axis, NaN below two answers."""
    known = ~np.isnan(values)
    n = known.sum(axis=-1)
    with np.errstate(invalid="ignore", divide="ignore"):
        centre = np.where(known, values, 0).sum(axis=-1, keepdims=True) / n[..., None]
        squares = (np.where(known, values - centre, 0) ** 2).sum(axis=-1)
        return np.sqrt(squares / np.where(n > 1, n - 1, np.nan))


def _all(values: Array, items: npt.NDArray[np.bool_]) -> float:
    """Return the mean range of some items with all their answers."""
    own = values[items]
    return float((np.nanmax(own, axis=1) - np.nanmin(own, axis=1)).mean()) if len(own) else np.nan


def _all_flips(values: Array, items: npt.NDArray[np.bool_], threshold: float) -> float:
    """Return the share of some items that flip with all their answers."""
    if not items.any():
        return np.nan
    n, agree = (~np.isnan(values[items])).sum(axis=1), (values[items] >= 0.5).sum(axis=1)
    return float((np.minimum(agree, n - agree) / n > threshold).mean())
