"""The sentence on whether a result stands on wordings of the same meaning: its rule, and where nothing is said."""

from __future__ import annotations

import doctest

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from analysis.reporting.words import meaning
from analysis.reporting.words.meaning import (
    HARDLY,
    PART,
    STAND,
    choose_meaning_support_words,
    describe_support_by_same_meaning,
    join_flip_shares_with_same_meaning,
)
from analysis.statistics.corrected_share import FEW_FLIPS, NO_SHEET, POOR_READERS


def flips(*rows):
    """Rows of `join_flip_shares_with_same_meaning`: share of all with its ends, difference with its ends, for models a,
    b, c."""
    names = ["flip", "flip_lower", "flip_upper", "flip_difference", "flip_difference_lower", "flip_difference_upper"]
    frame = pd.DataFrame(list(rows), columns=names)
    models = [chr(ord("a") + place) for place in range(len(frame))]
    same = frame["flip"] + frame["flip_difference"]
    return frame.assign(study="s", condition="c", model=models, same_flip=same, n_wordings=100, same_n_wordings=90,
                        left_out_items=0, left_out_flips=0.0, n_items_changed=20, excess=np.nan, excess_lower=np.nan,
                        excess_upper=np.nan, not_shown="")  # fmt: skip


STANDS = (0.30, 0.25, 0.35, -0.01, -0.03, 0.01)
FEWER = (0.30, 0.25, 0.35, -0.08, -0.12, -0.04)
MOSTLY = (0.30, 0.25, 0.35, -0.25, -0.28, -0.22)
UNKNOWN = (0.30, 0.25, 0.35, -0.03, -0.10, 0.04)


def test_the_examples_are_right():
    assert doctest.testmod(meaning).failed == 0


@pytest.mark.parametrize(
    ("row", "word"),
    [
        (STANDS, STAND), (FEWER, PART), (MOSTLY, HARDLY), (UNKNOWN, ""),
        ((0.30, 0.25, 0.35, -0.02, -0.058, 0.018), STAND),  # .2 * .30 - .02 = .04; (.038^2 + .01^2) ** .5 = .0393
        ((0.30, 0.25, 0.35, -0.02, -0.059, 0.019), ""),  # .0403
        ((0.30, 0.25, 0.35, -0.20, -0.243, -0.157), HARDLY),  # .5 * .30 - .20 = -.05; (.043^2 + .025^2) ** .5 = .0497
        ((0.30, 0.25, 0.35, -0.20, -0.245, -0.155), PART),  # .0515
        ((0.30, 0.25, 0.35, 0.05, 0.01, 0.09), STAND),  # more change among the same
        ((0.30, 0.25, 0.35, -0.02, np.nan, np.nan), ""),
        ((0.02, 0.00, 0.05, -0.001, -0.002, 0.001), ""),  # next to nothing changes: any difference may be all of it
        ((0.00, 0.00, 0.00, 0.00, 0.00, 0.00), ""),
    ],
)  # fmt: skip
def test_a_word_needs_its_whole_interval(row, word):
    assert choose_meaning_support_words(flips(row)) == [word]


@pytest.mark.slow
@pytest.mark.parametrize(("kept", "wrong"), [(0.8, STAND), (0.5, HARDLY), (1.0, PART)])
def test_a_word_at_its_limit_is_wrong_in_few_studies(kept, wrong):
    """Of 200 studies whose kept part is just the limit, at most 5 % (and the error of 200) get the word: 40 items.

    A rule that is wrong in 15 % of studies is missed with a probability of .004.
    """
    draw, quantile, rows = np.random.default_rng(1), stats.t.ppf(0.975, 39), []
    for _ in range(200):
        share = draw.beta(2, 5, 40)
        same = share * draw.uniform(kept - 0.3, kept + 0.3, 40)
        row = []
        for values in (share, same - share):
            half = quantile * values.std(ddof=1) / np.sqrt(40)
            row += [values.mean(), values.mean() - half, values.mean() + half]
        rows.append(row)
    # Each study has one model: of several at once, the intervals would be wider.
    n_wrong = sum(
        meaning._choose_support_word_by_intervals(row, n_intervals=1) == wrong
        for row in flips(*rows).to_dict("records")
    )
    assert n_wrong / 200 <= 0.05 + 2 * np.sqrt(0.05 * 0.95 / 200)


def test_all_wordings_of_the_same_meaning_keep_all():
    rows = flips((0.3, 0.25, 0.35, 0.0, np.nan, np.nan)).assign(same_n_wordings=100)
    assert choose_meaning_support_words(rows) == [STAND]
    said = describe_support_by_same_meaning([STAND], rows)
    assert said == "This stands on wordings judged to mean the same: there are no others here."
    others = rows.assign(left_out_items=1)  # of another meaning, and without a changed answer
    assert choose_meaning_support_words(others) == [
        STAND
    ] and "at least four fifths" in describe_support_by_same_meaning([STAND], others)


@pytest.mark.parametrize("row", [STANDS, FEWER, MOSTLY])
def test_no_word_where_items_without_the_same_meaning_hold_the_changes(row):
    assert choose_meaning_support_words(flips(row).assign(left_out_items=9, left_out_flips=0.11)) == [""]
    assert choose_meaning_support_words(flips(row).assign(left_out_items=9, left_out_flips=0.10)) != [""]
    rows = flips(row).assign(same_n_wordings=100, left_out_items=9, left_out_flips=0.5)  # one paraphrase an item
    assert choose_meaning_support_words(rows) == [""]


@pytest.mark.parametrize(("n_items_changed", "word"), [(4, ""), (5, STAND)])
def test_a_few_items_with_changed_answers_say_nothing(n_items_changed, word):
    assert choose_meaning_support_words(flips(STANDS).assign(n_items_changed=n_items_changed)) == [word]


@pytest.mark.parametrize(
    ("row", "excess", "word"),
    [
        (STANDS, (0.04, 0.01, 0.07), STAND), (STANDS, (0.02, -0.01, 0.05), ""), (STANDS, (-0.05, -0.09, -0.01), ""),
        ((0.30, 0.25, 0.35, -0.02, -0.03, -0.01), (0.02, -0.01, 0.05), PART),  # fewer change, that is sure
        (FEWER, (0.04, 0.01, 0.07), PART), (MOSTLY, (np.nan,) * 3, HARDLY),
    ],
)  # fmt: skip
def test_what_stands_must_stand_without_the_errors_of_the_check(row, excess, word):
    names = ["excess", "excess_lower", "excess_upper"]
    assert choose_meaning_support_words(flips(row).assign(**dict(zip(names, excess, strict=True)))) == [word]


@pytest.mark.parametrize(
    ("row", "reason", "word"),
    [
        (STANDS, NO_SHEET, STAND), (STANDS, FEW_FLIPS, ""), (STANDS, POOR_READERS, ""), (FEWER, FEW_FLIPS, PART),
        (MOSTLY, FEW_FLIPS, HARDLY),
    ],
)  # fmt: skip
def test_nothing_stands_where_people_read_too_little_to_tell(row, reason, word):
    assert choose_meaning_support_words(flips(row).assign(not_shown=reason)) == [word]


def test_the_reason_of_a_share_that_is_not_shown_goes_with_its_model():
    names = ["n_wordings", "n_items", "n_items_changed", "left_out_items", "left_out_flips", "validity"]
    shares = [f"{name}{end}" for name in ("flip", "flip_difference") for end in ("", "_lower", "_upper")]
    units = pd.DataFrame({"study": "s", "condition": "c", "model": ["a", "a", "b", "b"],
                          "wordings": ["all", "same"] * 2, **dict.fromkeys([*names, *shares], 1.0)})  # fmt: skip
    corrected = pd.DataFrame([{"study": "s", "condition": "c", "model": "a", "excess": np.nan, "not_shown": FEW_FLIPS}])
    rows = join_flip_shares_with_same_meaning(units, corrected).set_index("model")
    assert rows["not_shown"].to_dict() == {"a": FEW_FLIPS, "b": ""}
    assert set(join_flip_shares_with_same_meaning(units, pd.DataFrame())["not_shown"]) == {""}


def test_the_excess_is_widened_for_the_number_of_models():
    rows = flips(STANDS, UNKNOWN, UNKNOWN).assign(excess=0.04, excess_lower=0.005, excess_upper=0.075)
    assert choose_meaning_support_words(rows) == ["", "", ""] and choose_meaning_support_words(rows[:1]) == [STAND]


def test_intervals_are_widened_for_the_number_of_models():
    close = (0.30, 0.25, 0.35, -0.02, -0.055, 0.015)  # above, but not when widened for three
    assert choose_meaning_support_words(flips(close)) == [STAND]
    assert choose_meaning_support_words(flips(close, UNKNOWN, UNKNOWN)) == ["", "", ""]
    assert choose_meaning_support_words(flips(close, STANDS, MOSTLY)) == [STAND, STAND, HARDLY]  # step by step: Holm


def test_chance_takes_the_word():
    drawn = pd.DataFrame({"study": ["s"], "model": ["a"], "condition": ["c"], "answers": ["drawn"]})
    assert choose_meaning_support_words(flips(STANDS, STANDS), drawn) == ["", STAND]


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ([STAND], "This stands on wordings judged to mean the same: at least four fifths as many answers to these "
                  "change."),
        ([PART], "This stands in part on wordings judged to mean the same: fewer answers to these change."),
        ([HARDLY], "This mostly does not stand on wordings judged to mean the same: less than half as many answers to "
                   "these change."),
        ([PART] * 2, "This stands in part on wordings judged to mean the same: fewer answers to these change, with "
                     "each model."),
        ([""], "These runs cannot tell whether this stands on wordings judged to mean the same."),
        ([STAND, ""], "This stands on wordings judged to mean the same with 1 of 2 models; 1 is unclear."),
        ([STAND, STAND, PART, HARDLY, "", ""], "This stands on wordings judged to mean the same with 2 of 6 models, "
                                               "in part with 1, mostly not with 1; 2 are unclear."),
        ([PART, "", ""], "This stands in part on wordings judged to mean the same with 1 of 3 models; 2 are unclear."),
    ],
)  # fmt: skip
def test_the_sentence_counts_the_models(words, sentence):
    rows = flips(*[STANDS] * len(words))
    assert describe_support_by_same_meaning(words, rows) == sentence
    assert len(sentence.split()) <= 30
