"""The sentence on whether a result stands on wordings of the same meaning: its rule, and where nothing is said."""

from __future__ import annotations

import doctest

import numpy as np
import pandas as pd
import pytest

from analysis.reporting.words import meaning
from analysis.reporting.words.meaning import HARDLY, PART, STAND, bound_kept_part, describe_support, judge_kept_parts
from analysis.statistics.resampling import DRAWS


def flips(*rows):
    """Rows of `pair_flips`: share of all with its ends, difference with its ends, for models a, b, c."""
    names = ["flip", "flip_lower", "flip_upper", "flip_difference", "flip_difference_lower", "flip_difference_upper"]
    frame = pd.DataFrame(list(rows), columns=names)
    models = [chr(ord("a") + place) for place in range(len(frame))]
    same = frame["flip"] + frame["flip_difference"]
    return frame.assign(study="s", condition="c", model=models, same_flip=same, n_wordings=100, same_n_wordings=90)


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
        ((0.30, 0.25, 0.35, -0.02, -0.051, 0.01), ""),  # .051 of .25 is more than a fifth, of .30 it is less
        ((0.30, 0.25, 0.35, -0.20, -0.22, -0.174), PART),  # .174 of .35 is less than half, of .30 it is more
        ((0.30, 0.25, 0.35, 0.05, 0.01, 0.09), STAND),  # more flips among the same
        ((0.30, 0.25, 0.35, -0.02, np.nan, np.nan), ""),
        ((0.02, 0.00, 0.05, 0.00, 0.00, 0.00), STAND),
        ((0.02, 0.00, 0.05, -0.001, -0.002, 0.001), ""),  # next to nothing flips: any difference may be all of it
        ((0.00, 0.00, 0.00, 0.00, 0.00, 0.00), ""),
    ],
)  # fmt: skip
def test_a_word_needs_the_worst_ends_of_both_intervals(row, word):
    assert judge_kept_parts(flips(row)) == [word]


def test_bounds_hold_the_kept_part_of_all_ends():
    """The kept part of every share and difference within their intervals lies within the bounds (a grid of them)."""
    row = flips(FEWER)
    ((low, high),) = bound_kept_part(row)
    shares, changes = np.linspace(0.25, 0.35, 21), np.linspace(-0.12, -0.04, 21)
    kept = 1 + changes[:, None] / shares
    assert low == pytest.approx(kept.min(), abs=1e-12) and high == pytest.approx(kept.max(), abs=1e-12)


def test_bounds_are_wider_than_a_bootstrap_of_the_ratio():
    """Of 60 items whose wordings of the same meaning flip less: the percentile interval of the ratio is inside."""
    draw = np.random.default_rng(0)
    share = draw.beta(3, 6, 60)
    same = share * draw.uniform(0.6, 1.0, 60)
    places = draw.integers(0, 60, (DRAWS, 60))
    shares, sames = share[places].mean(axis=1), same[places].mean(axis=1)
    ends = [
        np.quantile(values, [0.025, 0.975]) for values in (shares, sames - shares, sames / shares)
    ]  # fmt: skip
    difference = same.mean() - share.mean()
    ((low, high),) = bound_kept_part(flips((share.mean(), *ends[0], difference, *ends[1])))
    assert low < ends[2][0] < ends[2][1] < high


def test_all_wordings_of_the_same_meaning_keep_all():
    rows = flips((0.3, 0.25, 0.35, 0.0, np.nan, np.nan)).assign(same_n_wordings=100)
    assert judge_kept_parts(rows) == [STAND]


def test_intervals_are_widened_for_the_number_of_models():
    close = (0.30, 0.25, 0.35, -0.02, -0.048, 0.008)  # within a fifth of .25, but not when widened for three
    assert judge_kept_parts(flips(close)) == [STAND]
    assert judge_kept_parts(flips(close, UNKNOWN, UNKNOWN)) == ["", "", ""]
    assert judge_kept_parts(flips(close, STANDS, MOSTLY)) == [STAND, STAND, HARDLY]  # step by step: Holm


def test_chance_takes_the_word():
    drawn = pd.DataFrame({"study": ["s"], "model": ["a"], "condition": ["c"], "answers": ["drawn"]})
    assert judge_kept_parts(flips(STANDS, STANDS), drawn) == ["", STAND]


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ([STAND], "This stands on wordings of the same meaning: at least four fifths as many answers to these change."),
        ([PART], "This stands in part on wordings of the same meaning: fewer answers to these change."),
        ([HARDLY], "This mostly does not stand on wordings of the same meaning: less than half as many answers to "
                   "these change."),
        ([PART] * 2, "This stands in part on wordings of the same meaning: fewer answers to these change, with each "
                     "model."),
        ([""], "These runs cannot tell whether this stands on wordings of the same meaning."),
        ([STAND, ""], "This stands on wordings of the same meaning with 1 of 2 models; 1 is unclear."),
        ([STAND, STAND, PART, HARDLY, "", ""], "This stands on wordings of the same meaning with 2 of 6 models, in "
                                               "part with 1, mostly not with 1; 2 are unclear."),
    ],
)  # fmt: skip
def test_the_sentence_counts_the_models(words, sentence):
    rows = flips(*[STANDS] * len(words))
    assert describe_support(words, rows) == sentence
    assert len(sentence.split()) <= 30
