"""What `waver export --as eee` writes, `waver import eee` reads: the same numbers of every protocol."""

from __future__ import annotations

import json
import math

import numpy as np
import pandas as pd
import pytest

from analysis import runs
from helpers.commands import ROOT, waver
from helpers.eee_facts import checked
from helpers.synthetic import write_run
from inference import protocols

pytestmark = pytest.mark.slow

MODEL = ROOT / "inference" / "demo" / "models" / "waver-demo-small-tuned"
WAYS = {
    "agreement": [["--answer", "probability", "text", "--wordings", "4"]],
    "wording": [["--shots", "0,4"]],
    "negation": [[]],
    "scoring": [["--range", "0-9", "--temperature", "0.7", "--exact"]],
    "choice": [["--orders", "2"], ["--orders", "2", "--answer", "text"]],
    "scale": [
        ["--options", "no;maybe;yes", "--labels", "numbers", "letters", "--without-middle"],
        ["--options", "no;maybe;yes", "--labels", "numbers", "--without-middle", "--answer", "text"],
    ],
}


def there_and_back(run, folder):
    """Export a run and import it again; both opened."""
    waver("analysis", "export", run, "--as", "eee", "--out", folder / "records")
    said = waver("inference", "import", "eee", folder / "records", "--out", folder / "back").stdout
    return runs.open_runs(run), runs.open_runs(folder / "back"), said


def responses(opened):
    """Key -> all other columns of a response, lists included."""
    rows = opened.execute("SELECT * FROM responses").fetchall()
    assert rows
    return {row[:5]: row[5:] for row in rows}


def wordings(opened, keys):
    """The wordings that were asked, without their place in the study."""
    found = opened.execute("SELECT * EXCLUDE (position) FROM stimuli").fetchall()
    asked = {(key[0], *key[3:]) for key in keys}
    return {row[:3]: row[3:] for row in found if row[:3] in asked}


def test_every_protocol_is_tried():
    assert set(WAYS) == set(protocols.list_protocols())


@pytest.mark.parametrize("protocol", WAYS)
def test_answers_of_every_protocol_come_back_with_the_same_numbers(protocol, tmp_path):
    for way in WAYS[protocol]:
        waver("inference", "run", protocol, "--items", "demo", "--model", MODEL, "--limit", "2", "--form", "plain",
              *way, "--out", tmp_path / "run")  # fmt: skip
    first, back, _ = there_and_back(tmp_path / "run", tmp_path)
    checked(tmp_path / "records")
    assert responses(back) == responses(first)
    assert wordings(back, responses(first)) == wordings(first, responses(first))
    assert back.info["conditions"] == first.info["conditions"]
    (mine,), (its,) = back.info["studies"].values(), first.info["studies"].values()
    for field in ("protocol", "name", "canonical", "source"):
        assert mine[field] == its[field]
    for name, fields in first.info["models"].items():
        again = back.info["models"][name]
        assert [again.get(key) for key in ("revision", "parameters")] == [fields["revision"], fields["parameters"]]
        assert (again["engine"], again["family"]) == ("import", "causal")


def test_a_study_of_which_all_was_asked_is_the_same_study_and_has_the_same_tables(demo_run, tmp_path):
    first, back, said = there_and_back(demo_run, tmp_path)
    (mine,), (its,) = back.info["studies"].values(), first.info["studies"].values()
    assert mine["hash"] == its["hash"]
    assert responses(back) == responses(first)
    assert "mean mass" in said
    printed = [waver("analysis", "table", run, "items").stdout for run in (demo_run, tmp_path / "back")]
    assert printed[0] == printed[1]
    again = waver("inference", "import", "eee", tmp_path / "records", "--out", tmp_path / "back").stdout
    assert again.count("is here already, nothing to do") == 6


def test_numbers_that_json_has_not_and_texts_of_any_kind_come_back(tmp_path):
    rows = pd.DataFrame(
        {
            "item": ["a", "a", "b"], "variant": ["original", "p/1", "original"], "model": "org/m",
            "probability": [[1.0, 0.0], [0.1 + 0.2, 5e-324], None],
            "logprob": [[0.0, -math.inf], [math.log(0.1 + 0.2), math.log(5e-324)], None],
            "mass": [1.0, 0.1 + 0.2, np.nan], "mass_upper": [np.nan, 0.5, np.nan],
            "text_logprob": [-12.5, np.nan, np.nan],
            "count": [None, None, [2, 1]], "invalid": [None, None, 1], "answer": ["agree", None, "agree"],
            "output": [None, None, ["=1", "\u2028\r\n\U0001f600", "", "x"]], "text": ["\u2028 日本", "a\r\nb", '"'],
            "attributes": [[("task", "t=1"), ("a", "")], None, None], "parents": [None, ["original"], None],
            "language": ["ja", None, None], "error": [None, None, None],
        }
    )  # fmt: skip
    lost = pd.DataFrame({"item": ["b"], "variant": ["p1"], "model": ["org/m"], "error": ["timeout"],
                         "text": ["b!"]})  # fmt: skip
    run = write_run(tmp_path / "run", pd.concat([rows, lost], ignore_index=True))
    first, back, said = there_and_back(run, tmp_path)
    assert responses(back) == responses(first)
    assert wordings(back, responses(first)) == wordings(first, responses(first))
    assert back.execute("SELECT count(*) FROM errors").fetchall() == [(0,)]  # a failed response has no record
    (record,) = (tmp_path / "records").glob("data/*/org/m/*.json")
    details = json.loads(record.read_text(encoding="utf-8"))["evaluation_results"][0]["score_details"]["details"]
    assert details == {"responses": "3", "responses without a response": "1"}
    assert "3 of 3 variants" in said


def test_scores_are_told_as_scores(tmp_path):
    waver("inference", "run", "scoring", "--items", "demo", "--model", MODEL, "--limit", "3", "--range", "0-9",
          "--temperature", "0.7", "--out", tmp_path / "run")  # fmt: skip
    first, _, said = there_and_back(tmp_path / "run", tmp_path)
    mean = first.execute("SELECT avg(score) FROM responses").fetchall()[0][0]
    assert f"3 of 3 variants, 3 scores, mean {mean:.3f}" in said
