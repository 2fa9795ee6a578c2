"""Engine `vllm` against engine `causal` in float32 on the demo models: the same probabilities to 1e-5."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file, save_file
from scipy.stats import chisquare
from transformers import AutoModelForCausalLM

from ground.errors import InputError
from helpers import tiny_models
from inference import engines
from inference.demo import ADAPTERS
from inference.demo.choices import make_choice_questions
from inference.demo.world import World
from inference.engines.adapters import read_adapter_and_check_shapes
from inference.engines.contract import Sampling
from inference.protocols import agreement, choice
from inference.stimuli import items
from inference.stimuli.templates.prompts import Prompt, build_template_values_of_options

pytestmark = pytest.mark.slow

DEMO = Path(engines.__file__).parent.parent / "demo" / "models"
TUNED, BASE = str(DEMO / "waver-demo-large-tuned"), str(DEMO / "waver-demo-large")
YES_NO = (("yes", "Yes", "YES"), ("no", "No", "NO"))
STATEMENTS = ("Cats are red.", "It is wrong to say that the dog is small.", "Bread.", "The horse likes the house " * 20)


@pytest.fixture(scope="module")
def causal() -> Any:
    return engines.load_engine(TUNED, engine="causal", dtype="float32", device="cpu")


@pytest.fixture(scope="module")
def vllm() -> Any:
    return engines.load_engine(TUNED, engine="vllm", dtype="float32")


def plain(answers: tuple[tuple[str, ...], ...] = YES_NO, end: str = "\nAnswer:") -> list[Prompt]:
    return [Prompt(f"Do you agree with this statement? {text}{end}", None, answers) for text in STATEMENTS]


def assert_same(vllm: Any, causal: Any, prompts: list[Prompt], temperatures: tuple[float, ...] = (1.0,)) -> None:
    found, expected = vllm.score(prompts, temperatures), causal.score(prompts, temperatures)
    for ours, reference in zip(found, expected, strict=True):
        for score, known in zip(ours, reference, strict=True):
            assert score.error is None
            assert score.probability == pytest.approx(known.probability, abs=1e-5)
            assert score.logprob == pytest.approx(known.logprob, abs=1e-3)
            assert score.mass == pytest.approx(known.mass, abs=1e-5)
            assert score.answer == known.answer


@pytest.mark.parametrize("form", ["plain", "chat"])
@pytest.mark.parametrize("order", ["yes-no", "no-yes"])
def test_the_questionnaire_in_both_forms_and_orders(vllm: Any, causal: Any, form: str, order: str) -> None:
    book = agreement.read_agreement_prompts()
    variants = list(agreement.build_agreement_study(items.read_and_check_items("demo"), "demo").variants)[::20]
    assert_same(
        vllm,
        causal,
        [book.render(form, build_template_values_of_options(variant), option_order=order) for variant in variants],
    )


def test_answers_of_several_tokens(vllm: Any, causal: Any) -> None:
    prompts = plain((("yes", "yes it is"), ("no", "yes or no", "not at all")))
    assert max(len(ids) for option in vllm.explain_and_score_prompt(prompts[0]).options for _, ids in option) > 2
    assert_same(vllm, causal, prompts)


def test_numbers_where_one_begins_another_and_other_temperatures(vllm: Any, causal: Any) -> None:
    prompts = plain(tuple((str(number),) for number in (0, 1, 2, 10, 12, 100)), "\nScore:")
    assert_same(vllm, causal, prompts, (1.0, 2.0))
    assert_same(vllm, causal, plain(), (0.8,))


@pytest.mark.parametrize("numbers", [range(10), range(1, 101)])
def test_all_numbers_of_a_scale(vllm: Any, causal: Any, numbers: range) -> None:
    prompts = [Prompt(prompt.text, None, (), numbers) for prompt in plain(end="\nScore from 0 to 100:")]
    temperatures = (0.7, 1.0, 1.3)
    for ours, reference in zip(vllm.score(prompts, temperatures), causal.score(prompts, temperatures), strict=True):
        for score, known in zip(ours, reference, strict=True):
            assert score.error is None
            assert score.probability == pytest.approx(known.probability, abs=1e-5)
            assert score.mass == pytest.approx(known.mass, abs=1e-5)
            assert score.answer == known.answer


def test_prompts_with_targets_of_their_own(vllm: Any, causal: Any) -> None:
    assert_same(vllm, causal, plain() + plain(end="\nAnswer: ") + plain((("red", "blue"), ("green", "white"))))


def test_more_token_ids_than_one_request_may_ask(vllm: Any, causal: Any) -> None:
    letters = [a + b for a in "abcdefghijklmnopqrstuvwxyz" for b in "aeiousn"]
    prompts = plain((tuple(letters[:90]), tuple(letters[90:])))
    assert len(vllm._find_or_tokenize_target_of_row(vllm._get_or_tokenize_rows(prompts)[0]).tree.children) > 128
    assert_same(vllm, causal, prompts)


def test_what_run_json_records_is_what_causal_records(vllm: Any, causal: Any) -> None:
    same = ("revision", "dtype", "device", "parameters", "thinks")
    assert {name: vllm.info[name] for name in same} == {name: causal.info[name] for name in same}
    assert vllm.info["engine"] == "vllm"


def test_lengths_and_what_cannot_be_asked(vllm: Any, causal: Any) -> None:
    prompts = [*plain(), Prompt("", None, YES_NO), Prompt("red " * 3000, None, YES_NO)]
    assert vllm.count_prompt_tokens(prompts) == causal.count_prompt_tokens(prompts)
    assert sorted(index for batch in vllm.cut_into_batches(prompts) for index in batch) == list(range(len(prompts)))
    (scores,) = vllm.score(prompts)
    assert [score.error is not None for score in scores] == [False] * 4 + [
        score.error is not None for score in causal.score(prompts)[0][4:]
    ]
    assert "context window of 1024" in scores[-1].error


def test_sampled_first_tokens_are_as_frequent_as_they_are_probable(vllm: Any) -> None:
    """Chi-square goodness of fit; the seed is fixed, so the outcome is too."""
    prompts, samples = plain()[:2], 4000
    (scores,) = vllm.score(prompts)
    (generations,) = vllm.generate(prompts, [Sampling(samples, temperature=1.0, max_tokens=1)])
    for prompt, score, generation in zip(prompts, scores, generations, strict=True):
        written = Counter(" ".join(text.split()).lower() for text in generation.texts)
        options = [
            sum(written[form.lower()] for form in dict.fromkeys(map(str.lower, words))) for words in prompt.answers
        ]
        observed = [*options, samples - sum(options)]
        expected = [*(samples * p for p in score.probability), samples * (1 - score.mass)]
        cells = sorted(zip(expected, observed, strict=True))
        while cells[0][0] <= 5:  # too few for this test: what is rarest counts with what is next
            (rarest, seen), (rare, also_seen), *others = cells
            cells = sorted([(rarest + rare, seen + also_seen), *others])
        assert len(cells) > 1
        expected, observed = zip(*cells, strict=True)
        assert chisquare(observed, expected, sum_check=False).pvalue > 0.01


def test_samples_follow_from_the_seed_and_the_prompt_alone(vllm: Any) -> None:
    prompts, way = plain(), Sampling(3, temperature=1.0, max_tokens=4)
    (together,) = vllm.generate(prompts, [way])
    alone = [vllm.generate([prompt], [way])[0][0] for prompt in reversed(prompts)]
    assert together == alone[::-1]
    assert len({generation.texts for generation in together}) > 1


def test_the_greedy_text_begins_with_the_likeliest_token(vllm: Any) -> None:
    greedy, sampled = vllm.generate(plain()[:3], [Sampling(), Sampling(2, 0.5, 4)])
    (scores,) = vllm.score(plain()[:3])
    for score, generation, two in zip(scores, greedy, sampled, strict=True):
        assert len(generation.texts) == 1 and len(two.texts) == 2
        said = generation.texts[0].strip().split()[0].lower()
        assert (None if score.answer is None else ("yes", "no")[score.answer]) == (
            said if said in ("yes", "no") else None
        )


def test_a_temperature_that_vllm_would_raise_is_refused(vllm: Any) -> None:
    with pytest.raises(InputError, match=r"temperature 0\.001: vLLM computes with none below 0\.01"):
        vllm.score(plain(), (0.001,))


def adapter(folder: Path) -> Path:
    """A LoRA adapter in peft's format, of rank 4 on the attention of every layer, with weights that matter."""
    folder.mkdir()
    weights, generator = {}, torch.Generator().manual_seed(3)
    for name, weight in load_file(Path(BASE) / "model.safetensors").items():
        if name.endswith(("q_proj.weight", "v_proj.weight")):
            base = f"base_model.model.{name.removesuffix('.weight')}"
            weights[f"{base}.lora_A.weight"] = torch.randn(4, weight.shape[1], generator=generator) / 4
            weights[f"{base}.lora_B.weight"] = torch.randn(weight.shape[0], 4, generator=generator) / 4
    save_file(weights, folder / "adapter_model.safetensors", metadata={"format": "pt"})
    config = {"peft_type": "LORA", "task_type": "CAUSAL_LM", "r": 4, "lora_alpha": 8, "bias": "none",
              "target_modules": ["q_proj", "v_proj"], "base_model_name_or_path": BASE}  # fmt: skip
    (folder / "adapter_config.json").write_text(json.dumps(config), encoding="utf-8")
    return folder


def merged(folder: Path, out: Path) -> Path:
    """The base model with the adapter's product added to its weights: W + (alpha / r) B A."""
    model = AutoModelForCausalLM.from_pretrained(BASE, dtype=torch.float32)
    weights = load_file(folder / "adapter_model.safetensors")
    state = model.state_dict()
    with torch.no_grad():
        for name in weights:
            if name.endswith("lora_A.weight"):
                module = name.removesuffix(".lora_A.weight")
                product = weights[f"{module}.lora_B.weight"] @ weights[name]
                state[f"{module.removeprefix('base_model.model.')}.weight"] += 8 / 4 * product
    model.save_pretrained(out)
    for file in Path(BASE).glob("tokenizer*"):
        (out / file.name).write_bytes(file.read_bytes())
    return out


def test_a_lora_adapter_answers_like_the_merged_model(tmp_path: Path) -> None:
    folder = adapter(tmp_path / "adapter")
    vllm = engines.load_engine(BASE, engine="vllm", dtype="float32", adapter=read_adapter_and_check_shapes(folder))
    expected = engines.load_engine(
        str(merged(folder, tmp_path / "merged")), engine="causal", dtype="float32", device="cpu"
    )
    assert_same(vllm, expected, plain())
    base = engines.load_engine(BASE, engine="causal", dtype="float32", device="cpu")
    moved = [abs(a.mass - b.mass) for a, b in zip(vllm.score(plain())[0], base.score(plain())[0], strict=True)]
    assert max(moved) > 1e-2
    assert vllm.info["revision"] == base.info["revision"]


def test_an_adapter_that_peft_wrote_answers_as_in_engine_causal() -> None:
    """The demo's own adapter, asked with the paraphrase-aware prompt: the same texts, the same probabilities."""
    tuned = read_adapter_and_check_shapes(ADAPTERS / "waver-demo-large-choice")
    vllm = engines.load_engine(BASE, engine="vllm", dtype="float32", adapter=tuned)
    merged_in = engines.load_engine(BASE, engine="causal", dtype="float32", device="cpu", adapter=tuned)
    asked = [question for question in make_choice_questions(World()) if question.split == "test"][:12]
    variants = [item.variants[16] for item in choice.build_question_items(asked, 8, 0)]
    way = Sampling(max_tokens=20)
    (round_,) = choice.Questions(choice.read_choice_prompts(), ("aware",), ("text",), (way,)).rounds("plain")
    prompts = [round_.render(variant, None) for variant in variants]
    assert_same(vllm, merged_in, prompts)
    texts, expected = (engine.generate(prompts, [way])[0] for engine in (vllm, merged_in))
    assert [each.texts for each in texts] == [each.texts for each in expected]
    assert sum("\nAnswer: " in each.texts[0] for each in texts) >= 11


def test_a_model_that_its_kernels_cannot_run_is_refused_in_one_line(tmp_path: Path) -> None:
    narrow = tiny_models.checkpoint(tmp_path / "narrow", "llama", hidden_size=64, head_dim=16)
    with pytest.raises(InputError, match="narrow: vLLM cannot run it here") as refused:
        engines.load_engine(narrow, engine="vllm")
    assert "\n" not in str(refused.value)
