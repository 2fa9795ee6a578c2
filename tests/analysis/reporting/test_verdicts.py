"""The rules of all verdicts, one by one."""

from __future__ import annotations

import doctest
import math
from statistics import NormalDist

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binom, binomtest

from analysis.measures.thresholds import INVALID, UNCLEAR, VALID, is_validity_below_half, judge_validity_of_models
from analysis.reporting.words import validity, verdicts
from analysis.reporting.words.verdicts import (
    Band,
    choose_word_for_interval,
    compare_interval_with_value,
    describe_verdict_word_counts,
    find_lowest_and_highest_distinct_share,
    is_share_clearly_above_other_share,
    mark_clear_effects,
    widen_difference_interval_for_multiplicity,
    widen_share_interval_for_multiplicity,
)
from analysis.statistics.shares import wilson

BANDS = (Band("hardly", 0.0, 0.1), Band("yes", 0.1, 1.0))


def test_the_examples_are_right():
    assert doctest.testmod(verdicts).failed == 0 == doctest.testmod(validity).failed


def test_every_rule_is_a_sentence_of_at_most_thirty_words():
    for name, rule in verdicts.RULES.items():
        assert rule.endswith("."), name
        assert all(len(sentence.split()) <= 30 for sentence in rule.split(". ")), name
    assert verdicts.format_verdict_rules_by_name("holm", "fit") == f"{verdicts.RULES['holm']} {verdicts.RULES['fit']}"


def test_a_model_is_invalid_only_where_its_upper_bound_is_below_one_half():
    lower, upper = pd.Series([0.3, 0.3, 0.3, 0.5, math.nan]), pd.Series([0.49, 0.5, math.nan, 0.9, math.nan])
    assert judge_validity_of_models(lower, upper).tolist() == [INVALID, UNCLEAR, INVALID, VALID, VALID]
    assert judge_validity_of_models(lower).tolist() == [INVALID, INVALID, INVALID, VALID, VALID]
    is_judged = judge_validity_of_models(lower, upper) == VALID
    assert (is_judged == ~is_validity_below_half(lower)).all()  # what cannot be told is not judged


def test_of_a_model_below_one_half_both_bounds_are_told():
    """10 % was told as what is on the options, though it may be 30 %."""
    rows = pd.DataFrame({"label": ["a", "b"], "validity": [0.1, 0.2], "validity_at_most": [0.3, None]}, dtype=object)
    shares = [
        validity.list_unjudged_model_sentences(part)[0].rpartition(": ")[2] for part in (rows, rows[:1], rows[1:])
    ]
    assert shares == ["between 10 % and 30 % with a, the lowest lower bound.", "between 10 % and 30 %.", "20 %."]


BOUNDED = {"study": "s", "model": "m", "condition": "de", "label": "m · de", "validity": 0.0, "validity_at_most": 0.1}
ENGLISH = {"condition": "en", "label": "m · en", "validity": 0.48, "validity_at_most": 0.6}
MEDIUM = {"model": "n", "label": "n · en", "condition": "en", "validity": 0.38, "validity_at_most": 0.4}


@pytest.mark.parametrize(
    ("rows", "verdict"),
    [
        ([BOUNDED, BOUNDED | ENGLISH], "Whether this model answers cannot be told."),
        ([BOUNDED | ENGLISH, BOUNDED], "Whether this model answers cannot be told."),
        ([BOUNDED, BOUNDED | ENGLISH, BOUNDED | MEDIUM], "No model is known to answer."),
        ([BOUNDED, BOUNDED | ENGLISH, BOUNDED | MEDIUM | {"validity_at_most": 0.7}],
         "Whether these models answer cannot be told."),
        ([BOUNDED, BOUNDED | ENGLISH | {"validity_at_most": 0.49}], "This model does not answer."),
        ([BOUNDED, BOUNDED | MEDIUM], "These models do not answer."),
        ([BOUNDED | ENGLISH, BOUNDED | ENGLISH | {"validity_at_most": 0.49}], "This model does not answer."),
    ],
)  # fmt: skip
def test_whether_models_answer_follows_the_best_condition_of_each_and_both_bounds(rows, verdict):
    """Of two rows of one condition, as of two groups of items, the lower one counts."""
    assert validity.phrase_verdict_without_judged_model(pd.DataFrame(rows))[0] == verdict


def test_cautions_name_the_condition_or_follow_the_best_one():
    rows = pd.DataFrame([BOUNDED, BOUNDED | ENGLISH, BOUNDED | MEDIUM])
    lacking, unclear = validity.list_unjudged_model_sentences(rows)
    assert lacking == (
        "Not judged: m · de and n · en. Less than half of the probability is on the options (or of the texts can be "
        "read as one): between 0 % and 10 % with m · de, the lowest."
    )
    assert unclear.startswith("Not judged: m · en (between 48 % and 60 %). Whether half of the probability is on")
    for highest, what in ((0.05, "the lowest"), (0.2, "the lowest lower bound")):
        other = BOUNDED | {"label": "low", "validity": 0.0, "validity_at_most": highest}
        text = validity.list_unjudged_model_sentences(pd.DataFrame([BOUNDED | {"validity": 0.01}, other]))[0]
        assert text.endswith(f"between 0 % and {100 * highest:.0f} % with low, {what}.")
    lacking, unclear = validity.list_unjudged_model_sentences(rows.assign(label=rows["model"]))
    assert lacking.startswith("Not judged: n. ") and lacking.endswith("between 38 % and 40 %.")
    assert unclear.startswith("Not judged: m (between 48 % and 60 %).")


def test_of_many_rows_of_which_it_cannot_be_told_the_lowest_is_named():
    """They were counted alone, and no number stood beside."""
    names = [f"organisation/model-of-a-long-name-{number}" for number in range(3)]
    rows = pd.DataFrame({"label": names, "validity": [0.4, 0.2, 0.3], "validity_at_most": 0.6})
    (unclear,) = validity.list_unjudged_model_sentences(rows)
    assert unclear.startswith(f"Not judged: 3 of 3 rows, such as {names[1]} (between 20 % and 60 %). Whether half of")


def test_validity_half_of_the_answers_is_enough():
    assert is_validity_below_half(pd.Series([0.49, 0.5, math.nan])).tolist() == [True, False, False]


@pytest.mark.parametrize(
    ("low", "high", "said"),
    [(0, 0.1, "hardly"), (0, 0.11, ""), (0.09, 0.5, ""), (0.1, 0.5, "yes"), (0.11, 1.0, "yes"),
     (math.nan, 0.05, ""), (0.0, math.nan, "")],
)  # fmt: skip
def test_interval_a_word_holds_for_the_whole_interval_or_is_not_said(low, high, said):
    assert choose_word_for_interval(low, high, BANDS) == said


@pytest.mark.parametrize(
    ("low", "high", "people", "said"),
    [(0.33, 0.67, 0.47, ""), (0.48, 0.67, 0.47, "more"), (0.33, 0.46, 0.47, "less"), (0.47, 0.6, 0.47, ""),
     (0.3, 0.47, 0.47, ""), (math.nan, math.nan, 0.47, ""), (math.nan, 0.3, 0.47, ""), (0.3, 0.6, math.nan, "")],
)  # fmt: skip
def test_people_nothing_is_said_where_their_value_lies_in_the_interval(low, high, people, said):
    assert compare_interval_with_value(low, high, people) == said


@pytest.mark.parametrize(("part", "n"), [(0, 12), (12, 12), (6, 12), (70, 100), (3, 40), (1, 1)])
@pytest.mark.parametrize("number", [2, 4, 8])
def test_several_a_widened_interval_is_the_exact_one_of_a_smaller_error(part, n, number):
    share, z = part / n, NormalDist().inv_cdf(0.975)
    low, high = textbook_wilson(share, n, z)
    exact = binomtest(part, n).proportion_ci(1 - 0.05 / number, method="exact")
    expected = min(low, exact.low), max(high, exact.high)
    assert widen_share_interval_for_multiplicity(share, low, high, number) == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize(("n", "share"), [(62, 0.1), (62, 0.05), (300, 0.05), (43, 0.05), (62, 0.5)])
@pytest.mark.parametrize("number", [2, 10, 50])
def test_interval_a_word_about_any_of_several_models_is_wrong_in_one_of_twenty_studies_at_most(n, share, number):
    """Models that are truly at the limit between two words, by the binomial distribution; by Wilson's, up to .16."""
    z, wrong = NormalDist().inv_cdf(0.975), 0.0
    for part in range(n + 1):
        low, high = widen_share_interval_for_multiplicity(part / n, *textbook_wilson(part / n, n, z), number)
        wrong += binom.pmf(part, n, share) * (low >= share or high <= share)
    assert 1 - (1 - wrong) ** number <= 0.05


def test_several_one_interval_stays_and_none_stays_none():
    assert widen_share_interval_for_multiplicity(0.7, 0.6, 0.8, 1) == (0.6, 0.8)
    assert all(math.isnan(end) for end in widen_share_interval_for_multiplicity(0.7, math.nan, math.nan, 3))


def test_several_and_people_words_of_chance_are_as_rare_as_their_intervals_say():
    """Four kinds of which each is truly at the limit; people and a model who truly have the same share."""
    rng, z = np.random.default_rng(3), NormalDist().inv_cdf(0.975)
    plain = wide = naive = both = 0
    for _ in range(1500):
        shares = rng.binomial(100, 0.8, 4) / 100
        ends = [textbook_wilson(share, 100, z) for share in shares]
        plain += any(high < 0.8 for _, high in ends)
        wide += any(
            widen_share_interval_for_multiplicity(share, *end, 4)[1] < 0.8
            for share, end in zip(shares, ends, strict=True)
        )
        naive += ends[0][0] > shares[1]
        both += is_share_clearly_above_other_share(shares[0], ends[0][0], shares[1], ends[1][1])
    assert plain > 0.08 * 1500 > 0.06 * 1500 > wide
    assert naive > 0.06 * 1500 > 0.04 * 1500 > both


def test_spread_is_of_the_two_ends_after_widening_for_all_models():
    """18 of 50 and 36 of 50 are apart as the only two, and not as the ends of a hundred."""
    n = 50
    ends = {k: wilson(np.array(k / n), np.array(n), 0.95) for k in (18, 27, 36)}
    two = pd.DataFrame([(k / n, *map(float, ends[k])) for k in (18, 36)], columns=["share", "low", "high"])
    middle = pd.DataFrame([(27 / n, *map(float, ends[27]))], columns=list(two))
    many = pd.concat([two, *[middle] * 98])
    many = many.reset_index(drop=True)
    assert find_lowest_and_highest_distinct_share(*(two[name] for name in two)) == (0.36, 0.72)
    assert find_lowest_and_highest_distinct_share(*(many[name] for name in many)) is None
    assert find_lowest_and_highest_distinct_share(*(two.assign(low=np.nan)[name] for name in two)) is None


def test_change_an_end_moves_as_that_of_a_normal_distribution():
    z = [NormalDist().inv_cdf(1 - 0.05 / 2 / number) for number in (1, 4)]
    low, high = widen_difference_interval_for_multiplicity(0.3, 0.3 - z[0] * 0.05, 0.3 + z[0] * 0.1, 4)
    assert (low, high) == pytest.approx((0.3 - z[1] * 0.05, 0.3 + z[1] * 0.1))


def textbook_wilson(p, n, z):
    middle, root = p + z * z / (2 * n), z * math.sqrt(p * (1 - p) / n + z * z / (4 * n * n))
    return max(0.0, (middle - root) / (1 + z * z / n)), min(1.0, (middle + root) / (1 + z * z / n))


def test_people_a_share_is_above_another_only_by_the_interval_of_the_difference():
    assert not is_share_clearly_above_other_share(
        0.8, 0.63, 0.62, 0.77
    )  # the interval of the first alone is above 0.62
    assert is_share_clearly_above_other_share(0.9, 0.79, 0.62, 0.77)
    assert not is_share_clearly_above_other_share(0.9, 0.79, 0.62, math.nan)


def test_fit_an_effect_that_the_robust_error_does_not_show_is_not_named():
    ordinary, robust = pd.Series([0.001, 0.001, 0.2, 0.001]), pd.Series([0.01, 0.06, 0.01, math.nan])
    assert mark_clear_effects(ordinary, robust).tolist() == [True, False, False, False]


def test_holm_nothing_differs_at_the_limit_or_without_a_test():
    assert mark_clear_effects(pd.Series([0.049, 0.05, math.nan])).tolist() == [True, False, False]


@pytest.mark.parametrize(
    ("found", "said"),
    [(["yes"], "Yes."), ([""], "These runs cannot tell."), (["yes"] * 3, "Yes, with each of 3 models."),
     (["hardly", "yes", "hardly"], "Hardly with 2 of 3 models, yes with 1."),
     (["", "yes", ""], "Yes with 1 of 3 models; with the others, these runs cannot tell."),
     (["yes", "yes", ""], "Yes with 2 of 3 models; with the other, these runs cannot tell.")],
)  # fmt: skip
def test_words_of_several_rows_are_counted(found, said):
    assert describe_verdict_word_counts(found, "3 models" if len(found) == 3 else "1 model") == said
