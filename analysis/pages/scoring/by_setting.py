"""Write what changes with the setting of a page on scores: the range, the temperature, samples or exact scores."""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd

from analysis.measures.scores import GOLD
from analysis.measures.thresholds import is_validity_below_half
from analysis.pages.scoring.contrasts import POST, PRE
from analysis.pages.scoring.items import parse_range_ends
from analysis.reporting.words import (
    explain_no_detectable_difference,
    format_count_range,
    format_percent,
    format_quantity,
    join_names,
    verdicts,
)
from analysis.statistics.multiplicity import ALPHA, has_possibly_significant_test

HOLM = f"bootstrap, at {ALPHA:g} after Holm"


def describe_all_settings_in_tables(models: pd.DataFrame) -> Iterator[str]:
    """Say which settings the tables hold, where there are several."""
    ranges, temperature_count = list(models["range"].unique()), models["temperature"].nunique(dropna=False)
    methods = " and ".join(models["method"].unique())
    if len(models.drop_duplicates(["range", "temperature", "method"])) > 1:
        yield (
            f"All settings are in the tables: {'ranges' if len(ranges) > 1 else 'range'} {join_names(ranges, 4)}, "
            f"{format_quantity(temperature_count, 'temperature')}, {methods} scores."
        )


def count_differences_of_sign_and_clear_ones(pairs: pd.DataFrame, measure: str, sign: int) -> tuple[int, int]:
    """Count the differences in a measure that have a sign.

    Parameters
    ----------
    pairs
        Rows of a table of differences.
    measure
        The measure, such as kurtosis.
    sign
        1 or -1.

    Returns
    -------
    tuple of int
        How many have the sign, and how many of these are significant after Holm.
    """
    with_sign = sign * pairs[f"{measure}_difference"] > 0
    return int(with_sign.sum()), int((with_sign & verdicts.mark_clear_effects(pairs[f"{measure}_p_holm"])).sum())


def describe_range_of_most_extreme_kurtosis(ranges: pd.DataFrame, scores: pd.DataFrame) -> Iterator[str]:
    """Say on which range the kurtosis is furthest from 0, with models that are judged on every range.

    Parameters
    ----------
    ranges, scores
        Tables `score_ranges` and `scores`.

    Yields
    ------
    str
        A sentence, where there are several ranges.
    """
    names = [name for name in ranges if name.startswith("kurtosis_")]
    unit = ["study", "group", "model", "form", "prompt", "temperature", "method"]
    unjudged = scores.loc[is_validity_below_half(scores["validity"]), unit].drop_duplicates()
    judged = ranges.merge(unjudged, how="left", on=unit, indicator=True).query("_merge == 'left_only'")
    complete_rows = judged[judged[names].notna().all(axis=1)] if len(names) > 1 else judged.iloc[:0]
    if complete_rows.empty:
        return
    range_counts = complete_rows[names].abs().idxmax(axis=1).value_counts()
    name = str(range_counts.index[0]).removeprefix("kurtosis_").replace("_", "-")
    prompt_text = "prompt, " if ranges["prompt"].nunique() > 1 else ""
    yield (
        f"The kurtosis is furthest from 0 on the range {name} in {range_counts.iloc[0]} of "
        f"{format_quantity(len(complete_rows), 'combination')} of group, model, {prompt_text}temperature and method "
        "that have one on every range."
    )


def describe_kurtosis_by_temperature(scores: pd.DataFrame) -> Iterator[str]:
    """Say whether the kurtosis is lower at the highest temperature than at the lowest, for models of each stage."""
    models = scores[(scores["model"] != GOLD) & ~is_validity_below_half(scores["validity"])]
    unit = ["study", "group", "model", "form", "prompt", "range", "method"]
    n_curves = 0
    kinds = {**dict.fromkeys(PRE, "base models"), **dict.fromkeys(POST, "tuned models")}
    for kind, part in models.groupby(models["stage"].map(kinds).fillna("models of unknown stage"), sort=True):
        ordered = part.dropna(subset=["kurtosis", "temperature"]).sort_values("temperature")
        curves = ordered.groupby(unit, sort=False, dropna=False)["kurtosis"].agg(["first", "last", "size"])
        curves = curves[curves["size"] > 1]
        n_curves += len(curves)
        if len(curves):
            lower = int((curves["last"] < curves["first"]).sum())
            yield (
                f"With {kind}, the kurtosis is lower at the highest temperature than at the lowest in {lower} "
                f"of {format_quantity(len(curves), 'case')} of model, group, range and method."
            )
    if n_curves and models["temperature"].isna().any():
        yield "Scores at the maker’s temperature are left out of this; the tables have them."


def describe_sampled_versus_exact_scores(methods: pd.DataFrame) -> Iterator[str]:
    """Say how far sampled scores are from exact ones, and whether their tau is lower."""
    judged = methods[
        ~(is_validity_below_half(methods["validity_sampled"]) | is_validity_below_half(methods["validity_exact"]))
    ]
    comparisons = judged.dropna(subset=["tau_difference"])
    if comparisons.empty:
        return
    width = judged["range"].map(lambda span: parse_range_ends(span)[1] - parse_range_ends(span)[0])
    distance = format_percent((judged["score_distance"] / width).mean())
    yield (
        f"The mean of {format_count_range(judged['samples'], 'sample')} lies {distance} of the range away from the "
        "exact score on average."
    )
    lower, n_clear = count_differences_of_sign_and_clear_ones(comparisons, "tau", -1)
    families = [family for _, family in methods[methods["tau_p"].notna()].groupby("study")]
    is_detectable = has_possibly_significant_test(*families)
    n_tested = int(comparisons["tau_p_holm"].notna().sum())
    of_tested = f" of {n_tested:,} with a test" if n_tested < len(comparisons) else ""
    clear_text = f", clearly in {n_clear or 'none'}{of_tested} ({HOLM})" if is_detectable and n_tested else ""
    yield (
        f"Its tau is lower than that of the exact score in {lower} of "
        f"{format_quantity(len(comparisons), 'comparison')}{clear_text}."
    )
    if families and not is_detectable:
        yield explain_no_detectable_difference(*families)
