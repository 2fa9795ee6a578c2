"""What a comparison must not say: of few items, of same answers, of items without an answer."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.weightstats import ttost_paired

from analysis import runs
from analysis.__main__ import main
from analysis.compare.equivalence import compute_score_p_of_shares_worse_by_margin
from analysis.compare.measures import Chosen, compare_paired_runs
from analysis.compare.pairing import pair_studies_of_two_run_sets
from analysis.compare.power import find_least_items_of_share_difference, find_least_share_difference
from analysis.compare.verdicts import iterate_lines_about_compared_rows
from helpers.scored_runs import write_scored
from helpers.synthetic import random_frame, write_run


def write_sides(folder: Path, a: np.ndarray, b: np.ndarray, measure: str = "judged") -> list[Path]:
    """Two runs of one score per item."""
    paths = []
    for side, values in (("a", a), ("b", b)):
        rows = pd.DataFrame({"model": "m", "condition": measure, "item": [f"i{n:03}" for n in range(len(values))],
                             "variant": "original", "text": [f"Text {n}." for n in range(len(values))],
                             "score": np.asarray(values, float)})  # fmt: skip
        paths.append(write_scored(folder / side, rows))
    return paths


def compare(folder: Path, a: np.ndarray, b: np.ndarray, measure: str = "judged", **chosen: object) -> pd.DataFrame:
    """The rows of two runs of one score per item."""
    sides = map(runs.open_runs, write_sides(folder, a, b, measure))
    return compare_paired_runs(pair_studies_of_two_run_sets(*sides), Chosen(**chosen))


def compute_slow_power(differing: float, difference: float, n_items: int, alpha: float) -> float:
    """The power of the exact test of McNemar, by all numbers of items that differ, and all splits of these."""
    power = 0.0
    for k in range(n_items + 1):
        wins = [x for x in range(k + 1) if 2 * x > k and stats.binomtest(x, k).pvalue < alpha]
        share = (1 + difference / differing) / 2
        power += stats.binom.pmf(k, n_items, differing) * stats.binom.pmf(wins, k, share).sum()
    return power


@pytest.mark.parametrize(
    ("differing", "n_items", "alpha"), [(1 / 30, 30, 0.05), (0.3, 40, 0.05), (0.8, 9, 0.05), (0.2, 50, 0.01)]
)
@pytest.mark.slow
def test_the_least_difference_of_shares_is_that_of_all_outcomes_counted(differing, n_items, alpha):
    least = find_least_share_difference(differing, n_items, 1 - alpha)
    assert compute_slow_power(max(differing, least), least, n_items, alpha) == pytest.approx(0.8, abs=1e-5)


@pytest.mark.slow
@pytest.mark.parametrize(("differing", "difference"), [(0.8, 0.8), (0.4, 0.3), (0.3, 0.25), (1.0, 1.0)])
def test_the_least_items_of_shares_are_those_of_all_outcomes_counted(differing, difference):
    n_items = int(find_least_items_of_share_difference(differing, difference, 0.95))
    powers = [compute_slow_power(differing, difference, n, 0.05) for n in (n_items - 1, n_items)]
    assert powers[0] < 0.8 <= powers[1]


@pytest.mark.slow
def test_many_items_of_shares_find_what_a_t_test_would():
    # Normal approximation of McNemar's test (Connor 1987); the exact one needs up to 3 % more here.
    z = stats.norm.ppf(0.975) * np.sqrt(0.2) + stats.norm.ppf(0.8) * np.sqrt(0.2 - 0.02**2)
    assert find_least_items_of_share_difference(0.2, 0.02, 0.95) == pytest.approx((z / 0.02) ** 2, rel=0.03)
    assert find_least_items_of_share_difference(0.3, 0.001, 0.95) == pytest.approx(2_354_658, rel=1e-4)
    assert np.isnan(find_least_items_of_share_difference(0.3, 1e-5, 0.95))


@pytest.mark.slow
def test_five_items_are_not_said_to_find_a_difference_that_the_exact_test_never_finds(tmp_path):
    table = compare(tmp_path, [1, 1, 1, 1, 0], [0, 0, 0, 0, 0])
    (row,) = table.to_dict("records")
    assert row["verdict"] == "no difference found" and np.isnan(row["least_difference"])
    assert row["n_items_to_decide"] == 9
    assert any(
        "so few items find no difference with power .8" in line for line in iterate_lines_about_compared_rows(table)
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    ("a", "b", "measure"),
    [
        ([0.1, 0.2, 0.3, 0.4], [0.4, 0.5, 0.6, 0.7], "judged"),  # by the same, but for rounding
        ([0] * 19 + [1e6], [0] * 20, "ms"),  # one item says all
        ([1, 0.2], [0, 0.1], "judged"),  # a difference above the range
    ],
)
def test_no_least_difference_is_said_where_items_do_not_tell_it(tmp_path, a, b, measure):
    (row,) = compare(tmp_path, np.array(a), np.array(b), measure).to_dict("records")
    assert row["verdict"] == "no difference found" and np.isnan(row["least_difference"])


@pytest.mark.slow
@pytest.mark.parametrize(
    ("n_items", "measure", "verdict", "p"),
    [
        (58, "judged", "no difference found", 0.95**58),
        (59, "judged", "equivalent within 0.05", 0.95**59),
        (59, "ms", "no difference found", np.nan),
    ],
)
def test_same_answers_are_equivalent_where_so_many_would_rarely_be_the_same(tmp_path, n_items, measure, verdict, p):
    values = np.arange(n_items) % 2
    (row,) = compare(tmp_path, values, values, measure, margin=0.05).to_dict("records")
    assert (row["verdict"], row["p"]) == (verdict, 1)
    assert row["p_equivalent"] == pytest.approx(p, rel=1e-12, nan_ok=True)
    assert row["holds_for"] == ("these wordings" if verdict.startswith("equivalent") else "")


@pytest.mark.slow
@pytest.mark.parametrize("k", [1, 5])
def test_few_items_that_differ_among_many_are_equivalent_by_the_binomial_number(tmp_path, k):
    a = np.arange(1000) % 2
    b = np.where(np.arange(1000) < k, 1 - a, a)
    (row,) = compare(tmp_path, a, b, margin=0.02).to_dict("records")
    assert row["p_equivalent"] == pytest.approx(stats.binom.cdf(k, 1000, 0.02), rel=1e-9)
    assert row["verdict"] == "equivalent within 0.02"


@pytest.mark.slow
def test_few_items_that_differ_are_not_said_to_be_equivalent_without_a_range(tmp_path):
    a = np.linspace(1, 2, 1000)
    (row,) = compare(tmp_path, a, a + (np.arange(1000) < 3), "ms", margin=0.02).to_dict("records")
    assert np.isnan(row["p_equivalent"]) and row["verdict"] == "no difference found"


@pytest.mark.parametrize(("n_items", "margin", "differing"), [(300, 0.05, 0.1), (500, 0.05, 0.05), (100, 0.2, 0.2)])
def test_shares_that_differ_by_the_margin_are_called_alike_in_at_most_5_percent(n_items, margin, differing):
    """All outcomes counted; t tests alone err in .058, .086 and .080 of studies."""
    numbers = np.arange(n_items + 1)
    likely = numbers[stats.binom.pmf(numbers, n_items, differing) > 1e-9]
    share = (1 + margin / differing) / 2
    wrong = sum(
        stats.binom.pmf(k, n_items, differing) * stats.binom.pmf(ups, k, share)
        for k in likely for ups in range(k + 1)
        if compute_score_p_of_shares_worse_by_margin(*sorted((ups, k - ups)), n_items, margin) < 0.05 and k > 5
    )  # fmt: skip
    assert 0.02 < wrong <= 0.051


@pytest.mark.slow
def test_equivalence_of_shares_takes_the_larger_p(tmp_path):
    a, b = np.ones(300), np.arange(300) >= 8
    (row,) = compare(tmp_path, a, b, margin=0.05).to_dict("records")
    # By hand: no item goes the other way, so the score is (8 - 15) / sqrt(300 * 0.05 * 0.95).
    assert row["p_equivalent"] == pytest.approx(stats.norm.cdf(-7 / np.sqrt(14.25)), rel=1e-12)
    assert row["p_equivalent"] > ttost_paired(a, b.astype(float), -0.05, 0.05)[0]


@pytest.mark.slow
def test_items_without_an_answer_of_one_side_are_told(tmp_path):
    a, b = np.linspace(0.1, 0.9, 20), np.linspace(0.9, 0.2, 20)
    a[:5], b[-2:] = np.nan, np.nan
    table = compare(tmp_path, a, b)
    row, validity = table.to_dict("records")
    kept = slice(5, 18)
    assert (row["n_items"], row["a_validity"], row["b_validity"]) == (13, 0.75, 0.9)
    assert row["p"] == pytest.approx(stats.ttest_rel(a[kept], b[kept]).pvalue, rel=1e-12)
    lines = list(iterate_lines_about_compared_rows(table))
    assert lines.count("    validity: A 75.0 %, B 90.0 %; only answers valid in both") == 1
    # By hand: 5 items only B answers, 2 only A; all 20 were asked.
    assert (validity["measure"], validity["test"], validity["n_items"]) == ("validity", "exact McNemar", 20)
    assert (validity["a"], validity["b"], validity["difference"]) == pytest.approx((0.75, 0.9, -0.15))
    assert validity["p"] == pytest.approx(stats.binomtest(2, 7).pvalue, rel=1e-12)
    assert not validity["headline"] and not validity["lower_is_better"]


@pytest.mark.slow
def test_validity_is_tested_where_one_side_answers_nothing(tmp_path):
    table = compare(tmp_path, np.full(20, np.nan), np.linspace(0, 1, 20))
    (row,) = table.to_dict("records")
    assert (row["measure"], row["verdict"], row["a"], row["b"]) == ("validity", "B is higher", 0, 1)


@pytest.mark.slow
def test_the_mass_of_probabilities_is_compared_as_the_paired_t_test_does(tmp_path):
    draw, sides = np.random.default_rng(7), []
    masses = draw.uniform(0.5, 1, (2, 15, 5))
    for side, mass in zip("ab", masses, strict=True):
        frame = random_frame(["m"], items=15, paraphrases=4)
        sides.append(runs.open_runs(write_run(tmp_path / side, frame.assign(mass=mass.ravel()))))
    table = compare_paired_runs(pair_studies_of_two_run_sets(*sides), Chosen()).set_index("measure")
    means = masses[:, :, 1:].mean(axis=2)  # the original is no rewording
    assert table.loc["validity", "a"] == pytest.approx(means[0].mean(), rel=1e-12)
    assert table.loc["validity", "p"] == pytest.approx(stats.ttest_rel(*means).pvalue, rel=1e-9)
    # Once for all measures of a study.
    assert list(table.index) == ["agreement", "flips", "logit", "validity"]


@pytest.mark.slow
def test_a_p_value_that_only_the_sign_test_bounds_has_its_name(tmp_path):
    a, b = np.linspace(0, 1, 40), np.linspace(0, 1, 40)
    b[:4] = b[:4] - [0.3, 0.31, 0.3, 0.31]
    (row,) = compare(tmp_path, a, b, "ms").to_dict("records")
    assert (row["test"], row["p"]) == ("bound of the sign test", pytest.approx(2 * 0.5**4))
    assert stats.ttest_rel(a, b).pvalue < 0.06 and np.isnan(row["lower"])


@pytest.mark.slow
def test_one_item_and_unknown_numbers_are_null_in_json(tmp_path, capsysbinary):
    paths = write_sides(tmp_path, np.array([0.5]), np.array([0.7]))
    assert main(["compare", *map(str, paths), "--json"]) == 0
    (row,) = json.loads(capsysbinary.readouterr().out, parse_constant=pytest.fail)["comparisons"]
    assert (row["verdict"], row["p"], row["lower"], row["margin"]) == ("cannot tell", None, None, None)


@pytest.mark.slow
def test_conditions_are_paired_by_their_names_in_each_run(tmp_path):
    values, sides = np.linspace(0, 1, 12), []
    for side, temperature in (("a", 0.0), ("b", 0.7)):
        rows = [pd.DataFrame({"model": "m", "condition": name, "item": [f"i{n:03}" for n in range(12)],
                              "variant": "original", "text": [f"Text {n}." for n in range(12)], "score": values**power})
                for name, power in (("judged", 1 + temperature), ("B: /judged", 2))]  # fmt: skip
        fields = {"judged": {"range": [0, 1], "direction": "higher", "temperature": temperature}}
        sides.append(runs.open_runs(write_scored(tmp_path / side, pd.concat(rows), fields)))
    table = compare_paired_runs(pair_studies_of_two_run_sets(*sides), Chosen())
    assert table[["a_condition", "b_condition"]].to_numpy().tolist() == [["judged"] * 2, ["B: /judged"] * 2]
    assert table["difference"].tolist() == pytest.approx([float((values - values**1.7).mean()), 0], rel=1e-12)
    # Holm is over both rows: the second has p = 1.
    assert table["p_holm"].tolist() == pytest.approx(multipletests(table["p"], method="holm")[1].tolist(), rel=1e-12)
