"""The bootstrap against explicit loops over the same draws, hand-made numbers and scipy.stats.bootstrap."""

from __future__ import annotations

import math
import statistics

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from analysis.statistics import resampling
from analysis.statistics.interval import (
    EQUAL,
    FEW,
    ONE_ITEM,
    UNDEFINED,
    build_interval_columns,
    list_reasons_for_missing_intervals,
)
from analysis.statistics.resampling import (
    bootstrap_differences,
    bootstrap_intervals,
    compute_expanded_percentiles,
    compute_item_sd_in_each_draw,
    compute_mean_per_draw,
    compute_ratio_of_sums_per_draw,
)
from analysis.statistics.significance import compute_smallest_bootstrap_p, compute_two_sided_bootstrap_p


def all_counts(n_items, draws, seed=0):
    return np.concatenate(list(resampling.iterate_drawn_item_counts(n_items, draws, seed)))


def drawn(row):
    """The item numbers that a row of counts stands for."""
    return [item for item, times in enumerate(row) for _ in range(int(times))]


def figures(columns, counts):
    return {
        "mean": compute_mean_per_draw(counts, columns["x"]),
        "sd": compute_item_sd_in_each_draw(counts, columns["x"]),
        "ratio": compute_ratio_of_sums_per_draw(counts, columns["x"], columns["y"]),
    }


def means(columns, counts):
    return {"mean": compute_mean_per_draw(counts, columns["x"])}


def textbook_percentile(values, q):
    """Linear interpolation between order statistics (type 7 of Hyndman and Fan)."""
    ordered = sorted(values)
    place = q * (len(ordered) - 1)
    low = math.floor(place)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (place - low) * (ordered[high] - ordered[low])


def tail(items):
    """The share of draws beyond each end of Hesterberg's expanded percentiles."""
    return stats.norm.cdf(-math.sqrt(items / (items - 1)) * stats.t.ppf(0.975, items - 1))


def test_counts_are_draws_with_replacement():
    counts = all_counts(7, 20_000)
    assert counts.shape == (20_000, 7)
    assert (counts.sum(axis=1) == 7).all()
    # Multinomial(7; 1/7 each): mean 1, variance 6/7, covariance -1/7 of every pair.
    covariance = np.cov(counts.T)
    assert counts.mean(axis=0) == pytest.approx(np.ones(7), abs=0.03)
    assert covariance == pytest.approx(np.eye(7) - 1 / 7, abs=0.03)


def test_counts_come_in_small_chunks_and_are_seeded(monkeypatch):
    whole = all_counts(5, 1000, seed=3)
    assert (whole == all_counts(5, 1000, seed=3)).all()
    assert not (whole == all_counts(5, 1000, seed=4)).all()
    monkeypatch.setattr(resampling, "_CHUNK", 500)
    chunks = list(resampling.iterate_drawn_item_counts(5, 1000, seed=3))
    assert {chunk.shape for chunk in chunks} == {(100, 5)}


def test_more_items_than_a_chunk_holds(monkeypatch):
    monkeypatch.setattr(resampling, "_CHUNK", 10)
    chunks = list(resampling.iterate_drawn_item_counts(40, 3))
    assert [chunk.shape for chunk in chunks] == [(1, 40)] * 3


def test_every_draw_equals_the_textbook_figure_of_the_items_drawn():
    rng = np.random.default_rng(1)
    x, y = rng.random((9, 3)), rng.integers(1, 50, (9, 3)).astype(float)
    counts = all_counts(9, 400)
    found = figures({"x": x, "y": y}, counts)
    for draw, row in enumerate(counts):
        items = drawn(row)
        for unit in range(3):
            values = [x[i, unit] for i in items]
            assert found["mean"][draw, unit] == pytest.approx(statistics.fmean(values), abs=1e-12)
            assert found["sd"][draw, unit] == pytest.approx(statistics.stdev(values), abs=1e-12)
            below = math.fsum(y[i, unit] for i in items)
            assert found["ratio"][draw, unit] == pytest.approx(math.fsum(values) / below, abs=1e-12)


def test_interval_equals_the_textbook_loop():
    rng = np.random.default_rng(2)
    columns = {"x": rng.random((6, 2)), "y": 1 + rng.random((6, 2))}
    found = bootstrap_intervals(columns, figures, draws=300, seed=5)
    counts = all_counts(6, 300, seed=5)
    for unit in range(2):
        draws = [statistics.stdev(columns["x"][i, unit] for i in drawn(row)) for row in counts]
        assert found["sd"].estimate[unit] == pytest.approx(statistics.stdev(columns["x"][:, unit]), abs=1e-12)
        assert found["sd"].lower[unit] == pytest.approx(textbook_percentile(draws, tail(6)), abs=1e-12)
        assert found["sd"].upper[unit] == pytest.approx(textbook_percentile(draws, 1 - tail(6)), abs=1e-12)
    assert found["sd"].n_items.tolist() == [6, 6]


def test_five_items_by_hand():
    # Four items with 0 and one with 1: a draw has the mean 0 with probability 0.8^5 = 0.33, and the 1 never more than
    # four times in 1,000 draws but with probability 0.2^5 each. Expanded percentiles leave out 0.001 at each end.
    assert tail(5) == pytest.approx(0.00095, abs=1e-5)
    x = np.array([[0.0], [0.0], [0.0], [0.0], [1.0]])
    found = bootstrap_intervals({"x": x, "y": np.ones((5, 1))}, figures, draws=2000)
    assert (found["mean"].estimate[0], found["mean"].lower[0]) == (0.2, 0.0)
    assert found["mean"].upper[0] == pytest.approx(0.8, abs=0.01)  # 4 of 5, which 0.0064 of the draws have


@pytest.mark.slow
def test_expanded_percentiles_of_a_normal_mean_are_the_t_interval():
    """Draws of a mean of normal values are almost normal: with 40 items, within 3 % of the width."""
    values = np.random.default_rng(3).normal(size=40)
    found = bootstrap_intervals({"x": values[:, None], "y": np.ones((40, 1))}, figures, draws=100_000)["mean"]
    low, high = stats.t.interval(0.95, 39, values.mean(), stats.sem(values))
    assert (found.lower[0], found.upper[0]) == pytest.approx((low, high), abs=0.03 * (high - low))


def test_fewer_than_five_items_have_no_interval_and_a_test():
    x = np.array([[0.3, 0.1], [0.4, 0.2], [0.6, 0.3], [0.9, 0.4]])
    one = bootstrap_intervals({"x": x}, means, draws=50)["mean"]
    assert np.isnan(one.lower).all() and one.missing.tolist() == [FEW, FEW]
    pair = bootstrap_differences({"x": x}, means, [(0, 1)], draws=999)["mean"]
    assert pair.missing.tolist() == [FEW] and pair.p[0] == pair.p_least[0] == 0.125


@pytest.mark.parametrize("statistic", ["mean", "sd"])
def test_agrees_with_scipy(statistic):
    # Different generators, so the ends differ by Monte Carlo error: at 20,000 draws about 0.01 standard errors.
    values = np.random.default_rng(7).gamma(2.0, size=40)
    ours = bootstrap_intervals({"x": values[:, None], "y": np.ones((40, 1))}, figures, draws=20_000)[statistic]
    function = {"mean": np.mean, "sd": lambda x, axis: np.std(x, ddof=1, axis=axis)}[statistic]
    theirs = stats.bootstrap(
        (values,), function, n_resamples=20_000, method="percentile", vectorized=True, rng=np.random.default_rng(8),
        confidence_level=1 - 2 * tail(40),
    )  # fmt: skip
    tolerance = 0.05 * theirs.standard_error
    assert ours.lower[0] == pytest.approx(theirs.confidence_interval.low, abs=tolerance)
    assert ours.upper[0] == pytest.approx(theirs.confidence_interval.high, abs=tolerance)


def test_paired_agrees_with_scipy_on_differences():
    # The mean of a minus the mean of b over the same draws is the mean of the differences.
    rng = np.random.default_rng(9)
    a = rng.normal(0.5, 0.2, 30)
    b = a + rng.normal(0.05, 0.02, 30)
    ours = bootstrap_differences({"x": np.stack([a, b], 1), "y": np.ones((30, 2))}, figures, [(0, 1)], draws=20_000)[
        "mean"
    ]
    theirs = stats.bootstrap(
        (a - b,), np.mean, n_resamples=20_000, method="percentile", rng=np.random.default_rng(1),
        confidence_level=1 - 2 * tail(30),
    )  # fmt: skip
    tolerance = 0.05 * theirs.standard_error
    assert ours.estimate[0] == pytest.approx((a - b).mean())
    assert ours.lower[0] == pytest.approx(theirs.confidence_interval.low, abs=tolerance)
    assert ours.upper[0] == pytest.approx(theirs.confidence_interval.high, abs=tolerance)


def test_paired_uses_the_items_that_both_have():
    # b is without item 0, c without item 3: a-b on items 1 to 6, a-c on all but 3, b-c on 1 2 4 5 6.
    x = np.array([[1.0, np.nan, 4.0], [2.0, 5.0, 6.0], [3.0, 1.0, 1.0], [4.0, 2.0, np.nan], [5, 3, 1], [0, 2, 2],
                  [6, 1, 2]])  # fmt: skip
    pairs = [(0, 1), (0, 2), (1, 2)]
    found = bootstrap_differences({"x": x, "y": np.ones_like(x)}, figures, pairs, draws=200, seed=1)["mean"]
    assert found.n_items.tolist() == [6, 6, 5]
    assert found.estimate == pytest.approx([20 / 6 - 14 / 6, 17 / 6 - 16 / 6, 12 / 5 - 12 / 5])
    chosen = [1, 2, 3, 4, 5, 6], [0, 1, 2, 4, 5, 6], [1, 2, 4, 5, 6]
    for (a, b), items, lower in zip(pairs, chosen, found.lower, strict=True):
        counts = all_counts(len(items), 200, seed=1)
        draws = [statistics.fmean(x[items[i], a] - x[items[i], b] for i in drawn(row)) for row in counts]
        assert lower == pytest.approx(textbook_percentile(draws, tail(len(items))), abs=1e-12)


def test_a_unit_is_resampled_over_its_own_items():
    rng = np.random.default_rng(3)
    x = rng.random((8, 2))
    holes = np.where(np.arange(8)[:, None] < [[0, 3]], np.nan, x)  # unit 1 has items 3 ... 7
    found = bootstrap_intervals({"x": holes, "y": np.ones_like(x)}, figures, draws=100)
    alone = bootstrap_intervals({"x": x[3:, 1:], "y": np.ones((5, 1))}, figures, draws=100)
    assert found["sd"].n_items.tolist() == [8, 5]
    assert found["sd"].lower[1] == alone["sd"].lower[0]


def test_many_units_equal_units_one_by_one():
    x = np.random.default_rng(4).random((5, 150))
    together = bootstrap_intervals({"x": x, "y": np.ones_like(x)}, figures, draws=50)["sd"]
    for unit in (0, 63, 64, 149):
        alone = bootstrap_intervals({"x": x[:, [unit]], "y": np.ones((5, 1))}, figures, draws=50)["sd"]
        assert together.upper[unit] == pytest.approx(alone.upper[0], abs=1e-14)


def test_fewer_than_two_items_have_no_interval():
    x = np.full((5, 3), np.nan)
    x[0, 1], x[:, 2] = 0.3, [0.1, 0.4, 0.2, 0.3, 0.25]
    found = bootstrap_intervals({"x": x, "y": np.ones_like(x)}, figures, draws=50)
    assert found["mean"].n_items.tolist() == [0, 1, 5]
    assert found["mean"].estimate == pytest.approx([np.nan, 0.3, 0.25], nan_ok=True)
    assert np.isnan(found["mean"].lower).tolist() == [True, True, False]
    assert np.isnan(found["sd"].estimate).tolist() == [True, True, False]


def test_no_units_no_pairs_no_draws():
    columns = {"x": np.random.default_rng(0).random((4, 2)), "y": np.ones((4, 2))}
    assert bootstrap_differences(columns, figures, [])["mean"].estimate.shape == (0,)
    assert bootstrap_intervals({name: values[:, :0] for name, values in columns.items()}, figures)[
        "sd"
    ].lower.shape == (0,)
    estimates = bootstrap_intervals(columns, figures, draws=0)
    assert not np.isnan(estimates["sd"].estimate).any()
    assert np.isnan(estimates["sd"].lower).all()


def test_undefined_in_a_draw_is_undefined_in_the_interval():
    # Some draws take the first item only, whose denominator is 0.
    columns = {"x": np.array([[1.0], [2.0], [1.0], [1.0], [1.0]]), "y": np.array([[0.0], [1.0], [0.0], [0.0], [0.0]])}
    found = bootstrap_intervals(columns, figures, draws=200)["ratio"]
    assert found.estimate[0] == 6.0
    assert np.isnan(found.lower[0])


@settings(max_examples=50, deadline=None)
@given(st.lists(st.floats(0, 1), min_size=2, max_size=8), st.floats(-5, 5), st.integers(0, 2**32))
def test_sd_is_blind_to_a_shift(values, shift, seed):
    x = np.array(values)[:, None]
    counts = all_counts(len(values), 20, seed)
    assert compute_item_sd_in_each_draw(counts, x + shift) == pytest.approx(
        compute_item_sd_in_each_draw(counts, x), abs=1e-7
    )


def test_sd_of_equal_values_is_zero_in_every_draw():
    # 0.1 is no binary fraction: the residue of its squares must not pass for a spread.
    x = np.array([[0.1], [0.1], [0.1], [0.7]])
    counts = np.array([[3.0, 1.0, 0.0, 0.0], [0.0, 0.0, 0.0, 4.0]])
    assert compute_item_sd_in_each_draw(counts, x).tolist() == [[0.0], [0.0]]


def test_percentiles_are_linear():
    samples = np.arange(11.0)[:, None]
    ends = [end[0] for end in compute_expanded_percentiles(samples, 1_000_000)]  # of so many items, t is normal
    assert ends == pytest.approx([0.25, 9.75], abs=1e-5)
    assert np.isnan(compute_expanded_percentiles(samples, 1)).all()


def test_equal_items_have_no_interval_and_a_reason():
    """11 items of one value: [0.3, 0.3] would say that the value of all other items is known."""
    found = bootstrap_intervals({"x": np.full((11, 1), 0.3)}, means, draws=50)["mean"]
    assert found.estimate[0] == pytest.approx(0.3)
    assert np.isnan([found.lower[0], found.upper[0]]).all()
    assert found.missing.tolist() == [EQUAL]


@pytest.mark.parametrize("size", [1.0, 1e6, 1e-3])
def test_a_width_of_rounding_is_none(size):
    x = size * (0.1 + np.array([0, 1e-13, 3e-13, 0, 2e-13]))
    assert bootstrap_intervals({"x": x[:, None]}, means, draws=50)["mean"].missing.tolist() == [EQUAL]
    wide = size * (0.1 + np.array([0, 1e-6, 3e-6, 0, 2e-6]))
    assert bootstrap_intervals({"x": wide[:, None]}, means, draws=50)["mean"].missing.tolist() == [""]


def test_equal_differences_have_no_interval_and_a_reason():
    a = np.random.default_rng(5).random(9)
    found = bootstrap_differences({"x": np.stack([a, a - 0.1, a], 1)}, means, [(0, 1), (0, 2)], draws=50)["mean"]
    assert found.estimate == pytest.approx([0.1, 0.0])
    assert np.isnan(found.lower).all() and np.isnan(found.upper).all()
    assert found.missing.tolist() == [EQUAL, EQUAL]


def test_every_missing_interval_of_a_figure_that_is_known_has_a_reason():
    one = bootstrap_intervals({"x": np.array([[0.3], [np.nan]]), "y": np.ones((2, 1))}, figures, draws=20)
    assert (one["mean"].missing[0], one["sd"].missing[0]) == (ONE_ITEM, "")  # one item has no SD at all
    x, y = np.arange(5.0)[:, None], np.array([[0.0], [1.0], [0.0], [0.0], [0.0]])
    some = bootstrap_intervals({"x": x, "y": y}, figures, draws=200)
    assert some["ratio"].missing.tolist() == [UNDEFINED]
    assert some["mean"].missing.tolist() == [""]


def test_the_columns_of_a_table_say_what_has_no_interval():
    x = np.array([[0.3, 0.1, 0.2], *[[np.nan, 0.3 + 0.1 * k, 0.2] for k in range(4)]])
    found = bootstrap_intervals({"x": x, "y": np.ones((5, 3))}, figures, draws=20)
    table = build_interval_columns(found)
    assert list(table)[:3] == ["mean", "mean_lower", "mean_upper"]
    why = f"mean, sd, ratio: {EQUAL}"
    assert table["no_interval"].tolist() == [f"mean, ratio: {ONE_ITEM}", "", why]
    assert list_reasons_for_missing_intervals(list(table["no_interval"]), ("sd",)) == [EQUAL]
    assert list_reasons_for_missing_intervals(["one item only", ""], ()) == [ONE_ITEM]


def test_p_values_of_differences_by_counting_draws():
    """Reference: explicit loops over the same draws; p < 0.05 goes with an interval without 0, up to one draw."""
    rng = np.random.default_rng(2)
    x = rng.normal(0.3, 1, (25, 1)) + rng.normal(0, 0.6, (25, 4))
    pairs, draws = [(0, 1), (0, 2), (1, 3), (2, 2)], 999
    found = bootstrap_differences({"x": x}, means, pairs, draws=draws)["mean"]
    rows = all_counts(25, draws)
    for place, (a, b) in enumerate(pairs):
        differences = [sum(x[i, a] - x[i, b] for i in drawn(row)) / 25 for row in rows]
        below = sum(d <= 0 for d in differences) if a != b else draws
        above = sum(d >= 0 for d in differences) if a != b else draws
        share = min(0.5, (min(below, above) + 1) / (draws + 1))
        widened = 2 * stats.t.cdf(stats.norm.ppf(share) * math.sqrt(24 / 25), 24)  # as the interval is
        assert found.p[place] == pytest.approx(widened, abs=1e-12)
    assert found.p[3] == 1.0  # a unit does not differ from itself
    clear = (found.lower > 0) | (found.upper < 0)
    assert (clear == (found.p < 0.05)).all()


def test_the_smallest_p_value_follows_from_the_numbers_of_draws_and_items():
    least = 2 * stats.t.cdf(stats.norm.ppf(0.01) * math.sqrt(19 / 20), 19)
    assert (
        compute_two_sided_bootstrap_p(np.ones((99, 1)), 20)[0]
        == compute_smallest_bootstrap_p(99, 20)
        == pytest.approx(least, abs=1e-12)
    )
    assert compute_two_sided_bootstrap_p(np.ones((9_999, 1)), 4)[0] == compute_smallest_bootstrap_p(9_999, 4) == 0.125
    assert compute_two_sided_bootstrap_p(np.full((99, 1), 1e-17), 20)[0] == 1.0  # rounding is no difference
    assert np.isnan(compute_two_sided_bootstrap_p(np.array([[1.0], [np.nan]]), 20)[0])
    assert np.isnan(compute_smallest_bootstrap_p(0, 20))


@pytest.mark.parametrize("items", [2, 3, 5])
def test_few_items_do_not_make_a_difference_of_means_significant(items):
    """Of 100 pairs without a difference, plain draws call about half (2 items) to a sixth (5 items) significant."""
    x = np.random.default_rng(items).normal(size=(items, 200))
    pairs = [(2 * pair, 2 * pair + 1) for pair in range(100)]
    found = bootstrap_differences({"x": x}, means, pairs, draws=999)["mean"]
    assert found.p.min() >= found.p_least[0] >= 2.0 ** (1 - items)
