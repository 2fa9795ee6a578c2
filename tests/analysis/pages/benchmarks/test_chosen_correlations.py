"""Chosen measures against scores from a frame or a file: as scipy and pingouin compute them, and as the page does."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import waver
from analysis import runs
from analysis.pages.benchmarks.chosen_correlations import COLUMNS, correlate_chosen_measures_with_scores
from analysis.statistics.multiplicity import holm
from ground.errors import InputError
from helpers.synthetic import random_frame, write_run

MODELS = [f"org/model-{number}" for number in range(12)]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    sizes = {name: {"parameters": 1000 * (number + 1) ** 2} for number, name in enumerate(MODELS)}
    frame = random_frame(MODELS, items=6, paraphrases=5, seed=3).assign(mass=0.9)
    return write_run(tmp_path_factory.mktemp("chosen") / "run", frame, models=sizes)


@pytest.fixture(scope="module")
def run(folder):
    return runs.open_runs(folder)


@pytest.fixture(scope="module")
def scores():
    rng = np.random.default_rng(5)
    return pd.DataFrame({"model": MODELS, "MT": rng.normal(size=12), "GPQA": rng.normal(size=12), "note": "x"})


@pytest.fixture(scope="module")
def values():
    """Two measures of one's own."""
    rng = np.random.default_rng(6)
    return pd.DataFrame({"gini": rng.normal(size=12), "skew": rng.normal(size=12)}, index=MODELS)


@pytest.mark.parametrize(("method", "reference"), [("pearson", stats.pearsonr), ("spearman", stats.spearmanr)])
def test_plain_correlations_are_those_of_scipy(run, values, scores, method, reference):
    table = correlate_chosen_measures_with_scores(run, values, scores, method=method)
    assert tuple(table) == COLUMNS
    assert list(zip(table["measure"], table["score"], strict=True)) == [
        ("gini", "MT"), ("gini", "GPQA"), ("skew", "MT"), ("skew", "GPQA")
    ]  # fmt: skip
    for row in table.to_dict("records"):
        expected = reference(values[row["measure"]], scores[row["score"]])
        assert row["r"] == pytest.approx(expected.statistic, abs=1e-12)
        assert row["p"] == pytest.approx(expected.pvalue, abs=1e-12)
        assert row["n"] == 12
    np.testing.assert_allclose(table["p_holm"], holm(table["p"]))
    assert (table["given"] == "").all()


@pytest.mark.slow
@pytest.mark.parametrize("method", ["pearson", "spearman"])
@pytest.mark.parametrize("given", ["size", "GPQA"])
def test_partial_correlations_are_those_of_pingouin(run, values, scores, method, given):
    pingouin = pytest.importorskip("pingouin")
    table = correlate_chosen_measures_with_scores(run, values, scores, method=method, given=given)
    size = np.log10([1000 * (number + 1) ** 2 for number in range(12)])
    data = scores.set_index("model").assign(size=size, gini=values["gini"], skew=values["skew"])
    assert given not in set(table["score"])
    for row in table.to_dict("records"):
        expected = pingouin.partial_corr(data, row["measure"], row["score"], given, method=method)
        assert row["r"] == pytest.approx(expected["r"].iloc[0], abs=1e-12)
        name = "p_val" if "p_val" in expected else "p-val"
        assert row["p"] == pytest.approx(expected[name].iloc[0], abs=1e-12)
        assert row["given"] == given


def test_models_without_a_score_are_left_out_and_too_few_are_refused(run, values, scores):
    table = correlate_chosen_measures_with_scores(run, values, scores[:5], score_columns="MT")
    assert (table["n"] == 5).all()
    assert (table["caution"] == "few: fewer than 10 models").all()
    few = correlate_chosen_measures_with_scores(run, values, scores[:3])
    assert few["r"].isna().all()
    assert few["p_holm"].isna().all()
    assert (few["caution"] == "refused: fewer than 4 models").all()


@pytest.mark.slow
@pytest.mark.parametrize("given", [None, "size"])
def test_named_measures_are_those_of_the_page(folder, scores, tmp_path, given):
    file, aliases = tmp_path / "scores.csv", tmp_path / "aliases.csv"
    scores.assign(model=[f"m{number}" for number in range(12)]).to_csv(file, index=False)
    pairs = [f"{name},m{number}" for number, name in enumerate(MODELS)]
    aliases.write_text("\n".join(["model,alias", *pairs]), encoding="utf-8")
    run = waver.open(folder)
    options = {"score_columns": "MT,GPQA", "aliases": str(aliases)}
    ours = run.correlate(["Range", "Flips > 5 %"], str(file), "pearson", given=given, **options)
    page = run.table("benchmarks", scores=str(file), **options)
    page = page[page["method"] == ("pearson given size" if given else "pearson")].rename(columns={"benchmark": "score"})
    page = page[page["score"] != "parameters"]
    shared = ["r", "lower", "upper", "p", "n", "caution"]
    key = ["measure", "score"]
    merged = ours[[*key]].merge(page, on=key)
    pd.testing.assert_frame_equal(ours[shared], merged[shared], check_exact=True)
    assert len(ours) == 4


def test_columns_of_a_frame_are_chosen_as_those_of_a_file(run, values, scores):
    frame = scores.assign(tuned=[True, False] * (len(scores) // 2)).rename(columns={"GPQA": "GPQA, hard"})
    for columns, names in (("", {"MT", "GPQA, hard"}), ("all", {"MT", "GPQA, hard"}), ('"GPQA, hard"', {"GPQA, hard"})):
        found = correlate_chosen_measures_with_scores(run, values, frame, score_columns=columns)
        assert set(found["score"]) == names


@pytest.mark.parametrize(
    ("change", "line"),
    [
        ({"measures": "Rang"}, r"there is no measure 'Rang' \(the nearest is 'Range'\); there are Range"),
        ({"measures": []}, "measures is empty"),
        ({"measures": 5}, "measures: expected names or a DataFrame, not 5"),
        ({"scores": None}, "scores: expected a file or a DataFrame, not NoneType"),
        ({"scores": pd.DataFrame({"model": MODELS, "MT": range(12), "parameters": "7B"})}, "write it in numbers"),
        ({"scores": pd.DataFrame({"model": MODELS, "MT": range(12)}), "given": "MT"}, "given = 'MT' is the only score"),
        ({"given": ["size"]}, r"given = \['size'\] is not known"),
        ({"method": "kendall"}, "method 'kendall' is not known; the methods are pearson and spearman"),
        ({"given": "sise"}, r"given = 'sise' is not known \(the nearest is 'size'\); it is size, MT, GPQA"),
        ({"score_columns": "note"}, "scores: no column 'note' of numbers; there are MT, GPQA"),
        ({"scores": "missing.csv"}, "missing.csv: cannot be read"),
        ({"scores": pd.DataFrame({"model": MODELS})}, "scores: no column of numbers"),
        ({"scores": pd.DataFrame({"MT": [1.0, 2.0]})}, "scores: no model in it; name the models in a column model"),
        ({"scores": pd.DataFrame({"model": ["a", "a"], "MT": [1, 2]})}, "scores: model 'a' has two rows"),
        ({"scores": pd.DataFrame({"model": ["a", "b"], "MT": [1, 2]})}, "none of the 12 models with a measure"),
    ],
)
@pytest.mark.slow
def test_bad_input_is_one_line(run, values, scores, change, line):
    call = {"measures": values, "scores": scores, **change}
    with pytest.raises(InputError, match=line) as error:
        correlate_chosen_measures_with_scores(run, call.pop("measures"), call.pop("scores"), **call)
    assert "\n" not in str(error.value)
