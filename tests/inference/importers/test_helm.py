"""`waver import helm`: what comes out of made runs of every kind, and of a real one as far as it is here."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from helpers.eval_logs import helm, perturbed, request, scored
from inference.__main__ import main


@pytest.fixture(scope="module")
def real(shared) -> Path:
    """Other people's logs."""
    return shared / "eval-logs" / "helm"


TYPOS, DIALECT = perturbed("typos", prob=0.1), perturbed("dialect")


def run(out, *arguments):
    """Import, expecting success, and return (run.json, stimuli, responses)."""
    assert main(["import", "helm", *map(str, arguments), "--out", str(out)]) == 0
    parts = sorted((out / "responses").glob("*.parquet"))
    responses = [row for part in parts for row in pq.read_table(part).to_pylist()]
    info = json.loads((out / "run.json").read_text(encoding="utf-8"))
    return info, pq.read_table(out / "stimuli.parquet").to_pylist(), responses


def test_perturbed_instances_are_wordings_of_their_instance(tmp_path, capsys):
    requests = [
        request(instance, letter, perturbation)
        for instance, letters in (("id1", "BAB"), ("id2", "BB?"))
        for letter, perturbation in zip(letters, (None, TYPOS, DIALECT), strict=True)
    ]
    info, stimuli, responses = run(tmp_path / "run", helm(tmp_path / "helm", requests))
    assert (info["study"]["protocol"], info["study"]["canonical"]) == ("choice", ["A", "B", "C"])
    assert info["conditions"] == {
        "import": {
            "form": "import",
            "method": "multiple_choice_joint",
            "metric": "exact_match",
            "temperature": 0.0,
        }
    }
    wordings = ["original/1", "typos/1", "dialect/1"]
    assert [(row["item"], row["variant"]) for row in stimuli] == [(n, w) for n in ("id1", "id2") for w in wordings]
    assert [row["pattern"] for row in stimuli[:3]] == ["original", "typos", "dialect"]
    assert stimuli[0]["text"] == "Which colour has id1?" and stimuli[1]["text"] == "WHICH colour haz id1?"
    assert {row["gold"] for row in stimuli} == {"B"}
    assert [row["answer"] for row in responses] == ["B", "A", "B", "B", "B", None]
    assert {row["model"] for row in responses} == {"made/up"}
    assert "2 instances, accuracy 1.000 of 2 in test" in capsys.readouterr().out


def test_the_accuracy_of_a_part_of_a_split_is_not_taken_for_that_of_the_split(tmp_path, capsys):
    folder = helm(tmp_path / "helm", [request("id1", "B", None), request("id2", "A", None)])
    name = {"name": "exact_match", "split": "test"}
    stats = [{"name": name, "mean": 0.5}, {"name": {**name, "sub_split": "toxic"}, "mean": 1.0}]
    (folder / "stats.json").write_text(json.dumps(stats), encoding="utf-8")
    run(tmp_path / "run", folder)
    assert "accuracy 0.500 of 2 in test, as the run states" in capsys.readouterr().out


def test_perturbations_of_one_name_are_numbered(tmp_path):
    seeds = [None, perturbed("typos"), perturbed("typos", seed=1), perturbed("typos", seed=2)]
    requests = [request("id1", "B", each) for each in seeds]
    _, stimuli, _ = run(tmp_path / "run", helm(tmp_path / "helm", requests))
    assert [row["pattern"] for row in stimuli] == ["original", "typos", "typos-2", "typos-3"]


def test_settings_of_the_prompt_are_wordings(tmp_path):
    for shots in (0, 5):
        made = [request("id1", "B"), request("id1", "A", TYPOS)]
        helm(tmp_path / "suite" / f"shots-{shots}", made, max_train_instances=shots)
    _, stimuli, responses = run(tmp_path / "run", tmp_path / "suite")
    names = [f"max_train_instances={shots}{also}" for shots in (0, 5) for also in ("", ", typos")]
    assert [row["pattern"] for row in stimuli] == names
    assert stimuli[0]["text"].startswith("Say a letter.")  # the prompts differ, so the whole prompt is the wording
    assert len(responses) == 4


def test_prompts_that_differ_in_blanks_alone_are_two_wordings(tmp_path):
    for number, instructions in enumerate(["Say a letter.", "Say a letter.\n"]):
        helm(tmp_path / "suite" / f"{number}", [request()], instructions=instructions)
    _, stimuli, _ = run(tmp_path / "run", tmp_path / "suite")
    assert [row["pattern"] for row in stimuli] == ["instructions-1", "instructions-2"]


def test_settings_of_the_generation_are_conditions(tmp_path):
    for temperature in (0.0, 1.0):
        helm(tmp_path / f"t{temperature}", [request()], temperature=temperature)
    info, stimuli, _ = run(tmp_path / "run", tmp_path / "t0.0", tmp_path / "t1.0")
    assert list(info["conditions"]) == ["temperature=0.0", "temperature=1.0"] and len(stimuli) == 1


@pytest.mark.parametrize("words", [["--right-or-wrong"], ["--scores"]])
def test_the_method_is_told_of_a_condition_whose_runs_all_have_it(tmp_path, words):
    """It was that of the first run, also of a condition that has another one, too."""
    for name, method in (("qa", "generation"), ("mmlu", "multiple_choice_joint")):
        helm(tmp_path / name, [request()], name=name, method=method)
    info, _, _ = run(tmp_path / "both", tmp_path / "qa", tmp_path / "mmlu", *words)
    assert all("method" not in fields for fields in info["conditions"].values())
    info, _, _ = run(tmp_path / "one", tmp_path / "qa", *words)
    assert {fields["method"] for fields in info["conditions"].values()} == {"generation"}


def test_trials_are_conditions(tmp_path):
    requests = [request("id1", "B"), request("id1", "A", train_trial_index=1)]
    info, stimuli, responses = run(tmp_path / "run", helm(tmp_path / "helm", requests))
    assert (
        list(info["conditions"]) == ["import", "import/trial 2"] and info["conditions"]["import/trial 2"]["trial"] == 2
    )
    assert len(stimuli) == 1 and [row["answer"] for row in responses] == ["B", "A"]


def test_choices_that_are_asked_about_apart(tmp_path):
    """HELM says which choice was likeliest; each has a request of its own, and one for its prior probability."""
    requests = [
        {**request(), "output_mapping": None, "reference_index": place, "request_mode": mode}
        for place in range(3)
        for mode in ("original", "calibration")
    ]
    stats = [scored(requests[0], exact_match=1.0, predicted_index=1.0)]
    folder = helm(tmp_path / "helm", requests, stats=stats, method="multiple_choice_separate_calibrated")
    _, stimuli, responses = run(tmp_path / "run", folder)
    assert [(row["answer"], row["output"]) for row in responses] == [("B", None)]
    assert stimuli[0]["options"] == ["A", "B", "C"] and stimuli[0]["gold"] == "B"


def test_texts_are_right_or_wrong(tmp_path, capsys):
    requests = [{**request(name, " green", each), "output_mapping": None} for name in ("id1", "id2", "id3")
                for each in (None, TYPOS)]  # fmt: skip
    values = [1.0, 0.0, 0.5, 1.0, 0.0, 1.0]
    stats = [scored(each, f1_score=value) for each, value in zip(requests, values, strict=True)]
    folder = helm(tmp_path / "helm", requests, stats=stats, method="generation")
    info, stimuli, responses = run(tmp_path / "run", folder, "--metric", "f1_score")
    assert info["study"]["canonical"] == ["right", "wrong"]
    assert [row["variant"] for row in stimuli] == ["original", "typos"] * 3
    assert [row["answer"] for row in responses] == ["right", "wrong", "wrong", "right", "wrong", "right"]
    assert "1 partial score taken as wrong" in capsys.readouterr().out


def test_a_nul_that_a_model_wrote_is_no_reason_to_refuse_its_run(tmp_path):
    _, _, responses = run(tmp_path / "run", helm(tmp_path / "helm", [request("id1", " B\0", output_mapping=None)]),
                          "--right-or-wrong")  # fmt: skip
    assert responses[0]["output"] == [" B\ufffd"]


def test_what_is_wanting_is_told(tmp_path, capsys):
    failed = request("id2", result={"success": False, "completions": [], "error": "no quota"})
    requests = [request("id1", "B"), request("id1", "B", TYPOS), failed]
    _, _, responses = run(tmp_path / "run", helm(tmp_path / "helm", requests))
    assert [row["error"] for row in responses] == [None, None, "no completion (no quota)"]
    told = capsys.readouterr().out
    assert "1 without some of the 2 wordings; the page on choices needs them all, --right-or-wrong does not" in told
    assert "1 without a response" in told


@pytest.mark.parametrize("outcomes", [False, True])
def test_the_real_run_has_the_accuracies_that_it_states(tmp_path, capsys, real, outcomes):
    """By split, from the rows; `stats.json` states them of all instances that were not perturbed."""
    folder = real / "mmlu-philosophy-gpt2"
    stated = {
        stat["name"]["split"]: stat["mean"]
        for stat in json.loads((folder / "stats.json").read_text(encoding="utf-8"))
        if stat["name"]["name"] == "exact_match" and "perturbation" not in stat["name"]
    }
    assert stated == {"test": pytest.approx(1 / 9), "valid": 0.0}
    _, stimuli, responses = run(tmp_path / "run", folder, *(["--right-or-wrong"] if outcomes else []))
    asked = {row["item"]: (dict(row["attributes"])["split"], row["gold"]) for row in stimuli}
    for split, accuracy in stated.items():
        right = [row["answer"] == asked[row["item"]][1] for row in responses if asked[row["item"]][0] == split]
        assert sum(right) / len(right) == pytest.approx(accuracy, abs=1e-12)
    assert capsys.readouterr().out.count("as the run states") == 2


def test_the_real_run_says_of_every_instance_what_helm_says(tmp_path, real):
    folder = real / "mmlu-philosophy-gpt2"
    stats = json.loads((folder / "per_instance_stats.json").read_text(encoding="utf-8"))
    means = {
        entry["instance_id"]: stat["mean"]
        for entry in stats
        for stat in entry["stats"]
        if stat["name"]["name"] == "exact_match"
    }
    _, stimuli, responses = run(tmp_path / "run", folder)
    gold = {row["item"]: row["gold"] for row in stimuli}
    assert {row["item"]: float(row["answer"] == gold[row["item"]]) for row in responses} == means
