"""The encoders among the demo models: as right as their card says."""

from __future__ import annotations

import pytest

from inference.demo import ENCODERS, MODELS
from inference.demo.entailments import make_entailment_pairs
from inference.demo.world import World
from inference.stimuli.study import ORIGINAL

PATTERNS = (ORIGINAL, "p_neg", "h_neg", "p_neg_h_neg")


@pytest.mark.slow
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
        rows = [each for each in make_entailment_pairs(World()) if each.pattern == pattern]
        coded = tokenizer([row.premise for row in rows], [row.hypothesis for row in rows], padding=True,
                          return_tensors="pt")  # fmt: skip
        with torch.inference_mode():
            said = [model.config.id2label[int(place)] for place in model(**coded).logits.argmax(1)]
        shares.append(sum(label == row.label for label, row in zip(said, rows, strict=True)) / len(rows))
    stated = " | ".join(f"{100 * share:.0f}" for share in shares)
    assert f"| {name} | {stated} |" in (MODELS / "README.md").read_text(encoding="utf-8")
