"""Wrong inputs of `run --lora`: adapters that are none, that are of another model, or that nothing can apply."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

from helpers.refusals import Case
from helpers.refusals.models import ITEMS, SIZES, tiny

RUN = "inference run agreement --items items.csv --model ./tiny --lora ./fine --form plain --out run"
LAYER = "base_model.model.model.layers.0.self_attn.q_proj.lora_"
CONFIG = {"peft_type": "LORA", "task_type": "CAUSAL_LM", "r": 2, "lora_alpha": 4, "base_model_name_or_path": "tiny"}


def adapter(change: Callable[[Path], object] = lambda folder: None, **fields: Any) -> Callable[[Path], None]:
    """Write items, a tiny model and an adapter of it; change fields of its settings (`...` removes one), then files."""

    def write(folder: Path) -> None:
        import torch
        from safetensors.torch import save_file

        (folder / "items.csv").write_text(ITEMS, encoding="utf-8")
        shutil.copytree(tiny(), folder / "tiny")
        (folder / "fine").mkdir()
        wide = SIZES["hidden_size"]
        matrices = {f"{LAYER}A.weight": torch.ones(2, wide), f"{LAYER}B.weight": torch.ones(wide, 2)}
        save_file(matrices, folder / "fine" / "adapter_model.safetensors")
        config = {name: value for name, value in {**CONFIG, **fields}.items() if value is not ...}
        (folder / "fine" / "adapter_config.json").write_text(json.dumps(config), encoding="utf-8")
        change(folder / "fine")

    return write


def file(name: str, content: str | bytes | None) -> Callable[[Path], object]:
    """Replace a file of the adapter, or remove it."""

    def change(folder: Path) -> None:
        (folder / name).unlink(missing_ok=True)
        if content is not None:
            (folder / name).write_bytes(content if isinstance(content, bytes) else content.encode())

    return change


def half(name: str) -> Callable[[Path], object]:
    """Cut a file of the adapter in two."""

    def change(folder: Path) -> None:
        whole = (folder / name).read_bytes()
        (folder / name).write_bytes(whole[: len(whole) // 2])

    return change


def pickled(folder: Path) -> None:
    """Have pickled weights only."""
    (folder / "adapter_model.safetensors").rename(folder / "adapter_model.bin")


WEIGHTS, SETTINGS = "adapter_model.safetensors", "adapter_config.json"
CASES = [
    Case("no folder of an adapter", RUN, ("--lora fine", "no such folder"),
         lambda folder: (adapter()(folder), shutil.rmtree(folder / "fine"))),
    Case("a folder without an adapter", RUN, ("--lora fine", "no adapter there", "as peft writes it"),
         adapter(file(SETTINGS, None))),
    Case("a tuning that is not finished", RUN, ("--lora fine", "not finished", "waver tune"),
         adapter(lambda folder: (file(SETTINGS, None)(folder), file("tuning.json", "{}")(folder)))),
    Case("pickled weights of an adapter", RUN, ("adapter_model.bin", "pickled", "run any code"), adapter(pickled)),
    Case("an adapter without weights", RUN, ("--lora fine", "weights are missing"), adapter(file(WEIGHTS, None))),
    Case("weights of an adapter cut in two", RUN, (WEIGHTS, "cannot be read"), adapter(half(WEIGHTS))),
    Case("settings of an adapter cut in two", RUN, (SETTINGS, "malformed JSON"), adapter(half(SETTINGS))),
    Case("settings of an adapter that are a list", RUN, (SETTINGS, "named fields"), adapter(file(SETTINGS, "[]"))),
    Case("an adapter of another kind", RUN, (SETTINGS, "peft_type", "IA3", "LORA"), adapter(peft_type="IA3")),
    Case("an adapter of a classifier", RUN, (SETTINGS, "task_type", "SEQ_CLS"), adapter(task_type="SEQ_CLS")),
    Case("an adapter of rank 1000", RUN, (SETTINGS, "r must be", "512", "1000"), adapter(r=1000)),
    Case("an adapter whose rank is a text", RUN, (SETTINGS, "r must be", "'8'"), adapter(r="8")),
    Case("an adapter of another rank than its matrices", RUN, (WEIGHTS, "not of rank 4"), adapter(r=4)),
    Case("an adapter with an infinite scale", RUN, (SETTINGS, "lora_alpha", "inf"), adapter(lora_alpha=float("inf"))),
    Case("an adapter with DoRA", RUN, (SETTINGS, "use_dora = True", "not supported"), adapter(use_dora=True)),
    Case("an adapter that trained biases", RUN, (SETTINGS, "bias = 'all'", "not supported"), adapter(bias="all")),
    Case("an adapter with whole layers", RUN, (SETTINGS, "modules_to_save"), adapter(modules_to_save=["lm_head"])),
    Case("an adapter whose settings name a module to import", RUN, (SETTINGS, "megatron_config", "not supported"),
         adapter(megatron_config={"a": 1}, megatron_core="os")),
    Case("an adapter that changes its base", RUN, (SETTINGS, "init_lora_weights", "pissa"),
         adapter(init_lora_weights="pissa")),
    Case("an adapter that does not name its base", RUN, (SETTINGS, "base_model_name_or_path"),
         adapter(base_model_name_or_path=...)),
    Case("an adapter of a model that is not asked", RUN, ("--lora fine", "owner/llama", "not among those of --model"),
         adapter(base_model_name_or_path="owner/llama")),
    Case("an adapter of another version", RUN, ("--lora fine", "another version of tiny", "sha256:1"),
         adapter(file("tuning.json", json.dumps({"base": "tiny", "revision": "sha256:1"})))),
    Case("a record of an adapter that is no record", RUN, ("tuning.json", "named fields"),
         adapter(file("tuning.json", "3"))),
    Case("a record whose settings are a list", RUN, ("tuning.json", "settings"),
         adapter(file("tuning.json", json.dumps({"base": "tiny", "settings": []})))),
    Case("a history of losses cut in two", RUN, ("history.json", "malformed JSON"),
         adapter(file("history.json", '[{"step": 1, "epo'))),
    Case("a history with a loss that is none", RUN, ("history.json", "entry 1", "loss", "'low'"),
         adapter(file("history.json", '[{"step": 1, "epoch": 1.0, "loss": "low", "validation_loss": null}]'))),
    Case("a history with a step that is none", RUN, ("history.json", "entry 1", "step"),
         adapter(file("history.json", '[{"step": 1.5, "epoch": 1.0, "loss": 1.0, "validation_loss": null}]'))),
    Case("an adapter twice", f"{RUN} --lora ./fine", ("--lora fine", "'fine' already", "rename"), adapter()),
    Case("an adapter with a server", f"{RUN} --engine openai --base-url http://127.0.0.1:9/v1",
         ("--lora ./fine", "--engine openai takes no adapter"), adapter()),
    Case("an adapter with a masked model", f"{RUN} --engine masked", ("--lora", "--engine masked takes no adapter"),
         adapter()),
]  # fmt: skip
