"""Every table on stability against plain loops over the rows (helpers/textbook.py), on random runs."""

from __future__ import annotations

import math
import statistics

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binomtest

from analysis import runs
from analysis.pages.stability import cases, tables
from analysis.statistics import resampling
from helpers import textbook
from helpers.synthetic import random_frame, write_run

pytestmark = pytest.mark.slow

THRESHOLDS = {"flip_05": 0.05, "flip_10": 0.10, "flip_25": 0.25}
UNIT = ["study", "model", "condition"]


def awkward_frame(kind: str, seed: int) -> pd.DataFrame:
    """A run with everything at once: permuted options, ties, missing and invalid answers, items of every size."""
    rng = np.random.default_rng(seed)
    conditions = ("plain/yes-no", "plain/no-yes")
    frame = random_frame(["a", "b", "c"], items=9, paraphrases=12, conditions=conditions, seed=seed)
    frame["number"] = frame["variant"].str.extract(r"(\d+)", expand=False).astype(float)
    frame = frame[~((frame["item"] == "item-02") & (frame["number"] > 0))]  # an original only
    frame = frame[~((frame["item"] == "item-03") & (frame["number"] > 1))]  # one paraphrase
    frame = frame[~((frame["item"] == "item-04") & (frame["variant"] == "original"))]  # no original
    frame = frame[~((frame["item"] == "item-05") & (frame["model"] == "b"))]  # never asked
    frame = frame[~((frame["item"] == "item-06") & (frame["model"] == "c") & (frame["number"] > 3))]  # a few asked
    frame = frame.reset_index(drop=True)
    frame.loc[rng.random(len(frame)) < 0.1, "agreement"] = 0.5
    frame.loc[(frame["item"] == "item-07") & (frame["model"] == "a"), "agreement"] = 0.25  # never moves
    swapped = frame["number"] % 3 == 1
    labels = [["disagree", "agree"] if swap else ["agree", "disagree"] for swap in swapped]
    invalid = rng.random(len(frame)) < 0.1
    invalid |= (frame["item"] == "item-08") & (frame["model"] == "a")  # no valid answer at all
    frame["options"] = frame["canonical"] = pd.Series(labels, index=frame.index)
    if kind == "probability":
        frame.loc[invalid, "mass"] = 0.0
        return frame
    share = frame.pop("agreement")
    frame = frame.drop(columns="mass")
    if kind == "count":
        agree = rng.binomial(10, share)
        frame["count"] = [[10 - n, n] if swap else [n, 10 - n] for n, swap in zip(agree, swapped, strict=True)]
        frame.loc[invalid, "count"] = frame.loc[invalid, "count"].map(lambda _: [0, 0])
        frame["invalid"] = np.where(invalid, 10, rng.integers(0, 3, len(frame)))
    else:
        answers = np.where(rng.random(len(frame)) < share, "agree", "disagree")
        frame["answer"] = pd.Series(answers, index=frame.index).where(~invalid)
    return frame


@pytest.fixture(scope="module", params=["probability", "count", "answer", "mixed"])
def path(request, tmp_path_factory):
    if request.param == "mixed":
        kinds = [awkward_frame(kind, seed) for seed, kind in enumerate(["probability", "count", "answer"])]
        frame = pd.concat([kind[kind["model"] == name] for name, kind in zip("abc", kinds, strict=True)])
    else:
        frame = awkward_frame(request.param, 4)
    models = {"b": {"engine": "masked"}, "c": {"engine": "import"}}
    return write_run(tmp_path_factory.mktemp(request.param) / "run", frame, models=models, parts=4)


@pytest.fixture(scope="module")
def run(path):
    return runs.open_runs(path)


@pytest.fixture(scope="module")
def rows(path):
    return textbook.answers(path)


def same(found, expected) -> bool:
    return found == pytest.approx(expected, abs=1e-12, nan_ok=True)


def test_items(run, rows):
    expected = textbook.items(rows)
    table = tables.tabulate_item_answers_over_paraphrases(run).set_index([*UNIT, "item"])
    assert set(table.index) == set(expected)
    for key, figures in expected.items():
        for name, value in figures.items():
            assert same(table.loc[key, name], value), (key, name)


def test_models(run, rows):
    table = tables.tabulate_stability(run, resamples=0).set_index(UNIT)
    assert table.index.tolist() == [("synthetic", m, c) for m in "abc" for c in ("plain/yes-no", "plain/no-yes")]
    for key in table.index:
        own = [row for row in rows if (row["study"], row["model"], row["condition"]) == key]
        for name, value in textbook.model(own, THRESHOLDS).items():
            assert table.loc[key, name] == value if name == "mark" else same(table.loc[key, name], value), (key, name)


def test_intervals_of_models(run):
    """Means: items with replacement, the figure of each draw, percentiles. SDs: none. Flips: scipy's Wilson."""
    table = tables.tabulate_stability(run, resamples=60, seed=3).set_index(UNIT)
    per_item = tables.tabulate_item_answers_over_paraphrases(run)
    for key, own in per_item.groupby(UNIT):
        chosen = own[own["n_valid"] > 1]
        counts = next(resampling.iterate_drawn_item_counts(len(chosen), 60, 3))
        draws = {name: [] for name in ("range_mean", "sd_mean")}
        for row in counts:
            listed = zip(chosen.to_dict("records"), row, strict=True)
            drawn = [item for item, times in listed for _ in range(int(times))]
            ranges, sds = [item["agreement_range"] for item in drawn], [item["agreement_sd"] for item in drawn]
            draws["range_mean"].append(statistics.fmean(ranges))
            draws["sd_mean"].append(statistics.fmean(sds))
        ends = {name: textbook.percentiles(values, len(chosen)) for name, values in draws.items()}
        flips = binomtest(int((chosen["minority_share"] > 0.1).sum()), len(chosen))
        ends["flip_10"] = flips.proportion_ci(0.95, method="wilson")
        bare = [name for name in ("range_mean", "sd_mean") if math.isnan(ends[name][0])]
        assert table.loc[key, ["range_sd_lower", "range_sd_upper", "sd_sd_lower", "sd_sd_upper"]].isna().all()
        for name, (low, high) in ends.items():
            assert same(table.loc[key, f"{name}_lower"], low), (key, name)
            assert same(table.loc[key, f"{name}_upper"], high), (key, name)
        # Equal draws of an SD are said, too.
        bare = [name for name in ("range_mean", "range_sd", "sd_mean", "sd_sd") if name.split("_")[0] + "_mean" in bare]
        why = f"{', '.join(bare)}: the same in every resample" if bare else ""
        assert table.loc[key, "no_interval"] == why


def test_interval_of_the_validity_resamples_whole_items(path, run, rows):
    """Of texts and counts it is a share, with the effective number of items."""
    counted = textbook.counted(path)
    table = tables.tabulate_stability(run, resamples=40, seed=1).set_index(UNIT)
    for key in table.index:
        masses = {}
        for row in rows:
            if (row["study"], row["model"], row["condition"]) == key and not row["original"]:
                masses.setdefault(row["item"], []).append(row["validity"])
        clusters = [masses[item] for item in sorted(masses)]
        draws = []
        for row in next(resampling.iterate_drawn_item_counts(len(clusters), 40, 1)):
            pooled = [m for cluster, times in zip(clusters, row, strict=True) for m in cluster * int(times)]
            draws.append(statistics.fmean(pooled))
        low, high = textbook.share(clusters) if key in counted else textbook.percentiles(draws, len(clusters))
        assert same(table.loc[key, "validity_lower"], low)
        assert same(table.loc[key, "validity_upper"], high)


def test_differences(run):
    per_item = tables.tabulate_item_answers_over_paraphrases(run)
    table = tables.tabulate_stability_differences(run, resamples=30, seed=2)
    assert len(table)
    for row in table[table["measure"].isin(["sd_mean", "range_sd"])].to_dict("records"):
        sides = []
        for side in "ab":
            unit = (row[f"{side}_model"], row[f"{side}_condition"])
            own = per_item[(per_item["model"] == unit[0]) & (per_item["condition"] == unit[1])]
            sides.append({item["item"]: item for item in own.to_dict("records") if item["n_valid"] > 1})
        both = sorted(sides[0].keys() & sides[1].keys())
        assert row["n_items"] == len(both)
        column, function = {
            "sd_mean": ("agreement_sd", statistics.fmean),
            "range_sd": ("agreement_range", statistics.stdev),
        }[row["measure"]]
        a, b = ([side[item][column] for item in both] for side in sides)
        assert same(row["difference"], function(a) - function(b))
        draws = []
        for counts in next(resampling.iterate_drawn_item_counts(len(both), 30, 2)):
            drawn = [index for index, times in enumerate(counts) for _ in range(int(times))]
            draws.append(function([a[i] for i in drawn]) - function([b[i] for i in drawn]))
        low, high = textbook.percentiles(draws, len(both))
        equal = "the same in every resample"
        if row["measure"] == "range_sd":
            assert math.isnan(row["lower"]) and math.isnan(row["p"]) == (max(draws) > min(draws))
            assert row["no_interval"] == (equal if math.isnan(low) else "a few items decide it")
            continue
        assert same(row["lower"], low) and same(row["upper"], high)
        assert row["no_interval"] == (equal if math.isnan(low) else "")


def test_item_stability(run, rows):
    family = {"a": "causal", "b": "masked", "c": "causal"}
    expected = textbook.item_stability(textbook.items(rows), family)
    table = tables.tabulate_item_sds_averaged_over_models(run).set_index(["study", "item", "family"])
    assert set(table.index) == set(expected)
    for key, (average, error, number) in expected.items():
        assert same(table.loc[key, "normalised_sd_mean"], average)
        assert same(table.loc[key, "normalised_sd_se"], error)
        assert table.loc[key, "n_models"] == number


def test_divergent(run, rows):
    table = cases.tabulate_two_most_different_wordings(run, k=None)
    expected = {key: f for key, f in textbook.items(rows).items() if f["agreement_max"] > f["agreement_min"]}
    assert {tuple(row[name] for name in (*UNIT, "item")) for row in table.to_dict("records")} == set(expected)
    for row in table.to_dict("records"):
        key = tuple(row[name] for name in (*UNIT, "item"))
        own = [r for r in rows if (r["study"], r["model"], r["condition"], r["item"]) == key and not r["original"]]
        known = sorted((r for r in own if r["agreement"] is not None), key=lambda r: r["variant"])
        low, high = min(known, key=lambda r: r["agreement"]), max(known, key=lambda r: r["agreement"])
        assert (row["low_text"], row["high_text"]) == tuple(f"{key[3]}: {r['variant']}" for r in (low, high))
        assert same(row["low_agreement"], low["agreement"])
        assert same(row["high_agreement"], high["agreement"])
        assert same(row["range"], high["agreement"] - low["agreement"])
    ranked = table.groupby(UNIT, sort=False)["range"].agg(lambda ranges: ranges.is_monotonic_decreasing)
    assert ranked.all()
    best = cases.tabulate_two_most_different_wordings(run, k=2)
    pd.testing.assert_frame_equal(best, table.groupby(UNIT, sort=False).head(2).reset_index(drop=True))


def test_distribution_and_outliers(run, rows):
    boxes = cases.tabulate_agreement_quartiles_of_items(run).set_index([*UNIT, "item"])
    dots = cases.tabulate_agreement_outliers(run)
    found = {tuple(dot[name] for name in (*UNIT, "item", "variant")) for dot in dots.to_dict("records")}
    expected = set()
    for key in textbook.items(rows):
        own = [r for r in rows if (r["study"], r["model"], r["condition"], r["item"]) == key and not r["original"]]
        values = {r["variant"]: r["agreement"] for r in own if r["agreement"] is not None}
        assert (key in boxes.index) == bool(values)
        if not values:
            continue
        q25, median, q75 = (textbook.quantile(list(values.values()), q) for q in (0.25, 0.5, 0.75))
        low, high = q25 - 1.5 * (q75 - q25) - 1e-9, q75 + 1.5 * (q75 - q25) + 1e-9
        inside = [v for v in values.values() if low <= v <= high]
        box = boxes.loc[key]
        assert same(list(box[["q25", "median", "q75"]]), [q25, median, q75])
        assert same(list(box[["whisker_low", "whisker_high"]]), [min(*inside, q25), max(*inside, q75)])
        assert box["n"] == len(values)
        expected |= {(*key, variant) for variant, v in values.items() if not low <= v <= high}
    assert found == expected


def test_invalid_and_excluded(run, rows):
    for row in cases.tabulate_counts_of_invalid_answers(run).to_dict("records"):
        own = [r for r in rows if (r["model"], r["condition"]) == (row["model"], row["condition"])]
        undefined = sum(r["agreement"] is None for r in own)
        assert (row["n_rows"], row["n_invalid"], row["n_error"]) == (len(own), undefined, 0)
        assert same(row["share"], undefined / len(own))
    per_item = textbook.items(rows)
    excluded = cases.tabulate_excluded_items(run)
    units = {key[:3] for key in per_item}
    left_out = {
        (*unit, f"item-{number:02d}")
        for unit in units
        for number in range(1, 10)
        if per_item.get((*unit, f"item-{number:02d}"), {"n_valid": 0})["n_valid"] < 2
    }
    assert {tuple(row[name] for name in (*UNIT, "item")) for row in excluded.to_dict("records")} == left_out
    counted = tables.tabulate_stability(run, resamples=0).set_index(UNIT)["n_excluded_items"]
    assert counted.to_dict() == excluded.groupby(UNIT).size().reindex(counted.index, fill_value=0).to_dict()


def test_a_standard_error_of_nearly_equal_masses_keeps_its_digits(tmp_path):
    # Masses near 1 with a spread of 1e-7: sums of raw squares would lose all of it.
    frame = random_frame(items=5, paraphrases=40)
    frame["mass"] = 0.999 + 1e-7 * np.random.default_rng(0).random(len(frame))
    path = write_run(tmp_path / "run", frame)
    masses = [row["validity"] for row in textbook.answers(path) if not row["original"]]
    expected = statistics.stdev(masses) / math.sqrt(len(masses))
    assert tables.tabulate_stability(runs.open_runs(path), resamples=0)["validity_se"][0] == pytest.approx(
        expected, rel=1e-7
    )
