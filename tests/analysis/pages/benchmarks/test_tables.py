"""Scores from files, who is who, and the table of correlations."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from analysis import runs
from analysis.__main__ import main
from analysis.errors import InputError
from analysis.pages.benchmarks import leaderboards, model_names, narrative, tables
from analysis.pages.benchmarks.catalogue import CATALOGUE
from analysis.pages.wording.tables import consistency
from analysis.reporting import tables as tables_of
from analysis.statistics import correlation
from helpers.commands import waver
from helpers.wording_runs import random_rows, write_wording

NAMES = [f"org/model-{k}" for k in range(12)]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    models = {name: {"parameters": 1000 * (k + 1) ** 2} for k, name in enumerate(NAMES)}
    rows = random_rows(NAMES, items=25, skill=np.linspace(0.2, 2.5, 12), seed=2)
    return write_wording(tmp_path_factory.mktemp("benchmarks") / "run", rows, models=models)


@pytest.fixture
def scores(tmp_path):
    rng = np.random.default_rng(3)
    frame = pd.DataFrame({"model": NAMES[:11], "MT": np.arange(11) + rng.normal(0, 1, 11), "note": "x"})
    frame["GPQA"] = rng.normal(size=11)
    frame.to_csv(tmp_path / "scores.csv", index=False)
    return tmp_path / "scores.csv"


@pytest.mark.parametrize(
    ("models", "given", "why"),
    [
        (4, {}, ""),
        (3, {}, "at most 3 of the models were asked in the same way, and it needs 4"),
        (3, {"scores": "s.csv"}, ""),
    ],
)
def test_a_page_without_any_correlation_is_not_made(models, given, why, tmp_path):
    """Six models, but of each condition only three: none of the 144 correlations was known, and the page was made."""
    rows = random_rows(NAMES[:models], items=4, seed=1)
    other = random_rows([f"{name}-tuned" for name in NAMES[:3]], items=4, conditions=["chat/4-shot"], seed=1)
    run = runs.open(write_wording(tmp_path / "run", pd.concat([rows, other], ignore_index=True)))
    assert CATALOGUE.unwanted(run, given) == why


def test_models_that_were_each_asked_in_their_own_form_are_correlated_together(tmp_path):
    """Four base models in plain text and four tuned ones in chat are eight; a model in both forms keeps forms apart."""
    base, tuned = NAMES[:4], [f"{name}-tuned" for name in NAMES[:4]]
    sizes = {name: {"parameters": 10 ** (3 + k % 4)} for k, name in enumerate([*base, *tuned])}
    rows = pd.concat([
        random_rows(base, items=12, conditions=["plain/0-shot", "plain/4-shot"], seed=1),
        random_rows(tuned, items=12, conditions=["chat/0-shot", "chat/4-shot"], seed=2),
    ], ignore_index=True)  # fmt: skip
    run = runs.open(write_wording(tmp_path / "own", rows, models=sizes))
    values = tables.measured(run)
    assert values["condition"].unique().tolist() == ["own form/0-shot", "own form/4-shot"]
    assert values.groupby("condition")["model"].nunique().tolist() == [8, 8]
    alone = consistency(run, resamples=0).set_index(["model", "condition", "pattern"])["consistency"]
    one = values.query("measure == 'consistency' and pattern == 'antonym' and model == @tuned[2]")
    assert one["value"].tolist() == [alone[tuned[2], f"chat/{shots}-shot", "antonym"] for shots in (0, 4)]
    assert set(tables.benchmarks(run).query("measure == 'consistency'")["n"]) == {8}

    twice = pd.concat([rows, random_rows(tuned[:1], items=12, conditions=["plain/0-shot"], seed=3)], ignore_index=True)
    apart = tables.measured(runs.open(write_wording(tmp_path / "both", twice, models=sizes)))
    assert set(apart["condition"]) == {"plain/0-shot", "chat/0-shot", "own form/4-shot"}

    other = {"chat/4-shot": {"exemplars_hash": "x"}}
    unlike = tables.measured(runs.open(write_wording(tmp_path / "unlike", rows, models=sizes, conditions=other)))
    assert "plain/4-shot" in unlike["condition"].tolist()


def test_the_table_holds_scipys_numbers(folder, scores):
    run = runs.open(folder)
    table = tables.benchmarks(run, scores=str(scores), score_columns="all")
    values = tables.measured(run).query("measure == 'consistency' and pattern == 'antonym'").set_index("model")
    mt = pd.read_csv(scores).set_index("model")["MT"].reindex(values.index)
    both = pd.concat([values["value"], mt], axis=1).dropna()
    key = (table["measure"] == "consistency") & (table["pattern"] == "antonym") & (table["benchmark"] == "MT")
    found = table[key].set_index("method")
    assert found.loc["spearman", "r"] == pytest.approx(stats.spearmanr(both["value"], both["MT"]).statistic, abs=1e-12)
    assert found.loc["pearson", "p"] == pytest.approx(stats.pearsonr(both["value"], both["MT"]).pvalue, rel=1e-9)
    assert set(found["n"]) == {11}
    size = np.log10(values["parameters"])
    given = correlation.coefficient(values["value"], mt, given=size)
    assert found.loc["pearson given size", "r"] == pytest.approx(given.r, abs=1e-12)


def test_a_model_that_hardly_answers_is_in_no_coefficient_and_named(tmp_path):
    """Nine of ten answers of the first model are made invalid: the coefficients are those of the other models."""
    rows = random_rows(NAMES[:6], items=30, invalid=0.0, seed=5)
    models = {name: {"parameters": 1000 * (k + 1)} for k, name in enumerate(NAMES[:6])}
    quiet = (rows["model"] == NAMES[0]) & (rows["item"].str[-1] != "0")
    rows["answer"] = rows["answer"].mask(quiet, None)
    run = runs.open(write_wording(tmp_path / "run", rows, models=models))
    values = tables.measured(run)
    assert values.loc[values["silent"], "model"].unique().tolist() == [NAMES[0]]
    assert values.loc[values["silent"] & (values["measure"] == "consistency"), "value"].notna().all()
    table = tables.benchmarks(run)
    assert set(table.loc[table["method"] == "spearman", "n"]) == {5}
    chosen = values.query("measure == 'consistency' and pattern == 'synonym' and not silent")
    row = table.query("measure == 'consistency' and pattern == 'synonym' and benchmark == 'parameters'")
    expected = stats.spearmanr(chosen["value"], chosen["parameters"]).statistic
    assert row.set_index("method").loc["spearman", "r"] == pytest.approx(expected, abs=1e-12)
    frames = {name: tables_of.build(name, run) for name in narrative.TABLES}
    assert any(line.startswith(f"{NAMES[0]}: left out where less") for line in narrative.answer(frames).cautions)


def test_size_and_accuracy_are_compared_like_the_benchmarks(folder, scores):
    table = tables.benchmarks(runs.open(folder), scores=str(scores), score_columns="MT,GPQA")
    assert set(table["benchmark"]) == {"MT", "GPQA", "parameters", "accuracy"}
    assert set(table.loc[table["task"] == "all", "measure"]) == {"overall"}
    assert table.query("measure == 'overall' and benchmark == 'accuracy'").empty
    assert table.query("benchmark == 'parameters' and method.str.contains('given')").empty
    for _, family in table.groupby("method"):
        assert (family["p_holm"] >= family["p"] - 1e-15).all()
    assert set(tables.benchmarks(runs.open(folder))["benchmark"]) == {"parameters", "accuracy"}


def test_the_matrix_has_the_papers_rows(folder, scores):
    table = tables.benchmark_matrix(runs.open(folder), scores=str(scores), score_columns="all")
    order = list(dict.fromkeys([*table["measure_a"], *table["measure_b"]]))
    patterns = ["synonym", "antonym", "agreement", "strong agreement"]
    assert order == ["MT", "GPQA", "parameters", "accuracy", *(f"consistency ({name})" for name in patterns)]
    assert len(table) == 2 * 28


def test_few_models_are_marked_and_fewer_than_four_refused(tmp_path):
    rows = random_rows(["a", "b", "c"], items=6)
    table = tables.benchmarks(runs.open(write_wording(tmp_path / "three", rows)))
    assert table["r"].isna().all()
    assert table["caution"].str.startswith("refused").all()
    rows = random_rows(list("abcde"), items=8, seed=5)
    models = {name: {"parameters": 10**k} for k, name in enumerate("abcde")}
    table = tables.benchmarks(runs.open(write_wording(tmp_path / "five", rows, models=models)))
    assert set(table["caution"]) == {"few: fewer than 10 models"}


def test_the_command_line_has_the_columns_it_promises(folder, scores, tmp_path, capsys):
    (tmp_path / "aliases.csv").write_text(f"model,alias\n{NAMES[11]},{NAMES[0]}\n", encoding="utf-8")
    given = ["-p", f"scores={scores}", "-p", "score_columns=MT,GPQA", "-p", f"aliases={tmp_path / 'aliases.csv'}"]
    done = waver("analysis", "table", folder, "benchmarks", *given)
    header = done.stdout.splitlines()[0].split(",")
    promised = [
        "measure",
        "benchmark",
        "language",
        "task",
        "condition",
        "method",
        "n",
        "r",
        "lower",
        "upper",
        "p",
        "p_holm",
    ]
    assert set(promised) <= set(header)
    status = main(["table", str(folder), "benchmarks", "-p", f"scores={tmp_path / 'none.csv'}"])
    error = capsys.readouterr().err
    assert status == 2
    assert error.count("\n") == 1 and "none.csv: cannot be read" in error


def test_scores_from_yaml_and_sizes_in_billions(tmp_path):
    (tmp_path / "s.yaml").write_text("a/b: {MT: 7.5, params: 7}\nc: {MT: 8, GPQA: 0.3, params: 0}\n", encoding="utf-8")
    found = leaderboards.load(tmp_path / "s.yaml", "all")
    assert list(found.frame) == ["MT", "GPQA"]
    assert np.isnan(found.frame.loc["a/b", "GPQA"])
    assert found.parameters["a/b"] == 7e9
    assert np.isnan(found.parameters["c"])


def test_columns_without_numbers_are_named(scores):
    assert leaderboards.load(scores, "all").ignored == ("note",)


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("s.csv", "who,MT\na,1\n", "no column with the model's name"),
        ("s.csv", "model,note\na,x\n", "no column of scores"),
        ("s.csv", "model,MT\na,1\n,2\n", "line 3: column 'model' is empty"),
        ("s.yaml", "[1, 2]", "maps model names"),
        ("s.yaml", "a: [", "not valid YAML"),
        ("s.yaml", json.dumps([{"id": "a", "results": {"g": {"MT": "high"}}}]), "'high' is not a finite number"),
        ("s.txt", "a", "are read from .csv, .yaml or .yml"),
    ],
)
def test_files_that_hold_no_scores_are_refused_in_one_line(tmp_path, name, text, message):
    (tmp_path / name).write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=message) as error:
        leaderboards.load(tmp_path / name)
    assert str(error.value).startswith(str(tmp_path)) and "\n" not in str(error.value)


def test_names_match_by_alias_by_case_and_without_organisation():
    table = model_names.match(
        ["Org/One", "two", "org/three", "mine"], ["org/one", "lab/Two", "elsewhere/three", "theirs"], {"mine": "theirs"}
    ).set_index("model")
    assert table.loc["Org/One", ["matched", "by"]].tolist() == ["org/one", "name"]
    assert table.loc["two", ["matched", "by"]].tolist() == ["lab/Two", "name without organisation"]
    assert table.loc["mine", ["matched", "by"]].tolist() == ["theirs", "alias"]
    # two organisations: not the same model, but near enough to be named
    assert table.loc["org/three", ["matched", "nearest"]].tolist() == ["", "elsewhere/three"]
    assert table.loc["elsewhere/three", ["side", "nearest"]].tolist() == ["scores", "org/three"]


def test_two_of_a_name_match_nothing_without_their_organisation():
    table = model_names.match(["m"], ["a/m", "b/m"])
    assert table.loc[table["side"] == "runs", "matched"].tolist() == [""]


def test_an_alias_for_nobody_is_refused_with_the_nearest_name(tmp_path):
    with pytest.raises(InputError, match="nearest is 'org/model'"):
        model_names.match(["m"], ["org/model", "other"], {"m": "org/modle"})
    (tmp_path / "a.csv").write_text("model,alias\nm,a\nm,b\n", encoding="utf-8")
    with pytest.raises(InputError, match="'m' has two aliases"):
        model_names.read_aliases(tmp_path / "a.csv")
    (tmp_path / "a.yaml").write_text("m: a\n", encoding="utf-8")
    assert model_names.read_aliases(tmp_path / "a.yaml") == {"m": "a"}


def test_misspelt_names_are_listed_with_the_nearest_right_one(shared):
    """3 % of 4,497 names with a letter dropped, added or two swapped: unmatched on both sides, nearest name right."""
    names = list(leaderboards.load(shared / "open-llm-leaderboard" / "huggingface_v2.csv", rows="best").frame.index)
    rng = np.random.default_rng(0)
    mine, wrong = list(names), {}
    for place in rng.choice(len(names), len(names) * 3 // 100, replace=False):
        name, k = names[place], int(rng.integers(1, len(names[place]) - 1))
        mine[place] = [name[:k] + name[k + 1 :], name[:k] + "~" + name[k:],
                       name[: k - 1] + name[k] + name[k - 1] + name[k + 1 :]][place % 3]  # fmt: skip
        if mine[place].casefold() not in {n.casefold() for n in (name,)} and mine[place] not in names:
            wrong[mine[place]] = name
    table = model_names.match(mine, names)
    lost = table[(table["side"] == "runs") & (table["matched"] == "")].set_index("model")
    assert set(lost.index) == set(wrong)
    right = np.mean([lost.loc[name, "nearest"] == original for name, original in wrong.items()])
    assert right > 0.97
    free = table[table["side"] == "scores"]
    assert set(wrong.values()) <= set(free["model"])


@pytest.mark.parametrize(("file", "models", "columns"), [("model_v1.0.yml", 155, 32), ("model_v2_HEAD.yml", 118, 57)])
def test_the_swallow_leaderboard_has_gaps_not_negative_scores(shared, file, models, columns):
    found = leaderboards.load(shared / "swallow-leaderboard" / file)
    assert found.frame.shape == (models, columns)
    assert found.frame.isna().to_numpy().any()
    assert (found.frame.min() >= 0).all()
    assert found.frame.index.is_unique
    assert found.parameters.isna().any()
