"""Ask models from Python: a call of `waver.ask` becomes the options of `waver run`, and then goes the same way."""

from __future__ import annotations

import json
import os
from argparse import Namespace
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any

from ground.command import describe_undecodable_argument
from ground.errors import (
    InputError,
    RunFailed,
    describe_os_error_with_exit_status,
    format_nearest_name_hint,
    format_quantity,
)
from ground.extras import convert_import_errors_to_install_advice
from ground.outside_rooms import clear_rooms_in_use
from ground.progress import import_progress_bar_class
from inference.__main__ import ask_study, build_argument_parser_for_python_calls, build_task_from_options
from inference.asking.models import Model
from inference.asking.session import Tally
from inference.engines.contract import Engine
from inference.loaded_models import LoadedModel, find_loaded_models, restore_models_after_asking, suspend_event_loop
from inference.protocols import list_protocols
from inference.runfile import convert_toml_key_to_arguments, map_option_names_to_actions
from inference.stimuli.reading import recognition_notes
from inference.stimuli.reading.files import shorten_value
from inference.stimuli.reading.in_memory import Table, build_table_from_python_rows, register_table_during_block

ITEMS = "items"
"""What a table in memory is called: in messages, and as the name of its study where the call gives none."""
STOPPED = "stopped; saved rows stay, and the same call goes on from there"
OTHER_NAMES = {"models": "models_file"}
"""Option -> its name here, where a parameter has taken that of the command."""


def ask_items_and_write_run_folder(
    items: Any, models: Any, protocol: Any, out: Any, options: Mapping[str, Any]
) -> None:
    """Ask models about items and write the run folder.

    Parameters
    ----------
    items, models, protocol, out, options
        As in `waver.ask`.

    Raises
    ------
    InputError
        Something in the call or the items is wrong.
    RunFailed
        The call was interrupted, more prompts got no response than are allowed to fail, or some of several models could
        not be asked.
    """
    if not isinstance(protocol, str) or protocol not in list_protocols():
        hint = format_nearest_name_hint(protocol, list_protocols()) if isinstance(protocol, str) else ""
        raise InputError(f"protocol {shorten_value(protocol)}: there are {', '.join(list_protocols())}{hint}")
    if not isinstance(out, str | os.PathLike):
        raise InputError(f"out: expected the path of a run folder, not {shorten_value(out)}")
    if not os.fspath(out) or "\0" in str(out):  # "" would be the working folder
        raise InputError(f"out: {shorten_value(str(out))} cannot be the name of a run folder; give another")
    clear_rooms_in_use()
    with _convert_command_errors_for_python(), ExitStack() as stack:
        table = None if isinstance(items, str | os.PathLike) else build_table_from_python_rows(ITEMS, items)
        asked_models = _list_model_names_or_loaded_models(models)
        call = _list_command_words_of_call_for_record(
            items if table is None else table, models, asked_models, protocol, out, options
        )
        parsed_options = _parse_call_options(items if table is None else ITEMS, asked_models, protocol, out, options)
        parsed_options.call = call
        loaded_models = find_loaded_models(asked_models, parsed_options)
        parsed_options.model = [
            Model(model.id, f"{model.id} (loaded in Python)") if isinstance(model, LoadedModel) else model
            for model in asked_models
        ]
        for context in (
            suspend_event_loop(),
            restore_models_after_asking(loaded_models.values()),
            register_table_during_block(table),
        ):
            stack.enter_context(context)
        recognition_notes.drop_notes_on_recognised_inputs()
        import_progress_bar_class()
        tallies = _ask_study_of_call_and_tally_answers(parsed_options, loaded_models)
        recognition_notes.print_notes_on_recognised_inputs()
        print(_describe_number_of_rows(parsed_options.out, tallies))


def _ask_study_of_call_and_tally_answers(options: Namespace, loaded_models: Mapping[str, LoadedModel]) -> list[Tally]:
    """Ask the study that the options describe; loaded models are asked as they are, all others as the command does."""
    task = build_task_from_options(options)
    if not loaded_models:
        return ask_study(options, task)

    def load_or_reuse_engine(model: Model, seed: int) -> Engine:
        if model.id in loaded_models:
            return loaded_models[model.id].build_engine_of_model(
                engine=options.engine, dtype=options.dtype, seed=seed, batch_size=options.batch_size
            )
        return task.settings.load_model_engine(model, seed)

    return ask_study(options, task, load_or_reuse_engine)


def _list_model_names_or_loaded_models(models: Any) -> list[str | LoadedModel]:
    """List the models that a call names or has loaded, in order; a tuple is one loaded model."""
    if isinstance(models, list | Mapping) and not models:
        raise InputError(f"models: the {'list' if isinstance(models, list) else 'dict'} is empty; name a model")
    if isinstance(models, Mapping):
        return [
            f"{name}={os.fspath(model)}"
            if isinstance(model, str | os.PathLike)
            else LoadedModel.check_and_build_from_pair(model, name)
            for name, model in models.items()
        ]
    members = models if isinstance(models, list) else [models]
    return [
        os.fspath(model) if isinstance(model, str | os.PathLike) else LoadedModel.check_and_build_from_pair(model)
        for model in members
    ]


def _parse_call_options(
    items: Any, models: Iterable[str | LoadedModel], protocol: str, out: Any, options: Mapping[str, Any]
) -> Namespace:
    """Read a call as the command reads its words; an option of None counts as not given."""
    parser = build_argument_parser_for_python_calls(protocol)
    actions = map_option_names_to_actions(parser)
    key_by_name = {OTHER_NAMES.get(key, key.replace("-", "_")): key for key in actions}
    names = [model.id if isinstance(model, LoadedModel) else model for model in models]
    arguments: dict[str, Any] = {"items": items, "model": names, "out": out}
    for name in options:
        if name not in key_by_name or key_by_name[name] in arguments:
            free_names = [other for other, key in key_by_name.items() if key not in arguments]
            hint = format_nearest_name_hint(name, free_names) or f"; there are {', '.join(sorted(free_names))}"
            raise InputError(f"{protocol} has no option {shorten_value(name)}{hint}")
    arguments |= {key_by_name[name]: value for name, value in options.items() if value is not None}
    words: list[str] = []
    for key, value in arguments.items():
        words += convert_toml_key_to_arguments(
            OTHER_NAMES.get(key, key.replace("-", "_")), key, _convert_to_run_file_value(value), actions[key]
        )
    if problem := describe_undecodable_argument(words):
        raise InputError(problem)
    return parser.parse_args(words)


def _convert_to_run_file_value(value: Any) -> Any:
    """Return a value of Python as a run file would give it: paths as text, numbers of NumPy as numbers, lists."""
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    if type(value).__module__ == "numpy":
        return value.tolist()
    if isinstance(value, tuple | range):
        return list(map(_convert_to_run_file_value, value))
    return list(map(_convert_to_run_file_value, value)) if isinstance(value, list) else value


@contextmanager
def _convert_command_errors_for_python() -> Iterator[None]:
    """Turn what the command would tell in one line into an error of one line, in the words of a call."""
    try:
        with convert_import_errors_to_install_advice("waver.ask"):
            yield
    except KeyboardInterrupt:
        raise RunFailed(STOPPED) from None
    except RunFailed as error:
        raise RunFailed(_reword_advice_for_python(str(error))) from None
    except OSError as error:
        if error.errno is None:  # not the operating system's: a fault of ours
            raise
        status, line = describe_os_error_with_exit_status(error)
        raise (InputError if status == 2 else RunFailed)(_reword_advice_for_python(line)) from None


def _reword_advice_for_python(line: str) -> str:
    """Write of a line what it advises in the words of a call."""
    line = line.replace("the same command", "the same call").replace("repeat the command", "repeat the call")
    return line.replace("--allow-failed", "allow_failed")


def _describe_number_of_rows(out: str, tallies: Sequence[Tally]) -> str:
    """Say in one line how many rows there are, and how many of them are new."""
    rows, asked = (sum(getattr(tally, field) for tally in tallies) for field in ("rows", "asked_count"))
    failed = sum(tally.failed for tally in tallies)
    models = format_quantity(len({tally.model for tally in tallies}), "model")
    without = f", {failed:,} without a response" if failed else ""
    return f"{out}: {models}, {format_quantity(rows, 'row')} ({asked:,} of them new{without})"


def _list_command_words_of_call_for_record(
    items: Any, models: Any, asked_models: Iterable[Any], protocol: str, out: Any, options: Mapping[str, Any]
) -> list[str]:
    """Write a call for the record: as a command that repeats it, or, where it has objects of its process, as code."""
    has_objects = isinstance(items, Table) or any(isinstance(model, LoadedModel) for model in asked_models)
    shown_models = (
        "models" if any(isinstance(model, LoadedModel) for model in asked_models) else _format_value_as_code(models)
    )
    settings = [
        f"{name}={_format_value_as_code(value)}"
        for name, value in {"protocol": protocol, "out": out, **options}.items()
    ]
    shown_items = ITEMS if isinstance(items, Table) else _format_value_as_code(items)
    call = f"waver.ask({', '.join((shown_items, shown_models, *settings))})"
    if not has_objects:
        return ["python", "-c", f"import waver; {call}"]
    about = [f"items: {items.about}"] if isinstance(items, Table) else []
    loaded = [model.id for model in asked_models if isinstance(model, LoadedModel)]
    about += [f"loaded in Python: {', '.join(loaded)}"] if loaded else []
    return [f"{call}  # {'; '.join(about)}"]


def _format_value_as_code(value: Any) -> str:
    """Write a value as code."""
    if isinstance(value, str | os.PathLike):
        return json.dumps(os.fspath(value), ensure_ascii=False)
    if isinstance(value, Mapping):
        entries = (f"{_format_value_as_code(key)}: {_format_value_as_code(entry)}" for key, entry in value.items())
        return f"{{{', '.join(entries)}}}"
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_format_value_as_code, value))}]"
    return repr(value)
