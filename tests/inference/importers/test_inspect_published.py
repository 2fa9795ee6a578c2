"""`waver import inspect`: published logs, as far as they are here, have the accuracies that they state."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path

import pytest

from helpers.eval_logs import ZSTANDARD, write, zipped
from helpers.eval_logs import imported as run
from inference.__main__ import main


@pytest.fixture(scope="module")
def real(shared) -> Path:
    """Other people's logs."""
    return shared / "eval-logs" / "inspect"


def accuracy(stimuli, responses):
    """The share of right answers, the slow way: canonical letter of the answer against the right one; epochs first."""
    by_key = {(row["item"], row["variant"]): row for row in stimuli}
    shares = []
    for row in responses:
        asked = by_key[row["item"], row["variant"]]
        means = dict(zip(asked["options"], asked["canonical"], strict=True))
        if row["error"] is not None:
            continue
        if row["count"] is None:
            shares.append(float(row["answer"] is not None and means[row["answer"]] == asked["gold"]))
        else:
            counts = {means[option]: times for option, times in zip(asked["options"], row["count"], strict=True)}
            shares.append(counts[asked["gold"]] / (sum(row["count"]) + row["invalid"]))
    return sum(shares) / len(shares)


@pytest.mark.parametrize(
    ("name", "protocol", "stated"),
    [
        ("log_formats.eval", "agreement", 0.0),
        ("mmlu-summary-choices.eval", "choice", 0.0),
        ("data_arc_qwen.json", "choice", 1 / 3),
        ("data_pubmedqa_gpt4o_mini.json", "choice", 1.0),
    ],
)
@pytest.mark.parametrize("outcomes", [False, True])
def test_real_logs_have_the_accuracy_that_they_state(tmp_path, capsys, real, name, protocol, stated, outcomes):
    path = real / name
    if path.suffix == ".eval":
        with zipfile.ZipFile(path) as archive:
            results = json.loads(archive.read("header.json"))["results"]
    else:
        results = json.loads(path.read_text(encoding="utf-8"))["results"]
    info, stimuli, responses = run(tmp_path / "run", path, *(["--right-or-wrong"] if outcomes else []))
    assert info["study"]["protocol"] == ("agreement" if outcomes else protocol)
    own = results["scores"][0]["metrics"]["accuracy"]["value"]
    assert own == pytest.approx(stated, abs=1e-12)
    assert accuracy(stimuli, responses) == pytest.approx(own, abs=1e-12)
    assert len(responses) == results["completed_samples"]
    assert "as the log states" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("2025-02-11T15-17-00-05-00_popularity_dPiJifoWeEQBrfWsAopzWr.eval", "no score in 10 samples,"),
        ("data_cvebench_empty_choices.json", "no score in 1 sample (1 ended with an error),"),
    ],
)
def test_real_logs_without_a_score_are_refused(tmp_path, capsys, real, name, words):
    assert main(["import", "inspect", str(real / name), "--out", str(tmp_path / "run")]) == 2
    assert words in capsys.readouterr().err
    assert not (tmp_path / "run").exists()


def test_a_real_log_compressed_by_zstd_reads_the_same(tmp_path, real):
    path = real / "mmlu-summary-choices.eval"
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    again = write(tmp_path / path.name, zipped(members, ZSTANDARD, frames=3))
    assert run(tmp_path / "a", again, "--name", "s")[1:] == run(tmp_path / "b", path, "--name", "s")[1:]
