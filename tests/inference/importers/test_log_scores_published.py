"""`waver import ... --scores`: published logs, as far as they are here, have the numbers that others read in them."""

from __future__ import annotations

import json
import math

import pytest

from helpers.eval_logs import import_scores, scores_by_condition

pytestmark = pytest.mark.slow


def test_inspects_own_reader_finds_the_same_sums_in_published_logs(tmp_path, shared):
    """What `inspect_ai.log.read_eval_log` and `value_to_float` (inspect-ai 0.3.285) give: number and sum of scores."""
    own = {
        "data_arc_qwen.json": {"choice": (3, 1.0)},
        "data_pubmedqa_gpt4o_mini.json": {"choice": (2, 2.0)},
        "log_formats.eval": {"match": (1, 0.0)},
        "mmlu-summary-choices.eval": {"choice": (1, 0.0)},
    }
    for number, (name, stated) in enumerate(own.items()):
        if name == "mmlu-summary-choices.eval":
            pytest.importorskip("zstandard")
        _, _, rows = import_scores(
            tmp_path, "inspect", shared / "eval-logs" / "inspect" / name, "--scores", out=f"run{number}"
        )
        found = scores_by_condition(rows)
        assert {measure: (len(scores), math.fsum(scores)) for measure, scores in found.items()} == stated


@pytest.mark.parametrize("path", ["data_arc_qwen.json", "data_pubmedqa_gpt4o_mini.json", "log_formats.eval"])
def test_inspects_own_reader_where_it_is_installed(tmp_path, shared, path):
    log = pytest.importorskip("inspect_ai.log")
    to_float = pytest.importorskip("inspect_ai.scorer").value_to_float()
    found = {}
    for sample in log.read_eval_log(str(shared / "eval-logs" / "inspect" / path)).samples:
        for name, score in sample.scores.items():
            found.setdefault(name, []).append(to_float(score.value))
    _, _, rows = import_scores(tmp_path, "inspect", shared / "eval-logs" / "inspect" / path, "--scores")
    assert scores_by_condition(rows) == found


def test_the_published_run_of_helm_has_the_means_that_it_states(tmp_path, shared, capsys):
    _, _, rows = import_scores(tmp_path, "helm", shared / "eval-logs" / "helm", "--scores")
    entries = json.loads(next((shared / "eval-logs" / "helm").glob("*/per_instance_stats.json")).read_text())
    stated = {}
    for entry in entries:
        for stat in entry["stats"]:
            if stat["count"]:
                stated.setdefault(stat["name"]["name"], []).append(stat["sum"] / stat["count"])
    assert scores_by_condition(rows) == stated and len(rows) == 250
    assert "50 of 50 means are what the run states" in capsys.readouterr().out


def test_the_published_logs_of_lm_eval_have_the_means_that_they_state(tmp_path, shared, capsys):
    folder = shared / "eval-logs" / "lm-eval"
    _, _, rows = import_scores(
        tmp_path, "lm-eval", folder / "lm_eval_mmlu_0shot", folder / "lm_eval_mmlu_5shot", "--scores"
    )
    found = scores_by_condition(rows)
    logged = [
        json.loads(line)["acc"] for file in sorted(folder.rglob("samples_mmlu*.jsonl")) for line in file.open()
    ]  # fmt: skip
    assert list(found) == ["chat/acc"] and sorted(found["chat/acc"]) == sorted(logged) and len(logged) == 800
    assert "8 of 8 means are what the results files state" in capsys.readouterr().out
