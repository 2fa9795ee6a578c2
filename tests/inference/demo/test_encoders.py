"""The encoders among the demo models: tuned on what their card says, and as right as it says."""

from __future__ import annotations

import json

import pytest

from inference.demo import ENCODERS, MODELS
from inference.demo.entailments import make_entailments
from inference.demo.world import World
from inference.stimuli.study import ORIGINAL

PATTERNS = (ORIGINAL, "p_neg", "h_neg", "p_neg_h_neg")


def test_what_they_are_tuned_from_is_the_same_each_time(tmp_path):
    encoders = pytest.importorskip("inference.demo.encoders")
    folder = tmp_path / "made"
    folder.mkdir()
    files = encoders.write_tuning_data(folder, World())
    rows = {name: [json.loads(line) for line in path.read_text().splitlines()] for name, path in files.items()}
    assert {name: len(each) for name, each in rows.items()} == {"originals": 480, "more": 480, "negated": 640}
    assert {row["pattern"] for row in rows["originals"] + rows["more"]} == {ORIGINAL}
    assert sum(row["pattern"] == ORIGINAL for row in rows["negated"]) == 160  # these stand among the originals, too
    asked = {(each.premise, each.hypothesis) for each in make_entailments(World())}
    assert not asked & {(row["premise"], row["hypothesis"]) for each in rows.values() for row in each}


def test_their_data_is_what_their_checkpoints_name(tmp_path):
    encoders = pytest.importorskip("inference.demo.encoders")
    encoders.write_encoder(tmp_path / "encoder", World())
    made = (tmp_path / "encoder" / "tokenizer.json").read_text()
    for name, further in zip(ENCODERS, ("more.jsonl", "negated.jsonl"), strict=True):
        recorded = json.loads((MODELS / name / "config.json").read_text())["waver_tuning"]
        assert (recorded["name"], recorded["files"]) == (name, ["originals.jsonl", further])
        assert json.loads((MODELS / name / "tokenizer.json").read_text())["model"] == json.loads(made)["model"]


@pytest.mark.parametrize("name", ENCODERS)
def test_the_card_states_what_they_get_right(name):
    pytest.importorskip("torch")
    transformers = pytest.importorskip("transformers")
    import torch

    model = transformers.AutoModelForSequenceClassification.from_pretrained(ENCODERS[name].path)
    assert model.num_parameters() == ENCODERS[name].parameters
    tokenizer = transformers.AutoTokenizer.from_pretrained(ENCODERS[name].path)
    shares = []
    for pattern in PATTERNS:
        rows = [each for each in make_entailments(World()) if each.pattern == pattern]
        coded = tokenizer([row.premise for row in rows], [row.hypothesis for row in rows], padding=True,
                          return_tensors="pt")  # fmt: skip
        with torch.inference_mode():
            said = [model.config.id2label[int(place)] for place in model(**coded).logits.argmax(1)]
        shares.append(sum(label == row.label for label, row in zip(said, rows, strict=True)) / len(rows))
    stated = " | ".join(f"{100 * share:.0f}" for share in shares)
    assert f"| {name} | {stated} |" in (MODELS / "README.md").read_text(encoding="utf-8")
