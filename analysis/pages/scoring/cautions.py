"""Write the cautions of the page on scores: what weakens the answer, from its tables."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import pandas as pd

from analysis.pages.scoring.items import chosen
from analysis.pages.scoring.undefined import EQUAL
from analysis.reporting.catalogue import column
from analysis.reporting.columns import value
from analysis.reporting.printed import OURS
from analysis.reporting.thresholds import silent
from analysis.reporting.words import count, few_items, few_models, percent, points

OFTEN = 0.1  # share of clipped samples from which on the page mentions it
FEW_POINTS = 10


def cautions(
    models: pd.DataFrame, here: pd.DataFrame, frames: Mapping[str, pd.DataFrame], setting: str
) -> tuple[str, ...]:
    """Say, in sentences, what a reader must know before believing the answer.

    Parameters
    ----------
    models
        Table `scores` without the human scores, with a `label` per row.
    here
        Of these, the rows of the page's setting.
    frames
        The tables of the page by name.
    setting
        Range, temperature and method, such as "0-9/0.7/sampled".

    Returns
    -------
    tuple of str
        The sentences.
    """
    return tuple(_cautions(models, here, frames, setting))


def _cautions(
    models: pd.DataFrame, here: pd.DataFrame, frames: Mapping[str, pd.DataFrame], setting: str
) -> Iterator[str]:
    flat = int((models["caution"] == EQUAL).sum())
    if flat:
        yield (
            f"All scores are equal in {flat:,} of {count(len(models), 'combination')} of group, model and condition. "
            "Kurtosis and tau are undefined there, and left out of every count and correlation."
        )
    low = models[silent(models["validity"])]
    if len(low):
        row = low.loc[low["validity"].idxmin()]
        yield (
            f"Validity is low in {len(low):,} of {count(len(models), 'combination')}: less than half of the samples "
            "(or of the probability) hold a number. The lowest is "
            f"{value(row['validity'], column('scores', 'validity'))} ({row['label']}, {row['range']} at temperature "
            f"{row['temperature']:g}). These are not compared."
        )
    yield from _without_number(frames["score_conventions"], setting)
    sampled = models[models["method"] == "sampled"]
    total = ((sampled["n"] + sampled["unscored"] - sampled["no_response"]) * sampled["samples"]).sum()
    moved = sampled["clipped"].sum()
    if total and moved / total >= OFTEN:
        yield f"{moved:,} of {total:,.0f} samples ({percent(moved / total)}) were moved into the range."
    wordy = int((models["unscored"] - models["no_response"]).sum())
    if wordy:
        yield f"{count(wordy, 'score')} {'is' if wordy == 1 else 'are'} missing: too few samples held a number."
    yield from _gold(here)
    table = chosen(frames["score_influence"], setting)
    correlated = table.loc[table["source"] == OURS, "n"]
    if len(correlated) and correlated.max() < FEW_POINTS:
        yield f"The correlation of kurtosis and tau has only {count(int(correlated.max()), 'point')}: it says little."
    if len(frames["score_differences"]) == 0:
        yield "No series has both a base and a tuned model: these runs cannot say what tuning does."
    if len(here):
        own = here["n_gold"].where(here["n_gold"] > 0, here["n"])  # the fewest that a figure of the row is made of
        yield from few_items(own.set_axis(here["label"]), " in a group")
    yield from few_models(models["model"].nunique())


def _without_number(both: pd.DataFrame, setting: str) -> Iterator[str]:
    """Say what changes where samples without a number are not dropped, but count; nothing about exact scores."""
    span, temperature, method = setting.rsplit("/", 2)
    warm = both["temperature"].astype(float).map("{:g}".format) == temperature
    both = both[(both["range"] == span) & warm]
    if both.empty or method != "sampled":
        return
    lost = int((both["n_dropped"] - both["n_inconsistent"]).sum())
    change = both["mode_share_inconsistent"] - both["mode_share_dropped"]
    most = points(change.loc[change.abs().idxmax()] if change.notna().any() else 0.0)
    changes = "does not change" if most == points(0.0) else f"changes by up to {most} points"
    yield (
        f"{count(int(both['dropped'].sum()), 'sample')} {'holds' if both['dropped'].sum() == 1 else 'hold'} no "
        f"number. Where they count (-p invalid=inconsistent), {count(lost, 'score') if lost else 'no score'} fewer "
        f"{'is' if lost <= 1 else 'are'} known. The share of the most frequent score {changes}."
    )


def _gold(here: pd.DataFrame) -> Iterator[str]:
    without = int((here["n"] - here["n_gold"]).max())
    if here["n_gold"].max() == 0:
        yield "No item has a human score, so there is no tau."
    elif without:
        yield f"Up to {count(without, 'item')} of a group have no human score and are left out of tau."
