"""What docs/python.md shows runs: block after block in one namespace, as in a notebook, for each of its sections."""

from __future__ import annotations

import re
import shutil
import textwrap
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import waver
from analysis.reporting.output.exploring import Run
from helpers import text_feature_runs
from helpers.blocks import BLOCK
from helpers.commands import ROOT
from helpers.few_pages import keep_pages
from helpers.synthetic import write_run
from helpers.text_features import hide

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("forked_kernels")]

TEXT = (ROOT / "docs" / "python.md").read_text(encoding="utf-8")
MODELS = [f"org/model-{number}" for number in range(4)]  # a correlation wants four


def run_section(headings: list[str], left_out: str = "") -> tuple[dict, int]:
    """Run the Python of some sections; return the names that there are in the end, and the number of blocks."""
    sections = dict(re.findall(r"^## (.*?)$(.*?)(?=^## |\Z)", TEXT, re.DOTALL | re.MULTILINE))
    blocks = [textwrap.dedent(block) for heading in headings for block in BLOCK.findall(sections[heading])]
    blocks = [block for block in blocks if not block.startswith("waver ")]
    names: dict = {}
    for block in blocks:
        lines = [line for line in block.splitlines() if not left_out or not line.startswith(left_out)]
        exec(compile("\n".join(lines), "docs/python.md", "exec"), names)
    return names, len(blocks)


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_every_function_of_the_public_face_is_shown():
    shown = set(re.findall(r"\b(?:run|waver|tuned)\.([a-z_]+)\(", "".join(BLOCK.findall(TEXT))))
    public = {name for name in vars(Run) if not name.startswith("_")} - {
        "open_runs_of_protocols",
        "select_protocols",
    }  # of pages
    assert shown >= public | {"ask", "open"}
    listed = set(re.findall(r"`(?:run|waver)\.([a-z_]+)`", TEXT.partition("## Ask")[0]))
    assert listed == public | {"ask", "open"}


def test_asking():
    names, n_blocks = run_section(["Ask"])
    assert n_blocks == 3
    assert list(names["run"].models()["model"]) == ["from the hub", "mine"]
    both = waver.open("runs/both").responses()
    numbers = [frame.drop(columns="model").reset_index(drop=True) for _, frame in both.groupby("model")]
    pd.testing.assert_frame_equal(*numbers, check_exact=True)


def test_opening_looking_and_parts(here, monkeypatch):
    hide(monkeypatch, "pysentimiento", "spacy", "vaderSentiment")  # loading them takes longer than all the rest
    keep_pages(monkeypatch, "stability")
    texts = text_feature_runs.wordings()
    texts["attributes"] = [{"hedged": "yes" if "nobody" in text else "no"} for text in texts["text"]]
    fields = {"stage": "tuned", "parameters": 7_000_000}
    write_run(here / "runs" / "first", text_feature_runs.answers(texts), models={"org/one": fields})
    names, n_blocks = run_section(["Open and look", "Part of a run"])
    assert n_blocks >= 8
    assert set(names["models"]["model"]) == {"org/one", "org/two"}
    assert names["tuned"].part.count_kept_and_all_by_kind()["models"] == (1, 2)
    assert "Tea and rain" in (here / "runs" / "first" / "report" / "index.html").read_text(encoding="utf-8")


def test_mixed_models_correlations_and_own_measures(here, monkeypatch):
    hide(monkeypatch, "pysentimiento", "spacy", "vaderSentiment")
    texts = text_feature_runs.wordings(items=5, paraphrases=12)
    texts["attributes"] = [[("hedged", str(place % 2))] for place in range(len(texts))]
    sizes = {name: {"parameters": 10 ** (number + 3)} for number, name in enumerate(MODELS)}
    for folder in (here / "results" / "demo" / "agreement", here / "runs" / "hedged"):
        write_run(folder, text_feature_runs.answers(texts, MODELS), models=sizes)
    has_r = shutil.which("R") is not None and find_spec("pymer4") is not None
    names, n_blocks = run_section(["Mixed models and correlations", "Own measures"], "" if has_r else "slopes")
    assert n_blocks == 5
    assert set(names["effects"]["term"]) == {"(Intercept)", "statement_length", "negation_cues"}
    assert "attributes.hedged" in set(names["hedging"]["term"])
    table = names["page"].frame("stability")
    assert (table["gini_lower"] < table["gini"]).all()
    assert (table["gini"] < table["gini_upper"]).all()
    assert np.isfinite(names["run"].table("items", measures={"gini": names["compute_gini"]})["gini"]).all()
    run, scores = names["run"], names["scores"]
    pd.testing.assert_frame_equal(run.correlate("Range", scores), run.correlate(["Range"], scores))
