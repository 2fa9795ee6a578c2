"""Engine `masked` against one prompt per forward pass with full logits."""

from __future__ import annotations

from typing import Any

import pytest
import torch
import transformers

from ground.errors import InputError
from helpers import tiny_models
from inference.engines.loading import Checkpoint
from inference.engines.local import batching
from inference.engines.local.last_position import OnePosition
from inference.engines.local.masked import MaskedEngine
from inference.stimuli.templates.prompts import Prompt

pytestmark = pytest.mark.slow

WORDS = (("agree", "Agree", "accept", "support"), ("disagree", "DISAGREE", "reject", "xylophone"))
STATEMENTS = (
    "Bread.",
    "A warm lamp makes a small room friendlier than a cold one.",
    "Small rooms.",
    "Trains should leave on time, even on Sundays.",
)


def engine_of(architecture: str, tokenizer: Any = None, **settings: Any) -> MaskedEngine:
    tokenizer = tokenizer or tiny_models.default_tokenizer(architecture)
    return MaskedEngine(Checkpoint("tiny", tiny_models.model(architecture, tokenizer, **settings), tokenizer, {}))


def prompts_of(engine: MaskedEngine, words: tuple[tuple[str, ...], ...] = WORDS) -> list[Prompt]:
    text = "Some people agree with this: {} I {} with it."
    return [Prompt(text.format(statement, engine.mask_token), None, words) for statement in STATEMENTS]


@torch.inference_mode()
def slow_probability(engine: MaskedEngine, prompt: Prompt) -> list[float]:
    """Sum over the words that replace the mask and change one id."""
    ids = engine.tokenizer(prompt.text)["input_ids"]
    at = ids.index(engine.tokenizer.mask_token_id)
    at_mask = engine.model(torch.tensor([ids])).logits[0, at].double().softmax(-1)
    result = []
    for words in prompt.answers:
        fillers = set()
        for word in words:
            filled = engine.tokenizer(prompt.text.replace(engine.mask_token, word))["input_ids"]
            changed = [new for old, new in zip(ids, filled, strict=False) if old != new]
            if len(filled) == len(ids) and len(changed) == 1 and changed[0] != engine.tokenizer.unk_token_id:
                fillers.add(changed[0])
        result.append(sum(float(at_mask[token]) for token in fillers))
    return result


@pytest.mark.parametrize("architecture", tiny_models.MASKED)
def test_equals_one_prompt_per_forward_pass(architecture: str) -> None:
    engine = engine_of(architecture)
    prompts = prompts_of(engine)
    (batch,) = engine.cut_into_batches(prompts)
    scores = engine.score([prompts[index] for index in batch])[0]
    for index, score in zip(batch, scores, strict=True):
        expected = slow_probability(engine, prompts[index])
        assert min(expected) > 0
        assert score.probability == pytest.approx(expected, abs=1e-6, rel=1e-4)
        assert score.mass == pytest.approx(sum(expected), abs=5e-6)
    assert "head" in engine.info["shortcuts"]


@pytest.mark.parametrize("architecture", tiny_models.MASKED)
def test_several_passes_with_one_head_equal_one_prompt_per_pass(
    architecture: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(batching, "CPU_TOKENS", 40)
    engine = engine_of(architecture)
    assert engine.run_model.is_joint_head_exact
    prompts = prompts_of(engine)
    assert [sorted(batch) for batch in engine.cut_into_batches(prompts)] == [[0, 1, 2, 3]]
    bodies, heads = [], []
    engine.model.base_model.register_forward_hook(lambda *_: bodies.append(1))
    engine.model.get_output_embeddings().register_forward_hook(lambda *_: heads.append(1))
    scores = engine.score(prompts)[0]  # not in the order of their lengths
    assert len(bodies) == len(engine._split_batch_into_passes(engine._get_or_tokenize_rows(prompts))) > 2
    assert len(heads) == 1
    for prompt, score in zip(prompts, scores, strict=True):
        assert score.probability == pytest.approx(slow_probability(engine, prompt), abs=1e-6, rel=1e-4)


def test_a_model_whose_scores_need_more_than_the_output_of_its_body_gets_a_head_for_every_pass(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    engine = engine_of("bert")
    prompts = prompts_of(engine)
    forward = engine.model.forward

    def by_first_token(input_ids: torch.Tensor, **inputs: Any) -> Any:
        output = forward(input_ids=input_ids, **inputs)
        output.logits = output.logits * (1 + input_ids[0, 0])
        return output

    engine.model.forward = by_first_token
    engine.run_model = OnePosition(engine.model)
    monkeypatch.setattr(batching, "CPU_TOKENS", 40)
    assert engine.run_model.shortcuts and not engine.run_model.is_joint_head_exact
    assert len(engine.cut_into_batches(prompts)) > 1
    for prompt, score in zip(prompts, engine.score(prompts)[0], strict=True):
        assert score.probability == pytest.approx(slow_probability(engine, prompt), abs=1e-6, rel=1e-4)


def test_passes_that_do_not_fit_together_are_asked_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """A prompt that outgrows memory costs the others no more than one attempt."""
    monkeypatch.setattr(batching, "CPU_TOKENS", 60)
    engine = engine_of("bert", max_position_embeddings=512)
    text = "Some people agree with this: {} I {} with it."
    long = Prompt(text.format("Small rooms. " * 30, engine.mask_token), None, WORDS)
    prompts = [*prompts_of(engine), long, *prompts_of(engine)]
    (batch,) = engine.cut_into_batches(prompts)
    shapes = []

    def cramped(_module: Any, args: tuple[Any, ...], inputs: dict[str, Any]) -> None:
        (ids,) = (*args, *(value for name, value in inputs.items() if name == "input_ids"))
        shapes.append(ids.shape)
        if ids.shape[1] > 60:
            raise RuntimeError("not enough memory")

    hook = engine.model.base_model.register_forward_pre_hook(cramped, with_kwargs=True)
    scores = engine.score([prompts[place] for place in batch])[0]
    assert len(shapes) == 1 + len(engine._split_batch_into_passes(engine._get_or_tokenize_rows(prompts)))
    assert engine._rows_that_fit is None
    hook.remove()
    for place, score in zip(batch, scores, strict=True):
        if prompts[place] is long:
            assert "out of memory" in str(score.error)
        else:
            expected = slow_probability(engine, prompts[place])
            assert score.probability == pytest.approx(expected, abs=1e-6, rel=1e-4)


@pytest.mark.parametrize(("mixing", "batch_size"), [("ConvBert", None), ("ConvBert", 3), ("FNet", None), ("FNet", 3)])
def test_a_model_that_mixes_padding_into_its_answers_gets_none(mixing: str, batch_size: int | None) -> None:
    tokenizer = tiny_models.wordpiece_tokenizer()
    config = getattr(transformers, f"{mixing}Config")(
        vocab_size=len(tokenizer), hidden_size=32, embedding_size=32, num_hidden_layers=2, num_attention_heads=4,
        intermediate_size=64, initializer_range=0.3, pad_token_id=tokenizer.pad_token_id,
    )  # fmt: skip
    torch.manual_seed(0)
    model = transformers.AutoModelForMaskedLM.from_config(config).eval()
    engine = MaskedEngine(Checkpoint("mixing", model, tokenizer, {}), batch_size)
    prompts = prompts_of(engine)
    lengths = engine.count_prompt_tokens(prompts)
    assert len(set(lengths)) > 2
    for batch in engine.cut_into_batches(prompts):
        for place, score in zip(batch, engine.score([prompts[place] for place in batch])[0], strict=True):
            expected = slow_probability(engine, prompts[place])
            assert score.probability == pytest.approx(expected, abs=1e-6, rel=1e-4)


def test_rows_of_one_length_need_no_attention_mask_and_score_the_same() -> None:
    engine = engine_of("bert")
    prompts = prompts_of(engine)
    together = engine.score(prompts)[0]
    for prompt, score in zip(prompts, together, strict=True):
        assert engine.score([prompt])[0][0].probability == pytest.approx(score.probability, abs=1e-6)


def test_all_single_tokens_of_the_vocabulary_sum_to_one() -> None:
    tokenizer = tiny_models.wordpiece_tokenizer()
    special = set(tokenizer.all_special_ids)
    words = [word for word, token in tokenizer.get_vocab().items() if token not in special and word.isalnum()]
    engine = engine_of("bert", tokenizer)
    (prompt,) = prompts_of(engine, (tuple(words[::2]), tuple(words[1::2])))[:1]
    score = engine.score([prompt])[0][0]
    ids = engine.tokenizer(prompt.text)["input_ids"]
    with torch.inference_mode():
        logits = engine.model(torch.tensor([ids])).logits[0, ids.index(tokenizer.mask_token_id)].double()
    owned = torch.tensor([tokenizer.get_vocab()[word] for word in words])
    assert score.mass == pytest.approx(float(logits.softmax(-1)[owned].sum()), abs=5e-6)
    assert score.mass > 0.2


@torch.inference_mode()
def ranked_words(engine: MaskedEngine, prompt: Prompt) -> list[str]:
    """Vocabulary at the mask, the likeliest first."""
    ids = engine.tokenizer(prompt.text)["input_ids"]
    logits = engine.model(torch.tensor([ids])).logits[0, ids.index(engine.tokenizer.mask_token_id)]
    return engine.tokenizer.convert_ids_to_tokens(logits.argsort(descending=True).tolist())


def test_the_answer_is_the_option_of_the_likeliest_word() -> None:
    trials = (
        (engine, prompt)
        for seed in range(9)
        for engine in [engine_of("bert", seed=seed)]
        for prompt in prompts_of(engine)
    )
    engine, prompt = next(trial for trial in trials if ranked_words(*trial)[0].isalpha())
    words = [word for word in ranked_words(engine, prompt) if word.isalpha()]

    def answer(*options: str) -> int | None:
        return engine.score([Prompt(prompt.text, None, tuple((word,) for word in options))])[0][0].answer

    assert answer(words[5], words[0]) == 1
    assert answer(words[0], words[5]) == 0
    assert answer(words[3], words[5]) is None


def test_words_that_are_not_one_token_are_reported() -> None:
    engine = engine_of("bert", tiny_models.wordpiece_tokenizer(lowercase=False))
    explained = engine.explain_and_score_prompt(prompts_of(engine)[0])
    kept = [[form for form, _ in option] for option in explained.options]
    assert kept == [["agree", "accept", "support"], ["disagree", "reject"]]
    assert [(option, form) for option, form, _ in explained.dropped] == [
        (0, "Agree"),
        (1, "DISAGREE"),
        (1, "xylophone"),
    ]
    assert all("one token" in reason or "vocabulary" in reason for *_, reason in explained.dropped)
    assert explained.n_tokens == engine.count_prompt_tokens(prompts_of(engine))[0]


def test_case_variants_of_an_uncased_model_count_once() -> None:
    engine = engine_of("bert")
    explained = engine.explain_and_score_prompt(prompts_of(engine)[0])
    assert [form for form, _ in explained.options[0]][:2] == ["agree", "Agree"]
    once = engine.score([Prompt(prompts_of(engine)[0].text, None, (("agree", "accept", "support"), ("reject",)))])[0][0]
    assert explained.score.probability[0] == pytest.approx(once.probability[0])


def test_a_word_outside_the_alphabet_is_not_in_the_vocabulary() -> None:
    engine = engine_of("bert")
    explained = engine.explain_and_score_prompt(prompts_of(engine, (("agree", "賛成"), ("reject", "反")))[0])
    assert {form for _, form, _ in explained.dropped} == {"賛成", "反"}
    assert "is not in the vocabulary" in {reason for *_, reason in explained.dropped}


def test_an_option_whose_words_are_all_dropped_is_refused() -> None:
    engine = engine_of("bert")
    with pytest.raises(InputError, match=r"none of the answers of option 2 \(xylophone\).*vocabulary"):
        engine.score(prompts_of(engine, (("agree",), ("xylophone",))))[0]


@pytest.mark.parametrize("text", ["I agree with it.", "I [MASK] with the [MASK] statement."])
def test_the_mask_must_be_there_once(text: str) -> None:
    engine = engine_of("bert")
    with pytest.raises(InputError, match=r"must contain the mask \[MASK\] of model tiny once, this one has [02]"):
        engine.cut_into_batches([Prompt(text, None, WORDS)])


@pytest.mark.parametrize(("architecture", "limit"), [("bert", 130), ("roberta", 128)])
def test_too_long_prompts_get_an_error(architecture: str, limit: int) -> None:
    engine = engine_of(architecture, max_position_embeddings=130)
    short = f"I {engine.mask_token} with it."
    one = (
        engine.count_prompt_tokens([Prompt(f"no {short}", None, WORDS)])[0]
        - engine.count_prompt_tokens([Prompt(short, None, WORDS)])[0]
    )
    room = limit - engine.count_prompt_tokens([Prompt(short, None, WORDS)])[0]
    fits = Prompt("no " * (room // one) + short, None, WORDS)
    longer = Prompt("no " * (room // one + 1) + short, None, WORDS)
    scores = engine.score([longer, fits])[0]
    assert str(limit) in (scores[0].error or "")
    assert scores[1].probability == pytest.approx(slow_probability(engine, fits), abs=1e-6)


def test_whatever_form_the_causal_models_are_asked_in_a_masked_one_is_asked_in_cloze() -> None:
    engine = engine_of("bert")
    assert {engine.choose_prompt_form(form) for form in ("auto", "plain", "chat", "cloze")} == {"cloze"}
