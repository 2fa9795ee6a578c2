"""`waver import accuracies`: what a table of accuracies becomes, and what is said about per cent and whole numbers."""

from __future__ import annotations

import json

import pyarrow.parquet as pq
import pytest

from inference.__main__ import main

TABLE = """model,task,template,accuracy,n,shots
m,t1,a,0.5,10,0
m,t1,b,0.25,8,0
m,t2,a,1,10,0
k,t1,a,0,10,5
"""


def imported(folder, text, *options, name="acc.csv"):
    """Import a table, expecting success, and return the run folder."""
    (folder / name).write_text(text, encoding="utf-8")
    assert main(["import", "accuracies", str(folder / name), "--out", str(folder / "run"), *options]) == 0
    return folder / "run"


def rows(run):
    return [row for part in sorted((run / "responses").glob("*.parquet")) for row in pq.read_table(part).to_pylist()]


def test_a_task_is_an_item_and_a_template_a_variant(tmp_path, capsys):
    run = imported(tmp_path, TABLE, "--condition-column", "shots", "--name", "mine")
    info = json.loads((run / "run.json").read_text(encoding="utf-8"))
    assert (info["study"]["protocol"], info["study"]["name"]) == ("accuracies", "mine")
    assert info["conditions"] == {
        "shots 0": {"form": "import", "shots": "0"}, "shots 5": {"form": "import", "shots": "5"}
    }  # fmt: skip
    assert info["expected"] == {"m": {"shots 0": 3}, "k": {"shots 5": 1}}  # nothing is missing
    stimuli = pq.read_table(run / "stimuli.parquet").to_pylist()
    assert [(s["item"], s["variant"], s["pattern"], s["gold"], s["options"]) for s in stimuli] == [
        (task, variant, "template", "right", ["right", "wrong"])
        for task, variant in (("t1", "a"), ("t1", "b"), ("t2", "a"))
    ]
    assert [(r["model"], r["condition"], r["item"], r["variant"], r["score"], r["n"]) for r in rows(run)] == [
        ("m", "shots 0", "t1", "a", 0.5, 10), ("m", "shots 0", "t1", "b", 0.25, 8),
        ("m", "shots 0", "t2", "a", 1.0, 10),
        ("k", "shots 5", "t1", "a", 0.0, 10),
    ]  # fmt: skip
    assert all(r["count"] is r["probability"] is r["answer"] is None for r in rows(run))
    assert capsys.readouterr().out.splitlines()[:-1] == [
        "mine: 2 items, 3 variants",
        "2 models under 2 conditions: 4 scores, mean 0.438",
        "accuracies from 0 to 1 are shares, recognised by their size",
    ]


@pytest.mark.parametrize(
    ("numbers", "options", "shares", "said"),
    [
        (("54.5", "2", "0"), (), (0.545, 0.02, 0), "0 to 54.5 are per cent, recognised by their size: divided by 100"),
        (("54.5%", "0.5 %", "0%"), (), (0.545, 0.005, 0), "0 to 54.5 are per cent, by their sign: divided by 100"),
        (("54.5", "0.5", "0"), ("--scale", "percent"), (0.545, 0.005, 0), "per cent, as --scale says: divided by 100"),
        (("0.5", "1", "0"), ("--scale", "percent"), (0.005, 0.01, 0), "per cent, as --scale says: divided by 100"),
        (("0.5", "1", "1.0"), ("--scale", "share"), (0.5, 1, 1), "0.5 to 1 are shares, as --scale says"),
    ],
)  # fmt: skip
def test_per_cent_is_recognised_and_told(tmp_path, capsys, numbers, options, shares, said):
    text = "model,task,template,accuracy,n\n" + "".join(f"m,t,{i},{number},200\n" for i, number in enumerate(numbers))
    run = imported(tmp_path, text, *options)
    assert [row["score"] for row in rows(run)] == pytest.approx(shares, abs=1e-15)
    assert said in capsys.readouterr().out.splitlines()[2]


@pytest.mark.parametrize(
    ("accuracy", "n", "whole"),
    [("0.548", 900, True), ("54.8%", 900, True), ("0.543", 10, False), ("0.3333333333333333", 3, True),
     ("0.33", 3, True), ("0.34", 3, False), ("1", 7, True)],
)  # fmt: skip
def test_accuracies_that_are_no_share_of_n_are_told(tmp_path, capsys, accuracy, n, whole):
    """493 of 900 is 0.5478, which is 0.548; 5 of 10 and 6 of 10 are not 0.543."""
    imported(tmp_path, f"model,task,template,accuracy,n\nm,t,a,{accuracy},{n}\n")
    told = [line for line in capsys.readouterr().out.splitlines() if "no whole number" in line]
    assert (told == []) is whole
    assert whole or "1 of 1 accuracy," in told[0]


def test_columns_have_other_names_and_files_of_any_kind(tmp_path):
    table = [
        {"llm": "m", "bench": "t", "prompt": prompt, "acc": acc, "size": 4} for prompt, acc in ((1, 0.5), (2, 0.75))
    ]
    names = [word for role, name in (("model", "llm"), ("task", "bench"), ("template", "prompt"), ("accuracy", "acc"),
             ("n", "size")) for word in (f"--{role}-column", name)]  # fmt: skip
    run = imported(tmp_path, json.dumps(table), *names, name="acc.json")
    assert [(row["variant"], row["score"]) for row in rows(run)] == [("1", 0.5), ("2", 0.75)]


def test_the_same_table_again_adds_nothing(tmp_path, capsys):
    run = imported(tmp_path, TABLE, "--condition-column", "shots")
    before = rows(run)
    imported(tmp_path, TABLE, "--condition-column", "shots")
    assert rows(run) == before
    assert "2 models under 2 conditions: all is here already, nothing to do" in capsys.readouterr().out.splitlines()
