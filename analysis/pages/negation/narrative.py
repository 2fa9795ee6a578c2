"""Write the sentences of the page on negation: what was asked, the answer on top, and what belongs to which figure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import pandas as pd

from analysis.pages.negation.cautions import cautions, find_informed
from analysis.pages.negation.figures import answered
from analysis.reporting import labels, verdicts
from analysis.reporting.thresholds import FEW_ITEMS, silent
from analysis.reporting.verdicts import Band
from analysis.reporting.words import Answer, count, do_not_answer, percent, points, units
from analysis.runs.folder import UNIT

IMPORTANT = "important"
LITTLE = 0.05
HARDLY, YES = "hardly", "yes"
BANDS = (Band(HARDLY, -LITTLE, 1.0), Band(YES, -1.0, -LITTLE))
MEANT = (
    f"“Yes” means that the 95 % interval of AccChg over important minimal pairs lies below −{100 * LITTLE:.0f} points.",
    f"“Hardly” means that it lies above −{100 * LITTLE:.0f} points, also where it is below 0.",
    "Of several models, the interval is widened for their number (Holm).",
    "Judged are models that label the originals rightly more often than the majority baseline, by their whole "
    "interval, widened likewise. A model that cannot do without the negation cannot lose by it.",
)
TABLES = ("minimal_pairs", "negation_accuracy", "negation_bias", "negation_places")


def answer(frames: Mapping[str, pd.DataFrame], when: str = "") -> Answer:
    """Say whether a negation that changes the right label costs right labels, by the rules of `verdicts` and `MEANT`.

    Parameters
    ----------
    frames
        The tables named in `TABLES`.
    when
        From `words.when`.

    Returns
    -------
    Answer
        What the page says in words.
    """
    accuracy, pairs = frames["negation_accuracy"], frames["minimal_pairs"]
    asked, doubts = _asked(accuracy, when), cautions(frames)
    valid = answered(accuracy)
    speaking = valid[~silent(valid["valid"])][list(UNIT)]
    if speaking.empty:
        verdict, why = do_not_answer(list(labels.series(valid).unique()))
        return Answer(asked, verdict, cautions=(*why, *doubts))
    important = pairs[pairs["pairs"] == IMPORTANT].merge(speaking)
    if important.empty:
        return Answer(asked, f"{verdicts.UNCLEAR}: no negation here changes the right label.", cautions=doubts)
    judged = speaking.merge(find_informed(accuracy))
    details = {
        "negation_slopes": (*MEANT, *_sizes(important.merge(judged))),
        "negation_changes": tuple(_unimportant(pairs.merge(judged))),
        "negation_places": tuple(_places(frames["negation_places"].merge(judged))),
        "negation_bias": tuple(_bias(frames["negation_bias"].merge(speaking))),
    }
    return Answer(
        asked, _verdict(important.merge(judged), len(valid)), cautions=doubts,
        details={name: said for name, said in details.items() if said},
    )  # fmt: skip


def _asked(accuracy: pd.DataFrame, when: str) -> str:
    models = accuracy["model"].nunique()
    sizes = accuracy.groupby(["study", "sentences"])["n"].max().groupby("sentences").sum()
    with_negation, n = int(sizes.get("negated", 0)), int(sizes.sum())
    return (
        f"{count(models, 'model')} {'was' if models == 1 else 'were'} asked how premise and hypothesis go together, in "
        f"{count(n, 'pair')} of sentences, {with_negation:,} with a negation{when}."
    )


def _verdict(judged: pd.DataFrame, asked: int) -> str:
    """Count the words of the models that can be judged, of those asked; of one, say how its share changes."""
    if judged.empty:
        return f"{verdicts.UNCLEAR}: no model is clearly better than the majority baseline on the originals."
    found = verdicts.judge_differences(judged, "acc_change", BANDS)
    if len(judged) > 1:
        able = " that beat the majority baseline" if len(judged) < asked else ""
        return verdicts.tally(found, units(judged) + able)
    row = judged.iloc[0]
    return (
        f"{found[0].capitalize() or verdicts.UNCLEAR}: {percent(row['acc'])} of the labels are right without the "
        f"negation, and {percent(row['acc_negated'])} with it."
    )


def _sizes(important: pd.DataFrame) -> Iterator[str]:
    """Name the judged models that lose most and least over important pairs."""
    if important.empty:
        return
    rows = important.assign(label=labels.series(important)).sort_values("acc_change", kind="stable")
    for row in (rows.iloc[0], rows.iloc[-1])[: len(rows)]:
        yield (
            f"Over {row['n']:,} pairs with an important negation, {row['label']} is right in {percent(row['acc'])} "
            f"without it and in {percent(row['acc_negated'])} with it. The change is {points(row['acc_change'])} points"
            f"{_ends(row)}."
        )


def _unimportant(pairs: pd.DataFrame) -> Iterator[str]:
    """Compare the mean changes over both kinds of pairs."""
    means = pairs.groupby("pairs")["acc_change"].mean()
    if len(means) == 2:
        yield (
            f"On average over the models that are judged, the change is {points(means['important'])} points where the "
            f"negation is important, and {points(means['unimportant'])} where it is not."
        )


def _places(places: pd.DataFrame) -> Iterator[str]:
    """Say where important negations cost more: means over the judged models, of places that are no rarity."""
    rows = places[(places["pairs"] == IMPORTANT) & (places["n_items"] >= FEW_ITEMS)]
    for by, part in rows.groupby("by", sort=False):
        means = part.groupby("value")["acc_change"].mean().sort_values()
        if len(means) > 1:
            listed = ", ".join(f"{value} {points(change)}" for value, change in means.items())
            yield f"Mean change over important pairs by {by}, of the models that are judged, in points: {listed}."


def _bias(bias: pd.DataFrame) -> Iterator[str]:
    """Say how often each label is said without and with a negation: means over the models that answer."""
    means = bias.groupby("label", sort=False)[["said_original", "said_negated", "right_negated"]].mean()
    for label, row in means.iterrows():
        yield (
            f"“{label}” is {percent(row['said_original'])} of the answers without a negation and "
            f"{percent(row['said_negated'])} with one, where it is right for {percent(row['right_negated'])}."
        )


def _ends(row: pd.Series) -> str:
    return "" if pd.isna(row["lower"]) else f" (95 % interval {points(row['lower'])} to {points(row['upper'])})"
