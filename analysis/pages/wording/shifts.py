"""How far p(Yes) moves when a question is reworded, against what it was (Takayama et al., Figure 2)."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
import pandas as pd

from analysis.pages.wording.cells import KEY, ORIGINAL, prepare
from analysis.statistics.resampling import Array, Columns, bootstrap, ratio

if TYPE_CHECKING:
    from analysis.runs import Runs

BINS = 10
BAND = (0.2, 0.8)  # where the paper takes a model's confidence to be low
Grouped: TypeAlias = Callable[[Columns, Array, tuple[str, ...]], dict[str, Array]]
UNIT = ["study", "model", "language", "task", "condition", "pattern"]


def shifts(runs: Runs, *, resamples: int = 10_000, seed: int = 0) -> pd.DataFrame:
    """Mean shift in p(Yes) from the original question to the reworded one, inside the low-confidence band and outside.

    Over the pairs with two valid answers. p(Yes) is renormalised over the two answers (footnote 5). The shift of a
    pair is its p(Yes) minus the p(Yes) that an unmoved answer would have: the original's, or 1 minus it for an antonym.
    Positive: towards "Yes" as said.

    Returns
    -------
    DataFrame
        One row per study, model, language, task, condition and pattern that has probabilities: n, shift, n_band,
        shift_band (original p(Yes) between 0.2 and 0.8), n_outside, shift_outside, band_difference, with intervals over
        items.
    """
    rows = _pairs(runs)
    if rows.empty:
        return rows
    low = rows["p_original"].between(*BAND)
    groups = {"": low | True, "_band": low, "_outside": ~low}
    frame = _resampled(rows, groups, _band, resamples, seed)
    return frame.drop(columns=[f"{name}{group}" for name in ("p_original", "p_yes") for group in groups])


def curve(runs: Runs, *, resamples: int = 10_000, seed: int = 0) -> pd.DataFrame:
    """The same shifts in ten bins of the original p(Yes): what Figure 2 shows, as a curve.

    Returns
    -------
    DataFrame
        One row per unit and bin that holds pairs: bin_low, bin_high, n, p_original and p_yes (means), shift with its
        interval over items; no interval where the bin is so thin that some draws leave it empty.
    """
    rows = _pairs(runs)
    if rows.empty:
        return rows
    bins = np.minimum((rows["p_original"].to_numpy() * BINS).astype(int), BINS - 1)
    wide = _resampled(rows, {f"_{b}": pd.Series(bins == b, rows.index) for b in range(BINS)}, _means, resamples, seed)
    parts = []
    for b in range(BINS):
        names = {f"{name}_{b}": name for name in ("n", "p_original", "p_yes", "shift")}
        names |= {f"shift_{b}_{end}": f"shift_{end}" for end in ("lower", "upper")}
        part = wide[[*UNIT, *names]].rename(columns=names)
        parts.append(part.assign(bin_low=b / BINS, bin_high=(b + 1) / BINS, unit=part.index))
    frame = pd.concat(parts).sort_values(["unit", "bin_low"], kind="stable")
    return frame[frame["n"] > 0].drop(columns="unit").reset_index(drop=True)


def _pairs(runs: Runs) -> pd.DataFrame:
    """p_original, p_yes and shift of every pair that has both probabilities, and two valid answers.

    Where the model's likeliest answer is neither, p(Yes) is renormalised from the little that is left, and says little.
    """
    prepare(runs)
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


def _resampled(
    rows: pd.DataFrame, groups: dict[str, pd.Series], statistic: Grouped, resamples: int, seed: int
) -> pd.DataFrame:
    """Per unit the statistic of sums by group of pairs, with intervals over items; and n of every group."""
    units = rows[KEY].drop_duplicates().reset_index(drop=True)
    column = pd.MultiIndex.from_frame(units).get_indexer(pd.MultiIndex.from_frame(rows[KEY]))
    item = pd.factorize(pd.MultiIndex.from_frame(rows[["study", "item"]]))[0]
    shape = (int(item.max(initial=-1)) + 1, len(units))
    asked = np.zeros(shape, bool)
    asked[item, column] = True
    totals, frame = {}, units
    for group, where in groups.items():
        for name in ("n", "p_original", "p_yes", "shift"):
            sums = np.zeros(shape)
            values = where.astype(float) if name == "n" else rows[name].where(where, 0.0)
            np.add.at(sums, (item, column), values)  # with all templates, an item has several pairs
            totals[f"{name}{group}"] = sums
        n = totals[f"n{group}"].sum(axis=0)
        with np.errstate(invalid="ignore"):
            means = {f"{name}{group}": totals[f"{name}{group}"].sum(axis=0) / n for name in ("p_original", "p_yes")}
        frame = frame.assign(**{f"n{group}": n.astype(int), **means})
    columns = {f"{name}{group}": np.where(asked, totals[f"{name}{group}"], np.nan) for group in groups
               for name in ("n", "shift")}  # fmt: skip
    found = bootstrap(columns, lambda c, n: statistic(c, n, tuple(groups)), draws=resamples, seed=seed)
    for name, interval in found.items():
        frame = frame.assign(
            **{name: interval.estimate, f"{name}_lower": interval.lower, f"{name}_upper": interval.upper}
        )
    return frame


def _means(columns: Columns, counts: Array, groups: tuple[str, ...]) -> dict[str, Array]:
    return {f"shift{group}": ratio(counts, columns[f"shift{group}"], columns[f"n{group}"]) for group in groups}


def _band(columns: Columns, counts: Array, groups: tuple[str, ...]) -> dict[str, Array]:
    means = _means(columns, counts, groups)
    return {**means, "band_difference": means["shift_band"] - means["shift_outside"]}
