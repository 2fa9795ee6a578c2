"""What waver-demo-entailment reads: right labels, and neither planted sentences nor the frames that are held out."""

from __future__ import annotations

import random

import pytest

pytest.importorskip("torch")
pytest.importorskip("transformers")

import torch

from demo_training import entailment, planted
from demo_training.entailment_pairs import CONTRADICTION, ENTAILMENT, KINDS, NEUTRAL, PairWriter
from demo_training.taught_world import TaughtWorld
from demo_training.templates import fold_sentence
from inference.demo import ENTAILERS, MODELS
from inference.stimuli.items import DEMO_MEANING, read_and_check_items
from inference.stimuli.reading.files import read_yaml

PLANTED = {fold_sentence(text) for text in planted.read_planted_paraphrases().values()}


@pytest.fixture(scope="module")
def writer() -> PairWriter:
    return PairWriter(TaughtWorld(), PLANTED)


@pytest.fixture(scope="module")
def pairs(writer):
    rng = random.Random(5)
    return [writer.draw_pair(rng) for _ in range(4000)]


@pytest.mark.slow
def test_neither_planted_sentences_nor_frames_that_are_held_out_are_read(writer, pairs):
    heldout = {fold_sentence(text) for texts in writer.heldout.values() for text in texts}
    in_frames = {fold_sentence(text) for frames in writer.frames.values() for texts in frames for text in texts}
    read = {fold_sentence(sentence.text) for pair in pairs for sentence in (pair.premise, pair.hypothesis)}
    assert not read & PLANTED
    assert len(heldout) > 400 and not in_frames & heldout
    assert not read & heldout
    # They would be read, if they were not left out: the tables make some of them.
    unchecked, rng = PairWriter(TaughtWorld()), random.Random(6)
    makes = (unchecked.draw_pair(rng) for _ in range(20_000))
    assert any(fold_sentence(pair.hypothesis.text) in PLANTED for pair in makes)


@pytest.mark.slow
def test_labels_follow_from_what_the_sentences_are(pairs):
    sides = KINDS[:2]
    for pair in pairs:
        first, second = pair.premise, pair.hypothesis
        if first.item != second.item:
            expected = NEUTRAL
        elif first.kind in sides and second.kind in sides:
            expected = ENTAILMENT if first.kind == second.kind else CONTRADICTION
        else:
            expected = CONTRADICTION if "denied" in (first.kind, second.kind) else NEUTRAL
        assert pair.label == expected, pair
    for label in (ENTAILMENT, CONTRADICTION, NEUTRAL):
        # 5 standard errors of a share of one third.
        assert abs(sum(pair.label == label for pair in pairs) / len(pairs) - 1 / 3) < 5 * (2 / 9 / len(pairs)) ** 0.5


def test_changes_are_what_the_tables_say(writer):
    def change(kind: str, text: str, item: str = "tea-coffee") -> set[str]:
        return {writer.change_sentence(kind, item, text, random.Random(seed)) for seed in range(30)}

    statement = "Tea tastes better than coffee."
    assert change("opposite", statement) == {"Coffee tastes better than tea."}
    assert change("denied", statement) == {
        "Tea does not taste better than coffee.", "It is not true that tea tastes better than coffee.",
    }  # fmt: skip
    assert "Coffee can match tea." in change("denied", "Coffee cannot match tea.")
    assert change("quantity", statement) == {"Tea tastes as good as coffee.", "Tea tastes a little better than coffee."}
    assert "Tea tastes better than milk." in change("topic", statement)
    assert all(sorted(text[:-1].lower().split()) == ["better", "coffee", "tastes", "tea", "than"]
               for text in change("order", statement))  # fmt: skip
    assert "[UNK] tastes better than coffee." not in change("unknown", statement)  # short words stay
    assert change("quantity", "Nothing here.") == {""}


def test_it_begins_with_a_head_that_looks_at_the_word_before(writer):
    tokenizer = entailment.build_tokenizer(writer.list_words())
    model = entailment.build_encoder(tokenizer)
    (name,) = ENTAILERS
    assert model.num_parameters() == ENTAILERS[name].parameters
    coded = tokenizer("Food cooked at home tastes better than a meal from the restaurant.", return_tensors="pt")
    assert tokenizer.unk_token_id not in coded["input_ids"][0]
    model.set_attn_implementation("eager")
    with torch.inference_mode():
        weights = model(**coded, output_attentions=True).attentions[0][0, 1]
    means = [weights.diagonal(offset).mean() for offset in (-3, -2, -1, 0, 1, 2, 3)]
    assert means.index(max(means)) == 2 and max(means) > 3 / len(weights)


@pytest.mark.slow
def test_a_short_training_learns_something_and_the_same_each_time(writer, tmp_path):
    tokenizer = entailment.build_tokenizer(writer.list_words())
    models = []
    for number in range(2):
        model = entailment.build_encoder(tokenizer)
        entailment.train_encoder(model, tokenizer, writer, steps=3)
        entailment.save_encoder(model, tokenizer, tmp_path / str(number))
        models.append((tmp_path / str(number) / "model.safetensors").read_bytes())
    assert models[0] == models[1]
    fresh = entailment.build_encoder(tokenizer).half().state_dict()
    assert any(not torch.equal(fresh[name], weight) for name, weight in model.state_dict().items())


@pytest.mark.slow
def test_the_card_has_the_table_of_the_model_that_is_shipped(writer):
    card = (MODELS / "README.md").read_text(encoding="utf-8")
    assert entailment.examine_encoder(writer) in card, "run python -m demo_training.entailment --card"


def test_the_committed_items_are_what_the_program_makes():
    assert [
        (variant.item, variant.variant, variant.pattern, variant.language, variant.text,
         variant.attributes.get("planted", ""))
        for item in read_and_check_items(DEMO_MEANING) for variant in item.variants
    ] == planted.list_rows(), "run python -m demo_training.planted"  # fmt: skip


def test_ten_planted_paraphrases_are_like_no_wording_of_the_questionnaire(writer):
    assert len(PLANTED) == 10
    wordings = {fold_sentence(text) for texts in TaughtWorld().questionnaire.values() for text in texts}
    assert not PLANTED & wordings
    changes = [entry["change"] for entry in read_yaml(planted.PLANTED)]
    assert set(changes) == {"sides", "negation", "quantity", "topic"}
