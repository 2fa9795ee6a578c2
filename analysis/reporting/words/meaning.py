"""Say whether changes of answers stand on wordings of the same meaning: the rule, and the sentence of several pages.

What is compared is the share of answers unlike that to the original, of all wordings and of those that were judged to
mean the same. The rule asks whether the second share is at least a part of the first, such as four fifths: then their
difference, plus one fifth of the first, is above 0. The interval of this sum is made of both intervals, as Newcombe
makes that of a difference of shares: distances of the ends are added as squares (Zou and Donner 2008, Statistics in
Medicine 27, 1693-1702). That a larger share goes with a larger loss is not used: it is wider than need be.

Two things would make a word too strong. Where fewer than `LEAST` items have a changed answer, their differences say
little of other items: without this rule, “stands” was wrong in up to .27 of simulated studies of 5 to 12 items, with it
in .06 at most. And a check may let wordings of another meaning pass that are finer than its decoys. Where people read a
part of the wordings, “stands” must hold for the share that is corrected for that, too: a check that let four fifths of
them pass made it wrong in up to all of the studies, and so in .05. Where they read too little to correct the share,
“stands” is not said. Where nobody read any, only the judgement is spoken of.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from analysis.measures.thresholds import KEPT, is_validity_below_half
from analysis.reporting.words import (
    chance,
    join_names,
    labels,
    name_unit_of_rows,
    phrase_count_of_model_condition_pairs,
    verdicts,
)
from analysis.runs import Runs
from analysis.statistics.corrected_share import NO_SHEET
from analysis.statistics.forms import LEAST
from ground.capitals import uncapitalise_sentence

ALL, SAME = "all", "same"  # of column `wordings`
HALF = 0.5
MOST_LEFT_OUT = 0.1  # share of the changed answers that items without a wording of the same meaning may have
STAND, PART, HARDLY = "stands", "in part", "mostly not"
AMONG = "wordings judged to mean the same"
SENTENCES = {
    STAND: f"{{}} stands on {AMONG}: at least four fifths as many answers to these change{{}}.",
    PART: f"{{}} stands in part on {AMONG}: fewer answers to these change{{}}.",
    HARDLY: f"{{}} mostly does not stand on {AMONG}: less than half as many answers to these change{{}}.",
}
ONLY_SAME = f"{{}} stands on {AMONG}: there are no others here."
CANNOT_TELL = f"{verdicts.UNCLEAR} whether {{}} stands on {AMONG}."
CHANGED = "The share of changed answers"
NOTHING = f"{verdicts.UNCLEAR}: no wording of the same meaning has an answer beside one to its original."
NO_CHECK = "No check parts decoys from paraphrases; nothing is said."
NO_CHECK_ELSEWHERE = "Whether the wordings mean the same is not known: no check parts decoys from paraphrases."
RULES = (
    f"“Stands on {AMONG}” means that at least four fifths as many answers to these differ from that to the original as "
    "answers to all wordings. “In part” means that fewer differ than of answers to all wordings; that four fifths do "
    "is not shown. “Mostly not” means less than half as many.",
    "Each must hold for the whole 95 % interval over items, which is made of those of the difference of both shares "
    "and of the share of all wordings. Of several models, these are widened for their number (Holm).",
    "Both shares are of the items that have a wording of the same meaning. No word is given where more than "
    f"{MOST_LEFT_OUT:.0%} of the changed answers are on other items.".replace("%", " %"),
    "Where people read a part of the wordings, “stands” must hold for the share that is corrected for errors of the "
    "check, too; it is not said where that share is not shown. "
    f"Where fewer than {LEAST} items have a changed answer, nothing is said.",
)


def join_flip_shares_with_same_meaning(flips: pd.DataFrame, corrected: pd.DataFrame) -> pd.DataFrame:
    """Put the shares of all wordings and of those of the same meaning beside each other.

    Parameters
    ----------
    flips
        Table of flips: study, model, condition, wordings, n_items, n_items_changed, n_wordings, left_out_items,
        left_out_flips, validity, flip, flip_difference, the latter two with `_lower` and `_upper`.
    corrected
        Of `measures.meaning_corrected.correct_flip_shares_for_check_errors`; may be empty.

    Returns
    -------
    DataFrame
        study, model, condition, validity, n_items, n_items_changed, left_out_items, left_out_flips; flip, n_wordings:
        of all wordings; same_flip, same_n_wordings: of those of the same meaning; flip_difference: the second share
        less the first; excess, with its ends: of the corrected share, NaN where it is not shown, and not_shown: why.
        A row where both shares are known.
    """
    of_all, of_same = (flips[flips["wordings"] == wordings] for wordings in (ALL, SAME))
    shares = ["flip", "flip_lower", "flip_upper", "n_wordings"]
    ends = ["flip_difference", "flip_difference_lower", "flip_difference_upper"]
    same_columns = of_same[[*labels.UNIT, *shares, *ends]].rename(columns={name: f"same_{name}" for name in shares})
    about = ["validity", "n_items", "n_items_changed", "left_out_items", "left_out_flips"]
    rows = of_all[[*labels.UNIT, *about, *shares]].merge(same_columns, on=labels.UNIT)
    excess = corrected.reindex(columns=[*labels.UNIT, "excess", "excess_lower", "excess_upper", "not_shown"])
    rows = rows.merge(excess.astype(dict.fromkeys(labels.UNIT, "object")), on=labels.UNIT, how="left")
    rows["not_shown"] = rows["not_shown"].astype("object").fillna("")
    return rows.dropna(subset=["flip", "same_flip"]).reset_index(drop=True)


def estimate_interval_of_same_meaning_excess(
    row: Mapping[Hashable, Any], part: float, n_intervals: int = 1
) -> tuple[float, float]:
    """Estimate how far the share of wordings of the same meaning is above a part of that of all wordings.

    Parameters
    ----------
    row
        Of `join_flip_shares_with_same_meaning`.
    part
        Such as 0.8.
    n_intervals
        The intervals are widened for this number of them (`verdicts.widen_difference_interval_for_multiplicity`).

    Returns
    -------
    The 95 % interval; NaN where one is missing.

    >>> row = {"flip": 0.4, "flip_lower": 0.3, "flip_upper": 0.5, "flip_difference": -0.06,
    ...        "flip_difference_lower": -0.09, "flip_difference_upper": -0.03}
    >>> [round(end, 4) for end in estimate_interval_of_same_meaning_excess(row, 0.8)]
    [-0.0161, 0.0561]
    """
    excess, below, above = 0.0, 0.0, 0.0
    for name, weight in (("flip_difference", 1.0), ("flip", 1 - part)):
        ends = verdicts.widen_difference_interval_for_multiplicity(
            row[name], row[f"{name}_lower"], row[f"{name}_upper"], n_intervals
        )
        low, high = ends
        excess += weight * row[name]
        below, above = np.hypot(below, weight * (row[name] - low)), np.hypot(above, weight * (high - row[name]))
    return float(excess - below), float(excess + above)


def choose_meaning_support_words(
    rows: pd.DataFrame, units_with_chance_changes: pd.DataFrame = chance.NO_CHANCE
) -> list[str]:
    """Give every model its word by `RULES`, and none where chance alone may have changed its answers.

    Parameters
    ----------
    rows
        From `join_flip_shares_with_same_meaning`, of models that answer.
    units_with_chance_changes
        From `chance.tabulate_units_with_chance_changes`.

    Returns
    -------
    `STAND`, `PART`, `HARDLY`, or empty, of every row.
    """
    records = rows.to_dict("records")
    words = verdicts.choose_words_by_stepwise_wider_intervals(
        lambda n_intervals: [_choose_support_word_by_intervals(row, n_intervals) for row in records], len(records)
    ) if records else []  # fmt: skip
    is_by_chance = chance.mark_rows_possibly_changed_by_chance(rows, units_with_chance_changes)
    return ["" if by_chance else word for word, by_chance in zip(words, is_by_chance, strict=True)]


def _choose_support_word_by_intervals(row: Mapping[Hashable, Any], n_intervals: int) -> str:
    """Choose the word of a row, by intervals widened for a number of them."""
    if row["left_out_flips"] > MOST_LEFT_OUT:
        return ""
    if row["n_wordings"] == row["same_n_wordings"]:  # all wordings of these items mean the same
        return STAND
    if row["n_items_changed"] < LEAST:
        return ""
    excess, low, high = (float(row[f"excess{end}"]) for end in ("", "_lower", "_upper"))  # missing without a sheet
    is_refuted = (
        excess <= 0 or verdicts.widen_difference_interval_for_multiplicity(excess, low, high, n_intervals)[0] <= 0
    )
    is_refuted |= row["not_shown"] not in ("", NO_SHEET)  # people read some, but not enough to tell
    if estimate_interval_of_same_meaning_excess(row, KEPT, n_intervals)[0] > 0 and not is_refuted:
        return STAND
    if estimate_interval_of_same_meaning_excess(row, HALF, n_intervals)[1] < 0:
        return HARDLY
    return PART if estimate_interval_of_same_meaning_excess(row, 1.0, n_intervals)[1] < 0 else ""


def do_all_answered_wordings_mean_the_same(rows: pd.DataFrame) -> bool:
    """Tell whether all wordings that have answers mean the same, so that there is nothing to compare.

    `rows`: from `join_flip_shares_with_same_meaning`.
    """
    return bool((rows["n_wordings"].eq(rows["same_n_wordings"]) & rows["left_out_items"].eq(0)).all())


def describe_support_by_same_meaning(words: Sequence[str], rows: pd.DataFrame, subject: str = "This") -> str:
    """Say in one sentence whether something stands on wordings of the same meaning.

    Parameters
    ----------
    words
        From `choose_meaning_support_words`.
    rows
        The rows that they are about.
    subject
        What stands.

    Returns
    -------
    The sentence.

    >>> rows = pd.DataFrame(
    ...     {"model": ["a", "b", "c"], "n_wordings": 9, "same_n_wordings": 7, "left_out_items": 0}
    ... )
    >>> describe_support_by_same_meaning([STAND] * 3, rows)  # doctest: +NORMALIZE_WHITESPACE
    'This stands on wordings judged to mean the same: at least four fifths as many answers to these change, with each
    model.'
    >>> describe_support_by_same_meaning([PART, "", HARDLY], rows)
    'This stands in part on wordings judged to mean the same with 1 of 3 models, mostly not with 1; 1 is unclear.'
    """
    counts = Counter(filter(None, words))
    left = len(words) - counts.total()
    if not counts:
        return CANNOT_TELL.format(uncapitalise_sentence(subject))
    if len(counts) == 1 and not left:
        (word,) = counts
        if word == STAND and do_all_answered_wordings_mean_the_same(rows):
            return ONLY_SAME.format(subject)
        return SENTENCES[word].format(subject, f", with each {name_unit_of_rows(rows)}" if len(words) > 1 else "")
    first_word, *other_words = (word for word in (STAND, PART, HARDLY) if counts[word])
    how = "stands" if first_word == STAND else f"stands {first_word}"
    first = f"with {counts[first_word]:,} of {phrase_count_of_model_condition_pairs(rows)}"
    tally = ", ".join([first, *(f"{word} with {counts[word]:,}" for word in other_words)])
    ending = f"; {left:,} {'is' if left == 1 else 'are'} unclear." if left else "."
    return f"{subject} {how} on {AMONG} {tally}{ending}"


def describe_same_meaning_support_for_wordings(runs: Runs) -> str:
    """Say in one sentence, for pages about wordings, whether what they say stands on wordings of the same meaning.

    It is empty where nobody checked what the wordings mean, and where no model answers.
    """
    from analysis.measures.meaning_corrected import correct_flip_shares_for_check_errors
    from analysis.measures.meaning_flips import (
        tabulate_all_and_same_meaning_flips,  # the sentences alone need no bootstrap
    )

    flips = tabulate_all_and_same_meaning_flips(runs)
    if flips.empty:
        return ""
    answering = flips[~is_validity_below_half(flips["validity"])]
    if answering.empty:
        return ""
    rows = join_flip_shares_with_same_meaning(answering, correct_flip_shares_for_check_errors(runs))
    if rows.empty:
        return NOTHING if (flips["wordings"] == SAME).any() else NO_CHECK_ELSEWHERE
    words = choose_meaning_support_words(rows, chance.tabulate_units_with_chance_changes(runs))
    return describe_support_by_same_meaning(
        words, rows, _name_supported_finding_with_studies(rows, list(runs.info["studies"]))
    )


def _name_supported_finding_with_studies(rows: pd.DataFrame, studies: Sequence[str]) -> str:
    """Name what stands, with its studies where others of the page were not checked."""
    checked = list(rows["study"].unique())
    if set(checked) == set(studies):
        return CHANGED
    return f"{CHANGED} in {join_names([f'“{labels.shorten_middle(study, 30)}”' for study in checked], 2)}"
