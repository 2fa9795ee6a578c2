"""The meaning check: cosines of a real, tiny sentence-transformers model."""

from __future__ import annotations

import json
import sys

import numpy as np
import pytest

from ground.errors import InputError
from helpers.paraphrase_writer import made
from inference.paraphrase.meaning import Meaning
from inference.stimuli import items

LAMP = "A warm lamp makes a small room friendlier."
OTHERS = ("A warm lamp makes a small room friendlier!", "Bread tastes better on the day it is baked.", "no")


@pytest.fixture(scope="module")
def encoder(tmp_path_factory):
    """Random weights behind a mean over tokens."""
    pytest.importorskip("sentence_transformers")
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.base.modules import Transformer
    from sentence_transformers.sentence_transformer.modules import Pooling

    from helpers import tiny_models

    folder = tmp_path_factory.mktemp("encoder")
    tiny_models.checkpoint(folder / "bert", "bert")
    words = Transformer(str(folder / "bert"))
    SentenceTransformer(modules=[words, Pooling(32)]).save(str(folder / "encoder"))
    return folder / "encoder"


@pytest.mark.slow
def test_the_cosine_is_that_of_mean_token_states(encoder):
    """Reference: transformers itself, mean over the tokens of the last hidden states; tolerance 1e-5 (float32)."""
    import torch
    from transformers import AutoModel, AutoTokenizer

    found = Meaning(str(encoder)).compute_cosines_with_original(LAMP, OTHERS)
    model, tokenizer = AutoModel.from_pretrained(encoder).eval(), AutoTokenizer.from_pretrained(encoder)
    with torch.inference_mode():
        means = [model(**tokenizer(text, return_tensors="pt")).last_hidden_state[0].mean(0) for text in (LAMP, *OTHERS)]
        expected = torch.nn.functional.cosine_similarity(means[0], torch.stack(means[1:]))
    np.testing.assert_allclose(found, expected, atol=1e-5)
    assert found[0] > max(found[1:])


@pytest.mark.slow
def test_the_command_drops_by_it_and_writes_it_down(encoder, tmp_path):
    (tmp_path / "items.json").write_text(json.dumps([{"item": "lamp", "text": LAMP, "paraphrases": []}]))
    given = items.read_and_check_items(str(tmp_path / "items.json"))
    every = made(tmp_path / "all", given, keep=50, meaning_check=str(encoder))[0]
    # Words that the tokenizer lacks have one similarity: the middle of different ones is above the least.
    likeness = sorted({wording.similarity for wording in every.kept_wordings})
    middle = likeness[len(likeness) // 2]
    some = made(tmp_path / "some", given, keep=50, meaning_check=str(encoder), meaning_threshold=middle)[0]
    assert [w.text for w in some.kept_wordings] == [w.text for w in every.kept_wordings if w.similarity >= middle]
    assert 0 < len(some.kept_wordings) < len(every.kept_wordings) and some.n_dropped_by_reason["meaning"] == len(
        every.kept_wordings
    ) - len(some.kept_wordings)
    (item,) = items.read_and_check_items(str(tmp_path / "some" / "items.jsonl"))
    shown = [variant.attributes["similarity"] for variant in item.paraphrases]
    assert shown == [f"{wording.similarity:.4f}" for wording in some.kept_wordings]


def test_what_is_no_such_model_is_named(encoder, tmp_path):
    for wrong in (tmp_path, encoder.parent / "bert"):
        with pytest.raises(InputError, match="not a sentence-transformers model"):
            Meaning(str(wrong))


def test_code_in_a_model_folder_is_not_run(encoder, tmp_path):
    import shutil

    folder = shutil.copytree(encoder, tmp_path / "evil")
    (folder / "evil.py").write_text("raise SystemExit('ran')")
    modules = json.loads((folder / "modules.json").read_text())
    modules[1]["type"] = "evil.Pooling"
    (folder / "modules.json").write_text(json.dumps(modules))
    with pytest.raises(InputError, match="not a sentence-transformers model"):
        Meaning(str(folder))


def test_without_the_package_it_says_how_to_get_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    with pytest.raises(InputError, match=r"needs the package sentence_transformers: pip install .*\[meaning\]"):
        Meaning("any")
