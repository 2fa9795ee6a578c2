"""Decide what a page may say in its verdict: the rules of all pages, written down and computed in one place.

`RULES` says them to the reader; every page shows those that it uses with its method
(`format_verdict_rules_by_name`). The functions are these rules: `thresholds.is_validity_below_half` is "validity",
`choose_verdict_words_for_model_shares` and `choose_words_for_differences` are "interval",
`chance.blank_words_possibly_due_to_chance` is "chance",
`widen_share_interval_for_multiplicity` is "several", `find_lowest_and_highest_distinct_share` is "spread",
`widen_difference_interval_for_multiplicity` is "change", `is_share_clearly_above_other_share` is "people",
`mark_clear_effects` is "fit" and "holm"; "beside people" is `judge_distance_from_people` of
`statistics.ratings.comparison`.
"""

from __future__ import annotations

import functools
import math
import operator
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import TYPE_CHECKING

import numpy as np

from analysis.measures.thresholds import is_validity_below_half
from analysis.statistics.multiplicity import ALPHA
from analysis.statistics.shares import clopper_pearson

if TYPE_CHECKING:
    import pandas as pd

RULES: Mapping[str, str] = {
    "validity": "Nothing is said about a model of which less than half of the probability, of the texts read or of the "
    "responses is surely a valid answer. Where a server showed a part of the probability, the lower bound counts. "
    "Where no model is judged, each is said to answer or not by its best condition and both bounds.",
    "interval": "A word is said where the whole 95 % interval lies in the range that the word stands for, not where "
    "the number alone does. Where several models are judged, their intervals are widened for the number that has no "
    "word yet (Holm).",
    "chance": "A change with the wording is not said of answers drawn once per wording, at a temperature above 0 or "
    "not known. Of several samples it is, where those of one wording are alike more often than others (t test, Holm). "
    "Chance may still make it larger.",
    "several": "Where one of several kinds or groups is enough for a word, their intervals are widened for their "
    "number (Bonferroni). Widened intervals of shares are exact ones (Clopper and Pearson).",
    "spread": "The lowest and the highest model stand beside a mean where their intervals do not touch, widened for "
    "the number of models (Bonferroni). Elsewhere the interval of the mean stands there.",
    "change": "“Rises”, “falls”, “more” and “less” are said where an interval lies on one side of 0. It is widened for "
    "the number of such comparisons on the page (Bonferroni).",
    "people": "More than people is said where the model's share minus theirs has an interval above 0 (Newcombe), "
    "since both are of a sample of items.",
    "beside people": "The excess is a model's distance to people less that of two groups of people. It is “no further” "
    "where both upper ends of it, over items and over people, are at most 0; “further” where both lower ends are above "
    "0. The intervals are widened for the number of models (Bonferroni).",
    "fit": "An effect is named where two errors show it after correction: that of the fit, and one that allows for "
    "answers to one item being alike.",
    "beyond": "A difference “holds” where its test says so after Holm: for these wordings over items, for wordings "
    "like these over items and wordings. The second ones are more than rewording.",
    "kept": "“Mostly the model” is said where the whole interval of what stays under every reading is at least one "
    "half; “less than half”, where it is below. The first one needs a squared correlation with a reading of other "
    "responses, too, whose whole interval is at least one half. Where that is the smaller one, its lower end is said. "
    "Readings of the same texts alone get no word.",
    "artefact": "An artefact of a reading is named where more than 5 % of its variance over wordings is its own, by a "
    "test after Holm. Three readings are needed, or what people read; bounds are not enough. Other readings do not "
    "judge those whose shares are close to 0 or 1: of one text or thought per wording, or at a temperature below 0.3.",
    "holm": "“Differ” is said where the test says so after Holm's correction for all comparisons of its table.",
}
UNCLEAR = "These runs cannot tell"


@dataclass(frozen=True, slots=True)
class Band:
    """Give a word to a range of numbers; the word begins a sentence in small letters: "hardly", "yes"."""

    word: str
    low: float
    high: float


def format_verdict_rules_by_name(*rule_names: str) -> str:
    """Write some of the rules as a paragraph.

    >>> format_verdict_rules_by_name("holm", "holm").count(" Holm's correction")
    2
    """
    return " ".join(RULES[name] for name in rule_names)


def choose_word_for_interval(low: float, high: float, bands: Sequence[Band]) -> str:
    """Find the word of the first band that holds a whole interval.

    Parameters
    ----------
    low, high
        The interval; NaN where there is none.
    bands
        Words and their ranges.

    Returns
    -------
    The word; empty where no band holds the interval, or there is none.

    >>> bands = (Band("hardly", 0, 0.1), Band("yes", 0.1, 1))
    >>> intervals = ((0.0, 0.06), (0.05, 0.2), (0.3, 0.6), (math.nan, math.nan))
    >>> [choose_word_for_interval(*ends, bands) for ends in intervals]
    ['hardly', '', 'yes', '']
    """
    return next((band.word for band in bands if low >= band.low and high <= band.high), "")


def compare_interval_with_value(low: float, high: float, value: float) -> str:
    """Say on which side of another value an interval lies wholly.

    Parameters
    ----------
    low, high
        The interval; NaN where it is unknown.
    value
        The value; NaN where it is unknown.

    Returns
    -------
    "more" or "less"; empty where the interval holds the value, or one is unknown.

    >>> intervals = ((0.33, 0.67), (0.5, 0.67), (0.1, 0.4), (math.nan, 1))
    >>> [compare_interval_with_value(*ends, 0.47) for ends in intervals]
    ['', 'more', 'less', '']
    """
    return "more" if low > value else "less" if high < value and low <= high else ""


def widen_share_interval_for_multiplicity(
    share: float, low: float, high: float, n_intervals: int
) -> tuple[float, float]:
    """Widen Wilson's 95 % interval of a share, so that `n_intervals` such intervals all hold their share in 95 % of
    cases.

    If any of several intervals may decide a word, each has a chance to be wrong. The interval says how many independent
    answers it is made of: Wilson's end P has (share - P)^2 = z^2 P (1 - P) / n. The wider one is the exact interval
    for these (Clopper and Pearson 1934): far out, Wilson's misses shares near 0 or 1 too often. Of 62 items with the
    share .05, one of 50 of its intervals lies beyond in .16 of studies, of the exact ones in .01.

    Parameters
    ----------
    share
        The share.
    low, high
        Wilson's interval; NaN where there is none.
    n_intervals
        Number of intervals.

    Returns
    -------
    The ends of the wider interval.

    >>> low, high = widen_share_interval_for_multiplicity(0.7, 0.6042, 0.7811, 4)
    >>> round(low, 2), round(high, 2), widen_share_interval_for_multiplicity(0.7, 0.6042, 0.7811, 1) == (0.6042, 0.7811)
    (0.57, 0.81, True)
    """
    if n_intervals == 1 or low != low:
        return low, high
    end = low if share >= 0.5 else high  # the other one may be 0 or 1
    with np.errstate(divide="ignore"):
        n = NormalDist().inv_cdf(1 - ALPHA / 2) ** 2 * end * (1 - end) / np.square(np.float64(share - end))
    exact_low, exact_high = clopper_pearson(np.asarray(share), n, 1 - ALPHA / n_intervals)
    return min(low, float(exact_low)), max(high, float(exact_high))


def choose_verdict_words_for_model_shares(rows: pd.DataFrame, share_column: str, bands: Sequence[Band]) -> list[str]:
    """Give several models' shares their words, by intervals that are widened step by step
    (`choose_words_by_stepwise_wider_intervals`).

    Parameters
    ----------
    rows
        A row for each model; its interval, Wilson's, is in the columns `share_column` with `_lower` and `_upper`.
    share_column
        Column of the shares.
    bands
        Words and their ranges.

    Returns
    -------
    The word of every row, empty where it has none.

    >>> import pandas as pd
    >>> rows = pd.DataFrame({"flips": [0.2, 0.2], "flips_lower": [0.109, 0.109], "flips_upper": [0.338, 0.338]})
    >>> (choose_verdict_words_for_model_shares(rows, "flips", (Band("yes", 0.1, 1),)),
    ...  choose_verdict_words_for_model_shares(rows[:1], "flips", (Band("yes", 0.1, 1),)))
    (['', ''], ['yes'])
    """
    return _choose_words_by_widened_intervals(
        rows[[share_column, f"{share_column}_lower", f"{share_column}_upper"]],
        widen_share_interval_for_multiplicity,
        bands,
    )


def choose_words_for_differences(rows: pd.DataFrame, difference_column: str, bands: Sequence[Band]) -> list[str]:
    """Give several models' differences their words, by intervals that are widened step by step
    (`choose_words_by_stepwise_wider_intervals`).

    Parameters
    ----------
    rows
        A row for each model, its interval in the columns `lower` and `upper`.
    difference_column
        Column of the differences.
    bands
        Words and their ranges.

    Returns
    -------
    The word of every row, empty where it has none.
    """
    return _choose_words_by_widened_intervals(
        rows[[difference_column, "lower", "upper"]], widen_difference_interval_for_multiplicity, bands
    )


def _choose_words_by_widened_intervals(
    estimates_with_ends: pd.DataFrame,
    widen: Callable[[float, float, float, int], tuple[float, float]],
    bands: Sequence[Band],
) -> list[str]:
    """Give every row with an interval its word, after Holm; a row of `estimates_with_ends`: value, two ends."""
    intervals = estimates_with_ends.astype(float)
    has_interval = intervals.notna().all(axis=1).to_numpy()

    def choose_widened_words(n_intervals: int) -> list[str]:
        """Choose the words of all rows, by intervals widened for a number of them."""
        rows = intervals[has_interval].itertuples(index=False, name=None)
        return [choose_word_for_interval(*widen(value, low, high, n_intervals), bands) for value, low, high in rows]

    words = iter(choose_words_by_stepwise_wider_intervals(choose_widened_words, int(has_interval.sum())))
    return [next(words) if has else "" for has in has_interval]


def choose_words_by_stepwise_wider_intervals(choose_words: Callable[[int], list[str]], n_rows: int) -> list[str]:
    """Give words after Holm: to all rows with intervals widened for all, then to those left with theirs, and so on.

    So all words hold together in 95 % of cases: a row needs an interval for as many rows as have no word before it.

    Parameters
    ----------
    choose_words
        From a number that intervals are widened for to the word of each row, empty where it has none.
    n_rows
        How many rows there are.

    Returns
    -------
    The word of every row, empty where it has none.

    >>> (choose_words_by_stepwise_wider_intervals(lambda number: ["yes", "yes" if number < 2 else ""], 2),
    ...  choose_words_by_stepwise_wider_intervals(lambda number: [""], 1))
    (['yes', 'yes'], [''])
    """
    words = choose_words(max(n_rows, 1))
    while 0 < (left := words.count("")) < n_rows:
        n_rows, later_words = left, choose_words(left)
        words = [first or later for first, later in zip(words, later_words, strict=True)]
    return words


def find_lowest_and_highest_distinct_share(
    shares: pd.Series, lows: pd.Series, highs: pd.Series
) -> tuple[float, float] | None:
    """Find the lowest and the highest of several shares, if they are apart by more than chance explains.

    Of many models, some are far from the mean by chance alone. So the intervals of the two ends are widened for the
    number of all.

    Parameters
    ----------
    shares
        The shares.
    lows, highs
        Ends of their intervals, under the same labels; NaN where there is none: such shares are left out.

    Returns
    -------
    The lowest and the highest share; None where chance may explain the distance, or fewer than two are known.

    >>> import pandas as pd
    >>> shares, lows, highs = pd.Series([0.3, 0.5, 0.8]), pd.Series([0.2, 0.4, 0.71]), pd.Series([0.4, 0.6, 0.87])
    >>> [find_lowest_and_highest_distinct_share(shares[:n], lows, highs) for n in (3, 2, 1)]
    [(0.3, 0.8), None, None]
    """
    known_shares = shares[lows.notna() & highs.notna()]
    if len(known_shares) < 2:
        return None
    least, most = known_shares.idxmin(), known_shares.idxmax()
    below = widen_share_interval_for_multiplicity(shares[least], lows[least], highs[least], len(known_shares))[1]
    beyond_it = widen_share_interval_for_multiplicity(shares[most], lows[most], highs[most], len(known_shares))[0]
    return (float(shares[least]), float(shares[most])) if below < beyond_it else None


def widen_difference_interval_for_multiplicity(
    difference: float, low: float, high: float, n_intervals: int
) -> tuple[float, float]:
    """Widen the 95 % interval of a difference, so that `n_intervals` such intervals all hold theirs in 95 % of cases.

    Each end moves away as that of a normal distribution does. `widen_share_interval_for_multiplicity` is for shares,
    whose distribution is known.

    Parameters
    ----------
    difference
        The difference.
    low, high
        Its interval.
    n_intervals
        Number of intervals.

    Returns
    -------
    The ends of the wider interval.

    >>> low, high = widen_difference_interval_for_multiplicity(0.1, 0.02, 0.2, 3)
    >>> round(low, 3), round(high, 3), widen_difference_interval_for_multiplicity(0.1, 0.02, 0.2, 1)
    (0.002, 0.222, (0.02, 0.2))
    """
    if n_intervals == 1:
        return low, high
    factor = NormalDist().inv_cdf(1 - ALPHA / 2 / n_intervals) / NormalDist().inv_cdf(1 - ALPHA / 2)
    return difference - factor * (difference - low), difference + factor * (high - difference)


def is_share_clearly_above_other_share(share: float, low: float, other_share: float, other_high: float) -> bool:
    """Tell whether a share is clearly above another one, by Newcombe's interval of their difference.

    Both have an interval of their own: where one is taken for exact, chance makes it the smaller one too often. That
    both are of the same items is not used: where they go together, the interval is wider than it need be.

    Parameters
    ----------
    share, low
        A share and the lower end of its interval.
    other_share, other_high
        The other share and the upper end of its interval.

    Returns
    -------
    Whether it is; False where a number is NaN.

    >>> unknown = float("nan")
    >>> [is_share_clearly_above_other_share(0.9, 0.74, 0.47, higher) for higher in (0.64, unknown)]
    [True, False]
    >>> is_share_clearly_above_other_share(0.8, 0.63, 0.47, 0.64)
    True
    """
    return share - other_share > math.hypot(share - low, other_high - other_share)


def mark_clear_effects(*corrected_p_values: pd.Series) -> pd.Series:
    """Tell which effects or differences hold: every corrected p value given is below 0.05; an unknown one is not.

    >>> import pandas as pd
    >>> mark_clear_effects(pd.Series([0.01, 0.01, 0.2]), pd.Series([0.03, float("nan"), 0.01])).tolist()
    [True, False, False]
    """
    return functools.reduce(operator.and_, (values.astype(float) < ALPHA for values in corrected_p_values))


def mark_readings_with_artefact(own_share: pd.Series, p_holm: pd.Series, validity: pd.Series) -> pd.Series:
    """Tell which readings are named an artefact (rule "artefact").

    Parameters
    ----------
    own_share
        Estimated share of a reading's variance over wordings that is its own; NaN where there are only bounds.
    p_holm
        p value of the test that it is more than 5 %, after Holm; NaN where there is none.
    validity
        Share of valid answers.

    Returns
    -------
    Series of bool

    >>> import pandas as pd
    >>> mark_readings_with_artefact(pd.Series([0.4, 0.4, float("nan")]), pd.Series([0.01, 0.01, 0.01]),
    ...                pd.Series([0.9, 0.4, 0.9])).tolist()
    [True, False, False]
    """
    return mark_clear_effects(p_holm) & own_share.notna() & ~is_validity_below_half(validity.astype(float))


KEPT_BANDS = (Band("less than half", 0, 0.5), Band("mostly the model", 0.5, 1))
"""Of what stays under every reading: rule "kept"."""


def describe_verdict_word_counts(words: Sequence[str], rows_phrase: str) -> str:
    """Count the words of several rows in one sentence: the first words of a verdict.

    Parameters
    ----------
    words
        What `choose_word_for_interval` says about each row.
    rows_phrase
        The rows, counted: "7 models".

    Returns
    -------
    The sentence.

    >>> (describe_verdict_word_counts(["yes"], "1 model"), describe_verdict_word_counts(["hardly"] * 2, "2 models"),
    ...  describe_verdict_word_counts(["", ""], "2 models"))
    ('Yes.', 'Hardly, with each of 2 models.', 'These runs cannot tell.')
    >>> describe_verdict_word_counts(["yes", "hardly", "yes", "", ""], "5 models")
    'Yes with 2 of 5 models, hardly with 1; with the others, these runs cannot tell.'
    """
    counts = Counter(sorted(filter(None, words))).most_common()
    if not counts:
        return f"{UNCLEAR}."
    (first, most), *other_counts = counts
    if most == len(words):
        return f"{first.capitalize()}." if most == 1 else f"{first.capitalize()}, with each of {rows_phrase}."
    parts = [
        f"{first.capitalize()} with {most:,} of {rows_phrase}",
        *(f"{name} with {number:,}" for name, number in other_counts),
    ]
    left = words.count("")  # intervals that are too wide, or missing
    return ", ".join(parts) + (f"; with the other{'s' * (left > 1)}, these runs cannot tell." if left else ".")
