"""Decisions: Holm against statsmodels, broken before holds, and how often both are wrong at the limit."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats
from statsmodels.stats.multitest import multipletests

from analysis.check.outcomes import (
    COUNTED,
    choose_decision_of_each_outcome,
    correct_p_values_by_holm,
    decide_rule_from_outcomes,
)
from helpers.checks import FLIPS, WORSE, make_outcome


@pytest.mark.parametrize(
    ("p_broken", "p_holds", "decision"),
    [
        (0.0249, 0.9751, "broken"),
        (0.0251, 0.9749, "cannot tell"),
        (0.9749, 0.0251, "cannot tell"),
        (0.9751, 0.0249, "holds"),
        (math.nan, math.nan, "cannot tell"),
        (0.01, 0.01, "broken"),  # two tests that contradict each other: no gate opens by that
    ],
)
def test_one_number_is_decided_at_the_ends_of_its_interval(p_broken, p_holds, decision):
    assert choose_decision_of_each_outcome([make_outcome(FLIPS, p_broken, p_holds)]) == [decision]


def test_broken_is_corrected_as_by_statsmodels_over_all_rules_and_holds_is_not():
    ps = [0.004, 0.03, 0.0049, 0.2, 0.9]
    outcomes = [
        make_outcome(rule, p, 0.02 if p > 0.5 else 0.9) for p, rule in zip(ps, [FLIPS, WORSE] * 3, strict=False)
    ]
    expected = multipletests(ps, method="holm")[1]
    assert correct_p_values_by_holm(outcomes) == pytest.approx(list(expected), rel=1e-12)
    assert choose_decision_of_each_outcome(outcomes) == ["broken", "cannot tell", "broken", "cannot tell", "holds"]


def test_looks_part_the_level_of_broken_evenly():
    outcome = make_outcome(FLIPS, 0.0006, 0.9994)
    assert choose_decision_of_each_outcome([outcome], looks=41) == ["broken"]
    assert choose_decision_of_each_outcome([outcome], looks=42) == ["cannot tell"]
    assert choose_decision_of_each_outcome([make_outcome(FLIPS, 0.99, 0.02)], looks=42) == ["holds"]


def test_a_counted_number_is_decided_as_it_is_and_is_no_test_of_the_family():
    counted = [make_outcome(FLIPS, p, 1 - p, test=COUNTED) for p in (1, 0, 1, 1)]
    tested = make_outcome(FLIPS, 0.02, 0.98)
    assert choose_decision_of_each_outcome([*counted, tested], looks=1) == [
        "holds",
        "broken",
        "holds",
        "holds",
        "broken",
    ]
    assert choose_decision_of_each_outcome(counted, looks=1000) == ["holds", "broken", "holds", "holds"]


def test_a_number_without_a_test_is_not_counted_by_holm():
    unknown = [make_outcome(FLIPS, math.nan, math.nan)] * 9
    assert choose_decision_of_each_outcome([*unknown, make_outcome(FLIPS, 0.02, 0.98)])[-1] == "broken"


def test_no_outcome_cannot_be_told():
    assert choose_decision_of_each_outcome([]) == [] and decide_rule_from_outcomes([]) == "cannot tell"


@pytest.mark.parametrize(("n_numbers", "looks"), [(1, 1), (5, 1), (3, 50)])
def test_numbers_at_their_limit_rarely_break_a_check_and_rarely_hold(n_numbers, looks):
    """By 4,000 checks of means of 40 normal items whose true value is the limit, the level is kept to 3 SE."""
    draw, n_checks = np.random.default_rng(1), 4000
    items = draw.normal(0, 1, (n_checks, n_numbers, 40))
    p = stats.ttest_1samp(items, 0, axis=2, alternative="less").pvalue
    broken, holds = [], []
    for row in p:
        decisions = choose_decision_of_each_outcome([make_outcome(FLIPS, x, 1 - x) for x in row], looks)
        broken.append(decide_rule_from_outcomes(decisions) == "broken")
        holds.append(decide_rule_from_outcomes(decisions) == "holds")
    slack = 3 * math.sqrt(0.025 * 0.975 / n_checks)
    assert np.mean(broken) * looks <= 0.025 + slack * looks**0.5
    assert np.mean(holds) <= 0.025 + slack
