"""What the encoders among the demo models are tuned from: the same each time, and what their checkpoints name."""

from __future__ import annotations

import json

import pytest

pytest.importorskip("torch")
pytest.importorskip("transformers")

from demo_training import encoders
from inference.demo import ENCODERS, MODELS
from inference.demo.entailments import make_entailment_pairs
from inference.demo.world import World
from inference.stimuli.study import ORIGINAL


def test_what_they_are_tuned_from_is_the_same_each_time(tmp_path):
    folder = tmp_path / "made"
    folder.mkdir()
    files = encoders.write_tuning_data(folder, World())
    rows = {name: [json.loads(line) for line in path.read_text().splitlines()] for name, path in files.items()}
    assert {name: len(each) for name, each in rows.items()} == {"originals": 480, "more": 480, "negated": 640}
    assert {row["pattern"] for row in rows["originals"] + rows["more"]} == {ORIGINAL}
    assert sum(row["pattern"] == ORIGINAL for row in rows["negated"]) == 160  # these stand among the originals, too
    asked = {(each.premise, each.hypothesis) for each in make_entailment_pairs(World())}
    assert not asked & {(row["premise"], row["hypothesis"]) for each in rows.values() for row in each}


def test_their_data_is_what_their_checkpoints_name(tmp_path):
    encoders.write_encoder(tmp_path / "encoder", World())
    made = (tmp_path / "encoder" / "tokenizer.json").read_text()
    for name, further in zip(ENCODERS, ("more.jsonl", "negated.jsonl"), strict=True):
        recorded = json.loads((MODELS / name / "config.json").read_text())["waver_tuning"]
        assert (recorded["name"], recorded["files"]) == (name, ["originals.jsonl", further])
        assert json.loads((MODELS / name / "tokenizer.json").read_text())["model"] == json.loads(made)["model"]
