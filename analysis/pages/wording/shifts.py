"""Measure how far p(Yes) moves when a question is reworded, depending on p(Yes) before (Takayama et al., Figure 2)."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np
import pandas as pd

from analysis.pages.wording.cells import UNIT, create_wording_answers_view
from analysis.runs import Runs
from analysis.runs.folder import ORIGINAL
from analysis.statistics import interval
from analysis.statistics.multiplicity import correct_families_by_holm
from analysis.statistics.resampling import DRAWS, Array, Columns, bootstrap_intervals, compute_ratio_of_sums_per_draw

BINS = 10
BAND = (0.2, 0.8)  # original p(Yes) between these: low confidence, according to the paper
GroupStatistic: TypeAlias = Callable[[Columns, Array, tuple[str, ...]], dict[str, Array]]


def tabulate_yes_probability_shifts(runs: Runs, *, resamples: int = DRAWS, seed: int = 0) -> pd.DataFrame:
    """Compute the mean shift in p(Yes) from the original question to the reworded one, also by confidence.

    The mean is over pairs with two valid answers. p(Yes) is renormalised over the two answers (footnote 5). The shift
    of a pair is its p(Yes) minus the p(Yes) of a consistent answer: the original's, or 1 minus it for an antonym. A
    positive shift is towards the answer "Yes".

    Parameters
    ----------
    runs
        From `analysis.runs.open_runs`.
    resamples, seed
        Draws of the bootstrap over items (0: no intervals) and its seed.

    Returns
    -------
    DataFrame
        One row per study, model, language, task, condition and pattern that has probabilities: n, shift, n_band,
        shift_band (original p(Yes) between 0.2 and 0.8), n_outside, shift_outside, band_difference, with intervals over
        items; no_interval: which have none, and why; band_p: p value of band_difference
        (`significance.compute_two_sided_bootstrap_p`); p_least: the smallest that it could be; band_p_holm: after Holm
        over the rows of a pattern.
    """
    rows = _query_yes_probability_pairs(runs)
    if rows.empty:
        return rows
    is_in_band = rows["p_original"].between(*BAND)
    groups = {"": is_in_band | True, "_band": is_in_band, "_outside": ~is_in_band}
    frame = _estimate_unit_shifts_in_pair_groups(
        rows, groups, _compute_shifts_and_band_gap_in_each_draw, resamples, seed
    )
    frame = frame.assign(band_p_holm=correct_families_by_holm(frame, ["pattern"], "band_p"))
    return frame.drop(columns=[f"{name}{group}" for name in ("p_original", "p_yes") for group in groups])


def tabulate_shifts_in_probability_bins(runs: Runs, *, resamples: int = DRAWS, seed: int = 0) -> pd.DataFrame:
    """Compute the same shifts in ten bins of the original p(Yes), for Figure 2 as a curve.

    Parameters
    ----------
    runs, resamples, seed
        As in `tabulate_yes_probability_shifts`.

    Returns
    -------
    DataFrame
        One row per unit and bin that holds pairs: bin_low, bin_high, n, p_original and p_yes (means), shift with its
        interval over items; no_interval: why there is none, as where a bin has so few pairs that some draws leave it
        empty.
    """
    rows = _query_yes_probability_pairs(runs)
    if rows.empty:
        return rows
    # Of ten bins, 0.37 is in number 3; 1.0 is in the last, number 9.
    bins = np.minimum((rows["p_original"].to_numpy() * BINS).astype(int), BINS - 1)
    groups = {f"_{b}": pd.Series(bins == b, rows.index) for b in range(BINS)}
    wide = _estimate_unit_shifts_in_pair_groups(rows, groups, _compute_mean_shifts_in_each_draw, resamples, seed)
    parts = []
    for b in range(BINS):
        names = {f"{name}_{b}": name for name in ("n", "p_original", "p_yes", "shift")}
        names |= {f"shift_{b}_{end}": f"shift_{end}" for end in ("lower", "upper")}
        part = wide[[*UNIT, *names]].rename(columns=names)
        part["no_interval"] = [
            "; ".join(interval.list_reasons_for_missing_intervals([why], (f"shift_{b}",)))
            for why in wide["no_interval"]
        ]
        parts.append(part.assign(bin_low=b / BINS, bin_high=(b + 1) / BINS, unit=part.index))
    frame = pd.concat(parts).sort_values(["unit", "bin_low"], kind="stable")
    return frame[frame["n"] > 0].drop(columns="unit").reset_index(drop=True)


def _query_yes_probability_pairs(runs: Runs) -> pd.DataFrame:
    """Select p_original, p_yes and shift of every pair with both probabilities and two valid answers.

    Pairs without a valid answer are left out: there the likeliest answer is neither "Yes" nor "No", so that p(Yes)
    would be computed from the small rest of the probability.
    """
    create_wording_answers_view(runs)
    return runs.sql(
        f"""
        SELECT p.study, p.language, p.task, p.model, p.condition, p.pattern, p.item, p.place, u.position AS unit,
               o.p_yes AS p_original, p.p_yes, p.p_yes - CASE WHEN p.inverted THEN 1 - o.p_yes ELSE o.p_yes END AS shift
        FROM wording_answers AS p
        JOIN (SELECT * FROM wording_answers WHERE pattern = '{ORIGINAL}') AS o USING (study, model, condition, item)
        JOIN units AS u USING (study, model, condition)
        WHERE p.pattern <> '{ORIGINAL}' AND p.p_yes IS NOT NULL AND o.p_yes IS NOT NULL
              AND p.yes IS NOT NULL AND o.yes IS NOT NULL
        ORDER BY unit, p.place"""
    )


def _estimate_unit_shifts_in_pair_groups(
    pairs: pd.DataFrame, mask_by_group: dict[str, pd.Series], statistic: GroupStatistic, resamples: int, seed: int
) -> pd.DataFrame:
    """Compute, per unit, n of every group of pairs and the statistic of the groups' sums, with intervals over items."""
    units = pairs[UNIT].drop_duplicates().reset_index(drop=True)
    column = pd.MultiIndex.from_frame(units).get_indexer(pd.MultiIndex.from_frame(pairs[UNIT]))
    item = pd.factorize(pd.MultiIndex.from_frame(pairs[["study", "item"]]))[0]
    shape = (int(item.max(initial=-1)) + 1, len(units))
    is_asked = np.zeros(shape, bool)
    is_asked[item, column] = True
    totals, frame = {}, units
    for group, is_in_group in mask_by_group.items():
        for name in ("n", "p_original", "p_yes", "shift"):
            sums = np.zeros(shape)
            values = is_in_group.astype(float) if name == "n" else pairs[name].where(is_in_group, 0.0)
            np.add.at(sums, (item, column), values)  # with all templates, an item has several pairs
            totals[f"{name}{group}"] = sums
        n = totals[f"n{group}"].sum(axis=0)
        with np.errstate(invalid="ignore"):
            means = {f"{name}{group}": totals[f"{name}{group}"].sum(axis=0) / n for name in ("p_original", "p_yes")}
        frame = frame.assign(**{f"n{group}": n.astype(int), **means})
    columns = {f"{name}{group}": np.where(is_asked, totals[f"{name}{group}"], np.nan) for group in mask_by_group
               for name in ("n", "shift")}  # fmt: skip
    intervals = bootstrap_intervals(
        columns, lambda c, n: statistic(c, n, tuple(mask_by_group)), draws=resamples, seed=seed
    )
    if "band_difference" in intervals:
        frame = frame.assign(band_p=intervals["band_difference"].p, p_least=intervals["band_difference"].p_least)
    return frame.assign(**interval.build_interval_columns(intervals))


def _compute_mean_shifts_in_each_draw(columns: Columns, counts: Array, groups: tuple[str, ...]) -> dict[str, Array]:
    """Compute the mean shift of every group of pairs in every draw."""
    return {
        f"shift{group}": compute_ratio_of_sums_per_draw(counts, columns[f"shift{group}"], columns[f"n{group}"])
        for group in groups
    }


def _compute_shifts_and_band_gap_in_each_draw(
    columns: Columns, counts: Array, groups: tuple[str, ...]
) -> dict[str, Array]:
    """Compute the mean shifts, and that inside of the band minus that outside."""
    means = _compute_mean_shifts_in_each_draw(columns, counts, groups)
    return {**means, "band_difference": means["shift_band"] - means["shift_outside"]}
