"""The measures of all pages: each has the number that its own page has, by its catalogue, and models match by form."""

from __future__ import annotations

import dataclasses
import functools
import math

import numpy as np
import pandas as pd
import pytest

from analysis import runs
from analysis.pages.benchmarks import measures, own_form
from analysis.pages.benchmarks.model_facts import replace_infinities_by_rank_or_nan
from analysis.pages.benchmarks.page import BenchmarksPage
from analysis.pages.benchmarks.tables import (
    explain_missing_correlations,
    tabulate_compared_models_of_pages_and_studies,
    tabulate_measures_by_model_and_condition,
)
from analysis.reporting import catalogue
from analysis.reporting.catalogue import map_page_names_to_catalogues, tables
from ground.errors import InputError
from helpers.accuracy_runs import random_accuracies, write_accuracies
from helpers.page_runs import FULL
from helpers.synthetic import random_frame, write_run
from helpers.text_features import hide
from helpers.wording_runs import random_rows, write_wording

pytestmark = pytest.mark.slow

MEASURED = {
    (page, name): table.measures
    for page, entry in map_page_names_to_catalogues().items() for name, table in entry.tables.items() if table.measures
}  # fmt: skip
# Labels, and the rows of the page's own table that they stand for.
LABELS = [
    ("stability", "Range", "stability", "range_mean", {}),
    ("stability", "Flips > 5 %", "stability", "flip_05", {}),
    ("text_features", "Effect (Word length)", "mixed", "estimate_std", {"term": "word_length"}),
    ("wording", "Consistency (antonyms)", "consistency", "consistency", {"pattern": "antonym"}),
    ("wording", "Overall (strong agreement-seeking)", "consistency", "overall", {"pattern": "strong_agreement"}),
    ("wording", "Overall", "overall", "overall", {}),
    ("negation", "Change by a negation (important)", "minimal_pairs", "acc_change", {"pairs": "important"}),
    ("choice", "XParaCon (math reasoning)", "choice", "xparacon", {"subset": "math reasoning"}),
    ("scoring", "Kurtosis (En-De)", "scores", "kurtosis", {"group": "En-De"}),
    ("scoring", "Tau (Si-En)", "scores", "tau", {"group": "Si-En"}),
    ("reliability", "ICC of a wording", "variance_components", "icc", {"headline": True}),
    ("reliability", "Widening by wordings", "wording_precision", "widening", {"headline": True}),
]


@pytest.fixture(scope="module")
def opened(tmp_path_factory):
    """The run of every page that fills its tables, opened once."""
    found = {}

    def of(page):
        if page not in found:
            found[page] = runs.open_runs(FULL[page](tmp_path_factory.mktemp(page) / "run")[0])
        return found[page]

    with pytest.MonkeyPatch.context() as patch:
        hide(patch, "pysentimiento", "spacy", "vaderSentiment")
        yield of


@pytest.fixture(scope="module")
def table_of(opened):
    """The tables of the pages, with few resamples, each made once."""

    @functools.cache
    def of(page, name):
        few = {"resamples": 20} if "resamples" in tables.list_table_options(name) else {}
        return tables.build_table(name, opened(page), **few)

    return of


def values(frame, column, run=None):
    """Model and value of every row of a page's table that has one, sorted; not of other forms, nor of human scores."""
    known = frame[frame[column].notna()]
    if run is not None:
        own = {unit[1:] for unit in own_form.find_prompt_forms_of_units(run)}
        known = known[[unit in own for unit in zip(known["model"], known["condition"], strict=True)]]
    return sorted(zip(known["model"], known[column].astype(float), strict=True))


@pytest.mark.parametrize(("page", "name"), MEASURED)
def test_a_catalogue_names_columns_that_its_table_has(page, name):
    found, listed = MEASURED[page, name], catalogue.look_up_table(name).columns
    needed = [
        *found.kinds,
        found.validity,
        *found.accuracy,
        *found.accuracy.values(),
        *filter(None, [found.row_filter]),
    ]
    for column in (*found.name_by_column, *needed):
        assert column in listed or (column.startswith("flip_") and "flip_*" in listed), column
    assert set(found.headline) <= set(found.name_by_column) and set(found.averaged_kinds) <= set(found.kinds)
    assert not found.lead or found.lead in found.headline


@pytest.mark.parametrize(("page", "name"), MEASURED)
def test_every_measure_has_the_numbers_of_its_page(page, name, opened, table_of):
    """All rows of the page's own table, with intervals as there, are those that are collected, to 1e-12."""
    run, about = opened(page), MEASURED[page, name]
    collected = measures.collect_measures(run, "dropped").values
    collected = collected[collected["page"] == page]
    frame = table_of(page, name)
    frame = frame[frame[about.row_filter].astype(bool)] if about.row_filter else frame
    # A label is the name, with its kind in brackets; no name begins another of its page.
    for column, called in about.name_by_column.items():
        labels = collected["measure"].str.removeprefix(called)
        mine = collected[collected["measure"].str.startswith(called) & labels.str.match(r"^( \(.*)?$")]
        if page == "wording":  # two tables with one name: one by kind of wording, one over all
            mine = mine[mine["study"].eq("all") == (name == "overall")]
        found, expected = values(mine, "value"), values(frame, column, None if about.joins_conditions else run)
        assert [model for model, _ in found] == [model for model, _ in expected], called
        np.testing.assert_allclose([value for _, value in found], [value for _, value in expected], rtol=0, atol=1e-12)
        assert found, called


@pytest.mark.parametrize(("page", "label", "name", "column", "where"), LABELS)
def test_a_measure_is_named_after_what_its_rows_are_about(page, label, name, column, where, opened, table_of):
    run = opened(page)
    found = measures.collect_measures(run, "dropped").values
    frame = table_of(page, name)
    rows = frame[np.logical_and.reduce([frame[key] == value for key, value in where.items()] or [[True] * len(frame)])]
    mine = found[(found["page"] == page) & (found["measure"] == label)]
    mine = mine[mine["study"].eq("all") == (name == "overall")]
    expected = [value for _, value in values(rows, column, run)]
    np.testing.assert_allclose([value for _, value in values(mine, "value")], expected, rtol=0, atol=1e-12)


def test_the_page_is_about_the_protocols_of_all_pages_with_measures():
    about = set().union(*(map_page_names_to_catalogues()[page].protocols for page, _ in MEASURED))
    assert (
        map_page_names_to_catalogues()["benchmarks"].protocols
        == about
        >= {"agreement", "wording", "negation", "scoring", "choice"}
    )
    assert {page for page, _ in MEASURED} == {
        "stability", "text_features", "wording", "negation", "choice", "scoring", "scored", "scales", "reliability"
    }  # fmt: skip


def test_a_model_asked_in_two_forms_counts_in_that_of_its_stage(tmp_path):
    """Six models: with two of them in both forms, no four were asked in one; now all six are compared."""
    base, tuned = ["b1", "b2"], ["t1", "t2"]
    stages = {name: {"stage": "base"} for name in base} | {name: {"stage": "tuned"} for name in tuned}
    rows = pd.concat([
        random_rows([*base, "t1", "u1"], items=8, conditions=["plain/0-shot"], seed=1),
        random_rows([*tuned, "b1", "u1", "u2"], items=8, conditions=["chat/0-shot"], seed=2),
    ], ignore_index=True)  # fmt: skip
    run = runs.open_runs(write_wording(tmp_path / "run", rows, models=stages))
    found = own_form.find_prompt_forms_of_units(run)
    assert {(model, condition) for _, model, condition in found} == {
        ("b1", "plain/0-shot"), ("b2", "plain/0-shot"), ("t1", "chat/0-shot"), ("t2", "chat/0-shot"),
        ("u1", "plain/0-shot"), ("u2", "chat/0-shot"),
    }  # fmt: skip
    assert {own.condition for own in found.values()} == {"own form/0-shot"}
    assert all(own.form == condition.split("/")[0] for (*_, condition), own in found.items())
    assert explain_missing_correlations(run, {}) == ""
    asked = measures.collect_measures(run, "dropped").values
    forms = asked.drop_duplicates("model").set_index("model")["n_forms"]
    assert forms.to_dict() == {"b1": 2, "b2": 1, "t1": 2, "t2": 1, "u1": 2, "u2": 1}
    sources = tabulate_compared_models_of_pages_and_studies(run)
    assert set(sources["forms"]) == {"plain 3, chat 3"} and set(sources["n_models"]) == {6}


@pytest.mark.parametrize("last", [{"seed": 3}, {}])
def test_models_of_other_seeds_or_none_are_compared_where_they_share_none(last, tmp_path):
    """Two models have the seeds 1 and 2, two the seed 3: such four were not correlated, as if a seed were a prompt."""
    conditions = {f"plain/0-shot/{number}": fields for number, fields in enumerate([{"seed": 1}, {"seed": 2}, last], 1)}
    rows = pd.concat([
        random_rows(list("ab"), items=6, conditions=list(conditions)[:2], seed=1),
        random_rows(list("cd"), items=6, conditions=list(conditions)[2:], seed=2),
    ], ignore_index=True)  # fmt: skip
    run = runs.open_runs(write_wording(tmp_path / "run", rows, conditions=conditions))
    asked = [(model, unit.condition) for (_, model, _), unit in own_form.find_prompt_forms_of_units(run).items()]
    joined = "plain/0-shot/1, plain/0-shot/3"
    assert asked == [*((model, joined) for model in "abcd"), *((model, "plain/0-shot/2") for model in "ab")]
    assert explain_missing_correlations(run, {}) == ""


def test_conditions_of_one_seed_stay_apart_by_their_names(tmp_path):
    """What differs between them is in no field; one seed for all made them one."""
    conditions = {f"plain/0-shot/{name}": {"seed": 1} for name in ("before", "after")}
    rows = pd.concat([
        random_rows(["a", "b"], items=6, conditions=list(conditions)[:1], seed=1),
        random_rows(["c"], items=6, conditions=list(conditions)[1:], seed=2),
    ], ignore_index=True)  # fmt: skip
    run = runs.open_runs(write_wording(tmp_path / "run", rows, conditions=conditions))
    asked = {model: unit.condition for (_, model, _), unit in own_form.find_prompt_forms_of_units(run).items()}
    assert asked == {"a": "plain/0-shot/before", "b": "plain/0-shot/before", "c": "plain/0-shot/after"}


def test_conditions_that_differ_in_more_than_the_form_stay_apart(tmp_path):
    rows = pd.concat([
        random_rows(["a"], items=6, conditions=["plain/4-shot"], seed=1),
        random_rows(["b"], items=6, conditions=["chat/4-shot"], seed=2),
    ], ignore_index=True)  # fmt: skip
    run = runs.open_runs(write_wording(tmp_path / "run", rows, conditions={"chat/4-shot": {"exemplars_hash": "x"}}))
    assert sorted(own.condition for own in own_form.find_prompt_forms_of_units(run).values()) == [
        "chat/4-shot",
        "plain/4-shot",
    ]
    why = "it needs 4 models that were asked in the same way; there is at most 1"
    assert explain_missing_correlations(run, {}) == why


def test_one_condition_of_a_study_is_compared_the_one_of_most_models_or_the_first(tmp_path):
    few = random_rows(list("ab"), items=6, conditions=["plain/4-shot"], seed=1)
    most = random_rows(list("abcd"), items=6, conditions=["plain/0-shot", "plain/2-shot"], seed=2)
    run = runs.open_runs(write_wording(tmp_path / "run", pd.concat([few, most], ignore_index=True)))
    found = measures.collect_measures(run, "dropped").values
    assert set(found.loc[found["compared"], "condition"]) == {"plain/0-shot"}
    assert set(found["condition"]) == {"plain/0-shot", "plain/2-shot", "plain/4-shot"}
    assert set(tabulate_compared_models_of_pages_and_studies(run)["n_conditions"]) == {3}


def test_a_model_that_one_page_takes_for_silent_is_so_on_all_pages_of_the_study(tmp_path):
    """Answers that are invalid, with probabilities that hide it: the page on wording says so, that on ICC does not."""
    rows = random_rows(list("abcd"), items=20, invalid=0.0, seed=1)
    rows.loc[(rows["model"] == "a") & (rows["item"].str[-1] != "0"), "answer"] = None
    run = runs.open_runs(write_wording(tmp_path / "run", rows))
    precision = tables.build_table("wording_precision", run)
    assert (precision["validity"] > 0.5).all()
    found = measures.collect_measures(run, "dropped").values
    own = found[found["study"] != "all"]
    assert set(own["page"]) == {"wording", "reliability"}
    assert own.groupby("model")["silent"].unique().map(list).to_dict() == {
        "a": [True], "b": [False], "c": [False], "d": [False]
    }  # fmt: skip


def test_the_upper_bound_of_a_validity_goes_with_it(tmp_path):
    rows = random_frame(list("abcd"), items=4, paraphrases=3).assign(mass=0.3)
    rows["mass_upper"] = rows["model"].map({"a": 0.8})
    values = measures.collect_measures(runs.open_runs(write_run(tmp_path / "run", rows)), "dropped").values
    bounds = values[values["page"] == "stability"].groupby("model")[["validity", "validity_at_most"]].first()
    assert bounds["validity"].tolist() == pytest.approx([0.3] * 4) and values["silent"].all()
    assert bounds["validity_at_most"].tolist() == pytest.approx([0.8, np.nan, np.nan, np.nan], nan_ok=True)


def test_studies_of_several_protocols_are_compared_by_model(tmp_path):
    names = ["m1", "m2", "m3", "m4"]
    write_wording(tmp_path / "all" / "wording", random_rows(names, items=8, seed=1))
    write_run(tmp_path / "all" / "opinions", random_frame(names, items=6, paraphrases=5), study="opinions")
    found = tabulate_compared_models_of_pages_and_studies(runs.open_runs(tmp_path / "all"))
    assert set(zip(found["page"], found["study"], strict=True)) >= {
        ("stability", "opinions"), ("wording", "wording"), ("wording", "all"), ("reliability", "opinions"),
        ("reliability", "wording"),
    }  # fmt: skip
    known = found[found["study"] != ""]
    assert set(known["n_models"] + known["n_silent"]) == {4}


def test_a_study_called_all_is_not_taken_for_the_table_over_all_studies_and_its_few_items_are_told(tmp_path):
    """Values of both were one set of rows of study "all": each model had two values, and cautions left both out.

    Its items were looked up by the name that it has in the tables, and its caution was missing.
    """
    for study, items, seed in (("all", 8, 1), ("other", 40, 2)):
        write_wording(tmp_path / study, random_rows(["m1", "m2", "m3", "m4"], items=items, seed=seed), study=study)
    page = BenchmarksPage([str(tmp_path)])
    collected = measures.collect_measures(page.runs, "dropped")
    sources = collected.sources[collected.sources["page"] == "wording"]
    assert sources["study"].tolist() == ["study all", "other", "all"]
    assert not collected.values.duplicated(["page", "study", "measure", "model", "condition"]).any()
    page.answer()
    assert "Only 8 items for study all: these tests" in " ".join(page._answer.cautions)


def test_what_has_no_data_says_why(tmp_path):
    write_run(tmp_path / "run", random_frame(list("abcd"), items=1, paraphrases=1))
    found = tabulate_compared_models_of_pages_and_studies(runs.open_runs(tmp_path / "run"))
    reasons = found[found["page"] == "stability"]["left_out"].tolist()
    assert reasons == ["no item has two wordings other than its original"]


def test_an_unknown_convention_is_refused_and_leaves_no_page_out(tmp_path):
    opened = runs.open_runs(write_run(tmp_path / "run", random_frame(list("ab"), items=3, paraphrases=3)))
    with pytest.raises(InputError, match="invalid = 'drop' is not known; invalid answers are dropped or inconsistent"):
        tabulate_compared_models_of_pages_and_studies(opened, invalid="drop")


def test_an_infinite_value_is_the_highest_rank_and_no_value_for_pearson():
    values = pd.Series([3.0, math.inf, 1.0, math.nan, 2.0])
    assert replace_infinities_by_rank_or_nan(values, "spearman").fillna(-1).tolist() == [3, 6, 1, -1, 2]
    assert replace_infinities_by_rank_or_nan(values, "pearson").fillna(-1).tolist() == [3, -1, 1, -1, 2]
    assert replace_infinities_by_rank_or_nan(values[[0, 2]], "spearman").tolist() == [3, 1]


def test_a_table_that_takes_too_long_is_left_out_and_says_so(tmp_path, monkeypatch):
    write_run(tmp_path / "run", random_frame(list("abcd"), items=8, paraphrases=6))
    entry = map_page_names_to_catalogues()["stability"].tables["stability"]
    limited = dataclasses.replace(entry, measures=dataclasses.replace(entry.measures, most_units=3))
    monkeypatch.setitem(map_page_names_to_catalogues()["stability"].tables, "stability", limited)
    found = tabulate_compared_models_of_pages_and_studies(runs.open_runs(tmp_path / "run"))
    assert "stability" not in set(found.loc[found["study"] != "", "page"])
    assert found[found["page"] == "stability"]["left_out"].tolist() == [
        "table stability takes too long for 4 models and conditions; it is compared for 3 at most"
    ]
    assert map_page_names_to_catalogues()["text_features"].tables["mixed"].measures.most_units == 100


def test_the_page_on_benchmarks_is_left_out_and_says_why(tmp_path):
    opened = runs.open_runs(write_accuracies(tmp_path / "board", random_accuracies()))
    why = "accuracies without answers have no measures to correlate"
    assert (
        explain_missing_correlations(opened, {})
        == explain_missing_correlations(opened, {"scores": "scores.csv"})
        == why
    )


def test_accuracies_beside_answers_add_no_measure(tmp_path):
    folder = write_accuracies(tmp_path / "board", random_accuracies())
    answers = write_run(tmp_path / "answers", random_frame(["a", "b", "c", "d"], items=6, paraphrases=4))
    both = runs.open_runs(folder, answers)
    assert set(tabulate_measures_by_model_and_condition(both)["study"]) == set(runs.open_runs(answers).info["studies"])


def test_accuracies_and_few_answers_are_too_few(tmp_path) -> None:
    board = write_accuracies(tmp_path / "board", random_accuracies())
    asked = write_run(tmp_path / "asked", random_frame(("a", "b", "c")))
    assert explain_missing_correlations(runs.open_runs(board, asked), {}).endswith("; there are 3")
    collected = measures.collect_measures(runs.open_runs(board), "dropped")
    assert collected.values.empty and set(collected.sources["left_out"]) == {
        f"table {name} has no rows" for page, name in MEASURED if page == "reliability"
    }
