"""Scores from files, who is who, and the table of correlations."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from analysis import runs
from analysis.__main__ import main
from analysis.pages.benchmarks import leaderboards, model_names, narrative, tables
from analysis.pages.benchmarks.catalogue import CATALOGUE
from analysis.pages.wording.tables import tabulate_answer_consistency_by_wording_kind
from analysis.reporting.catalogue import tables as tables_of
from analysis.statistics import correlation
from ground.errors import InputError
from helpers.commands import waver
from helpers.wording_runs import random_rows, write_wording

pytestmark = pytest.mark.slow

NAMES = [f"org/model-{k}" for k in range(12)]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    models = {name: {"parameters": 1000 * (k + 1) ** 2} for k, name in enumerate(NAMES)}
    rows = random_rows(NAMES, items=25, skill=np.linspace(0.2, 2.5, 12), seed=2)
    return write_wording(tmp_path_factory.mktemp("benchmarks") / "run", rows, models=models)


@pytest.fixture(scope="module")
def run(folder):
    """Opened once: it keeps its measures."""
    return runs.open_runs(folder)


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
        (3, {}, "it needs 4 models that were asked in the same way; there are at most 3"),
        (3, {"scores": "s.csv"}, ""),
    ],
)
def test_a_page_without_any_correlation_is_not_made(models, given, why, tmp_path):
    """Six models, but of each condition only three: none of the 144 correlations was known, and the page was made."""
    rows = random_rows(NAMES[:models], items=4, seed=1)
    other = random_rows([f"{name}-tuned" for name in NAMES[:3]], items=4, conditions=["chat/4-shot"], seed=1)
    run = runs.open_runs(write_wording(tmp_path / "run", pd.concat([rows, other], ignore_index=True)))
    assert CATALOGUE.explain_no_data(run, given) == why


def values_of(run, measure):
    """The values of a measure that are correlated, by model."""
    found = tables.tabulate_measures_by_model_and_condition(run)
    return found[found["compared"] & (found["measure"] == measure)].set_index("model")


def test_models_that_were_each_asked_in_their_own_form_are_correlated_together(tmp_path):
    """Four base models in plain text and four tuned ones in chat are eight; what differs in more stays apart."""
    base, tuned = NAMES[:4], [f"{name}-tuned" for name in NAMES[:4]]
    sizes = {name: {"parameters": 10 ** (3 + k % 4)} for k, name in enumerate([*base, *tuned])}
    rows = pd.concat([
        random_rows(base, items=12, conditions=["plain/0-shot", "plain/4-shot"], seed=1),
        random_rows(tuned, items=12, conditions=["chat/0-shot", "chat/4-shot"], seed=2),
    ], ignore_index=True)  # fmt: skip
    run = runs.open_runs(write_wording(tmp_path / "own", rows, models=sizes))
    values = tables.tabulate_measures_by_model_and_condition(run)
    assert values["condition"].unique().tolist() == ["own form/0-shot", "own form/4-shot"]
    assert values.groupby("condition")["model"].nunique().tolist() == [8, 8]
    alone = tabulate_answer_consistency_by_wording_kind(run, resamples=0).set_index(["model", "condition", "pattern"])[
        "consistency"
    ]
    one = values_of(run, "Consistency (antonyms)")["value"]
    assert one[tuned[2]] == alone[tuned[2], "chat/0-shot", "antonym"]
    assert one[base[2]] == alone[base[2], "plain/0-shot", "antonym"]
    table = tables.tabulate_measure_benchmark_correlations(run)
    assert set(table.query("page == 'wording' and benchmark == 'parameters'")["n"]) == {8}


@pytest.mark.parametrize("name", ["benchmarks", "benchmark_matrix"])
def test_a_wrong_file_of_scores_is_refused_before_any_measure_is_computed(name, folder, tmp_path, monkeypatch):
    monkeypatch.setattr(tables, "collect_measures", lambda *_: pytest.fail("measures were computed"))
    (tmp_path / "s.csv").write_text("", encoding="utf-8")
    with pytest.raises(InputError, match="empty"):
        tables_of.build_table(name, runs.open_runs(folder), scores=str(tmp_path / "s.csv"))


@pytest.mark.parametrize("name", ["benchmarks", "benchmark_matrix"])
def test_a_missing_file_of_aliases_is_named_before_any_measure_is_computed(name, folder, scores, tmp_path, monkeypatch):
    monkeypatch.setattr(tables, "collect_measures", lambda *_: pytest.fail("measures were computed"))
    options = {"scores": str(scores), "score_columns": "MT", "aliases": str(tmp_path / "aliases.csv")}
    with pytest.raises(InputError, match=r"aliases\.csv"):
        tables_of.build_table(name, runs.open_runs(folder), **options)


def test_a_benchmark_that_is_called_accuracy_keeps_apart_from_that_on_the_same_items(run, scores):
    """There were two rows of one name, and sentences about both."""
    options = {"scores": str(scores), "score_columns": "GPQA"}
    plain = tables.tabulate_measure_benchmark_correlations(run, **options)
    pd.read_csv(scores).rename(columns={"GPQA": "accuracy"}).to_csv(scores.with_name("named.csv"), index=False)
    options = {"scores": str(scores.with_name("named.csv")), "score_columns": "accuracy"}
    named = tables.tabulate_measure_benchmark_correlations(run, **options)
    pd.testing.assert_frame_equal(named, plain.replace({"benchmark": {"GPQA": "accuracy of the file"}}))
    assert "accuracy of the file" in set(tables.tabulate_correlations_of_all_pairs(run, **options)["measure_a"])


def test_the_table_holds_scipys_numbers(run, scores):
    table = tables.tabulate_measure_benchmark_correlations(run, scores=str(scores), score_columns="all")
    values = values_of(run, "Consistency (antonyms)")
    mt = pd.read_csv(scores).set_index("model")["MT"].reindex(values.index)
    both = pd.concat([values["value"], mt], axis=1).dropna()
    key = (table["measure"] == "Consistency (antonyms)") & (table["benchmark"] == "MT")
    found = table[key].set_index("method")
    assert found.loc["spearman", "r"] == pytest.approx(stats.spearmanr(both["value"], both["MT"]).statistic, abs=1e-12)
    assert found.loc["pearson", "r"] == pytest.approx(stats.pearsonr(both["value"], both["MT"]).statistic, abs=1e-12)
    assert found.loc["pearson", "p"] == pytest.approx(stats.pearsonr(both["value"], both["MT"]).pvalue, rel=1e-9)
    assert set(found["n"]) == {11}
    size = np.log10(values["parameters"])
    given = correlation.correlate_over_models(values["value"], mt, control=size)
    assert found.loc["pearson given size", "r"] == pytest.approx(given.r, abs=1e-12)
    beside = table[(table["measure"] == "Consistency (antonyms)") & (table["benchmark"] == "accuracy")]
    rho = stats.spearmanr(values["value"], values["accuracy"]).statistic
    assert beside.set_index("method").loc["spearman", "r"] == pytest.approx(rho, abs=1e-12)


def test_holm_goes_over_all_tests_of_a_method_of_headline_measures_and_of_others(run, scores):
    """Written the slow way: the k-th smallest p times how many are left, never below the one before."""
    table = tables.tabulate_measure_benchmark_correlations(run, scores=str(scores), score_columns="all")
    assert table["headline"].tolist() == sorted(table["headline"], reverse=True)
    assert table["headline"].nunique() == 2
    for _, family in table.dropna(subset=["p"]).groupby(["method", "headline"]):
        ordered, largest = family.sort_values("p", kind="stable"), 0.0
        for place, (p, p_holm) in enumerate(zip(ordered["p"], ordered["p_holm"], strict=True)):
            largest = max(largest, min(1.0, p * (len(ordered) - place)))
            assert p_holm == pytest.approx(largest, rel=1e-12)


def test_a_model_that_hardly_answers_is_in_no_coefficient_and_named(tmp_path):
    """Nine of ten answers of the first model are made invalid: the coefficients are those of the other models."""
    rows = random_rows(NAMES[:6], items=30, invalid=0.0, seed=5)
    models = {name: {"parameters": 1000 * (k + 1)} for k, name in enumerate(NAMES[:6])}
    quiet = (rows["model"] == NAMES[0]) & (rows["item"].str[-1] != "0")
    rows["answer"] = rows["answer"].mask(quiet, None)
    run = runs.open_runs(write_wording(tmp_path / "run", rows, models=models))
    values = tables.tabulate_measures_by_model_and_condition(run)
    assert values.loc[values["silent"], "model"].unique().tolist() == [NAMES[0]]
    assert values.loc[values["silent"] & values["measure"].str.startswith("Consistency"), "value"].notna().all()
    table = tables.tabulate_measure_benchmark_correlations(run)
    assert set(table.loc[table["method"] == "spearman", "n"]) == {5}
    assert set(tables.tabulate_correlations_of_all_pairs(run)["n"]) == {5}
    chosen = values.query("measure == 'Consistency (synonyms)' and not silent")
    row = table.query("measure == 'Consistency (synonyms)' and benchmark == 'parameters'")
    expected = stats.spearmanr(chosen["value"], chosen["parameters"]).statistic
    assert row.set_index("method").loc["spearman", "r"] == pytest.approx(expected, abs=1e-12)
    frames = {name: tables_of.build_table(name, run) for name in narrative.TABLES}
    assert any(
        line.startswith(f"{NAMES[0]}: left out where less") for line in narrative.answer_page_question(frames).cautions
    )


def test_size_and_accuracy_are_compared_like_the_benchmarks(run, scores):
    table = tables.tabulate_measure_benchmark_correlations(run, scores=str(scores), score_columns="MT,GPQA")
    assert set(table["benchmark"]) == {"MT", "GPQA", "parameters", "accuracy"}
    assert table[table["measure"].str.startswith("Overall")].query("benchmark == 'accuracy'").empty
    assert table.query("benchmark == 'parameters' and method.str.contains('given')").empty
    assert set(tables.tabulate_measure_benchmark_correlations(run)["benchmark"]) == {"parameters", "accuracy"}


def test_the_matrix_has_the_papers_rows_and_the_headline_measures_of_other_pages(run, scores):
    table = tables.tabulate_correlations_of_all_pairs(run, scores=str(scores), score_columns="all")
    order = list(dict.fromkeys([*table["measure_a"], *table["measure_b"]]))
    kinds = ["synonyms", "antonyms", "agreement-seeking", "strong agreement-seeking"]
    ours = [*(f"Consistency ({name})" for name in kinds), "Overall", "Accuracy before rewording", "ICC of a wording"]
    assert order == ["MT", "GPQA", "parameters", *ours]
    assert len(table) == 2 * 45


def test_a_measure_with_the_name_of_a_benchmark_keeps_apart_from_it(run, scores):
    frame = pd.read_csv(scores).rename(columns={"MT": "Overall"})
    frame.to_csv(scores, index=False)
    table = tables.tabulate_correlations_of_all_pairs(run, scores=str(scores), score_columns="Overall")
    (row,) = table.query("measure_a == 'Overall' and measure_b == 'Overall, all' and method == 'pearson'").to_dict(
        "records"
    )
    ours = values_of(run, "Overall")["value"]
    theirs = frame.set_index("model")["Overall"].reindex(ours.index)
    assert row["r"] == pytest.approx(ours.corr(theirs), abs=1e-12)


def test_few_models_are_marked_and_fewer_than_four_refused(tmp_path):
    run = runs.open_runs(write_wording(tmp_path / "three", random_rows(["a", "b", "c"], items=6)))
    assert tables.tabulate_measure_benchmark_correlations(run).empty
    assert set(tables.tabulate_compared_models_of_pages_and_studies(run)["left_out"]) == {"fewer than 4 models answer"}
    scores = tmp_path / "s.csv"
    scores.write_text("model,MT\na,1\nb,2\nc,3\n", encoding="utf-8")
    four = runs.open_runs(write_wording(tmp_path / "four", random_rows(list("abcd"), items=6)))
    table = tables.tabulate_measure_benchmark_correlations(four, scores=str(scores), score_columns="MT").query(
        "benchmark == 'MT'"
    )
    assert table["r"].isna().all() and set(table["n"]) == {3}
    assert table["caution"].str.startswith("refused").all()
    rows = random_rows(list("abcde"), items=8, seed=5)
    models = {name: {"parameters": 10**k} for k, name in enumerate("abcde")}
    table = tables.tabulate_measure_benchmark_correlations(
        runs.open_runs(write_wording(tmp_path / "five", rows, models=models))
    )
    assert set(table.dropna(subset=["r"])["caution"]) == {"few: fewer than 10 models"}


def test_the_command_line_has_the_columns_it_promises(folder, scores, tmp_path, capsys):
    (tmp_path / "aliases.csv").write_text(f"model,alias\n{NAMES[11]},{NAMES[0]}\n", encoding="utf-8")
    given = ["-p", f"scores={scores}", "-p", "score_columns=MT,GPQA", "-p", f"aliases={tmp_path / 'aliases.csv'}"]
    done = waver("analysis", "table", folder, "benchmarks", *given)
    header = done.stdout.splitlines()[0].split(",")
    promised = ["measure", "benchmark", "study", "condition", "method", "n", "r", "lower", "upper", "p", "p_holm"]
    assert set(promised) <= set(header)
    status = main(["table", str(folder), "benchmarks", "-p", f"scores={tmp_path / 'none.csv'}"])
    error = capsys.readouterr().err
    assert status == 2
    assert error.count("\n") == 1 and "none.csv: cannot be read" in error


def test_scores_from_yaml_and_sizes_in_billions(tmp_path):
    (tmp_path / "s.yaml").write_text("a/b: {MT: 7.5, params: 7}\nc: {MT: 8, GPQA: 0.3, params: 0}\n", encoding="utf-8")
    found = leaderboards.read_benchmark_scores(tmp_path / "s.yaml", "all")
    assert list(found.frame) == ["MT", "GPQA"]
    assert np.isnan(found.frame.loc["a/b", "GPQA"])
    assert found.parameters["a/b"] == 7e9
    assert np.isnan(found.parameters["c"])


def test_a_line_break_between_names_of_columns_is_one_line(scores):
    with pytest.raises(InputError) as error:
        leaderboards.read_benchmark_scores(scores, "MT,\nGPQA")
    assert str(error.value) == (
        "score_columns = 'MT,\\nGPQA': write the names in one line, with commas between them; put a name that holds a "
        "line break into quotes"
    )


def test_columns_without_numbers_are_named(scores):
    assert leaderboards.read_benchmark_scores(scores, "all").ignored == ("note",)


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("s.csv", "who,MT\na,1\n", "no column with the model's name"),
        ("s.csv", "model,note\na,x\n", "no column of scores"),
        ("s.csv", "model,MT\n", "no model in it"),
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
        leaderboards.read_benchmark_scores(tmp_path / name)
    assert str(error.value).startswith(str(tmp_path)) and "\n" not in str(error.value)


def test_names_match_by_alias_by_case_and_without_organisation():
    table = model_names.match_models_to_scored_models(
        ["Org/One", "two", "org/three", "mine"], ["org/one", "lab/Two", "elsewhere/three", "theirs"], {"mine": "theirs"}
    ).set_index("model")
    assert table.loc["Org/One", ["matched", "by"]].tolist() == ["org/one", "name"]
    assert table.loc["two", ["matched", "by"]].tolist() == ["lab/Two", "name without organisation"]
    assert table.loc["mine", ["matched", "by"]].tolist() == ["theirs", "alias"]
    # two organisations: not the same model, but near enough to be named
    assert table.loc["org/three", ["matched", "nearest"]].tolist() == ["", "elsewhere/three"]
    assert table.loc["elsewhere/three", ["side", "nearest"]].tolist() == ["scores", "org/three"]


def test_two_of_a_name_match_nothing_without_their_organisation():
    table = model_names.match_models_to_scored_models(["m"], ["a/m", "b/m"])
    assert table.loc[table["side"] == "runs", "matched"].tolist() == [""]


def test_an_alias_for_nobody_is_refused_with_the_nearest_name(tmp_path):
    with pytest.raises(InputError, match="nearest is 'org/model'"):
        model_names.match_models_to_scored_models(["m"], ["org/model", "other"], {"m": "org/modle"})
    (tmp_path / "a.csv").write_text("model,alias\nm,a\nm,b\n", encoding="utf-8")
    with pytest.raises(InputError, match="'m' has two aliases"):
        model_names.read_alias_by_run_model(tmp_path / "a.csv")
    (tmp_path / "a.yaml").write_text("m: a\n", encoding="utf-8")
    assert model_names.read_alias_by_run_model(tmp_path / "a.yaml") == {"m": "a"}


def test_misspelt_names_are_listed_with_the_nearest_right_one(shared):
    """3 % of 4,497 names with a letter dropped, added or two swapped: unmatched on both sides, nearest name right."""
    names = list(
        leaderboards.read_benchmark_scores(
            shared / "open-llm-leaderboard" / "huggingface_v2.csv", join_rule="best"
        ).frame.index
    )
    rng = np.random.default_rng(0)
    mine, wrong = list(names), {}
    for place in rng.choice(len(names), len(names) * 3 // 100, replace=False):
        name, k = names[place], int(rng.integers(1, len(names[place]) - 1))
        mine[place] = [name[:k] + name[k + 1 :], name[:k] + "~" + name[k:],
                       name[: k - 1] + name[k] + name[k - 1] + name[k + 1 :]][place % 3]  # fmt: skip
        if mine[place].casefold() not in {n.casefold() for n in (name,)} and mine[place] not in names:
            wrong[mine[place]] = name
    table = model_names.match_models_to_scored_models(mine, names)
    lost = table[(table["side"] == "runs") & (table["matched"] == "")].set_index("model")
    assert set(lost.index) == set(wrong)
    right = np.mean([lost.loc[name, "nearest"] == original for name, original in wrong.items()])
    assert right > 0.97
    free = table[table["side"] == "scores"]
    assert set(wrong.values()) <= set(free["model"])


@pytest.mark.parametrize(("file", "models", "columns"), [("model_v1.0.yml", 155, 32), ("model_v2_HEAD.yml", 118, 57)])
def test_the_swallow_leaderboard_has_gaps_not_negative_scores(shared, file, models, columns):
    found = leaderboards.read_benchmark_scores(shared / "swallow-leaderboard" / file)
    assert found.frame.shape == (models, columns)
    assert found.frame.isna().to_numpy().any()
    assert (found.frame.min() >= 0).all()
    assert found.frame.index.is_unique
    assert found.parameters.isna().any()
