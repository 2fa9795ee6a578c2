"""Training the demo models: the recipe runs from text to checkpoint, and the same seed gives the same weights."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from inference.demo import FAMILY

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")

from inference.demo import train, vocabulary  # noqa: E402

NAMES = ["waver-demo-small", "waver-demo-small-tuned", "waver-demo-bert"]


def train_briefly(folder: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, bytes]:
    """Two steps of everything, on a small vocabulary; the weights by name."""
    family = {name: replace(model, path=folder / name) for name, model in FAMILY.items()}
    tiny = train.Size(width=8, layers=1, heads=2, rate=1e-3, base_steps=2, tuned_steps=2)
    monkeypatch.setattr(train, "FAMILY", family)
    monkeypatch.setattr(train, "SIZES", {"small": tiny, "bert": tiny})
    monkeypatch.setattr(vocabulary, "TEXTS", 200)
    assert train.main(NAMES) == 0
    return {name: (family[name].path / "model.safetensors").read_bytes() for name in NAMES}


def test_the_same_seed_gives_the_same_weights(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = train_briefly(tmp_path / "first", monkeypatch)
    second = train_briefly(tmp_path / "second", monkeypatch)
    assert first == second
    assert first["waver-demo-small"] != first["waver-demo-small-tuned"]


def test_an_unknown_model_is_refused_in_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert train.main(["waver-demo-huge"]) == 2
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    assert "no demo model is called waver-demo-huge" in error


def test_masking_hides_the_answer_and_remembers_it() -> None:
    import random

    from inference.demo.corpus import Corpus, Reading
    from inference.demo.world import World

    tokenizer = vocabulary.masked_tokenizer(Corpus(World()), seed=1)
    answered = 0
    for seed in range(50):
        ids, wanted = train.mask_some(tokenizer, Reading("Tea is nice. I ", "agree", " with it."), random.Random(seed))
        shown = [wanted.get(position, token) for position, token in enumerate(ids)]
        assert tokenizer.decode(shown, skip_special_tokens=True) == "tea is nice. i agree with it."
        assert all(ids[position] == tokenizer.mask_token_id for position in wanted)
        answered += tokenizer.decode(list(wanted.values())) == "agree"
    assert 30 <= answered <= 50
