"""Read the words of a call: options in full only, a wrong call refused in one line, secrets hidden in records."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from itertools import takewhile
from typing import Any, NoReturn

from ground.errors import flatten_message, suggest_nearest


class CommandParser(argparse.ArgumentParser):
    """A parser that takes option names in full only, and reports a wrong call in one line."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**{**settings, "allow_abbrev": False})

    def error(self, message: str) -> NoReturn:
        """Print the message and where to find help; exit status 2."""
        self.exit(2, f"{flatten_message(f'{self.prog}: {message}')} (see {self.prog} --help)\n")

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Parse a call; what a command does not know is refused by that command, with the nearest option."""
        if self._subparsers is not None:
            return super().parse_known_args(args, namespace)
        for word in takewhile(lambda word: word != "--", sys.argv[1:] if args is None else args):
            option = word.partition("=")[0]
            if option.startswith("--") and " " not in option and option not in self._option_string_actions:
                self.error(f"unknown option {option}{suggest_nearest(option, self._option_string_actions)}")
        options, unknown_arguments = super().parse_known_args(args, namespace)
        if unknown_arguments:
            self.error(f"unrecognized arguments: {' '.join(unknown_arguments)}")
        return options, unknown_arguments

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        """Refuse a value that is not among the choices, with the nearest choice."""
        if action.choices is not None and value not in action.choices:
            choices = list(map(str, action.choices))
            raise argparse.ArgumentError(
                action,
                f"invalid choice: {value!r}{suggest_nearest(str(value), choices)}; choose from {', '.join(choices)}",
            )


def hide_secrets(arguments: Sequence[str]) -> list[str]:
    """Hide the value of every option that is named like a secret, so that the call can be recorded."""
    words: list[str] = []
    hide = False
    for argument in arguments:
        option, equals, _ = argument.partition("=")
        secret = option.startswith("--") and option.endswith(("key", "token", "secret", "password"))
        words.append("***" if hide else f"{option}=***" if secret and equals else argument)
        hide = secret and not equals
    return words
