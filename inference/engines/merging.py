"""Add a LoRA adapter to the weights of a loaded model: W + scale B A (Hu et al., 2022, equation 3).

Merged weights cost nothing per token and keep every shortcut that the engine takes for the base model, and neither peft
nor what an adapter's settings could make it import is needed to ask. In float32 the probabilities are those of peft's
own forward to 1e-6; in half precision the sum is rounded once, as by peft's `merge_and_unload`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file
from transformers.pytorch_utils import Conv1D

from ground.errors import InputError
from inference.engines.adapters import WEIGHTS, Adapter, group_and_check_matrices_by_layer


@torch.no_grad()
def merge_adapter(model: Any, adapter: Adapter) -> None:
    """Add an adapter to a model, in place.

    Parameters
    ----------
    model
        The loaded base model.
    adapter
        What is added.

    Raises
    ------
    InputError
        As in `iterate_weights_and_adapter_products`.
    """
    for weight, product in iterate_weights_and_adapter_products(model, adapter):
        weight.copy_(weight.float() + product.to(weight.device))


def iterate_weights_and_adapter_products(model: Any, adapter: Adapter) -> Iterator[tuple[torch.Tensor, torch.Tensor]]:
    """Compute what an adapter adds to each weight that it changes: scale B A (Hu et al., 2022, equation 3).

    Parameters
    ----------
    model
        The base model; one on the device "meta", shapes without numbers, is enough.
    adapter
        The adapter.

    Yields
    ------
    A weight of the model and what is to be added to it, float32 of the same shape.

    Raises
    ------
    InputError
        The file cannot be read, a product is not finite, or a matrix does not fit the model: the adapter is of another
        one.
    """
    modules = dict(model.named_modules())
    shared = Counter(id(tensor) for _, tensor in model.named_parameters(remove_duplicate=False))
    for name, (first, second) in _read_matrix_pairs_by_layer(adapter).items():
        module = modules.get(name)
        if not isinstance(module, torch.nn.Linear | Conv1D):
            kind = "no layer" if module is None else f"no linear layer but a {type(module).__name__}"
            raise _build_adapter_mismatch_error(adapter, f"{name} is {kind} of the model")
        if shared[id(module.weight)] > 1:
            raise _build_adapter_mismatch_error(adapter, f"{name} shares its weights with another layer")
        product = adapter.scale * (second.float() @ first.float())
        product = product.T if isinstance(module, Conv1D) else product
        if product.shape != module.weight.shape:
            sizes = " and ".join("x".join(map(str, tensor.shape)) for tensor in (product, module.weight))
            raise _build_adapter_mismatch_error(adapter, f"the shapes of {name} do not fit ({sizes})")
        if not bool(product.isfinite().all()):
            raise InputError(f"--lora {adapter.folder}: its weights hold NaN or infinity ({name}); save it again")
        yield module.weight, product


def _read_matrix_pairs_by_layer(adapter: Adapter) -> dict[str, tuple[torch.Tensor, torch.Tensor]]:
    """Read the matrices A and B of every layer."""
    file = Path(adapter.folder) / WEIGHTS
    try:
        tensors = load_file(file)
    except (OSError, SafetensorError) as error:  # it was read when the call began, perhaps on another machine
        raise InputError(f"{file}: cannot be read ({error}); save the adapter again") from None
    pairs = group_and_check_matrices_by_layer(
        file, {key: tuple(tensor.shape) for key, tensor in tensors.items()}, adapter.rank
    )
    return {name: (tensors[pair["A"]], tensors[pair["B"]]) for name, pair in pairs.items()}


def _build_adapter_mismatch_error(adapter: Adapter, reason: str) -> InputError:
    """Build the error of an adapter that does not fit the model."""
    return InputError(f"--lora {adapter.folder}: {reason}; name the model that it was made from with --model")
