"""Write the cautions of the page on scores: what weakens the answer, from its tables."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import pandas as pd

from analysis.pages.scoring.influence import NOTHING
from analysis.pages.scoring.items import phrase_temperature, select_setting_rows
from analysis.pages.scoring.undefined import EQUAL
from analysis.reporting.catalogue.published_numbers import OURS
from analysis.reporting.words import (
    format_count_range,
    format_percent,
    format_percentage_points,
    format_quantity,
    join_names,
    list_few_items_cautions,
    list_few_models_cautions,
)
from analysis.reporting.words.doubts import LEFT_OUT, WIDE, WRONG, Caution
from analysis.reporting.words.labels import SEPARATOR
from analysis.reporting.words.validity import list_cautions_unless_all_models_unjudged

FEW_NUMBERS = "Less than half of the samples (or of the probability) hold a number"
OFTEN_CLIPPED = 0.1  # share of clipped samples from which on the page mentions it
FEW_POINTS = 10


def list_cautions(
    models: pd.DataFrame, setting_rows: pd.DataFrame, frames: Mapping[str, pd.DataFrame], setting: str
) -> tuple[str, ...]:
    """Say, in sentences, what a reader must know before believing the answer.

    Parameters
    ----------
    models
        Table `scores` without the human scores, with a `label` per row.
    setting_rows
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
    return tuple(_yield_score_cautions(models, setting_rows, frames, setting))


def _yield_score_cautions(
    models: pd.DataFrame, setting_rows: pd.DataFrame, frames: Mapping[str, pd.DataFrame], setting: str
) -> Iterator[str]:
    """Yield the cautions, from tables and options as in `list_cautions`."""
    flat = int((models["caution"] == EQUAL).sum())
    if flat:
        yield Caution(
            f"All scores are equal in {flat:,} of {format_quantity(len(models), 'combination')} of group, model and "
            "condition. Kurtosis and tau are undefined there, and left out of every count and correlation.",
            LEFT_OUT,
        )
    settings = models["range"] + " at " + models["temperature"].map("{:g}".format).map(phrase_temperature)
    yield from list_cautions_unless_all_models_unjudged(
        models.assign(label=models["label"] + SEPARATOR + settings), FEW_NUMBERS
    )
    yield from _describe_effect_of_numberless_samples(frames["score_conventions"], setting)
    sampled = models[models["method"] == "sampled"]
    total = ((sampled["n"] + sampled["unscored"] - sampled["no_response"]) * sampled["samples"]).sum()
    moved = sampled["clipped"].sum()
    if total and moved / total >= OFTEN_CLIPPED:
        yield Caution(
            f"{moved:,} of {format_quantity(int(total), 'sample')} ({format_percent(moved / total)}) "
            f"{'was' if moved == 1 else 'were'} moved into the range.",
            WRONG,
        )
    wordy = int((models["unscored"] - models["no_response"]).sum())
    if wordy:
        yield Caution(
            f"{format_quantity(wordy, 'score')} {'is' if wordy == 1 else 'are'} missing: what was answered held no "
            "number, or too few.",
            LEFT_OUT,
        )
    yield from _describe_missing_gold(setting_rows)
    table = select_setting_rows(frames["score_influence"], setting)
    correlations = table[(table["source"] == OURS) & (table["omitted"] == NOTHING)]
    of_few = correlations[correlations["n"] < FEW_POINTS]
    if len(of_few):
        studies_text = f" in {join_names([f'“{name}”' for name in of_few['study']])}" if len(correlations) > 1 else ""
        yield Caution(
            f"The correlation of kurtosis and tau has only {format_count_range(of_few['n'], 'point')}{studies_text}: "
            "it says little.",
            WIDE,
        )
    if len(frames["score_differences"]) == 0:
        yield Caution("No series has both a base and a tuned model: these runs cannot say what tuning does.", LEFT_OUT)
    if len(setting_rows):
        item_counts = setting_rows["n_gold"].where(
            setting_rows["n_gold"] > 0, setting_rows["n"]
        )  # the fewest that a figure of the row is made of
        yield from list_few_items_cautions(item_counts.set_axis(setting_rows["label"]), " in a group")
    yield from list_few_models_cautions(models["model"].nunique())


def _describe_effect_of_numberless_samples(conventions: pd.DataFrame, setting: str) -> Iterator[str]:
    """Say what changes where samples without a number are not dropped, but count; nothing about exact scores."""
    span, temperature, method = setting.rsplit("/", 2)
    at_temperature = conventions["temperature"].astype(float).map("{:g}".format) == temperature
    conventions = conventions[(conventions["range"] == span) & at_temperature]
    if conventions.empty or method != "sampled":
        return
    lost_scores = int((conventions["n_dropped"] - conventions["n_inconsistent"]).sum())
    change = conventions["mode_share_inconsistent"] - conventions["mode_share_dropped"]
    largest_change = format_percentage_points(change.loc[change.abs().idxmax()] if change.notna().any() else 0.0)
    changes = (
        "does not change"
        if largest_change == format_percentage_points(0.0)
        else f"changes by up to {largest_change} points"
    )
    losers = f"{format_quantity(lost_scores, 'item')} {'loses its score' if lost_scores == 1 else 'lose their scores'}"
    yield Caution(
        f"{format_quantity(int(conventions['dropped'].sum()), 'sample')} "
        f"{'holds' if conventions['dropped'].sum() == 1 else 'hold'} no number. Where they count (-p "
        f"invalid=inconsistent), {losers if lost_scores else 'no item loses its score'}. "
        f"The share of the most frequent score {changes}.",
        WRONG,
    )


def _describe_missing_gold(setting_rows: pd.DataFrame) -> Iterator[str]:
    """Say how many items have no human score, so that they are left out of tau."""
    missing_gold = int((setting_rows["n"] - setting_rows["n_gold"]).max())
    if setting_rows["n_gold"].max() == 0:
        yield Caution("No item has a human score, so there is no tau.", LEFT_OUT)
    elif missing_gold:
        verbs = ("has", "is") if missing_gold == 1 else ("have", "are")
        yield Caution(
            f"Up to {format_quantity(missing_gold, 'item')} of a group {verbs[0]} no human score and {verbs[1]} left "
            "out of tau.",
            LEFT_OUT,
        )
