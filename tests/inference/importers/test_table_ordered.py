"""`import table --ordered`: people's or models' answers on rating scales, as codes, texts, counts or probabilities."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow.parquet as pq
import pytest

from inference.__main__ import main

THREE = "No=1;Maybe=2;Yes=3"
COLUMNS = ("--model-column", "respondent", "--scale-column", "scale", "--key-column", "key", "--answer-column", "code")
TABLE = """respondent,item,text,scale,key,code
p1,a,I like trains.,E,1,3
p1,b,I avoid trains.,E,-1,1
p2,a,I like trains.,E,1,2
p2,b,I avoid trains.,E,-1,9
"""


def read(folder: Path, table: str, *options: str) -> tuple[dict[str, Any], list[dict[str, Any]], list[dict[str, Any]]]:
    """Import a table; returns run.json, the stimuli and the responses."""
    (folder / "t.csv").write_text(table, encoding="utf-8")
    call = [
        "import",
        "table",
        str(folder / "t.csv"),
        "--out",
        str(folder / "run"),
        "--ordered",
        "--item-column",
        "item",
    ]
    assert main([*call, "--text-column", "text", *options]) == 0
    run = json.loads((folder / "run" / "run.json").read_text(encoding="utf-8"))
    stimuli = pq.read_table(folder / "run" / "stimuli.parquet").to_pylist()
    parts = (folder / "run" / "responses").iterdir()
    return run, stimuli, [row for part in parts for row in pq.read_table(part).to_pylist()]


def test_respondents_are_models_and_codes_are_options(tmp_path):
    run, stimuli, rows = read(tmp_path, TABLE, *COLUMNS, "--options", THREE)
    assert (run["study"]["protocol"], run["study"]["canonical"]) == ("scale", ["1", "2", "3"])
    assert list(run["models"]) == ["p1", "p2"]
    assert [(s["options"], s["canonical"], sorted(s["attributes"])) for s in stimuli] == [
        (["No", "Maybe", "Yes"], ["1", "2", "3"], [("key", key), ("scale", "E")]) for key in ("1", "-1")]  # fmt: skip
    assert [(row["model"], row["item"], row["answer"]) for row in rows] == [
        ("p1", "a", "Yes"), ("p1", "b", "No"), ("p2", "a", "Maybe"), ("p2", "b", None)]  # fmt: skip


def test_a_code_with_a_point_is_the_whole_number(tmp_path):
    """Pandas writes a column with an empty cell so."""
    _, _, rows = read(tmp_path, TABLE.replace(",3\n", ",3.0\n").replace(",1\n", ",1.5\n"), *COLUMNS, "--options", THREE)
    assert [row["answer"] for row in rows] == ["Yes", None, "Maybe", None]


def test_probabilities_and_counts_have_a_column_for_every_option(tmp_path):
    table = "item,text,m,p1,p2,p3\na,One.,x,0.5,0.25,0.125\n"
    columns = "Strongly no=p1,Maybe=p2,Yes=p3"
    _, stimuli, (row,) = read(tmp_path, table, "--model-column", "m", "--probability-columns", columns)
    assert (row["probability"], row["mass"], stimuli[0]["canonical"]) == ([0.5, 0.25, 0.125], 0.875, ["1", "2", "3"])
    (tmp_path / "counts").mkdir()
    table = "item,text,m,p1,p2,p3,bad\na,One.,x,4,0,2,1\n"
    options = ("--model-column", "m", "--count-columns", columns, "--invalid-column", "bad")
    _, _, (row,) = read(tmp_path / "counts", table, *options)
    assert (row["count"], row["invalid"]) == ([4, 0, 2], 1)


def test_texts_are_read_for_an_option_and_those_without_one_are_counted(tmp_path, capsys):
    texts = ("I strongly agree.", "Agree", "1) Strongly disagree", "As an AI I cannot say.", "I do not agree.", "Yes.")
    table = "item,text,m,reply\n" + "".join(f"i{n},Text {n}.,x,{text}\n" for n, text in enumerate(texts))
    _, _, rows = read(tmp_path, table, "--model-column", "m", "--completion-column", "reply", "--options",
                      "Strongly disagree; Disagree; Agree; Strongly agree")  # fmt: skip
    answers = ["Strongly agree", "Agree", "Strongly disagree", None, None, None]  # how far the last two do not say
    assert [row["answer"] for row in rows] == answers
    assert "6 of 6 variants, 3 of 6 answers invalid" in capsys.readouterr().out


@pytest.mark.slow
def test_the_texts_of_rottger_are_imported(tmp_path, shared, capsys):
    """Four options as texts, two of eight models, ten templates of 62 propositions (Roettger et al., 2024)."""
    folder = shared / "llm-values-pct" / "explicit-paraphrase"
    files = [str(folder / f"{name}.csv") for name in ("gpt-3.5-turbo-1106", "Llama-2-13b-chat-hf")]
    call = ["import", "table", *files, "--ordered", "--model-column", "model", "--item-column", "pct_id",
            "--variant-column", "templ_id", "--completion-column", "completion", "--condition-column", "jail_id",
            "--options", "Strongly disagree;Disagree;Agree;Strongly agree", "--out", str(tmp_path / "run")]  # fmt: skip
    assert main(call) == 0
    said = capsys.readouterr().out
    assert "gpt-3.5-turbo-1106 jail-04: 620 of 620 variants, 12 of 620 answers invalid" in said
    assert "Llama-2-13b-chat-hf jail-04: 620 of 620 variants, 414 of 620 answers invalid" in said


@pytest.mark.slow
def test_people_stand_as_respondents(tmp_path, shared):
    """The first 300 people of the file: their codes, one for one."""
    people, items = (pd.read_csv(shared / "bfi" / name) for name in ("responses.csv", "items.csv"))
    people = people.head(300)
    long = people.melt("respondent", list(items["item"]), "item", "code").merge(items, on="item")
    long["code"] = long["code"].astype("Int64")
    labels = [f"Level {code}" for code in range(1, 7)]
    options = ";".join(f"{label}={code}" for code, label in enumerate(labels, start=1))
    run, _, rows = read(tmp_path, long.to_csv(index=False), *COLUMNS, "--options", options)
    assert len(run["models"]) == 300
    answers = {(row["model"], row["item"]): row["answer"] for row in rows}
    expected = {
        (str(row.respondent), row.item): None if pd.isna(row.code) else f"Level {row.code}" for row in long.itertuples()
    }
    assert answers == expected
