"""Write what changes with the setting of a page on scores: the range, the temperature, samples or exact scores."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd

from analysis.pages.scoring.items import ends
from analysis.reporting import verdicts
from analysis.reporting.thresholds import silent
from analysis.reporting.words import count, listing, low_to_high, percent
from analysis.runs.scores import GOLD
from analysis.statistics.multiplicity import ALPHA

HOLM = f"bootstrap, at {ALPHA:g} after Holm"


def others(models: pd.DataFrame) -> Iterator[str]:
    """Say which other settings the tables hold."""
    spans, warmth = list(models["range"].unique()), models["temperature"].nunique()
    ways = " and ".join(models["method"].unique())
    if len(models.drop_duplicates(["range", "temperature", "method"])) > 1:
        yield (
            f"All settings are in the tables: {'ranges' if len(spans) > 1 else 'range'} {listing(spans, 4)}, "
            f"{count(warmth, 'temperature')}, {ways} scores."
        )


def signs(pairs: pd.DataFrame, name: str, sign: int) -> tuple[int, int]:
    """Count the differences in a measure that have a sign.

    Parameters
    ----------
    pairs
        Rows of a table of differences.
    name
        The measure, such as kurtosis.
    sign
        1 or -1.

    Returns
    -------
    tuple of int
        How many have the sign, and how many of these are significant after Holm.
    """
    with_sign = sign * pairs[f"{name}_difference"] > 0
    return int(with_sign.sum()), int((with_sign & verdicts.clear(pairs[f"{name}_p_holm"])).sum())


def by_range(ranges: pd.DataFrame) -> Iterator[str]:
    """Say on which range the kurtosis is furthest from 0."""
    names = [name for name in ranges if name.startswith("kurtosis_")]
    known = ranges[ranges[names].notna().all(axis=1)] if len(names) > 1 else ranges.iloc[:0]
    if known.empty:
        return
    peaked = known[names].abs().idxmax(axis=1).value_counts()
    name = str(peaked.index[0]).removeprefix("kurtosis_").replace("_", "-")
    yield (
        f"The kurtosis is furthest from 0 on the range {name} in {peaked.iloc[0]} of "
        f"{count(len(known), 'combination')} of group, model, temperature and method that have one on every range."
    )


def by_temperature(scores: pd.DataFrame) -> Iterator[str]:
    """Say whether the kurtosis is lower at the highest temperature than at the lowest, for base and tuned models."""
    models = scores[(scores["model"] != GOLD) & ~silent(scores["validity"])]
    unit = ["study", "group", "model", "form", "range", "method"]
    for kind, part in models.groupby(np.where(models["stage"] == "base", "base", "tuned"), sort=True):
        ordered = part.dropna(subset=["kurtosis"]).sort_values("temperature").groupby(unit, sort=False, dropna=False)
        curves = ordered["kurtosis"].agg(["first", "last", "size"])
        curves = curves[curves["size"] > 1]
        if len(curves):
            lower = int((curves["last"] < curves["first"]).sum())
            yield (
                f"With {kind} models, the kurtosis is lower at the highest temperature than at the lowest in {lower} "
                f"of {count(len(curves), 'case')} of model, group, range and method."
            )


def by_method(methods: pd.DataFrame) -> Iterator[str]:
    """Say how far sampled scores are from exact ones, and whether their tau is lower."""
    known = methods[~(silent(methods["validity_sampled"]) | silent(methods["validity_exact"]))]
    known = known.dropna(subset=["tau_difference"])
    if known.empty:
        return
    lower, sure = signs(known, "tau", -1)
    width = methods["range"].map(lambda span: ends(span)[1] - ends(span)[0])
    distance = percent((methods["score_distance"] / width).mean())
    yield (
        f"The mean of {low_to_high(methods['samples'])} samples lies {distance} of the range away from the exact "
        "score on average."
    )
    yield (
        f"Its tau is lower than that of the exact score in {lower} of {count(len(known), 'comparison')}, clearly in "
        f"{sure or 'none'} ({HOLM})."
    )
