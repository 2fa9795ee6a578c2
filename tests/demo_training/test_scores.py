"""The demo's table of scores holds what its models answer, and docs/scored.md and `make report` import it alike."""

from __future__ import annotations

import csv
import math
import re
import shlex

import pytest

from analysis.pages.scored.tables import (
    tabulate_score_spread_over_wordings,
    tabulate_scored_differences,
    tabulate_scored_means,
)
from analysis.runs import open_runs
from demo_training import scores
from helpers.commands import ROOT, waver
from inference.asking.models import read_model_fields_from_yaml
from inference.demo import SCORED_MODELS, SCORES

GUIDE = (ROOT / "docs" / "scored.md").read_text(encoding="utf-8").partition("**On the demo.**")[2].partition("\n## ")[0]


def read_table() -> list[dict[str, str]]:
    with SCORES.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def read_call(text: str) -> list[str]:
    """The words of the first call of `waver import` in a text, whose lines may go on."""
    joined = text.replace("\\\n", " ").replace("$(DEMO)", "results/demo")
    return shlex.split(next(line for line in joined.splitlines() if "waver import table" in line))[1:]


def test_every_question_has_five_wordings_and_bits_say_the_same():
    rows = read_table()
    assert len(rows) == len(scores.ASKED) * scores.ITEMS * 5
    assert len({tuple(row[name] for name in ("model", "question", "wording")) for row in rows}) == len(rows)
    for row in rows:
        probability, bits = float(row["probability"]), float(row["bits"])
        assert 0 <= probability <= 1 and row["temperature"] == "0"
        assert abs(2**-bits - probability) <= 5e-5 + 5e-4 * math.log(2) * probability + 1e-9  # of rounding both


@pytest.mark.slow
def test_the_models_are_asked_again_and_answer_the_same():
    """Numbers to a unit of their last decimal, and a little more where another machine adds up otherwise."""
    pytest.importorskip("torch")
    rows, revisions = scores.score_answers()
    assert read_model_fields_from_yaml(str(SCORED_MODELS)) == {
        model: {"revision": name} for model, name in revisions.items()
    }
    for row, kept in zip(rows, read_table(), strict=True):
        for name, tolerance in {"probability": 3e-4, "bits": 3e-2}.items():
            assert float(row.pop(name)) == pytest.approx(float(kept.pop(name)), abs=tolerance)
        assert row == kept


@pytest.mark.slow
def test_what_the_guide_says_of_the_demo_is_so(tmp_path):
    call = read_call(GUIDE)
    assert call == read_call((ROOT / "Makefile").read_text(encoding="utf-8"))
    assert call[call.index("--out") + 1] == "results/demo/scored"
    call[call.index("--out") + 1], call[2] = str(tmp_path / "run"), str(SCORES)
    call[-1] = str(SCORED_MODELS)
    waver("inference", *call)
    runs = open_runs(str(tmp_path / "run"))
    means = tabulate_scored_means(runs).set_index(["measure", "model"])["mean"]
    said = re.search(r"The mean probability is ([\d.]+) \(mini\), ([\d.]+) \(medium\) and ([\d.]+) \(large\)", GUIDE)
    assert [f"{means['probability', f'waver-demo-{size}']:.3f}" for size in ("mini", "medium", "large")] == [
        *said.groups()
    ]
    spread = tabulate_score_spread_over_wordings(runs, resamples=20)
    shares = spread.loc[spread["measure"] == "probability", "passed_some"]
    assert f"{shares.min():.0%} to {shares.max():.0%}".replace("%", " %") in GUIDE
    assert means["bits", "waver-demo-medium"] < means["bits", "waver-demo-large"]
    frame = tabulate_scored_differences(runs)
    larger = frame[(frame["a_model"] == "waver-demo-medium") & (frame["b_model"] == "waver-demo-large")]
    assert len(larger) == 2 and (larger[["p_items_holm", "p_holm"]] > 0.05).to_numpy().all()
