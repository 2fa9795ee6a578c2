"""Engine `causal` against one prompt per forward pass with full logits, written out slowly."""

from __future__ import annotations

import math
from typing import Any

import pytest
import torch

from ground.errors import InputError
from helpers import tiny_models
from inference.engines.contract import Score
from inference.engines.loading import Checkpoint
from inference.engines.local.causal import SHORTEST_PREFIX, CausalEngine
from inference.stimuli.templates.prompts import Prompt

pytestmark = pytest.mark.slow

YES_NO = (("yes", "Yes", "YES"), ("no", "No", "NO"))
START = "Do you agree with the statement below? Reply yes or no.\nStatement: "
STATEMENTS = (
    "Bread.",
    "A warm lamp makes a small room friendlier than a cold one ever could.",
    "Trains should leave on time, even on Sundays, when it rains and when the hills are white with snow.",
    "Small rooms.",
    "Reply yes, or reply no: bread tastes better on the day that it is baked.",
)
NO_PREFIX = {"bloom", "mamba", "recurrent_gemma"}


def engine_of(architecture: str, tokenizer: Any = None, batch_size: int | None = None, **settings: Any) -> CausalEngine:
    tokenizer = tokenizer or tiny_models.default_tokenizer(architecture)
    model = tiny_models.model(architecture, tokenizer, **settings)
    return CausalEngine(Checkpoint("tiny", model, tokenizer, {}), batch_size)


def prompts_of(
    answers: tuple[tuple[str, ...], ...] = YES_NO, start: str = START, end: str = "\nReply:"
) -> list[Prompt]:
    return [Prompt(f"{start}{statement}{end}", None, answers) for statement in STATEMENTS]


def ask(engine: CausalEngine, prompts: list[Prompt]) -> list[Score]:
    scores: dict[int, Score] = {}
    for batch in engine.cut_into_batches(prompts):
        scores.update(zip(batch, engine.score([prompts[index] for index in batch])[0], strict=True))
    return [scores[index] for index in range(len(prompts))]


@torch.inference_mode()
def slow_score(engine: CausalEngine, prompt: Prompt) -> tuple[list[float], int | None]:
    """Option probabilities and answer from one forward pass per sequence, by the definition."""

    def encode(text: str) -> list[int]:
        return engine.tokenizer(text)["input_ids"]

    ids = encode(prompt.text)
    owned: dict[tuple[int, ...], int] = {}
    for option, words in enumerate(prompt.answers):
        for form in [space + word for word in words for space in ("", " ")]:
            whole = encode(prompt.text + form)
            if whole[: len(ids)] == ids:
                owned[tuple(whole[len(ids) :])] = option
    following: dict[tuple[int, ...], Any] = {}  # what comes after a beginning of an answer
    for beginning in sorted({(), *(sequence[:-1] for sequence in owned)}, key=len, reverse=True):
        if beginning not in following:
            logits = engine.model(torch.tensor([[*ids, *beginning]])).logits[0, len(ids) - 1 :]
            after = logits.double().softmax(-1)
            following |= {beginning[:cut]: after[cut] for cut in range(len(beginning) + 1)}
    probability = [0.0 for _ in prompt.answers]
    for sequence, option in owned.items():
        longer = {other: owner for other, owner in owned.items() if other[: len(sequence)] == sequence != other}
        if any(
            sequence[:cut] in owned
            and {owner for other, owner in owned.items() if other[:cut] == sequence[:cut]} == {option}
            for cut in range(1, len(sequence))
        ):
            continue  # a shorter answer of the same option holds this one
        mass = math.prod(float(following[sequence[:at]][token]) for at, token in enumerate(sequence))
        if set(longer.values()) - {option}:
            next_tokens = {other[len(sequence)] for other in longer}
            mass *= 1 - sum(float(following[sequence][token]) for token in next_tokens)
        probability[option] += mass
    top = int(following[()].argmax())
    owners = {option for sequence, option in owned.items() if sequence[0] == top}
    return probability, max(owners, key=probability.__getitem__) if owners else None


def assert_like_slow(engine: CausalEngine, prompts: list[Prompt], scores: list[Score]) -> None:
    for prompt, score in zip(prompts, scores, strict=True):
        expected, answer = slow_score(engine, prompt)
        assert score.error is None
        assert score.probability == pytest.approx(expected, abs=1e-6, rel=1e-4)
        assert score.mass == pytest.approx(sum(expected), abs=5e-6)
        assert [math.exp(value) for value in score.logprob] == pytest.approx(score.probability)
        assert score.answer == answer


@pytest.mark.parametrize("architecture", tiny_models.CAUSAL)
def test_equals_one_prompt_per_forward_pass(architecture: str) -> None:
    engine = engine_of(architecture)
    prompts = prompts_of()[:3]
    assert_like_slow(engine, prompts, ask(engine, prompts))
    assert ("shared prefix" in engine.info["shortcuts"]) == (architecture not in NO_PREFIX)
    assert bool(engine.prefix.ids) == (architecture not in NO_PREFIX)
    assert "head" in engine.info["shortcuts"]


@pytest.mark.parametrize("architecture", ["llama", "gpt2", "falcon_alibi", "opt", "gemma3", "gpt_neo", "bloom"])
def test_answers_of_several_tokens_equal_one_pass_per_sequence(architecture: str) -> None:
    answers = (("agree", "agree so", "YES"), ("rather", "agree no"))
    engine = engine_of(architecture, tiny_models.byte_tokenizer(vocab_size=300))
    prompts = prompts_of(answers)[:3]
    assert max(len(ids) for option in engine.explain_and_score_prompt(prompts[0]).options for _, ids in option) > 3
    assert_like_slow(engine, prompts, ask(engine, prompts))


def test_no_shared_start() -> None:
    engine = engine_of("llama")
    prompts = prompts_of(start="")
    assert_like_slow(engine, prompts, ask(engine, prompts))
    assert engine.prefix.ids == []


def test_prompts_without_the_shared_start_are_scored_without_it() -> None:
    engine = engine_of("gpt2")
    prompts = prompts_of()
    engine.cut_into_batches(prompts)
    others = [*prompts_of(start="Another start. "), prompts[0]]
    assert_like_slow(engine, others, engine.score(others)[0])
    assert_like_slow(engine, prompts, engine.score(prompts)[0])


def test_one_prompt_may_be_the_start_of_another() -> None:
    engine = engine_of("llama")
    texts = [START, START + "Bread.", START + "Bread. And"]
    prompts = [Prompt(text.rstrip(), None, YES_NO) for text in texts]
    assert_like_slow(engine, prompts, ask(engine, prompts))


@pytest.mark.parametrize("window", [24, 64, 4096])
def test_sliding_windows_shorter_and_longer_than_the_prompts(window: int) -> None:
    engine = engine_of("mistral", tiny_models.byte_tokenizer(vocab_size=300), sliding_window=window)
    prompts = prompts_of((("agree",), ("rather not",)))
    assert min(engine.count_prompt_tokens(prompts)) > 24
    assert_like_slow(engine, prompts, ask(engine, prompts))


def test_nothing_is_shared_beyond_the_length_at_which_keys_change() -> None:
    rope = {"rope_type": "longrope", "rope_theta": 1e4, "original_max_position_embeddings": 40}
    factors = {"short_factor": [1.0] * 4, "long_factor": [3.0] * 4}
    engine = engine_of("llama", max_position_embeddings=256, rope_parameters={**rope, **factors})
    prompts = [Prompt(f"{START}{word} {'tastes better. ' * 5}\nReply:", None, YES_NO) for word in ("Bread", "Snow")]
    assert min(engine.count_prompt_tokens(prompts)) > 40
    scores = ask(engine, prompts)
    assert SHORTEST_PREFIX <= len(engine.prefix.ids) < 40
    assert_like_slow(engine, prompts, scores)


def test_padding_side_makes_no_difference() -> None:
    found = []
    for side in ("left", "right"):
        tokenizer = tiny_models.byte_tokenizer()
        tokenizer.padding_side = side
        found.append(ask(engine_of("llama", tokenizer), prompts_of()))
    assert found[0] == found[1]


@pytest.mark.parametrize("batch_size", [1, 2, 5])
def test_batch_size_makes_no_difference_but_rounding(batch_size: int) -> None:
    engine = engine_of("gpt2", batch_size=batch_size)
    prompts = prompts_of()
    assert max(map(len, engine.cut_into_batches(prompts))) == batch_size
    assert_like_slow(engine, prompts, ask(engine, prompts))


def test_number_answers_where_one_begins_another() -> None:
    answers = tuple((str(number),) for number in (0, 1, 2, 10, 12, 100))
    engine = engine_of("llama", tiny_models.number_tokenizer())
    prompts = prompts_of(answers, end="\nScore:")
    assert_like_slow(engine, prompts, ask(engine, prompts))
    forms = engine.explain_and_score_prompt(prompts[0]).options
    one, hundred = dict(forms[1])["1"], dict(forms[5])["100"]
    assert hundred[: len(one)] == one


def test_japanese_answers_that_share_their_first_bytes() -> None:
    answers = (("はい",), ("いいえ",))
    engine = engine_of("qwen2")
    prompts = prompts_of(answers, end="\n答え:")
    options = engine.explain_and_score_prompt(prompts[0]).options
    first = [ids[0] for option in options for form, ids in option if not form.startswith(" ")]
    assert len(set(first)) == 1
    assert_like_slow(engine, prompts, ask(engine, prompts))


def test_byte_fallback_of_a_sentencepiece_tokenizer() -> None:
    engine = engine_of("llama", tiny_models.metaspace_tokenizer())
    prompts = prompts_of((("はい", "yes"), ("いいえ", "no")))[:2]
    assert_like_slow(engine, prompts, ask(engine, prompts))


def test_prompts_whose_ends_differ_are_scored_on_their_own_forms() -> None:
    engine = engine_of("llama")
    prompts = [
        Prompt(START + "Bread.\nReply:", None, YES_NO),
        Prompt(START + "Bread.\nReply: ", None, YES_NO),
        Prompt(START + "Bread.\nRepl", None, (("y", "yes"), ("no",))),
    ]
    assert len({tuple(engine.explain_and_score_prompt(prompt).options) for prompt in prompts}) == 3
    assert_like_slow(engine, prompts, ask(engine, prompts))


def test_a_resumed_run_computes_its_batches_bit_by_bit() -> None:
    prompts = prompts_of() * 3 + prompts_of(end=" Reply:")
    whole = engine_of("llama", batch_size=4)
    batches = whole.cut_into_batches(prompts)
    undisturbed = [whole.score([prompts[index] for index in batch])[0] for batch in batches]
    resumed = engine_of("llama", batch_size=4)
    assert resumed.cut_into_batches(prompts) == batches
    for number in (4, 2):
        assert resumed.score([prompts[index] for index in batches[number]])[0] == undisturbed[number]


def test_batches_hold_every_prompt_once_longest_first() -> None:
    engine = engine_of("bloom")  # it joins no prompts
    prompts = prompts_of() * 40
    batches = engine.cut_into_batches(prompts)
    lengths = engine.count_prompt_tokens(prompts)
    order = [index for batch in batches for index in batch]
    assert sorted(order) == list(range(len(prompts)))
    assert [lengths[index] for index in order] == sorted(lengths, reverse=True)
    assert len(batches) > 1


def test_too_long_prompts_get_an_error_and_the_others_go_on() -> None:
    engine = engine_of("gpt2", n_positions=96)
    prompts = prompts_of()
    prompts.insert(1, Prompt(START + "Bread tastes. " * 30, None, YES_NO))
    batches = engine.cut_into_batches(prompts)
    assert batches[-1] == [1]
    scores = engine.score(prompts)[0]
    assert "96" in (scores[1].error or "")
    assert scores[1].mass is None
    assert scores[1].probability == ()
    del prompts[1], scores[1]
    assert_like_slow(engine, prompts, scores)


def test_the_longest_prompt_that_fits_leaves_room_for_its_answer() -> None:
    answers = (("agree strongly",), ("rather not",))
    probe = engine_of("gpt2", tiny_models.byte_tokenizer(vocab_size=300))
    prompt = prompts_of(answers)[0]
    longest = max(len(ids) for forms in probe.explain_and_score_prompt(prompt).options for _, ids in forms)
    needed = probe.count_prompt_tokens([prompt])[0] + longest
    exact = engine_of("gpt2", tiny_models.byte_tokenizer(vocab_size=300), n_positions=needed)
    assert_like_slow(exact, [prompt], exact.score([prompt])[0])
    short = engine_of("gpt2", tiny_models.byte_tokenizer(vocab_size=300), n_positions=needed - 1)
    assert short.score([prompt])[0][0].error


def test_an_empty_prompt_is_an_error_of_its_row() -> None:
    engine = engine_of("llama")
    assert engine.score([Prompt("", None, YES_NO)])[0][0].error == "the prompt is empty"


def test_forms_that_join_with_the_end_of_the_prompt_are_dropped_and_reported() -> None:
    engine = engine_of("llama")
    explained = engine.explain_and_score_prompt(Prompt("A state", None, (("ment", "yes"), ("no",))))
    assert (0, "ment") in [(option, form) for option, form, _ in explained.dropped]
    assert " ment" in dict(explained.options[0])
    assert explained.score.error is None


def test_an_option_without_any_form_is_refused() -> None:
    with pytest.raises(InputError, match="none of the answers of option 1"):
        engine_of("llama").score([Prompt("A question", None, ((), ("no",)))])[0]
