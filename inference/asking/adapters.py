"""Add the adapters that the command line names to the models: each is its base model, tuned."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ground.errors import InputError
from ground.importing import import_without_interruption
from inference.asking.models import Model, require_distinct_model_ids
from inference.engines import list_engines_taking_adapters
from inference.engines.adapters import Adapter, read_adapter_and_check_shapes
from inference.stimuli.reading.files import expand_user_path


def add_adapter_models(
    models: Sequence[Model], folders: Sequence[str], engine: str = "auto", revision: str | None = None
) -> tuple[Model, ...]:
    """Add to the models, for every folder of an adapter, its base model with the adapter.

    The base is the model of the digest that the adapter's record names; without a record, of the name that peft wrote.

    Parameters
    ----------
    models
        Those of `--model`.
    folders
        Those of `--lora`.
    engine, revision
        Which asks them; which version of hub models.

    Returns
    -------
    The models, then one for each folder.

    Raises
    ------
    InputError
        An engine that takes no adapter; an adapter that cannot be read, or whose base is not among the models; two
        models with the same id.
    """
    if folders and engine not in ("auto", *list_engines_taking_adapters()):
        usable = " or ".join(list_engines_taking_adapters())
        raise InputError(f"--lora {folders[0]}: --engine {engine} takes no adapter; use {usable}")
    adapters = [read_adapter_and_check_shapes(expand_user_path(folder)) for folder in folders]
    return require_distinct_model_ids(
        [
            *models,
            *(
                _build_model_record_of_adapter(adapter, _find_base_model(adapter, models, revision))
                for adapter in adapters
            ),
        ]
    )


def _build_model_record_of_adapter(adapter: Adapter, base: Model) -> Model:
    """Describe an adapter as the model that it makes of its base."""
    about: dict[str, Any] = {
        "name": adapter.name,
        "base": base.id,
        "revision": adapter.revision,
        "settings": dict(adapter.settings),
        "counts": dict(adapter.counts),
        "history": list(adapter.history),
    }
    fields = {name: value for name, value in base.fields.items() if name in ("series", "revision")}
    about = {name: value for name, value in about.items() if value or name == "settings"}
    return Model(adapter.name, base.source, {**fields, "stage": "tuned", "adapter": about}, adapter)


def _find_base_model(adapter: Adapter, models: Sequence[Model], revision: str | None) -> Model:
    """Find the model that an adapter was made from."""
    named = [model for model in models if _is_named_as_base_of_adapter(model, adapter.base)]
    if adapter.base_revision is None and named:
        return named[0]
    # A folder of another name may hold the base, too: its digest shows that. The hub is not asked about other names.
    candidates = [*named, *(model for model in models if model not in named and Path(model.source).is_dir())]
    for model in candidates if adapter.base_revision else ():
        if _find_commit_of_model(model, revision) == adapter.base_revision:
            return model
    if named:
        raise InputError(
            f"--lora {adapter.folder}: was made from another version of {adapter.base} ({adapter.base_revision}); "
            "name that one with --model"
        )
    raise InputError(f"--lora {adapter.folder}: its base model {adapter.base} is not among those of --model; add it")


def _is_named_as_base_of_adapter(model: Model, name: str) -> bool:
    """Tell whether a model has the name that an adapter gives its base: an id, a hub id or a folder."""
    return name in (model.id, model.source) or (
        Path(model.source).is_dir() and Path(name).name == Path(model.source).resolve().name
    )


def _find_commit_of_model(model: Model, requested_revision: str | None) -> str | None:
    """Find the commit or digest of what a model's name stands for."""
    loading = import_without_interruption("inference.engines.loading")
    commit, digest = loading.find_commit_of_hub_or_digest_of_folder(
        model.source, model.fields.get("revision", requested_revision)
    )
    return commit or digest


def add_base_series_to_adapter_fields(
    models: Sequence[Model], stated_fields: Mapping[str, Mapping[str, Any]]
) -> dict[str, dict[str, Any]]:
    """Give an adapter the series that `--models` states of its base, unless it states one of the adapter.

    Parameters
    ----------
    models
        The models of a call, those with an adapter, too.
    stated_fields
        Model id -> fields, as `--models` states them.

    Returns
    -------
    Model id -> fields.
    """
    of_base = {
        model.id: {"series": stated_fields[base]["series"]}
        for model in models
        if model.adapter and "series" in stated_fields.get(base := model.fields["adapter"]["base"], {})
    }
    return {name: {**of_base.get(name, {}), **stated_fields.get(name, {})} for name in {**stated_fields, **of_base}}
