"""Compare scores on the same items: after tuning with before, sampled with exact."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from itertools import product
from typing import Any, TypeAlias

import numpy as np
import pandas as pd

from analysis.measures.scores import METHODS, read_scores
from analysis.measures.thoughts import THOUGHT
from analysis.pages.scoring.items import build_score_matrix_gold_and_width
from analysis.pages.scoring.undefined import list_reasons_kurtosis_or_tau_is_undefined
from analysis.runs import Runs
from analysis.statistics import forms, interval, weighted
from analysis.statistics.multiplicity import correct_families_by_holm
from analysis.statistics.resampling import DRAWS, Array, Columns, bootstrap_differences
from analysis.statistics.significance import compute_smallest_bootstrap_p

Pair: TypeAlias = tuple[str, tuple[str, str], tuple[str, str]]  # a study and two of its units (model, condition)

PRE, POST = ("base",), ("instruct", "tuned")
SETTING = ["range", "temperature", "method"]
ASKED = ("form", "prompt")  # are the same where both models were asked so
# Fields of conditions that compare.
SAME = (*SETTING, "samples", "answer", "thoughts", "top_p", "top_k", "min_p", "effort", "budget")


def tabulate_score_changes_by_tuning(
    runs: Runs, *, biased: bool = True, invalid: str = "dropped", resamples: int = DRAWS, seed: int = 0
) -> pd.DataFrame:
    """Compare kurtosis and tau before and after tuning, by group and model series (Sato et al., Table 1).

    A base model is compared with the instruct or tuned models of its series (of its size, if the series has several
    base models) on the items that both scored. Range, temperature, method, number of samples, and how the model answers
    and thinks (`SAME`) are the same; so are the prompt and its form, if they share one.

    Parameters
    ----------
    runs
        From `analysis.runs.open_runs`.
    biased, invalid, resamples, seed
        As in `tables.tabulate_score_bias_and_accuracy`.

    Returns
    -------
    DataFrame
        study, group, series, pre_model, post_model, pre_condition, post_condition, range, temperature, method;
        n: items that both scored; kurtosis_gold: of all human scores of the group; kurtosis_pre, kurtosis_post,
        tau_pre, tau_post; caution: why one of them is missing;
        kurtosis_difference, tau_difference: post minus pre, with X_lower, X_upper, their 95 % intervals, both models
        resampled with the same items; no_interval: which have none, and why (`statistics.forms`); X_p: its two-sided
        p value (`significance.compute_two_sided_bootstrap_p`), p_least: the smallest that so few items or draws allow,
        X_p_holm:
        after Holm over the pairs of a study and setting; validity_pre, validity_post: as in
        `tables.tabulate_score_bias_and_accuracy`.

    Raises
    ------
    InputError
        As `tables.tabulate_score_bias_and_accuracy`.
    """
    rows = read_scores(runs, invalid)
    frame = _compare_unit_pairs(
        rows,
        list(_pair_base_with_tuned_units(runs, rows)),
        ("pre", "post"),
        ["study", *SETTING],
        biased,
        resamples,
        seed,
    )
    return frame.drop(columns=["stage", "samples", "score_difference", "score_distance"], errors="ignore")


def tabulate_sampled_versus_exact_scores(
    runs: Runs, *, biased: bool = True, invalid: str = "dropped", resamples: int = DRAWS, seed: int = 0
) -> pd.DataFrame:
    """Compare sampled with exact scores: kurtosis and tau by both methods on the same items.

    Parameters
    ----------
    runs
        From `analysis.runs.open_runs`.
    biased, invalid, resamples, seed
        As in `tables.tabulate_score_bias_and_accuracy`.

    Returns
    -------
    DataFrame
        study, group, model, series, stage, range, temperature, sampled_condition, exact_condition; n: items with both
        scores; samples: per item; score_difference: mean of the sampled minus the exact score, score_distance: mean of
        its absolute value; kurtosis_sampled, kurtosis_exact, tau_sampled, tau_exact; kurtosis_difference,
        tau_difference: sampled minus exact, with X_lower, X_upper, no_interval, X_p, p_least, caution and validities as
        in `tabulate_score_changes_by_tuning`; X_p_holm: after Holm over all settings of a study, which the page counts.
    """
    rows = read_scores(runs, invalid)
    fields_by_condition = _map_condition_fields(runs)
    pairs: list[Pair] = []
    for (study, model), conditions in _group_conditions_by_model(rows).items():
        for exact, sampled in product(conditions, conditions):
            exact_fields, sampled_fields = fields_by_condition[study, exact], fields_by_condition[study, sampled]
            is_same_prompt = all(
                exact_fields.get(name) == sampled_fields.get(name) for name in (*ASKED, "range", "temperature")
            )
            methods = tuple(fields.get("method") for fields in (exact_fields, sampled_fields))
            thinks = any(fields.get("answer") == THOUGHT for fields in (exact_fields, sampled_fields))
            if is_same_prompt and not thinks and methods == METHODS[::-1]:
                pairs.append((study, (model, exact), (model, sampled)))
    frame = _compare_unit_pairs(rows, pairs, ("exact", "sampled"), ["study"], biased, resamples, seed)
    frame = frame.rename(columns={"exact_model": "model"})
    return frame.drop(columns=["sampled_model", "method", "kurtosis_gold"], errors="ignore")


def _compare_unit_pairs(
    rows: pd.DataFrame, pairs: list[Pair], sides: tuple[str, str], family: list[str], biased: bool, resamples: int,
    seed: int,
) -> pd.DataFrame:  # fmt: skip
    """Make one row per group and pair of units: the figures of both, and the differences, second minus first.

    Holm's correction is over the rows that are alike in the columns `family`.
    """
    tables = []
    for (study, _, _), part in rows.groupby(["study", "group", "range"], sort=False):
        wide, gold, width = build_score_matrix_gold_and_width(part)
        place = {unit: index for index, unit in enumerate(wide.columns)}
        chosen = [(a, b) for name, a, b in pairs if name == study and a in place and b in place]
        if not chosen:
            continue
        scores = wide.to_numpy(float)
        score_and_gold = {"score": scores, "gold": np.broadcast_to(gold[:, None], scores.shape)}
        order = [(place[b], place[a]) for a, b in chosen]
        kurtosis = partial(_compute_kurtosis_in_each_draw, biased=biased, scale=width)
        kurtosis_form = {"kurtosis": forms.KURTOSIS}
        interval_by_measure = bootstrap_differences(
            {"score": scores}, kurtosis, order, forms=kurtosis_form, draws=resamples, seed=seed
        )
        interval_by_measure |= bootstrap_differences(
            score_and_gold, partial(_compute_tau_with_gold_in_each_draw, scale=width), order, draws=resamples, seed=seed
        )
        kurtosis_of_gold = _compute_unweighted_kurtosis(gold[~np.isnan(gold), None], biased, width)[0]
        figures = partial(_build_comparison_row_of_unit_pair, gold=gold, sides=sides, biased=biased, width=width)
        table = pd.DataFrame([figures(scores[:, [first, second]]) for second, first in order])
        table["kurtosis_gold"] = kurtosis_of_gold
        table = table.assign(
            **interval.build_interval_columns(
                {f"{name}_difference": figure for name, figure in interval_by_measure.items()}
            )
        )
        table = table.assign(**{f"{name}_p": figure.p for name, figure in interval_by_measure.items()})
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
    frame["p_least"] = compute_smallest_bootstrap_p(resamples, frame["n"])
    return frame.assign(
        **{f"{name}_p_holm": correct_families_by_holm(frame, family, f"{name}_p") for name in ("kurtosis", "tau")}
    )


def _build_comparison_row_of_unit_pair(
    pair_scores: Array, gold: Array, sides: tuple[str, str], biased: bool, width: float
) -> dict[str, Any]:
    """Compute the figures of two columns of scores on the items that both have."""
    pair_scores, gold = pair_scores[~np.isnan(pair_scores).any(axis=1)], gold[~np.isnan(pair_scores).any(axis=1)]
    has_gold = ~np.isnan(gold)
    statistics_by_name: dict[str, Any] = {"n": len(pair_scores)}
    gap = pair_scores[:, 1] - pair_scores[:, 0]
    statistics_by_name["score_difference"] = gap.mean() if len(gap) else np.nan
    statistics_by_name["score_distance"] = np.abs(gap).mean() if len(gap) else np.nan
    kurtosis, tau = _compute_unweighted_kurtosis(pair_scores, biased, width), np.full(2, np.nan)
    if has_gold.any():
        tau = weighted.compute_kendall_tau_per_draw(
            np.ones((1, int(has_gold.sum()))), pair_scores[has_gold], gold[has_gold, None], scale=width
        )[0]
    for index, side in enumerate(sides):
        statistics_by_name |= {f"kurtosis_{side}": kurtosis[index], f"tau_{side}": tau[index]}
    reasons_by_side = {
        side: list_reasons_kurtosis_or_tau_is_undefined(pair_scores[:, index], gold, width, biased=biased)
        for index, side in enumerate(sides)
    }
    return statistics_by_name | {
        "caution": "; ".join(
            f"{side}: {reason}" for side, side_reasons in reasons_by_side.items() for reason in side_reasons
        )
    }


def _compute_unweighted_kurtosis(values: Array, biased: bool, width: float) -> Array:
    """Return the kurtosis of scores (items, units): (units,), NaN without any item."""
    if not len(values):
        return np.full(values.shape[1], np.nan)
    return weighted.kurtosis(np.ones((1, len(values))), values, biased=biased, scale=width)[0]


def _compute_kurtosis_in_each_draw(columns: Columns, counts: Array, *, biased: bool, scale: float) -> dict[str, Array]:
    """Compute the kurtosis of every unit's scores in every draw."""
    return {"kurtosis": weighted.kurtosis(counts, columns["score"], biased=biased, scale=scale)}


def _compute_tau_with_gold_in_each_draw(columns: Columns, counts: Array, *, scale: float) -> dict[str, Array]:
    """Compute tau-b of every unit's scores with the human scores in every draw."""
    return {"tau": weighted.compute_kendall_tau_per_draw(counts, columns["score"], columns["gold"], scale=scale)}


def _pair_base_with_tuned_units(runs: Runs, rows: pd.DataFrame) -> Iterator[Pair]:
    """Yield the pairs that `tabulate_score_changes_by_tuning` compares."""
    models = runs.info["models"]
    fields_by_condition = _map_condition_fields(runs)
    units = _group_conditions_by_model(rows)
    for (study, pre), (post_study, post) in product(units, units):
        study_models = [model for name, model in units if name == study]
        if study != post_study or not _is_tuned_from(models, study_models, pre, post):
            continue
        before, after = (
            {name: fields_by_condition[study, name] for name in units[study, model]} for model in (pre, post)
        )
        shared = [
            field
            for field in ASKED
            if {fields.get(field) for fields in before.values()} & {fields.get(field) for fields in after.values()}
        ]
        for (a, base_fields), (b, tuned_fields) in product(before.items(), after.items()):
            if all(base_fields.get(name) == tuned_fields.get(name) for name in (*SAME, *shared)):
                yield study, (pre, a), (post, b)


def _is_tuned_from(models: Mapping[str, Any], study_models: list[str], base_model: str, tuned_model: str) -> bool:
    """Tell whether `tuned_model` is a tuned version of `base_model`, according to run.json."""
    series = models[base_model].get("series")
    if models[base_model].get("stage") not in PRE or models[tuned_model].get("stage") not in POST or not series:
        return False
    if models[tuned_model].get("series") != series:
        return False
    bases = [
        model for model in study_models if models[model].get("series") == series and models[model].get("stage") in PRE
    ]
    size = models[base_model].get("parameters")
    return len(bases) == 1 or (size is not None and size == models[tuned_model].get("parameters"))


def _map_condition_fields(runs: Runs) -> dict[tuple[str, str], Mapping[str, Any]]:
    """Map (study, condition) to the fields of the condition."""
    conditions = runs.info["conditions"].items()
    return {(study, name): fields for study, entries in conditions for name, fields in entries.items()}


def _group_conditions_by_model(rows: pd.DataFrame) -> dict[tuple[str, str], list[str]]:
    """Map (study, model) to its conditions."""
    unit_rows = rows.drop_duplicates(["study", "model", "condition"])
    return {key: list(part["condition"]) for key, part in unit_rows.groupby(["study", "model"], sort=False)}
