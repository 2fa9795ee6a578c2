"""Estimate how much of the wording effect stays under every reading."""

from __future__ import annotations

import numpy as np
import pandas as pd

from analysis.measures.readings import ReadingGroup, read_reading_groups
from analysis.pages.readings.ranking import list_reading_groups_of_each_setting
from analysis.pages.readings.tables import compute_moments_of_compared_readings
from analysis.runs import Runs
from analysis.statistics.interval import build_interval_columns
from analysis.statistics.readings import moments, sharing
from analysis.statistics.readings.common import estimate_largest_r2_of_reading_with_others
from analysis.statistics.resampling import DRAWS, Array
from analysis.statistics.significance import ROUNDING
from ground.errors import InputError, shorten_to_one_line


def tabulate_variance_kept_in_each_setting(
    runs: Runs, *, reading: str = "", resamples: int = DRAWS, seed: int = 0
) -> pd.DataFrame:
    """Estimate how much of the variance over wordings stays under every reading, all models of a setting together.

    Parameters
    ----------
    runs
        From `analysis.runs.open_runs`.
    reading
        The reading whose variance is looked at, such as "strict rule"; empty: the first one that answers.
    resamples, seed
        As in `tabulate_readings`.

    Returns
    -------
    DataFrame
        A row per study and setting; that of the most models, and of the most readings, first.

    Raises
    ------
    InputError
        For a `reading` that no model has beside another one.
    """
    rows = [
        row
        for groups in list_reading_groups_of_each_setting(runs)
        for row in _summarise_models_with_most_common_readings(groups, reading, resamples, seed)
    ]
    if reading and not rows:
        names = dict.fromkeys(kind.name for group in read_reading_groups(runs) for kind in group.kinds)
        raise InputError(f"reading {shorten_to_one_line(repr(reading))}: no model has it beside another one; the "
                         f"readings are {', '.join(names) or 'none'}")  # fmt: skip
    if not rows:
        return pd.DataFrame(columns=["study", "setting", "reading"])
    frame = pd.concat(rows, ignore_index=True)
    return frame.sort_values(["n_models", "n_readings"], ascending=False, kind="stable", ignore_index=True)


def _summarise_models_with_most_common_readings(
    groups: list[ReadingGroup], reading: str, draws: int, seed: int
) -> list[pd.DataFrame]:
    """Sum up the models of a setting that have the same readings as most of them; nothing without any."""
    by_names: dict[tuple[str, ...], list[tuple[moments.ItemMoments, bool]]] = {}
    source_by_name: dict[str, str] = {}
    for group in groups:
        if selected := compute_moments_of_compared_readings(group):
            places, item_moments = selected
            source_by_name |= {kind.name: kind.source for kind in group.kinds}
            names = tuple(group.kinds[place].name for place in places)
            by_names.setdefault(names, []).append((item_moments, _are_all_readings_equal(group.values[places])))
    by_names = {names: parts for names, parts in by_names.items() if not reading or reading in names}
    if not by_names:
        return []
    names = max(by_names, key=lambda key: (len(by_names[key]), len(key)))
    (total, _), *others = by_names[names]
    for part, _ in others:
        total = total.build_sum_with_other_model(part)
    place = names.index(reading) if reading else 0
    figures = sharing.estimate_means_and_spreads_of_readings(total, draws=draws, seed=seed)
    sources = [source_by_name[name] for name in names]
    common = estimate_largest_r2_of_reading_with_others(total, place, sources, draws=draws, seed=seed)
    columns = build_interval_columns({name: figures[name] for name in ("wording_sd", "kept")})
    common_columns = build_interval_columns({"common": common})
    return [
        pd.DataFrame(columns).iloc[[place]].assign(
            **{name: common_columns[name][0] for name in ("common", "common_lower", "common_upper")},
            same=all(is_same for _, is_same in by_names[names]),
            study=groups[0].study, setting=groups[0].setting, reading=names[place], n_models=len(others) + 1,
            n_readings=len(names), n_sources=len(set(sources)),
            n_items=int((total.freedom > 0).sum()), n_wordings=int(total.n_wordings.sum()),
        )
    ]  # fmt: skip


def _are_all_readings_equal(values: Array) -> bool:
    """Tell whether all readings (R, items, wordings) have the same numbers on the wordings that all have."""
    common = values[:, moments.mark_wordings_common_to_readings(values)]
    return bool((np.ptp(common, axis=0) <= ROUNDING).all())
