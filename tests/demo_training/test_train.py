"""Training the demo models: the recipe runs from text to weights, and a resumed training equals one never stopped."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from inference.demo import FAMILY, THINKERS

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

from demo_training import train, vocabulary  # noqa: E402
from demo_training.corpus import Corpus  # noqa: E402
from demo_training.curriculum import LARGEST_MODEL, PLANS, ModelShape  # noqa: E402
from demo_training.shapes import build_llama, build_modern_bert, copy_causal_weights, cut_model  # noqa: E402
from demo_training.taught_world import TaughtWorld  # noqa: E402
from demo_training.thoughts import BREAK, CLOSE, OPEN, SAMPLER  # noqa: E402

pytestmark = pytest.mark.slow

THINKER = "waver-demo-thinker"
NAMES = ["waver-demo-large", "waver-demo-mini", "waver-demo-mini-tuned", "waver-demo-bert", THINKER]


@pytest.fixture(autouse=True)
def brief(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tiny shapes, short lessons and a small vocabulary; the family lies in a folder of its own."""
    trained = {name: replace(about, path=tmp_path / name) for name, about in (FAMILY | THINKERS).items()}
    monkeypatch.setattr(train, "TRAINED", trained)
    tiny = {name: replace(PLANS[name], shape=ModelShape(2, 32, 16), steps=2, blocks=2) for name in NAMES}
    tiny["waver-demo-mini"] = replace(tiny["waver-demo-mini"], shape=ModelShape(1, 32, 8), kept_layers=(1,))
    tiny[THINKER] = replace(tiny[THINKER], start="waver-demo-mini-tuned")
    monkeypatch.setattr(train, "PLANS", tiny)
    monkeypatch.setattr(train, "LESSON", 1)
    monkeypatch.setattr(train, "CHECKPOINT_EVERY", 1)
    monkeypatch.setattr(vocabulary, "TEXTS", 200)
    monkeypatch.setattr(vocabulary, "WORD_REPEATS", 200)


def weights(name: str) -> bytes:
    return (train.TRAINED[name].path / "model.safetensors").read_bytes()


def test_the_same_seed_gives_the_same_weights_and_tuning_changes_them(tmp_path: Path) -> None:
    arguments = ["--checkpoints", str(tmp_path / "checkpoints"), *NAMES]
    assert train.main(arguments) == 0
    first = {name: weights(name) for name in NAMES}
    assert not list((tmp_path / "checkpoints").iterdir())
    assert train.main(arguments) == 0
    assert first == {name: weights(name) for name in NAMES}
    assert first["waver-demo-mini"] != first["waver-demo-mini-tuned"]
    for name in NAMES:
        tokenizer = transformers.AutoTokenizer.from_pretrained(train.TRAINED[name].path)
        assert (tokenizer.chat_template is not None) is name.endswith(("tuned", "thinker"))


@pytest.mark.parametrize("name", ["waver-demo-large", "waver-demo-bert"])
def test_a_stopped_training_goes_on_where_it_was(name: str, tmp_path: Path) -> None:
    corpus = Corpus(TaughtWorld())
    if name != LARGEST_MODEL:
        train.train_model(LARGEST_MODEL, corpus, train.PLANS[LARGEST_MODEL], tmp_path)
    whole: list[int] = []
    train.train_model(name, corpus, train.PLANS[name], tmp_path, lambda step, *_: whole.append(step))
    expected = weights(name)

    def stop_late(step: int, *_: object) -> None:
        if step == whole[-1]:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        train.train_model(name, corpus, train.PLANS[name], tmp_path, stop_late)
    later: list[int] = []
    train.train_model(name, corpus, train.PLANS[name], tmp_path, lambda step, *_: later.append(step))
    assert (whole, later) == ([1, 2], [2])
    assert weights(name) == expected


def test_a_short_training_learns(tmp_path: Path) -> None:
    plan = replace(train.PLANS["waver-demo-large"], steps=12, blocks=4)
    losses: list[float] = []
    train.train_model(
        "waver-demo-large", Corpus(TaughtWorld()), plan, tmp_path, lambda *about: losses.append(about[-1])
    )
    assert sum(losses[-3:]) < 0.9 * sum(losses[:3])  # the losses of single lessons differ by .1 of 7


def test_an_unknown_model_is_refused_in_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert train.main(["waver-demo-huge"]) == 2
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    assert "no demo model is called waver-demo-huge" in error


def test_a_smaller_model_begins_with_the_layers_that_are_kept() -> None:
    tokenizer = vocabulary.train_causal_tokenizer(Corpus(TaughtWorld()), 1)
    large = build_llama(ModelShape(3, 32, 16), tokenizer).eval()
    with torch.no_grad():
        large.model.layers[1].mlp.down_proj.weight[:, 5:] = 0.0
    small = cut_model(large, (1, 2), 16).eval()
    assert small.config.num_hidden_layers == 2
    for kept, layer in zip(small.model.layers, large.model.layers[1:], strict=True):
        assert all(torch.equal(a, b) for a, b in zip(kept.parameters(), layer.parameters(), strict=True))
    assert torch.equal(small.lm_head.weight, large.model.embed_tokens.weight)
    # Neurons that do nothing may go without a difference.
    ids = torch.arange(40).view(2, 20)
    with torch.inference_mode():
        torch.testing.assert_close(cut_model(large, (1,), 5)(ids).logits, cut_model(large, (1,), 16)(ids).logits)


def test_tuned_models_begin_with_the_answers_of_base_ones(tmp_path: Path) -> None:
    assert train.main(["--checkpoints", str(tmp_path / "checkpoints"), "waver-demo-large"]) == 0
    model, tokenizer = train._start_model(
        "waver-demo-large-tuned", Corpus(TaughtWorld()), PLANS["waver-demo-large-tuned"]
    )
    vocabulary, words = tokenizer.get_vocab(), model.get_input_embeddings().weight
    for word in ("yes", "entailment"):
        assert torch.equal(words[vocabulary[word]], words[vocabulary[f"\u0120{word}"]])
    assert torch.equal(words[vocabulary["<|assistant|>"]], words[vocabulary[":"]])
    assert not torch.equal(words[vocabulary["yes"]], words[vocabulary["no"]])


def test_one_that_thinks_begins_with_a_tuned_one_and_three_more_tokens(tmp_path: Path) -> None:
    start = ["waver-demo-large", "waver-demo-mini", "waver-demo-mini-tuned"]
    assert train.main(["--checkpoints", str(tmp_path / "checkpoints"), *start]) == 0
    model, tokenizer = train._start_model(THINKER, Corpus(TaughtWorld()), train.PLANS[THINKER])
    tuned = transformers.AutoModelForCausalLM.from_pretrained(train.TRAINED[start[-1]].path, dtype=torch.float32)
    vocabulary, words = tokenizer.get_vocab(), model.get_input_embeddings().weight
    assert len(words) == len(vocabulary) == len(tuned.get_input_embeddings().weight) + 3
    assert torch.equal(words[:-3], tuned.get_input_embeddings().weight)
    assert vocabulary.keys() > {OPEN, CLOSE, BREAK}
    assert torch.equal(words[vocabulary[BREAK]], words[vocabulary["<|assistant|>"]])
    assert torch.equal(model.lm_head.weight, words)
    ids = torch.arange(40).view(2, 20)
    with torch.inference_mode():
        torch.testing.assert_close(model(ids).logits[..., :-3], tuned(ids).logits)
    assert model.generation_config.to_dict().items() >= SAMPLER.items()


def test_the_masked_model_begins_with_what_the_largest_computes() -> None:
    """On one token, where there is no other to see; its norms take the mean off, so those weights have none here."""
    corpus = Corpus(TaughtWorld())
    causal, pieces = vocabulary.train_causal_tokenizer(corpus, 1), vocabulary.build_masked_tokenizer(corpus, 1)
    same = vocabulary.match_tokens(pieces, causal, corpus)
    large, masked = (
        build_llama(ModelShape(2, 32, 16), causal).eval(),
        build_modern_bert(ModelShape(2, 32, 16), pieces).eval(),
    )
    with torch.no_grad():
        words = large.model.embed_tokens.weight
        words[causal.pad_token_id] = words[0]  # it is nothing, and has no length
        words -= words.mean(dim=1, keepdim=True)
        words /= words.square().mean(dim=1, keepdim=True).sqrt()
        for layer in large.model.layers:
            for out in (layer.self_attn.o_proj.weight, layer.mlp.down_proj.weight):
                out -= out.mean(dim=0)
    copy_causal_weights(large, masked, same)
    ours = torch.tensor([[pieces.get_vocab()["ant"]]])
    theirs = torch.tensor([[causal.get_vocab()["\u0120ant"]]])
    with torch.inference_mode():
        found, expected = masked(ours).logits[0, 0, list(same)], large(theirs).logits[0, 0, list(same.values())]
    torch.testing.assert_close(found, expected, atol=1e-3, rtol=1e-3)


def test_the_matrices_between_the_layers_are_learnt_by_muon_and_every_weight_once() -> None:
    model = build_modern_bert(ModelShape(2, 32, 16), vocabulary.build_masked_tokenizer(Corpus(TaughtWorld()), 1))
    muon, other = train.build_optimizers(model, 1e-3)
    parts = [{id(p) for group in part.param_groups for p in group["params"]} for part in (muon, other)]
    assert not parts[0] & parts[1]
    assert parts[0] | parts[1] == {id(p) for p in model.parameters()}
    assert id(model.get_input_embeddings().weight) in parts[1]
