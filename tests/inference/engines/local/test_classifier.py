"""Engine `classifier` against one pair of sentences per forward pass."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from transformers import AutoModelForSequenceClassification, ConvBertConfig

from ground.errors import InputError
from helpers import tiny_models
from inference import engines
from inference.engines.contract import Sampling
from inference.engines.loading import Checkpoint
from inference.engines.local.classifier import TUNING, ClassifierEngine, encode_pairs
from inference.stimuli.templates.prompts import Prompt

NAMES = {0: "neutral", 1: "ENTAILMENT", 2: "Contradiction", 3: "other"}
ANSWERS = (("entailment", "Entailment"), ("contradiction",), ("neutral",))
PAIRS = (
    ("Bread.", "A warm lamp makes a small room friendlier than a cold one."),
    ("A warm lamp makes a small room friendlier.", "Bread."),
    ("Trains should leave on time, even on Sundays.", "Small rooms."),
)
TUNED = {"name": "t", "set": "abc", "base": "tiny", "files": ["a.csv"], "seed": 1, "rate": 1e-3, "epochs": 2}


def engine_of(architecture: str = "bert", names: dict[int, str] = NAMES, **settings: Any) -> ClassifierEngine:
    bert = architecture == "bert"
    tokenizer = tiny_models.wordpiece_tokenizer(segments=True) if bert else tiny_models.default_tokenizer(architecture)
    model = tiny_models.model(
        architecture, tokenizer, auto=AutoModelForSequenceClassification, id2label=names,
        label2id={name: place for place, name in names.items()}, **settings,
    )  # fmt: skip
    return ClassifierEngine(Checkpoint("tiny", model, tokenizer, {"engine": "classifier"}))


def prompt_of(premise: str, hypothesis: str) -> Prompt:
    messages = ({"role": "premise", "content": premise}, {"role": "hypothesis", "content": hypothesis})
    return Prompt(None, messages, ANSWERS)


@torch.inference_mode()
def slow(engine: ClassifierEngine, pair: tuple[str, str], temperature: float) -> np.ndarray:
    """Entailment, contradiction, neutral and the class that is no option, for one pair alone."""
    coded = engine.tokenizer(*pair, return_tensors="pt")
    logits = engine.model(**coded).logits[0].double() / temperature
    return logits.softmax(-1)[[1, 2, 0, 3]].numpy()


@pytest.mark.parametrize("architecture", ["bert", "roberta", "distilbert", "modernbert"])
def test_equals_one_pair_per_forward_pass(architecture):
    engine = engine_of(architecture)
    engine.model.double()  # float32 differs by the processor: padding changes the order of its sums (1.5e-6 was seen)
    prompts = [prompt_of(*pair) for pair in PAIRS]
    assert sorted(place for batch in engine.cut_into_batches(prompts) for place in batch) == [0, 1, 2]
    for temperature, scores in zip((1.0, 0.5), engine.score(prompts, (1.0, 0.5)), strict=True):
        for score, pair in zip(scores, PAIRS, strict=True):
            expected = slow(engine, pair, temperature)
            np.testing.assert_allclose(score.probability, expected[:3], rtol=0, atol=1e-9)
            np.testing.assert_allclose(np.exp(score.logprob), score.probability, rtol=1e-12)
            assert score.mass == pytest.approx(1 - expected[3], abs=1e-9)
            assert score.answer == (None if expected.argmax() == 3 else expected.argmax())


@pytest.mark.parametrize("batch_size", [None, 3])
def test_a_model_that_mixes_padding_into_its_answers_gets_none(batch_size):
    tokenizer = tiny_models.wordpiece_tokenizer(segments=True)
    config = ConvBertConfig(
        vocab_size=len(tokenizer), hidden_size=32, embedding_size=32, num_hidden_layers=2, num_attention_heads=4,
        intermediate_size=64, initializer_range=0.3, id2label=NAMES,
    )  # fmt: skip
    torch.manual_seed(0)
    model = AutoModelForSequenceClassification.from_config(config).eval()
    engine = ClassifierEngine(Checkpoint("mixing", model, tokenizer, {"engine": "classifier"}), batch_size)
    prompts = [prompt_of(*pair) for pair in PAIRS]
    assert len(set(engine.count_prompt_tokens(prompts))) > 1
    for batch in engine.cut_into_batches(prompts):
        for place, score in zip(batch, engine.score([prompts[place] for place in batch])[0], strict=True):
            np.testing.assert_allclose(score.probability, slow(engine, PAIRS[place], 1.0)[:3], rtol=0, atol=5e-6)


def test_the_sentences_are_told_apart_by_order_and_by_segment():
    engine = engine_of()
    there, back = engine.score([prompt_of(*PAIRS[0]), prompt_of(*PAIRS[0][::-1])])[0]
    assert there.probability != pytest.approx(back.probability, abs=1e-3)
    assert set(engine._get_or_tokenize_rows([prompt_of(*PAIRS[0])])[0].segments) == {0, 1}


def test_a_likeliest_class_that_is_no_option_is_no_answer():
    engine = engine_of()
    engine.model.classifier.bias.data[3] = 50.0
    (score,) = engine.score([prompt_of(*PAIRS[0])])[0]
    assert score.answer is None and score.mass < 1e-6


def test_what_it_shows_before_it_is_asked():
    engine = engine_of()
    shown = engine.explain_and_score_prompt(prompt_of(*PAIRS[0]))
    assert shown.text == "\n".join(PAIRS[0])
    assert [forms[0][0] for forms in shown.options] == ["ENTAILMENT", "Contradiction", "neutral"]
    assert engine.choose_prompt_form("chat") == "pair" and engine.mask_token is None
    assert engine.info["classes"] == list(NAMES.values()) and "tuning" not in engine.info


def test_classes_without_the_name_of_an_option_are_refused():
    engine = engine_of(names={0: "LABEL_0", 1: "LABEL_1", 2: "LABEL_2"})
    with pytest.raises(InputError, match=r"none of its classes \(LABEL_0.*'entailment'.*id2label"):
        engine.score([prompt_of(*PAIRS[0])])


def test_it_writes_no_text_and_takes_no_single_text():
    engine = engine_of()
    with pytest.raises(InputError, match="writes no text"):
        engine.generate([prompt_of(*PAIRS[0])], [Sampling()])
    with pytest.raises(InputError, match="two sentences"):
        engine.score([Prompt("A text.", None, ANSWERS)])


def test_a_pair_longer_than_the_window_is_an_error_of_its_own():
    engine = engine_of(max_position_embeddings=30)
    bad, good = engine.score([prompt_of("Bread " * 40, "Lamps."), prompt_of("Bread.", "Lamps.")])[0]
    assert "exceed the model's context window of 30" in (bad.error or "") and good.error is None


def test_training_cuts_the_longer_sentence_and_asking_cuts_none():
    tokenizer = tiny_models.wordpiece_tokenizer()
    long, short = "bread " * 40, "lamps"
    assert len(encode_pairs(tokenizer, [long], [short], 16)["input_ids"][0]) == 16
    assert len(encode_pairs(tokenizer, [long], [short])["input_ids"][0]) > 40


class TestCheckpoints:
    """A folder is known by its architecture; what `waver tune` recorded comes along."""

    def test_a_tuned_folder_is_asked_by_its_own_engine(self, tmp_path):
        made = engine_of()
        setattr(made.model.config, TUNING, TUNED)
        made.model.save_pretrained(tmp_path)
        made.tokenizer.save_pretrained(tmp_path)
        engine = engines.load_engine(str(tmp_path))
        assert engine.info["engine"] == "classifier" and engine.info["tuning"] == TUNED
        prompts = [prompt_of(*PAIRS[0])]
        assert engine.score(prompts)[0][0].probability == pytest.approx(made.score(prompts)[0][0].probability, abs=1e-6)

    def test_an_encoder_that_was_not_tuned_is_refused(self, tmp_path):
        folder = tiny_models.checkpoint(tmp_path, "bert")
        with pytest.raises(InputError, match=r"no classifier; tune it first \(waver tune nli\)"):
            engines.load_engine(folder, engine="classifier")

    def test_a_record_of_another_shape_is_refused(self):
        with pytest.raises(InputError, match=f"{TUNING}: seed is missing or wrong"):
            engine_of(**{TUNING: {**TUNED, "seed": "one"}})
