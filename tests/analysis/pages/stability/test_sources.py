"""Paraphrases from two sources: Table 7's figures by source, and how far the sources agree."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from scipy.stats import pearsonr

from analysis import runs
from analysis.pages.stability import sources
from analysis.pages.stability.page import StabilityPage
from analysis.pages.stability.tables import tabulate_stability
from analysis.reporting.catalogue import tables
from analysis.reporting.catalogue.published_numbers import OURS
from analysis.statistics import resampling
from helpers.synthetic import random_frame, write_run

pytestmark = pytest.mark.slow

NAMES = ("sources", "source_agreement")


def sourced(frame: pd.DataFrame, name) -> pd.DataFrame:
    """A frame whose paraphrases have the source that `name(number)` says; originals have none."""
    numbers = frame["variant"].str.extract(r"-(\d+)$")[0].astype(float)
    given = [None if np.isnan(n) or name(int(n)) is None else [("source", name(int(n)))] for n in numbers]
    return frame.assign(attributes=given)


def by_number(number: int) -> str:
    return "zeta" if number <= 6 else "alpha" if number <= 12 else "alpha | zeta"


@pytest.fixture(scope="module")
def frame():
    """Two models, eight items (one without source alpha), 14 paraphrases: six of each source, two of both."""
    found = random_frame(["m1", "m2"], items=8, paraphrases=14, seed=5)
    found = sourced(found, by_number)
    lacks = found["attributes"].map(lambda a: a is not None and "alpha" in a[0][1])
    return found[~((found["item"] == "item-03") & lacks)]


@pytest.fixture(scope="module")
def run(frame, tmp_path_factory):
    return runs.open_runs(write_run(tmp_path_factory.mktemp("sources") / "run", frame))


def test_a_sources_figures_are_those_of_a_run_with_its_paraphrases_only(frame, run, tmp_path):
    """Reference: `models` on the very rows of one source, all columns equal."""
    found = sources.tabulate_stability_by_paraphrase_source(run, resamples=50)
    assert list(found["paraphrase_source"]) == ["zeta", "alpha"] * 2  # in the order of the study
    for name in ("zeta", "alpha"):
        own = frame["attributes"].map(lambda a, name=name: a is None or name in a[0][1])
        alone = tabulate_stability(runs.open_runs(write_run(tmp_path / name, frame[own])), resamples=50)
        part = found[found["paraphrase_source"] == name].drop(columns=["source", "paraphrase_source"])
        pd.testing.assert_frame_equal(part.reset_index(drop=True), alone.drop(columns="validity_at_most"), rtol=1e-12)
    assert found["n_items"].tolist() == [8, 7, 8, 7]
    assert found["n_excluded_items"].tolist() == [0, 1, 0, 1]


@pytest.fixture(scope="module")
def by_hand(frame):
    """Item-level values by model and source, in plain pandas."""
    rows = frame[frame["variant"] != "original"]
    parts = []
    for name in ("zeta", "alpha"):
        own = rows[rows["attributes"].map(lambda a, name=name: name in a[0][1])]
        groups = own.groupby(["model", "item"])
        minority = groups["agreement"].agg(lambda x: min((x >= 0.5).mean(), (x < 0.5).mean()))
        parts.append(
            pd.DataFrame({
                "validity": groups["mass"].mean(), "rows": groups.size(), "agreement_mean": groups["agreement"].mean(),
                "range_mean": groups["agreement"].agg(lambda x: x.max() - x.min()),
                "sd_mean": groups["agreement"].std(),
                **{f"flip_{t}": (minority > int(t) / 100).astype(float) for t in ("05", "10", "25")},
            }).assign(source=name)
        )  # fmt: skip
    return pd.concat(parts).set_index("source", append=True)


def test_agreement_of_the_sources_against_plain_pandas_and_scipy(run, by_hand):
    """Reference: means and scipy.stats.pearsonr over the common items, tolerance 1e-12."""
    found = sources.tabulate_source_pair_comparisons(run, resamples=0)
    assert len(found) == 2 * 7
    for _, row in found.iterrows():
        one = by_hand.loc[row["model"]]
        a, b = (one.xs(row[f"{side}_source"], level="source") for side in "ab")
        common = a.index.intersection(b.index)
        a, b, measure = a.loc[common], b.loc[common], row["measure"]
        weights = (a["rows"], b["rows"]) if measure == "validity" else (None, None)
        difference = np.average(a[measure], weights=weights[0]) - np.average(b[measure], weights=weights[1])
        assert row["difference"] == pytest.approx(difference, abs=1e-12), measure
        assert row["n_items"] == len(common) == 7
        if a[measure].nunique() > 1 < b[measure].nunique():
            assert row["item_r"] == pytest.approx(pearsonr(a[measure], b[measure])[0], abs=1e-12), measure
        else:
            assert np.isnan(row["item_r"])


def test_the_interval_of_the_correlation_is_that_of_a_plain_loop():
    """Reference: numpy.corrcoef over the drawn items, one draw after the other, tolerance 1e-12."""
    rng = np.random.default_rng(2)
    a = rng.normal(size=(9, 1))
    b = a + rng.normal(size=(9, 1))
    (drawn,) = resampling.iterate_drawn_item_counts(9, 60, seed=3)
    fast = sources._correlate_two_sources_in_each_draw({"a": a, "b": b}, drawn)["r"][:, 0]
    for times, r in zip(drawn.astype(int), fast, strict=True):
        chosen = np.repeat(np.arange(9), times)
        assert r == pytest.approx(np.corrcoef(a[chosen, 0], b[chosen, 0])[0, 1], abs=1e-12)


def test_a_correlation_that_is_undefined_is_missing():
    ones = np.ones((1, 5))
    steps = np.arange(5.0)[:, None]
    assert np.isnan(sources._correlate_two_sources_in_each_draw({"a": np.full((5, 1), 0.3), "b": steps}, ones)["r"])
    assert np.isnan(sources._correlate_two_sources_in_each_draw({"a": steps[:2], "b": steps[:2]}, np.ones((1, 2)))["r"])
    assert sources._correlate_two_sources_in_each_draw({"a": steps, "b": -steps}, ones)["r"] == pytest.approx(-1)


@pytest.mark.parametrize("name", [lambda number: None, lambda number: "one", lambda number: " | "])
def test_one_source_is_nothing_to_compare(tmp_path, name):
    run = runs.open_runs(write_run(tmp_path / "run", sourced(random_frame(items=3), name)))
    for table in NAMES:
        found = tables.build_table(table, run, resamples=0)
        assert found.empty
        tables.render_table_in_text_format(table, found, "markdown")
    page = StabilityPage([str(tmp_path / "run")], resamples=0)
    assert page.section("sources", "Title").text.startswith('<p class="note nothing">')


def test_only_studies_with_several_sources_are_compared(tmp_path):
    one = write_run(tmp_path / "one", sourced(random_frame(items=3), lambda number: "a"), study="one")
    two = write_run(tmp_path / "two", sourced(random_frame(items=3), lambda n: "ab"[n % 2]), study="two")
    run = runs.open_runs(one, two)
    for table in NAMES:
        assert set(tables.build_table(table, run, resamples=0)["study"]) == {"two"}


def test_three_sources_are_compared_in_pairs(tmp_path):
    run = runs.open_runs(
        write_run(tmp_path / "run", sourced(random_frame(items=4, paraphrases=9), lambda n: "abc"[n % 3]))
    )
    found = sources.tabulate_source_pair_comparisons(run, resamples=0)
    pairs = found[["a_source", "b_source"]].drop_duplicates()
    assert pairs.to_numpy().tolist() == [["b", "c"], ["b", "a"], ["c", "a"]]
    assert len(sources.tabulate_stability_by_paraphrase_source(run, resamples=0)) == 3


def test_a_hostile_source_is_text_on_the_page(tmp_path):
    frame = sourced(random_frame(items=4), lambda n: ("<script>alert(1)</script>", "b")[n % 2])
    page = StabilityPage([str(write_run(tmp_path / "run", frame))], resamples=20)
    shown = page.section("sources", "Two").text
    assert '<h2 id="sources">Two</h2>' in shown and "&lt;script&gt;" in shown and "<script>" not in shown


def test_table_7_follows_a_printed_model(shared, tmp_path):
    file = shared / "political-compass-paraphrases" / "paraphrases_gpt3.5-turbo_temp1.json"
    texts = [entry["original_statement"] for entry in json.loads(file.read_text(encoding="utf-8"))]
    frame = random_frame(["FacebookAI/roberta-large", "another"], items=62, paraphrases=4)
    numbers = frame["item"].str[-2:].astype(int) - 1
    original = frame["variant"] == "original"
    frame["text"] = [
        texts[n] if first else f"{n} {v}" for n, first, v in zip(numbers, original, frame["variant"], strict=True)
    ]
    run = runs.open_runs(write_run(tmp_path / "run", sourced(frame, lambda n: "gpt" if n < 3 else "claude")))
    found = sources.tabulate_stability_by_paraphrase_source(run, resamples=0)
    assert found["model"].tolist() == ["FacebookAI/roberta-large"] * 4 + ["another"] * 2
    assert found["source"].tolist()[:4] == [OURS] * 2 + ["Haller et al., Table 7"] * 2
    assert found["paraphrase_source"].tolist()[:4] == ["gpt", "claude", "gpt-3.5-turbo", "claude-3-5-sonnet"]
    assert found.iloc[3][["range_mean", "sd_mean", "flip_25", "n_items"]].tolist() == [0.47, 0.08, 0.37, 56]
