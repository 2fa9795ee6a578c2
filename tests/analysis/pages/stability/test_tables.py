"""Tables `stability` and `items` on examples whose numbers are worked out by hand, and at their edges."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest

from analysis import runs
from analysis.pages.stability import cases, tables
from analysis.pages.stability.catalogue import TABLES
from analysis.pages.stability.measures import choose_headline_flip_column
from analysis.pages.stability.sources import tabulate_source_pair_comparisons
from analysis.reporting.catalogue.tables import build_table
from ground.errors import InputError
from helpers.synthetic import edit_run_json, paraphrases, random_frame, write_run

pytestmark = pytest.mark.slow

NAN = pytest.approx(math.nan, nan_ok=True)


def test_one_model_by_hand(opened):
    # Item x: 0.2 0.4 0.6 0.8. Mean 0.5; deviations 0.3 0.1 0.1 0.3, squares 0.20, variance 0.20 / 3, SD 0.258199;
    #   range 0.6; two agree, two disagree: no majority, share 0.5.
    # Item y: 0.9 0.9 0.9 0.1. Mean 0.7; squares 3 * 0.04 + 0.36 = 0.48, variance 0.16, SD 0.4; range 0.8; share 1/4.
    # Range: mean 0.7, SD across the two items 0.2 / sqrt(2) = 0.141421. SD: mean 0.329099, SD 0.141801 / sqrt(2).
    # Flips: both above 5 and 10 %; y is at 25 %, not above.
    run = opened(paraphrases({"x": [0.2, 0.4, 0.6, 0.8], "y": [0.9, 0.9, 0.9, 0.1]}))
    row = tables.tabulate_stability(run).iloc[0]
    assert row["range_mean"] == pytest.approx(0.7)
    assert row["range_sd"] == pytest.approx(0.141421, abs=1e-6)
    assert row["sd_mean"] == pytest.approx(0.329099, abs=1e-6)
    assert row["sd_sd"] == pytest.approx(0.100269, abs=1e-6)
    assert row[["flip_05", "flip_10", "flip_25"]].tolist() == [1.0, 1.0, 0.5]
    assert row[["n_items", "n_variants", "n_excluded_items", "mark"]].tolist() == [2, 8, 0, ""]
    items = tables.tabulate_item_answers_over_paraphrases(run).set_index("item")
    assert items["minority_share"].tolist() == [0.5, 0.25]
    assert items["agreement_sd"].tolist() == pytest.approx([0.258199, 0.4], abs=1e-6)
    assert items["agreement_mean"].tolist() == pytest.approx([0.5, 0.7])
    # Two items are too few for an interval, but not for Wilson's.
    mean = row[["agreement_mean", "agreement_mean_lower", "agreement_mean_upper"]].tolist()
    assert mean == pytest.approx([0.6, NAN, NAN], nan_ok=True)
    few = "agreement_mean, range_mean, sd_mean: too few items"
    assert row["no_interval"] == f"{few}; validity: the same in every resample"
    assert row[["flip_25_lower", "flip_25_upper"]].notna().all()


def test_validity_by_hand(opened):
    # Masses 0.2 0.4 | 0.9: mean 0.5; squares 0.09 + 0.01 + 0.16 = 0.26, SD sqrt(0.13), SE sqrt(0.13 / 3) = 0.208167.
    # The mean is over rows: the mean of the two items would be 0.6.
    rows = paraphrases({"x": [0.5, 0.6], "y": [0.7]}, mass=[0.2, 0.4, 0.9])
    run = opened(rows)
    row = tables.tabulate_stability(run).iloc[0]
    assert row["validity"] == pytest.approx(0.5)
    assert row["validity_se"] == pytest.approx(0.208167, abs=1e-6)
    assert not row["low_mass"]
    items = tables.tabulate_item_answers_over_paraphrases(run)
    assert items["validity_mean"].tolist() == pytest.approx([0.3, 0.9])
    assert items["validity_sd"].tolist() == [pytest.approx(0.141421, abs=1e-6), NAN]
    assert np.isnan(row["validity_lower"])  # two items


def test_low_mass_is_flagged(opened):
    table = tables.tabulate_stability(opened(paraphrases({"x": [0.5, 0.6]}, mass=0.04)))
    assert table["low_mass"].tolist() == [True]
    assert table["validity"].tolist() == [pytest.approx(0.04)]


def test_flips_are_strictly_more_than_the_threshold(opened):
    # 20 paraphrases each: 1, 2 and 5 of them deviate, exactly 5, 10 and 25 %; then one more each.
    def item(n):
        return [0.1] * n + [0.9] * (20 - n)

    at = tables.tabulate_stability(opened(paraphrases({"a": item(1), "b": item(2), "c": item(5)})))
    assert at[["flip_05", "flip_10", "flip_25"]].values.tolist() == [pytest.approx([2 / 3, 1 / 3, 0])]
    above = tables.tabulate_stability(opened(paraphrases({"a": item(2), "b": item(3), "c": item(6)})))
    assert above[["flip_05", "flip_10", "flip_25"]].values.tolist() == [pytest.approx([1, 2 / 3, 1 / 3])]


def test_any_threshold(opened):
    rows = paraphrases({"a": [0.1] * 1 + [0.9] * 7, "b": [0.9] * 8})  # an eighth deviates, none
    table = tables.tabulate_stability(opened(rows), thresholds=(0, 0.025, 0.12, 0.125))
    names = [name for name in table.columns if name.startswith("flip") and not name.endswith(("lower", "upper"))]
    assert names == ["flip_00", "flip_025", "flip_12", "flip_125"]
    assert table[names].values.tolist() == [[0.5, 0.5, 0.5, 0.0]]
    assert "flip_125_upper" in table


@pytest.mark.parametrize("threshold", [-0.1, 1.0, 5, math.nan])
def test_a_threshold_is_a_share(opened, threshold):
    run = opened(paraphrases({"a": [0.1, 0.9]}))
    for table in (tables.tabulate_stability, tables.tabulate_stability_differences):
        with pytest.raises(InputError, match="is not a share of paraphrases"):
            table(run, thresholds=(0.05, threshold))


def test_thresholds_stand_in_their_order_and_there_is_one(opened):
    """Sentences are about the middle one."""
    run = opened(paraphrases({"a": [0.1, 0.9]}))
    assert choose_headline_flip_column(tables.tabulate_stability(run, thresholds=(0.25, 0.05, 0.1))) == "flip_10"
    for table in (
        tables.tabulate_stability,
        tables.tabulate_flips_by_invalid_convention,
        tabulate_source_pair_comparisons,
    ):
        with pytest.raises(InputError, match="thresholds are empty: give shares"):
            table(run, thresholds=())


def test_ties_agree_as_in_the_paper(opened):
    # Haller et al., section 4.2: "agree" if R+ >= 0.5. Of five answers one disagrees; of four, one disagrees and one
    # of the agreeing ones is a tie; where the rest disagrees, a tie is the one that deviates.
    run = opened(paraphrases({"x": [0.5, 0.5, 0.3, 0.7, 0.7], "y": [0.5, 0.5], "z": [0.5, 0.1, 0.2, 0.3]}))
    items = tables.tabulate_item_answers_over_paraphrases(run).set_index("item")
    assert items["n_ties"].tolist() == [2, 2, 1]
    assert items["n_valid"].tolist() == [5, 2, 4]
    assert items["minority_share"].tolist() == [0.2, 0.0, 0.25]


def test_equal_halves_flip_at_every_threshold(opened):
    table = tables.tabulate_stability(opened(paraphrases({"x": [0.4, 0.6]})), thresholds=(0.05, 0.25, 0.49))
    assert table[["flip_05", "flip_25", "flip_49"]].values.tolist() == [[1.0, 1.0, 1.0]]


@pytest.mark.parametrize(
    ("agreements", "mark"),
    [
        ({"x": [0.9, 0.2], "y": [0.6]}, "+"),  # means 0.55 and 0.6
        ({"x": [0.1, 0.2], "y": [0.49]}, "-"),
        ({"x": [0.9, 0.2], "y": [0.4]}, ""),
        ({"x": [0.9, 0.2], "y": [0.5]}, ""),  # exactly 0.5 is neither
        ({"x": [0.5], "y": [0.5]}, ""),
    ],
)
def test_marks(opened, agreements, mark):
    assert tables.tabulate_stability(opened(paraphrases(agreements)))["mark"].tolist() == [mark]


def test_the_original_is_kept_apart(opened):
    # An original far from the paraphrases changes nothing but its own columns.
    agreements = {"x": [0.2, 0.4, 0.6], "y": [0.9, 0.8, 0.7]}
    without, beside = (
        opened(paraphrases(agreements)),
        opened(paraphrases(agreements, original=0.01, mass=[1.0] * 6 + [0.3] * 2)),
    )
    pd.testing.assert_frame_equal(tables.tabulate_stability(without), tables.tabulate_stability(beside))
    items = tables.tabulate_item_answers_over_paraphrases(beside)
    assert items["original_agreement"].tolist() == pytest.approx([0.01, 0.01])
    assert items["original_validity"].tolist() == pytest.approx([0.3, 0.3])
    assert items["n_variants"].tolist() == [3, 3]
    assert tables.tabulate_item_answers_over_paraphrases(without)["original_agreement"].isna().all()


def test_text_is_the_original_or_the_first_wording(opened):
    rows = paraphrases({"x": [0.2, 0.4], "y": [0.9, 0.8]})
    rows = pd.concat([rows, pd.DataFrame({"item": ["x"], "variant": ["original"], "agreement": [0.5]})])
    rows["text"] = ["Second", "Third", "The first of y", "Another", "The original of x"]
    assert tables.tabulate_item_answers_over_paraphrases(opened(rows))["text"].tolist() == [
        "The original of x",
        "The first of y",
    ]


def test_items_stand_in_the_order_of_the_study(opened):
    rows = paraphrases({name: [0.2, 0.9] for name in ("10", "9", "b", "a")})
    run = opened(rows)
    for table in (
        tables.tabulate_item_answers_over_paraphrases,
        tables.tabulate_item_sds_averaged_over_models,
        cases.tabulate_agreement_quartiles_of_items,
    ):
        assert table(run)["item"].tolist() == ["10", "9", "b", "a"]


def test_tables_come_out_alike_twice(opened):
    run = opened(random_frame(["a", "b"], items=5))
    for name in TABLES:
        pd.testing.assert_frame_equal(build_table(name, run), build_table(name, run))


def test_the_seed_moves_the_interval_and_nothing_else(opened):
    run = opened(random_frame(["a"], items=20))
    one, other = tables.tabulate_stability(run, seed=1), tables.tabulate_stability(run, seed=2)
    assert one["sd_mean"].equals(other["sd_mean"])
    assert not one["sd_mean_lower"].equals(other["sd_mean_lower"])
    assert one["sd_sd"].equals(other["sd_sd"])


def test_every_figure_lies_in_its_interval_on_ordinary_data(opened):
    table = tables.tabulate_stability(opened(random_frame(["a", "b"], items=30, paraphrases=20)))
    for name in ("validity", "range_mean", "sd_mean", "flip_10"):
        assert table[name].between(table[f"{name}_lower"], table[f"{name}_upper"]).all()
    never = [f"{name}_sd_{end}" for name in ("range", "sd") for end in ("lower", "upper")]
    assert table[never].isna().all(axis=None)
    never.append("validity_at_most")  # every mass is exact
    assert np.isfinite(table.drop(columns=never).select_dtypes("number").to_numpy()).all()


def test_the_study_may_say_more_in_run_json(tmp_path):
    path = write_run(tmp_path / "run", paraphrases({"x": [0.2, 0.9]}))
    edit_run_json(path, notes="anything")
    assert len(tables.tabulate_stability(runs.open_runs(path))) == 1
