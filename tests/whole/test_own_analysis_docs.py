"""What docs/python-D.md shows runs, cell by cell, on a run of protocol agreement with the models that it needs."""

from __future__ import annotations

import re
import shutil
import textwrap
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from helpers.synthetic import write_run
from helpers.text_feature_runs import answers, wordings
from helpers.text_features import hide

pytestmark = pytest.mark.slow

TEXT = (Path(__file__).parents[2] / "docs" / "python-D.md").read_text(encoding="utf-8")
BLOCK = re.compile(r"(?<=\n\n)(?: {4,}\S.*\n|\n(?= {4}))+")
MODELS = [f"org/model-{number}" for number in range(6)]


def test_every_example_runs(tmp_path, monkeypatch):
    hide(monkeypatch, "pysentimiento", "spacy", "vaderSentiment")
    texts = wordings(items=5, paraphrases=12)
    texts["attributes"] = [[("match_seed", str(place % 3))] for place in range(len(texts))]
    frame = answers(texts, MODELS)
    sizes = {name: {"parameters": 10 ** (number + 3)} for number, name in enumerate(MODELS)}
    folder = write_run(tmp_path / "results" / "demo" / "agreement", frame, models=sizes)
    names: dict = {}
    has_r = shutil.which("R") is not None and find_spec("pymer4") is not None
    blocks = [textwrap.dedent(block) for block in BLOCK.findall(TEXT) if not block.strip().startswith("waver ")]
    assert len(blocks) == 5
    for block in blocks:
        lines = [line for line in block.splitlines() if has_r or not line.startswith("slopes")]
        code = "\n".join(lines).replace("results/demo/agreement", str(folder))
        exec(compile(code, "docs/python-D.md", "exec"), names)
    effects, page = names["effects"], names["page"]
    assert set(effects["term"]) == {"(Intercept)", "statement_length", "negation_cues"}
    assert "attributes.match_seed" in set(names["seeds"]["term"])
    table = page.frame("stability")
    assert (table["gini_lower"] < table["gini"]).all()
    assert (table["gini"] < table["gini_upper"]).all()
    shares = names["run"].table("items", measures={"gini": names["compute_gini"]})["gini"]
    assert np.isfinite(shares).all()
    pd.testing.assert_frame_equal(
        names["run"].correlate("Range", names["scores"]), names["run"].correlate(["Range"], names["scores"])
    )
