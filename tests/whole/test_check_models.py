"""A gate on real models: another name, dtype or batch size breaks no rule, a worse or a disturbed model does.

tests/real_vllm/test_vllm_check.py does the same with the engine `vllm`.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from helpers.checked_models import LARGE, MINI, ask_study, check_run, compare_runs, disturb_weights, save_baseline

pytestmark = pytest.mark.slow
pytest.importorskip("torch")

SAME = {
    "another name": (LARGE, ["--dtype", "float32"], "renamed"),
    "bfloat16": (LARGE, ["--dtype", "bfloat16"], "model"),
    "batches of 3": (LARGE, ["--dtype", "float32", "--batch-size", "3"], "model"),
}


@pytest.fixture(scope="module")
def released(tmp_path_factory) -> Path:
    """A folder with the run of the released model by each study, and its baseline."""
    folder = tmp_path_factory.mktemp("released")
    for study in ("choice", "agreement"):
        ask_study(study, folder / study, LARGE, "--dtype", "float32")
        save_baseline(folder / study, folder / f"{study}-baseline")
    return folder


@pytest.mark.parametrize("study", ["choice", "agreement"])
@pytest.mark.parametrize("change", SAME)
def test_the_same_model_breaks_no_rule_at_its_default_margin(released, tmp_path, study, change):
    model, options, name = SAME[change]
    ask_study(study, tmp_path / "run", model, *options, name=name)
    for wordings in ("these", "like these"):
        status, decisions = check_run(tmp_path / "run", released / f"{study}-baseline", study, wordings)
        assert status == 0, decisions
        assert "broken" not in decisions.values(), decisions
        # 95 of 100 of 816 or 900 answers: enough to say that they are the same.
        assert decisions["same answers as before on 95 % of items"] == "holds"


@pytest.mark.parametrize("study", ["choice", "agreement"])
def test_a_smaller_model_breaks_rules(released, tmp_path, study):
    ask_study(study, tmp_path / "run", MINI, "--dtype", "float32")
    for wordings in ("these", "like these"):
        status, decisions = check_run(tmp_path / "run", released / f"{study}-baseline", study, wordings)
        assert status == 3
        assert decisions["same answers as before on 95 % of items"] == "broken"
        if study == "choice":
            assert decisions["not worse in accuracy"] == "broken"


@pytest.mark.parametrize("study", ["choice", "agreement"])
def test_a_model_with_disturbed_weights_breaks_what_a_direct_comparison_shows(released, tmp_path, study):
    disturb_weights(LARGE, tmp_path / "model", share=0.05)
    ask_study(study, tmp_path / "run", tmp_path / "model", "--dtype", "float32")
    compared = compare_runs(released / study, tmp_path / "run")
    worse = {
        row["measure"]
        for row in compared
        # All of the 95 % interval is beyond the default margin, on the bad side; A is the released one.
        if (row["upper"] < -0.02 if row["lower_is_better"] else row["lower"] > 0.02)
    }
    status, decisions = check_run(tmp_path / "run", released / f"{study}-baseline", study, "these")
    assert status == 3
    assert worse
    print(json.dumps([sorted(worse), decisions]))
    broken = {rule for rule, decision in decisions.items() if decision == "broken"}
    assert {f"not worse in {measure}" for measure in worse} <= broken | {"not worse in logit"}
