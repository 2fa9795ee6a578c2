"""Write the cautions of the page on multiple choice: what weakens the answer, from its tables."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import pandas as pd

from analysis.pages.choice.figures import with_labels
from analysis.reporting.thresholds import silent
from analysis.reporting.words import count, few_items, few_models, listing, percent

OFTEN = 0.05  # share of answers that are no choice from which on the page mentions them


def cautions(frames: Mapping[str, pd.DataFrame]) -> tuple[str, ...]:
    """Say, in sentences, what a reader must know before believing the answer; from tables of the page by name."""
    return tuple(_cautions(with_labels(frames["choice"]), frames["choice_changes"]))


READ = {"letter": "by their letter", "strict": "by the strict rule of the paper"}
OTHER = {"letter": "the strict rule of the paper", "strict": "the reading by the letter"}


def tell_readings(units: pd.DataFrame) -> Iterator[str]:
    """Say how texts were read, and how many of them the other reading reads otherwise; from rows of `choice`."""
    for reading, part in units[units["reading"].isin(READ)].groupby("reading", sort=True):
        known = part.dropna(subset=["read_otherwise"])
        otherwise, texts = (int(known[name].sum()) for name in ("read_otherwise", "n_texts"))
        counted = (
            f"{OTHER[str(reading)]} reads {otherwise:,} of {count(texts, 'text')} otherwise"
            if len(known)
            else "how many the other reading reads otherwise was not counted"
        )
        yield f"Texts were read {READ[str(reading)]}; {counted}."


def _cautions(table: pd.DataFrame, changes: pd.DataFrame) -> Iterator[str]:
    units = table.drop_duplicates(["study", "model", "condition"])
    few = units[silent(units["validity"])]
    if len(few):
        yield (
            f"Less than half of the probability of {listing(list(few['label']))} is on the options, or less than half "
            f"of the texts are a choice. The lowest share is {percent(few['validity'].min(), 1)}. These are not judged."
        )
    bounded = units.dropna(subset=["least_validity"])
    if len(bounded):
        least = percent(bounded["least_validity"].min())
        yield (
            f"Of {listing(list(bounded['label']))} not every way to write an option was recorded: at least {least} of "
            "the probability is on the options; how much more is unknown."
        )
    speaking = units[~silent(units["validity"])]
    guessing = speaking[~(speaking["accuracy_lower"] > speaking["chance"]) & speaking["accuracy_lower"].notna()]
    if len(guessing):
        yield (
            f"{listing(list(guessing['label']))}: not clearly more accurate than guessing. XParaCon says how alike the "
            "wordings are answered, right or wrong, and is large for a model that is wrong every time."
        )
    lost = speaking[speaking["no_choice"] / speaking["n"] >= OFTEN]
    if len(lost):
        total = int(lost["no_choice"].sum())
        yield f"{count(total, 'answer')} of {listing(list(lost['label']))} are no choice, and count as wrong."
    doubted = speaking[speaking["read_otherwise"] / speaking["n_texts"] >= OFTEN]
    for sentence in tell_readings(doubted):
        yield f"{listing(list(doubted['label']))}: {sentence[0].lower()}{sentence[1:]}"
    if len(changes) and (changes["change"] == "tuning and prompt").any():
        yield (
            "The paper asks tuned models with another prompt than the others, so that its tables cannot tell what the "
            "tuning did. Here the change of each alone stands beside that of both."
        )
    yield from few_items(units.set_index("label")["n_questions"], so="intervals are wide")
    yield from few_models(table["model"].nunique())
