"""Rows become token ids with their answers marked, lie in blocks without loss, and do not see their neighbours."""

from __future__ import annotations

import random

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")

from demo_training import batches, vocabulary  # noqa: E402
from demo_training.corpus import Corpus, write_turn  # noqa: E402
from demo_training.curriculum import COURSES, ModelShape, Upbringing  # noqa: E402
from demo_training.shapes import build_llama, build_modern_bert  # noqa: E402
from demo_training.steps import Reading  # noqa: E402
from demo_training.taught_world import TaughtWorld  # noqa: E402

LENGTH = 96


@pytest.fixture(scope="module")
def corpus() -> Corpus:
    return Corpus(TaughtWorld())


@pytest.fixture(scope="module")
def few_texts():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(vocabulary, "TEXTS", 500)
        patch.setattr(vocabulary, "WORD_REPEATS", 500)
        yield


@pytest.fixture(scope="module")
def tokenizer(corpus: Corpus, few_texts):
    return vocabulary.train_causal_tokenizer(corpus, seed=1)


@pytest.fixture(scope="module")
def masked_tokenizer(corpus: Corpus, few_texts):
    return vocabulary.build_masked_tokenizer(corpus, seed=1)


@pytest.fixture(scope="module")
def rows(corpus: Corpus):
    rng = random.Random(1)
    return [corpus.write_base_text(rng, stage, Upbringing()) for stage in COURSES["large"] for _ in range(40)]


@pytest.mark.slow
def test_a_row_is_tokenized_as_its_whole_text_is(tokenizer, rows) -> None:
    encoded = batches.encode_rows(tokenizer, rows)
    for row, (ids, answers) in zip(rows, encoded, strict=True):
        text = "".join(reading.before + reading.answer for reading in row)
        assert ids == [*tokenizer(text)["input_ids"], tokenizer.eos_token_id]
        answered = [token for token, marked in zip(ids, answers, strict=True) if marked]
        end = [tokenizer.eos_token] if row[-1].answer else []
        assert tokenizer.decode(answered) == "".join([*(reading.answer for reading in row), *end])


@pytest.mark.slow
def test_blocks_hold_every_row_that_fits_once(tokenizer, rows) -> None:
    encoded = batches.encode_rows(tokenizer, [*rows, (Reading("hat " * 200, ""),)])
    blocks = list(batches.pack_rows([*encoded, *[([0] * LENGTH, [False] * LENGTH)] * batches.OPEN_BLOCKS], LENGTH))
    lying = [row for block in blocks for row in block if any(row[0])]
    assert sorted(map(repr, lying)) == sorted(repr(row) for row in encoded if len(row[0]) <= LENGTH)
    assert all(sum(len(ids) for ids, _ in block) <= LENGTH for block in blocks)
    full = sum(len(ids) for block in blocks for ids, _ in block) / (LENGTH * len(blocks))
    assert full > 0.9


def test_a_row_in_a_block_is_computed_as_if_it_were_alone(tokenizer, rows) -> None:
    torch.manual_seed(0)
    model = build_llama(ModelShape(2, 32, 16), tokenizer).eval()
    encoded = [row for row in batches.encode_rows(tokenizer, rows[:12]) if len(row[0]) <= 40]
    block = encoded[:2]
    read = batches.build_batch([block], LENGTH, tokenizer.pad_token_id)
    with torch.inference_mode():
        together = model(input_ids=read.ids, attention_mask=read.sees, position_ids=read.positions).logits[0]
        start = 0
        for ids, _ in block:
            alone = model(input_ids=torch.tensor([ids])).logits[0]
            torch.testing.assert_close(together[start : start + len(ids)], alone, atol=1e-5, rtol=0)
            start += len(ids)


def test_a_chat_is_written_as_the_template_writes_it(tokenizer) -> None:
    tokenizer.chat_template = vocabulary.CHAT_TEMPLATE
    messages = [
        {"role": "user", "content": "Is the ant black?"},
        {"role": "assistant", "content": "yes"},
        {"role": "user", "content": "Is it big?"},
    ]
    expected = tokenizer.apply_chat_template(messages, tokenize=False, add_generation_prompt=True)
    row = (Reading(write_turn("Is the ant black?"), "yes"), Reading("</s>" + write_turn("Is it big?"), ""))
    ((ids, _),) = batches.encode_rows(tokenizer, [row])
    assert ids[:-1] == tokenizer(expected, add_special_tokens=False)["input_ids"]


def test_what_is_hidden_is_the_answer_or_one_other_token(masked_tokenizer) -> None:
    reading = Reading("Tea is nice. I", " agree", " with it.")
    (row,) = batches.encode_rows(masked_tokenizer, [(reading,)])
    assert row[0] == masked_tokenizer(reading.text)["input_ids"]
    answered = 0
    for seed in range(50):
        ids, hidden = batches.mark_hidden_tokens(row, random.Random(seed))
        assert ids == row[0]
        (guessed,) = [token for token, marked in zip(ids, hidden, strict=True) if marked]
        assert guessed not in masked_tokenizer.all_special_ids
        answered += masked_tokenizer.decode([guessed]) == "agree"
    assert 35 <= answered < 50


def test_a_masked_row_in_a_block_is_computed_as_if_it_were_alone_and_hidden(masked_tokenizer) -> None:
    torch.manual_seed(0)
    model = build_modern_bert(ModelShape(2, 32, 16), masked_tokenizer).eval()
    readings = [Reading("Tea is nice. I", " agree", " with it."), Reading("The ant is big. We", " deny", " that.")]
    rows = batches.encode_rows(masked_tokenizer, [(reading,) for reading in readings])
    read = batches.build_batch([rows], LENGTH, masked_tokenizer.pad_token_id, causal=False)
    alone = []
    for ids, answers in rows:
        shown = torch.tensor([[masked_tokenizer.mask_token_id if a else i for i, a in zip(ids, answers, strict=True)]])
        wanted = torch.tensor([i if a else -100 for i, a in zip(ids, answers, strict=True)])
        alone.append(torch.nn.functional.cross_entropy(model(input_ids=shown).logits[0], wanted))
    together = batches.compute_masked_loss(model, read, masked_tokenizer.mask_token_id)
    torch.testing.assert_close(together, sum(alone) / len(alone), atol=1e-5, rtol=0)
