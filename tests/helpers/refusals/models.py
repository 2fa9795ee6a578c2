"""Checkpoints and settings of models that cannot be asked."""

from __future__ import annotations

import atexit
import json
import shutil
import tempfile
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from helpers.refusals import Case

ITEMS = "item,text\n1,Bread is good.\n2,Lamps are warm.\n"
PREVIEW = "inference preview agreement --items items.csv --model tiny"
RUN = "inference run agreement --items items.csv --model tiny --out run"
SIZES = {"hidden_size": 8, "num_hidden_layers": 1, "num_attention_heads": 2, "num_key_value_heads": 1,
         "intermediate_size": 8}  # fmt: skip


@cache
def tiny(architecture: str = "llama") -> Path:
    """Make a sound checkpoint of a few kB, once."""
    from helpers import tiny_models  # takes seconds to import, which a call that only lists the cases need not wait for

    folder = Path(tempfile.mkdtemp(prefix="waver-tiny-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    tiny_models.checkpoint(folder, architecture, **(SIZES if architecture == "llama" else {}))
    return folder


def spoiled(change: Callable[[Path], object], architecture: str = "llama") -> Callable[[Path], None]:
    """Write items and a model, then change the model."""

    def write(folder: Path) -> None:
        (folder / "items.csv").write_text(ITEMS, encoding="utf-8")
        shutil.copytree(tiny(architecture), folder / "tiny")
        change(folder / "tiny")

    return write


def config(**fields: Any) -> Callable[[Path], object]:
    """Change fields of the configuration; `...` removes one."""

    def change(folder: Path) -> None:
        known = json.loads((folder / "config.json").read_text(encoding="utf-8")) | fields
        kept = {name: value for name, value in known.items() if value is not ...}
        (folder / "config.json").write_text(json.dumps(kept), encoding="utf-8")

    return change


def file(name: str, content: str | bytes | None) -> Callable[[Path], object]:
    """Replace a file, or remove it."""

    def change(folder: Path) -> None:
        (folder / name).unlink(missing_ok=True)
        if content is not None:
            (folder / name).write_bytes(content if isinstance(content, bytes) else content.encode())

    return change


def weights(value: float, *, everywhere: bool = False, matrix: str = "down_proj") -> Callable[[Path], object]:
    """Put a number into one weight, or into all of a matrix."""

    def change(folder: Path) -> None:
        from safetensors.torch import load_file, save_file

        tensors = load_file(folder / "model.safetensors")
        place = next(name for name in tensors if matrix in name)
        tensors[place].view(-1)[slice(None) if everywhere else slice(3, 4)] = value
        save_file(tensors, folder / "model.safetensors", metadata={"format": "pt"})

    return change


def tokens(more: Mapping[str, int]) -> Callable[[Path], object]:
    """Give words other ids."""

    def change(folder: Path) -> None:
        file = folder / "tokenizer.json"
        content = json.loads(file.read_text(encoding="utf-8"))
        content["model"]["vocab"] |= more
        file.write_text(json.dumps(content), encoding="utf-8")

    return change


def case(name: str, change: Callable[[Path], object], *words: str, more: str = "", architecture: str = "llama") -> Case:
    return Case(name, f"{PREVIEW} {more}", ("tiny", *words), spoiled(change, architecture))


def template(text: str) -> Callable[[Path], object]:
    return file("chat_template.jinja", text)


UNBUILT = "cannot be loaded"
CASES = [
    case("hidden size that the heads do not divide", config(hidden_size=7, num_attention_heads=4), UNBUILT),
    case("text where a number of layers belongs", config(num_hidden_layers="three"), UNBUILT),
    case("text where a size belongs", config(hidden_size="8"), UNBUILT),
    case("a list where a size belongs", config(intermediate_size=[8]), UNBUILT),
    case("a negative size", config(intermediate_size=-8), UNBUILT),
    case("no heads", config(num_attention_heads=0), UNBUILT),
    case("null for the vocabulary", config(vocab_size=None), UNBUILT),
    case("an unknown dtype", config(dtype="float31", torch_dtype="float31"), UNBUILT),
    case("an unknown activation", config(hidden_act="sing"), UNBUILT),
    case("an unknown rotation of positions", config(rope_parameters={"rope_type": "spiral"}), UNBUILT),
    case("an unknown model type", config(model_type="llamarama"), UNBUILT),
    case("no model type", config(model_type=...), UNBUILT),
    case("a number as architectures", config(architectures=7), "config"),
    case("a million layers", config(num_hidden_layers=10**6), "num_hidden_layers", "1,000,000"),
    case("a billion layers", config(num_hidden_layers=10**9), "num_hidden_layers"),
    case("1e300 layers", config(num_hidden_layers=1e300), "num_hidden_layers"),
    case("a hidden size of a billion", config(hidden_size=10**9, head_dim=4), "config.json", "weights"),
    case("a vocabulary of a billion", config(vocab_size=10**9), "config.json", "weights"),
    case("a feed-forward block of a billion", config(intermediate_size=10**9), "config.json", "weights"),
    case("a vocabulary twice as large as the weights", config(vocab_size=840), "incomplete checkpoint"),
    case("a configuration that is a list", file("config.json", "[]"), "config.json"),
    case("a configuration that is cut short", file("config.json", '{"model_type": "llama"'), "config.json"),
    case("a configuration nested too deeply", file("config.json", "[" * 10**5), "config.json"),
    case("a configuration that is not UTF-8", file("config.json", b'{"model_type": "\xff"}'), "config.json"),
    case("a number of 5,000 digits", file("config.json", '{"vocab_size": ' + "9" * 5_000 + "}"), "config.json"),
    case("weights that are text", file("model.safetensors", "weights"), UNBUILT),
    case("an empty file of weights", file("model.safetensors", ""), UNBUILT),
    case("weights whose header says 2 exabytes", file("model.safetensors", b"\xff" * 8 + b"{}"), UNBUILT),
    case("one weight is NaN", weights(float("nan")), "NaN or infinity", "down_proj"),
    case("one weight is infinite", weights(float("inf")), "NaN or infinity", "down_proj"),
    case("all of a matrix is minus infinity", weights(float("-inf"), everywhere=True), "NaN or infinity"),
    case("a tokenizer of a larger model", tokens({"zebra": 5_000}), "tokenizer", "5,000"),
    case("a tokenizer that is text", file("tokenizer.json", "tokens"), UNBUILT),
    case("a tokenizer that is a list", file("tokenizer.json", "[]"), UNBUILT),
    case("a tokenizer without a vocabulary", file("tokenizer.json", '{"model": {"type": "BPE"}}'), UNBUILT),
    case("settings of a tokenizer that are a list", file("tokenizer_config.json", "[]"), UNBUILT),
    case("generation settings that are cut short", file("generation_config.json", '{"eos_token_id": '), UNBUILT),
    case(
        "a chat template that fills memory", template("{{ 'x' * 10**10 }}{{ messages[0]['content'] }}"), "chat template"
    ),
    case(
        "a chat template that loops",
        template("{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}{{ messages }}"),
        "chat template",
    ),
    case(
        "a chat template that calls itself",
        template("{% macro a() %}{{ a() }}{% endmacro %}{{ a() }}"),
        "chat template",
    ),
    case("a chat template with an error", template("{% for message in messages %}"), "chat template"),
    case("a chat template that raises", template("{{ raise_exception('never ' * 800) }}"), "chat template", "never"),
    case("a chat template that divides by zero", template("{{ 1 // 0 }}"), "chat template"),
    case("a chat template that reads what is not there", template("{{ messages[0].content.a.b }}"), "chat template"),
    case("a chat template that looks around", template("{{ messages.__class__.__mro__[1] }}"), "chat template"),
    case("a chat template that never shows the text", template("Well?"), "chat template", "never shows"),
    Case("the device meta", f"{PREVIEW} --device meta", ("device 'meta'", "cpu"), spoiled(config())),
    Case("a device of another time", f"{PREVIEW} --device abacus", ("device 'abacus'",), spoiled(config())),
    Case("a hundredth GPU", f"{PREVIEW} --device cuda:99", ("device 'cuda:99'",), spoiled(config())),
    Case("a device of nothing", f"{PREVIEW} --device=", ("--device: is empty",), spoiled(config())),
    Case(
        "weights so large that no probability is finite",
        RUN,
        ("run: 2 of 2 rows have no response", "not finite"),
        spoiled(weights(3e38, everywhere=True, matrix="lm_head")),
        status=1,
    ),
    Case("a mask model with NaN", PREVIEW, ("tiny", "incomplete checkpoint"), spoiled(config(vocab_size=999), "bert")),
]
NUMBERS = {
    "--seed": ("-1", "18446744073709551616", "1_000", "\uff11"),
    "--batch-size": ("0", "1000000000000"),
    "--dtype": ("float31",),
}
TEXTS = {
    "--samples": ("1000000000", "0"),
    "--temperature": ("nan", "inf", "1e300"),
    "--max-tokens": ("1000000000000",),
    "--text-share": ("nan",),
}
CASES += [
    Case(f"{option} {value}", (*RUN.split(), f"{option}={value}", *more), (option, value), {"items.csv": ITEMS})
    for options, more in ((NUMBERS, ()), (TEXTS, ("--answer", "text")))
    for option, values in options.items()
    for value in values
]
CASES += [
    Case("a billion samples of a scale", ("inference", "run", "scoring", "--items", "demo", "--model", "demo", "--out",
         "run", "--samples=1000000000"), ("--samples", "1000000000")),
    Case("an infinite temperature of a scale", ("inference", "run", "scoring", "--items", "demo", "--model", "demo",
         "--out", "run", "--temperature=inf"), ("--temperature", "inf")),
    Case("a billion tokens in all", (*RUN.split(), "--answer", "text", "--temperature", "1", "--samples", "10000",
         "--max-tokens", "100000"), ("samples", "tokens"), {"items.csv": ITEMS}),
    Case("half a character as a model", ("inference", "run", "agreement", "--items", "items.csv", "--out", "run",
         "--model", "a\udc80=demo"), ("--model",), {"items.csv": ITEMS}),
    Case("a control character in a model's name", ("inference", "run", "agreement", "--items", "items.csv", "--out",
         "run", "--model", "a\x07b"), ("--model",), {"items.csv": ITEMS}),
    Case("a model's name of 5,000 letters", ("inference", "run", "agreement", "--items", "items.csv", "--out", "run",
         "--model", "m" * 5_000), ("mmm", "too long"), {"items.csv": ITEMS}),
    Case("--allow-failed as a word", f"{RUN} --allow-failed some", ("--allow-failed", "some"), {"items.csv": ITEMS}),
    Case("--allow-failed above 100 %", f"{RUN} --allow-failed 101%", ("--allow-failed", "101%"), {"items.csv": ITEMS}),
    Case("allow-failed as a word in a run file", "inference run plan.toml", ("plan.toml", "allow-failed", "some"),
         {"items.csv": ITEMS, "plan.toml": 'out = "r"\n[[study]]\nprotocol = "agreement"\nitems = "items.csv"\n'
          'model = "demo"\nallow-failed = "some"\n'}),
]  # fmt: skip
