"""Files of scores: what is a model, what is a benchmark, what is a number; and every fault in one line."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from analysis import runs
from analysis.pages.benchmarks import captions, model_names
from analysis.pages.benchmarks.leaderboards import read_benchmark_scores
from analysis.pages.benchmarks.page import BenchmarksPage
from analysis.pages.benchmarks.tables import tabulate_correlations_between_benchmarks
from analysis.reporting.catalogue import tables
from ground.errors import InputError
from helpers.wording_runs import random_rows, write_wording

pytestmark = pytest.mark.slow

SEVERAL = """model,precision,date,seed,MT,GPQA
a,float16,2024-05-01,1,5,0.9
b,float16,2024-05-01,1,7,0.2
a,bfloat16,2024-06-01,2,6,0.3
c,float16,2024-05-01,3,1,
a,int8,2024-03-01,3,4,0.6
d,float16,2024-05-01,4,2,0.4
"""


@pytest.fixture
def several(tmp_path):
    (tmp_path / "s.csv").write_text(SEVERAL, encoding="utf-8")
    return tmp_path / "s.csv"


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    rows = random_rows(list("abcd"), items=12, skill=[0.2, 0.8, 1.5, 2.5], seed=3)
    return write_wording(tmp_path_factory.mktemp("wording") / "run", rows)


@pytest.fixture(scope="module")
def open_llm(shared):
    return shared / "open-llm-leaderboard" / "huggingface_v2.csv"


@pytest.mark.parametrize(
    ("rule", "wanted"), [("best", [6, 0.3]), ("mean", [5, 0.6]), ("newest", [6, 0.3])]
)  # fmt: skip
def test_several_rows_of_a_model_are_one_by_the_rule_that_was_asked_for(several, rule, wanted):
    found = read_benchmark_scores(several, "MT,GPQA", rule)
    assert list(found.frame.index) == ["a", "b", "c", "d"]
    assert found.frame.loc["a"].tolist() == pytest.approx(wanted)
    assert found.rows.tolist() == [3, 1, 1, 1]
    assert found.joined_row_count_sentence == f"6 rows of 4 models; 3 rows of 1 model were joined ({rule})"


def test_best_and_newest_are_different_rows(tmp_path):
    (tmp_path / "s.csv").write_text("model,date,MT\na,2024-01-01,3\na,2024-02-01,1\nb,,2\n", encoding="utf-8")
    assert read_benchmark_scores(tmp_path / "s.csv", "MT", "best").frame["MT"].tolist() == [3, 2]
    assert read_benchmark_scores(tmp_path / "s.csv", "MT", "newest").frame["MT"].tolist() == [1, 2]


def test_rows_are_never_counted_as_models(open_llm):
    """4,576 rows of 4,497 models: n was 4,576. Against pandas and scipy on the raw file."""
    raw = pd.read_csv(open_llm, low_memory=False, float_precision="round_trip")
    names = {"BBH": "evaluations_bbh_value", "MMLU-PRO": "evaluations_mmlu_pro_value"}
    averages = [c for c in raw if c.startswith("evaluations_") and c.endswith("_value")] + ["model_average_score"]
    raw["mean"] = raw[averages].mean(axis=1)
    wanted = {
        "best": raw.loc[raw.groupby("model_name")["mean"].idxmax()],
        "mean": raw.groupby("model_name")[list(names.values())].mean(),
    }
    for rule, one in wanted.items():
        found = read_benchmark_scores(open_llm, join_rule=rule)
        assert found.frame.shape == (raw["model_name"].nunique(), 7) == (4497, 7)
        assert found.rows.sum() == len(raw) == 4576
        table = matrix(open_llm, rule)
        r = table.query("measure_a == 'BBH' and measure_b == 'MMLU-PRO' and method == 'spearman'").iloc[0]
        assert (r["n"], r["rows"], r["joined_by"]) == (4497, 4576, rule)
        # Means of equal numbers differ in their last digit; ranks are of the numbers.
        expected = stats.spearmanr(*(one[name].round(12) for name in names.values())).statistic
        assert r["r"] == pytest.approx(expected, abs=1e-14)
    newest = read_benchmark_scores(open_llm, join_rule="newest")
    assert newest.frame.shape == (4497, 7) and int(newest.parameters.isna().sum()) <= 10


def matrix(scores, rule, columns=""):
    class Kept:
        """All that `score_matrix` asks of runs."""

        @staticmethod
        def compute_once(_, make):
            return make()

    return tabulate_correlations_between_benchmarks(Kept, scores=str(scores), score_rows=rule, score_columns=columns)


def test_templates_and_shots_are_rows_of_a_model_and_no_benchmarks(shared):
    """60 models in 6,000 rows: shots, template and n were correlated with accuracy over n = 6,000 "models"."""
    file = shared / "noreval" / "accuracy_by_template.csv"
    raw = pd.read_csv(file)
    with pytest.raises(InputError, match=r"say which columns are benchmarks, as in -p score_columns=.*accuracy"):
        read_benchmark_scores(file)
    with pytest.raises(InputError, match=r"model '.*' has \d+ rows; say what one row of it is: -p score_rows=best, me"):
        read_benchmark_scores(file, "accuracy")
    found = read_benchmark_scores(file, "accuracy", "mean")
    assert found.frame["accuracy"].to_dict() == pytest.approx(raw.groupby("model")["accuracy"].mean().to_dict())
    assert found.ignored == ("task", "shots", "template", "n")


def test_a_number_is_a_benchmark_only_where_it_was_named_or_confirmed(several, run):
    with pytest.raises(InputError, match=r"score_columns=seed,MT,GPQA"):
        read_benchmark_scores(several, join_rule="mean")
    assert list(read_benchmark_scores(several, "all", "mean").frame) == ["seed", "MT", "GPQA"]
    found = read_benchmark_scores(several, "GPQA", "mean")
    assert list(found.frame) == ["GPQA"] and found.ignored == ("precision", "seed", "MT")
    opened = runs.open_runs(run)
    table = tables.build_table("benchmarks", opened, scores=str(several), score_columns="MT", score_rows="best")
    assert set(table["benchmark"]) == {"MT", "accuracy", "parameters"}
    assert table.loc[table["benchmark"] == "MT", ["n", "rows", "joined_by"]].drop_duplicates().to_numpy().tolist() == [
        [4, 6, "best"]
    ]
    assert set(table.loc[table["benchmark"] != "MT", "joined_by"]) == {""}


def test_page_and_captions_say_how_many_rows_were_joined(several, run):
    page = BenchmarksPage(
        [str(run)], scores=str(several), score_columns="MT,GPQA", score_rows="mean", invalid="dropped"
    )
    said = "{} rows of the file are {} models here: several rows of one model were joined to one (mean)."
    frame = page.frame("score_matrix")
    assert said.format(5, 3) in captions.caption_coefficients(frame[frame["method"] == "pearson"])
    frame = page.frame("benchmark_matrix")
    assert said.format(6, 4) in captions.caption_coefficients(frame[frame["method"] == "pearson"])
    page.answer()
    assert said.format(6, 4) in page.cautions().text.replace("\N{NO-BREAK SPACE}", " ")
    assert "3 rows of 1 model were joined (mean)" in page.provenance().text
    assert "not used: precision, seed" in page.provenance().text


def test_a_file_with_one_row_per_model_joins_nothing(tmp_path):
    (tmp_path / "s.yaml").write_text("a: {MT: 1, GPQA: 2}\nb: {MT: 2, GPQA: 1}\n", encoding="utf-8")
    frame = matrix(tmp_path / "s.yaml", "mean", "all")
    assert frame["joined_by"].eq("").all() and frame["rows"].tolist() == [2, 2]
    assert "joined" not in captions.caption_coefficients(frame[frame["method"] == "pearson"])


def test_what_stands_for_no_score_and_what_is_none(tmp_path):
    (tmp_path / "s.csv").write_text("\ufeffmodel, MT ,GPQA\n None , 1 ,NaN\nb,2.5e-1,n/a\nc,-3,0.5\n", encoding="utf-8")
    found = read_benchmark_scores(tmp_path / "s.csv", "MT,GPQA")
    assert found.frame["MT"].to_dict() == {"None": 1.0, "b": 0.25, "c": -3.0}
    assert found.frame["GPQA"].isna().tolist() == [True, True, False]


def test_the_newest_row_needs_dates_and_the_sizes_go_with_the_rows(tmp_path):
    (tmp_path / "s.csv").write_text(
        "model,params,date,MT\na,7,2024-01-01,1\na,8,2024-01-02T10:00:00Z,2\nb,0,never,3\n", encoding="utf-8"
    )
    found = read_benchmark_scores(tmp_path / "s.csv", "MT", "newest")
    assert found.parameters.to_dict() == pytest.approx({"a": 8e9, "b": np.nan}, nan_ok=True)


def test_aliases_in_csv_and_yaml_are_the_same(tmp_path):
    (tmp_path / "a.csv").write_text("\ufeffalias,model,note\nx,m,\n y , n ,z\n", encoding="utf-8")
    (tmp_path / "a.yaml").write_text("m: x\nn: 'y'\n", encoding="utf-8")
    assert model_names.read_alias_by_run_model(tmp_path / "a.csv") == {"m": "x", "n": "y"}
    assert model_names.read_alias_by_run_model(tmp_path / "a.yaml") == {"m": "x", "n": "y"}


def test_aliases_without_scores_are_told(run, tmp_path):
    for option in ("aliases", "score_columns", "score_rows"):
        with pytest.raises(InputError, match=f"{option} is given without a file of scores"):
            tables.build_table("benchmarks", runs.open_runs(run), **{option: "x"})
