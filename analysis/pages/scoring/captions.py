"""Write the captions of the figures; each function takes the frames of its namesake in `plots`."""

from __future__ import annotations

import pandas as pd

from analysis.pages.scoring.plots import LINES, LOGARITHMIC, NAMED, lines, shown_omissions
from analysis.reporting import labels, panels
from analysis.reporting.catalogue import column
from analysis.reporting.columns import value
from analysis.reporting.words import count, low_to_high, missing, no_interval

_HOLLOW = "Filled: tuned models; hollow: base models."


def _unnamed(models: int) -> str:
    """Say that a legend is left out; empty where it is there."""
    return "" if models <= NAMED else f" No legend: {models:,} models are more than colours; the table names them."


def _logarithmic(kurtosis: pd.Series) -> str:
    """Say what the axis of kurtosis is; empty where it is an even one."""
    return " The axis of kurtosis is logarithmic beyond 1." if kurtosis.max() > LOGARITHMIC else ""


def score_violins(items: pd.DataFrame) -> str:
    """Write the caption of the violins."""
    span, temperature, method = str(items["setting"].iloc[0]).rsplit("/", 2)
    sizes = items.groupby(["study", "group"])["item"].nunique()
    groups = f"in {count(len(sizes), 'group')} " if len(sizes) > 1 else ""
    human = " Grey: the human scores, moved to the same range." if items["gold"].notna().any() else ""
    unscored, models = int(items["score"].isna().sum()), labels.series(items).nunique()
    left = f" Left out: {count(unscored, 'missing score')}." if unscored else ""
    return (
        f"Distribution of the scores that {count(items['model'].nunique(), 'model')} gave to "
        f"{low_to_high(sizes)} items {'each ' if len(sizes) > 1 else ''}{groups}on the range "
        f"{span} at temperature {temperature} ({method} scores). Kernel densities, each scaled to the same height, "
        f"cut at the lowest and highest score. Stroke: median. {_HOLLOW}{human}{left}"
        f"{labels.shown(panels.ROWS, models, 'models', 'with the lowest and highest mean score')}"
        f"{labels.explained(items)}"
    )


def score_temperatures(scores: pd.DataFrame) -> str:
    """Write the caption of the curves by temperature."""
    first = scores.iloc[0]
    items = low_to_high(scores["n"])
    flat = int(scores["kurtosis"].isna().sum())
    models = scores[["study", "model", "form"]].drop_duplicates()["model"].size
    left = f" No mark, {flat} times: all scores are equal, so there is no kurtosis." if flat else ""
    return (
        f"Kurtosis of the scores and their tau-b with the human scores by temperature: {first['method']} scores on the "
        f"range {first['range']}, over {items} items per group.{_logarithmic(lines(scores)['kurtosis'])} "
        f"Lines: 95 % bootstrap intervals over items.{missing(scores, 'kurtosis', 'tau')} Filled, solid: "
        f"tuned models; hollow, dashed: base models.{left}"
        f"{labels.shown(LINES, models, 'models', 'with the lowest and highest mean tau')}{labels.explained(scores)}"
    )


def score_methods(frame: pd.DataFrame) -> str:
    """Write the caption of the comparison of sampled and exact scores."""
    both = frame.dropna(subset=["tau_difference"])
    peaks = frame[["kurtosis_sampled", "kurtosis_exact"]].dropna()
    samples = low_to_high(frame["samples"])
    return (
        f"Kurtosis and tau-b of item scores that are the mean of {samples} samples, by those of the exact expected "
        f"scores. Shown: {count(len(frame), 'combination')} of group, model, range and temperature "
        f"({count(len(both), 'has', 'have')} both taus). Dashed: both are equal. Below it, sampled scores have the "
        f"lower tau. {_HOLLOW}{_unnamed(labels.series(frame).nunique())}"
        f"{_logarithmic(peaks.stack())}{labels.explained(frame)}"
    )


def score_influence(influence: pd.DataFrame, points: pd.DataFrame) -> str:
    """Write the caption of the points that the correlation is made of.

    Parameters
    ----------
    influence, points
        As in `plots.score_influence`.

    Returns
    -------
    str
        The caption.
    """
    whole = influence[influence["omitted"] == "nothing"].iloc[0]
    listed = shown_omissions(influence)
    total = int((influence["omitted"] != "nothing").sum())
    pearson = value(whole["pearson"], column("score_influence", "pearson"))
    sure = f" ({no_interval(whole, 'pearson')})" if whole["no_interval"] else ""
    if pd.notna(whole["pearson_lower"]):
        sure = ", with its 95 % bootstrap interval over points"
    shown = f"the {len(listed)} of {total} omissions that change it most" if total > len(listed) else "every omission"
    right = (
        f" Right: Pearson's correlation without single points, groups and series, {shown}. Dashed and grey: all "
        f"points, {pearson}{sure}."
    )
    named = " The point named moves the correlation most." if len(listed) else f" Pearson's correlation: {pearson}."
    return (
        f"{whole['source'][0].upper()}{whole['source'][1:]}, range {whole['range']} at temperature "
        f"{whole['temperature']:g}, {whole['method']} scores. Change of kurtosis and of tau by tuning, one point per "
        f"group and series (n = {int(whole['n'])}, {int(whole['undefined'])} undefined).{named}"
        f"{right if len(listed) else ' Too few points to leave any out.'}"
    )
