"""List the engines and load one: the roof over the engines, which none of them imports.

An engine is one folder and one entry in `ENGINES`; the command line, the run and the import of records read the entry.
Another installed package may have engines, too (`ground.outside_rooms`): a light module with such an entry, `ENTRY`.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Container, Mapping
from dataclasses import dataclass
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

from ground.errors import InputError, shorten_to_one_line
from ground.extras import convert_import_errors_to_install_advice
from ground.importing import import_without_interruption
from ground.outside_rooms import (
    OutsideRoom,
    import_module_of_room_or_warn,
    map_names_to_outside_rooms,
    note_room_in_use,
    warn_that_room_is_left_out,
    wrap_room_function_with_clear_errors,
)

if TYPE_CHECKING:
    from inference.engines.adapters import Adapter
    from inference.engines.contract import Engine


@dataclass(frozen=True, slots=True)
class Entry:
    """What the rest of inference must know of an engine before it is loaded.

    Attributes
    ----------
    kind
        The models that it asks: "causal" (they predict the next word), "masked" (they fill a gap) or "classifier"
        (they tell the class of two sentences).
    module, factory
        The module and its class or function that makes the engine, called with the model's name and, by keyword, the
        arguments in `takes`. The module is imported when a model is loaded: torch, transformers and vLLM take seconds.
    takes
        Which arguments of `load_engine` the factory takes: of "engine", "dtype", "device", "revision", "seed",
        "batch_size", "adapter", and "settings" where the engine has settings of its own.
    hosted
        Whether the model is on a server. Then a model is named as the server names it, only the likeliest tokens are
        shown, and asking may cost money.
    settings
        A module with `add_arguments(parser)` and `parse_settings(options)`, which define the options of this engine
        and read them (None: none were given). It is imported for `--help`, so it must be light.
    keyword
        The keyword of `load_engine` that takes what `parse_settings` returns: an object whose `fields_of_run_json` maps
        fields of run.json to values that must not change while a run is continued.
    """

    kind: str
    module: str
    factory: str
    takes: tuple[str, ...]
    hosted: bool = False
    settings: str = ""
    keyword: str = ""

    def import_settings_module(self) -> ModuleType:
        """Import the module with the engine's own options."""
        return import_module(self.settings)


LOCAL = "inference.engines.local.start"
CHECKPOINT = ("engine", "dtype", "device", "revision", "seed", "batch_size")
ENGINES = {
    "causal": Entry("causal", LOCAL, "load_and_try_local_engine", (*CHECKPOINT, "adapter")),
    "masked": Entry("masked", LOCAL, "load_and_try_local_engine", CHECKPOINT),
    "classifier": Entry("classifier", LOCAL, "load_and_try_local_engine", CHECKPOINT),
    "vllm": Entry(
        "causal",
        "inference.engines.vllm.engine",
        "VllmEngine",
        ("dtype", "device", "revision", "seed", "batch_size", "adapter", "settings"),
        settings="inference.engines.vllm.settings",
        keyword="vllm",
    ),
    "openai": Entry(
        "causal",
        "inference.engines.openai.engine",
        "OpenAIEngine",
        ("seed", "batch_size", "settings"),
        hosted=True,
        settings="inference.engines.openai.settings",
        keyword="api",
    ),
}
AUTO = Entry("", LOCAL, "load_and_try_local_engine", (*CHECKPOINT, "adapter"))
"""What `--engine auto` loads: the checkpoint says of which kind it is, and whether that kind takes an adapter."""


ARGUMENTS = {*CHECKPOINT, "adapter", "settings"}


def collect_engine_entries() -> dict[str, Entry]:
    """List name -> entry of all engines: Waver's own, then those of other packages."""
    return {**ENGINES, **{name: entry for name, (_, entry) in _import_outside_engine_entries_or_warn().items()}}


def is_engine_of_server(engine: str) -> bool:
    """Tell whether an engine asks a server; "auto" stands for an engine on this machine."""
    entry = find_engine_entry_or_none(engine)
    return entry is not None and entry.hosted


def find_engine_entry_or_none(engine: str) -> Entry | None:
    """Find the entry of an engine; None where there is none of this name, such as "auto"."""
    return ENGINES.get(engine) or collect_engine_entries().get(engine)


def list_engines_taking_adapters() -> list[str]:
    """List the engines that take an adapter."""
    return [name for name, entry in collect_engine_entries().items() if "adapter" in entry.takes]


def list_entries_of_engines_with_options() -> list[Entry]:
    """List the entries of the engines that have options of their own."""
    return [entry for entry in collect_engine_entries().values() if entry.settings]


def record_use_of_engine_if_outside(engine: str) -> None:
    """Note for the record of the session that an engine is chosen, where it is another package's."""
    if engine not in ENGINES and engine in _import_outside_engine_entries_or_warn():
        note_room_in_use(_import_outside_engine_entries_or_warn()[engine][0])


@functools.cache
def _import_outside_engine_entries_or_warn() -> dict[str, tuple[OutsideRoom, Entry]]:
    """Import the entries of other packages, name -> room and entry; one that fails is left out, with a warning.

    The modules of entries are light; that of an engine is imported when a model is loaded.
    """
    entry_by_name: dict[str, tuple[OutsideRoom, Entry]] = {}
    for name, room in map_names_to_outside_rooms("engine", ENGINES).items():
        module = import_module_of_room_or_warn(room)
        if module is None:
            continue
        entry: Any = getattr(module, "ENTRY", None)
        keywords = {other.keyword for other in (*ENGINES.values(), *(pair[1] for pair in entry_by_name.values()))}
        if fault := _find_fault_of_engine_entry(room, entry, keywords):
            warn_that_room_is_left_out(room, fault)
        else:
            entry_by_name[name] = (room, entry)
    return entry_by_name


def _find_fault_of_engine_entry(room: OutsideRoom, entry: Any, keywords: Container[str]) -> str:
    """Say what is wrong with the entry of another package; empty: nothing."""
    if not isinstance(entry, Entry):
        return f"module {room.module} does not say ENTRY = Entry(...), of inference.engines"
    if entry.kind not in ("causal", "masked", "classifier"):
        return f"kind {shorten_to_one_line(repr(entry.kind))} of its ENTRY is neither causal, masked nor classifier"
    if unknown := sorted(set(entry.takes) - ARGUMENTS):
        return f"its ENTRY takes {', '.join(unknown)}; there are {', '.join(sorted(ARGUMENTS))}"
    if not entry.settings:
        return ""
    if not entry.keyword or entry.keyword in keywords:
        return f"keyword {shorten_to_one_line(repr(entry.keyword))} of its ENTRY is empty or another engine's"
    try:
        module = entry.import_settings_module()
    except (Exception, SystemExit) as error:
        return f"module {entry.settings} cannot be imported ({type(error).__name__}: {shorten_to_one_line(str(error))})"
    absent = [name for name in ("add_arguments", "parse_settings") if not callable(getattr(module, name, None))]
    return f"module {entry.settings} has no function {absent[0]}" if absent else ""


@convert_import_errors_to_install_advice("asking a model")
def load_engine(
    model: str,
    *,
    engine: str = "auto",
    dtype: str = "auto",
    device: str = "auto",
    revision: str | None = None,
    seed: int = 0,
    batch_size: int | None = None,
    adapter: Adapter | None = None,
    **settings: Any,
) -> Engine:
    """Load a model into the engine that can ask it.

    Parameters
    ----------
    model
        Folder of a transformers checkpoint with safetensors weights, or a hub id; for a hosted engine the model's name
        on the server.
    engine
        A name of `collect_engine_entries`, or "auto": causal, masked or classifier, as its architecture says.
    dtype
        "float32", "bfloat16", "float16", or "auto": float32, but bfloat16 for a half-precision checkpoint on an
        accelerator.
    device
        "cpu", "cuda", "cuda:1", "mps", ..., or "auto": a CUDA device where there is one, else the CPU.
    revision
        Branch, tag or commit of a hub model.
    seed
        Seed of generated texts. Scoring draws no random number.
    batch_size
        Prompts per forward pass, or per call of vLLM; None chooses by prompt length and device.
    adapter
        A LoRA adapter to ask the model with; for the engines causal and vllm.
    settings
        Settings of single engines by the `keyword` of their entries: `vllm`, those of vLLM (`VllmSettings`); `api`,
        where the server of openai is and what may be asked of it (`ApiSettings`). None is as good as none given.

    Returns
    -------
    The engine with the model in it.

    Raises
    ------
    InputError
        Unknown engine; an argument or setting that the engine does not take; no such model; weights that are missing,
        incomplete or pickled; an architecture that no engine can ask; a package that the engine needs is not
        installed; or a vLLM that is too old or too new.
    TypeError
        No engine has settings of this keyword.
    """
    entry = AUTO if engine == "auto" else find_engine_entry_or_none(engine)
    if entry is None:
        raise InputError(f"unknown engine '{engine}': choose auto, {', '.join(collect_engine_entries())}")
    if batch_size is not None and batch_size < 1:
        raise InputError(f"batch size {batch_size}: give a number of prompts, 1 or more")
    _refuse_settings_of_another_engine(engine, entry, settings)
    arguments = {
        "engine": engine,
        "dtype": dtype,
        "device": device,
        "revision": revision,
        "seed": seed,
        "batch_size": batch_size,
        "adapter": adapter,
        "settings": settings.get(entry.keyword),
    }
    for name in ("dtype", "device", "revision"):
        if name not in entry.takes and arguments[name] not in ("auto", None):
            why = "the server decides that" if entry.hosted else "there is no such choice"
            raise InputError(f"--{name} {arguments[name]}: with --engine {engine} {why}; leave it out")
    if adapter is not None and "adapter" not in entry.takes:
        why = "the server adds adapters" if entry.hosted else "no adapter can be added"
        raise InputError(f"--lora {adapter.folder}: with --engine {engine} {why}; leave it out")
    taken_arguments = {name: arguments[name] for name in entry.takes}
    if engine not in ENGINES and engine in _import_outside_engine_entries_or_warn():
        return wrap_room_function_with_clear_errors(
            _import_outside_engine_entries_or_warn()[engine][0], _import_engine_and_load_model
        )(entry, model, taken_arguments)
    return _import_engine_and_load_model(entry, model, taken_arguments)


def _import_engine_and_load_model(entry: Entry, model: str, arguments: Mapping[str, Any]) -> Engine:
    """Import the module of an engine, and load a model into it."""
    make_engine: Callable[..., Engine] = getattr(import_without_interruption(entry.module), entry.factory)
    return make_engine(model, **arguments)


def _refuse_settings_of_another_engine(engine: str, entry: Entry, settings: Mapping[str, Any]) -> None:
    """Refuse settings of another engine than the one that is loaded."""
    engine_by_keyword = {other.keyword: name for name, other in collect_engine_entries().items() if other.keyword}
    for keyword, value in settings.items():
        if keyword not in engine_by_keyword:
            raise TypeError(f"load_engine() has no argument '{keyword}'")
        if value is not None and keyword != entry.keyword:
            owner = engine_by_keyword[keyword]
            raise InputError(f"settings of {owner} with --engine {engine}: say --engine {owner}, or leave them out")
