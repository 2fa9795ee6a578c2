"""Say whether changes of answers stand on wordings of the same meaning: the rule, and the sentence of several pages.

What is compared is the share of answers unlike that to the original, of all wordings and of those that were judged to
mean the same. The rule is about its *kept* part: the second share divided by the first. Its bounds take the ends of
the difference between both shares and of the first one at their worst, so that they are wider than an interval.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from analysis.measures.thresholds import is_silent
from analysis.reporting.words import chance, labels, phrase_model_condition_count, verdicts
from analysis.reporting.words.verdicts import Band

if TYPE_CHECKING:
    from analysis.runs import Runs

ALL, SAME = "all", "same"  # of column `wordings`
KEPT, HALF = 0.8, 0.5
STAND, PART, HARDLY = "stands", "in part", "mostly not"
BANDS = (
    Band(STAND, KEPT, np.inf),
    Band(HARDLY, -np.inf, HALF),
    Band(PART, -np.inf, np.nextafter(1.0, 0.0)),
)
AMONG = "wordings of the same meaning"
SENTENCES = {
    STAND: f"{{}} stands on {AMONG}: at least four fifths as many answers to these change{{}}.",
    PART: f"{{}} stands in part on {AMONG}: fewer answers to these change{{}}.",
    HARDLY: f"{{}} mostly does not stand on {AMONG}: less than half as many answers to these change{{}}.",
}
CANNOT_TELL = f"{verdicts.UNCLEAR} whether {{}} stands on {AMONG}."
NO_CHECK = "No check parts decoys from paraphrases; nothing is said."
NO_CHECK_ELSEWHERE = "Whether the wordings mean the same is not known: no check parts decoys from paraphrases."
RULES = (
    f"“Stands on {AMONG}” means that at least four fifths as many answers to these differ from that to the original as "
    "answers to all wordings. “In part” means fewer; “mostly not”, less than half as many.",
    "Each must hold with the worst ends of two 95 % intervals over items: of the difference of both shares, and of the "
    "share of all wordings. Of several models, the intervals are widened for their number (Holm).",
)


def pair_flips(flips: pd.DataFrame) -> pd.DataFrame:
    """Put the shares of all wordings and of those of the same meaning beside each other.

    Parameters
    ----------
    flips
        Table of flips: study, model, condition, wordings, n_items, n_wordings, validity, flip, flip_difference, the
        latter two with `_lower` and `_upper`.

    Returns
    -------
    DataFrame
        study, model, condition, validity, n_items; flip, n_wordings: of all wordings; same_flip, same_n_wordings: of
        those of the same meaning; flip_difference: the second share less the first. A row where both are known.
    """
    of_all, of_same = (flips[flips["wordings"] == wordings] for wordings in (ALL, SAME))
    shares = ["flip", "flip_lower", "flip_upper", "n_wordings"]
    ends = ["flip_difference", "flip_difference_lower", "flip_difference_upper"]
    same_columns = of_same[[*labels.UNIT, *shares, *ends]].rename(columns={name: f"same_{name}" for name in shares})
    rows = of_all[[*labels.UNIT, "validity", "n_items", *shares]].merge(same_columns, on=labels.UNIT)
    return rows.dropna(subset=["flip", "same_flip"]).reset_index(drop=True)


def bound_kept_part(rows: pd.DataFrame, n_intervals: int = 1) -> list[tuple[float, float]]:
    """Bound the share of wordings of the same meaning, divided by that of all wordings.

    Parameters
    ----------
    rows
        From `pair_flips`.
    n_intervals
        The intervals are widened for this number of them (`verdicts.widen_difference_interval`).

    Returns
    -------
    list of tuple
        The bounds of every row: 1 where all wordings mean the same; NaN where an interval is missing.

    >>> rows = pd.DataFrame({"flip": [0.4], "flip_lower": [0.3], "flip_upper": [0.5],
    ...                      "flip_difference": [-0.06], "flip_difference_lower": [-0.09],
    ...                      "flip_difference_upper": [-0.03], "n_wordings": 9, "same_n_wordings": 8})
    >>> [(round(low, 2), round(high, 2)) for low, high in bound_kept_part(rows)]
    [(0.7, 0.94)]
    """
    bounds = []
    for row in rows.to_dict("records"):
        if row["n_wordings"] == row["same_n_wordings"]:
            bounds.append((1.0, 1.0))
            continue
        share, difference = (
            verdicts.widen_difference_interval(row[name], row[f"{name}_lower"], row[f"{name}_upper"], n_intervals)
            for name in ("flip", "flip_difference")
        )
        if np.isnan([*share, *difference]).any() or share[1] <= 0:
            bounds.append((np.nan, np.nan))
            continue
        with np.errstate(divide="ignore", invalid="ignore"):
            parts = [1 + np.divide(change, max(0.0, end)) for change in difference for end in share if change or end]
        bounds.append((float(min(parts)), float(max(parts))))
    return bounds


def judge_kept_parts(rows: pd.DataFrame, units_with_chance_changes: pd.DataFrame = chance.NO_CHANCE) -> list[str]:
    """Give every model its word by `RULES`, and none where chance alone may have changed its answers.

    Parameters
    ----------
    rows
        From `pair_flips`, of models that answer.
    units_with_chance_changes
        From `chance.find_units_with_chance_changes`.

    Returns
    -------
    `STAND`, `PART`, `HARDLY`, or empty, of every row.
    """

    def choose_words(n_intervals: int) -> list[str]:
        """Choose the words of all rows, by intervals widened for a number of them."""
        return [verdicts.choose_word_for_interval(*ends, BANDS) for ends in bound_kept_part(rows, n_intervals)]

    words = verdicts.choose_words_by_holm(choose_words, len(rows)) if len(rows) else []
    return ["" if drawn else word for word, drawn in zip(
        words, chance.mark_rows_with_chance_changes(rows, units_with_chance_changes), strict=True
    )]  # fmt: skip


def describe_support(words: Sequence[str], rows: pd.DataFrame, subject: str = "This") -> str:
    """Say in one sentence whether something stands on wordings of the same meaning.

    Parameters
    ----------
    words
        From `judge_kept_parts`.
    rows
        The rows that they are about.
    subject
        What stands.

    Returns
    -------
    The sentence.

    >>> rows = pd.DataFrame({"model": ["a", "b", "c"]})
    >>> describe_support([STAND] * 3, rows)  # doctest: +NORMALIZE_WHITESPACE
    'This stands on wordings of the same meaning: at least four fifths as many answers to these change, with each
    model.'
    >>> describe_support([PART, "", HARDLY], rows)
    'This stands on wordings of the same meaning in part with 1 of 3 models, mostly not with 1; 1 is unclear.'
    """
    counts = Counter(filter(None, words))
    left = len(words) - counts.total()
    if not counts:
        return CANNOT_TELL.format(subject[0].lower() + subject[1:])
    if len(counts) == 1 and not left:
        (word,) = counts
        unit = "model" if rows["model"].is_unique else "model and condition"
        return SENTENCES[word].format(subject, f", with each {unit}" if len(words) > 1 else "")
    named_words = [word for word in (STAND, PART, HARDLY) if counts[word]]
    tally = ", ".join(
        f"{word} with {counts[word]:,}{f' of {phrase_model_condition_count(rows)}' if place == 0 else ''}"
        for place, word in enumerate(named_words)
    ).removeprefix(f"{STAND} ")
    ending = f"; {left:,} {'is' if left == 1 else 'are'} unclear." if left else "."
    return f"{subject} stands on {AMONG} {tally}{ending}"


def describe_meaning_support(runs: Runs) -> str:
    """Say in one sentence, for pages about wordings, whether what they say stands on wordings of the same meaning.

    Parameters
    ----------
    runs
        From `analysis.runs.open_runs`.

    Returns
    -------
    The sentence; empty where nobody checked what the wordings mean, and where no model answers.
    """
    from analysis.measures.meaning_flips import compare_flips  # the sentences alone need no bootstrap

    flips = compare_flips(runs)
    if flips.empty:
        return ""
    answering = flips[~is_silent(flips["validity"])]
    if answering.empty:
        return ""
    rows = pair_flips(answering)
    if rows.empty:
        return NO_CHECK_ELSEWHERE
    words = judge_kept_parts(rows, chance.find_units_with_chance_changes(runs))
    return describe_support(words, rows)
