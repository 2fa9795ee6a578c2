"""Checkpoints from folders and the hub: which engine asks them, and which are refused, each in one line."""

from __future__ import annotations

import errno
import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
import transformers

from ground.errors import InputError
from helpers import tiny_models
from inference import engines
from inference.engines import loading
from inference.engines.digest import compute_sampled_checkpoint_digest
from inference.engines.loading import find_commit_of_hub_or_digest_of_folder, resolve_dtype
from inference.stimuli.templates.prompts import Prompt

ANSWERS = (("yes", "Yes"), ("no", "No"))
PROMPTS = [Prompt(f"Reply yes or no. Statement: {'warm ' * n}bread.\nReply:", None, ANSWERS) for n in range(7)]


@pytest.fixture(scope="module")
def llama(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return Path(tiny_models.checkpoint(tmp_path_factory.mktemp("models") / "llama", "llama"))


@pytest.fixture(scope="module")
def bert(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return Path(tiny_models.checkpoint(tmp_path_factory.mktemp("models") / "bert", "bert"))


@pytest.fixture
def copied(llama: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(llama, tmp_path / "copy"))


@pytest.mark.slow
def test_a_folder_is_loaded_with_the_engine_of_its_architecture(llama: Path, bert: Path) -> None:
    causal, masked = engines.load_engine(str(llama)), engines.load_engine(str(bert))
    assert (causal.info["engine"], causal.mask_token) == ("causal", None)
    assert (masked.info["engine"], masked.mask_token) == ("masked", "[MASK]")
    assert causal.info["dtype"] == "float32"
    assert causal.info["revision"] == compute_sampled_checkpoint_digest(llama)
    own = transformers.AutoModelForCausalLM.from_pretrained(llama)
    assert causal.info["parameters"] == sum(parameter.numel() for parameter in own.parameters())
    assert json.loads(json.dumps(causal.info)) == causal.info
    assert causal.score(PROMPTS)[0] == engines.load_engine(str(llama), engine="causal", device="cpu").score(PROMPTS)[0]


def test_half_precision_is_scored_in_float32(llama: Path) -> None:
    half = engines.load_engine(str(llama), dtype="bfloat16")
    assert half.info["dtype"] == "bfloat16"
    exact = engines.load_engine(str(llama)).score(PROMPTS)[0]
    for score, expected in zip(half.score(PROMPTS)[0], exact, strict=True):
        assert score.mass == pytest.approx(expected.mass, abs=0.1)
        assert score.mass != expected.mass


@pytest.mark.parametrize(
    ("device", "stored", "expected"),
    [
        ("cpu", torch.float16, torch.float32),
        ("cuda", torch.float32, torch.float32),
        ("cuda", torch.float16, torch.bfloat16),
        ("cuda", torch.bfloat16, torch.bfloat16),
        ("cuda", None, torch.float32),
        ("cuda", torch.float64, torch.float32),
    ],
)
def test_automatic_dtype(device: str, stored: Any, expected: Any) -> None:
    config = transformers.LlamaConfig(dtype=stored)
    assert resolve_dtype("auto", torch.device(device), config) == expected


def edit_config(**fields: Any) -> Callable[[Path], object]:
    def change(folder: Path) -> None:
        path = folder / "config.json"
        path.write_text(json.dumps({**json.loads(path.read_text()), **fields}))

    return change


def pickle_instead(folder: Path) -> None:
    (folder / "model.safetensors").unlink()
    torch.save({}, folder / "pytorch_model.bin")


def without_head(folder: Path) -> None:
    transformers.AutoModelForCausalLM.from_pretrained(folder).base_model.save_pretrained(folder)
    edit_config(architectures=["LlamaForCausalLM"])(folder)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda folder: (folder / "config.json").unlink(), "holds no model .config.json is missing"),
        (lambda folder: (folder / "model.safetensors").unlink(), "holds no weights"),
        (pickle_instead, "weights are pickled"),
        (without_head, "incomplete checkpoint, no fitting weights for lm_head.weight"),
        (edit_config(hidden_size=64), "incomplete checkpoint"),
        (lambda folder: (folder / "model.safetensors").write_bytes(b"\0" * 64), "cannot be loaded"),
        (lambda folder: (folder / "config.json").write_text("{"), "cannot be loaded"),
        (edit_config(architectures=["T5ForConditionalGeneration"]), "names T5ForConditionalGeneration"),
        (edit_config(architectures=None), "names no architecture"),
        (lambda folder: [path.unlink() for path in folder.glob("token*")], "cannot be loaded"),
    ],
)
def test_a_spoiled_folder_is_one_line_that_names_it(
    change: Callable[[Path], object], message: str, copied: Path
) -> None:
    change(copied)
    with pytest.raises(InputError, match=message) as caught:
        engines.load_engine(str(copied))
    assert str(copied) in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "error",
    [
        torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2 GiB"),
        RuntimeError("[enforce fail] DefaultCPUAllocator: can't allocate memory"),
        OSError(errno.ENOMEM, "Cannot allocate memory"),  # a large file that is mapped
        MemoryError(),
    ],
)
def test_memory_that_runs_out_is_no_broken_checkpoint(error: Exception) -> None:
    says = (
        r"^model m does not fit into memory \(.+\): try another --device .+ --dtype bfloat16 where the command has it$"
    )
    with pytest.raises(InputError, match=says), loading.convert_transformers_errors("m"):
        raise error


def test_code_that_comes_with_a_checkpoint_never_runs(copied: Path) -> None:
    (copied / "theirs.py").write_text("open('ran', 'w')\nraise SystemExit('their code ran')\n")
    edit_config(model_type="theirs", auto_map={"AutoConfig": "theirs.Config"})(copied)
    with pytest.raises(InputError, match="cannot be loaded"):
        engines.load_engine(str(copied))


def test_a_bidirectional_model_is_not_asked_as_a_causal_one(bert: Path) -> None:
    with pytest.raises(InputError, match="both directions; ask it with --engine masked"):
        engines.load_engine(str(bert), engine="causal")


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"engine": "magic"}, "unknown engine 'magic'"),
        ({"dtype": "int3"}, "unknown dtype 'int3'"),
        ({"device": "toaster"}, "device 'toaster' cannot be used"),
        ({"device": "cuda:99"}, "device 'cuda:99' cannot be used"),
        ({"revision": "main"}, "local folder has no revisions"),
        ({"batch_size": 0}, "batch size 0"),
    ],
)
def test_wrong_settings_are_one_line(settings: dict[str, Any], message: str, llama: Path) -> None:
    with pytest.raises(InputError, match=message) as caught:
        engines.load_engine(str(llama), **settings)
    assert "\n" not in str(caught.value)


def test_a_name_is_a_folder_or_a_hub_model(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such folder"):
        find_commit_of_hub_or_digest_of_folder(str(tmp_path / "missing"), None)

    def offline(name: str, _file: str, **_: object) -> str:
        raise OSError(f"We cannot connect for {name}\nand more")

    monkeypatch.setattr(loading, "is_hub_reachable_else_require_cached_model", lambda *_: True)
    monkeypatch.setattr(loading, "cached_file", offline)
    with pytest.raises(InputError, match=r"model someone/model cannot be loaded: We cannot connect for someone/model$"):
        find_commit_of_hub_or_digest_of_folder("someone/model", None)
    commit = "0123456789abcdef" * 2

    def find_cached(_name: str, _file: str, *, revision: str | None, **_: object) -> str:
        return f"cache/snapshots/{revision}-{commit}/config.json"

    monkeypatch.setattr(loading, "cached_file", find_cached)
    assert find_commit_of_hub_or_digest_of_folder("someone/model", "main") == (f"main-{commit}", None)


def test_the_digest_of_a_folder_follows_its_contents(copied: Path, tmp_path: Path) -> None:
    original = compute_sampled_checkpoint_digest(copied)
    (copied / "README.md").write_text("A card.")
    assert compute_sampled_checkpoint_digest(Path(shutil.copytree(copied, tmp_path / "again"))) == original
    weights = copied / "model.safetensors"
    content = bytearray(weights.read_bytes())
    content[-1] ^= 1
    weights.write_bytes(content)
    assert compute_sampled_checkpoint_digest(copied) != original


def test_large_files_are_sampled_from_end_to_end(tmp_path: Path) -> None:
    def digest(content: bytes) -> str:
        (tmp_path / "model.safetensors").write_bytes(content)
        return compute_sampled_checkpoint_digest(tmp_path)

    size = 4 * 2**20
    digests = {
        digest(bytes(size)),
        digest(b"\1" + bytes(size - 1)),
        digest(bytes(size - 1) + b"\1"),
        digest(bytes(size + 1)),
    }
    assert len(digests) == 4


@pytest.mark.slow
def test_the_contract_is_imported_without_torch() -> None:
    code = "import sys, inference.engines; sys.exit('torch' in sys.modules or 'transformers' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], cwd=Path(__file__).parents[3], check=False).returncode == 0
