"""Withhold words about a change with the wording where chance alone may have changed answers, and say why.

The rule "chance" of `verdicts`, for every page that says whether an answer changes in other words.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt
import pandas as pd

from analysis.measures.chance import (
    DETERMINED,
    DRAWN,
    SAMPLED,
    classify_answers_as_determined_or_sampled,
    measure_same_vs_cross_wording_gap_per_item,
)
from analysis.reporting.words import join_names, labels, verdicts
from analysis.reporting.words.doubts import WRONG, Caution
from analysis.runs import Runs
from analysis.statistics.multiplicity import correct_families_by_holm
from analysis.statistics.significance import ROUNDING

ONCE = (
    f"{verdicts.UNCLEAR} wording from chance: a second answer to the same wording might differ, too. Probabilities, "
    "temperature 0 or two samples per wording would tell."
)
ALIKE = (
    f"{verdicts.UNCLEAR} wording from chance: samples of one wording are not shown to be alike more often than those "
    "of different ones."
)

CLEARED = "sampled, and more alike within wordings"  # wordings change these answers, but so does chance
NO_CHANCE = pd.DataFrame(columns=["study", "model", "condition", "answers"])  # no answers that chance may have changed
CAUTIONS = {
    DRAWN: "Chance and wording are not told apart for {}. There is one answer per wording, at a temperature above "
    "0 or not known. A condition with the temperature 0, probabilities, or two samples per wording would tell.",
    SAMPLED: "Chance and wording are not told apart for {}. Samples of one wording are not shown to be alike more "
    "often than those of different wordings.",
    CLEARED: "Wordings change the answers of {}. Each is made of several samples, so that chance may add to shares and "
    "spreads over wordings, too: the fewer samples, the more.",
}


def tabulate_units_with_chance_changes(runs: Runs) -> pd.DataFrame:
    """Tabulate the models and conditions whose answers chance may have changed: alone, or beside the wording.

    Returns
    -------
    DataFrame
        study, model, condition; answers: `DRAWN`; `CLEARED` where samples of one wording are shown to agree more often
        than those of different wordings (t test over items, one-sided, after Holm over the study's models), and else
        `SAMPLED`. Of `CLEARED` ones, it was not chance alone.
    """
    return runs.compute_once("answers by chance", lambda: _compute_table_of_chance_changes(runs))


def _compute_table_of_chance_changes(runs: Runs) -> pd.DataFrame:
    """Compute the table that `tabulate_units_with_chance_changes` keeps."""
    units = classify_answers_as_determined_or_sampled(runs)
    drawn = units[units["answers"] != DETERMINED].copy()
    sampled = drawn[drawn["answers"] == SAMPLED].assign(p=np.nan)
    for study in sampled["study"].unique():
        gaps = measure_same_vs_cross_wording_gap_per_item(runs, study).groupby(["model", "condition"])["gap"]
        tested = {unit: compute_p_value_of_positive_mean(values.to_numpy()) for unit, values in gaps}
        is_of_study = sampled["study"] == study
        sampled.loc[is_of_study, "p"] = [
            tested.get(unit, np.nan) for unit in zip(*(sampled.loc[is_of_study, key] for key in ("model", "condition")),
                                                     strict=True)
        ]  # fmt: skip
    cleared = (
        sampled.index[verdicts.mark_clear_effects(correct_families_by_holm(sampled, ["study"]))] if len(sampled) else []
    )
    drawn.loc[cleared, "answers"] = CLEARED
    return drawn.reset_index(drop=True)


def compute_p_value_of_positive_mean(values: npt.NDArray[np.float64]) -> float:
    """Test whether the mean of some items' values is above 0: the one-sided p value of Student's t.

    NaN for one item. Where all values are equal and above 0, t has no error: p is 0.5 to the power of their number.

    >>> round(compute_p_value_of_positive_mean(np.array([0.1, 0.3, 0.2])), 3)
    0.037
    >>> compute_p_value_of_positive_mean(np.array([1.0, 1.0]))
    0.25
    """
    from scipy.special import stdtr

    n = len(values)
    if n < 2:
        return np.nan
    if np.ptp(values) <= ROUNDING:
        return 2.0**-n if values[0] > ROUNDING else 1.0
    return float(stdtr(n - 1, -values.mean() / (values.std(ddof=1) / np.sqrt(n))))


def mark_rows_possibly_changed_by_chance(
    rows: pd.DataFrame, units_with_chance_changes: pd.DataFrame
) -> npt.NDArray[np.bool_]:
    """Tell which rows are about answers that chance alone may have changed.

    Parameters
    ----------
    rows
        Columns study, model, condition.
    units_with_chance_changes
        From `tabulate_units_with_chance_changes`.

    Returns
    -------
    Of every row (rows,), whether its model and condition are in `units_with_chance_changes`, and not `CLEARED`.
    """
    return _mark_rows_of_units(rows, units_with_chance_changes[units_with_chance_changes["answers"] != CLEARED])


def _mark_rows_of_units(rows: pd.DataFrame, units: pd.DataFrame) -> npt.NDArray[np.bool_]:
    """Tell which rows are about one of some models and conditions."""
    if units.empty:
        return np.zeros(len(rows), bool)
    return pd.MultiIndex.from_frame(rows[labels.UNIT]).isin(pd.MultiIndex.from_frame(units[labels.UNIT]))


def blank_words_possibly_due_to_chance(
    words: Sequence[str], rows: pd.DataFrame, units_with_chance_changes: pd.DataFrame, withheld_word: str
) -> list[str]:
    """Take a word about change from the rows whose answers may have changed by chance alone.

    Parameters
    ----------
    words
        The word of every row.
    rows
        Columns study, model, condition.
    units_with_chance_changes
        From `tabulate_units_with_chance_changes`.
    withheld_word
        The word that is withheld.

    Returns
    -------
    The words, empty in place of the one withheld.
    """
    is_by_chance = mark_rows_possibly_changed_by_chance(rows, units_with_chance_changes)
    return [
        "" if by_chance and row_word == withheld_word else row_word
        for row_word, by_chance in zip(words, is_by_chance, strict=True)
    ]


def explain_withheld_verdict(units_with_chance_changes: pd.DataFrame) -> str:
    """Write the verdict where no word is left: why these runs cannot tell, and what would."""
    return ONCE if (units_with_chance_changes["answers"] == DRAWN).any() else ALIKE


def iterate_chance_change_cautions(rows: pd.DataFrame, units_with_chance_changes: pd.DataFrame) -> Iterator[str]:
    """Name the models, of some rows, whose answers chance may have changed: alone, or beside the wording.

    Parameters
    ----------
    rows
        Columns study, model, condition; label, which tells all rows of the page apart, not these alone.
    units_with_chance_changes
        From `tabulate_units_with_chance_changes`.

    Yields
    ------
    A sentence for each kind of answers that some of these models have: `DRAWN`, `SAMPLED`, `CLEARED`.
    """
    for answers, caution in CAUTIONS.items():
        is_by_chance = _mark_rows_of_units(
            rows, units_with_chance_changes[units_with_chance_changes["answers"] == answers]
        )
        if is_by_chance.any():
            yield Caution(caution.format(join_names(list(rows.loc[is_by_chance, "label"].unique()))), WRONG)
