"""Find the models to ask: by names from the command line, with descriptions from a file."""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from unicodedata import category

from ground import run_json
from ground.errors import InputError, format_nearest_name_hint, shorten_text
from inference.demo import ALL, ENCODERS, FAMILY, MODELS, PREFIX, THINKERS, DemoModel
from inference.engines import find_engine_entry_or_none, is_engine_of_server
from inference.engines.adapters import Adapter
from inference.engines.digest import compute_sampled_checkpoint_digest
from inference.stimuli.reading.files import expand_user_path, read_yaml, shorten_value

DEMO = "demo"
LONGEST_NAME = 1_000  # no hub, server or folder needs more
STAGES = ("base", "instruct", "tuned")
KINDS = ("causal", "masked")  # of models; the field `family` says it of an imported model, the engine of any other
# The fields that --models may give of a model, and how they are checked. `revision` also decides what is loaded.
FIELDS: Mapping[str, tuple[str, Any]] = {
    "series": ("text", lambda value: isinstance(value, str) and value.strip()),
    "stage": (f"one of {', '.join(STAGES)}", lambda value: isinstance(value, str) and value in STAGES),
    "family": (f"one of {', '.join(KINDS)}", lambda value: isinstance(value, str) and value in KINDS),
    "parameters": ("a whole number above 0 and below 2**53", lambda value: type(value) is int and 0 < value < 2**53),
    "revision": ("text", lambda value: isinstance(value, str) and value.strip()),
}


@dataclass(frozen=True, slots=True)
class Model:
    """A model to ask: its id in the run, where its weights are, what is known about it, and an adapter to add."""

    id: str
    source: str
    fields: Mapping[str, Any] = field(default_factory=dict)
    adapter: Adapter | None = None


def find_requested_models(
    names: Iterable[str | Model],
    kinds: Container[str] = KINDS,
    engine: str = "auto",
    thinking: bool = False,
    demo_models: Mapping[str, DemoModel] | None = None,
) -> tuple[Model, ...]:
    """Find the models that the command line names.

    Parameters
    ----------
    names
        A hub id; a local folder, whose name becomes the id; `NAME=FOLDER` or `NAME=HUB_ID` to choose the id; the name
        of a demo model; `demo`
        for the models that come with Waver. A `Model`, which a Python call has loaded itself, stays as it is.
    kinds
        Those of `KINDS` that `demo` stands for: a protocol may have nothing to ask of a masked model.
    engine
        What asks the models. `demo` stands for those that it can ask; with a hosted engine a name is what the server
        calls a model.
    thinking
        Whether thoughts are asked for: `demo` then stands for the demo models that think.
    demo_models
        Those that `demo` stands for otherwise; None: those that answer most protocols.

    Returns
    -------
    The models in the order of the names.

    Raises
    ------
    InputError
        For a missing folder, a file in place of a folder, a name that is none, `demo` with an engine that can ask none
        of the demo models, and two models with the same id.
    """
    find_model = _build_server_model if is_engine_of_server(engine) else _find_local_or_hub_model
    models: list[Model] = []
    for name in names:
        if isinstance(name, Model):
            models.append(name)
        else:
            models += (
                _list_demo_models_that_engine_can_ask(kinds, engine, thinking, demo_models)
                if name == DEMO
                else (find_model(name),)
            )
    if not models:
        raise InputError(f"--model {DEMO}: none of the demo models is for --engine {engine}; name a model")
    return require_distinct_model_ids(models)


def require_distinct_model_ids(models: Iterable[Model]) -> tuple[Model, ...]:
    """Return the models, if each has an id of its own that can be written.

    Raises
    ------
    InputError
        Naming the option, `--model` or `--lora`, and the id.
    """
    model_by_id: dict[str, Model] = {}
    for model in models:
        if (
            any(category(character) in ("Cc", "Cs") for character in model.id + model.source)
            or len(model.id) > LONGEST_NAME
        ):
            option = "--model" if model.adapter is None else "--lora"
            raise InputError(
                f"{option} {shorten_text(model.id, 40)!r}: not a name; use at most {LONGEST_NAME:,} characters that "
                "can be seen"
            )
        if model.id in model_by_id and model.adapter:
            raise InputError(f"--lora {model.adapter.folder}: there is a model '{model.id}' already; rename the folder")
        if model.id in model_by_id:
            if Path(model_by_id[model.id].source).resolve() == Path(model.source).resolve():
                raise InputError(f"--model: '{model.id}' is given twice; give it once")
            raise InputError(
                f"--model: '{model.id}' names both {model_by_id[model.id].source} and {model.source}; name one as "
                "NAME=PATH"
            )
        model_by_id[model.id] = model
    return tuple(model_by_id.values())


def read_model_fields_from_yaml(path: str) -> dict[str, dict[str, Any]]:
    """Read a `--models` file: YAML, model id -> fields (series, stage, family, parameters, revision).

    Raises
    ------
    InputError
        For a file that cannot be read, an unknown field or a wrong value.
    """
    content = read_yaml(expand_user_path(path))
    if not isinstance(content, dict) or not all(isinstance(fields, dict) for fields in content.values()):
        raise InputError(f"{path}: expected model ids, each with fields ({', '.join(FIELDS)})")
    for model, fields in content.items():
        if not isinstance(model, str) or not model.strip():
            raise InputError(f"{path}: a model id must be text, not {shorten_value(model)} (put it into quotes)")
        for name, value in fields.items():
            if name not in FIELDS:
                raise InputError(
                    f"{path}, model '{model}': unknown field {shorten_value(name)}; there are {', '.join(FIELDS)}"
                )
            kind, valid = FIELDS[name]
            if not valid(value):
                raise InputError(f"{path}, model '{model}': {name} must be {kind}, not {shorten_value(value)}")
    return content


def refuse_folder_of_earlier_demo_models(out: str, models: Iterable[Model]) -> None:
    """Refuse to ask demo models for a run folder that holds answers of an earlier family of them.

    Any other model with new weights is refused where it is loaded, and the rest is asked. The demo models belong
    together: next to the answers of earlier ones, a report would compare models that learnt different texts.

    Parameters
    ----------
    out
        The run folder, which need not exist.
    models
        Those to be asked.

    Raises
    ------
    InputError
        Naming a recorded demo model that is of another revision, or that there is no longer.
    """
    if not (Path(out) / "run.json").exists() or all(Path(model.source).resolve().parent != MODELS for model in models):
        return
    for name, fields in run_json.read_run_json(Path(out))["models"].items():
        if name in ALL:
            was, now = fields.get("revision"), compute_sampled_checkpoint_digest(ALL[name].path)
            why = f"is of another revision (it was {was}, now {now})" if was != now else ""
        else:
            gone = name.startswith(PREFIX) and "adapter" not in fields  # an adapter is judged by its base
            why = "is a demo model that is there no longer" if gone else ""
        if why:
            raise InputError(f"{out}: its model '{name}' {why}; choose another --out, or delete the folder")


def _find_local_or_hub_model(name: str) -> Model:
    """Find the model that a name, folder, hub id or NAME=PATH stands for."""
    if not name.strip():  # "" would be the working folder
        raise InputError("--model: is empty; give a hub id, a folder or NAME=FOLDER")
    chosen, equals, source = name.partition("=")
    if not equals or expand_user_path(name).is_dir():
        chosen, source = "", name
    elif not chosen.strip() or not source.strip():
        raise InputError(f"--model {name}: expected NAME=PATH with both parts")
    path = expand_user_path(source)
    if path.is_dir():
        return Model(chosen or path.resolve().name, str(path))
    if path.exists():
        raise InputError(f"--model {source}: this is a file; give the folder that holds the model")
    if source in ALL:  # as messages and reports call it
        return Model(chosen or source, str(ALL[source].path), _build_run_json_fields_of_demo_model(ALL[source]))
    if source.startswith(PREFIX):
        raise InputError(f"--model {source}: no demo model has this name{format_nearest_name_hint(source, ALL)}")
    # A hub id is NAME or OWNER/NAME; anything else can only be meant as a path.
    if not re.fullmatch(r"\w[\w.-]*(/\w[\w.-]*)?", source):
        raise InputError(f"--model {source}: no such folder{format_similar_model_hint(source)}")
    return Model(chosen or source, source)


def format_similar_model_hint(missing_model_source: str) -> str:
    """Return a hint with the model whose name is most like one that is not there: a folder beside it, or `demo`."""
    beside = Path(missing_model_source).expanduser().parent
    try:
        neighbours = [str(config.parent) for config in beside.glob("*/config.json")]
    except OSError:  # a folder that may not be listed
        neighbours = []
    folders = [name if "/" in name else f"./{name}" for name in neighbours]
    return format_nearest_name_hint(missing_model_source, [*folders, DEMO])


def _build_server_model(name: str) -> Model:
    """Build the model of a server that NAME or NAME=NAME_ON_THE_SERVER stands for."""
    chosen, equals, source = name.partition("=")
    if not name.strip() or (equals and not (chosen.strip() and source.strip())):
        raise InputError(f"--model {name}: expected NAME, or NAME=NAME_ON_THE_SERVER with both parts")
    return Model(chosen, source) if equals else Model(name, name)


def _build_run_json_fields_of_demo_model(about: DemoModel) -> dict[str, str]:
    """Return what run.json says of a demo model."""
    return {"series": about.series, "stage": about.stage}


def _list_demo_models_that_engine_can_ask(
    kinds: Container[str], engine: str, thinking: bool, demo_models: Mapping[str, DemoModel] | None
) -> tuple[Model, ...]:
    """List the demo models of these kinds that the engine can ask, those that think or the others."""
    entry = find_engine_entry_or_none(engine)
    candidates = THINKERS if thinking else demo_models or FAMILY | ENCODERS
    return tuple(
        Model(
            name,
            name if is_engine_of_server(engine) else str(about.path),
            _build_run_json_fields_of_demo_model(about),
        )
        for name, about in candidates.items()
        if about.family in kinds and (entry is None or entry.kind == about.family)
    )
