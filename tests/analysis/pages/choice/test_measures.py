"""The formulas on arrays, compared with loops, Python's statistics and hand-made numbers."""

from __future__ import annotations

import itertools
import math
import statistics

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analysis.measures.choices import NO_CHOICE, NOT_ASKED
from analysis.pages.choice import measures


def random_codes(seed, shape=(12, 3, 5, 2)):
    codes = np.random.default_rng(seed).integers(NO_CHOICE, 3, shape).astype(np.int8)
    codes[0, :, 3:] = NOT_ASKED  # a question with fewer orders
    codes[1, ..., 1] = NOT_ASKED  # a question that one unit was not asked
    return codes


def asked(values):
    return [int(value) for value in values if value != NOT_ASKED]


def one(values):
    known = asked(values)
    return float(len(set(known)) == 1 and known[0] != NO_CHOICE) if known else math.nan


@pytest.mark.slow
@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 10_000))
def test_all_formulas_are_those_of_loops(seed):
    codes, gold = random_codes(seed), np.random.default_rng(seed).integers(0, 3, 12).astype(np.int8)
    accuracy = measures.compute_accuracies_over_orders_by_wording(codes, gold)
    spreads, perfect = measures.compute_accuracy_sds_over_wordings(accuracy), measures.mark_perfect_wordings(accuracy)
    orders, words, whole = (function(codes) for function in (
        measures.mark_same_choice_over_orders, measures.mark_same_choice_over_wordings,
        measures.mark_same_choice_throughout))  # fmt: skip
    by_orders, by_words = (
        measures.compute_share_of_differing_order_pairs(codes),
        measures.compute_share_of_differing_wording_pairs(codes),
    )
    for question in range(12):
        for unit in range(2):
            cell = codes[question, :, :, unit]
            known = [asked(row) for row in cell]
            shares = [sum(code == gold[question] for code in row) / len(row) if row else math.nan for row in known]
            assert accuracy[question, :, unit] == pytest.approx(shares, nan_ok=True, abs=1e-12)
            assert perfect[question, :, unit] == pytest.approx(
                [float(share == 1) if row else math.nan for row, share in zip(known, shares, strict=True)], nan_ok=True
            )
            expected = statistics.pstdev(shares) if known[0] else math.nan
            assert spreads[question, unit] == pytest.approx(expected, nan_ok=True, abs=1e-12)
            assert orders[question, :, unit] == pytest.approx([one(row) for row in cell], nan_ok=True)
            assert words[question, :, unit] == pytest.approx([one(row) for row in cell.T], nan_ok=True)
            for found, groups in ((by_orders, known), (by_words, [asked(row) for row in cell.T])):
                pairs = [list(itertools.combinations(row, 2)) for row in groups]
                turned = [
                    sum(a != b or a == NO_CHOICE for a, b in row) / len(row) if row else math.nan for row in pairs
                ]
                assert found[question, :, unit] == pytest.approx(turned, nan_ok=True, abs=1e-12)
            assert whole[question, unit] == pytest.approx(one(cell.ravel()), nan_ok=True)


@pytest.mark.parametrize("wordings", [2, 3, 4, 5])
def test_no_spread_is_larger_than_the_largest(wordings):
    rng = np.random.default_rng(wordings)
    drawn = measures.compute_accuracy_sds_over_wordings(rng.integers(0, 2, (400, wordings, 1)).astype(float))
    assert drawn.max() == pytest.approx(measures.compute_largest_possible_sd(wordings), abs=1e-12)


def test_xparacon_of_the_numbers_of_a_small_study():
    """Accuracies (1, 1/2, 0) and (1, 1, 1): the mean of sqrt(1/6) and 0."""
    spread = measures.compute_accuracy_sds_over_wordings(np.array([[[1.0], [0.5], [0.0]], [[1.0]] * 3]))
    assert spread[:, 0].tolist() == pytest.approx([math.sqrt(1 / 6), 0])
    assert float(measures.compute_xparacon(spread.mean())) == pytest.approx(-math.log2(math.sqrt(1 / 6) / 2))


def test_equal_accuracies_vary_by_nothing():
    assert (measures.compute_accuracy_sds_over_wordings(np.full((5, 3, 1), 0.1 + 0.2)) == 0).all()


def test_answers_at_a_place_are_counted():
    shown = np.array([[[[0], [1]], [[0], [NO_CHOICE]]]], np.int8)
    right = np.array([[[0, 0], [1, NOT_ASKED]]], np.int8)
    for place, of, counts in ((0, None, [2, 4]), (0, 0, [1, 2]), (NO_CHOICE, None, [1, 4])):
        parts = measures.count_answers_at_position_and_all_answers(shown, right, place, of)
        assert [part.item() for part in parts] == counts
