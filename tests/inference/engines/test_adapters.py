"""`--lora`: an adapter that peft wrote gives peft's own probabilities; one that cannot be applied is refused."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch

pytest.importorskip("peft")

from peft import LoraConfig, PeftModel, get_peft_model
from safetensors.torch import load_file, save_file
from transformers import AutoModelForCausalLM

from ground import run_json
from ground.errors import InputError
from helpers import tiny_models
from inference import engines
from inference.__main__ import main
from inference.asking.adapters import add_adapter_models
from inference.asking.models import Model, find_requested_models
from inference.engines.adapters import read_adapter_and_check_shapes
from inference.stimuli.templates.prompts import Prompt

pytestmark = pytest.mark.slow

PROMPTS = [Prompt(f"Do you agree with it? {text}\nReply:", None, (("yes",), ("no",))) for text in ("Bread.", "A lamp")]


def adapter(base: str, folder: Path, **settings) -> Path:
    """Let peft write an adapter whose matrices matter, both of them."""
    torch.manual_seed(5)
    model = get_peft_model(
        AutoModelForCausalLM.from_pretrained(base),
        LoraConfig(**{"r": 4, "lora_alpha": 8, "task_type": "CAUSAL_LM", **settings}),
    )
    with torch.no_grad():
        for name, weight in model.named_parameters():
            if "lora_" in name:
                weight.normal_(std=0.2)
    model.save_pretrained(folder, save_embedding_layers=False)
    return folder


@pytest.fixture(scope="module")
def base(tmp_path_factory) -> str:
    return tiny_models.checkpoint(tmp_path_factory.mktemp("models") / "tiny", "llama")


@pytest.fixture(scope="module")
def written(base, tmp_path_factory) -> Path:
    return adapter(base, tmp_path_factory.mktemp("adapters") / "fine")


def copied(folder: Path, to: Path) -> Path:
    to.mkdir()
    for file in folder.iterdir():
        (to / file.name).write_bytes(file.read_bytes())
    return to


@pytest.mark.parametrize(
    ("architecture", "settings"),
    [
        ("llama", {}),
        ("llama", {"target_modules": "all-linear", "use_rslora": True, "lora_dropout": 0.1}),
        ("llama", {"target_modules": ["o_proj", "down_proj"], "layers_to_transform": [1], "layers_pattern": "layers"}),
        ("gpt2", {"fan_in_fan_out": True}),
        ("qwen3", {"init_lora_weights": "gaussian"}),
    ],
)
def test_the_probabilities_are_those_of_peft_s_own_forward(architecture, settings, tmp_path):
    source = tiny_models.checkpoint(tmp_path / "tiny", architecture)
    folder = adapter(source, tmp_path / "fine", **settings)
    engine, bare = (
        engines.load_engine(source, device="cpu", adapter=each)
        for each in (read_adapter_and_check_shapes(folder), None)
    )
    reference = PeftModel.from_pretrained(AutoModelForCausalLM.from_pretrained(source), folder).eval()
    for prompt, score, before in zip(PROMPTS, engine.score(PROMPTS)[0], bare.score(PROMPTS)[0], strict=True):
        ids = torch.tensor(engine.tokens.bare([prompt.text]))
        with torch.no_grad():
            merged, apart = (model(ids).logits.softmax(-1).numpy() for model in (engine.model, reference))
        # Ours adds the adapter to the weights, in float32; how far sums then differ depends on the processor (1.1e-6).
        assert merged == pytest.approx(apart, abs=5e-6)
        assert score.probability != pytest.approx(before.probability, rel=1e-3)


def test_a_run_asks_the_base_and_the_adapter_and_records_both(base, written, tmp_path, capsys):
    items = tmp_path / "items.csv"
    items.write_text("item,text\n1,Bread is good.\n1,Good is bread.\n", encoding="utf-8")
    call = ["run", "agreement", "--items", str(items), "--model", base, "--lora", str(written), "--form", "plain"]
    assert main([*call, "--out", str(tmp_path / "run")]) == 0
    models = run_json.read_run_json(tmp_path / "run")["models"]
    assert list(models) == ["tiny", "fine"]
    assert models["fine"]["revision"] == models["tiny"]["revision"]
    about = models["fine"]["adapter"]
    assert (about["name"], about["base"], models["fine"]["stage"]) == ("fine", "tiny", "tuned")
    assert about["revision"].startswith("sha256:") and about["settings"]["r"] == 4 and "adapter" not in models["tiny"]
    assert sorted(about["settings"]["target_modules"]) == ["q_proj", "v_proj"]
    capsys.readouterr()
    # Another adapter under the same name is another model.
    tensors = load_file(written / "adapter_model.safetensors")
    other = copied(written, tmp_path / "fine")
    save_file({name: 2 * each for name, each in tensors.items()}, other / "adapter_model.safetensors")
    assert main([*call[:6], "--lora", str(other), "--form", "plain", "--out", str(tmp_path / "run")]) == 1
    assert "'fine' is already here with other settings (adapter was sha256:" in capsys.readouterr().err


class TestBase:
    """Which of the models an adapter was made from."""

    def test_by_the_folder_that_peft_wrote_down(self, base, written):
        (_, tuned) = add_adapter_models(find_requested_models([base]), [str(written)])
        assert (tuned.id, tuned.source, tuned.fields["adapter"]["base"]) == ("fine", base, "tiny")

    def test_by_the_digest_of_the_record_under_another_name(self, base, written, tmp_path):
        folder = copied(written, tmp_path / "fine")
        revision = engines.load_engine(base, device="cpu").info["revision"]
        record = {"base": "renamed", "revision": revision, "settings": {"learning_rate": 0.1}, "counts": {"train": 3}}
        (folder / "tuning.json").write_text(json.dumps(record), encoding="utf-8")
        models = find_requested_models([f"other={base}"])
        (_, tuned) = add_adapter_models(models, [str(folder)])
        assert tuned.fields["adapter"]["base"] == "other"
        assert tuned.fields["adapter"]["settings"]["learning_rate"] == 0.1
        assert tuned.fields["adapter"]["counts"] == {"train": 3}
        (folder / "tuning.json").write_text(json.dumps({**record, "base": "tiny", "revision": "sha256:0"}))
        with pytest.raises(InputError, match=r"made from another version of tiny \(sha256:0\)"):
            add_adapter_models(models, [str(folder)])

    def test_the_series_is_that_of_the_base(self, written):
        base = Model("mine", "nowhere/tiny", {"series": "mine", "parameters": 3})
        folder = copied(written, written.parent / "hub")
        config = json.loads((folder / "adapter_config.json").read_text())
        (folder / "adapter_config.json").write_text(json.dumps({**config, "base_model_name_or_path": "nowhere/tiny"}))
        (_, tuned) = add_adapter_models([base], [str(folder)])
        assert tuned.fields["series"] == "mine" and "parameters" not in tuned.fields

    def test_two_of_one_name_are_refused(self, base, written):
        with pytest.raises(InputError, match="there is a model 'fine' already"):
            add_adapter_models(find_requested_models([f"fine={base}"]), [str(written)])
        with pytest.raises(InputError, match="there is a model 'fine' already"):
            add_adapter_models(find_requested_models([base]), [str(written), str(written)])


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda tensors: {f"{name}.x": each for name, each in tensors.items()}, "no matrix of a linear layer"),
        (lambda tensors: dict(list(tensors.items())[:1]), "one matrix of two"),
        (lambda tensors: {}, "there is no matrix in it"),
        (lambda tensors: {name: each[:2] if "_A" in name else each for name, each in tensors.items()}, "not of rank 4"),
        (lambda tensors: {name: each[:, :8] if "_A" in name else each for name, each in tensors.items()}, "do not fit"),
        (lambda tensors: {name.replace(".q_proj", ".w_proj"): each for name, each in tensors.items()}, "is no layer"),
        (lambda tensors: {name.replace("q_proj", "act_fn"): each for name, each in tensors.items()}, "is no l"),
        (lambda tensors: {name: each * float("nan") for name, each in tensors.items()}, "NaN"),
    ],
)  # fmt: skip
def test_matrices_that_do_not_fit_are_refused(change, said, base, written, tmp_path):
    folder = copied(written, tmp_path / "spoiled")
    tensors = change(load_file(folder / "adapter_model.safetensors"))
    save_file({name: each.contiguous() for name, each in tensors.items()}, folder / "adapter_model.safetensors")
    with pytest.raises(InputError, match=said) as refused:
        engines.load_engine(base, device="cpu", adapter=read_adapter_and_check_shapes(folder))
    assert "\n" not in str(refused.value)


def test_a_layer_that_shares_its_weights_is_refused(tmp_path):
    source = tiny_models.checkpoint(tmp_path / "tied", "llama", tie_word_embeddings=True)
    folder = adapter(source, tmp_path / "fine", target_modules=["lm_head"])
    with pytest.raises(InputError, match="lm_head shares its weights"):
        engines.load_engine(source, device="cpu", adapter=read_adapter_and_check_shapes(folder))


def test_a_masked_model_takes_none(tmp_path, written):
    source = tiny_models.checkpoint(tmp_path / "bert", "bert")
    with pytest.raises(InputError, match="--engine masked, which takes no adapter"):
        engines.load_engine(source, device="cpu", adapter=read_adapter_and_check_shapes(written))
