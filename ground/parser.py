"""Read the words of a call: options in full only, a wrong call refused in one line, secrets hidden in records."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from itertools import takewhile
from pathlib import Path
from typing import Any, NoReturn

from ground.errors import format_message_on_one_line, format_nearest_name_hint


class CommandParser(argparse.ArgumentParser):
    """A parser that takes option names in full only, and reports a wrong call in one line."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**{**settings, "allow_abbrev": False})

    def error(self, message: str) -> NoReturn:
        """Print the message and where to find help; exit status 2."""
        self.exit(2, f"{format_message_on_one_line(f'{self.prog}: {message}')} (see {self.prog} --help)\n")

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Parse a call; what a command does not know is refused by that command, with the nearest option."""
        if self._subparsers is not None:
            return super().parse_known_args(args, namespace)
        for word in takewhile(lambda word: word != "--", sys.argv[1:] if args is None else args):
            option = word.partition("=")[0]
            if option.startswith("--") and " " not in option and option not in self._option_string_actions:
                self.error(f"unknown option {option}{format_nearest_name_hint(option, self._option_string_actions)}")
        options, unknown_arguments = super().parse_known_args(args, namespace)
        if unknown_arguments:
            self.error(f"unrecognized arguments: {' '.join(unknown_arguments)}")
        return options, unknown_arguments

    def _get_values(self, action: argparse.Action, arg_strings: Any) -> Any:
        """Convert the words of an option; refuse an empty text, which would read as if the option were not given."""
        if action.option_strings and action.type in (None, str) and not all(map(str.strip, arg_strings)):
            raise argparse.ArgumentError(action, "is empty; give a text, or leave the option out")
        return super()._get_values(action, arg_strings)

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        """Refuse a value that is not among the choices, with the nearest choice."""
        if action.choices is not None and value not in action.choices:
            choices = list(map(str, action.choices))
            raise argparse.ArgumentError(
                action,
                f"invalid choice: {value!r}{format_nearest_name_hint(str(value), choices)}; choose from "
                f"{', '.join(choices)}",
            )


def require_file_name(text: str) -> str:
    """Return an argument that names a file or folder.

    Raises
    ------
    ArgumentTypeError
        It is empty, which would be the working folder, or read as if it were not given.
    """
    if not text.strip():
        raise argparse.ArgumentTypeError("is empty; give the name of a file or folder")
    return text


def parse_path(text: str) -> Path:
    """Convert an argument to the path of a file or folder.

    Raises
    ------
    ArgumentTypeError
        It is empty.
    """
    return Path(require_file_name(text))


def put_chosen_options_first_in_help(parser: argparse.ArgumentParser, title: str, options: Sequence[str]) -> None:
    """Let some options stand first in the help of a command, under a heading; its usage names the required ones only.

    Parameters
    ----------
    parser
        That of the command, with all its options.
    title
        The heading.
    options
        As "--items", in the order in which they are to stand; one that the command does not have is left out.
    """
    group = parser.add_argument_group(title)
    parser._action_groups.insert(0, parser._action_groups.pop())
    for action in (parser._option_string_actions.get(option) for option in options):
        for other_group in parser._action_groups if action is not None else ():
            if action in other_group._group_actions:
                other_group._group_actions.remove(action)
        if action is not None:
            group._group_actions.append(action)
    required = [
        " ".join([action.option_strings[0], str(action.metavar or action.dest.upper()), "..." * (action.nargs == "+")])
        for action in group._group_actions
        if action.required
    ]
    parser.usage = f"%(prog)s {' '.join(word.strip() for word in required)} [OPTION ...]"


NO_SECRETS = frozenset({"--item-key", "--variant-key"})  # they name fields of a log


def hide_values_of_secret_options(arguments: Sequence[str]) -> list[str]:
    """Hide the value of every option that is named like a secret, so that the call can be recorded."""
    words: list[str] = []
    hide = False
    for argument in arguments:
        option, equals, _ = argument.partition("=")
        is_named_like_secret = option.startswith("--") and option.endswith(("key", "token", "secret", "password"))
        secret = is_named_like_secret and option not in NO_SECRETS
        words.append("***" if hide else f"{option}=***" if secret and equals else argument)
        hide = secret and not equals
    return words
