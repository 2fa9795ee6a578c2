"""Records of Every Eval Ever: valid by the schema's facts, with the scores that a loop over the rows gives."""

from __future__ import annotations

import json
import statistics

import numpy as np
import pandas as pd
import pytest

from analysis.export import eee_metrics
from helpers.choice_runs import LETTER, questions, write_choice
from helpers.commands import waver
from helpers.eee_facts import checked
from helpers.scoring_runs import condition, name_of
from helpers.synthetic import write_run

pytestmark = pytest.mark.slow

YES_NO = ("yes", "no")


def export(run, out):
    """Export a run; the records, and what was said on standard error."""
    said = waver("analysis", "export", run, "--as", "eee", "--out", out)
    return checked(out), said.stderr


@pytest.fixture
def golden(tmp_path):
    """Right answers: probabilities in both orders, one answer, samples; a row without gold, one with an error."""
    rows = pd.DataFrame(
        [
            ("a", "original", [0.5, 0.25], None, None, "yes", "yes", None, None),
            ("a", "p1", [0.5, 0.25], None, None, None, "yes", None, None),  # "yes" is shown second: wrong
            ("b", "original", None, [1, 2], 1, "no", "no", [" no", "no", "yes", "?"], None),
            ("b", "p1", None, None, None, "yes", "no", ["yes"], None),
            ("c", "original", [0.5, 0.25], None, None, "yes", None, None, None),
            ("c", "p1", None, None, None, None, "yes", None, "timeout"),
        ],
        columns=["item", "variant", "probability", "count", "invalid", "answer", "gold", "output", "error"],
    ).assign(model="org/m:1", text=["\u2028 A?", "a", "b", "b!", "c", "c!"])
    rows["canonical"] = [list(YES_NO)] * 6
    rows["options"] = [["yes", "no"], ["yes", "no"], ["yes", "no"], ["yes", "no"], ["yes", "no"], ["yes", "no"]]
    rows.at[1, "canonical"] = ["no", "yes"]
    return write_run(tmp_path / "run", rows, protocol="wording", study="Is it? a/b", canonical=YES_NO)


def test_accuracy_is_the_share_of_right_answers(golden, tmp_path):
    (found,), said = export(golden, tmp_path / "out")
    whole, rows = found
    scores = {row["sample_id"]: (row["evaluation"]["score"], row["evaluation"]["is_correct"]) for row in rows}
    assert scores == {"a/original": (1.0, True), "a/p1": (0.0, False), "b/original": (0.5, False), "b/p1": (0.0, False)}
    (result,) = whole["evaluation_results"]
    values = [score for score, _ in scores.values()]
    assert result["score_details"]["score"] == pytest.approx(statistics.mean(values), abs=1e-15)
    spread = result["score_details"]["uncertainty"]
    assert spread["standard_deviation"] == pytest.approx(statistics.stdev(values), abs=1e-15)
    assert spread["num_samples"] == 4
    assert result["metric_config"]["metric_id"] == "accuracy"
    assert "need a score: 1 without a response, 1 without a right answer, in a study that has them" in said
    assert result["score_details"]["details"]["responses without a response"] == "1"
    assert "Not in the records" in (tmp_path / "out" / "README.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("gold", ["A", "B"])
def test_two_equally_likely_options_are_no_answer(tmp_path, gold):
    asked = questions(1, 1, choices=(2,)).head(1)
    asked["gold"], asked["canonical"] = gold, [["A", "B"]]
    rows = asked.assign(model="m", condition=LETTER, probability=[[0.5, 0.5]], mass=1.0, answer="A")
    ((_, (row,)),), _ = export(write_choice(tmp_path / "run", rows), tmp_path / "out")
    assert row["evaluation"] == {"score": 0.0, "is_correct": False}
    assert row["answer_attribution"] == []


def test_a_row_says_what_was_asked_answered_and_right(golden, tmp_path):
    ((whole, rows),), _ = export(golden, tmp_path / "out")
    row = {each["sample_id"]: each for each in rows}["a/p1"]
    assert row["input"] == {"raw": "a", "reference": ["no"], "choices": ["yes", "no"]}  # "no" as shown means yes
    (given,) = row["answer_attribution"]
    assert (given["extracted_value"], given["source"]) == ("yes", "metadata.waver_probability")
    own = {name: row["metadata"][f"waver_{name}"] for name in ("item", "variant", "pattern", "gold", "position")}
    assert own == {"item": "a", "variant": "p1", "pattern": "paraphrase", "gold": "yes", "position": "1"}
    texts = {each["sample_id"]: each["output"]["raw"] for each in rows}
    assert texts["b/original"] == [" no", "no", "yes", "?"] and texts["a/p1"] == []
    assert (whole["model_info"]["id"], whole["model_info"]["developer"]) == ("org/m:1", "org")
    assert whole["detailed_evaluation_results"]["file_path"].startswith("data/Is it_ a_b/org/m_1/")


def test_without_right_answers_the_probability_of_the_first_option_is_the_score(tmp_path):
    rows = pd.DataFrame({"item": ["a"] * 3, "variant": ["original", "p1", "p2"], "agreement": [0.25, 1.0, np.nan]})
    rows = rows.assign(mass=[0.5, 1.0000005, np.nan], count=[None, None, [3, 0]], invalid=[None, None, 1])
    ((whole, found),), said = export(write_run(tmp_path / "run", rows), tmp_path / "out")
    assert [row["evaluation"]["score"] for row in found] == [0.125, 1.0, 0.75]
    assert not any(row["evaluation"]["is_correct"] for row in found)
    (result,) = whole["evaluation_results"]
    assert result["metric_config"]["metric_id"] == "waver.probability_of_first_option"
    assert "'agree'" in result["metric_config"]["evaluation_description"]
    assert said == ""


def test_scores_have_the_bounds_of_their_scale_and_rows_without_a_number_are_counted(tmp_path):
    name = name_of((3, 5), 0.7, "sampled")
    rows = pd.DataFrame({"item": ["a", "b"], "variant": ["original"] * 2, "score": [4.5, np.nan], "invalid": [0, 2]})
    rows = rows.assign(output=[["4", "5"], ["?", "!"]], condition=name, gold_score=[4.0, 3.0])
    run = write_run(tmp_path / "run", rows, protocol="scoring", canonical=("lowest", "highest"),
                    conditions={name: condition((3, 5), 0.7, "sampled")})  # fmt: skip
    ((whole, found),), said = export(run, tmp_path / "out")
    (result,) = whole["evaluation_results"]
    assert [row["evaluation"]["score"] for row in found] == [result["score_details"]["score"]] == [4.5]
    assert (result["metric_config"]["min_score"], result["metric_config"]["max_score"]) == (3, 5)
    assert found[0]["input"]["reference"] == ["4.0"]
    assert "1 without a number on the scale" in said
    assert result["generation_config"]["generation_args"] == {"temperature": 0.7}
    assert "standard_deviation" not in result["score_details"]["uncertainty"]  # of one score


def test_a_scale_that_nobody_names_has_no_bounds():
    found = eee_metrics.choose_metric_of_condition(
        ("lowest", "highest"), {"range": "1-5"}, has_right_answers=False
    ).config
    assert (found["min_score"], found["max_score"]) == ("-Infinity", "Infinity")


def test_the_same_run_has_the_same_names_whenever_it_is_exported(golden, tmp_path):
    first, second = (export(golden, tmp_path / name)[0][0][0] for name in ("one", "two"))
    for field in ("evaluation_id", "detailed_evaluation_results", "evaluation_results"):
        assert first[field] == second[field]


@pytest.mark.parametrize("revision", [None, "r1"])
def test_models_whose_names_differ_by_a_slash_have_two_ids(tmp_path, revision):
    rows = pd.DataFrame({"item": ["a"], "variant": ["p1"], "agreement": [0.5]})
    names = ["a/b", "a_b"]
    rows = pd.concat(rows.assign(model=name) for name in names)
    run = write_run(tmp_path / "run", rows, models={name: {"revision": revision} for name in names})
    records, _ = export(run, tmp_path / "out")
    assert len({whole["evaluation_id"] for whole, _ in records}) == 2


def test_who_ran_imported_answers_is_unknown(tmp_path):
    rows = pd.DataFrame({"item": ["a"], "variant": ["p1"], "agreement": [0.5]})
    run = write_run(tmp_path / "run", rows, models={"m": {"engine": "import"}})
    ((whole, _),), _ = export(run, tmp_path / "out")
    assert whole["eval_library"]["name"] == whole["eval_library"]["version"] == "unknown"
    assert "inference_engine" not in whole["model_info"]


def test_nothing_to_carry_is_refused_and_leaves_nothing(tmp_path):
    rows = pd.DataFrame({"item": ["a"], "variant": ["p1"], "error": ["timeout"]})
    run = write_run(tmp_path / "run", rows)
    done = waver("analysis", "export", run, "--as", "eee", "--out", tmp_path / "out" / "deep", check=False)
    assert done.returncode == 2 and "1 without a response" in done.stderr
    assert not (tmp_path / "out").exists()


def test_every_demo_answer_makes_valid_records(demo_run, tmp_path):
    records, _ = export(demo_run, tmp_path / "out")
    assert len(records) == 3
    info = json.loads((demo_run / "run.json").read_text(encoding="utf-8"))
    for whole, rows in records:
        assert whole["eval_library"]["name"] == "waver"
        assert whole["model_info"]["additional_details"]["revision"] == info["models"][rows[0]["model_id"]]["revision"]
