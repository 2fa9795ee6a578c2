"""Compare the ranking of the models under two readings."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pandas as pd

from analysis.measures.readings import ReadingGroup, read_reading_groups
from analysis.runs import Runs
from analysis.statistics.interval import build_interval_columns
from analysis.statistics.multiplicity import ALPHA, holm
from analysis.statistics.readings.moments import mark_wordings_common_to_readings
from analysis.statistics.readings.ranks import estimate_tau_of_models_under_two_readings
from analysis.statistics.resampling import DRAWS, Array, bootstrap_differences, compute_mean_per_draw

LEAST_MODELS = 2


def list_reading_groups_of_each_setting(runs: Runs) -> list[list[ReadingGroup]]:
    """Group the readings of the models by study and setting."""
    by_setting: dict[tuple[str, str], list[ReadingGroup]] = {}
    for group in read_reading_groups(runs):
        by_setting.setdefault((group.study, group.setting), []).append(group)
    return list(by_setting.values())


def tabulate_ranking_agreement_of_readings(runs: Runs, *, resamples: int = DRAWS, seed: int = 0) -> pd.DataFrame:
    """Compare how every two readings rank the models of a setting.

    Parameters
    ----------
    runs
        From `analysis.runs.open_runs`.
    resamples, seed
        Bootstrap samples of the items, and their seed.

    Returns
    -------
    DataFrame
        A row per study, setting and pair of readings that two models or more have.
    """
    rows = []
    for groups in list_reading_groups_of_each_setting(runs):
        names = dict.fromkeys(
            group.kinds[place].name for group in groups for place in group.list_mostly_valid_readings()
        )
        for pair in combinations(names, 2):
            ranked_means = _average_reading_pair_by_item(groups, pair)
            if ranked_means is not None:
                rows.append(_compare_rankings_of_readings(*ranked_means, resamples, seed).assign(
                    study=groups[0].study, setting=groups[0].setting, reading_a=pair[0], reading_b=pair[1]
                ))  # fmt: skip
    return pd.concat(rows, ignore_index=True) if rows else pd.DataFrame(columns=["study", "setting"])


def _average_reading_pair_by_item(groups: list[ReadingGroup], pair: tuple[str, str]) -> tuple[Array, str] | None:
    """Average two readings of several models over the wordings that all have: (2, items, models), and the measure."""
    values, measure = [], ""
    for group in groups:
        place_by_name = {group.kinds[place].name: place for place in group.list_mostly_valid_readings()}
        if all(name in place_by_name for name in pair):
            accuracies = [group.compute_right_probabilities_of_reading(place_by_name[name]) for name in pair]
            has_right = not np.isnan(np.stack(accuracies)).all()
            measure = "accuracy" if has_right else group.measure
            values.append(np.stack(accuracies if has_right else [group.values[place_by_name[name]] for name in pair]))
    if len(values) < LEAST_MODELS:
        return None
    stacked = np.stack(values, axis=-1)  # (2, items, wordings, models)
    is_common = mark_wordings_common_to_readings(np.moveaxis(stacked, -1, 0).reshape(-1, *stacked.shape[1:3]))
    n = is_common.sum(axis=1)
    if not n.any():
        return None
    means = np.where(is_common[None, :, :, None], stacked, 0.0).sum(axis=2)[:, n > 0] / n[n > 0][None, :, None]
    return means, measure


def _compare_rankings_of_readings(means: Array, measure: str, draws: int, seed: int) -> pd.DataFrame:
    """Compare two rankings: tau, and the pairs of models that swap."""
    n_models = means.shape[2]
    pairs = list(combinations(range(n_models), 2))
    differences = [
        bootstrap_differences(
            {"mean": of_reading}, lambda columns, counts: {"mean": compute_mean_per_draw(counts, columns["mean"])},
            pairs, draws=draws, seed=seed,
        )["mean"]
        for of_reading in means
    ]  # fmt: skip
    signs = [np.sign(part.estimate) for part in differences]
    p_values = np.nan_to_num(np.concatenate([part.p for part in differences]), nan=1.0)
    clear = (holm(p_values) < ALPHA).reshape(2, -1).all(axis=0)
    swaps = signs[0] * signs[1] < 0
    tau = estimate_tau_of_models_under_two_readings(means, draws=draws, seed=seed)
    return pd.DataFrame(build_interval_columns(tau)).assign(
        measure=measure, n_models=n_models, n_items=means.shape[1], n_pairs=len(pairs), n_swaps=int(swaps.sum()),
        n_clear_swaps=int((swaps & clear).sum()),
    )  # fmt: skip
