"""Prompts without a response: counted by model and condition, and told on every page."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest

from analysis import runs
from analysis.pages.stability.page import StabilityPage
from analysis.reporting import words
from analysis.reporting.catalogue import map_page_names_to_catalogues
from analysis.reporting.output.page import Page
from analysis.reporting.output.provenance import list_provenance_entries
from analysis.reporting.words import Answer
from analysis.runs.unanswered import count_unanswered_prompts, list_unasked_models
from ground.errors import InputError
from helpers.page_runs import BARE, FULL
from helpers.sentences import too_long
from helpers.synthetic import edit_run_json, random_frame, write_run
from waver import open as open_run

pytestmark = pytest.mark.slow

TOO_LONG = "the prompt has 5,000 tokens; the model's window has 2,048"


def damaged(rows, failed=(), gone=()):
    """The same rows, some of them failed, some of them never asked (their stimulus stays)."""
    rows = rows.assign(error=None, model=rows["model"].astype(object))
    rows.loc[list(failed), ["error", "agreement"]] = [TOO_LONG, float("nan")]
    rows.loc[list(gone), "model"] = None
    return rows


def test_failed_and_missing_rows_are_counted_by_model_and_condition(tmp_path):
    rows = random_frame(["a", "b"], items=3, paraphrases=4, conditions=["plain/yes-no", "plain/no-yes"])
    size = 3 * 5
    found = count_unanswered_prompts(
        runs.open_runs(write_run(tmp_path / "run", damaged(rows, [0, 1, size], [3 * size])))
    )
    assert found.drop(columns="reason").to_numpy().tolist() == [
        ["synthetic", "a", "plain/yes-no", size, 2, 0],
        ["synthetic", "a", "plain/no-yes", size, 1, 0],
        ["synthetic", "b", "plain/no-yes", size, 0, 1],
    ]
    assert found["reason"].tolist() == [TOO_LONG, TOO_LONG, ""]
    (said,) = words.list_unanswered_cautions(found, 4 * size)
    assert said.startswith("No response to 4 of 60 prompts: 3 failed, 1 is missing.")
    assert "a (plain/yes-no; 2 failed of 15)" in said and TOO_LONG in said


def test_what_is_said_of_three_models_is_a_sentence_of_thirty_words(tmp_path):
    """It counted what did not happen, too: "(plain/yes-no; 18 failed and 0 missing of 66)", 31 words."""
    rows = random_frame(["a", "b", "c", "d"], items=3, paraphrases=4)
    counts = count_unanswered_prompts(
        runs.open_runs(write_run(tmp_path / "run", damaged(rows, [0, 15, 30, 45], [1, 16, 31, 46])))
    )
    (said,) = words.list_unanswered_cautions(counts, 60)
    assert "No response to 8 of 60 prompts: 4 failed, 4 are missing." in said
    assert "In detail: a (plain/yes-no; 1 failed, 1 missing of 15), b " in said
    assert too_long(said) == []
    (said,) = words.list_unanswered_cautions(counts.assign(failed=0), 60)
    assert said.startswith("No response to 4 of 60 prompts: 4 are missing. In detail: a (plain/yes-no; 1 missing ")


def test_models_that_were_never_asked_are_named(tmp_path):
    folder = write_run(tmp_path / "run", random_frame(["a"], items=2, paraphrases=2))
    assert list_unasked_models(runs.open_runs(folder)) == []
    edit_run_json(folder, expected={"org/typo": {}, "a": {"plain/yes-no": 6}})
    assert list_unasked_models(runs.open_runs(folder)) == ["org/typo"]
    assert words.list_cautions_about_unasked_models([]) == []


def test_what_an_interrupted_run_did_not_reach_is_missing(tmp_path):
    """It ended in the first of two rounds of m, and after k was loaded: no row is of these models and conditions."""
    orders = ["plain/yes-no", "plain/no-yes"]
    rows = random_frame(["m", "k"], items=2, paraphrases=2, conditions=orders)
    folder = write_run(tmp_path / "run", rows)
    kept = (rows["model"] == "m") & (rows["condition"] == orders[0])
    shutil.copytree(write_run(tmp_path / "begun", rows[kept]) / "responses", folder / "responses", dirs_exist_ok=True)
    edit_run_json(folder, expected={"m": dict.fromkeys(orders, 6), "k": dict.fromkeys(orders, 6), "org/typo": {}})
    opened = runs.open_runs(folder)
    assert count_unanswered_prompts(opened)[["model", "condition", "asked", "missing"]].to_numpy().tolist() == [
        ["m", orders[1], 6, 6], ["k", orders[0], 6, 6], ["k", orders[1], 6, 6]
    ]  # fmt: skip
    assert list_unasked_models(opened) == ["k", "org/typo"]
    foot = dict(list_provenance_entries(opened, [], {}))["No response"]
    assert foot[0] == f"m ({orders[1]}; 6 missing of 6)" and foot[3:] == ["k: not asked", "org/typo: not asked"]
    page = StabilityPage([str(folder)])
    page.render_answer_with_added_cautions(Answer("", ""))
    assert "No response to 18 of 24 prompts: 18 are missing." in page.cautions().text
    part = open_run(folder).where("item = 'item-01' AND model = 'm'")
    assert part.part.pairs is None
    missing = count_unanswered_prompts(part.open_runs_of_protocols())
    assert missing[["model", "condition", "asked", "missing"]].to_numpy().tolist() == [["m", orders[1], 3, 3]]
    part = open_run(folder).where(f"condition = '{orders[0]}' OR item = 'item-01'")
    assert part.part.pairs is None and len(part.responses()) == 6
    missing = count_unanswered_prompts(part.open_runs_of_protocols())
    assert missing["missing"].tolist() == [3, 6, 3]
    with pytest.raises(InputError, match="keeps only what has no response"):
        open_run(folder).where("model = 'k'")


def test_a_model_is_unasked_where_no_folder_of_the_study_asked_it(tmp_path):
    rows = random_frame(["a", "b"], items=2, paraphrases=2)
    folders = {
        name: write_run(tmp_path / name, rows[rows["model"] == model], study=study)
        for name, model, study in (("first", "a", "s"), ("again", "b", "s"), ("other", "a", "t"))
    }
    for name in ("first", "other"):
        edit_run_json(folders[name], expected={"b": {}})
    assert list_unasked_models(runs.open_runs(*folders.values())) == ["b in “t”"]


def test_a_model_and_condition_of_two_studies_is_told_with_its_study(tmp_path):
    rows = damaged(random_frame(["a", "b"], items=2, paraphrases=2), gone=[0])
    folders = [write_run(tmp_path / name, rows, study=name) for name in ("s", "t")]
    said = words.describe_unanswered_prompts_by_unit(count_unanswered_prompts(runs.open_runs(*folders)))
    assert said == ["a (“s”, plain/yes-no; 1 missing of 6)", "a (“t”, plain/yes-no; 1 missing of 6)"]
    assert words.describe_unanswered_prompts_by_unit(count_unanswered_prompts(runs.open_runs(folders[0]))) == [
        "a (plain/yes-no; 1 missing of 6)"
    ]


def test_a_failed_row_that_was_answered_later_is_no_failure(tmp_path):
    rows = random_frame(["a"], items=2, paraphrases=2)
    whole = write_run(tmp_path / "run", damaged(rows, [0]))
    answered = write_run(tmp_path / "again", rows)
    part = answered / "responses" / "part-000001.parquet"
    part.rename(whole / "responses" / "part-000002.parquet")
    assert count_unanswered_prompts(runs.open_runs(whole)).empty
    assert words.list_unanswered_cautions(count_unanswered_prompts(runs.open_runs(whole)), 6) == []


def test_what_was_to_be_asked_stands_in_run_json(tmp_path):
    """A share of the wordings is no loss; of those, what is missing is."""
    folder = write_run(tmp_path / "run", damaged(random_frame(["a"], items=2, paraphrases=4), gone=range(6)))
    assert count_unanswered_prompts(runs.open_runs(folder))["missing"].tolist() == [6]
    edit_run_json(folder, expected={"a": {"plain/yes-no": 4}})
    assert count_unanswered_prompts(runs.open_runs(folder)).empty
    edit_run_json(folder, expected={"a": {"plain/yes-no": 9}})
    assert count_unanswered_prompts(runs.open_runs(folder))[["asked", "missing"]].to_numpy().tolist() == [[9, 5]]


@pytest.mark.parametrize("name", ["stability", "scoring", "drift"])
def test_a_page_says_it_above_its_other_cautions_and_at_its_foot(name, tmp_path):
    """Pages of one time and of several: all have this from `Page`, as the next test shows."""
    folder, _ = BARE[name](tmp_path / "run")

    class Some(Page):
        protocols, over_time = (
            map_page_names_to_catalogues()[name].protocols,
            map_page_names_to_catalogues()[name].over_time,
        )

    page = Some([str(folder)])
    page.render_answer_with_added_cautions(Answer("", ""))
    assert "No response" not in page.cautions().text
    conditions = page.runs.info["conditions"][page.runs.folders[0].study]
    edit_run_json(page.runs.folders[0].path, expected={"m": dict.fromkeys(conditions, 5000 // len(conditions))})
    told = Some([str(folder)])
    assert "2 cautions" in told.render_answer_with_added_cautions(Answer("", "", cautions=("Few.",))).text
    assert re.search(r"of 5,000 prompts: [\d,]+ are missing\.", told.cautions().text)
    assert f"missing of {5000 // len(conditions):,}" in dict(told.list_footer_entries())["No response"][0]


def test_all_pages_answer_through_the_shared_words():
    """A page that shows its answer by itself would not say it."""
    folder = Path(__file__).parents[3] / "analysis" / "pages"
    assert {
        path.parent.name
        for path in folder.glob("*/page.py")
        if "self.render_answer_with_added_cautions(" in path.read_text()
    } == set(map_page_names_to_catalogues())
    assert set(FULL) == set(map_page_names_to_catalogues())


def test_an_imported_condition_may_have_a_text_called_share(tmp_path):
    """It is no share of the prompts, and ended every page in a TypeError."""
    folder = write_run(tmp_path / "run", random_frame(["a"], items=2, paraphrases=2))
    info = json.loads((folder / "run.json").read_text(encoding="utf-8"))
    conditions = {name: {**fields, "share": "half"} for name, fields in info["conditions"].items()}
    edit_run_json(folder, conditions=conditions, expected=None)
    assert count_unanswered_prompts(runs.open_runs(folder)).empty
