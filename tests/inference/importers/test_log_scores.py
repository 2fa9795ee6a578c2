"""`waver import ... --scores`: every number that a log has of an answer comes out as it went in.

References are the numbers of the logs themselves: sums are compared to 1e-12 of the largest number, by `math.fsum`.
"""

from __future__ import annotations

import json
import math

import pytest

from helpers.eval_logs import as_eval as inspect_log
from helpers.eval_logs import (
    eee_record,
    eee_result,
    eee_row,
    helm,
    import_scores,
    perturbed,
    request,
    scored,
    scores_by_condition,
    text_sample,
    write,
)
from helpers.eval_logs import header as inspect_header
from helpers.lm_eval_logs import SNOW, TEA, TEXT, letters, written
from helpers.lm_eval_logs import write as write_lm_eval
from inference.__main__ import main

pytestmark = pytest.mark.slow

SHAPES = {
    "judged": ("0-1", [0, 0.5, 1, 0.5, 1, 0]),
    "likert": ("1-5", [1, 5, 3, 3.5, 2, 4]),
    "f1": ("0-1", [0.0, 0.3333333333333333, 0.1, 0.2, 0.75, 1e-3]),
    "tests": ("0-10", [0, 10, 7, 7, 3, 1]),
    "ms": (None, [120.5, 1e4, 3, 99999.25, -1, 0]),
}
RANGES = [f"--score-range={name}={ends}" for name, (ends, _) in SHAPES.items() if ends]
OPTIONS = ["--scores", *RANGES, "--lower-is-better", "ms"]


def check_shapes(info, rows, setting=""):
    """The scores of all shapes, their sums to 1e-12, and what the conditions say of them."""
    assert info["study"]["protocol"] == "scored" and info["study"]["canonical"] == ["lowest", "highest"]
    found = scores_by_condition(rows)
    assert set(found) == {setting + name for name in SHAPES}
    for name, (ends, values) in SHAPES.items():
        assert found[setting + name] == [float(value) for value in values]
        assert math.isclose(math.fsum(found[setting + name]), math.fsum(values), rel_tol=1e-12)
        fields = info["conditions"][setting + name]
        assert fields["measure"] == name and fields["direction"] == ("lower" if name == "ms" else "higher")
        assert fields["range"] == (None if ends is None else [int(end) for end in ends.split("-")])
    assert all(row["probability"] is row["answer"] is row["count"] is row["error"] is None for row in rows)


def lm_eval_rows():
    """A row per document with every shape as a metric, a list and nothing lost."""
    docs = [{**TEA, "question": f"What is tea number {number}?"} for number in range(6)]
    metrics = [*SHAPES, "bleu"]
    return [
        written(number, doc, None, metrics=metrics, bleu=["a", "b"],
                **{name: values[number] for name, (_, values) in SHAPES.items()})
        for number, doc in enumerate(docs)
    ]  # fmt: skip


def test_every_metric_of_lm_eval_is_a_measure_and_lists_are_named(tmp_path, capsys):
    means = {f"{name},none": math.fsum(values) / 6 for name, (_, values) in SHAPES.items()}
    folder = write_lm_eval(tmp_path / "logs", {"drinks": lm_eval_rows()}, TEXT, results={"drinks": means})
    info, stimuli, rows = import_scores(tmp_path, "lm-eval", folder, *OPTIONS)
    check_shapes(info, rows, "plain/")
    assert all(row["output"] == [" Leaves."] for row in rows)
    assert all(asked["gold"] is None and asked["options"] == ["lowest", "highest"] for asked in stimuli)
    said = capsys.readouterr().out
    assert "30 scores by 5 measures\n" in said
    assert "left out: bleu, whose 6 values are no numbers" in said
    assert "5 of 5 means are what the results files state" in said
    assert "org/model plain/likert: 6 of 6 variants, 6 scores, mean 3.083" in said


def test_a_mean_that_the_results_file_states_otherwise_is_told(tmp_path, capsys):
    folder = write_lm_eval(
        tmp_path / "logs", {"drinks": lm_eval_rows()}, TEXT, results={"drinks": {"f1,none": 0.5, "ms,none": "N/A"}}
    )
    import_scores(tmp_path, "lm-eval", folder, "--scores")
    said = capsys.readouterr().out
    assert (
        "0 of 1 mean is what the results files state" in said
        and "the mean of f1,none is 0.230722, the results file states 0.5" in said
    )


def test_filters_shots_booleans_and_choices_are_conditions_and_wordings_as_always(tmp_path, capsys):
    for shots in (0, 5):
        about = {"shots": shots, "metrics": ["acc", "acc_norm", "brier"]}
        rows = [letters(0, TEA, acc_norm=0.0, brier=0.25, **about), letters(1, SNOW, acc_norm=1.0, brier=None, **about)]
        texts = [written(0, TEA, None, filter="strict"), written(1, SNOW, True, filter="strict")]
        texts += [{**row, "filter": "flexible"} for row in texts]
        config = {"output_type": None, "shots": shots}
        write_lm_eval(tmp_path / f"{shots}", {"drinks": rows, "say": texts}, config)
    info, stimuli, rows = import_scores(tmp_path, "lm-eval", tmp_path, "--scores")
    assert scores_by_condition(rows) == {
        "plain/acc": [1.0, 0.0] * 2,
        "plain/acc_norm": [0.0, 1.0] * 2,
        "plain/brier": [0.25, None] * 2,
        "plain/strict/exact_match": [None, 1.0] * 2,
        "plain/flexible/exact_match": [None, 1.0] * 2,
    }
    assert info["conditions"]["plain/strict/exact_match"] == {
        "form": "plain", "filter": "strict", "measure": "exact_match", "range": [0, 1], "direction": "higher",
    }  # fmt: skip
    assert info["conditions"]["plain/acc"]["range"] == [0, 1]  # a metric of lm-eval's own: it counts right answers
    assert info["conditions"]["plain/brier"]["range"] is None  # nobody says that it ends at 1
    assert {asked["variant"] for asked in stimuli} == {"0-shot", "5-shot"}
    assert [row["error"] for row in rows if row["condition"] == "plain/brier"] == [None, "the row has no brier"] * 2
    assert all(row["output"] is None for row in rows if "acc" in row["condition"])
    assert "; responses without one: 6" in capsys.readouterr().out


def test_rows_of_records_may_have_a_byte_order_mark_and_empty_lines(tmp_path):
    folder = eee_record(tmp_path / "record", [eee_result("F1", 0.5)], [eee_row("s1", "F1", 0.5)])
    rows = folder / "record_samples.jsonl"
    rows.write_bytes(b"\xef\xbb\xbf" + rows.read_bytes() + b"\n\r\n")
    _, _, imported_rows = import_scores(tmp_path, "eee", folder, "--scores")
    assert [row["score"] for row in imported_rows] == [0.5]


def test_the_direction_of_a_mean_is_what_the_task_of_lm_eval_states(tmp_path):
    """A perplexity states that of the whole; its single scores are log-likelihoods, of which more is better."""
    metric_list = [
        {"metric": "wer", "aggregation": "mean", "higher_is_better": False},
        {"metric": "bleurt", "aggregation": "mean", "higher_is_better": True},
        {"metric": "perplexity", "aggregation": "perplexity", "higher_is_better": False},
    ]
    rows = [written(0, TEA, None, metrics=["wer", "bleurt", "perplexity"], wer=0.5, bleurt=0.25, perplexity=-1.5)]
    folder = write_lm_eval(tmp_path / "logs", {"say": rows}, {**TEXT, "metric_list": metric_list})
    info, _, _ = import_scores(tmp_path, "lm-eval", folder, "--scores")
    directions = {fields["measure"]: fields["direction"] for fields in info["conditions"].values()}
    assert directions == {"wer": "lower", "bleurt": "higher", "perplexity": "higher"}


def test_logs_read_as_answers_name_the_metrics_that_were_not_imported(tmp_path, capsys):
    rows = [letters(0, TEA, metrics=["acc", "brier"], brier=0.25)]
    import_scores(tmp_path, "lm-eval", write_lm_eval(tmp_path / "logs", {"drinks": rows}))
    assert "not imported: brier; --scores imports every metric as a number" in capsys.readouterr().out


def test_a_damaged_file_of_a_folder_is_left_out_with_its_measures(tmp_path, capsys):
    folder = write_lm_eval(
        tmp_path / "logs",
        {"good": lm_eval_rows(), "bad": [written(0, TEA, True, rouge=0.5, metrics=["rouge", "exact_match"])]},
        TEXT,
    )
    (damaged,) = folder.glob("samples_bad_*")
    damaged.write_text(damaged.read_text(encoding="utf-8") + "{broken\n", encoding="utf-8")
    info, _, _ = import_scores(tmp_path, "lm-eval", folder, "--scores")
    assert set(info["conditions"]) == {f"plain/{name}" for name in SHAPES}
    said = capsys.readouterr().out
    assert "left out: " in said and f"{damaged}, line 2: not a JSON object" in said


def test_scores_of_rows_that_name_no_metrics(tmp_path):
    rows = [{name: value for name, value in row.items() if name != "metrics"} for row in lm_eval_rows()]
    _, _, found = import_scores(
        tmp_path, "lm-eval", write_lm_eval(tmp_path / "logs", {"drinks": rows}, TEXT), "--scores"
    )
    assert {*scores_by_condition(found)} == {f"plain/{name}" for name in SHAPES}


def test_the_scores_of_inspect_by_their_values_scorers_and_keys(tmp_path, capsys):
    def score(number):
        of = {name: values[number] for name, (_, values) in SHAPES.items()}
        letter = {0: "I", 0.5: "P", 1: "C"}[of["judged"]]
        return {
            "judged": {"value": letter if number != 5 else "N"},
            "parts": {"value": {"likert": of["likert"], "tests": str(of["tests"])}},
            "f1": {"value": of["f1"]},
            "ms": {"value": of["ms"]},
            "passed": {"value": [True, False, "yes", "no", "true", "false"][number]},
            "grade": {"value": "good"},
            "list": {"value": [1, 2]},
        }

    samples = [text_sample(number, scores=score(number)) for number in range(6)]
    stated = {"judged": 0.5, "f1": math.fsum(SHAPES["f1"][1]) / 6, "likert": 3.0833333333333335}
    results = {"scores": [
        {"name": name, "scorer": "parts" if name == "likert" else name, "metrics": {"mean": {"value": mean}}}
        for name, mean in stated.items()
    ]}  # fmt: skip
    log = write(tmp_path / "log.eval", inspect_log(samples, {**inspect_header(), "results": results}))
    info, _, rows = import_scores(tmp_path, "inspect", log, "--scores", "--score-range", "parts/likert=1-5")
    found = scores_by_condition(rows)
    assert list(found) == ["judged", "parts/likert", "parts/tests", "f1", "ms", "passed"]
    for name, condition in {"likert": "parts/likert", "tests": "parts/tests"}.items():
        assert found[condition] == SHAPES[name][1]
    assert found["judged"] == SHAPES["judged"][1] and found["ms"] == SHAPES["ms"][1]
    assert found["passed"] == [1, 0, 1, 0, 1, 0]
    ranges = {name: fields["range"] for name, fields in info["conditions"].items()}
    assert ranges == {"judged": [0, 1], "parts/likert": [1, 5], "parts/tests": None, "f1": None, "ms": None,
                      "passed": [0, 1]}  # fmt: skip
    said = capsys.readouterr().out
    assert "36 scores by 6 measures" in said
    assert "left out: grade of" in said and "whose 6 values are no numbers, such as 'good'" in said
    assert "left out: list of" in said
    assert said.count(", as the log states") == 3


def test_epochs_of_inspect_are_samples_and_the_score_is_their_mean(tmp_path):
    values = {1: [0.1, None, 0.4], 2: ["C", "I", "P"], 3: [None, None, float("nan")]}
    samples = [
        text_sample(
            name,
            epoch=epoch,
            scores={"s": {"value": value}},
            output={"choices": [{"message": {"content": f"t{epoch}"}}]},
        )
        for name, epochs in values.items()
        for epoch, value in enumerate(epochs, start=1)
    ]
    samples[-1]["error"] = {"message": "out of time"}
    samples[4]["output"] = None
    info, _, rows = import_scores(tmp_path, "inspect", write(tmp_path / "log.eval", inspect_log(samples)), "--scores")
    assert [row["score"] for row in rows] == [0.25, 0.5, None]
    assert [row["sample_score"] for row in rows] == [[0.1, 0.4], [1.0, 0.0, 0.5], None]
    assert [row["output"] for row in rows] == [["t1", "t3"], ["t1", "", "t3"], ["t1", "t2", "t3"]]  # a text per score
    assert rows[2]["error"] == "the sample ended with an error: out of time"
    assert info["conditions"]["s"]["range"] is None  # letters beside numbers


def test_one_scorer_of_inspect_is_taken_alone_and_the_others_are_counted(tmp_path, capsys):
    samples = [text_sample(number, scores={"a": {"value": number}, "b": {"value": "C"}}) for number in (1, 2)]
    log = write(tmp_path / "log.eval", inspect_log(samples))
    _, _, rows = import_scores(tmp_path, "inspect", log, "--scores", "--scorer", "a")
    assert scores_by_condition(rows) == {"a": [1.0, 2.0]}
    assert "left out by --scorer: b, which scored 2 samples" in capsys.readouterr().out
    _, _, rows = import_scores(tmp_path, "inspect", log, "--scores", out="both")
    assert scores_by_condition(rows) == {"a": [1.0, 2.0], "b": [1.0, 1.0]}
    assert "4 scores by 2 measures, all that the imported logs have" in capsys.readouterr().out


def test_every_metric_of_helm_is_a_measure_the_chosen_one_first_and_perturbations_are_wordings(tmp_path, capsys):
    requests, stats = [], []
    for number in range(6):
        asked = request(f"id{number // 2}", perturbation=perturbed("typos") if number % 2 else None)
        requests.append(asked)
        entry = scored(asked)
        entry["stats"] = [
            {"name": {"name": name, "split": "test"}, "count": 4, "sum": values[number] * 4, "mean": values[number]}
            for name, (_, values) in SHAPES.items()
        ]
        entry["stats"].append({"name": {"name": "training_co2_cost", "split": "test"}, "count": 0, "sum": 0})
        stats.append(entry)
    unasked = {**stats[0], "instance_id": "other"}
    without_score = {**unasked, "instance_id": "empty", "stats": [{"name": {"name": "f1"}, "count": 0, "sum": 0}]}
    stats += [unasked, {**unasked, "perturbation": perturbed("typos")}, without_score]
    folder = helm(tmp_path / "helm", requests, stats=stats)
    plain = [values[::2] for _, values in SHAPES.values()]
    totals = [{"name": {"name": name, "split": "test"}, "count": 1, "mean": math.fsum(values) / 3}
              for name, values in zip(SHAPES, plain, strict=True)]  # fmt: skip
    (folder / "stats.json").write_text(json.dumps(totals), encoding="utf-8")
    info, stimuli, rows = import_scores(tmp_path, "helm", folder, *OPTIONS, "--metric", "f1")
    check_shapes(info, rows)
    assert next(iter(info["conditions"])) == "f1"
    assert [asked["variant"] for asked in stimuli] == ["original", "typos"] * 3
    said = capsys.readouterr().out
    assert "30 scores by 5 measures" in said and "5 of 5 means are what the run states" in said
    assert "left out: training_co2_cost, without any score; its responses: 6" in said
    assert "left out: 10 scores of" in said and "about 2 requests that scenario_state.json does not have" in said


def test_scores_of_any_tools_records_of_every_eval_ever(tmp_path, capsys):
    bounds = {name: dict(zip(("min_score", "max_score"), map(float, ends.split("-")), strict=True)) if ends else {}
              for name, (ends, _) in SHAPES.items()}  # fmt: skip
    bounds["ms"] = {"lower_is_better": True, "min_score": "-Infinity", "max_score": "Infinity"}
    results = [eee_result(name, math.fsum(values) / 6, **bounds[name]) for name, (_, values) in SHAPES.items()]
    rows = [eee_row(f"s{number}", name, values[number]) for name, (_, values) in SHAPES.items() for number in range(6)]
    info, stimuli, found = import_scores(tmp_path, "eee", eee_record(tmp_path / "records", results, rows), "--scores")
    check_shapes(info, found)
    assert len(stimuli) == 6 and all(row["output"] == ["green"] for row in found)
    assert "5 of 5 means are what the records state" in capsys.readouterr().out


def test_evaluations_of_one_eee_record_have_their_own_settings(tmp_path):
    """A temperature of 0 says that nothing was drawn; it was that of the last evaluation for all."""
    results = [
        {
            **eee_result(name, 0.5),
            "generation_config": {"generation_args": {"temperature": temperature, "max_tokens": 5}},
        }
        for name, temperature in (("drawn", 0.7), ("likeliest", 0.0))
    ]
    rows = [eee_row("s1", name, 0.5) for name in ("drawn", "likeliest")]
    info, _, _ = import_scores(tmp_path, "eee", eee_record(tmp_path / "records", results, rows), "--scores")
    temperatures = {name: fields["temperature"] for name, fields in info["conditions"].items()}
    assert temperatures == {"drawn": 0.7, "likeliest": 0.0}
    assert {fields["max_tokens"] for fields in info["conditions"].values()} == {5}


def test_the_same_import_again_changes_nothing_and_another_range_is_told_apart(tmp_path, capsys):
    folder = write_lm_eval(tmp_path / "logs", {"drinks": lm_eval_rows()}, TEXT)
    import_scores(tmp_path, "lm-eval", folder, *OPTIONS)
    capsys.readouterr()
    _, _, rows = import_scores(tmp_path, "lm-eval", folder, *OPTIONS)
    assert len(rows) == 30 and "plain/f1: is here already, nothing to do" in capsys.readouterr().out
    assert main(["import", "lm-eval", str(folder), "--scores", "--out", str(tmp_path / "run")]) == 2
