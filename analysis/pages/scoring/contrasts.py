"""Compare scores on the same items: after tuning with before, sampled with exact."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from itertools import product
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import pandas as pd

from analysis.pages.scoring.items import matrices
from analysis.pages.scoring.undefined import reasons
from analysis.runs.scores import read
from analysis.statistics import forms, interval, weighted
from analysis.statistics.multiplicity import holm_within
from analysis.statistics.resampling import DRAWS, Array, Columns, paired
from analysis.statistics.significance import least_p

if TYPE_CHECKING:
    from analysis.runs import Runs

Pair: TypeAlias = tuple[str, tuple[str, str], tuple[str, str]]  # a study and two of its units (model, condition)

PRE, POST = ("base",), ("instruct", "tuned")
SETTING = ["range", "temperature", "method"]


def differences(
    runs: Runs, *, biased: bool = True, invalid: str = "dropped", resamples: int = DRAWS, seed: int = 0
) -> pd.DataFrame:
    """Compare kurtosis and tau before and after tuning, by group and model series (Sato et al., Table 1).

    A base model is compared with the instruct or tuned models of its series (of its size, if the series has several
    base models) on the items that both scored. Range, temperature, method and number of samples are the same, and the
    prompt form, too, if they share one.

    Parameters
    ----------
    biased, invalid, resamples, seed
        As in `tables.scores`.

    Returns
    -------
    DataFrame
        study, group, series, pre_model, post_model, pre_condition, post_condition, range, temperature, method;
        n: items that both scored; kurtosis_gold: of all human scores of the group; kurtosis_pre, kurtosis_post,
        tau_pre, tau_post; caution: why one of them is missing;
        kurtosis_difference, tau_difference: post minus pre, with X_lower, X_upper, their 95 % intervals, both models
        resampled with the same items; no_interval: which have none, and why (`statistics.forms`); X_p: its two-sided
        p value (`significance.two_sided`), p_least: the smallest that so few items or draws allow, X_p_holm: after Holm
        over the pairs of a study and setting; validity_pre, validity_post: as in `tables.scores`.
    """
    rows = read(runs, invalid)
    frame = _compared(rows, list(_tuned(runs, rows)), ("pre", "post"), biased, resamples, seed)
    return frame.drop(columns=["stage", "samples", "score_difference", "score_distance"], errors="ignore")


def methods(
    runs: Runs, *, biased: bool = True, invalid: str = "dropped", resamples: int = DRAWS, seed: int = 0
) -> pd.DataFrame:
    """Compare sampled with exact scores: kurtosis and tau by both methods on the same items.

    Parameters
    ----------
    runs
        From `analysis.runs.open`.
    biased, invalid, resamples, seed
        As in `tables.scores`.

    Returns
    -------
    DataFrame
        study, group, model, series, stage, range, temperature, sampled_condition, exact_condition; n: items with both
        scores; samples: per item; score_difference: mean of the sampled minus the exact score, score_distance: mean of
        its absolute value; kurtosis_sampled, kurtosis_exact, tau_sampled, tau_exact; kurtosis_difference,
        tau_difference: sampled minus exact, with X_lower, X_upper, X_p, X_p_holm, p_least and validities as in
        `differences`.
    """
    rows = read(runs, invalid)
    asked = _conditions(runs)
    pairs: list[Pair] = []
    for (study, model), conditions in _units(rows).items():
        for exact, sampled in product(conditions, conditions):
            one, other = asked[study, exact], asked[study, sampled]
            same = all(one.get(name) == other.get(name) for name in ("form", "range", "temperature"))
            if same and (one["method"], other["method"]) == ("exact", "sampled"):
                pairs.append((study, (model, exact), (model, sampled)))
    frame = _compared(rows, pairs, ("exact", "sampled"), biased, resamples, seed)
    frame = frame.rename(columns={"exact_model": "model"})
    return frame.drop(columns=["sampled_model", "method", "kurtosis_gold"], errors="ignore")


def _compared(
    rows: pd.DataFrame, pairs: list[Pair], sides: tuple[str, str], biased: bool, resamples: int, seed: int
) -> pd.DataFrame:
    """Make one row per group and pair of units: the figures of both, and the differences, second minus first."""
    tables = []
    for (study, _, _), part in rows.groupby(["study", "group", "range"], sort=False):
        wide, gold, width = matrices(part)
        place = {unit: index for index, unit in enumerate(wide.columns)}
        chosen = [(a, b) for name, a, b in pairs if name == study and a in place and b in place]
        if not chosen:
            continue
        scores = wide.to_numpy(float)
        both = {"score": scores, "gold": np.broadcast_to(gold[:, None], scores.shape)}
        order = [(place[b], place[a]) for a, b in chosen]
        kurtosis = partial(_kurtosis, biased=biased, scale=width)
        peaked = {"kurtosis": forms.KURTOSIS}
        found = paired({"score": scores}, kurtosis, order, forms=peaked, draws=resamples, seed=seed)
        found |= paired(both, partial(_tau, scale=width), order, draws=resamples, seed=seed)
        human = _once(gold[~np.isnan(gold), None], biased, width)[0]
        figures = partial(_figures, gold=gold, sides=sides, biased=biased, width=width)
        table = pd.DataFrame([figures(scores[:, [first, second]]) for second, first in order])
        table["kurtosis_gold"] = human
        table = table.assign(**interval.columns({f"{name}_difference": figure for name, figure in found.items()}))
        table = table.assign(**{f"{name}_p": figure.p for name, figure in found.items()})
        validity = part.groupby(["model", "condition"])["validity"].mean()
        about = part.drop_duplicates(["model", "condition"]).set_index(["model", "condition"])
        # Of an exact and a sampled unit, only the sampled one has a number of samples.
        table["samples"] = about.loc[[b for _, b in chosen], "samples"].to_numpy()
        for side, units in zip(sides, zip(*chosen, strict=True), strict=True):
            table[f"{side}_model"], table[f"{side}_condition"] = zip(*units, strict=True)
            table[f"validity_{side}"] = validity.loc[list(units)].to_numpy()
        about = about.loc[[a for a, _ in chosen], ["study", "group", "series", "stage", *SETTING]]
        tables.append(pd.concat([about.reset_index(drop=True), table], axis=1))
    if not tables:
        return pd.DataFrame()
    frame = pd.concat(tables, ignore_index=True)
    frame["p_least"] = least_p(resamples, frame["n"])
    family = ["study", *SETTING]
    return frame.assign(**{f"{name}_p_holm": holm_within(frame, family, f"{name}_p") for name in ("kurtosis", "tau")})


def _figures(pair: Array, gold: Array, sides: tuple[str, str], biased: bool, width: float) -> dict[str, Any]:
    """Compute the figures of two columns of scores on the items that both have."""
    pair, gold = pair[~np.isnan(pair).any(axis=1)], gold[~np.isnan(pair).any(axis=1)]
    known = ~np.isnan(gold)
    figures: dict[str, Any] = {"n": len(pair)}
    gap = pair[:, 1] - pair[:, 0]
    figures["score_difference"] = gap.mean() if len(gap) else np.nan
    figures["score_distance"] = np.abs(gap).mean() if len(gap) else np.nan
    kurtosis, tau = _once(pair, biased, width), np.full(2, np.nan)
    if known.any():
        tau = weighted.tau(np.ones((1, int(known.sum()))), pair[known], gold[known, None], scale=width)[0]
    for index, side in enumerate(sides):
        figures |= {f"kurtosis_{side}": kurtosis[index], f"tau_{side}": tau[index]}
    why = {side: reasons(pair[:, index], gold, width, biased=biased) for index, side in enumerate(sides)}
    return figures | {"caution": "; ".join(f"{side}: {reason}" for side, said in why.items() for reason in said)}


def _once(values: Array, biased: bool, width: float) -> Array:
    """Return the kurtosis of scores (items, units): (units,), NaN without any item."""
    if not len(values):
        return np.full(values.shape[1], np.nan)
    return weighted.kurtosis(np.ones((1, len(values))), values, biased=biased, scale=width)[0]


def _kurtosis(columns: Columns, counts: Array, *, biased: bool, scale: float) -> dict[str, Array]:
    return {"kurtosis": weighted.kurtosis(counts, columns["score"], biased=biased, scale=scale)}


def _tau(columns: Columns, counts: Array, *, scale: float) -> dict[str, Array]:
    return {"tau": weighted.tau(counts, columns["score"], columns["gold"], scale=scale)}


def _tuned(runs: Runs, rows: pd.DataFrame) -> Iterator[Pair]:
    """Yield the pairs that `differences` compares."""
    models, asked, units = runs.info["models"], _conditions(runs), _units(rows)
    for (study, pre), (other, post) in product(units, units):
        here = [model for name, model in units if name == study]
        if study != other or not _related(models, here, pre, post):
            continue
        before, after = units[study, pre], units[study, post]
        shared = {asked[study, name].get("form") for name in before} & {
            asked[study, name].get("form") for name in after
        }
        for a, b in product(before, after):
            one, two = asked[study, a], asked[study, b]
            alike = all(one.get(name) == two.get(name) for name in (*SETTING, "samples"))
            if alike and (one.get("form") == two.get("form") or not shared):
                yield study, (pre, a), (post, b)


def _related(models: Mapping[str, Any], asked: list[str], pre: str, post: str) -> bool:
    """Tell whether `post` is a tuned version of `pre`, according to run.json."""
    series = models[pre].get("series")
    if models[pre].get("stage") not in PRE or models[post].get("stage") not in POST or not series:
        return False
    if models[post].get("series") != series:
        return False
    bases = [model for model in asked if models[model].get("series") == series and models[model].get("stage") in PRE]
    return len(bases) == 1 or models[pre].get("parameters") == models[post].get("parameters")


def _conditions(runs: Runs) -> dict[tuple[str, str], Mapping[str, Any]]:
    """Map (study, condition) to the fields of the condition."""
    conditions = runs.info["conditions"].items()
    return {(study, name): fields for study, entries in conditions for name, fields in entries.items()}


def _units(rows: pd.DataFrame) -> dict[tuple[str, str], list[str]]:
    """Map (study, model) to its conditions."""
    asked = rows.drop_duplicates(["study", "model", "condition"])
    return {key: list(part["condition"]) for key, part in asked.groupby(["study", "model"], sort=False)}
