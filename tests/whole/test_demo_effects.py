"""What the card says of the demo models is what the tables of a report find: real models, real questions, few items."""

from __future__ import annotations

import pytest

from analysis import runs
from analysis.reporting.catalogue import tables
from demo_training import benchmarks
from helpers.commands import waver
from inference.demo import FAMILY

pytestmark = pytest.mark.slow

pytest.importorskip("torch")
CAUSAL = [name for name, about in FAMILY.items() if about.family == "causal"]


@pytest.fixture(scope="module")
def asked(tmp_path_factory):
    """All causal models, asked 40 questions as they stand and in four other wordings."""
    folder = tmp_path_factory.mktemp("wording") / "run"
    waver(
        "inference",
        "run",
        "wording",
        "--items",
        "demo",
        "--model",
        "demo",
        "--sample",
        "40",
        "--balanced",
        "--out",
        folder,
    )
    return runs.open_runs(folder)


@pytest.fixture(scope="module")
def consistency(asked):
    table = tables.build_table("consistency", asked, resamples=0)
    return table.set_index(["model", "pattern"])["consistency"]


def test_the_fewer_turning_words_a_size_heeds_the_more_antonyms_it_answers_as_the_opposite(consistency):
    """40 fair coins fall alike in 12 cases or fewer less than once in a hundred such tests."""
    for suffix in ("", "-tuned"):
        mini, small, medium, large = (
            consistency[f"waver-demo-{size}{suffix}", "antonym"] for size in ("mini", "small", "medium", "large")
        )
        assert mini <= 0.3
        assert mini < small < min(medium, large) - 0.2
        assert min(medium, large) >= 0.5
    for name in CAUSAL:
        assert consistency[name, "synonym"] >= 0.7, name


def test_all_models_are_correlated_with_size_accuracy_and_three_benchmarks(asked):
    given = {"scores": str(benchmarks.FILE), "score_columns": "all"}
    table = tables.build_table("benchmarks", asked, **given)
    known = table[(table["measure"] == "Consistency (antonyms)") & (table["method"] == "pearson")].dropna(subset=["r"])
    assert set(known["benchmark"]) == {*benchmarks.BENCHMARKS, "parameters", "accuracy"}
    assert len(CAUSAL) >= 8
    assert set(known["n"]) == {len(CAUSAL)}
    antonym = known.set_index("benchmark")["r"]
    assert antonym["parameters"] > 0.8
    assert antonym["facts"] > 0.8
