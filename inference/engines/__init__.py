"""List the engines and load one: the roof over the engines, which none of them imports."""

from __future__ import annotations

import gc
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ground.errors import InputError
from ground.extras import explain_missing_package

if TYPE_CHECKING:
    from inference.engines.adapters import Adapter
    from inference.engines.contract import Engine
    from inference.engines.openai.settings import ApiSettings
    from inference.engines.vllm.settings import VllmSettings


@dataclass(frozen=True, slots=True)
class Entry:
    """What the rest of inference must know of an engine before it is loaded.

    Attributes
    ----------
    kind
        The models that it asks: "causal" (they predict the next word), "masked" (they fill a gap) or "classifier"
        (they tell the class of two sentences).
    hosted
        Whether the model is on a server. Then a model is named as the server names it, only the likeliest tokens are
        shown, and asking may cost money.
    """

    kind: str
    hosted: bool = False


ENGINES = {
    "causal": Entry("causal"),
    "masked": Entry("masked"),
    "classifier": Entry("classifier"),
    "vllm": Entry("causal"),
    "openai": Entry("causal", hosted=True),
}


def is_hosted(engine: str) -> bool:
    """Tell whether an engine asks a server; "auto" stands for an engine on this machine."""
    return engine in ENGINES and ENGINES[engine].hosted


def import_transformers() -> None:
    """Import transformers with no search for garbage, which takes 1 s in vain: what is imported stays."""
    collecting = gc.isenabled()
    gc.disable()
    try:
        import transformers.modeling_utils
        import transformers.models.auto.modeling_auto  # noqa: F401
    finally:
        if collecting:
            gc.enable()


@explain_missing_package("asking a model")
def load_engine(
    model: str,
    *,
    engine: str = "auto",
    dtype: str = "auto",
    device: str = "auto",
    revision: str | None = None,
    seed: int = 0,
    batch_size: int | None = None,
    vllm: VllmSettings | None = None,
    api: ApiSettings | None = None,
    adapter: Adapter | None = None,
) -> Engine:
    """Load a model into the engine that can ask it.

    Parameters
    ----------
    model
        Folder of a transformers checkpoint with safetensors weights, or a hub id; for a hosted engine the model's name
        on the server.
    engine
        A name in `ENGINES`, or "auto": causal, masked or classifier, as the checkpoint's architecture says.
    dtype
        "float32", "bfloat16", "float16", or "auto": float32 on a CPU; on an accelerator float32 for a float32
        checkpoint, bfloat16 for any other.
    device
        "cpu", "cuda", "cuda:1", "mps", ..., or "auto": a CUDA device where there is one, else the CPU.
    revision
        Branch, tag or commit of a hub model.
    seed
        Seed of generated texts. Scoring draws no random number.
    batch_size
        Prompts per forward pass, or per call of vLLM; None chooses by prompt length and device.
    vllm
        Settings of the engine `vllm`.
    api
        Where the server of `openai` is and what may be asked of it.
    adapter
        A LoRA adapter to ask the model with; for the engines causal and vllm.

    Raises
    ------
    InputError
        Unknown setting; no such model; weights that are missing, incomplete or pickled; an architecture that no
        engine can ask; a package that the engine needs is not installed; or a vLLM that is too old or too new.
    """
    if engine != "auto" and engine not in ENGINES:
        raise InputError(f"unknown engine '{engine}': choose auto, {', '.join(ENGINES)}")
    if batch_size is not None and batch_size < 1:
        raise InputError(f"batch size {batch_size}: give a number of prompts, 1 or more")
    if vllm is not None and engine != "vllm":
        raise InputError(f"settings of vLLM with --engine {engine}: say --engine vllm, or leave them out")
    for name, value in (("dtype", dtype), ("device", device), ("revision", revision)):
        if is_hosted(engine) and value not in ("auto", None):
            raise InputError(f"--{name} {value}: with --engine {engine} the server decides that; leave it out")

    # Imported here, so that only the engine in use is: torch, transformers and vLLM take seconds to import.
    if not is_hosted(engine):
        import_transformers()
    if engine == "vllm":
        from inference.engines.vllm.engine import VllmEngine

        return VllmEngine(
            model,
            dtype=dtype,
            device=device,
            revision=revision,
            seed=seed,
            batch_size=batch_size,
            settings=vllm,
            adapter=adapter,
        )
    if engine == "openai":
        if adapter is not None:
            raise InputError(f"--lora {adapter.folder}: with --engine openai the server adds adapters; leave it out")
        from inference.engines.openai.engine import OpenAIEngine
        from inference.engines.openai.settings import ApiSettings

        return OpenAIEngine(model, api or ApiSettings(), seed=seed, batch_size=batch_size)
    from inference.engines.loading import convert_transformers_errors, load_checkpoint

    loaded = load_checkpoint(
        model, engine=engine, dtype=dtype, device=device, revision=revision, seed=seed, adapter=adapter
    )
    if loaded.info["engine"] == "causal":
        from inference.engines.local.causal import CausalEngine

        with convert_transformers_errors(model):  # it is tried on a few tokens
            return CausalEngine(loaded, batch_size)
    if loaded.info["engine"] == "classifier":
        from inference.engines.local.classifier import ClassifierEngine

        with convert_transformers_errors(model):
            return ClassifierEngine(loaded, batch_size)
    from inference.engines.local.masked import MaskedEngine

    with convert_transformers_errors(model):
        return MaskedEngine(loaded, batch_size)


__all__ = ["ENGINES", "Entry", "is_hosted", "load_engine"]
