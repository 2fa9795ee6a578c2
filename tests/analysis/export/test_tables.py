"""The tables of an export hold what the run holds: compared with loops over the rows of the run's own files."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest

from analysis import runs
from analysis.export import plain
from analysis.export.tables import define_export_tables
from analysis.measures.meaning import read_verdicts_on_wordings
from helpers.commands import waver
from helpers.meaning_runs import write_meaning_run
from helpers.scoring_runs import condition, name_of
from helpers.synthetic import write_run

NASTY = ["=1+1", "@SUM(A1)", "a\r\nb", "a\rb", 'say "no"', "NA", "", "x,y;z\t", "\u2028 \ufeff", "007", "\U0001f600"]
CANONICAL = ("yes", "no")


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """Two models and conditions; probabilities, counts, texts, an error; options in both orders; a study of scores."""
    folder = tmp_path_factory.mktemp("runs")
    rows = pd.DataFrame(
        [
            ("a", "original", "m", "plain", [0.75, 0.125], None, None, None, "yes"),
            ("a", "p1", "m", "plain", [0.0, 0.5], None, None, None, "no"),
            ("a", "p1", "n", "text", None, [2, 1], 8, NASTY, "no"),
            ("b", "original", "m", "plain", None, None, None, None, None),
        ],
        columns=["item", "variant", "model", "condition", "probability", "count", "invalid", "output", "answer"],
    ).assign(
        options=[["yes", "no"], ["no", "yes"], ["no", "yes"], ["yes", "no"]],
        canonical=[["yes", "no"]] * 4,  # of the second wording, "no" means "yes"
        gold=["yes", "yes", "yes", None],
        language=["en", None, None, "ja"],
        parents=[None, ["original"], ["original"], None],
        attributes=[[("task", "t=1"), ("empty", "")], None, None, None],
        error=[None, None, None, "timeout"],
        mass=[0.875, 0.5, np.nan, np.nan],
        text=["=Tea?", "Tea!", "Tea!", "b"],
    )
    rows["logprob"] = [None if p is None else list(np.log(np.maximum(p, 1e-300))) for p in rows["probability"]]
    write_run(folder / "answers", rows, study="answers", canonical=CANONICAL, conditions={"text": {"study": 3, "n": 1}})
    exact = name_of((3, 5), 0.7, "exact")
    scores = pd.DataFrame({"item": ["a"], "variant": ["original"], "probability": [[0.25, 0.5, 0.125]], "score": [3.9],
                           "condition": [exact], "gold_score": [4.0]})  # fmt: skip
    write_run(folder / "scores", scores, protocol="scoring", study="scores", canonical=("lowest", "highest"),
              conditions={exact: condition((3, 5), 0.7, "exact")})  # fmt: skip
    return folder


@pytest.fixture(scope="module")
def exported(run, tmp_path_factory):
    """Kind -> the folder that the command wrote."""
    out = tmp_path_factory.mktemp("out")
    for kind in ("parquet", "csv"):
        waver("analysis", "export", run, "--as", kind, "--out", out / kind)
    return {kind: out / kind for kind in ("parquet", "csv")}


def parquet(exported, name):
    """The rows of a table as tuples, missing values as None, in order."""
    return sorted(
        (tuple(row.values()) for row in pq.read_table(exported["parquet"] / f"{name}.parquet").to_pylist()), key=repr
    )


def own(run, study, table):
    files = [run / study / "stimuli.parquet"] if table == "stimuli" else sorted((run / study).glob("responses/*"))
    return [row for file in files for row in pq.read_table(file).to_pylist()]


@pytest.mark.slow
def test_a_response_has_its_answer_and_whether_it_is_right(exported):
    rows = {row[1:5]: row[5:8] for row in parquet(exported, "responses")}
    assert rows["m", "plain", "a", "original"] == ("yes", "yes", True)
    assert rows["m", "plain", "a", "p1"] == ("no", "yes", True)  # its options are the other way round
    assert rows["n", "text", "a", "p1"] == ("no", "yes", True)
    assert rows["m", "plain", "b", "original"] == (None, None, None)
    failed = [row for row in parquet(exported, "responses") if row[-1] is not None]
    assert [(row[3], row[-1]) for row in failed] == [("b", "timeout")]


def test_an_option_of_a_response_has_its_label_and_numbers(run, exported):
    stimuli = {(row["item"], row["variant"]): row for row in own(run, "answers", "stimuli")}
    slow = []
    for row in own(run, "answers", "responses"):
        wording = stimuli[row["item"], row["variant"]]
        key = [row[name] for name in ("study", "model", "condition", "item", "variant")]
        for place, label in enumerate(wording["options"]):
            numbers = [row[name] and row[name][place] for name in ("probability", "logprob", "count")]
            if numbers != [None, None, None]:
                slow.append((*key, place + 1, label, wording["canonical"][place], *numbers))
    (score,) = own(run, "scores", "responses")
    key = [score[name] for name in ("study", "model", "condition", "item", "variant")]
    slow += [(*key, n + 1, str(3 + n), str(3 + n), p, None, None) for n, p in enumerate(score["probability"])]
    assert parquet(exported, "response_options") == sorted(slow, key=repr)


def test_a_wording_has_its_options_attributes_and_parents(run, exported):
    wordings, options, attributes, parents = [], [], [], []
    for study in ("answers", "scores"):
        for place, row in enumerate(own(run, study, "stimuli")):
            key = (study, row["item"], row["variant"])
            wordings.append((*key, place, row["pattern"], row["language"], row["text"], row["gold"], row["gold_score"]))
            for n, (label, means) in enumerate(zip(row["options"], row["canonical"], strict=True)):
                options.append((*key, n + 1, label, means, None if row["gold"] is None else means == row["gold"]))
            attributes += [(*key, name, value) for name, value in row["attributes"] or ()]
            parents += [(*key, parent) for parent in row["parents"] or ()]
    for name, slow in (("variants", wordings), ("variant_options", options), ("variant_attributes", attributes),
                       ("variant_parents", parents)):  # fmt: skip
        assert parquet(exported, name) == sorted(slow, key=repr), name


def test_texts_of_models_are_untouched(exported):
    rows = sorted(parquet(exported, "response_texts"), key=lambda row: row[5])
    assert [(row[5], row[6]) for row in rows] == list(enumerate(NASTY, start=1))


def test_settings_are_columns_and_none_hides_a_key(exported):
    rows = pq.read_table(exported["parquet"] / "conditions.parquet").to_pylist()
    text = next(row for row in rows if row["condition"] == "text")
    assert (text["study"], text["field_study"], text["n"]) == ("answers", 3, 1)
    scale = next(row for row in rows if row["study"] == "scores")
    assert (json.loads(scale["range"]), scale["temperature"]) == ([3, 5], 0.7)
    models = pq.read_table(exported["parquet"] / "models.parquet").to_pylist()
    assert [(row["model"], row["engine"]) for row in models] == [("m", "causal"), ("n", "causal")]


def test_every_column_is_explained_with_its_type(exported):
    listed = pd.read_csv(exported["parquet"] / "dictionary.csv", keep_default_na=False)
    assert list(listed) == ["table", "column", "type", "unit", "meaning"]
    assert (listed["meaning"].str.len() > 5).all()
    arrow = {"string": "string", "double": "double", "int64": "int64", "boolean": "bool"}
    for name, rows in listed.groupby("table", sort=False):
        found = pq.read_schema(exported["parquet"] / f"{name}.parquet")
        assert [(field.name, str(field.type)) for field in found] == [
            (column, arrow[kind]) for column, kind in zip(rows["column"], rows["type"], strict=True)
        ]
    files = {path.stem for path in exported["parquet"].glob("*.parquet")}
    assert set(listed["table"]) == files
    assert pd.read_csv(exported["csv"] / "dictionary.csv", keep_default_na=False).equals(listed)


def test_csv_read_as_the_card_says_is_parquet_but_for_empty_texts(exported):
    card = (exported["csv"] / "README.md").read_text(encoding="utf-8")
    exact = {"float_precision": "round_trip", "keep_default_na": False, "na_values": [""]}
    assert f"exact = {exact}".replace("'", '"') in card
    listed = pd.read_csv(exported["csv"] / "dictionary.csv", keep_default_na=False)
    for file in sorted(exported["parquet"].glob("*.parquet")):
        texts = listed.loc[(listed["table"] == file.stem) & (listed["type"] == "string"), "column"]
        read = pd.read_csv(exported["csv"] / f"{file.stem}.csv", dtype=dict.fromkeys(texts, str), **exact)
        wanted = pd.read_parquet(file)
        for column in wanted:
            values = zip(read[column], wanted[column], strict=True)
            assert all(mine == its or (pd.isna(mine) and (pd.isna(its) or its == "")) for mine, its in values), column


@pytest.mark.slow
def test_a_table_without_rows_is_left_out(tmp_path, opened):
    written = plain.write_tables_of_runs_and_dictionary(
        opened(pd.DataFrame({"item": ["a"], "variant": ["p1"], "agreement": [0.5]})), tmp_path, "csv"
    )
    assert set(written) == {"responses", "response_options", "variants", "variant_options", "studies", "models",
                            "conditions"}  # fmt: skip
    assert {path.name for path in tmp_path.iterdir()} >= {f"{name}.csv" for name in written} | {"dictionary.csv"}
    assert not (tmp_path / "response_texts.csv").exists()


def test_fields_that_differ_in_case_only_have_columns_of_their_own(tmp_path):
    rows = pd.DataFrame({"item": ["a"], "variant": ["p1"], "agreement": [0.5]})
    path = write_run(tmp_path / "run", rows, conditions={"plain/yes-no": {"Shots": 1, "shots": "two", "model": "x"}})
    names = list(define_export_tables(runs.open_runs(path))["conditions"].columns)
    assert {"Shots", "shots_2", "model"} <= set(names)


@pytest.mark.slow
def test_the_same_run_is_exported_to_the_same_bytes(run, tmp_path):
    opened = runs.open_runs(run)
    for kind in ("parquet", "csv"):
        for name in ("one", "two"):
            (tmp_path / name).mkdir(exist_ok=True)
            plain.write_tables_of_runs_and_dictionary(opened, tmp_path / name, kind)
    for file in (tmp_path / "one").iterdir():
        assert file.read_bytes() == (tmp_path / "two" / file.name).read_bytes()


@pytest.mark.slow
def test_wordings_have_their_meaning_where_it_was_checked(tmp_path):
    run = write_meaning_run(tmp_path / "run", items=4, paraphrases=5)
    opened = runs.open_runs(run)
    (tmp_path / "csv").mkdir()
    plain.write_tables_of_runs_and_dictionary(opened, tmp_path / "csv", "csv")
    read = pd.read_csv(tmp_path / "csv" / "variants.csv", float_precision="round_trip").set_index(["item", "variant"])
    judged = read_verdicts_on_wordings(opened).set_index(["item", "variant"])
    both = read.join(judged[["meaning", "meaning_score"]], rsuffix="_judged", how="inner")
    assert len(both) == len(judged) == 4 * 5
    assert both["meaning"].tolist() == both["meaning_judged"].tolist()
    assert both["meaning_score"].tolist() == pytest.approx(both["meaning_score_judged"].tolist(), abs=0)
    assert set(read.xs("original", level="variant")["meaning"]) == {"same"}
    listed = pd.read_csv(tmp_path / "csv" / "dictionary.csv").set_index(["table", "column"])["meaning"]
    assert listed["variants", "meaning"].startswith("whether the wording means the same")
