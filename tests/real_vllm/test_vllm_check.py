"""A gate between engines: what `vllm` answers breaks no rule on a baseline of what `causal` answered."""

from __future__ import annotations

import subprocess
import sys

import pytest

from helpers.checked_models import LARGE, SAME_ANSWERS, STUDIES, ask_study, check_run, save_baseline
from helpers.commands import ROOT

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("study", STUDIES)
def test_another_engine_breaks_no_rule_at_its_default_margin(tmp_path, study):
    ask_study(study, tmp_path / "causal", LARGE, "--dtype", "float32")
    save_baseline(tmp_path / "causal", tmp_path / "baseline")
    # A process of its own, as the engine keeps the memory that it has taken.
    asked = ["run", study, "--items", "demo", "--model", f"model={LARGE}", *STUDIES[study][0], "--engine", "vllm",
             "--batch-size", "16", "--out", str(tmp_path / "vllm")]  # fmt: skip
    done = subprocess.run([sys.executable, "-m", "inference", *asked], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-3000:]
    for wordings in ("these", "like these"):
        status, decisions = check_run(tmp_path / "vllm", tmp_path / "baseline", study, wordings)
        assert status == 0, decisions
        assert "broken" not in decisions.values(), decisions
        assert decisions[SAME_ANSWERS] == ("holds" if study == "choice" else "cannot tell"), decisions
