"""Ask a model that a Python call has loaded itself: put it into the engine of its kind, and give it back unchanged."""

from __future__ import annotations

import hashlib
from copy import copy, deepcopy
from typing import Any

import torch
from transformers import PreTrainedModel, PreTrainedTokenizerBase

from ground.errors import InputError
from inference.engines.checking import refuse_nonfinite_weights, refuse_tokens_without_embedding
from inference.engines.loading import (
    Checkpoint,
    choose_engine_for_architecture,
    count_parameters_and_set_threads,
    resolve_dtype,
)
from inference.engines.local.engine import LocalEngine
from inference.engines.local.start import CLASSES, build_engine_from_checkpoint

SAMPLED = 4_096  # numbers of a weight that are digested, spread evenly over it


def require_model_and_tokenizer_pair(name: str, pair: tuple[Any, ...]) -> tuple[Any, Any]:
    """Return the model and the tokenizer of a pair.

    Parameters
    ----------
    name
        The model, for messages.
    pair
        What the call gives as a loaded model.

    Returns
    -------
    The model and the tokenizer.

    Raises
    ------
    InputError
        It is no such pair, or the model is one that the engines cannot ask as it stands.
    """
    kinds = ", ".join(type(member).__name__ for member in pair)
    wrong = f"{name}: expected a pair (model, tokenizer) of transformers, not ({kinds}); several models go into a list"
    if len(pair) != 2:
        raise InputError(wrong)
    model, tokenizer = pair
    if type(model).__module__.startswith("peft."):
        raise InputError(f"{name}: merge its adapter first: (model.merge_and_unload(), tokenizer)")
    if not (isinstance(model, PreTrainedModel) and isinstance(tokenizer, PreTrainedTokenizerBase)):
        raise InputError(wrong)
    if any(parameter.device.type == "meta" for parameter in model.parameters()):
        raise InputError(f"{name}: some of its weights are not in memory; load it without offloading")
    return model, tokenizer


def build_engine_from_loaded_model(
    name: str, model: Any, tokenizer: Any, *, engine: str, dtype: str, seed: int, batch_size: int | None
) -> LocalEngine:
    """Put a loaded model into the engine of its kind.

    Parameters
    ----------
    name
        The model, for messages.
    model, tokenizer
        Of transformers. The model is asked where it is, without dropout.
    engine, seed, batch_size
        As in `inference.engines.load_engine`.
    dtype
        A name in `loading.DTYPES`, or "auto": float32 on a CPU, as for a folder; elsewhere that of the model. Where the
        model has another one, a copy of it is asked.

    Returns
    -------
    The engine; `info` says that the revision is not known.

    Raises
    ------
    InputError
        An engine that does not run here, or a model that it cannot ask.
    """
    if engine not in ("auto", *CLASSES):
        raise InputError(f"--engine {engine}: a loaded model is asked where it is; leave it out, or name the model")
    # The class says how the model computes; its configuration may still name that of the checkpoint it came from.
    config = copy(model.config)
    config.architectures = [type(model).__name__]
    as_it_is = dtype == "auto" and model.device.type != "cpu"
    precision = model.dtype if as_it_is or is_quantized(model) else resolve_dtype(dtype, model.device, config)
    info = {
        "engine": choose_engine_for_architecture(name, config, engine),
        "revision": f"not known, loaded in Python; weights {compute_sampled_weights_digest(model)}",
        "dtype": str(precision).removeprefix("torch."),
        "device": str(model.device),
        "parameters": count_parameters_and_set_threads(model),
        "loaded_from": str(model.config.name_or_path) or None,
    }
    refuse_nonfinite_weights(name, model)
    refuse_tokens_without_embedding(name, tokenizer, len(model.get_input_embeddings().weight))
    asked_model = model if precision == model.dtype else deepcopy(model).to(precision)
    return build_engine_from_checkpoint(Checkpoint(name, asked_model.eval(), tokenizer, info, seed), batch_size)


def is_quantized(model: Any) -> bool:
    """Tell whether the weights of a model are quantized: those are of no dtype that could be changed."""
    return getattr(model, "hf_quantizer", None) is not None


@torch.no_grad()
def compute_sampled_weights_digest(model: Any) -> str:
    """Compute a digest of the weights of a model: names, shapes and sampled numbers."""
    digest = hashlib.sha256()
    for name, weight in model.named_parameters():
        numbers = weight.detach().reshape(-1)
        sampled = numbers[:: max(1, len(numbers) // SAMPLED)]
        digest.update(f"{name}\0{tuple(weight.shape)}\0{weight.dtype}\0".encode())
        digest.update(sampled.float().cpu().numpy().tobytes())
    return f"sha256:{digest.hexdigest()}"
