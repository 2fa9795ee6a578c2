"""The corrected share of flips: a slow version in fractions, exact cases, its influences, and simulated studies."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from scipy.special import expit, logit, stdtrit
from statsmodels.stats.proportion import proportion_confint

from analysis.statistics.corrected_share import (
    FEW_FLIPS,
    FEW_ITEMS,
    FEW_STAY,
    NO_SHEET,
    NONE_SAME,
    POOR_READERS,
    estimate_flip_share_corrected_for_meaning,
    estimate_item_shares_of_kept_meaning_and_flips,
)
from helpers.meaning_studies import Design, compute_truth, draw_studies

NO = np.nan


def draw_study(seed=0, items=8, wordings=12, sheet=5, **changes):
    """One study with all strata, some scores and answers missing: flips, passes, same, items."""
    design = Design(0.3, 0.3, 0.85, items, wordings, sheet, **changes)
    rng = np.random.default_rng(seed)
    flips, passes, same, _ = (part[0].ravel() for part in draw_studies(rng, design, 1))
    passes[rng.random(len(passes)) < 0.1] = NO
    flips[rng.random(len(flips)) < 0.1] = NO
    return flips, passes, same, np.repeat([f"item {number}" for number in range(items)], wordings)


def correct_slowly(flips, passes, same, items, weights=None):
    """The module's formula in fractions (or, with a weight for every item, in numbers), a wording at a time."""
    rows = [row for row in zip(flips, passes, same, items, strict=True) if not np.isnan(row[0])]
    of_item = {item: [row for row in rows if row[3] == item] for item in items}
    size, read, agreed = {}, {}, {}
    for item, wordings in of_item.items():
        weight = Fraction(1) if weights is None else weights[item]
        on_sheet = [row for row in wordings if not np.isnan(row[2])]
        for part, number in ((wordings, size), (on_sheet, read)):
            for flip, passing, _, _ in part:
                stratum = flip, "none" if np.isnan(passing) else passing
                number[stratum] = number.get(stratum, 0) + weight * Fraction(1, len(part))
        for flip, passing, verdict, _ in on_sheet:
            stratum = flip, "none" if np.isnan(passing) else passing
            agreed[stratum] = agreed.get(stratum, 0) + weight * Fraction(int(verdict), len(on_sheet))
    same_sizes = {stratum: agreed[stratum] / read[stratum] * number for stratum, number in size.items()}
    return sum(part for (flip, _), part in same_sizes.items() if flip) / sum(same_sizes.values())


@pytest.mark.parametrize("seed", range(4))
def test_estimate_is_the_post_stratified_one_in_fractions(seed):
    """To 1e-12."""
    study = draw_study(seed, wordings=30, sheet=25)
    share = estimate_flip_share_corrected_for_meaning(*study)
    assert share.corrected == pytest.approx(float(correct_slowly(*study)), abs=1e-12)
    flips, _, same, _ = study
    assert share.n_sheet == (~np.isnan(flips) & ~np.isnan(same)).sum() and share.n_items == 8 and not share.reason


def test_an_item_moves_the_estimate_as_its_weight_does():
    """The influences that the interval is made of, against differences by weights of 1 + 1e-6: to 1e-6. Also where an
    item has no wording on the sheet."""
    flips, passes, same, items = draw_study(5, wordings=30, sheet=25)
    same[items == "item 3"] = NO
    study = flips, passes, same, items
    has_answer = ~np.isnan(flips)
    codes = np.unique(items, return_inverse=True)[1]
    above, below = estimate_item_shares_of_kept_meaning_and_flips(
        *(part[has_answer] for part in (flips, passes, same)), codes[has_answer]
    )
    share = estimate_flip_share_corrected_for_meaning(*study)
    influence = (above - share.corrected * below) / below.sum()
    for place, item in enumerate(np.unique(items)):
        weights = {name: 1 + 1e-6 * (name == item) for name in items}
        moved = float(correct_slowly(*study, weights))
        assert (moved - share.corrected) / 1e-6 == pytest.approx(influence[place], abs=1e-6)
    assert influence.sum() == pytest.approx(0, abs=1e-12)


def test_interval_is_that_of_t_on_the_logit_scale():
    """To 1e-12; with as many degrees of freedom as items on the sheet, less one."""
    flips, passes, same, items = draw_study(5, wordings=30, sheet=25)
    same[items == "item 3"] = NO
    share = estimate_flip_share_corrected_for_meaning(flips, passes, same, items)
    has_answer = ~np.isnan(flips)
    codes = np.unique(items, return_inverse=True)[1]
    above, below = estimate_item_shares_of_kept_meaning_and_flips(
        *(part[has_answer] for part in (flips, passes, same)), codes[has_answer]
    )
    error = np.sqrt(8 / 7 * (((above - share.corrected * below) / below.sum()) ** 2).sum())
    half = stdtrit(6, 0.975) * error / share.corrected / (1 - share.corrected)
    wanted = expit(logit(share.corrected) - half), expit(logit(share.corrected) + half)
    assert (share.lower, share.upper) == pytest.approx(wanted, abs=1e-12)
    means = np.array([np.nanmean(flips[codes == code]) for code in range(8)])
    half = stdtrit(7, 0.975) * means.std(ddof=1) / np.sqrt(8)
    half /= means.mean() * (1 - means.mean())
    wanted = expit(logit(means.mean()) - half), expit(logit(means.mean()) + half)
    assert (share.uncorrected_lower, share.uncorrected_upper) == pytest.approx(wanted, abs=1e-12)


def test_a_sheet_of_all_wordings_gives_the_share_among_those_that_mean_the_same():
    """To 1e-12: whatever the check says."""
    flips, passes, same, items = draw_study(1, sheet=12)
    share = estimate_flip_share_corrected_for_meaning(flips, passes, same, items)
    counts = [(np.nanmean((flips * same)[items == item]), same[(items == item) & ~np.isnan(flips)].mean())
              for item in np.unique(items)]  # fmt: skip
    above, below = np.array(counts).sum(axis=0)
    assert share.corrected == pytest.approx(above / below, abs=1e-12)
    flipped = estimate_flip_share_corrected_for_meaning(flips, 1 - passes, same, items)
    assert flipped.corrected == pytest.approx(share.corrected, abs=1e-12)


def test_nothing_is_corrected_where_people_call_all_wordings_the_same():
    """The interval is wider than that of all wordings where nobody read some: these may mean something else."""
    flips, passes, same, items = draw_study(2)
    of_all = estimate_flip_share_corrected_for_meaning(flips, passes, np.ones(len(flips)), items)
    share = estimate_flip_share_corrected_for_meaning(flips, passes, np.where(np.isnan(same), NO, 1.0), items)
    ends = share.uncorrected, share.uncorrected_lower, share.uncorrected_upper
    assert (of_all.corrected, of_all.lower, of_all.upper) == pytest.approx(ends, abs=1e-9)
    assert share.corrected == pytest.approx(share.uncorrected, abs=1e-9)
    assert share.lower < share.uncorrected_lower and share.upper > share.uncorrected_upper
    assert share.change == pytest.approx(0, abs=1e-12) and np.isnan([share.change_lower, share.change_upper]).all()
    assert np.isnan(share.specificity) and 0 < share.sensitivity < 1


def test_sensitivity_and_specificity_are_those_of_the_sheet():
    passes, same = np.array([1, 1, 0, NO, 0, 0, 1, 1, 0]), np.array([1, 1, 1, 1, 0, 0, 0, NO, NO])
    share = estimate_flip_share_corrected_for_meaning(np.r_[NO, np.zeros(8)], passes, same, list("abcdefghi"))
    assert (share.sensitivity, share.specificity) == (pytest.approx(2 / 3), pytest.approx(2 / 3))
    assert share.n_sheet == 6  # the first has no answer, yet is in both


def test_without_a_check_the_sheet_alone_corrects():
    flips, _, same, items = draw_study(3)
    alone = estimate_flip_share_corrected_for_meaning(flips, np.full(len(flips), NO), same, items)
    constant = estimate_flip_share_corrected_for_meaning(flips, np.ones(len(flips)), same, items)
    assert alone.corrected == constant.corrected and not alone.reason and np.isnan(alone.sensitivity)
    assert 0 < alone.lower < alone.corrected < alone.upper < 1


def test_a_stratum_that_nobody_read_goes_with_those_that_flip_as_it_does():
    flips, passes, same, items = draw_study(4, wordings=30, sheet=25)
    passes = np.nan_to_num(passes)
    same[(flips == 1) & (passes == 1)] = NO
    merged = np.where(flips == 1, 0.0, passes)
    assert (
        estimate_flip_share_corrected_for_meaning(flips, passes, same, items).corrected
        == estimate_flip_share_corrected_for_meaning(flips, merged, same, items).corrected
    )


def test_intervals_of_no_flips_have_wilsons_width():
    """Of 9 items without a flip: that of 0 of 9, to 1e-12. Never a width of 0."""
    items = np.repeat(np.arange(9), 4)
    share = estimate_flip_share_corrected_for_meaning(np.zeros(36), np.ones(36), np.ones(36), items)
    wanted = proportion_confint(0, 9, method="wilson")[1]
    assert (share.corrected, share.lower) == (0, 0) and share.upper == pytest.approx(wanted, abs=1e-12)
    same = np.tile([1.0, 1, 0, NO], 9)
    only_others_flip = estimate_flip_share_corrected_for_meaning(np.tile([0.0, 0, 1, 0], 9), np.ones(36), same, items)
    assert only_others_flip.corrected == 0 and only_others_flip.upper > 0.2
    assert (share.excess, np.isnan(share.excess_lower), np.isnan(share.excess_upper)) == (0, True, True)
    alike = estimate_flip_share_corrected_for_meaning(np.tile([0.0, 1, 0, 1], 9), np.ones(36), np.ones(36), items)
    assert alike.corrected == 0.5 and 0.2 < alike.lower < 0.4 and 0.6 < alike.upper < 0.8
    of_one_item = estimate_flip_share_corrected_for_meaning([0, 1, 0], [1, 1, 1], [NO] * 3, ["a"] * 3)
    assert of_one_item.uncorrected_lower < 1 / 3 < of_one_item.uncorrected_upper


@pytest.mark.parametrize(("n_read", "reason"), [(4, FEW_FLIPS), (5, "")])
def test_fewer_than_five_read_flips_are_enough_only_where_there_are_no_others(n_read, reason):
    flips, same = np.zeros((20, 10)), np.full((20, 10), NO)
    flips[:, 0], same[:, 5:], same[:n_read, 0] = 1, 1, 1
    items = np.repeat(np.arange(20), 10)
    share = estimate_flip_share_corrected_for_meaning(flips.ravel(), np.full(200, NO), same.ravel(), items)
    assert share.reason == reason
    flips[n_read:, 0] = 0
    all_read = estimate_flip_share_corrected_for_meaning(flips.ravel(), np.full(200, NO), same.ravel(), items)
    assert not all_read.reason and all_read.lower < all_read.corrected < all_read.upper


@pytest.mark.parametrize("agreed", [0, 1])
def test_unread_flips_may_have_either_end_of_wilsons_interval(agreed):
    """Of six read flips, all or none the same, in as many items; every other wording is read."""
    items, flips, same = np.repeat(np.arange(30), 10), np.zeros((30, 10)), np.ones((30, 10))
    flips[:, 0], same[:, 0] = 1, NO
    same[:6, 0] = agreed
    share = estimate_flip_share_corrected_for_meaning(flips.ravel(), np.full(300, NO), same.ravel(), items, part=0.8)
    end = proportion_confint(6 * agreed, 6, method="wilson")[1 - agreed]
    size = 0.1 * (6 * agreed + 24 * end) / 30
    bound = size / (size + 0.9)
    if agreed:
        assert share.corrected == pytest.approx(0.1) and share.lower < bound
        assert share.excess_lower == pytest.approx(bound - 0.08, abs=1e-12)
    else:
        of_items = proportion_confint(0, 30, method="wilson")[1]
        assert share.corrected == 0 and share.upper == pytest.approx(np.hypot(of_items, bound), abs=1e-3)


@pytest.mark.slow
@pytest.mark.parametrize(("items", "wordings", "sheet", "n_read"), [(200, 10, 2, 10), (62, 20, 3, 15), (20, 20, 2, 20)])
def test_few_read_flips_make_nothing_stand_falsely_and_shown_intervals_hold_the_truth(items, wordings, sheet, n_read):
    """In 300 studies each, the truth just below: .025 of the shown ones, and .95, but for twice the error of these."""
    design = Design(0.1, 0.1, 0.7, items, wordings, sheet)
    truth, of_all = compute_truth(design)
    flips, passes, same, _ = draw_studies(np.random.default_rng(items), design, 300)
    same[:, n_read:] = NO
    codes = np.repeat(np.arange(items), wordings)
    shares = [
        estimate_flip_share_corrected_for_meaning(
            *(part.ravel() for part in study), codes, part=1.0001 * truth / of_all
        )
        for study in zip(flips, passes, same, strict=True)
    ]
    shown = [share for share in shares if not share.reason]
    assert len(shown) > 40 and all(share.reason in ("", FEW_FLIPS) for share in shares)
    errors = 2 * np.sqrt(np.array([0.025 * 0.975, 0.95 * 0.05]) / len(shown))
    assert np.mean([share.excess_lower > 0 for share in shown]) <= 0.025 + errors[0]
    assert np.mean([share.lower <= truth <= share.upper for share in shown]) >= 0.95 - errors[1]
    holds = [share.change_lower <= truth - of_all <= share.change_upper for share in shown]
    assert np.mean(holds) >= 0.95 - errors[1]


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda flips, same, items: (flips, np.full(len(same), NO)), NO_SHEET),
        (lambda flips, same, items: (flips, np.where(np.isin(items, ["item 0", "item 1"]), same, NO)), FEW_ITEMS),
        (lambda flips, same, items: (flips, np.where(flips == 1, NO, same)), FEW_FLIPS),
        (lambda flips, same, items: (flips, np.where(flips == 0, NO, same)), FEW_STAY),
        (lambda flips, same, items: (flips, np.where(np.isnan(same), NO, 0.0)), NONE_SAME),
    ],
)
def test_a_sheet_that_is_too_small_says_why(change, reason):
    flips, passes, same, items = draw_study(6)
    flips, same = change(flips, same, items)
    share = estimate_flip_share_corrected_for_meaning(flips, passes, same, items)
    assert share.reason == reason and 0 < share.uncorrected_lower < share.uncorrected < share.uncorrected_upper
    figures = share.corrected, share.lower, share.upper, share.change, share.change_lower, share.change_upper
    assert np.isnan(figures).all()


def test_people_who_call_decoys_the_same_are_not_taken_at_their_word():
    study = draw_study(6)
    assert estimate_flip_share_corrected_for_meaning(*study, 0.11).reason == POOR_READERS
    assert estimate_flip_share_corrected_for_meaning(*study, 0.1) == estimate_flip_share_corrected_for_meaning(*study)


def test_the_excess_has_the_interval_of_t_over_items_left_out_one_by_one():
    """Its variance is that of the jackknife, but for the curvature of the ratio: to 15 % of the width, 40 items."""
    study = draw_study(3, items=40, wordings=20, sheet=10)
    share = estimate_flip_share_corrected_for_meaning(*study, part=0.8)
    assert share.excess == pytest.approx(share.corrected - 0.8 * share.uncorrected, abs=1e-12)
    names = np.unique(study[3])
    parts_without = [[part[study[3] != name] for part in study] for name in names]
    without = np.array([estimate_flip_share_corrected_for_meaning(*parts, part=0.8).excess for parts in parts_without])
    error = np.sqrt((len(names) - 1) / len(names) * ((without - without.mean()) ** 2).sum())
    half = stdtrit(len(names) - 1, 0.975) * error
    assert share.excess_upper - share.excess == pytest.approx(half, rel=0.15)
    assert share.excess - share.excess_lower == pytest.approx(share.excess_upper - share.excess, abs=1e-12)


def test_no_answers_are_no_number():
    share = estimate_flip_share_corrected_for_meaning([NO, NO], [1, 1], [1, 0], ["a", "b"])
    assert (share.n_items, share.n_sheet, share.reason) == (0, 0, NO_SHEET) and np.isnan(share.uncorrected)


def test_interval_of_the_change_is_made_of_both_and_their_correlation():
    """To 1e-12, from the influences of the other tests."""
    flips, passes, same, items = draw_study(5, wordings=30, sheet=25)
    flips = np.nan_to_num(flips)
    codes = np.unique(items, return_inverse=True)[1]
    above, below = estimate_item_shares_of_kept_meaning_and_flips(flips, passes, same, codes)
    share = estimate_flip_share_corrected_for_meaning(flips, passes, same, items)
    means = np.array([flips[codes == code].mean() for code in range(8)])
    r = np.corrcoef(above - share.corrected * below, means)[0, 1]
    d, e = share.corrected - share.lower, share.uncorrected_upper - share.uncorrected
    assert share.change == share.corrected - share.uncorrected
    assert share.change - share.change_lower == pytest.approx(np.sqrt(d**2 + e**2 - 2 * r * d * e), abs=1e-12)
    d, e = share.upper - share.corrected, share.uncorrected - share.uncorrected_lower
    assert share.change_upper - share.change == pytest.approx(np.sqrt(d**2 + e**2 - 2 * r * d * e), abs=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("dependence", [0.0, 0.7])
@pytest.mark.parametrize("other", [0.1, 0.3])
@pytest.mark.parametrize(("items", "sheet", "auc"), [(20, 10, 0.7), (40, 20, 0.85), (62, 20, 0.95)])
def test_bias_is_below_two_points_and_the_interval_holds_the_truth(items, sheet, auc, other, dependence):
    """In 200 studies of 40 wordings an item: coverage of .92 or more, less twice the error of the simulation (.038).

    `tests/benchmarks/bench_meaning_correction.py` has more studies. Uncorrected shares are off by more than a point.
    """
    design = Design(0.1, other, auc, items, 40, sheet, dependence)
    rng = np.random.default_rng(items)
    codes = np.repeat(np.arange(items), 40)
    shares = [
        estimate_flip_share_corrected_for_meaning(*(part.ravel() for part in study), codes)
        for study in zip(*draw_studies(rng, design, 200)[:3], strict=True)
    ]
    truth, of_all = compute_truth(design)
    assert all(not share.reason for share in shares)
    assert abs(np.mean([share.corrected for share in shares]) - truth) < 0.02
    assert np.mean([share.lower <= truth <= share.upper for share in shares]) >= 0.92 - 0.038
    holds = [share.change_lower <= truth - of_all <= share.change_upper for share in shares]
    assert np.mean(holds) >= 0.92 - 0.038
    assert np.mean([share.uncorrected for share in shares]) - truth > (0.02 if other == 0.1 else 0.08)
