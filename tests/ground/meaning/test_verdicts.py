"""Which checks are used, and what a wording means: every rule with an example made for it."""

from __future__ import annotations

import numpy as np
import pytest

from ground.meaning.verdicts import (
    ALL,
    ANOTHER,
    PEOPLE,
    SAME,
    UNCLEAR,
    assess_quality_of_checks,
    decide_verdict_and_best_score_per_wording,
    mark_wordings_that_checks_should_pass,
)

GOOD = np.linspace(0.5, 1.0, 40)
DECOYS = np.linspace(0.0, 0.6, 40)  # two reach 0.58, one 0.6


def judge(scores, decoys, passed=None):
    n = len(next(iter(scores.values())))
    return assess_quality_of_checks(scores, decoys, np.ones(n, bool) if passed is None else passed, ALL)


def test_a_check_that_parts_is_used_with_its_thresholds_and_shares():
    (quality,) = judge({"words": GOOD}, {"words": DECOYS})
    assert quality.used and quality.best and quality.why_not == "" and quality.passed_by == ALL
    assert (quality.n_passed, quality.n_decoys) == (40, 40)
    assert quality.threshold == pytest.approx(float(DECOYS[-3]), abs=1e-12) and quality.threshold > DECOYS[-3]
    assert quality.decoy_share == 0.05
    assert quality.lower_threshold == pytest.approx(0.525, abs=0.001)
    assert quality.passed_share == (quality.threshold <= GOOD).mean()
    assert quality.auc_lower > 0.7


def test_lower_threshold_is_never_above_the_threshold():
    (quality,) = judge({"words": GOOD + 1}, {"words": DECOYS})
    assert quality.lower_threshold == quality.threshold and quality.passed_share == 1


@pytest.mark.parametrize(
    ("scores", "decoys", "why"),
    [
        (GOOD, [], "there are no decoys with a score"),
        (GOOD, np.full(5, np.nan), "there are no decoys with a score"),
        (np.full(40, np.nan), DECOYS, "no wording that passed has a score"),
        (GOOD, DECOYS[:1], "wordings and decoys are too few for an interval of its AUC"),
        (DECOYS, DECOYS, "its AUC is not surely above 0.7"),
        (np.r_[np.full(38, 0.55), 0.9, 0.9], np.r_[np.zeros(20), 0.6, 0.6],
         "fewer than 10 % of the wordings that passed reach its threshold"),
    ],
)  # fmt: skip
def test_a_check_that_does_not_part_is_not_used_and_says_why(scores, decoys, why):
    (quality,) = judge({"words": scores}, {"words": decoys})
    assert not quality.used and not quality.best and quality.why_not == why


def test_a_check_without_any_decoys_is_named_too():
    qualities = judge({"words": GOOD, "judge:m": GOOD}, {"words": DECOYS})
    assert [quality.used for quality in qualities] == [True, False] and np.isnan(qualities[1].threshold)
    assert np.isnan(qualities[1].passed_share)


def test_best_is_the_highest_auc_and_of_equal_ones_entailment_then_judge_then_similarity():
    names = ("words", "similarity:m", "judge:m", "entailment:m", "other")
    for number in range(1, 5):
        checks = names[:number]
        (best,) = [part.check for part in judge(dict.fromkeys(checks, GOOD), dict.fromkeys(names, DECOYS)) if part.best]
        assert best == checks[-1]
    scores = {"entailment:m": GOOD, "words": GOOD + 0.01}
    assert [part.best for part in judge(scores, dict.fromkeys(scores, DECOYS))] == [False, True]


def test_wordings_that_people_refused_do_not_count_for_a_check():
    passed, passed_by = mark_wordings_that_checks_should_pass([2, 1, 1, 0], [0, 0, 1, 0])
    assert passed.tolist() == [True, True, False, False] and passed_by == PEOPLE
    passed, passed_by = mark_wordings_that_checks_should_pass([0, 0], [0, 0])
    assert passed.all() and passed_by == ALL
    scores = np.r_[GOOD, np.zeros(40)]
    high = assess_quality_of_checks({"words": scores}, {"words": DECOYS}, np.arange(80) < 40, PEOPLE)[0]
    assert high.auc == judge({"words": GOOD}, {"words": DECOYS})[0].auc and high.n_passed == 40


def test_items_widen_the_interval_of_scores_that_are_alike():
    scores, items = np.repeat(GOOD, 5), np.repeat(np.arange(40), 5)
    decoys, decoy_items = np.repeat(DECOYS, 5), np.repeat(np.arange(100, 140), 5)
    (plain,), (by_item,) = (
        assess_quality_of_checks({"words": scores}, {"words": decoys}, np.ones(200, bool), ALL, *named)
        for named in ((), (items, decoy_items))
    )
    assert by_item.auc == plain.auc and by_item.auc_lower < plain.auc_lower - 0.02


def test_people_are_heard_first_and_then_the_best_check():
    scores = {"words": np.array([0.1, 0.55, 0.9, 0.9, 0.1, 0.9, np.nan, np.nan])}
    qualities = judge({"words": GOOD}, {"words": DECOYS})
    yes, no = [0, 0, 0, 0, 2, 1, 0, 1], [0, 0, 0, 2, 1, 1, 0, 0]
    meanings, score = decide_verdict_and_best_score_per_wording(scores, qualities, yes, no)
    assert meanings.tolist() == [ANOTHER, UNCLEAR, SAME, ANOTHER, SAME, UNCLEAR, None, SAME]
    assert np.array_equal(score, scores["words"], equal_nan=True)


def test_without_a_used_check_only_people_decide():
    qualities = judge({"words": DECOYS}, {"words": DECOYS})
    meanings, score = decide_verdict_and_best_score_per_wording({"words": [0.9, 0.9]}, qualities, [0, 1], [0, 0])
    assert meanings.tolist() == [None, SAME] and np.isnan(score).all()


def test_a_score_at_a_threshold_is_the_same_and_at_the_lower_one_unclear():
    qualities = judge({"words": GOOD}, {"words": DECOYS})
    ends = [qualities[0].threshold, qualities[0].lower_threshold, np.nextafter(qualities[0].lower_threshold, 0)]
    meanings, _ = decide_verdict_and_best_score_per_wording({"words": ends}, qualities, [0] * 3, [0] * 3)
    assert meanings.tolist() == [SAME, UNCLEAR, ANOTHER]
