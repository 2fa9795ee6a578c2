"""Write the sentences of the page `compare` from its rows, by the rules of `verdicts` and those below.

The verdict is of the headline: the measure that the study is about, else the first one.

1. Of two models: the verdict of that row, and for which wordings it holds. Then in which other measures they differ.
2. Of several pairs of models or conditions: of how many A is higher, and of how many B; else of how many both are
   equivalent; else that no difference is found.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import pandas as pd

from analysis.compare.catalogue import PAIR
from analysis.compare.pairs import VALIDITY
from analysis.compare.verdicts import CANNOT_TELL, EQUIVALENT, HIGHER_A, HIGHER_B, NO_DIFFERENCE, THESE
from analysis.measures.reworded import LOGIT
from analysis.measures.reworded.flips import FLIPS
from analysis.reporting.words import (
    Answer,
    format_count_range,
    format_percent,
    format_quantity,
    format_significant_digits,
    join_names,
    labels,
)
from analysis.reporting.words.doubts import LEFT_OUT, WIDE, WRONG, Caution, sort_cautions_by_gravity
from ground.capitals import capitalise_sentence

HIGHER = (HIGHER_A, HIGHER_B)
# Measures whose names are no words of everyday -> how sentences call them.
PLAIN_NAMES = {
    LOGIT: "agreement on a scale without ends (logit)",
    FLIPS: "how many items get both answers (flips)",
    VALIDITY: "how much is a valid answer (validity)",
}


def answer_whether_sides_differ(rows: pd.DataFrame, notes: Sequence[str]) -> Answer:
    """Say whether A and B differ.

    Parameters
    ----------
    rows
        From `measures.compare_paired_runs`.
    notes
        What is left out, or another kind of `Caution` (`pairing.PairedRuns.notes`).

    Returns
    -------
    Answer
        What the page says in words.
    """
    headline = select_headline_rows(rows)
    noted = (Caution(f"{capitalise_sentence(note)}.", getattr(note, "doubt", LEFT_OUT)) for note in notes)
    cautions = sort_cautions_by_gravity([*noted, *_list_cautions(rows, headline)])
    verdict = (
        _describe_verdict_of_only_pair(headline.iloc[0], rows)
        if len(headline) == 1
        else _describe_model_pairs_favouring_each_side(headline)
    )
    return Answer(_describe_compared_models(headline), verdict, cautions=cautions)


def select_headline_rows(rows: pd.DataFrame) -> pd.DataFrame:
    """Select the rows of the headline measure; of a study without one, the first row of every two models."""
    has_headline = rows.groupby("study")["headline"].transform("any")
    is_first = ~rows.duplicated(list(PAIR))
    return rows[rows["headline"] | (is_first & ~has_headline)]


def _describe_compared_models(headline: pd.DataFrame) -> str:
    """Say what was compared, in one sentence."""
    sized = format_count_range(headline["n_items"], "item")
    if len(headline) > 1:
        return f"{len(headline)} pairs of models and conditions, compared on {sized} that both sides have."
    row = headline.iloc[0]
    names = [
        _name_model_with_differing_condition(row["a_model"], row["a_condition"], row["b_condition"]),
        _name_model_with_differing_condition(row["b_model"], row["b_condition"], row["a_condition"]),
    ]
    return f"A is {names[0]}, B is {names[1]}; {sized} that both answered."


def _name_model_with_differing_condition(model: str, condition: str, other_condition: str) -> str:
    """Name a model, with its condition where that of the other side differs."""
    name = labels.shorten_middle(str(model), 40)
    return name if condition == other_condition else f"{name} ({labels.shorten_middle(str(condition), 40)})"


def _describe_verdict_of_only_pair(row: pd.Series, rows: pd.DataFrame) -> str:
    """Say the verdict of one pair, and in which other measures its sides differ."""
    other_rows = rows.drop(index=row.name)
    found_names = other_rows.loc[other_rows["verdict"].isin(HIGHER), "measure"]
    differing = [PLAIN_NAMES.get(name, name) for name in found_names]
    more = ""
    if len(other_rows):
        more = f" They differ in {join_names(differing)}, too." if differing else " No other difference is found."
        if differing and row["verdict"] not in HIGHER:
            more = f" They do differ in {join_names(differing)}."
    return _describe_verdict(row) + more


def _describe_verdict(row: pd.Series) -> str:
    """Say the verdict of a row in a sentence."""
    measure = row["measure"]
    if row["verdict"] == CANNOT_TELL:
        return f"A single item cannot tell A and B apart in {measure}."
    if row["verdict"] == NO_DIFFERENCE:
        return f"No difference in {measure} is found, which is no proof that there is none."
    if row["verdict"] in HIGHER:
        numbers = f"{format_significant_digits(row['a'], 3)} against {format_significant_digits(row['b'], 3)}"
        better = ", and lower is better" if row["lower_is_better"] else ""
        return f"{row['verdict']} in {measure}, {numbers}{better}; that holds for {row['holds_for']}."
    return f"A and B are {row['verdict']} in {measure}, for {row['holds_for']}."


def _describe_model_pairs_favouring_each_side(headline: pd.DataFrame) -> str:
    """Say of how many pairs A is higher, and of how many B; where none is, of how many they are equivalent."""
    numbers = [int((headline["verdict"] == verdict).sum()) for verdict in HIGHER]
    measures = _join_measure_names(headline["measure"])
    if any(numbers):
        a, b = (str(number or "none") for number in numbers)
        better = ", where lower is better" if headline["lower_is_better"].all() else ""
        return f"In {measures}{better}, A is higher in {a} of {len(headline)} pairs, B in {b}."
    equivalent = headline.loc[headline["verdict"].str.startswith(EQUIVALENT), "verdict"]
    if len(equivalent):
        alike = f"{equivalent.iloc[0]} in {len(equivalent)} of {len(headline)} pairs"
        return f"In {measures}, A and B are {alike}, for {THESE}."
    if (headline["verdict"] == CANNOT_TELL).all():
        return f"A single item cannot tell A and B apart in {measures}, in any pair."
    return f"No difference in {measures} is found in any pair, which is no proof that there is none."


def _list_cautions(rows: pd.DataFrame, headline: pd.DataFrame) -> Iterator[Caution]:
    """Say what weakens the answer."""
    for_these = rows[rows["holds_for"] == THESE]
    found_names = for_these.loc[for_these["like_lower"].notna() & for_these["verdict"].isin(HIGHER), "measure"]
    if len(found_names):
        yield Caution(
            f"The difference in {_join_measure_names(found_names)} is found for these wordings only: with others "
            "like them, it may be none.",
            WIDE,
        )
    unknown_names = headline.loc[headline["like_lower"].isna() & (headline["n_items"] > 1), "measure"]
    if len(unknown_names):
        names = _join_measure_names(unknown_names)
        yield Caution(f"These answers do not tell how far other wordings would move the difference in {names}.", WIDE)
    few_names = headline.loc[headline["lower"].isna() & (headline["n_items_differing"] > 0), "measure"]
    if len(few_names):
        yield Caution(f"Too few items differ in {_join_measure_names(few_names)} for an interval.", WIDE)
    invalid = headline[(headline["a_validity"] < 1) | (headline["b_validity"] < 1)]
    if len(invalid):
        a, b = (format_percent(min(invalid[f"{side}_validity"]), 1) for side in "ab")
        yield Caution(
            f"Validity is below 1: at the lowest {a} in A and {b} in B. "
            "Measures other than validity compare only answers that are valid on both sides.",
            WRONG,
        )
    open_rows = headline[(headline["verdict"] == NO_DIFFERENCE) & headline["least_difference"].notna()]
    if len(open_rows) == len(headline) == 1:
        row: Any = open_rows.iloc[0]
        sized = format_quantity(int(row["n_items"]), "item")
        least = format_significant_digits(row["least_difference"], 2)
        yield Caution(f"A true difference below {least} is easily missed with {sized}: power is below .8.", WIDE)


def _join_measure_names(names: pd.Series) -> str:
    """Join the names of measures, each once."""
    return join_names(list(dict.fromkeys(names)))
