"""Compute the tables on single readings, on what stays under all of them, and on pairs of them."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd

from analysis.measures.readings import ReadingGroup, read_reading_groups
from analysis.pages.readings.sheet_tables import tabulate_readings_corrected_by_people
from analysis.reporting.words.verdicts import mark_readings_with_artefact
from analysis.runs import Runs
from analysis.statistics.interval import Interval, build_interval_columns
from analysis.statistics.multiplicity import holm
from analysis.statistics.readings import moments, sharing
from analysis.statistics.resampling import DRAWS, Array
from analysis.statistics.significance import compute_smallest_bootstrap_p

TRIAD, PEOPLE = "readings", "people"
# Of texts: below, their shares are so close to 0 and 1 that other readings see that as a part of their own. At 0.2, one
# page in four would name an artefact where no text is misread, at 0.3 none (tests/benchmarks/bench_readings.py).
LEAST_TEMPERATURE = 0.3
_SHOWN = ("mean", "flips", "wording_sd", "wording_share", "kept")
_KEY = ["study", "model", "setting", "reading"]


def tabulate_readings(runs: Runs, *, sheet: str = "", resamples: int = DRAWS, seed: int = 0) -> pd.DataFrame:
    """Describe every reading of every model under every setting.

    Parameters
    ----------
    runs
        From `analysis.runs.open_runs`.
    sheet
        File with what people read (`sheet.read_sheet_of_human_readings`); empty: none.
    resamples, seed
        Bootstrap samples of the items, and their seed.

    Returns
    -------
    DataFrame
        A row per study, model, setting and reading; see the page's `columns`.
    """
    groups = read_reading_groups(runs)
    corrections = tabulate_readings_corrected_by_people(runs, sheet=sheet, resamples=resamples, seed=seed)
    if not groups:
        return pd.DataFrame(columns=_KEY)
    return build_table_of_readings_in_groups(groups, corrections, resamples, seed)


def build_table_of_readings_in_groups(
    groups: Sequence[ReadingGroup], corrections: pd.DataFrame, draws: int, seed: int
) -> pd.DataFrame:
    """Describe the readings of some groups, and mark which are named an artefact.

    Parameters
    ----------
    groups
        One or more.
    corrections
        From `tabulate_readings_corrected_by_people`.
    draws, seed
        Bootstrap samples of the items, and their seed.

    Returns
    -------
    DataFrame
        As `tabulate_readings`.
    """
    frame = pd.concat([_build_table_of_reading_group(group, draws, seed) for group in groups], ignore_index=True)
    frame = _replace_shares_by_narrower_ones_of_people(frame, corrections, draws)
    is_tested = frame["p"].notna()
    frame["p_holm"] = np.nan
    frame.loc[is_tested, "p_holm"] = holm(frame.loc[is_tested, "p"])
    frame["artefact"] = mark_readings_with_artefact(frame["own"], frame["p_holm"], frame["validity"])
    return frame


def compute_moments_of_compared_readings(
    group: ReadingGroup,
) -> tuple[list[int], moments.ItemMoments] | None:
    """Sum up the compared readings of a group; None for fewer than two, or without two common wordings of an item."""
    places = group.list_mostly_valid_readings()
    if len(places) < 2:
        return None
    item_moments = moments.compute_moment_sums_by_item(group.values[places], group.noise[np.ix_(places, places)])
    return (places, item_moments) if (item_moments.freedom > 0).any() else None


def _build_table_of_reading_group(group: ReadingGroup, draws: int, seed: int) -> pd.DataFrame:
    """Describe the readings of one group."""
    n = len(group.kinds)
    places = group.list_mostly_valid_readings()
    n_wordings, left_out = group.count_common_and_partial_wordings(places) if places else (0, 0)
    frame = pd.DataFrame({
        "study": group.study, "model": group.model, "setting": group.setting,
        "reading": [kind.name for kind in group.kinds], "read_condition": [kind.condition for kind in group.kinds],
        "compared": [place in places for place in range(n)], "validity": group.average_validity_per_reading(),
        "validity_at_most": group.validity_at_most,
        "validity_sd": [_compute_validity_sd_over_wordings(group.validity[place]) for place in range(n)],
        "n_asked": len(group.items), "n_wordings": n_wordings, "left_out": left_out,
        "accuracy": [_average_right_probability_of_reading(group, place, places) for place in range(n)],
    })  # fmt: skip
    figures = dict.fromkeys([*_SHOWN, *(f"{name}_{end}" for name in _SHOWN for end in ("lower", "upper"))], np.nan)
    empty_row = {**figures, "n_items": 0, "no_interval": "", "own": np.nan, "own_lower": np.nan, "own_upper": np.nan,
                 "own_most": np.nan, "own_from": "", "p": np.nan, "p_least": np.nan}  # fmt: skip
    columns: dict[str, list[Any]] = {name: [value] * n for name, value in empty_row.items()}
    selected = compute_moments_of_compared_readings(group)
    if selected is None:
        return frame.assign(**columns)
    item_moments = selected[1]
    figures_by_name = sharing.estimate_means_and_spreads_of_readings(item_moments, draws=draws, seed=seed)
    for place in places:
        columns["n_items"][place] = int((item_moments.freedom > 0).sum())
    for name, values in build_interval_columns({name: figures_by_name[name] for name in _SHOWN}).items():
        for place, value in zip(places, values, strict=True):
            columns[name][place] = value
    sources = [group.kinds[place].source for place in places]
    for row, place in enumerate(places):
        estimate_share = sharing.estimate_own_variance_share_of_one_reading
        if _is_single_or_low_temperature_reading(group, place):
            estimate_share = sharing.build_own_share_bounded_by_largest_r2
        share = estimate_share(item_moments, row, sources, draws=draws, seed=seed)
        columns["own_most"][place] = share.most
        if share.figure is not None:
            _write_variance_share_of_reading_alone_into_row(columns, place, share.figure, share.p, share.p_least)
    return frame.assign(**columns)


def _is_single_or_low_temperature_reading(group: ReadingGroup, place: int) -> bool:
    """Tell whether a reading is of one text or thought per wording, or of several at a low temperature.

    It is close to 0 or 1 then, and other readings cannot tell that from errors.
    """
    samples, kind = group.samples.get(place), group.kinds[place]
    is_cold = kind.temperature is not None and kind.temperature < LEAST_TEMPERATURE
    return samples is not None and (samples[1].shape[2] == 1 or is_cold)


def _write_variance_share_of_reading_alone_into_row(
    columns: dict[str, list[Any]], place: int, figure: Interval, p: float, p_least: float
) -> None:
    """Write the share of a reading's own, by triads, with its interval or why there is none."""
    own_columns = build_interval_columns({"own": figure})
    for name in ("own", "own_lower", "own_upper"):
        columns[name][place] = own_columns[name][0]
    reasons = [text for text in (columns["no_interval"][place], own_columns["no_interval"][0]) if text]
    columns["no_interval"][place] = "; ".join(reasons)
    columns["own_from"][place], columns["p"][place], columns["p_least"][place] = TRIAD, p, p_least


def _replace_shares_by_narrower_ones_of_people(
    frame: pd.DataFrame, corrections: pd.DataFrame, draws: int
) -> pd.DataFrame:
    """Take the share that is a reading's own from what people read, where its interval is narrower than by readings."""
    if corrections.empty:
        return frame
    shares = corrections[corrections["own"].notna()].set_index(_KEY)
    for place, key in enumerate(zip(*(frame[name] for name in _KEY), strict=True)):
        if key in shares.index and frame.loc[place, "compared"]:
            row = shares.loc[[key]].iloc[0]
            widths = [part["own_upper"] - part["own_lower"] for part in (row, frame.loc[place])]
            if not np.isnan(widths[1]) and not widths[0] < widths[1]:
                continue
            explanations = [
                part for part in str(frame.loc[place, "no_interval"]).split("; ") if not part.startswith("own:")
            ]
            reasons = [part for part in str(row["no_interval"]).split("; ") if "own" in part]
            explanations += [f"own: {part.rpartition(': ')[2]}" for part in reasons]
            frame.loc[place, ["own", "own_lower", "own_upper", "p"]] = row[["own", "own_lower", "own_upper", "p"]]
            frame.loc[place, "p_least"] = float(compute_smallest_bootstrap_p(draws, frame.loc[place, "n_items"]))
            reason_text = "; ".join(filter(None, explanations))
            frame.loc[place, ["own_from", "own_most", "no_interval"]] = [PEOPLE, np.nan, reason_text]
    return frame


def _compute_validity_sd_over_wordings(validity: Array) -> float:
    """Compute the SD of the validity over wordings within items, sampling included; NaN without two wordings."""
    is_asked = ~np.isnan(validity)
    freedom = np.maximum(is_asked.sum(axis=1) - 1, 0).sum()
    filled = np.where(is_asked, validity, 0.0)
    mean = filled.sum(axis=1) / np.maximum(is_asked.sum(axis=1), 1)
    squares = np.where(is_asked, (filled - mean[:, None]) ** 2, 0.0).sum()
    return float(np.sqrt(squares / freedom)) if freedom else np.nan


def _average_right_probability_of_reading(group: ReadingGroup, place: int, places: list[int]) -> float:
    """Average the probability of the right answer over the common wordings; NaN where none is known."""
    if place not in places:
        return np.nan
    values = np.where(
        moments.mark_wordings_common_to_readings(group.values[places]),
        group.compute_right_probabilities_of_reading(place),
        np.nan,
    )
    return float(np.nanmean(values)) if not np.isnan(values).all() else np.nan


def tabulate_agreement_of_reading_pairs(runs: Runs, *, resamples: int = DRAWS, seed: int = 0) -> pd.DataFrame:
    """Estimate how every two readings of a model go together.

    Parameters
    ----------
    runs
        From `analysis.runs.open_runs`.
    resamples, seed
        As in `tabulate_readings`.

    Returns
    -------
    DataFrame
        A row per study, model, setting and pair of compared readings.
    """
    parts = []
    for group in read_reading_groups(runs):
        if not (selected := compute_moments_of_compared_readings(group)):
            continue
        places, item_moments = selected
        pairs = list(combinations(range(len(places)), 2))
        kinds = [group.kinds[place] for place in places]
        columns: dict[str, Any] = build_interval_columns(
            sharing.estimate_kappa_and_r_of_reading_pairs(item_moments, pairs, draws=resamples, seed=seed)
        )
        parts.append(
            pd.DataFrame({
                "study": group.study, "model": group.model, "setting": group.setting,
                "reading_a": [kinds[a].name for a, _ in pairs], "reading_b": [kinds[b].name for _, b in pairs],
                "same_texts": [kinds[a].source == kinds[b].source for a, b in pairs],
                "n_items": int((item_moments.freedom > 0).sum()), "n_wordings": int(item_moments.n_wordings.sum()),
                **columns,
            })
        )  # fmt: skip
    return pd.concat(parts, ignore_index=True) if parts else pd.DataFrame(columns=["study", "model"])


def tabulate_unclosed_thoughts(runs: Runs) -> pd.DataFrame:
    """Count the thoughts that did not end by themselves, by model and reading.

    Returns
    -------
    DataFrame
        A row per study, model, setting and reading with thoughts.
    """
    rows = [
        (group.study, group.model, group.setting, kind.name, kind.condition,
         runs.info["conditions"][group.study][kind.condition].get("max_tokens"),
         int(group.thoughts[place]), int(group.unclosed[place]), group.unclosed[place] / group.thoughts[place])
        for group in read_reading_groups(runs) for place, kind in enumerate(group.kinds) if group.thoughts[place]
    ]  # fmt: skip
    names = [*_KEY, "read_condition", "max_tokens", "thoughts", "unclosed", "unclosed_share"]
    return pd.DataFrame(rows, columns=names)
