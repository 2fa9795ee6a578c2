"""Two options are a study of agreement: the same prompts get the same numbers, bit by bit."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from helpers.commands import ROOT
from inference.__main__ import main

pytestmark = pytest.mark.slow

MODELS = ROOT / "inference" / "demo" / "models"
STATEMENTS = ROOT / "inference" / "demo" / "questionnaire.yaml"
COMPARED = ("probability", "logprob", "count")
PROMPTS = ROOT / "inference" / "protocols" / "agreement" / "prompts-en.yaml"


def ask(folder: Path, protocol: str, model: str, *options: str) -> dict[tuple[str, str, str], dict[str, Any]]:
    """Ask about one demo statement; returns rows by item, variant, and the last part of the condition's name."""
    call = ["run", protocol, "--items", str(STATEMENTS), "--limit", "1", "--wordings", "2",
            "--model", str(MODELS / model), "--out", str(folder), *options]  # fmt: skip
    assert main(call) == 0
    rows = [row for part in (folder / "responses").iterdir() for row in pq.read_table(part).to_pylist()]
    return {(row["item"], row["variant"], row["condition"].rpartition("/")[2]): row for row in rows}


@pytest.mark.parametrize(
    ("model", "options"),
    [
        pytest.param("waver-demo-mini", [], id="plain"),
        pytest.param("waver-demo-mini-tuned", ["--answer", "text", "--temperature", "1"], id="text"),
        pytest.param("waver-demo-bert", [], id="cloze"),
        pytest.param(
            "waver-demo-thinker",
            ["--answer", "thought", "--thoughts", "2", "--max-tokens", "32"],
            id="thought",
        ),
        pytest.param("waver-demo-small-tuned", [], id="chat"),
    ],
)
def test_disagree_and_agree_get_the_numbers_of_agreement(tmp_path, model, options):
    agreement = ask(tmp_path / "agreement", "agreement", model, *options)
    scale = ask(tmp_path / "scale", "scale", model, "--options", "disagree; agree", "--labels", "words",
                "--option-order", "down", "--prompt", str(PROMPTS), *options)  # fmt: skip
    scale = {(item, variant, name.replace("words-down", "yes-no")): row for (item, variant, name), row in scale.items()}
    assert agreement.keys() == scale.keys()
    for key, row in agreement.items():
        for name in COMPARED:
            assert (row.get(name) and row[name][::-1]) == scale[key].get(name), (key, name)
        each = row.get("sample_probability") or []
        assert [p and p[::-1] for p in each] == (scale[key].get("sample_probability") or []), key
        for name in ("mass", "answer", "invalid", "output"):
            assert row[name] == scale[key][name], (key, name)
        assert row["error"] is None
