"""Write the cautions of the page on negation: what weakens the answer, from its tables."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import pandas as pd

from analysis.pages.negation.figures import answered
from analysis.reporting import labels, verdicts
from analysis.reporting.thresholds import silent
from analysis.reporting.words import few_items, few_models, listing, percent
from analysis.runs.folder import UNIT

SAME = 0.95  # share of one label from which on a model says nearly always the same


def cautions(frames: Mapping[str, pd.DataFrame]) -> tuple[str, ...]:
    """Say, in sentences, what a reader must know before believing the answer; from tables of the page by name."""
    return tuple(_cautions(frames["negation_accuracy"], frames["minimal_pairs"], frames["negation_bias"]))


def find_informed(accuracy: pd.DataFrame) -> pd.DataFrame:
    """Return the units that label the originals rightly more often than the majority baseline.

    By their intervals, widened for the number of units after Holm: of many that guess, some are above it by chance.
    """
    rows = accuracy[(accuracy["sentences"] == "original") & accuracy["accuracy_lower"].notna()]
    names = ["accuracy", "accuracy_lower", "accuracy_upper", "majority"]

    def judge(number: int) -> list[str]:
        return ["able" if verdicts.widened(share, low, high, number)[0] > majority else ""
                for share, low, high, majority in rows[names].itertuples(index=False, name=None)]  # fmt: skip

    able = [word != "" for word in verdicts.judge_stepwise(judge, len(rows))]
    return rows.loc[able, list(UNIT)].reset_index(drop=True)


def _cautions(accuracy: pd.DataFrame, pairs: pd.DataFrame, bias: pd.DataFrame) -> Iterator[str]:
    valid = answered(accuracy)
    yield from _silent(valid)
    speaking = valid[~silent(valid["valid"])]
    yield from _not_informed(accuracy, speaking)
    yield from _one_sided(bias.assign(name=labels.series(bias)).merge(speaking[list(UNIT)]))
    own = pairs["n_items"].set_axis(labels.series(pairs))
    yield from few_items(own, " of a kind of pairs", "intervals are wide")
    yield from few_models(accuracy["model"].nunique())


def _silent(valid: pd.DataFrame) -> Iterator[str]:
    few = valid[silent(valid["valid"])]
    if len(few):
        yield (
            f"Less than half of the answers of {listing(list(labels.series(valid)[few.index]))} are one of the labels. "
            f"The lowest share is {percent(few['valid'].min(), 1)}. These models are not compared."
        )


def _not_informed(accuracy: pd.DataFrame, speaking: pd.DataFrame) -> Iterator[str]:
    """Name the models whose accuracy without any negation is not clearly above the majority baseline."""
    known = speaking.merge(find_informed(accuracy).assign(able=True), "left", on=list(UNIT))
    unable = known["able"].isna()
    if unable.any():
        names = labels.series(known)[unable]
        yield (
            f"{listing(list(names))}: not clearly above the majority baseline on the originals. What a negation does "
            "to guesses says little, so the answer leaves them out."
        )


def _one_sided(bias: pd.DataFrame) -> Iterator[str]:
    """Name the models that say one label to nearly everything."""
    same = bias[bias[["said_original", "said_negated"]].min(axis=1) > SAME]
    for label, part in same.groupby("label", sort=False):
        names = list(part["name"])
        yield f"{listing(names)} {'says' if len(names) == 1 else 'say'} “{label}” to nearly everything."
