"""Write the cautions of the page on multiple choice: what weakens the answer, from its tables."""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd

from analysis.measures.thresholds import is_validity_below_half
from analysis.reporting.words import (
    format_percent,
    format_quantity,
    join_names,
    list_few_items_cautions,
    list_few_models_cautions,
)
from analysis.reporting.words.doubts import READING, WRONG, Caution
from analysis.reporting.words.validity import list_cautions_unless_all_models_unjudged
from ground.capitals import uncapitalise_sentence

OFTEN = 0.05  # share of answers that are no choice from which on the page mentions them


def list_cautions(table: pd.DataFrame, changes: pd.DataFrame) -> tuple[str, ...]:
    """Say what a reader must know before believing the answer; from tables `choice` (with labels) and its changes."""
    return tuple(_list_choice_cautions(table, changes))


READ = {"letter": "by their letter", "strict": "by the strict rule"}
OTHER = {"letter": "the strict rule", "strict": "the reading by the letter"}


def describe_text_reading_rules(choice_rows: pd.DataFrame) -> Iterator[str]:
    """Say how texts were read, and how many of them the other reading reads otherwise; from rows of `choice`."""
    for reading, part in choice_rows[choice_rows["reading"].isin(READ)].groupby("reading", sort=True):
        compared_units = part.dropna(subset=["read_otherwise"])
        otherwise, texts = (int(compared_units[name].sum()) for name in ("read_otherwise", "n_texts"))
        reading_sentence = (
            f"{OTHER[str(reading)]} reads {otherwise:,} of {format_quantity(texts, 'text')} otherwise"
            if len(compared_units)
            else "how many the other reading reads otherwise was not counted"
        )
        yield Caution(f"Texts were read {READ[str(reading)]}; {reading_sentence}.", READING)


def _list_choice_cautions(table: pd.DataFrame, changes: pd.DataFrame) -> Iterator[str]:
    """Yield the cautions, from tables `choice` (with labels) and `choice_changes`."""
    units = table.drop_duplicates(["study", "model", "condition"])
    yield from list_cautions_unless_all_models_unjudged(units)
    bounded_units = units[~is_validity_below_half(units["validity"])].dropna(subset=["validity_at_most"])
    if len(bounded_units):
        least = format_percent(bounded_units["validity"].min())
        yield Caution(
            f"Of {join_names(list(bounded_units['label']))} not every way to write an option was recorded. At least "
            f"{least} of the probability is on the options; how much more is unknown.",
            WRONG,
        )
    answering = units[~is_validity_below_half(units["validity"])]
    guessing_units = answering[
        ~(answering["accuracy_lower"] > answering["chance"]) & answering["accuracy_lower"].notna()
    ]
    if len(guessing_units):
        yield Caution(
            f"{join_names(list(guessing_units['label']))}: not clearly more accurate than guessing. XParaCon says how "
            "alike the wordings are answered, right or wrong, and is large for a model that is wrong every time.",
            WRONG,
        )
    units_without_choice = answering[answering["no_choice"] / answering["n"] >= OFTEN]
    if len(units_without_choice):
        total = int(units_without_choice["no_choice"].sum())
        yield Caution(
            f"{format_quantity(total, 'answer')} of {join_names(list(units_without_choice['label']))} "
            f"{'is no choice, and counts' if total == 1 else 'are no choice, and count'} as wrong.",
            WRONG,
        )
    doubtful_units = answering[answering["read_otherwise"] / answering["n_texts"] >= OFTEN]
    for _, read_alike in doubtful_units.groupby("reading", sort=True):
        for sentence in describe_text_reading_rules(read_alike):
            yield Caution(f"{join_names(list(read_alike['label']))}: {uncapitalise_sentence(sentence)}", WRONG)
    if len(changes) and (changes["change"] == "tuning and prompt").any():
        yield Caution(
            "The paper asks tuned models with another prompt than the others, so that its tables cannot tell what the "
            "tuning did. Here the change of each alone stands beside that of both.",
            READING,
        )
    yield from list_few_items_cautions(units.set_index("label")["n_questions"], consequence="intervals are wide")
    yield from list_few_models_cautions(table["model"].nunique())
