"""Borrow what the process of a Python call has: its loaded models, its event loop and its settings of PyTorch."""

from __future__ import annotations

import asyncio
import sys
from argparse import Namespace
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self, cast

from ground.errors import InputError
from ground.importing import import_without_interruption
from inference.engines.contract import Engine


@dataclass(frozen=True, slots=True)
class LoadedModel:
    """A model of transformers that the caller has loaded, its tokenizer, and its id in the run."""

    id: str
    model: Any
    tokenizer: Any

    @classmethod
    def check_and_build_from_pair(cls, pair: Any, name: str | None = None) -> Self:
        """Check that something is a pair of model and tokenizer.

        Parameters
        ----------
        pair
            What the call gives.
        name
            The id of the model in the run; None: as if the folder or hub id that it was loaded from were named.

        Returns
        -------
        The loaded model.

        Raises
        ------
        InputError
            It is no such pair, or has no name.
        """
        if not isinstance(pair, tuple):
            raise InputError(
                f"models: expected the name of a model, a pair (model, tokenizer), a list of these, or a dict of name "
                f"and model, not {type(pair).__name__}"
            )
        loaded = import_without_interruption("inference.engines.local.loaded")
        model, tokenizer = loaded.require_model_and_tokenizer_pair(f"models, {name}" if name else "models", pair)
        source = str(model.config.name_or_path)
        if not (name or source):
            raise InputError('models: the loaded model has no name; give it one: models={"NAME": (model, tokenizer)}')
        return cls(name or (Path(source).resolve().name if Path(source).is_dir() else source), model, tokenizer)

    def build_engine_of_model(self, *, engine: str, dtype: str, seed: int, batch_size: int | None) -> Engine:
        """Put the model into an engine.

        Parameters
        ----------
        engine, dtype, seed, batch_size
            As in `inference.engines.local.loaded.build_engine_from_loaded_model`.

        Returns
        -------
        The engine.

        Raises
        ------
        InputError
            As `inference.engines.local.loaded.build_engine_from_loaded_model` does.
        """
        from inference.engines.local.loaded import build_engine_from_loaded_model

        name = f"{self.id} (loaded in Python)"
        engine_with_model = build_engine_from_loaded_model(
            name, self.model, self.tokenizer, engine=engine, dtype=dtype, seed=seed, batch_size=batch_size
        )
        return cast("Engine", engine_with_model)


def find_loaded_models(models: Iterable[Any], options: Namespace) -> dict[str, LoadedModel]:
    """Find the loaded ones among the models of a call.

    Parameters
    ----------
    models
        Names, and loaded models.
    options
        Those of the call.

    Returns
    -------
    Id -> loaded model.

    Raises
    ------
    InputError
        An id is there twice, or an option says how to load what is loaded already.
    """
    loaded_models: dict[str, LoadedModel] = {}
    for model in models:
        if isinstance(model, LoadedModel):
            if model.id in loaded_models:
                raise InputError(f"models: '{model.id}' is there twice; name them: {{'A': (model, tokenizer), ...}}")
            loaded_models[model.id] = model
    for name, unset in (("device", "auto"), ("revision", None), ("lora", []), ("ray", None)):
        if loaded_models and getattr(options, name) != unset:
            raise InputError(
                f"{name}: {next(iter(loaded_models))} is loaded already and is asked as it is; leave {name} out, or "
                "give the model by its name"
            )
    return loaded_models


@contextmanager
def restore_models_after_asking(loaded_models: Iterable[LoadedModel]) -> Iterator[None]:
    """Give models back in the mode that they were in, and PyTorch with its number of threads and its random numbers."""
    torch = sys.modules.get("torch")
    training = [module for loaded in loaded_models for module in loaded.model.modules() if module.training]
    settings = None if torch is None else (torch.get_num_threads(), torch.get_rng_state())
    gpu_states = torch.cuda.get_rng_state_all() if torch is not None and torch.cuda.is_initialized() else None
    try:
        yield
    finally:
        for module in training:
            module.training = True
        loading = sys.modules.get("inference.engines.loading")
        if torch is not None and settings is not None:
            torch.set_num_threads(settings[0])
            torch.set_rng_state(settings[1])
            if gpu_states is not None:
                torch.cuda.set_rng_state_all(gpu_states)
        elif loading is not None:  # the caller has not used PyTorch yet, and will find it as it starts
            loading.torch.set_num_threads(loading.THREADS)


@contextmanager
def suspend_event_loop() -> Iterator[None]:
    """Let the block run an event loop of its own: a notebook runs its cells inside of one, and Python allows one."""
    loop = asyncio._get_running_loop()  # None where none runs
    asyncio._set_running_loop(None)
    try:
        yield
    finally:
        if loop is not None:
            asyncio.set_event_loop(loop)
            asyncio._set_running_loop(loop)
