"""Guard the questions of a protocol of another package: an error in its code is one line that names the package."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from ground.errors import RoomFailed
from ground.outside_rooms import OutsideRoom, guard_function
from inference.asking.rounds import Questions, Round
from inference.stimuli.study import Study
from inference.stimuli.templates.prompts import PromptBook


@dataclass(frozen=True, slots=True)
class GuardedQuestions:
    """The questions of an outside protocol; whatever of them is called, an error names the package."""

    room: OutsideRoom
    questions: Questions

    @property
    def book(self) -> PromptBook:
        """The prompts that all rounds are made of."""
        book: PromptBook = guard_function(self.room, getattr)(self.questions, "book")
        if not isinstance(book, PromptBook):
            raise _describe_wrong_result(self.room, "`book` of its questions is no PromptBook")
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
        rounds = guard_function(self.room, _list_rounds)(self.questions, form)
        if not all(isinstance(entry, Round) for entry in rounds):
            raise _describe_wrong_result(self.room, "`rounds` of its questions returns no list of Rounds")
        return [
            replace(
                entry,
                render=partial(_call_guarded, self.room, entry.render),
                read=partial(_call_guarded, self.room, entry.read),
                chosen=partial(_call_guarded, self.room, entry.chosen),
            )
            for entry in rounds
        ]


def prepare_guarded_study(
    room: OutsideRoom, prepare_study: Callable[[Namespace], Any], options: Namespace
) -> tuple[Study, GuardedQuestions]:
    """Make the study and the questions of an outside protocol.

    Parameters
    ----------
    room
        The protocol.
    prepare_study
        Its function.
    options
        Of the call.

    Returns
    -------
    The study and its questions.

    Raises
    ------
    RoomFailed
        The package has a fault, or returns something else.
    """
    result = guard_function(room, prepare_study)(options)
    is_pair = isinstance(result, tuple) and len(result) == 2
    if not is_pair or not isinstance(result[0], Study) or not callable(getattr(result[1], "rounds", None)):
        raise _describe_wrong_result(room, "`prepare_study` returns no Study and its questions, which have `rounds`")
    return result[0], GuardedQuestions(room, result[1])


def _list_rounds(questions: Questions, form: str) -> list[Any]:
    """Make the rounds, those of a generator, too."""
    return list(questions.rounds(form))


def _call_guarded(room: OutsideRoom, function: Callable[..., Any], *arguments: Any) -> Any:
    """Call a function of a room; a function of a module, so that workers can be handed it."""
    return guard_function(room, function)(*arguments)


def _describe_wrong_result(room: OutsideRoom, fault: str) -> RoomFailed:
    """Make the error about what a room returned."""
    return RoomFailed(f"{room.title} failed: {fault}; tell its authors, or remove it: {room.removal}")
