"""Measure how models use a scale, and how well: numeric bias and agreement with human scores (Sato et al., section 3).

The bias is the kurtosis of a model's scores over the items: the sharper their peak, the larger. What the paper does not
report is added: variance, the share of the most frequent number, entropy, intervals, and how far the
correlation between a rise in kurtosis and a loss in tau rests on single points.

Reference
---------
Sato, A. et al. The influence of alignment on numeric bias in large language models (in Japanese): kurtosis and tau in
section 3.3, Tables 1 and 2, Figures 2 to 5.
"""

from __future__ import annotations

from functools import partial

import numpy as np
import pandas as pd

from analysis.measures.agreement import CONVENTIONS
from analysis.measures.scores import GOLD, read_scores
from analysis.pages.scoring.items import build_score_matrix_gold_and_width, choose_headline_setting, parse_range_ends
from analysis.pages.scoring.undefined import list_reasons_kurtosis_or_tau_is_undefined
from analysis.runs import Runs
from analysis.statistics import forms, interval, weighted
from analysis.statistics.forms import Form
from analysis.statistics.interval import Interval
from analysis.statistics.resampling import (
    DRAWS,
    Array,
    Columns,
    bootstrap_intervals,
    compute_shares_or_differences_per_draw,
)
from analysis.statistics.shares import Share, build_shares_by_figure

_OF_UNIT = {
    **{name: (name, "first") for name in ("series", "stage", "form", "temperature", "method", "samples")},
    "rows": ("item", "size"), "scored": ("score", "count"), "answered": ("answered", "sum"),
    "validity": ("validity", "mean"), "validity_at_most": ("validity_at_most", "mean"),
    "dropped": ("dropped", "sum"), "clipped": ("clipped", "sum"),
}  # fmt: skip


def _choose_interval_forms_of_score_spread(n_numbers: float) -> dict[str, Form]:
    """Choose the intervals of the figures for which draws are not good enough, on a scale with so many numbers."""
    entropy = forms.build_entropy_interval_form("number", n_numbers)
    return {"kurtosis": forms.KURTOSIS, "variance": forms.build_variance_interval_form("score"), "entropy": entropy}


def tabulate_score_bias_and_accuracy(
    runs: Runs, *, biased: bool = True, invalid: str = "dropped", resamples: int = DRAWS, seed: int = 0
) -> pd.DataFrame:
    """Measure the numeric bias and accuracy of every model in every group of items under every condition.

    Parameters
    ----------
    runs
        From `analysis.runs.open_runs`.
    biased
        Kurtosis as m4 / m2^2 - 3, which is what the paper's figures for the human scores agree with; false: corrected
        for sample size (G2).
    invalid
        As in `read_scores`. "inconsistent": an item without a score counts in `mode_share`, and does not have the most
        frequent number; kurtosis, tau and the others are of numbers, and of the items that have a score.
    resamples, seed
        Draws of the bootstrap over items (0: no intervals) and its seed.

    Returns
    -------
    DataFrame
        study, group, model, series, stage, condition, form, prompt (name of the file it is in; empty for Waver's),
        range, temperature, method; the human scores stand first in each group and range, with model "gold" and neither
        condition, temperature nor method;
        n: items with a score; n_gold: of these, with a human score, the items in tau, spearman and pearson;
        unscored: items without a score, whose samples were all dropped, whose numbers had no probability, or whose
        prompt got no response; no_response: the last of these; n and unscored together are all items of the group;
        kurtosis (Fisher), variance (n - 1): of the item scores; NaN for a constant score and below two items;
        mode, mode_share, distinct, entropy: the most frequent number, its share of the scores (with
        invalid="inconsistent", of the items with a response), how many different
        numbers occur, and the entropy in bits, corrected for how many items there are
        (`weighted.compute_mode_share_and_entropy_per_draw`), each score counted at the nearest number (halves up);
        tau (tau-b), spearman, pearson: correlation with the human score, NaN where either is constant or missing;
        validity: mean share of valid samples, or mean probability of all numbers together; validity_at_most: its upper
        bound, NaN where it is exact; samples: per item, none where exact; dropped, clipped: samples without a number,
        and moved into range, of all items;
        caution: why figures are missing (`undefined.list_reasons_kurtosis_or_tau_is_undefined`); X_lower, X_upper: 95 %
        interval of X over
        items, of mode_share after `analysis.statistics.shares`, of kurtosis, variance and entropy after
        `statistics.forms`, else with items resampled; no_interval: which X have none, and why.

    Raises
    ------
    InputError
        For an unknown `invalid`, and for a number of draws or a seed that is out of range.
    """
    rows, parts = read_scores(runs, invalid), []
    for (study, group, span), part in rows.groupby(["study", "group", "range"], sort=False):
        wide, gold, width = build_score_matrix_gold_and_width(part)
        estimate_shape = partial(
            bootstrap_intervals,
            statistic=partial(_compute_drawn_kurtosis_and_concentration, biased=biased, scale=width),
            shares=_build_hits_and_totals_of_mode,
            forms=_choose_interval_forms_of_score_spread(width + 1),
            draws=resamples,
            seed=seed,
        )
        gold_scores = wide[[]].assign(gold=gold)
        if gold_scores["gold"].notna().any():
            intervals = estimate_shape(_build_score_and_nearest_number_arrays(gold_scores))
            gold_rows = _build_score_measure_rows(gold_scores, intervals).assign(model=GOLD, dropped=0, clipped=0)
            gold_rows = gold_rows.assign(
                n_gold=gold_rows["n"], unscored=len(gold_scores) - gold_rows["n"], no_response=0
            )
            gold_rows["caution"] = "; ".join(
                list_reasons_kurtosis_or_tau_is_undefined(gold, gold, width, biased=biased)[:1]
            )
            parts.append(gold_rows.assign(study=study, group=group, range=span))
        score_matrix = wide.to_numpy(float)
        intervals = estimate_shape(_build_score_and_nearest_number_arrays(wide))
        if invalid != "dropped":
            answered = part.pivot(index="item", columns=["model", "condition"], values="answered")
            answered_matrix = answered.reindex(index=wide.index, columns=wide.columns).to_numpy(bool)
            intervals |= _estimate_mode_share_of_items_with_response(score_matrix, answered_matrix, resamples, seed)
        score_and_gold = {"score": score_matrix, "gold": np.broadcast_to(gold[:, None], score_matrix.shape)}
        accordance = bootstrap_intervals(
            score_and_gold,
            partial(weighted.compute_gold_correlations_per_draw, scale=width),
            draws=resamples,
            seed=seed,
        )
        block = _build_score_measure_rows(wide, intervals | accordance).assign(n_gold=accordance["tau"].n_items)
        about = part.groupby(["model", "condition"], sort=False).agg(**_OF_UNIT).reset_index()
        about["validity_at_most"] = about["validity_at_most"].where(about["validity_at_most"] > about["validity"])
        about["unscored"], about["no_response"] = about["rows"] - about["scored"], about["rows"] - about["answered"]
        block = pd.concat([about, block], axis=1)
        block["caution"] = [
            "; ".join(list_reasons_kurtosis_or_tau_is_undefined(model_scores, gold, width, biased=biased))
            for model_scores in score_matrix.T
        ]
        parts.append(block.assign(study=study, group=group, range=span))
    frame = pd.concat(parts, ignore_index=True).drop(columns=["rows", "scored", "answered"])
    prompts = {
        (study, name): fields.get("prompt") or ""
        for study, conditions in runs.info["conditions"].items()
        for name, fields in conditions.items()
    }
    frame["prompt"] = [prompts.get(names, "") for names in zip(frame["study"], frame["condition"], strict=True)]
    # The human scores have neither condition nor samples: their rows made whole numbers of models to floats.
    return frame.astype(dict.fromkeys(["n", "n_gold", "unscored", "no_response", "dropped", "clipped"], int))


def _tabulate_scores_without_intervals_once(runs: Runs, biased: bool, invalid: str) -> pd.DataFrame:
    """Return `scores` without intervals, computed once for the tables that need them."""
    key = ("point estimates of scores", biased, invalid)
    return runs.compute_once(
        key, lambda: tabulate_score_bias_and_accuracy(runs, biased=biased, invalid=invalid, resamples=0)
    )


def tabulate_scores_by_invalid_convention(runs: Runs, *, biased: bool = True) -> pd.DataFrame:
    """Compare both ways to treat samples without a number, where there are some: dropped, or counted.

    Parameters
    ----------
    runs
        From `analysis.runs.open_runs`.
    biased
        As in `tabulate_score_bias_and_accuracy`.

    Returns
    -------
    DataFrame
        study, group, model, condition, range, temperature; dropped: samples without a number; n_X: items with a score,
        kurtosis_X, tau_X, mode_share_X under both conventions (`read_scores`).
    """
    scores_by_convention = {name: _tabulate_scores_without_intervals_once(runs, biased, name) for name in CONVENTIONS}
    key = ["study", "group", "model", "condition", "range", "temperature", "dropped"]
    frame = scores_by_convention["dropped"][key]
    for name in ("n", "kurtosis", "tau", "mode_share"):
        frame = frame.assign(
            **{f"{name}_{convention}": table[name] for convention, table in scores_by_convention.items()}
        )
    return frame[frame["dropped"] > 0].reset_index(drop=True)


def tabulate_scores_of_every_item(runs: Runs, *, setting: str = "", invalid: str = "dropped") -> pd.DataFrame:
    """Compute every item's score by every model, with its human score, in one setting.

    Parameters
    ----------
    runs
        From `analysis.runs.open_runs`.
    setting
        Range, temperature and method, such as "0-9/0.7/sampled"; empty: as in
        `analysis.pages.scoring.items.choose_headline_setting`.
    invalid
        As in `read_scores`.

    Returns
    -------
    DataFrame
        study, model, stage, condition, setting, group, item, source, text, score, gold (on the same range), gap: score
        minus human score, and distance, its absolute value; in the order of run.json and of the study.

    Raises
    ------
    InputError
        For a setting that was not asked, and an unknown `invalid`.
    """
    rows = read_scores(runs, invalid)
    chosen = rows[rows["setting"] == choose_headline_setting(rows, setting)]
    names = ["study", "model", "stage", "condition", "setting", "group", "item", "source", "text", "score", "gold"]
    gap = chosen["score"] - chosen["gold"]
    return chosen[names].assign(gap=gap, distance=gap.abs()).reset_index(drop=True)


def tabulate_kurtosis_and_tau_by_range(runs: Runs, *, biased: bool = True, invalid: str = "dropped") -> pd.DataFrame:
    """Make kurtosis and tau columns by the range that was asked for, wide as the paper's Table 2.

    Parameters
    ----------
    runs
        From `analysis.runs.open_runs`.
    biased, invalid
        As in `tabulate_score_bias_and_accuracy`.

    Returns
    -------
    DataFrame
        study, group, model, series, stage, form, prompt, temperature, method, then kurtosis_LOW_HIGH and tau_LOW_HIGH
        for every range (kurtosis_0_9 ...), NaN where undefined or not asked.
    """
    long = _tabulate_scores_without_intervals_once(runs, biased, invalid)
    long = long[long["model"] != GOLD]
    unit = ["study", "group", "model", "series", "stage", "form", "prompt", "temperature", "method"]
    wide = long[unit].drop_duplicates()
    for measure in ("kurtosis", "tau"):
        for span in long["range"].unique():
            low, high = parse_range_ends(span)
            column = long.loc[long["range"] == span, [*unit, measure]]
            wide = wide.merge(column.rename(columns={measure: f"{measure}_{low}_{high}"}), "left", on=unit)
    return wide


def _build_score_and_nearest_number_arrays(wide: pd.DataFrame) -> dict[str, Array]:
    """Return the scores (items, units), and the numbers that they are nearest to."""
    scores = wide.to_numpy(float)
    return {"score": scores, "number": weighted.round_halves_up_to_whole_numbers(scores)}


def _compute_drawn_kurtosis_and_concentration(
    columns: Columns, draw_counts: Array, *, biased: bool, scale: float
) -> dict[str, Array]:
    """Compute kurtosis, variance, mode share and entropy of every unit's scores in every draw."""
    moments = weighted.compute_kurtosis_and_variance_per_draw(draw_counts, columns["score"], biased=biased, scale=scale)
    return moments | weighted.compute_mode_share_and_entropy_per_draw(draw_counts, columns["score"], scale + 1)


def _build_hits_and_totals_of_mode(columns: Columns) -> dict[str, list[Share]]:
    """Return the share of the items that have the most frequent number; that it is this number is taken as given."""
    numbers = columns["number"]
    modes = [weighted.find_mode_and_count_distinct(unit_scores)[0] for unit_scores in columns["score"].T]
    return {"mode_share": [[((numbers == modes).astype(float), np.ones_like(numbers))]]}


def _estimate_mode_share_of_items_with_response(
    score_matrix: Array, has_response: np.ndarray, resamples: int, seed: int
) -> dict[str, Interval]:
    """Compute the share of the most frequent number over all items with a response, with a score or without."""
    numbers = weighted.round_halves_up_to_whole_numbers(score_matrix)
    modes = np.array([weighted.find_mode_and_count_distinct(column[~np.isnan(column)])[0] for column in score_matrix.T])
    is_counted = has_response & ~np.isnan(modes)
    columns = {"hit": np.where(is_counted, numbers == modes, np.nan), "item": np.where(is_counted, 1.0, np.nan)}
    parts = {"mode_share": [("hit", "item")]}
    return bootstrap_intervals(
        columns, partial(compute_shares_or_differences_per_draw, parts_by_figure=parts),
        partial(build_shares_by_figure, parts_by_figure=parts), draws=resamples, seed=seed,
    )  # fmt: skip


def _build_score_measure_rows(wide: pd.DataFrame, intervals: dict[str, Interval]) -> pd.DataFrame:
    """Make one row per unit: figures with their intervals, the most frequent number and how many there are."""
    modes = [weighted.find_mode_and_count_distinct(column[~np.isnan(column)]) for column in wide.to_numpy(float).T]
    about = {
        "n": next(iter(intervals.values())).n_items,
        "mode": [mode for mode, _ in modes],
        "distinct": [distinct for _, distinct in modes],
    }
    return pd.DataFrame(about | interval.build_interval_columns(intervals))
