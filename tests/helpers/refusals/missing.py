"""Commands whose packages are not installed: one line names the package and the command that installs its extra."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path

from ground.extras import choose_extra_for_module
from helpers.refusals import Case

RUN = Path(__file__).parents[2] / "fixtures" / "run-of-f7ec5ae" / "agreement"
ITEMS = "item,text\na,Tea is good.\na,I like tea.\na,Tea is nice.\n"
MODEL = Path(__file__).parents[3] / "inference" / "demo" / "models" / "waver-demo-small-tuned"
AGREEMENT = "agreement --items items.csv --model demo"
CLOUD = "--engine openai --base-url http://127.0.0.1:9/v1"
NEEDING: Sequence[tuple[str, Sequence[str]]] = [
    (f"inference run {AGREEMENT} --out run", ("torch", "transformers", "safetensors")),
    (f"inference preview {AGREEMENT}", ("torch", "transformers")),
    (f"inference paraphrase make --items items.csv --model {MODEL} --out reworded", ("torch",)),
    (f"inference paraphrase make --items items.csv --model {MODEL} --out reworded --meaning-check m",
     ("sentence_transformers",)),
    ("inference run agreement --items some/data --model demo --out run", ("datasets",)),
    (f"inference run {AGREEMENT} --out run {CLOUD}", ("openai",)),
    (f"inference preview {AGREEMENT} {CLOUD}", ("openai",)),
    (f"inference run {AGREEMENT} --out run --ray local", ("ray",)),
    (f"inference run {AGREEMENT} --out run --engine vllm", ("vllm",)),
    ("inference negate sentences.txt --language ja --out n.jsonl", ("fugashi", "unidic_lite")),
    ("inference negate sentences.txt --language en --pipeline p --out n.jsonl", ("spacy",)),
    (f"inference meaning items.csv --out out --check entailment={MODEL}", ("torch", "transformers")),
    (f"inference meaning items.csv --out out --check similarity={MODEL}", ("sentence_transformers",)),
    ("analysis export asked --as croissant --out exported", ("mlcroissant",)),
    ("analysis report asked --out report", ("papermill", "nbconvert", "ipykernel")),
]  # fmt: skip


def needing(call: str, module: str) -> Case:
    """Make a case of a command without one package that it needs."""
    extra = choose_extra_for_module(module)
    named = "vLLM is not installed" if module == "vllm" else f"needs the package {module}:"
    return Case(
        f"{module}, {call.replace(str(MODEL), 'MODEL')}",
        call,
        (named, "pip install -e", f"{extra}]"),
        files,
        without=(module,),
    )


def files(folder: Path) -> None:
    """Write what the commands read: items, and a run for the report."""
    (folder / "items.csv").write_text(ITEMS, encoding="utf-8")
    (folder / "sentences.txt").write_text("犬が走る。\n", encoding="utf-8")
    shutil.copytree(RUN, folder / "asked")


CASES = [needing(call, module) for call, modules in NEEDING for module in modules]
