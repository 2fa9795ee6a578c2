"""The rows of a run as tidy tables: what they hold, in which order, and that every column is explained."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import waver
from analysis.features.computation import compute_features
from analysis.features.names import FEATURES
from analysis.reporting.tidy import tables
from ground.errors import InputError
from helpers.synthetic import edit_run_json, random_frame, write_run

ROWS = pd.DataFrame(
    [
        ("b", "original", "agree", 0.75, {"hedged": "no", "topic": "tea"}, "Tea is good."),
        ("b", "p1", "disagree", 0.25, {"hedged": "yes", "topic": "tea"}, "Tea might not be bad."),
        ("a", "original", "agree", 0.5, None, "Dogs are nice."),
    ],
    columns=["item", "variant", "answer", "agreement", "attributes", "text"],
)


def write_folder(path):
    frame = pd.concat([ROWS.assign(model=model) for model in ("second", "first")], ignore_index=True)
    frame["options"] = [
        ["disagree", "agree"] if variant == "p1" else ["agree", "disagree"] for variant in frame["variant"]
    ]
    frame["canonical"] = frame["options"]
    return write_run(path / "run [1]", frame, models={"first": {"stage": "tuned", "parameters": 7}}, parts=2)


@pytest.fixture
def folder(tmp_path):
    return write_folder(tmp_path)


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    return waver.open(write_folder(tmp_path_factory.mktemp("tidy")))


@pytest.fixture(scope="module")
def run_with_features(tmp_path_factory):
    folder = write_folder(tmp_path_factory.mktemp("features"))
    compute_features(folder)
    return waver.open(folder)


def test_responses_stand_in_the_order_of_the_run(run):
    responses = run.responses()
    assert responses["model"].tolist() == ["second"] * 3 + ["first"] * 3
    assert responses["item"].tolist() == ["b", "b", "a"] * 2
    np.testing.assert_allclose(responses["probability.agree"], [0.75, 0.25, 0.5] * 2)
    np.testing.assert_allclose(responses["probability.disagree"], [0.25, 0.75, 0.5] * 2)
    assert responses["canonical_answer"].tolist() == ["agree", "disagree", "agree"] * 2


@pytest.mark.slow
def test_rows_that_are_fetched_some_at_a_time_are_those_of_all_at_once(tmp_path, monkeypatch):
    """Equal texts are one object: of many models, they would take more memory than all numbers."""
    monkeypatch.setattr(tables, "_VECTORS", 1)  # of 2,048 rows
    rows = random_frame(["b", "a"], items=12, paraphrases=100).sample(frac=1, random_state=0)
    rows.loc[rows["item"] == "item-07", "agreement"] = np.nan
    responses = waver.open(write_run(tmp_path / "run", rows)).responses()
    assert len(responses) == len(rows) > 2048
    assert responses["model"].tolist() == sorted(responses["model"], key=list(rows["model"].unique()).index)
    wordings = waver.open(tmp_path / "run").wordings()
    assert responses["variant"].tolist() == [*wordings["variant"]] * 2
    for name, number in {"model": 2, "variant": rows["variant"].nunique()}.items():
        assert len({id(text) for text in responses[name]}) == number
    assert {type(entry) for entry in responses["probability"]} == {np.ndarray, type(pd.NA)}
    assert responses["n"].dtype == "Int64"


def test_only_the_columns_that_are_named_are_read_in_the_same_order_of_rows(run):
    chosen = ["variant", "probability.agree", "model"]
    pd.testing.assert_frame_equal(run.responses(chosen), run.responses()[chosen])
    with pytest.raises(InputError, match=r"responses: there is no column 'varient' .the nearest is 'variant'"):
        run.responses(["model", "varient"])
    for names in ("answer", ["answer"], pd.Index(["answer"])):
        assert list(run.responses(names)) == ["answer"]
    with pytest.raises(InputError, match="responses: there is no column 3"):
        run.responses([3])


def test_wordings_have_their_attributes_as_columns(run):
    wordings = run.wordings()
    assert wordings["variant"].tolist() == ["original", "p1", "original"]
    assert wordings["attributes.hedged"].tolist()[:2] == ["no", "yes"] and pd.isna(wordings["attributes.hedged"][2])
    assert not set(FEATURES) & set(wordings)


@pytest.mark.slow
def test_wordings_have_the_text_features_that_are_stored(run_with_features):
    wordings = run_with_features.wordings()
    assert set(FEATURES) <= set(wordings)
    assert wordings["negation_cues"].tolist() == [0, 1, 0]
    assert wordings["edit_similarity"][0] == 1


def test_items_say_what_is_the_same_in_all_their_wordings(run):
    items = run.items()
    assert items["item"].tolist() == ["b", "a"]
    assert items["n_wordings"].tolist() == [2, 1] and items["n_paraphrases"].tolist() == [1, 0]
    assert items["text"].tolist() == ["Tea is good.", "Dogs are nice."]
    assert items["attributes.topic"][0] == "tea" and pd.isna(items["attributes.hedged"][0])


def test_models_and_conditions_have_the_fields_of_run_json(run):
    models = run.models().set_index("model")
    assert list(models.index) == ["second", "first"] and models["stage"]["first"] == "tuned"
    assert run.conditions()[["condition", "form", "option_order"]].to_numpy().tolist() == [
        ["plain/yes-no", "plain", "yes-no"]
    ]


@pytest.mark.slow
def test_every_column_is_explained(run_with_features):
    run = run_with_features
    for name in ("responses", "thoughts", "wordings", "items", "models", "conditions"):
        meanings = run.columns(name)
        assert list(meanings) == list(getattr(run, name)())
        assert all(meanings.values())
    with pytest.raises(InputError, match=r"no table 'wording' .the nearest is 'wordings'"):
        run.columns("wording")


def test_sql_joins_the_tables_by_their_keys(run):
    query = """SELECT stage, "attributes.hedged" AS hedged, avg("probability.agree") AS agreement
               FROM responses JOIN wordings USING (study, item, variant) JOIN models USING (model)
               WHERE stage = 'tuned' AND hedged IS NOT NULL GROUP BY ALL ORDER BY hedged"""
    assert run.sql(query).to_numpy().tolist() == [["tuned", "no", 0.75], ["tuned", "yes", 0.25]]


def test_sql_reaches_no_file_and_changes_nothing(run):
    folder = Path(*run.folders)
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    part = next(folder.glob("responses/*.parquet"))
    for query in ("SELECT * FROM read_csv('/etc/passwd')", "SELECT 1; DROP VIEW responses", "ATTACH '/tmp/x.db'",
                  f"COPY models TO '{part}' (FORMAT parquet, USE_TMP_FILE false)", "PRAGMA database_list",
                  "WITH gone AS (DELETE FROM models RETURNING *) FROM gone"):  # fmt: skip
        with pytest.raises(InputError):
            run.sql(query)
    assert {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()} == before
    assert len(run.sql("FROM responses")) == 6 and len(run.sql("FROM models")) == 2


def test_names_of_the_run_are_names_only(tmp_path):
    """Attributes, labels and fields of a run are texts of others: none of them becomes SQL."""
    evil = "x'] AS y, (SELECT 1); DROP VIEW responses; --\""
    frame = ROWS.assign(attributes=[{evil: evil, "A": "1", "a": "2"}] * 3)
    folder = write_run(tmp_path / "run", frame, models={"m": {"stage": evil, evil: 3, "model": "other"}})
    run = waver.open(folder)
    assert run.wordings()[f"attributes.{evil}"].tolist() == [evil] * 3
    assert {"attributes.A", "attributes.a_2"} <= set(run.wordings())
    assert run.models()["stage"].tolist() == [evil] and run.models()[evil].tolist() == [3]
    assert len(run.responses()) == 3


@pytest.mark.slow
def test_a_relative_path_and_a_damaged_features_file(folder, monkeypatch):
    monkeypatch.chdir(folder.parent)
    assert len(waver.open(folder.name).responses()) == 6
    (folder / "features.parquet").write_bytes(b"damaged")
    with pytest.raises(InputError, match=r"features.parquet: damaged"):
        waver.open(os.curdir).wordings()


def test_a_folder_that_is_none_is_told_at_once(tmp_path, folder):
    edit_run_json(folder, format=99)
    for path in (tmp_path / "nowhere", folder):
        with pytest.raises(InputError):
            waver.open(path)
