"""Load a checkpoint into the engine of its kind, on this machine."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from inference.engines.loading import Checkpoint, convert_transformers_errors, load_checkpoint

if TYPE_CHECKING:
    from collections.abc import Callable

    from inference.engines.adapters import Adapter
    from inference.engines.local.engine import LocalEngine

# Kind of a checkpoint -> the module of this folder and its class; only the one in use is imported.
CLASSES = {
    "causal": ("causal", "CausalEngine"),
    "masked": ("masked", "MaskedEngine"),
    "classifier": ("classifier", "ClassifierEngine"),
}


def load_and_try_local_engine(
    model: str,
    *,
    engine: str,
    dtype: str,
    device: str,
    revision: str | None,
    seed: int,
    batch_size: int | None,
    adapter: Adapter | None = None,
) -> LocalEngine:
    """Load a checkpoint and try it on a few tokens.

    Parameters
    ----------
    model, engine, dtype, device, revision, seed, batch_size, adapter
        As in `inference.engines.load_engine`; `engine` is a kind of checkpoint, or "auto".

    Returns
    -------
    The engine of the checkpoint's kind.

    Raises
    ------
    InputError
        As in `inference.engines.load_engine`.
    """
    checkpoint = load_checkpoint(
        model, engine=engine, dtype=dtype, device=device, revision=revision, seed=seed, adapter=adapter
    )
    return build_engine_from_checkpoint(checkpoint, batch_size)


def build_engine_from_checkpoint(checkpoint: Checkpoint, batch_size: int | None) -> LocalEngine:
    """Put a loaded checkpoint into the engine of its kind.

    Parameters
    ----------
    checkpoint
        The model and its tokenizer.
    batch_size
        As in `inference.engines.load_engine`.

    Returns
    -------
    The engine.

    Raises
    ------
    InputError
        The model cannot compute, as its configuration or tokenizer does not fit.
    """
    module, name = CLASSES[checkpoint.info["engine"]]
    make_engine: Callable[..., LocalEngine] = getattr(import_module(f"inference.engines.local.{module}"), name)
    with convert_transformers_errors(checkpoint.name):
        return make_engine(checkpoint, batch_size)
