"""Write the sentences of the page on negation: what was asked, the answer on top, and what belongs to which figure."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping

import pandas as pd

from analysis.measures.thresholds import FEW_ITEMS, is_validity_below_half
from analysis.pages.negation.cautions import list_cautions
from analysis.pages.negation.figures import compute_valid_shares, find_units_clearly_above_majority_baseline
from analysis.pages.negation.judgements import IMPORTANT
from analysis.reporting.words import (
    Answer,
    format_percent,
    format_percentage_points,
    format_quantity,
    phrase_count_of_model_condition_pairs,
    verdicts,
)
from analysis.reporting.words.counts import phrase_models_with_verb
from analysis.reporting.words.validity import phrase_verdict_without_judged_model
from analysis.reporting.words.verdicts import Band
from analysis.runs.folder import UNIT
from ground.capitals import capitalise_sentence

LITTLE = 0.05
HARDLY, YES = "hardly", "yes"
BANDS = (Band(HARDLY, -LITTLE, math.inf), Band(YES, -math.inf, -LITTLE))  # widened, an interval may end below −1
WORD_MEANINGS = (
    f"“Yes” means that an important negation costs more than {100 * LITTLE:.0f} points of right labels: the whole 95 % "
    f"interval of this change (AccChg) lies below −{100 * LITTLE:.0f} points.",
    f"“Hardly” means that it lies above −{100 * LITTLE:.0f} points, also where it is below 0. Where it lies on both "
    "sides, these runs cannot tell.",
    "Of several models, the interval is widened for their number (Holm).",
    "Judged are models that label the originals rightly more often than their commonest label would (the majority "
    "baseline), by their whole interval, widened likewise. A model that cannot do without the negation cannot lose by "
    "it.",
)
TABLES = ("minimal_pairs", "negation_accuracy", "negation_bias", "negation_places")


def answer_page_question(frames: Mapping[str, pd.DataFrame], when: str = "") -> Answer:
    """Say whether a negation that changes the right label costs right labels, by `verdicts` and `WORD_MEANINGS`.

    Parameters
    ----------
    frames
        The tables named in `TABLES`.
    when
        From `words.phrase_run_dates`.

    Returns
    -------
    Answer
        What the page says in words.
    """
    accuracy, pairs = frames["negation_accuracy"], frames["minimal_pairs"]
    if accuracy.empty:
        return Answer("No pair of sentences has a response.", f"{verdicts.UNCLEAR}: there is no answer to judge.")
    asked_sentence, doubts = _describe_model_and_asked_pair_counts(accuracy, when), list_cautions(frames)
    valid = compute_valid_shares(accuracy)
    answering = valid[~is_validity_below_half(valid["valid"])][[*UNIT, "name"]]
    if answering.empty:
        rows = valid.rename(columns={"name": "label", "valid": "validity"}).assign(validity_at_most=float("nan"))
        verdict, _ = phrase_verdict_without_judged_model(rows)  # the cautions say why
        return Answer(asked_sentence, verdict, cautions=doubts)
    important = pairs[pairs["pairs"] == IMPORTANT]
    if important.empty:
        reason = (
            "negation here changes the right label" if len(pairs) else "model has answers to both sides of a negation"
        )
        return Answer(asked_sentence, f"{verdicts.UNCLEAR}: no {reason}.", cautions=doubts)
    judged = answering.merge(find_units_clearly_above_majority_baseline(accuracy))
    important = important.merge(judged)
    if len(judged) and important.empty:
        reason = "no model that is judged has answers to both sides of a negation that changes the right label."
        return Answer(asked_sentence, f"{verdicts.UNCLEAR}: {reason}", cautions=doubts)
    details: dict[str, list[str]] = {
        "negation_slopes": [*WORD_MEANINGS, *_describe_models_losing_most_and_least(important)],
        "negation_changes": [], "negation_places": [], "negation_bias": [],
    }  # fmt: skip
    for study, units in answering.groupby("study", sort=False):
        begin = f"Study “{study}”: " if accuracy["study"].nunique() > 1 else ""
        judged_units = units.merge(judged)
        details["negation_changes"] += _describe_mean_change_by_pair_kind(pairs.merge(judged_units), begin)
        details["negation_places"] += _describe_change_by_position_and_word_class(
            frames["negation_places"].merge(judged_units), begin
        )
        details["negation_bias"] += _describe_label_shares_by_negation(frames["negation_bias"].merge(units), begin)
    return Answer(
        asked_sentence, _describe_models_hurt_by_negation(important, len(valid)), cautions=doubts,
        details={name: tuple(sentences) for name, sentences in details.items() if sentences},
    )  # fmt: skip


def _describe_model_and_asked_pair_counts(accuracy: pd.DataFrame, dates_text: str) -> str:
    """Say how many models were asked about how many pairs of sentences, and when."""
    sizes = accuracy.groupby(["study", "sentences"])["n"].max().groupby("sentences").sum()
    with_negation, n = int(sizes.get("negated", 0)), int(sizes.sum())
    return (
        f"{phrase_models_with_verb(accuracy)} asked whether one sentence follows from another, in "
        f"{format_quantity(n, 'pair')} of sentences, {with_negation:,} with a negation{dates_text}."
    )


def _describe_models_hurt_by_negation(judged: pd.DataFrame, n_asked: int) -> str:
    """Say how many judged models lose by a negation or hardly do; of one, its shares of right labels."""
    if judged.empty:
        return f"{verdicts.UNCLEAR}: no model is clearly better than the majority baseline on the originals."
    verdict_words = verdicts.choose_words_for_differences(judged, "acc_change", BANDS)
    if len(judged) > 1:
        scope_text = " that do better than always giving the commonest label" if len(judged) < n_asked else ""
        return verdicts.describe_verdict_word_counts(
            verdict_words, phrase_count_of_model_condition_pairs(judged) + scope_text
        )
    row = judged.iloc[0]
    of_model = f"with {row['name']}, " if n_asked > 1 else ""
    return (
        f"{verdict_words[0].capitalize() or verdicts.UNCLEAR}: {of_model}{format_percent(row['acc'])} of the labels "
        f"are right without the negation, and {format_percent(row['acc_negated'])} with it."
    )


def _describe_models_losing_most_and_least(important: pd.DataFrame) -> Iterator[str]:
    """Name the judged models that lose most and least over important pairs."""
    if important.empty:
        return
    rows = important.sort_values("acc_change", kind="stable")
    for row in (rows.iloc[0], rows.iloc[-1])[: len(rows)]:
        yield (
            f"Over {format_quantity(row['n'], 'pair')} with an important negation, {row['name']} is right in "
            f"{format_percent(row['acc'])} without it and in {format_percent(row['acc_negated'])} with it. The change "
            f"is {format_percentage_points(row['acc_change'])} points{_format_accuracy_change_interval(row)}."
        )


def _describe_mean_change_by_pair_kind(pairs: pd.DataFrame, begin: str) -> Iterator[str]:
    """Compare the mean changes over both kinds of pairs of a study."""
    means = pairs.groupby("pairs")["acc_change"].mean()
    if len(means) == 2:
        yield capitalise_sentence(
            f"{begin}on average over the models that are judged, the change is "
            f"{format_percentage_points(means['important'])} points where the negation is important, and "
            f"{format_percentage_points(means['unimportant'])} where it is not."
        )


def _describe_change_by_position_and_word_class(places: pd.DataFrame, begin: str) -> Iterator[str]:
    """Say where important negations cost more: means over the judged models, of places that are no rarity."""
    rows = places[(places["pairs"] == IMPORTANT) & (places["n_items"] >= FEW_ITEMS)]
    for by, part in rows.groupby("by", sort=False):
        means = part.groupby("value")["acc_change"].mean().sort_values()
        if len(means) > 1:
            changes_text = ", ".join(f"{value} {format_percentage_points(change)}" for value, change in means.items())
            yield capitalise_sentence(
                f"{begin}mean change over important pairs by {by}, of the models that are judged, in points: "
                f"{changes_text}."
            )


def _describe_label_shares_by_negation(bias: pd.DataFrame, begin: str) -> Iterator[str]:
    """Say how often each label of a study is said without and with a negation: means over the models that answer."""
    means = bias.groupby("label", sort=False)[["said_original", "said_negated", "right_negated"]].mean()
    average = "on average, " if bias.duplicated("label").any() else ""
    for label, row in means.dropna().iterrows():  # without answers to originals, or to negations, there is no share
        yield capitalise_sentence(
            f"{begin}{average}“{label}” is {format_percent(row['said_original'])} of the answers without a negation "
            f"and {format_percent(row['said_negated'])} with one, where it is right for "
            f"{format_percent(row['right_negated'])}."
        )


def _format_accuracy_change_interval(row: pd.Series) -> str:
    """Write the interval of the change in accuracy in brackets; empty where there is none."""
    return (
        ""
        if pd.isna(row["lower"])
        else f" (95 % interval {format_percentage_points(row['lower'])} to {format_percentage_points(row['upper'])})"
    )
