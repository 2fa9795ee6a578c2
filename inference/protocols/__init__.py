"""Find the protocols: each says what is asked about items, and how.

A protocol is a folder here, a package. Its `__init__.py` has

- a docstring, whose first line is what the command line says about the protocol,
- `NAME`, which is the name of the folder,
- `KINDS`, the kinds of models that it has questions for: some of "causal", "masked" and "classifier",
- `add_arguments(parser)`, which defines its part of the command line,
- `prepare_study(options)`, which makes the study and its questions (`stimuli.study.Study`, `asking.rounds.Questions`),
- where it is not for most demo models, `DEMO_MODELS`, those that `--model demo` stands for (some of `demo.ALL`).

What else only it needs stands in the folder, too: making its items, tuning for it, importing a format of its own. Such
a command is a file that is found by scanning: `command.py` or `command_WHAT.py`, as `ground.commands` says.

Another installed package may have protocols, too (`ground.outside_rooms`): modules with the same names in them.

Its prompts are a YAML file in the folder, read with `PromptBook` and the protocol's own `Fields` (`stimuli.templates`).
"""

from __future__ import annotations

import functools
import importlib
import pkgutil
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from ground.commands import read_module_docstring
from ground.errors import RoomFailed
from ground.outside_rooms import (
    OutsideRoom,
    find_module_file,
    import_module_of_room,
    map_names_to_outside_rooms,
    note_room_in_use,
    refuse_room_if_fault_is_given,
    warn_that_room_is_left_out,
    wrap_room_function_with_clear_errors,
)

if TYPE_CHECKING:
    from inference.asking.rounds import Questions, Round
    from inference.demo import DemoModel
    from inference.stimuli.study import Study
    from inference.stimuli.templates.prompts import PromptBook

MODEL_KINDS = {"causal", "masked", "classifier"}


@dataclass(frozen=True, slots=True)
class OutsideProtocol:
    """Hold the protocol of another package; an error in its code is one line that names the package."""

    NAME: str
    KINDS: tuple[str, ...]
    add_arguments: Callable[[ArgumentParser], None]
    prepare_study: Callable[[Namespace], Any]
    DEMO_MODELS: Mapping[str, DemoModel] | None = None


@dataclass(frozen=True, slots=True)
class GuardedQuestions:
    """The questions of an outside protocol; whatever of them is called, an error names the package."""

    room: OutsideRoom
    questions: Questions

    @property
    def book(self) -> PromptBook:
        """The prompts that all rounds are made of."""
        from inference.stimuli.templates.prompts import PromptBook

        book: PromptBook = wrap_room_function_with_clear_errors(self.room, getattr)(self.questions, "book")
        if not isinstance(book, PromptBook):
            raise _build_error_of_room_result(self.room, "`book` of its questions is no PromptBook")
        return book

    def rounds(self, form: str) -> list[Round]:
        """Make the rounds in one prompt form.

        Raises
        ------
        InputError
            The prompts do not have this form.
        RoomFailed
            The package has a fault.
        """
        from inference.asking.rounds import Round

        rounds = wrap_room_function_with_clear_errors(self.room, _collect_rounds_into_list)(self.questions, form)
        if not all(isinstance(entry, Round) for entry in rounds):
            raise _build_error_of_room_result(self.room, "`rounds` of its questions returns no list of Rounds")
        return [
            replace(
                entry,
                render=partial(_call_room_function_guarded, self.room, entry.render),
                read=partial(_call_room_function_guarded, self.room, entry.read),
                chosen=partial(_call_room_function_guarded, self.room, entry.chosen),
            )
            for entry in rounds
        ]


def list_protocols() -> tuple[str, ...]:
    """List the protocols in alphabetical order: the folders here that are packages, and those of other packages."""
    return tuple(sorted((*_list_packages_in_folder(*__path__), *_map_outside_protocol_names_to_rooms())))


@functools.cache
def _list_packages_in_folder(folder: str) -> tuple[str, ...]:
    """List the folders of a folder that are packages; a call asks for them dozens of times."""
    return tuple(module.name for module in pkgutil.iter_modules([folder]) if module.ispkg)


def _map_outside_protocol_names_to_rooms() -> dict[str, OutsideRoom]:
    """List name -> room of the protocols of other packages; one whose docstring cannot be read is left out."""
    rooms = {}
    for name, room in map_names_to_outside_rooms("protocol", _list_packages_in_folder(*__path__)).items():
        try:
            file = find_module_file(room.module)
            if file is None:
                warn_that_room_is_left_out(room, f"there is no file of module {room.module}")
                continue
            read_module_docstring(file)
        except (OSError, SyntaxError, ValueError, RecursionError) as error:
            warn_that_room_is_left_out(room, f"{file} is not Python ({type(error).__name__})")
            continue
        rooms[name] = room
    return rooms


def read_protocol_summary(name: str) -> str:
    """Read what a protocol asks: the first line of its docstring, without the full stop.

    The file is parsed, not imported: importing all protocols would make `--help` slow.
    """
    room = None if name in _list_packages_in_folder(*__path__) else _map_outside_protocol_names_to_rooms()[name]
    file = find_module_file(room.module) if room else Path(__path__[0]) / name / "__init__.py"
    assert file is not None
    summary = read_module_docstring(file).partition("\n")[0].removesuffix(".")
    return f"{summary} ({room.package_and_version})".lstrip() if room else summary


def load_protocol(name: str) -> ModuleType | OutsideProtocol:
    """Import the module of a protocol, one of `list_protocols()`.

    Raises
    ------
    InputError
        The protocol is another package's, and cannot be imported or is not whole.
    """
    if name in _list_packages_in_folder(*__path__):
        return importlib.import_module(f"{__name__}.{name}")
    room = _map_outside_protocol_names_to_rooms()[name]
    module = import_module_of_room(room)
    refuse_room_if_fault_is_given(room, _find_protocol_fault(room, module))
    note_room_in_use(room)
    return OutsideProtocol(
        name,
        tuple(module.KINDS),
        wrap_room_function_with_clear_errors(room, module.add_arguments),
        partial(_prepare_study_of_room, room, module.prepare_study),
        getattr(module, "DEMO_MODELS", None),
    )


def _prepare_study_of_room(
    room: OutsideRoom, prepare_study: Callable[[Namespace], Any], options: Namespace
) -> tuple[Study, GuardedQuestions]:
    """Make the study and the questions of an outside protocol; what guards them is not imported for `--help`."""
    from inference.stimuli.study import Study

    result = wrap_room_function_with_clear_errors(room, prepare_study)(options)
    is_pair = isinstance(result, tuple) and len(result) == 2
    if not is_pair or not isinstance(result[0], Study) or not callable(getattr(result[1], "rounds", None)):
        raise _build_error_of_room_result(
            room, "`prepare_study` returns no Study and its questions, which have `rounds`"
        )
    return result[0], GuardedQuestions(room, result[1])


def _collect_rounds_into_list(questions: Questions, form: str) -> list[Any]:
    """Make the rounds, those of a generator, too."""
    return list(questions.rounds(form))


def _call_room_function_guarded(room: OutsideRoom, function: Callable[..., Any], *arguments: Any) -> Any:
    """Call a function of a room; a function of a module, so that workers can be handed it."""
    return wrap_room_function_with_clear_errors(room, function)(*arguments)


def _build_error_of_room_result(room: OutsideRoom, fault: str) -> RoomFailed:
    """Make the error about what a room returned."""
    return RoomFailed(f"{room.title} failed: {fault}; tell its authors, or remove it: {room.removal_command}")


def _find_protocol_fault(room: OutsideRoom, module: Any) -> str:
    """Say what the module of a protocol lacks, or has wrong; empty: nothing."""
    if getattr(module, "NAME", None) != room.name:
        return f'module {room.module} does not say NAME = "{room.name}"'
    kinds = getattr(module, "KINDS", ())
    if not isinstance(kinds, tuple | list) or not kinds or not MODEL_KINDS.issuperset(map(str, kinds)):
        return f"KINDS of module {room.module} is not some of {', '.join(sorted(MODEL_KINDS))}"
    demo_models = getattr(module, "DEMO_MODELS", None)
    if demo_models is not None and not _are_demo_models(demo_models):
        return f"DEMO_MODELS of module {room.module} is not some of inference.demo.ALL"
    absent = [part for part in ("add_arguments", "prepare_study") if not callable(getattr(module, part, None))]
    return f"module {room.module} has no function {absent[0]}" if absent else ""


def _are_demo_models(models: Any) -> bool:
    """Tell whether something holds demo models by their names, one at least."""
    from inference.demo import ALL

    return isinstance(models, Mapping) and bool(models) and all(ALL.get(name) == models[name] for name in models)
