"""Engine `vllm` without vLLM: what it asks a stand-in, and how it answers when something is missing.

The real one is asked in `tests/real_vllm` (`make test-vllm`).
"""

from __future__ import annotations

import builtins
import json
import math
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest
import torch
from safetensors.torch import save_file

from ground.errors import InputError, RunFailed
from helpers import tiny_models
from helpers.thinking_models import build_thinking_tokenizer
from inference import engines
from inference.__main__ import main
from inference.engines.adapters import Adapter, read_adapter_and_check_shapes
from inference.engines.contract import Sampling
from inference.engines.vllm.settings import VllmSettings, parse_vllm_assignments
from inference.stimuli.templates.prompts import Prompt

YES_NO = (("yes", "Yes"), ("no", "No"))
PROMPTS = [Prompt(f"Statement: {text} Reply:", None, YES_NO) for text in ("Bread.", "A warm lamp.", "Trains leave.")]


class EngineDead(Exception):
    """What the stand-in raises where vLLM raises `EngineDeadError`."""


def stand_in(version: str = "0.32.0", spoil: Callable[[dict[int, float]], None] = lambda told: None) -> dict[str, Any]:
    """Modules of a vLLM that runs the checkpoint with transformers, one prompt after the other.

    `spoil` may change what it tells: token id -> log-probability.
    """
    seen: list[Any] = []

    class LLM:
        def __init__(self, model: str, **settings: Any) -> None:
            from transformers import AutoModelForCausalLM

            self.settings = settings
            self.model = AutoModelForCausalLM.from_pretrained(model, dtype=torch.float32).eval()
            config = SimpleNamespace(max_model_len=self.model.config.max_position_embeddings)
            core = SimpleNamespace(shutdown=lambda: None)
            self.llm_engine = SimpleNamespace(model_config=config, engine_core=core)

        @torch.inference_mode()
        def generate(self, prompts: Sequence[Any], parameters: Sequence[Any], **options: Any) -> list[Any]:
            seen.extend((prompt, parameter, options) for prompt, parameter in zip(prompts, parameters, strict=True))
            return [self._answer(*pair) for pair in zip(prompts, parameters, strict=True)]

        def _answer(self, prompt: Any, parameter: Any) -> Any:
            logits = self.model(torch.tensor([prompt])).logits[0, -1]
            likeliest = int(logits.argmax())
            logprobs = (logits / (parameter.temperature or 1)).log_softmax(-1)
            told = {
                token: float(logprobs[token]) for token in (likeliest, *getattr(parameter, "logprob_token_ids", ()))
            }
            spoil(told)
            flat = SimpleNamespace(token_ids=list(told), logprobs=list(told.values()))
            # In another order than asked for: samples carry their index.
            return SimpleNamespace(
                outputs=[
                    SimpleNamespace(index=index, token_ids=[likeliest], logprobs=flat, finish_reason="length")
                    for index in reversed(range(getattr(parameter, "n", 1)))
                ]
            )

    vllm = ModuleType("vllm")
    vllm.__dict__.update(__version__=version, LLM=LLM, SamplingParams=SimpleNamespace)
    modules = {"vllm": vllm, "vllm.platforms": ModuleType("vllm.platforms"), "vllm.v1": ModuleType("vllm.v1"),
               "vllm.v1.engine": ModuleType("vllm.v1.engine"), "vllm.lora": ModuleType("vllm.lora"),
               "vllm.v1.engine.exceptions": ModuleType("vllm.v1.engine.exceptions"),
               "vllm.lora.request": ModuleType("vllm.lora.request")}  # fmt: skip
    modules["vllm.platforms"].__dict__.update(current_platform=SimpleNamespace(device_type="cpu"))
    modules["vllm.v1.engine.exceptions"].__dict__.update(EngineDeadError=EngineDead)
    modules["vllm.lora.request"].__dict__.update(LoRARequest=lambda *given: given)
    vllm.__dict__["seen"] = seen
    return modules


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("models") / "llama"
    tiny_models.checkpoint(folder, "llama", tiny_models.byte_tokenizer(vocab_size=300))
    return str(folder)


@pytest.fixture
def install(monkeypatch: pytest.MonkeyPatch) -> Callable[..., ModuleType]:
    def install(**settings: Any) -> ModuleType:
        modules = stand_in(**settings)
        for name, module in modules.items():
            monkeypatch.setitem(sys.modules, name, module)
        for name in ("TORCH_COMPILE_DISABLE", "VLLM_LOGGING_LEVEL"):  # the engine sets them for good
            monkeypatch.setenv(name, "")
            monkeypatch.delenv(name)
        return modules["vllm"]

    return install


def assert_the_same_as_causal(model: str, prompts: list[Prompt]) -> None:
    temperatures = (0.5, 1.0, 2.0)
    found = engines.load_engine(model, engine="vllm").score(prompts, temperatures)
    expected = engines.load_engine(model, engine="causal", device="cpu").score(prompts, temperatures)
    for ours, reference in zip(found, expected, strict=True):
        for score, known in zip(ours, reference, strict=True):
            # Float32 probabilities, and what either leaves out of the least probable spellings of numbers.
            assert score.probability == pytest.approx(known.probability, abs=1e-6)
            assert score.mass == pytest.approx(known.mass, abs=2e-6)
            assert score.answer == known.answer


@pytest.mark.slow
def test_the_same_probabilities_as_causal_at_every_temperature(install: Callable[..., ModuleType], model: str) -> None:
    install()
    answers = (("agree", "agree so", "YES"), ("rather", "agree no"))  # several tokens each
    prompts = [Prompt(f"{prompt.text} I say", None, answers) for prompt in PROMPTS] + PROMPTS
    assert_the_same_as_causal(model, prompts)


@pytest.mark.slow
def test_a_request_that_cannot_matter_is_not_sent(
    install: Callable[..., ModuleType], model: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What begins with a capital is told to be very improbable, but for the one option that has nothing else."""
    from transformers import AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(model)
    capitals = [token for token in range(len(tokenizer)) if tokenizer.decode([token]).strip()[:1].isupper()]

    def spoil(told: dict[int, float]) -> None:
        told |= {token: -40.0 for token in capitals if token in told}

    vllm = install(spoil=spoil)
    engine = engines.load_engine(model, engine="vllm")
    prompts = [Prompt(prompt.text, None, (("agree", "AGREE SO"), ("DAY",))) for prompt in PROMPTS]
    vllm.seen.clear()
    few = engine.score(prompts)[0]
    sent = len(vllm.seen)
    monkeypatch.setattr("inference.engines.exact.followed_paths.NEGLIGIBLE", 0.0)
    vllm.seen.clear()
    whole = engine.score(prompts)[0]
    assert len(PROMPTS) < sent < len(vllm.seen)
    for one, other in zip(few, whole, strict=True):
        assert one.probability == pytest.approx(other.probability, rel=1e-8, abs=0)
        assert one.answer == other.answer
        assert 0 < one.left_out <= 1e-8 and other.left_out == 0


@pytest.mark.slow
@pytest.mark.parametrize("numbers", [range(-3, 13), range(98, 102)])
def test_the_same_probabilities_of_numbers_as_causal_at_every_temperature(
    install: Callable[..., ModuleType], model: str, numbers: range
) -> None:
    install()
    prompts = [Prompt(prompt.text, None, (), numbers) for prompt in PROMPTS] + PROMPTS
    assert_the_same_as_causal(model, prompts)


@pytest.mark.slow
def test_a_number_without_a_probability_is_an_error_of_its_row(install: Callable[..., ModuleType], model: str) -> None:
    calls = 0

    def spoil(told: dict[int, float]) -> None:
        nonlocal calls
        calls += 1
        if calls == 3:  # the trial while loading is the first
            told.popitem()

    install(spoil=spoil)
    prompts = [Prompt(prompt.text, None, (), range(5)) for prompt in PROMPTS]
    (scores,) = engines.load_engine(model, engine="vllm").score(prompts)
    assert [score.error is None for score in scores] == [True, False, True]


@pytest.mark.slow
def test_one_call_asks_a_batch_and_no_request_more_ids_than_it_may(
    install: Callable[..., ModuleType], model: str
) -> None:
    vllm = install()
    engine = engines.load_engine(model, engine="vllm")
    vllm.seen.clear()
    words = tuple(chr(code) for code in range(33, 123)), tuple(f"{chr(code)}" for code in range(161, 300))
    many = [Prompt(f"{prompt.text}\n", None, words) for prompt in PROMPTS]
    (scores,) = engine.score(many)
    asked = [parameter.logprob_token_ids for prompt, parameter, _ in vllm.seen]
    assert max(map(len, asked)) <= 128 < sum(map(len, asked[: len(asked) // len(many)]))
    assert all(score.error is None for score in scores)
    (reference,) = engines.load_engine(model, engine="causal", device="cpu").score(many)
    assert [score.mass for score in scores] == pytest.approx([score.mass for score in reference], abs=1e-6)


@pytest.mark.parametrize("value", [None, math.nan, -math.inf])
def test_a_probability_that_is_missing_or_not_finite_is_an_error_of_its_row(
    install: Callable[..., ModuleType], model: str, value: float | None
) -> None:
    calls = 0

    def spoil(told: dict[int, float]) -> None:
        nonlocal calls
        calls += 1
        if calls == 3:  # the trial while loading is the first
            victim = list(told)[-1]
            del told[victim]
            told |= {} if value is None else {victim: value}

    install(spoil=spoil)
    (scores,) = engines.load_engine(model, engine="vllm").score(PROMPTS)
    assert [score.error is None for score in scores] == [True, False, True]
    assert "vLLM 0.32.0 gave no finite probability for the asked token id" in (scores[1].error or "")
    assert scores[1].probability == ()


def test_a_vllm_that_tells_no_asked_ids_is_refused_before_the_run(
    install: Callable[..., ModuleType], model: str
) -> None:
    install(spoil=lambda told: told.clear())
    with pytest.raises(InputError, match="gave no finite probability for the asked token id"):
        engines.load_engine(model, engine="vllm")


def test_a_dead_vllm_fails_the_run_or_refuses_the_model(install: Callable[..., ModuleType], model: str) -> None:
    alive = True

    def spoil(told: dict[int, float]) -> None:
        if not alive:
            raise EngineDead

    install(spoil=spoil)
    engine = engines.load_engine(model, engine="vllm")
    alive = False
    with pytest.raises(RunFailed, match="vLLM has stopped"):
        engine.score(PROMPTS)
    with pytest.raises(InputError, match="vLLM cannot run it here"):
        engines.load_engine(model, engine="vllm")


@pytest.mark.parametrize("version", ["0.9.2", "0.31.1", "1.0.0", "nightly"])
def test_versions_out_of_range_are_refused(install: Callable[..., ModuleType], model: str, version: str) -> None:
    install(version=version)
    with pytest.raises(InputError, match=r"this is vLLM .*, Waver needs >=0\.32,<1; pip install 'vllm>=0\.32,<1'"):
        engines.load_engine(model, engine="vllm")


@pytest.mark.parametrize("version", ["0.32.0", "0.33.1rc1.dev5+g1234", "0.99"])
def test_versions_in_range_are_taken_and_recorded(install: Callable[..., ModuleType], model: str, version: str) -> None:
    install(version=version)
    assert engines.load_engine(model, engine="vllm").info["vllm"] == version


@pytest.mark.parametrize(
    ("missing", "said"), [("vllm", "vLLM is not installed; pip install"), ("torchvision", "vLLM cannot be imported")]
)
def test_without_vllm_the_user_is_told_how_to_get_it(
    monkeypatch: pytest.MonkeyPatch, model: str, missing: str, said: str
) -> None:
    real = builtins.__import__

    def absent(name: str, *rest: Any) -> Any:
        if name == "vllm":
            raise ModuleNotFoundError(f"No module named '{missing}'", name=missing)
        return real(name, *rest)

    monkeypatch.setattr(builtins, "__import__", absent)
    with pytest.raises(InputError, match=said):
        engines.load_engine(model, engine="vllm")


def test_another_device_than_its_own_is_refused(install: Callable[..., ModuleType], model: str) -> None:
    install()
    with pytest.raises(InputError, match="--device cuda: this vLLM runs on cpu"):
        engines.load_engine(model, engine="vllm", device="cuda")


def test_settings_are_passed_through_and_recorded(install: Callable[..., ModuleType], model: str) -> None:
    install()
    site = parse_vllm_assignments(["max-num-seqs=64", "kv_cache_dtype=fp8", "enforce_eager=false", "max_model_len=128"])
    settings = VllmSettings(tensor_parallel_size=2, quantization="fp8", gpu_memory_utilization=0.5, site=site)
    engine = engines.load_engine(model, engine="vllm", dtype="bfloat16", vllm=settings)
    given = engine._llm.settings
    assert (
        given["tensor_parallel_size"] == 2 and given["quantization"] == "fp8" and given["gpu_memory_utilization"] == 0.5
    )
    assert given["dtype"] == "bfloat16" and given["enable_prefix_caching"] and not given["trust_remote_code"]
    assert engine.info["quantization"] == "fp8" and "enable_lora" not in given
    assert given["max_num_seqs"] == 64 and given["enforce_eager"] is False and given["max_model_len"] == 128
    assert engine.info["vllm_set"] == site and engine.info["kv_cache_dtype"] == "fp8"  # that one changes the numbers


def test_a_batch_holds_prompts_that_begin_alike(install: Callable[..., ModuleType], model: str) -> None:
    install()
    prompts = [Prompt(f"{start} {text} Reply:", None, YES_NO) for text in ("Bread.", "A warm lamp.", "Trains.")
               for start in ("Agree or not:", "Some say:")]  # fmt: skip
    batches = engines.load_engine(model, engine="vllm", batch_size=3).cut_into_batches(prompts)
    assert [{prompts[place].text[:5] for place in batch} for batch in batches] == [{"Agree"}, {"Some "}]
    assert sorted(place for batch in batches for place in batch) == list(range(6))


def test_a_batch_has_at_most_so_many_tokens(
    install: Callable[..., ModuleType], model: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    install()
    engine = engines.load_engine(model, engine="vllm")
    lengths = engine.count_prompt_tokens(PROMPTS)
    monkeypatch.setattr("inference.engines.vllm.engine.BATCH_TOKENS", sum(lengths) - 1)
    assert sorted(map(len, engine.cut_into_batches(PROMPTS))) == [1, 2]
    monkeypatch.setattr("inference.engines.vllm.engine.BATCH_TOKENS", 1)  # a prompt that is longer stands alone
    assert list(map(len, engine.cut_into_batches(PROMPTS))) == [1, 1, 1]


def adapter(folder: Path, rank: int, width: int) -> Adapter:
    """An adapter of the first query matrix of a model of this width."""
    layer = "base_model.model.model.layers.0.self_attn.q_proj"
    weights = {f"{layer}.lora_A.weight": torch.ones(rank, width), f"{layer}.lora_B.weight": torch.ones(width, rank)}
    save_file(weights, folder / "adapter_model.safetensors")
    (folder / "adapter_config.json").write_text(json.dumps({"r": rank, "base_model_name_or_path": "base"}))
    return read_adapter_and_check_shapes(folder)


def test_an_adapter_is_asked_with_every_prompt(install: Callable[..., ModuleType], model: str, tmp_path: Path) -> None:
    vllm = install()
    engine = engines.load_engine(model, engine="vllm", adapter=adapter(tmp_path, 12, 32))
    given = engine._llm.settings
    assert given["enable_lora"] and given["max_lora_rank"] == 16
    engine.score(PROMPTS)
    assert {options["lora_request"][2] for _, _, options in vllm.seen} == {str(tmp_path)}


def test_an_adapter_of_another_model_is_refused_before_vllm_starts(
    install: Callable[..., ModuleType], model: str, tmp_path: Path
) -> None:
    vllm = install()
    with pytest.raises(InputError, match=r"the shapes of model\.layers\.0\.self_attn\.q_proj do not fit"):
        engines.load_engine(model, engine="vllm", adapter=adapter(tmp_path, 4, 48))
    assert not vllm.seen


@pytest.mark.slow
def test_seeds_follow_from_the_run_and_the_prompt(install: Callable[..., ModuleType], model: str) -> None:
    vllm = install()
    seeds = []
    for seed in (0, 0, 1):
        engine = engines.load_engine(model, engine="vllm", seed=seed)
        vllm.seen.clear()
        (generations,) = engine.generate(PROMPTS, [Sampling(3, temperature=0.5, max_tokens=5)])
        seeds.append([parameter.seed for _, parameter, _ in vllm.seen])
        assert [len(generation.texts) for generation in generations] == [3, 3, 3]
    assert seeds[0] == seeds[1] and len({*seeds[0], *seeds[2]}) == 6


def test_the_sampler_of_a_call_is_all_that_vllm_gets(install: Callable[..., ModuleType], model: str) -> None:
    vllm = install()
    engine = engines.load_engine(model, engine="vllm")
    vllm.seen.clear()
    engine.generate(PROMPTS[:1], [Sampling(3, 0.5, 5, top_p=0.9, top_k=7, min_p=0.1), Sampling(2, 1.0, 4)])
    names = ("n", "temperature", "max_tokens", "top_p", "top_k", "min_p")
    assert [tuple(getattr(parameter, name) for name in names) for _, parameter, _ in vllm.seen] == [
        (3, 0.5, 5, 0.9, 7, 0.1),
        (2, 1.0, 4, 1.0, 0, 0.0),  # named, too, though they restrict nothing: else vLLM might take the maker's
    ]


@pytest.mark.slow
def test_the_sampler_of_the_maker_is_read_as_causal_reads_it(
    install: Callable[..., ModuleType], tmp_path: Path
) -> None:
    install()
    folder = tmp_path / "thinker"
    tiny_models.checkpoint(folder, "llama", build_thinking_tokenizer())

    def read_both() -> list[Any]:
        both = (engines.load_engine(str(folder), engine=name, device="cpu") for name in ("vllm", "causal"))
        return [(engine.info["thinks"], engine.info.get("sampler")) for engine in both]

    assert read_both() == [(True, None)] * 2
    (folder / "generation_config.json").write_text('{"do_sample": true, "temperature": 0.6, "top_k": 20}')
    assert read_both() == [(True, {"temperature": 0.6, "top_p": 1.0, "top_k": 20, "min_p": 0.0})] * 2
    (folder / "generation_config.json").unlink()
    assert read_both() == [(True, None)] * 2
    (folder / "generation_config.json").write_text("{")
    with pytest.raises(InputError, match="thinker cannot be loaded"):
        engines.load_engine(str(folder), engine="vllm")


def test_batches_are_large_and_hold_every_prompt_once(install: Callable[..., ModuleType], model: str) -> None:
    install()
    prompts = PROMPTS * 1500
    batches = engines.load_engine(model, engine="vllm").cut_into_batches(prompts)
    assert sorted(index for batch in batches for index in batch) == list(range(len(prompts)))
    assert max(map(len, batches)) == 4096
    small = engines.load_engine(model, engine="vllm", batch_size=7).cut_into_batches(PROMPTS * 5)
    assert max(map(len, small)) == 7


@pytest.mark.parametrize("option", [["--tensor-parallel-size", "2"], ["--quantization", "fp8"]])
def test_its_options_need_the_engine(capsys: pytest.CaptureFixture[str], tmp_path: Path, option: list[str]) -> None:
    call = ["run", "agreement", "--items", "demo", "--model", "demo", "--out", str(tmp_path / "run")]
    assert main([*call, *option]) == 2
    assert f"{option[0]} is for --engine vllm" in capsys.readouterr().err
